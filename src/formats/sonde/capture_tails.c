/* Tail calls by the numbers of their frames.  See capture_tails.h. */
#include "formats/sonde/capture_tails.h"

#include "obj/tail_calls.h"

void capture_tails_deinit(struct capture_tails *t)
{
	map_deinit(&t->places);
	map_deinit(&t->pairs);
	map_deinit(&t->jump_at);
	vec_deinit(&t->jumps);
	vec_deinit(&t->rows);
	vec_deinit(&t->count);
}

static uint32_t number_of(struct capture_tails *t, uint32_t object, uint64_t obj_addr)
{
	bool added;
	uint32_t number = *map_at(&t->places, object, obj_addr, t->place_count + 1, &added);

	t->place_count += added;
	return number;
}

static uint32_t jump_of(struct capture_tails *t, uint32_t object, uint64_t obj_addr)
{
	bool added;
	uint32_t jump = *map_at(&t->jump_at, object, obj_addr, (uint32_t)t->jumps.count, &added);

	if (added)
		vec_push(&t->jumps, (struct capture_frame){object, obj_addr});
	return jump;
}

static bool same_pair(const struct capture_tail *a, const struct capture_tail *b)
{
	return a->object == b->object && a->caller == b->caller && a->callee == b->callee;
}

/* A pair counts once, and has a limited number of jumps: what else a file says is not read. */
static void add_row(struct capture_tails *t, const struct capture_tail *row)
{
	uint32_t caller = number_of(t, row->object, row->caller);
	uint32_t callee = number_of(t, row->object, row->callee);
	uint32_t next = (uint32_t)t->rows.count;
	bool added;
	uint32_t first = *map_at(&t->pairs, caller, callee, next, &added);

	if (!added && (first != t->last_first || !same_pair(row, &t->last) ||
			      t->count.data[first] == TAIL_CHAIN_MAX))
		return;
	vec_push(&t->rows, jump_of(t, row->object, row->jump));
	vec_push(&t->count, 0);
	t->count.data[first]++;
	t->last = *row;
	t->last_first = first;
}

struct error *capture_tails_read(struct capture_tails *t, struct cursor *payload)
{
	struct capture_tail row;

	while (capture_get_tail(payload, &row))
		add_row(t, &row);
	return cursor_error(payload);
}

uint32_t capture_tails_number(const struct capture_tails *t, const struct capture_frame *frame)
{
	uint32_t number;

	return map_get(&t->places, frame->object, frame->obj_addr, &number) ? number
									    : CAPTURE_NO_TAIL;
}

uint32_t capture_tails_find(
	const struct capture_tails *t, uint32_t caller, uint32_t callee, uint32_t *first)
{
	return map_get(&t->pairs, caller, callee, first) ? t->count.data[*first] : 0;
}
