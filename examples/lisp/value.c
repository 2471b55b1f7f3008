/*
 * Cells and the collector: mark and sweep over blocks of equal cells.
 *
 * The roots are the symbols and the C stack itself: every word there that could be the address
 * of a cell is taken for one (H. Boehm, M. Weiser, "Garbage collection in an uncooperative
 * environment", 1988). So the interpreter's C code may keep cells in plain variables.
 */

#include "lisp.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are aligned to their size, so that a cell's address gives its block's. */
#define BLOCK_BYTES (64u * 1024)
#define BLOCK_CELLS (BLOCK_BYTES / sizeof(struct cell))
#define BLOCKS_MAX  4096
#define SYMBOLS_MAX 1024 /* a power of two */
#define STACK_BYTES (6u * 1024 * 1024)

struct block {
	struct cell cells[BLOCK_CELLS];
};

static struct {
	struct block *blocks[BLOCKS_MAX]; /* by address */
	size_t block_count;
	struct cell *free;
	struct cell **pending; /* marked cells whose parts are not yet */
	size_t pending_count, pending_capacity;
	char *stack_base;
} heap;

static struct cell *symbols[SYMBOLS_MAX]; /* open addressing */
static size_t symbol_count;

static struct cell the_nil = {.kind = KIND_NIL};
struct cell *const nil = &the_nil;
struct cell *truth;

static void *allocate(void *memory)
{
	if (!memory) {
		fputs("lisp: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

static void heap_grow(size_t blocks)
{
	for (; blocks && heap.block_count < BLOCKS_MAX; blocks--) {
		struct block *block = allocate(aligned_alloc(BLOCK_BYTES, BLOCK_BYTES));
		size_t at = heap.block_count++;

		for (; at && heap.blocks[at - 1] > block; at--)
			heap.blocks[at] = heap.blocks[at - 1];
		heap.blocks[at] = block;
		for (size_t i = 0; i < BLOCK_CELLS; i++) {
			block->cells[i] = (struct cell){.kind = KIND_FREE, .next_free = heap.free};
			heap.free = &block->cells[i];
		}
	}
}

static void push_pending(struct cell *cell)
{
	if (!cell || cell->is_marked || cell->kind == KIND_FREE)
		return;
	cell->is_marked = true;
	if (heap.pending_count == heap.pending_capacity) {
		heap.pending_capacity = heap.pending_capacity ? 2 * heap.pending_capacity : 1024;
		heap.pending = allocate(
			realloc(heap.pending, heap.pending_capacity * sizeof(*heap.pending)));
	}
	heap.pending[heap.pending_count++] = cell;
}

static void mark_pending(void)
{
	while (heap.pending_count) {
		struct cell *cell = heap.pending[--heap.pending_count];

		if (cell->kind == KIND_PAIR) {
			push_pending(cell->head);
			push_pending(cell->tail);
		} else if (cell->kind == KIND_SYMBOL) {
			push_pending(cell->value);
		} else if (cell->kind == KIND_CLOSURE) {
			push_pending(cell->closure.parameters);
			push_pending(cell->closure.body);
			push_pending(cell->closure.scope);
		}
	}
}

/* The cell that a word is the address of, if it is one. */
static struct cell *cell_at(uintptr_t word)
{
	uintptr_t wanted = word & ~(uintptr_t)(BLOCK_BYTES - 1);
	size_t low = 0, high = heap.block_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((uintptr_t)heap.blocks[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == heap.block_count || (uintptr_t)heap.blocks[low] != wanted)
		return NULL;
	return (word - wanted) % sizeof(struct cell) ? NULL : (struct cell *)word;
}

static __attribute__((noinline)) void mark_stack(void)
{
	uintptr_t *word = __builtin_frame_address(0);

	for (; (char *)word < heap.stack_base; word++)
		push_pending(cell_at(*word));
}

/* Returns how many cells are free afterwards. */
static size_t sweep(void)
{
	size_t free_count = 0;

	heap.free = NULL;
	for (size_t b = 0; b < heap.block_count; b++) {
		for (size_t i = 0; i < BLOCK_CELLS; i++) {
			struct cell *cell = &heap.blocks[b]->cells[i];

			if (cell->is_marked) {
				cell->is_marked = false;
				continue;
			}
			if (cell->kind == KIND_STRING)
				free(cell->text);
			*cell = (struct cell){.kind = KIND_FREE, .next_free = heap.free};
			heap.free = cell;
			free_count++;
		}
	}
	return free_count;
}

static void collect(void)
{
	jmp_buf registers;
	size_t free_count;

	setjmp(registers); /* cells that stand only in registers stand in the stack now */
	mark_stack();
	for (size_t i = 0; i < SYMBOLS_MAX; i++)
		push_pending(symbols[i]);
	mark_pending();
	nil->is_marked = false;
	free_count = sweep();
	if (free_count < heap.block_count * BLOCK_CELLS / 2)
		heap_grow(heap.block_count);
}

static struct cell *make(enum kind kind)
{
	struct cell *cell;

	if (!heap.free)
		collect();
	cell = heap.free;
	if (!cell)
		fail("out of memory", NULL);
	heap.free = cell->next_free;
	*cell = (struct cell){.kind = kind};
	return cell;
}

struct cell *make_number(int64_t number)
{
	struct cell *cell = make(KIND_NUMBER);

	cell->number = number;
	return cell;
}

struct cell *make_string(const char *text, size_t size)
{
	struct cell *cell = make(KIND_STRING);

	cell->text = allocate(strndup(text, size));
	return cell;
}

struct cell *make_pair(struct cell *head, struct cell *tail)
{
	struct cell *cell = make(KIND_PAIR);

	cell->head = head;
	cell->tail = tail;
	return cell;
}

struct cell *make_closure(struct cell *parameters, struct cell *body, struct cell *scope)
{
	struct cell *cell = make(KIND_CLOSURE);

	cell->closure.parameters = parameters;
	cell->closure.body = body;
	cell->closure.scope = scope;
	return cell;
}

/* FNV-1a. */
static uint32_t name_hash(const char *name, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash;
}

struct cell *symbol(const char *name, size_t size)
{
	uint32_t at = name_hash(name, size) % SYMBOLS_MAX;

	for (; symbols[at]; at = (at + 1) % SYMBOLS_MAX) {
		if (strncmp(symbols[at]->text, name, size) == 0 && symbols[at]->text[size] == 0)
			return symbols[at];
	}
	if (++symbol_count == SYMBOLS_MAX)
		fail("too many symbols", NULL);
	symbols[at] = make(KIND_SYMBOL);
	symbols[at]->text = allocate(strndup(name, size));
	return symbols[at];
}

void define_builtin(const char *name, struct cell *(*call)(struct cell *arguments))
{
	struct cell *cell = make(KIND_BUILTIN);

	cell->builtin.name = name;
	cell->builtin.call = call;
	symbol(name, strlen(name))->value = cell;
}

void define_form(
	const char *name, struct step (*expand)(struct cell *arguments, struct cell *scope))
{
	struct cell *cell = make(KIND_FORM);

	cell->form.name = name;
	cell->form.expand = expand;
	symbol(name, strlen(name))->value = cell;
}

bool is_equal(const struct cell *a, const struct cell *b)
{
	for (; a != b; a = a->tail, b = b->tail) {
		if (a->kind != b->kind)
			return false;
		if (a->kind == KIND_NUMBER)
			return a->number == b->number;
		if (a->kind == KIND_STRING)
			return strcmp(a->text, b->text) == 0;
		if (a->kind != KIND_PAIR || !is_equal(a->head, b->head))
			return false;
	}
	return true;
}

void check_depth(void)
{
	if (heap.stack_base - (char *)__builtin_frame_address(0) > (ptrdiff_t)STACK_BYTES)
		fail("recursion too deep", NULL);
}

void heap_init(void *stack_base)
{
	heap.stack_base = stack_base;
	heap_grow(16);
	truth = symbol("t", 1);
	truth->value = truth;
}
