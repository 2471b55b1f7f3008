#ifndef SONDE_BASE_VEC_H
#define SONDE_BASE_VEC_H

/*
 * Growing arrays.  `VEC(type)` declares one as an anonymous struct member or variable:
 *
 *	struct x { VEC(struct frame) frames; };
 *	vec_push(&x->frames, frame);
 *	x->frames.data[i], x->frames.count
 *	vec_deinit(&x->frames);
 *
 * A zeroed one is empty.  Memory past count is not zeroed.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t count, capacity;                                                            \
	}

#define vec_reserve(v, total)                                                                      \
	do {                                                                                       \
		size_t vec_total_ = (total);                                                       \
		if (vec_total_ > (v)->capacity) {                                                  \
			size_t vec_cap_ = (v)->capacity ? (v)->capacity * 2 : 16;                  \
			if (vec_cap_ < vec_total_)                                                 \
				vec_cap_ = vec_total_;                                             \
			(v)->data = xrealloc_array((v)->data, vec_cap_, sizeof(*(v)->data));       \
			(v)->capacity = vec_cap_;                                                  \
		}                                                                                  \
	} while (0)

/* Makes the item before it looks for room, for what makes it may push to v as well. */
#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		typeof(*(v)->data) vec_item_ = (__VA_ARGS__);                                      \
		vec_reserve((v), (v)->count + 1);                                                  \
		(v)->data[(v)->count++] = vec_item_;                                               \
	} while (0)

/* Extends v to at least `total` elements; new ones are zero. */
#define vec_extend(v, total)                                                                       \
	do {                                                                                       \
		size_t extend_to_ = (total);                                                       \
		if (extend_to_ <= (v)->count)                                                      \
			break;                                                                     \
		vec_reserve((v), extend_to_);                                                      \
		memset((v)->data + (v)->count, 0, (extend_to_ - (v)->count) * sizeof(*(v)->data)); \
		(v)->count = extend_to_;                                                           \
	} while (0)

#define vec_deinit(v)                                                                              \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->count = (v)->capacity = 0;                                                    \
	} while (0)

#endif
