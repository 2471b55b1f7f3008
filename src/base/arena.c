/*
 * Arena: a list of blocks, each filled from its start.  Large requests get a block of their own,
 * so that a block's unused rest is bounded.
 */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGN_BYTES ((size_t)16)

struct block {
	struct block *next;
	size_t size; /* capacity of data */
	_Alignas(16) unsigned char data[];
};

struct arena {
	struct block *blocks; /* the first is the one being filled */
	size_t used;	      /* of the first block */
	size_t total;
};

struct arena *arena_create(void)
{
	return xalloc(sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
	if (arena == NULL)
		return;
	struct block *b = arena->blocks;
	while (b != NULL) {
		struct block *next = b->next;
		free(b);
		b = next;
	}
	free(arena);
}

static struct block *block_create(size_t size)
{
	struct block *b = xalloc(sizeof(*b) + size);

	b->size = size;
	return b;
}

static void *alloc_alone(struct arena *arena, size_t size)
{
	struct block *b = block_create(size);

	if (arena->blocks == NULL) {
		arena->blocks = b;
		arena->used = size;
	} else {
		b->next = arena->blocks->next;
		arena->blocks->next = b;
	}
	return b->data;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return xcalloc(SIZE_MAX, 2); /* does not return */
	size = (size + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
	arena->total += size;
	if (size > BLOCK_BYTES / 4)
		return alloc_alone(arena, size);
	if (arena->blocks == NULL || arena->used + size > arena->blocks->size) {
		struct block *b = block_create(BLOCK_BYTES);
		b->next = arena->blocks;
		arena->blocks = b;
		arena->used = 0;
	}
	void *p = arena->blocks->data + arena->used;
	arena->used += size;
	return p;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	return arena_alloc(arena, bytes);
}

struct str arena_str(struct arena *arena, struct str s)
{
	char *copy = arena_alloc(arena, s.size + 1);

	if (s.size)
		memcpy(copy, s.data, s.size);
	return (struct str){copy, s.size};
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *s = xvasprintf(format, args);
	va_end(args);
	struct str copy = arena_str(arena, str_from(s));
	free(s);
	return (char *)(uintptr_t)copy.data;
}

size_t arena_size_bytes(const struct arena *arena)
{
	return arena->total;
}
