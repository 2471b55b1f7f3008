/*
 * A sleeping thread's stack pointer and pc can be read from outside, but its frame pointer cannot.
 * It is not in memory either, as long as only functions that do not change it are inside the one
 * that set it up.
 *
 * The function's own instructions show how far its frame pointer is above its stack pointer, unless
 * it calls alloca. Then they give a minimum, and from there on, candidates are searched: pairs of
 * the caller's saved frame pointer and a return address. Stack memory is full of stale pairs, so
 * each is followed outwards (unwind/heuristics/chain.h). A pair is certain if
 *
 * - rules lead from it to the outermost frame, each function on the way returns after a call that
 *   entered it, and the call at the pair is known to have entered this function;
 * - this function does not occur again on the way: the inner frame of a recursion may have
 *   returned;
 * - no other pair leads to the outermost frame without a call that entered a different function.
 *
 * Otherwise the best one is a guess.
 */
#include "unwind/heuristics/lost_bp.h"

#include "base/hash.h"
#include "obj/cfi.h"
#include "unwind/heuristics/chain.h"

/* Larger frames are not searched. */
#define SEARCH_BYTES ((uint64_t)256 << 10)
/* How much further to search for a certain pair after finding one without evidence against it. */
#define SEARCH_ON_BYTES ((uint64_t)4096)
/* The maximum number of pairs followed. */
#define CHAINS_MAX ((size_t)256)

/* The bytes of code inspected, from the function's beginning, and after the current place. */
enum { CODE_MAX = 1 << 15, CODE_BEHIND = 1 << 12, CODE_PIECE = 16 };

struct pair {
	uint64_t va; /* the address where the caller's bp is saved */
	uint64_t bp, return_va;
};

struct search {
	const struct lost_bp *frame;
	struct chain_place place;
	size_t chains; /* followed */
	size_t rivals; /* pairs without evidence against them */
	uint64_t best_va;
	struct chain best;
	bool has_best;
};

/* ---- what the code shows ---- */

static size_t read_function(const struct search *s, uint8_t *code)
{
	struct unwind_memory *memory = s->frame->memory;
	uint64_t wanted = s->frame->va - s->place.start_va + CODE_BEHIND;
	size_t size = 0;

	while (size < wanted && size + CODE_PIECE <= CODE_MAX &&
		memory->read_code(memory, s->place.start_va + size, code + size, CODE_PIECE))
		size += CODE_PIECE;
	return size;
}

static struct code_depth read_depth(const struct search *s)
{
	uint64_t at = s->frame->va - s->place.start_va;
	uint8_t code[CODE_MAX];

	if (!s->place.has_start || !s->frame->memory->read_code || at >= CODE_MAX)
		return (struct code_depth){.is_known = false};
	struct code_piece piece = {
		s->place.start_va, code, read_function(s, code), s->frame->space->arch};

	return at < piece.size ? code_depth_at(&piece, at) : (struct code_depth){.is_known = false};
}

static struct code_depth find_depth(const struct search *s)
{
	struct lost_bp_cache *cache = s->frame->cache;
	uint64_t generation = s->frame->space->generation;
	size_t slot = hash_pair(s->frame->va, generation) % LOST_BP_CACHE_SIZE;

	if (cache->slots[slot].va != s->frame->va || cache->slots[slot].generation != generation) {
		cache->slots[slot].va = s->frame->va;
		cache->slots[slot].generation = generation;
		cache->slots[slot].depth = read_depth(s);
	}
	return cache->slots[slot].depth;
}

static bool is_return_slot(const struct search *s, uint64_t va)
{
	const struct lost_bp *f = s->frame;
	uint64_t return_va;

	return unwind_memory_read(f->memory, va, &return_va) &&
	       return_address_is_plausible(f->returns, f->space, f->memory, return_va);
}

/* ---- the search ---- */

/* Whether there is no evidence against a chain. */
static bool is_sound(const struct chain *c)
{
	return c->is_whole && c->against == 0;
}

/* Whether a pair further out than the best one is better. */
static bool is_better(const struct chain *c, const struct chain *best)
{
	if (c->is_whole != best->is_whole)
		return c->is_whole;
	if (c->against != best->against)
		return c->against < best->against;
	/* A chain in which the function recurs also contains the pairs of its outer frames. */
	return c->first == CALLEE_THIS && best->first != CALLEE_THIS && !best->recurs;
}

static bool is_certain(const struct search *s)
{
	const struct chain *c = &s->best;

	return is_sound(c) && c->first == CALLEE_THIS && !c->recurs && c->unknown == 0 &&
	       s->rivals == 1;
}

static void try_pair(struct search *s, const struct pair *pair)
{
	const struct lost_bp *f = s->frame;

	if (!return_address_is_plausible(f->returns, f->space, f->memory, pair->return_va))
		return;
	s->chains++;
	struct chain chain = chain_follow(&s->place, pair->return_va, pair->va + 16, pair->bp);

	s->rivals += is_sound(&chain);
	if (s->has_best && !is_better(&chain, &s->best))
		return;
	s->best = chain;
	s->best_va = pair->va;
	s->has_best = true;
}

static void search(struct search *s, uint64_t low)
{
	struct unwind_memory *memory = s->frame->memory;
	uint64_t limit = low + SEARCH_BYTES;
	struct pair pair = {0};

	if (!unwind_memory_read(memory, low, &pair.bp))
		return;
	for (pair.va = low; pair.va < limit; pair.va += 8, pair.bp = pair.return_va) {
		size_t rivals = s->rivals;

		if (!unwind_memory_read(memory, pair.va + 8, &pair.return_va))
			return;
		try_pair(s, &pair);
		if (is_certain(s) || s->chains == CHAINS_MAX)
			return;
		if (rivals == 0 && s->rivals && limit - pair.va > SEARCH_ON_BYTES)
			limit = pair.va + SEARCH_ON_BYTES;
	}
}

enum lost_bp_verdict lost_bp_find(const struct lost_bp *frame, uint64_t *bp)
{
	struct search s = {
		.frame = frame,
		.place = {.cache = frame->returns,
			.space = frame->space,
			.memory = frame->memory,
			.mapping = unwind_space_find(frame->space, frame->va)},
	};
	const struct unwind_mapping *mapping = s.place.mapping;
	uint64_t start;

	if (!mapping)
		return LOST_BP_NOT_FOUND;
	if (mapping->table &&
		cfi_table_function(mapping->table, frame->va - mapping->slide, &start)) {
		s.place.has_start = true;
		s.place.start_va = start + mapping->slide;
	}
	struct code_depth depth = find_depth(&s);

	*bp = frame->sp + depth.bytes;
	if (depth.is_exact && is_return_slot(&s, *bp + frame->return_offset))
		return LOST_BP_FOUND;
	search(&s, (frame->sp + depth.bytes + frame->return_offset - 8 + 7) & ~(uint64_t)7);
	if (!s.has_best)
		return LOST_BP_NOT_FOUND;
	*bp = s.best_va - (frame->return_offset - 8);
	return is_certain(&s) ? LOST_BP_FOUND : LOST_BP_GUESSED;
}
