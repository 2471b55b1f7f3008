/*
 * Stack memory of a sample.  It consists of several windows: the dump, the pieces of the rest, and
 * one piece of the live process.  The walker has one window at a time, and calls memory_read when
 * it leaves it.
 *
 * Pieces grow from 64 KB to 1 MB: most stacks beyond the dump are slightly longer, and a recursion
 * 65,536 deep has megabytes.
 */
#include "record/stacks/stack_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/alloc.h"
#include "record/processes/object_table.h"
#include "record/processes/process_table.h"

#define PIECE_FIRST ((size_t)64 << 10)
#define PIECE_MAX   ((size_t)1 << 20)
/* How much of the dump must be unchanged. */
#define CHECK_BYTES ((size_t)2048)
/* A caller's frame further away than this is on another stack, as no frame is so large. */
#define OTHER_STACK_BYTES ((uint64_t)1 << 20)

static bool memory_read(struct unwind_memory *memory, uint64_t va, uint64_t *value);
static bool memory_read_code(
	struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size);
static bool memory_made_rule(struct unwind_memory *memory, uint64_t va, struct cfi_rule *rule);

void stack_memory_init(struct stack_memory *m, const struct object_table *objects)
{
	*m = (struct stack_memory){.objects = objects, .remote = xalloc(PIECE_MAX)};
}

void stack_memory_deinit(struct stack_memory *m)
{
	free(m->remote);
	m->remote = NULL;
}

static void show_dump(struct stack_memory *m)
{
	m->memory.bytes = m->dump;
	m->memory.low_va = m->dump_low_va;
	m->memory.high_va = m->dump_high_va;
}

static void show_remote(struct stack_memory *m)
{
	m->memory.bytes = m->remote;
	m->memory.low_va = m->remote_low_va;
	m->memory.high_va = m->remote_high_va;
}

void stack_memory_begin(
	struct stack_memory *m, const struct unwind_space *space, const struct perf_sample *sample)
{
	m->space = space;
	m->tid = sample->tid;
	m->time_ns = sample->time_ns;
	m->dump = sample->stack;
	m->dump_low_va = sample->regs.value[UNWIND_REG_SP];
	m->dump_high_va = m->dump_low_va + sample->stack_size;
	if (m->dump_high_va < m->dump_low_va)
		m->dump_high_va = m->dump_low_va;
	m->check_high_va = m->dump_high_va;
	m->unchecked = false;
	m->memory.read = memory_read;
	m->memory.read_code = memory_read_code;
	m->memory.made_rule = m->jit ? memory_made_rule : NULL;
	m->memory.context = m;
	m->memory.checks_wait = false;
	m->rest = NULL;
	stack_memory_restart(m);
}

void stack_memory_add_rest(struct stack_memory *m, const struct stack_rest *rest)
{
	m->rest = rest;
	m->memory.checks_wait = true;
}

void stack_memory_restart(struct stack_memory *m)
{
	m->remote_low_va = m->remote_high_va = 0;
	m->remote_size = PIECE_FIRST;
	m->asked = m->raced = false;
	show_dump(m);
}

static bool in_dump(const struct stack_memory *m, uint64_t va)
{
	return va >= m->dump_low_va && va < m->dump_high_va;
}

size_t stack_memory_other_stack(const struct stack_memory *m, const struct unwind_stack *stack)
{
	size_t inner = 0;

	if (!m->asked)
		return 0;
	while (inner < stack->count && in_dump(m, stack->frames[inner].sp))
		inner++;
	if (inner == stack->count)
		return 0;
	uint64_t next = stack->frames[inner].sp;
	bool is_near = next >= m->dump_high_va && next - m->dump_high_va < OTHER_STACK_BYTES;

	return is_near ? 0 : inner;
}

bool stack_memory_shows_live(const struct stack_memory *m)
{
	return m->memory.bytes == m->remote;
}

void stack_memory_check_frame(struct stack_memory *m, uint64_t frame_sp)
{
	if (m->dump_high_va - frame_sp > CHECK_BYTES)
		m->check_high_va = frame_sp + CHECK_BYTES;
}

void stack_memory_check_nothing(struct stack_memory *m)
{
	m->unchecked = true;
}

static size_t read_remote(const struct stack_memory *m, uint64_t va, void *bytes, size_t size)
{
	struct iovec local = {bytes, size}, remote = {(void *)(uintptr_t)va, size};
	ssize_t got = process_vm_readv((pid_t)m->tid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Whether the checked part of the dump still equals the live stack. */
static bool stands_still(const struct stack_memory *m)
{
	uint8_t again[CHECK_BYTES];
	size_t dumped = m->check_high_va - m->dump_low_va;
	size_t check = dumped < CHECK_BYTES ? dumped : CHECK_BYTES;

	return check > 0 && read_remote(m, m->check_high_va - check, again, check) == check &&
	       memcmp(again, m->dump + dumped - check, check) == 0;
}

/*
 * Reads a piece of the live process at va.  False: it cannot be read.  The check comes after the
 * read: if the stack is unchanged then, it was unchanged since the sample.
 */
static bool fetch_piece(struct stack_memory *m, uint64_t va)
{
	size_t size = m->remote_size;

	/* The part in the dump is never read from the process, which may have changed it. */
	if (va < m->dump_low_va && m->dump_low_va - va < size)
		size = m->dump_low_va - va;
	m->asked = true;
	m->read_count++;
	m->remote_low_va = m->remote_high_va = 0;
	size_t got = read_remote(m, va, m->remote, size);

	if (got < sizeof(uint64_t))
		return false;
	m->found_count++;
	if (!m->unchecked && !stands_still(m)) {
		m->raced = true;
		return false;
	}
	m->remote_low_va = va;
	m->remote_high_va = va + got;
	if (m->remote_size < PIECE_MAX)
		m->remote_size *= 4;
	return true;
}

static bool window_has(const struct unwind_memory *memory, uint64_t va)
{
	return va >= memory->low_va && va < memory->high_va && memory->high_va - va >= 8;
}

static void show_piece(struct stack_memory *m, const struct stack_piece *piece)
{
	m->memory.bytes = piece->bytes;
	m->memory.low_va = piece->low_va;
	m->memory.high_va = piece->low_va + piece->size_bytes;
}

/* The same for another stack: there are few pieces. */
static bool show_other(struct stack_memory *m, uint64_t va)
{
	for (size_t i = 0; m->rest && i < m->rest->others.count; i++) {
		show_piece(m, &m->rest->others.data[i]);
		if (window_has(&m->memory, va))
			return true;
	}
	return false;
}

/* Shows the piece of the rest that contains va.  False: none does. */
static bool show_rest(struct stack_memory *m, uint64_t va)
{
	size_t low = 0, high = m->rest ? m->rest->pieces.count : 0;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct stack_piece *piece = &m->rest->pieces.data[middle];

		if (va < piece->low_va) {
			high = middle;
		} else if (va - piece->low_va >= piece->size_bytes) {
			low = middle + 1;
		} else {
			show_piece(m, piece);
			return window_has(&m->memory, va);
		}
	}
	return false;
}

/* Shows a piece of the live process that contains va.  False: it cannot be read. */
static bool show_live(struct stack_memory *m, uint64_t va)
{
	show_remote(m);
	if (window_has(&m->memory, va))
		return true;
	if (m->raced || (m->rest && m->memory.is_check) || !fetch_piece(m, va))
		return false;
	show_remote(m);
	return true;
}

static bool memory_read(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	struct stack_memory *m = memory->context;

	show_dump(m);
	if (!window_has(memory, va) && !show_rest(m, va) && !show_other(m, va) &&
		!show_live(m, va)) {
		show_dump(m);
		return false;
	}
	memcpy(value, memory->bytes + (va - memory->low_va), sizeof(*value));
	return true;
}

static bool read_file(const struct stack_memory *m, uint64_t va, uint8_t *bytes, size_t size)
{
	const struct unwind_mapping *mapping = unwind_space_find(m->space, va);

	if (!mapping)
		return false;
	/* A pending mapping's slide is relative to file offsets. */
	if (mapping->object & UNWIND_PENDING)
		return object_table_read(m->objects, mapping->object & ~UNWIND_PENDING,
			va - mapping->slide, bytes, size);
	return object_table_read_code(
		m->objects, mapping->object, va - mapping->slide, bytes, size);
}

/*
 * Reads code from the file, as the process may be gone by now; code without a file is read from the
 * process.
 */
static bool memory_read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	const struct stack_memory *m = memory->context;
	struct iovec local = {bytes, size}, remote = {(void *)(uintptr_t)va, size};

	return read_file(m, va, bytes, size) ||
	       process_vm_readv((pid_t)m->tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool memory_made_rule(struct unwind_memory *memory, uint64_t va, struct cfi_rule *rule)
{
	const struct stack_memory *m = memory->context;
	const struct unwind_mapping *mapping = unwind_space_find(m->space, va);

	if (!mapping || (mapping->object & UNWIND_PENDING))
		return false;
	return jit_table_rule(m->jit, mapping->object, va, m->time_ns, rule);
}
