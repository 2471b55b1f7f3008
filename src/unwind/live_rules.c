/*
 * Most places are near a return, so only a little code is read first. If that is not enough, more
 * is read, also before the place, as some loops end with a backward jump.
 */
#include "unwind/live_rules.h"

#include "obj/code_exit.h"

enum { PIECE = 16, FIRST_BYTES = 64, MOST_BYTES = 4096, GROWTH = 8 };
/* The maximum number of pieces of code on a path. */
enum { JUMPS_MAX = 16 };

/* The code around a place. */
struct window {
	uint8_t code[2 * MOST_BYTES]; /* the place is in the middle */
	size_t before, after;	      /* available bytes */
	bool is_cut;		      /* no more bytes follow */
};

/*
 * Extends the code after or before the window, up to wanted bytes.  Each read is a system call, so
 * few large reads are tried first, and smaller ones near the end of the code.
 */
static void read_behind(struct window *w, struct unwind_memory *memory, uint64_t va, size_t wanted)
{
	uint8_t *middle = w->code + MOST_BYTES;

	for (size_t step = wanted; step >= PIECE; step = step / 2 / PIECE * PIECE)
		while (w->after + step <= wanted &&
			memory->read_code(memory, va + w->after, middle + w->after, step))
			w->after += step;
}

static void read_before(struct window *w, struct unwind_memory *memory, uint64_t va, size_t wanted)
{
	uint8_t *middle = w->code + MOST_BYTES;

	for (size_t step = wanted; step >= PIECE; step = step / 2 / PIECE * PIECE)
		while (w->before + step <= wanted &&
			memory->read_code(
				memory, va - w->before - step, middle - w->before - step, step))
			w->before += step;
}

static void read_on(struct window *w, struct unwind_memory *memory, uint64_t va, size_t wanted)
{
	if (!w->is_cut)
		read_behind(w, memory, va, wanted);
	w->is_cut = w->after < wanted;
	if (wanted > FIRST_BYTES)
		read_before(w, memory, va, wanted);
}

static const struct cfi_rule *keep(struct live_rules *live, const struct cfi_rule *rule)
{
	for (size_t i = 0; i < live->count; i++) {
		const struct cfi_rule *r = &live->rules[i];
		if (r->kind == rule->kind && r->cfa_offset == rule->cfa_offset &&
			r->bp_offset == rule->bp_offset && r->bx_offset == rule->bx_offset &&
			r->origin == rule->origin)
			return r;
	}
	if (live->count == LIVE_RULES_MAX)
		return NULL;
	live->rules[live->count] = *rule;
	return &live->rules[live->count++];
}

/* Follows a path on from va. */
static bool find(const struct arch *arch, struct unwind_memory *memory, uint64_t va,
	struct code_exit *exit, struct cfi_rule *rule)
{
	const struct code_exit here = *exit;
	struct window w;

	w.before = w.after = 0;
	w.is_cut = false;
	for (size_t wanted = FIRST_BYTES; wanted <= MOST_BYTES; wanted *= GROWTH) {
		read_on(&w, memory, va, wanted);
		struct code_piece piece = {.obj_addr = va - w.before,
			.bytes = w.code + MOST_BYTES - w.before,
			.size = w.before + w.after,
			.arch = arch};

		*exit = here;
		exit->leads_on = false;
		if (w.after && code_exit_rule(&piece, w.before, exit, rule))
			return true;
	}
	return false;
}

const struct cfi_rule *live_rules_made(
	struct live_rules *live, struct unwind_memory *memory, uint64_t va)
{
	struct cfi_rule rule;

	if (!memory->made_rule || !memory->made_rule(memory, va, &rule))
		return NULL;
	return keep(live, &rule);
}

const struct cfi_rule *live_rules_read(
	struct live_rules *live, const struct arch *arch, struct unwind_memory *memory, uint64_t va)
{
	struct code_exit exit = code_exit_begin();
	struct cfi_rule rule;

	if (!memory->read_code || !arch->decode)
		return NULL;
	for (int jumps = 0; jumps < JUMPS_MAX; jumps++) {
		if (find(arch, memory, va, &exit, &rule))
			return keep(live, &rule);
		if (!exit.leads_on)
			break;
		va = exit.next_addr;
	}
	return NULL;
}
