/*
 * Reservations: what is promised counts as taken, so every promise can be kept.  What a segment
 * needs is learned from those before it.
 */
#include "agent/shares.h"

/* What is kept for the next segment, without its rings: this part of all, and no less than that. */
#define KEPT_PART  6
#define KEPT_BYTES ((uint64_t)8 << 20)
/* The most that names may take, the least they are resolved with, and what samples keep then. */
#define NAMES_PART	 3
#define NAMES_LEAST_PART 8
#define SAMPLES_PART	 16
/* A segment that may grow by less than this should end. */
#define TIGHT_PART 64

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t kept_bytes(const struct shares *s)
{
	return larger(s->most_bytes / KEPT_PART, KEPT_BYTES);
}

/* What one needs that was seen with so much: a table that grows is there twice for a moment. */
static uint64_t need_of(uint64_t mapped_bytes)
{
	return mapped_bytes / 4 * 5;
}

/* ---- adding up ---- */

void shares_begin(struct shares *s, uint64_t most_bytes)
{
	s->most_bytes = most_bytes;
	s->taken_bytes = s->ring_bytes = s->growth_bytes = 0;
	s->samplers = 0;
	s->is_starting = false;
}

void shares_add(struct shares *s, struct memory_use use, uint64_t limit_bytes)
{
	s->taken_bytes += memory_most(use, limit_bytes);
}

void shares_add_starting(struct shares *s, struct memory_use use, uint64_t limit_bytes)
{
	s->is_starting = true;
	shares_add(s, use, limit_bytes);
}

void shares_add_sampler(struct shares *s, struct memory_use use)
{
	s->samplers++;
	s->need_bytes = larger(s->need_bytes, need_of(use.mapped_bytes));
	s->growth_bytes += s->need_bytes - use.mapped_bytes;
	shares_add(s, use, 0);
}

void shares_add_rings(struct shares *s, uint64_t ring_bytes)
{
	s->ring_bytes = ring_bytes;
	s->taken_bytes += ring_bytes;
}

void shares_end(struct shares *s, bool is_naming)
{
	/* The next segment's rings are as large as this one's. */
	uint64_t kept = s->is_starting ? 0 : kept_bytes(s) + s->ring_bytes;

	if (!is_naming)
		s->lent_bytes = 0;
	s->room_bytes = less(s->most_bytes, s->taken_bytes);
	s->free_bytes = less(s->room_bytes, less(kept, s->lent_bytes));
}

/* ---- giving ---- */

uint64_t shares_of_sampler(const struct shares *s)
{
	return s->samplers > 0 ? s->free_bytes / s->samplers : 0;
}

bool shares_have_room(const struct shares *s)
{
	return s->room_bytes > 0 && s->room_bytes >= s->need_bytes + s->growth_bytes;
}

uint64_t shares_take_for_next(struct shares *s, bool is_only)
{
	uint64_t kept = smaller(kept_bytes(s), s->room_bytes - s->free_bytes);
	uint64_t share = s->free_bytes / (s->samplers + 1);

	s->free_bytes -= share;
	return (is_only ? kept_bytes(s) : kept) + share;
}

uint64_t shares_take_for_names(struct shares *s, bool is_next_far)
{
	uint64_t samples = s->most_bytes / SAMPLES_PART + s->growth_bytes;
	uint64_t bytes = less(is_next_far ? s->room_bytes : s->free_bytes, samples);

	if (bytes < s->most_bytes / NAMES_LEAST_PART)
		return 0;
	bytes = smaller(bytes, s->most_bytes / NAMES_PART);
	s->lent_bytes = less(bytes + samples, s->free_bytes);
	s->free_bytes += s->lent_bytes;
	s->free_bytes -= bytes;
	return bytes;
}

bool shares_are_tight(const struct shares *s)
{
	return s->samplers > 0 && s->free_bytes < s->most_bytes / TIGHT_PART;
}

/* ---- learning ---- */

void shares_learn(struct shares *s, uint64_t mapped_bytes)
{
	s->need_bytes = need_of(mapped_bytes);
}

void shares_learn_refusal(struct shares *s, uint64_t limit_bytes)
{
	s->need_bytes = larger(s->need_bytes, need_of(limit_bytes));
}
