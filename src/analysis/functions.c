/*
 * Exclusive and inclusive weight.
 *
 * A stack holds an entity if it ends below one of the entity's nodes; it is counted once if only
 * the outermost of them counts.  In pre-order a node has another of the same entity above it
 * exactly if the last outermost one's subtree has not ended yet, so remembering that end is all it
 * takes.
 */
#include "analysis/functions.h"

#include <stdlib.h>

#include "base/alloc.h"

static struct function_row *functions_sum(const struct entity_tree *tree)
{
	struct function_row *rows = xcalloc(tree->entity_count, sizeof(*rows));
	uint32_t *outermost_end = xcalloc(tree->entity_count, sizeof(*outermost_end));

	for (uint32_t i = 0; i < tree->entity_count; i++)
		rows[i].entity = i;
	for (uint32_t i = 1; i < tree->node_count; i++) {
		const struct entity_node *n = &tree->nodes[i];
		rows[n->entity].exclusive += n->weight;
		if (i >= outermost_end[n->entity]) {
			outermost_end[n->entity] = n->end;
			rows[n->entity].inclusive += n->weight_below;
		}
	}
	free(outermost_end);
	return rows;
}

static int rows_compare(const void *a, const void *b, void *entities)
{
	const struct function_row *x = a, *y = b;
	const struct entity *e = entities;

	if (x->exclusive != y->exclusive)
		return x->exclusive < y->exclusive ? 1 : -1;
	if (x->inclusive != y->inclusive)
		return x->inclusive < y->inclusive ? 1 : -1;
	return entity_compare(&e[x->entity], &e[y->entity]);
}

struct functions *functions_analyse(const struct entity_tree *tree, struct arena *arena)
{
	struct functions *f = ARENA_NEW(arena, struct functions);
	struct function_row *sums = functions_sum(tree);
	struct function_row *rows = ARENA_ARRAY(arena, struct function_row, tree->entity_count);

	for (size_t i = 0; i < tree->entity_count; i++)
		if (sums[i].exclusive != 0 || sums[i].inclusive != 0)
			rows[f->count++] = sums[i];
	free(sums);
	qsort_r(rows, f->count, sizeof(*rows), rows_compare, (void *)(uintptr_t)tree->entities);
	f->tree = tree;
	f->rows = rows;
	return f;
}
