/*
 * Parents of a tree by run.  See tree_runs.h.
 */
#include "model/tree_runs.h"

#include "base/alloc.h"

void tree_runs_make(struct tree_runs *runs, size_t count,
	uint32_t (*parent)(const void *context, uint32_t i), const void *context,
	struct arena *arena)
{
	uint64_t *begins = rank_set_bits(count, arena);

	rank_set_put(begins, 0);
	for (uint32_t i = 1; i < count; i++)
		if (parent(context, i) != i - 1)
			rank_set_put(begins, i);
	runs->begins = rank_set_make(begins, count, arena);
	runs->count = runs->begins.count;
	uint32_t *first = ARENA_ARRAY(arena, uint32_t, runs->count + 1);
	uint32_t *parents = ARENA_ARRAY(arena, uint32_t, runs->count);
	uint32_t next = 1;

	for (uint32_t i = rank_set_next(&runs->begins, 1); i < count;
		i = rank_set_next(&runs->begins, i + 1)) {
		first[next] = i;
		parents[next++] = parent(context, i);
	}
	first[runs->count] = (uint32_t)count;
	runs->first = first;
	runs->parent = parents;
}

void run_list_deinit(struct run_list *l)
{
	vec_deinit(&l->first);
	vec_deinit(&l->parent);
}

void tree_runs_take(
	struct tree_runs *runs, struct run_list *list, size_t count, struct arena *arena)
{
	uint64_t *begins = rank_set_bits(count, arena);

	for (size_t r = 0; r < list->first.count; r++)
		rank_set_put(begins, list->first.data[r]);
	runs->begins = rank_set_make(begins, count, arena);
	runs->count = list->first.count;
	vec_push(&list->first, (uint32_t)count);
	runs->first = arena_adopt_array(
		arena, list->first.data, list->first.count, sizeof(*list->first.data));
	runs->parent = arena_adopt_array(
		arena, list->parent.data, list->parent.count, sizeof(*list->parent.data));
	*list = (struct run_list){0};
}

uint32_t *tree_runs_depths(const struct tree_runs *r)
{
	uint32_t *depth = xcalloc(r->count, sizeof(*depth));

	for (size_t i = 1; i < r->count; i++) {
		uint32_t outer = tree_runs_find(r, r->parent[i]);

		depth[i] = depth[outer] + (r->parent[i] - r->first[outer]) + 1;
	}
	return depth;
}
