#ifndef SONDE_MODEL_ROW_KINDS_H
#define SONDE_MODEL_ROW_KINDS_H

/*
 * What makes two rows of a profile's tables the same: hash and comparison of each.  For
 * model/builder alone, whose lookups they become part of (base/row_table.h).
 */

#include "base/hash.h"
#include "base/row_table.h"
#include "model/profile.h"

static inline uint64_t pack(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static uint64_t object_hash(const void *row)
{
	const struct object *o = row;

	return hash_pair(pack(o->path.i, o->build_id.i), o->kind);
}

static bool object_same(const void *a, const void *b)
{
	const struct object *x = a, *y = b;

	return x->path.i == y->path.i && x->build_id.i == y->build_id.i && x->kind == y->kind;
}

static uint64_t function_hash(const void *row)
{
	const struct function *f = row;

	return hash_pair(pack(f->name.i, f->object.i), pack(f->file.i, f->line));
}

static bool function_same(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->name.i == y->name.i && x->object.i == y->object.i && x->file.i == y->file.i &&
	       x->line == y->line;
}

/*
 * Neighbours in a function, which mostly come together, are neighbours in the lookup: only the part
 * above the low bits of line and address is mixed; the low bits are added.  Each part has an odd
 * factor of its own (the first digits of the square roots of 2, 3, 5, 7), and the sum is mixed
 * once.
 */
static uint64_t frame_hash(const void *row)
{
	const struct frame *f = row;
	uint64_t place = pack(f->function.i, f->file.i) * 0x6a09e667f3bcc909u +
			 (uint64_t)(f->line >> HASH_RUN_BITS) * 0xbb67ae8584caa73bu +
			 (f->obj_addr >> HASH_RUN_BITS) * 0x3c6ef372fe94f82bu +
			 (uint64_t)f->is_inline * 0xa54ff53a5f1d36f1u;

	return hash_run(hash_u64(place), f->line + f->obj_addr);
}

static bool frame_same(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->function.i == y->function.i && x->file.i == y->file.i && x->line == y->line &&
	       x->is_inline == y->is_inline && x->obj_addr == y->obj_addr;
}

static uint64_t metric_hash(const void *row)
{
	const struct metric *m = row;

	return hash_u64(pack(m->name.i, m->unit.i));
}

static bool metric_same(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;

	return x->name.i == y->name.i && x->unit.i == y->unit.i;
}

/* A note's count is not part of its identity. */
static uint64_t note_hash(const void *row)
{
	const struct note *n = row;

	return hash_u64(pack((uint32_t)n->kind, n->text.i));
}

static bool note_same(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	return x->kind == y->kind && x->text.i == y->text.i;
}

static const struct row_kind object_rows = {sizeof(struct object), object_hash, object_same};
static const struct row_kind function_rows = {
	sizeof(struct function), function_hash, function_same};
static const struct row_kind frame_rows = {sizeof(struct frame), frame_hash, frame_same};
static const struct row_kind metric_rows = {sizeof(struct metric), metric_hash, metric_same};
static const struct row_kind note_rows = {sizeof(struct note), note_hash, note_same};
/* Not interned. */
static const struct row_kind process_rows = {sizeof(struct process), NULL, NULL};
static const struct row_kind thread_rows = {sizeof(struct thread), NULL, NULL};

#endif
