/*
 * A sleeping thread's stack pointer and pc can be read from outside, its frame pointer can't, and
 * it is not in memory either while only functions that leave it alone are inside of the one that
 * set it up.  But that function has saved its caller's frame pointer right below its return
 * address, and code tells what such a pair must look like:
 *
 * 1. The return address follows a call instruction.  If that is a direct call of the function's
 *    first instruction, the pair is almost certainly it.  If the call is indirect, or of a stub
 *    that leads elsewhere, it may be.  If it is of another function, that one may have ended in a
 *    jump to this one.
 * 2. The caller's frame leads on: by its own rules there is a return address too.
 *
 * Stack memory is full of old frames, and an old pair that was right once looks right still.  What
 * keeps the search from most of it is the function's prologue: how much room it makes below bp says
 * where bp is at the least, and unless the function calls alloca, exactly.
 */
#include "unwind/lost_bp.h"

#include "obj/cfi.h"

/* Frames larger than this are not searched through. */
#define SEARCH_BYTES ((uint64_t)256 << 10)
/* How much further a sure pair is looked for once there is one that may be right. */
#define SEARCH_ON_BYTES ((uint64_t)4096)

struct search {
	const struct lost_bp *frame;
	const struct unwind_mapping *mapping; /* of the function; never NULL */
	bool has_start;
	uint64_t start_va; /* of the function */
};

/* ---- the prologue ---- */

enum { CODE_BYTES = 48, CODE_PIECE = 16 };

struct prologue {
	uint8_t code[CODE_BYTES + 8];
	size_t at;
	bool has_bp;	/* bp is set up */
	uint64_t bytes; /* pushed and made room for, below bp */
};

static bool take(struct prologue *p, const char *bytes, size_t size)
{
	if (memcmp(p->code + p->at, bytes, size) != 0)
		return false;
	p->at += size;
	return true;
}

static uint64_t take_number(struct prologue *p, size_t size)
{
	int32_t number = 0;

	if (size == 1)
		number = (int8_t)p->code[p->at];
	else
		memcpy(&number, p->code + p->at, sizeof(number));
	p->at += size;
	return (uint64_t)(int64_t)number;
}

/* push of a register: what it does to bytes depends on where bp is. */
static bool take_push(struct prologue *p)
{
	size_t prefix = p->code[p->at] == 0x41;
	uint8_t code = p->code[p->at + prefix];

	if (code < 0x50 || code > 0x57)
		return false;
	p->at += prefix + 1;
	p->bytes += p->has_bp ? 8 : 0;
	return true;
}

/* One instruction of those that prologues are made of.  False: something else. */
static bool take_instruction(struct prologue *p)
{
	if (take(p, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		return true;
	if (take(p, "\x48\x89\xe5", 3) || take(p, "\x48\x8b\xec", 3)) { /* mov %rsp, %rbp */
		p->has_bp = true;
		return true;
	}
	if (take(p, "\x48\x83\xec", 3)) /* sub $, %rsp */
		p->bytes += take_number(p, 1);
	else if (take(p, "\x48\x81\xec", 3))
		p->bytes += take_number(p, 4);
	else if (take(p, "\x48\x8d\x64\x24", 4)) /* lea (%rsp), %rsp */
		p->bytes -= take_number(p, 1);
	else if (take(p, "\x48\x8d\xa4\x24", 4))
		p->bytes -= take_number(p, 4);
	else
		return take_push(p);
	return true;
}

/* How far above sp bp is at the least. */
static uint64_t least_distance(const struct search *s)
{
	struct unwind_memory *memory = s->frame->memory;
	struct prologue p = {.at = 0};

	if (!s->has_start || !memory->read_code)
		return 0;
	for (size_t i = 0; i < CODE_BYTES; i += CODE_PIECE)
		if (!memory->read_code(memory, s->start_va + i, p.code + i, CODE_PIECE))
			break;
	while (p.at < CODE_BYTES && s->start_va + p.at < s->frame->va && take_instruction(&p))
		;
	return p.has_bp && p.bytes < SEARCH_BYTES ? p.bytes & ~(uint64_t)7 : 0;
}

/* ---- pairs ---- */

struct pair {
	uint64_t va; /* where the caller's bp is saved */
	uint64_t bp, return_va;
};

enum fit { FIT_NONE, FIT_JUMPED, FIT_PERHAPS, FIT_SURE };

/* Whether the function at va is one that its callers' calls name. */
static bool is_stub(const struct search *s, uint64_t va)
{
	const struct unwind_mapping *mapping = unwind_space_find(s->frame->space, va);
	uint64_t start;

	if (mapping != s->mapping || !mapping->table)
		return true;
	if (cfi_table_find(mapping->table, va - mapping->slide)->kind == CFI_PLT)
		return true;
	/* The stubs of .plt.sec have one entry for all of them. */
	return !cfi_table_function(mapping->table, va - mapping->slide, &start) ||
	       start + mapping->slide != va;
}

static enum fit fit_of_call(const struct search *s, uint64_t return_va)
{
	uint64_t target;

	if (!guess_call_target(s->frame->memory, return_va, &target) || !s->has_start)
		return FIT_PERHAPS;
	if (target == s->start_va)
		return FIT_SURE;
	return is_stub(s, target) ? FIT_PERHAPS : FIT_JUMPED;
}

static bool is_return_slot(const struct search *s, uint64_t va)
{
	const struct lost_bp *f = s->frame;
	uint64_t return_va;

	return unwind_memory_read(f->memory, va, &return_va) &&
	       guess_is_return_address(f->cache, f->space, f->memory, return_va);
}

/* Whether bp can be the frame pointer of a frame whose innermost byte is at sp. */
static bool can_be_bp(const struct search *s, uint64_t bp, uint64_t sp)
{
	uint64_t word;

	return bp >= sp && (bp & 7) == 0 && unwind_memory_read(s->frame->memory, bp, &word);
}

/* Whether there is a frame outside of the pair's, by the rules of the caller's code. */
static bool leads_on(const struct search *s, const struct pair *pair)
{
	const struct unwind_mapping *mapping =
		unwind_space_find(s->frame->space, pair->return_va - 1);
	uint64_t sp = pair->va + 16;

	if (!mapping)
		return false;
	if (!mapping->table)
		return pair->bp == 0 || can_be_bp(s, pair->bp, sp);
	const struct cfi_rule *rule =
		cfi_table_find(mapping->table, pair->return_va - 1 - mapping->slide);

	switch (rule->kind) {
	case CFI_END:
		return true;
	case CFI_SP:
	case CFI_CODE_SP:
		return is_return_slot(s, sp + (uint64_t)(int64_t)rule->cfa_offset - 8);
	case CFI_BP:
	case CFI_CODE_BP:
		return can_be_bp(s, pair->bp, sp) &&
		       is_return_slot(s, pair->bp + (uint64_t)(int64_t)rule->cfa_offset - 8);
	case CFI_NONE:
	case CFI_PLT:
	case CFI_SIGNAL:
	case CFI_SLOW:
		break;
	}
	return can_be_bp(s, pair->bp, sp);
}

static enum fit fit_of(const struct search *s, const struct pair *pair)
{
	const struct lost_bp *f = s->frame;

	if (!guess_is_return_address(f->cache, f->space, f->memory, pair->return_va))
		return FIT_NONE;
	return leads_on(s, pair) ? fit_of_call(s, pair->return_va) : FIT_NONE;
}

/* ---- the search ---- */

static enum lost_bp_verdict search(const struct search *s, uint64_t low, uint64_t *bp)
{
	struct unwind_memory *memory = s->frame->memory;
	uint64_t limit = low + SEARCH_BYTES, best_va = 0;
	enum fit best = FIT_NONE;
	struct pair pair = {0};

	if (!unwind_memory_read(memory, low, &pair.bp))
		return LOST_BP_NOT_FOUND;
	for (pair.va = low; pair.va < limit; pair.va += 8, pair.bp = pair.return_va) {
		if (!unwind_memory_read(memory, pair.va + 8, &pair.return_va))
			break;
		enum fit fit = fit_of(s, &pair);
		if (fit <= best)
			continue;
		best = fit;
		best_va = pair.va;
		if (fit == FIT_SURE)
			break;
		if (fit == FIT_PERHAPS && limit - pair.va > SEARCH_ON_BYTES)
			limit = pair.va + SEARCH_ON_BYTES;
	}
	*bp = best_va - (s->frame->return_offset - 8);
	if (best == FIT_NONE)
		return LOST_BP_NOT_FOUND;
	return best == FIT_SURE ? LOST_BP_FOUND : LOST_BP_GUESSED;
}

enum lost_bp_verdict lost_bp_find(const struct lost_bp *frame, uint64_t *bp)
{
	struct search s = {.frame = frame, .mapping = unwind_space_find(frame->space, frame->va)};
	uint64_t start;

	if (!s.mapping)
		return LOST_BP_NOT_FOUND;
	if (s.mapping->table &&
		cfi_table_function(s.mapping->table, frame->va - s.mapping->slide, &start)) {
		s.has_start = true;
		s.start_va = start + s.mapping->slide;
	}
	uint64_t low = frame->sp + least_distance(&s) + (frame->return_offset - 8);

	return search(&s, low, bp);
}
