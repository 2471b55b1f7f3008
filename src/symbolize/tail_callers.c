/*
 * Restored callers and their names.  See tail_callers.h.
 *
 * A jump is an address like that of a frame, but few jumps are frames of a stack as well.  So they
 * are named by themselves, in one batch, once all of them are known.
 */
#include "symbolize/tail_callers.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "symbolize/resolver.h"

static int jump_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Names jumps, which are in any order. */
static void name_jumps(struct symbolizer *s, const struct symbolize_object *object, uint64_t *jumps,
	size_t count, const struct tail_callers_taker *taker)
{
	struct arena *arena = arena_create();
	struct symbol_place *places = ARENA_ARRAY(arena, struct symbol_place, count);
	struct symbolize_status status;
	size_t kept = 0;

	if (count)
		qsort(jumps, count, sizeof(*jumps), jump_compare);
	for (size_t i = 0; i < count; i++)
		if ((kept == 0 || jumps[i] != jumps[kept - 1]) &&
			!taker->is_named(taker->context, jumps[i]))
			jumps[kept++] = jumps[i];
	if (kept)
		symbolize_addresses(s, object, jumps, kept, arena, places, &status);
	for (size_t i = 0; i < kept; i++)
		if (places[i].count > 0)
			taker->take_place(taker->context, jumps[i], &places[i]);
	arena_destroy(arena);
}

void tail_callers_restore(struct symbolizer *s, const struct symbolize_object *object,
	const struct tail_pair *pairs, size_t count, const struct tail_callers_taker *taker)
{
	struct arena *arena = arena_create();
	struct tail_chain *chains = ARENA_ARRAY(arena, struct tail_chain, count);
	VEC(uint64_t) jumps = {0};

	resolve_tail_calls(s, object, pairs, count, arena, chains);
	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < chains[i].count; k++) {
			taker->take_jump(taker->context, &pairs[i], chains[i].jumps[k]);
			vec_push(&jumps, chains[i].jumps[k]);
		}
	}
	name_jumps(s, object, jumps.data, jumps.count, taker);
	vec_deinit(&jumps);
	arena_destroy(arena);
}
