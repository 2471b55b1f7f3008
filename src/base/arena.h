#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

/*
 * Arena: memory that is freed all at once.  A profile has one, and so does an analysis result.  A
 * function that takes an arena shows in its signature where its result lives.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct arena;

must_use returns_owned struct arena *arena_create(void);
/* Frees everything that was allocated from it; NULL is allowed. */
void arena_destroy(struct arena *arena);

/* Zeroed memory aligned to 16 bytes. */
must_use returns_owned void *arena_alloc(struct arena *arena, size_t size);
/* Zeroed array; a product beyond SIZE_MAX counts as out of memory. */
must_use returns_owned void *arena_calloc(struct arena *arena, size_t count, size_t size);
/* A NUL-terminated copy. */
must_use struct str arena_str(struct arena *arena, struct str s);
must_use returns_owned char *arena_printf(struct arena *arena, const char *format, ...)
	printf_like(2, 3);
/* Makes the arena the owner of size bytes of malloc'ed memory; NULL is allowed. */
void arena_adopt(struct arena *arena, void *memory, size_t size);
/*
 * Shrinks a growing array, of malloc'ed memory, to count elements and makes the arena its owner;
 * returns it, or NULL if it is empty.
 */
void *arena_adopt_array(struct arena *arena, void *data, size_t count, size_t size);
/* Bytes allocated and adopted so far. */
size_t arena_size_bytes(const struct arena *arena);

#define ARENA_NEW(arena, type)		((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_calloc((arena), (count), sizeof(type)))

#endif
