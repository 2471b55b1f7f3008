/*
 * Arena: a list of blocks, each filled from its start.  Large requests get their own block, so that
 * the unused rest of a block is bounded.
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

struct adopted {
	struct adopted *next;
	void *memory;
};

struct arena {
	struct block *blocks; /* the first is the one being filled */
	size_t used;	      /* of the first block */
	struct adopted *adopted;
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
	for (struct adopted *a = arena->adopted; a != NULL; a = a->next)
		free(a->memory);
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

/* size bytes at a multiple of align, which is a power of two up to ALIGN_BYTES. */
static void *alloc_aligned(struct arena *arena, size_t size, size_t align)
{
	if (size > SIZE_MAX / 2)
		return xcalloc(SIZE_MAX, 2); /* does not return */
	arena->total += size;
	if (size > BLOCK_BYTES / 4)
		return alloc_alone(arena, size);
	size_t at = (arena->used + align - 1) & ~(align - 1);
	if (arena->blocks == NULL || at + size > arena->blocks->size) {
		struct block *b = block_create(BLOCK_BYTES);
		b->next = arena->blocks;
		arena->blocks = b;
		at = 0;
	}
	arena->used = at + size;
	return arena->blocks->data + at;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return alloc_aligned(arena, size, ALIGN_BYTES);
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
	char *copy = alloc_aligned(arena, s.size + 1, 1);

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

void arena_adopt(struct arena *arena, void *memory, size_t size)
{
	if (memory == NULL)
		return;
	struct adopted *a = ARENA_NEW(arena, struct adopted);
	*a = (struct adopted){.next = arena->adopted, .memory = memory};
	arena->adopted = a;
	arena->total += size;
}

void *arena_adopt_array(struct arena *arena, void *data, size_t count, size_t size)
{
	if (count == 0) {
		free(data);
		return NULL;
	}
	data = xrealloc_array(data, count, size);
	arena_adopt(arena, data, count * size);
	return data;
}

size_t arena_size_bytes(const struct arena *arena)
{
	return arena->total;
}
