#ifndef SONDE_SYMBOLIZE_TAIL_CALLERS_H
#define SONDE_SYMBOLIZE_TAIL_CALLERS_H

/* Callers that left no frame (obj/tail_calls.h): restores and names them, for one load object. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "obj/tail_calls.h"
#include "symbolize/symbolize.h"

/* Where they go. */
struct tail_callers_taker {
	/* Each jump between the frames of a pair, outermost first. */
	void (*take_jump)(void *context, const struct tail_pair *pair, uint64_t obj_addr);
	/* Whether the address has a name already. */
	bool (*is_named)(void *context, uint64_t obj_addr);
	/* The names of each jump that has none, ascending; they live until the call returns. */
	void (*take_place)(void *context, uint64_t obj_addr, const struct symbol_place *place);
	void *context;
};

/* Finds the callers that are missing in pairs[count] of frames.  Most objects have none. */
void tail_callers_restore(struct symbolizer *s, const struct symbolize_object *object,
	const struct tail_pair *pairs, size_t count, const struct tail_callers_taker *taker);

#endif
