/*
 * The groups of an entity tree in pre-order.
 *
 * Most groups have one child, which is the next one, so all the work is done by *piece*: a maximal
 * sequence of groups with consecutive numbers, each the only child of the one before it.  A tree
 * has five to ten times as many groups as pieces.  A piece begins where a run of groups does
 * (model/tree_runs.h), and after each group from which another run begins.  Groups with no weight
 * in or below them are in no piece.
 *
 * A subtree takes as many places as it has nodes.  One backward loop over the pieces, which come
 * after their parents, finds the sizes; one forward loop, in the order in which they are first
 * seen, gives each the next free place of its parent.  Pieces are mostly numbered in that order, as
 * stacks are when samples make them; otherwise they are sorted.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/entity_growth.h"
#include "base/alloc.h"
#include "base/sort.h"

struct layout {
	const struct growth *g;
	struct arena *scratch;
	struct tree_runs made;	      /* of groups, where these have no runs yet */
	const struct tree_runs *runs; /* of groups */
	struct rank_set ends;	      /* groups with weight of their own */
	uint32_t *run_end;	      /* [run]: one past its last group that has a node; 0: none */
	struct rank_set begins;	      /* groups that begin a piece */
	size_t count;		      /* of pieces */
	size_t node_count;
	/* Columns of the pieces. */
	uint32_t *first;  /* [count + 1] its first group, in the end the number of groups */
	uint32_t *length; /* groups, and so nodes */
	uint32_t *parent; /* piece whose last group is its first group's parent; of piece 0: 0 */
	uint32_t *size;	  /* nodes, including those below */
	uint32_t *place;  /* node of its first group */
	struct sort_item *order; /* pieces in the order first seen; NULL: as numbered */
};

/* ---- groups ---- */

static bool group_ends(const struct growth *g, uint32_t group)
{
	if (g->first)
		return g->first[group] != NO_ID;
	for (size_t k = 0; k < g->spec->metric_count; k++)
		if (growth_weight(g, k, group) != 0)
			return true;
	return false;
}

/* The groups with weight of their own. */
static void find_ends(struct layout *l)
{
	const struct growth *g = l->g;
	const struct rank_set *weighted = &g->selection->profile->weighted;
	uint64_t *bits = rank_set_bits(g->count, l->scratch);

	if (g->is_by_row) {
		for (uint32_t i = rank_set_next(weighted, 0); i < g->count;
			i = rank_set_next(weighted, i + 1))
			if (group_ends(g, i))
				rank_set_put(bits, i);
	} else {
		for (uint32_t i = 0; i < g->count; i++)
			if (group_ends(g, i))
				rank_set_put(bits, i);
	}
	l->ends = rank_set_make(bits, g->count, l->scratch);
}

static uint32_t parent_of_group(const void *growth, uint32_t group)
{
	return growth_parent(growth, group);
}

static void find_runs(struct layout *l)
{
	const struct growth *g = l->g;

	l->runs = &g->selection->profile->runs;
	if (g->is_stacks && g->selection->parent == NULL)
		return;
	tree_runs_make(&l->made, g->count, parent_of_group, g, l->scratch);
	l->runs = &l->made;
}

/* How far each run reaches: to its last group with weight, or from which another run begins. */
static void find_run_ends(struct layout *l)
{
	const struct tree_runs *r = l->runs;

	l->run_end = xcalloc(r->count, sizeof(*l->run_end));
	l->run_end[0] = 1;
	for (uint32_t i = rank_set_next(&l->ends, 0), run = 0; i < l->g->count;
		i = rank_set_next(&l->ends, i + 1)) {
		while (r->first[run + 1] <= i)
			run++;
		l->run_end[run] = i + 1;
	}
	for (size_t i = r->count; i-- > 1;) {
		uint32_t *above = &l->run_end[tree_runs_find(r, r->parent[i])];

		if (l->run_end[i] && *above < r->parent[i] + 1)
			*above = r->parent[i] + 1;
	}
}

/* ---- pieces ---- */

static void find_begins(struct layout *l)
{
	const struct tree_runs *r = l->runs;
	uint64_t *bits = rank_set_bits(l->g->count, l->scratch);

	rank_set_put(bits, 0);
	for (size_t i = 1; i < r->count; i++) {
		uint32_t behind = r->parent[i] + 1;

		if (l->run_end[i] == 0)
			continue;
		rank_set_put(bits, r->first[i]);
		if (behind < l->run_end[tree_runs_find(r, r->parent[i])])
			rank_set_put(bits, behind);
	}
	l->begins = rank_set_make(bits, l->g->count, l->scratch);
	l->count = l->begins.count;
}

static uint32_t find_piece(const struct layout *l, uint32_t group)
{
	return rank_set_below(&l->begins, group) + rank_set_has(&l->begins, group) - 1;
}

/* Sets the pieces' groups. */
static void make_pieces(struct layout *l)
{
	const struct tree_runs *r = l->runs;
	uint32_t piece = 0, run = 0, end;

	l->first = xcalloc(l->count + 1, sizeof(*l->first));
	l->length = xcalloc(l->count, sizeof(*l->length));
	l->parent = xcalloc(l->count, sizeof(*l->parent));
	for (uint32_t i = 0; i < l->g->count; i = end, piece++) {
		while (r->first[run + 1] <= i)
			run++;
		bool begins_run = i == r->first[run];

		end = rank_set_next(&l->begins, i + 1);
		l->first[piece] = i;
		l->length[piece] = (end < l->run_end[run] ? end : l->run_end[run]) - i;
		l->parent[piece] = !begins_run ? piece - 1 : i ? find_piece(l, r->parent[run]) : 0;
	}
	l->first[l->count] = (uint32_t)l->g->count;
}

/* Measures the pieces with what is below them. */
static void measure_pieces(struct layout *l)
{
	l->size = xcalloc(l->count, sizeof(*l->size));
	for (size_t i = l->count; i-- > 0;) {
		l->size[i] += l->length[i];
		if (i > 0)
			l->size[l->parent[i]] += l->size[i];
	}
	l->node_count = l->size[0];
}

/* [piece] the first stack or sample in it or below; to be freed with free(). */
static uint32_t *find_seen(const struct layout *l)
{
	const uint32_t *first = l->g->first;
	uint32_t *seen = xcalloc(l->count, sizeof(*seen));

	memset(seen, 0xff, l->count * sizeof(*seen)); /* NO_ID */
	for (uint32_t i = rank_set_next(&l->ends, 0), piece = 0; i < l->g->count;
		i = rank_set_next(&l->ends, i + 1)) {
		uint32_t when = first ? first[i] : i;

		while (i >= l->first[piece + 1])
			piece++;
		if (when < seen[piece])
			seen[piece] = when;
	}
	for (size_t i = l->count; i-- > 1;)
		if (seen[i] < seen[l->parent[i]])
			seen[l->parent[i]] = seen[i];
	return seen;
}

/*
 * For pieces not numbered in the order in which they are first seen.  A piece is seen no later than
 * those below it.
 */
static void order_pieces(struct layout *l)
{
	uint32_t *seen = find_seen(l);
	bool is_in_order = true;

	for (size_t i = 1; i < l->count; i++)
		is_in_order &= seen[i - 1] <= seen[i];
	if (!is_in_order) {
		l->order = xcalloc(l->count, sizeof(*l->order));
		for (uint32_t i = 0; i < l->count; i++)
			l->order[i] = (struct sort_item){seen[i], i};
		sort_items(l->order, l->count);
	}
	free(seen);
}

static void place_pieces(struct layout *l)
{
	uint32_t *next = xcalloc(l->count, sizeof(*next)); /* node of the next piece below it */

	l->place = xcalloc(l->count, sizeof(*l->place));
	next[0] = l->length[0];
	for (size_t k = 1; k < l->count; k++) {
		size_t i = l->order ? l->order[k].index : k;
		uint32_t *free_place = &next[l->parent[i]];

		l->place[i] = *free_place;
		next[i] = l->place[i] + l->length[i];
		*free_place += l->size[i];
	}
	free(next);
	free(l->order);
	l->order = NULL;
}

static void layout_init(struct layout *l, const struct growth *g)
{
	*l = (struct layout){.g = g, .scratch = arena_create()};
	find_ends(l);
	find_runs(l);
	find_run_ends(l);
	find_begins(l);
	make_pieces(l);
	free(l->run_end);
	l->run_end = NULL;
	measure_pieces(l);
	if (!g->spec->sums_only)
		order_pieces(l);
	place_pieces(l);
}

static void layout_deinit(struct layout *l)
{
	free(l->first);
	free(l->place);
	arena_destroy(l->scratch);
}

/* ---- nodes ---- */

/* The runs of the nodes are the pieces, by place. */
static void emit_runs(const struct layout *l, struct entity_tree *tree, struct arena *arena)
{
	uint64_t *bits = rank_set_bits(l->node_count, arena);
	uint32_t *first = ARENA_ARRAY(arena, uint32_t, l->count + 1);
	uint32_t *parent = ARENA_ARRAY(arena, uint32_t, l->count);
	uint32_t *end = ARENA_ARRAY(arena, uint32_t, l->count);

	for (size_t i = 0; i < l->count; i++)
		rank_set_put(bits, l->place[i]);
	tree->runs.begins = rank_set_make(bits, l->node_count, arena);
	for (size_t i = 0; i < l->count; i++) {
		uint32_t above = l->parent[i];
		uint32_t run = rank_set_below(&tree->runs.begins, l->place[i]);

		first[run] = l->place[i];
		parent[run] = i ? l->place[above] + l->length[above] - 1 : 0;
		end[run] = l->place[i] + l->size[i];
	}
	first[l->count] = (uint32_t)l->node_count;
	tree->runs.count = l->count;
	tree->runs.first = first;
	tree->runs.parent = parent;
	tree->run_end = end;
	tree->node_count = l->node_count;
}

/* Frees the columns that only the runs are made of, before the nodes take memory. */
static void layout_drop_sizes(struct layout *l)
{
	free(l->length);
	free(l->parent);
	free(l->size);
	l->length = l->parent = l->size = NULL;
}

/* The nodes of a piece, from its place to before this. */
static uint32_t piece_end(const struct layout *l, const struct entity_tree *tree, size_t piece)
{
	return tree->runs.first[tree_runs_find(&tree->runs, l->place[piece]) + 1];
}

static void emit_entities(const struct layout *l, struct entity_tree *tree, struct arena *arena)
{
	uint32_t *entity = ARENA_ARRAY(arena, uint32_t, l->node_count);

	for (size_t k = 0; k < l->count; k++) {
		uint32_t group = l->first[k], node = l->place[k], end = piece_end(l, tree, k);

		for (; node < end; node++, group++)
			if (node > 0) /* the root has no entity */
				entity[node] = growth_entity(l->g, group);
	}
	entity[0] = NO_ID;
	tree->entity = entity;
}

/* [rank among the groups' ends]: its rank among the nodes'; to be freed. */
static uint32_t *emit_ends(const struct layout *l, struct entity_tree *tree, struct arena *arena)
{
	uint64_t *bits = rank_set_bits(l->node_count, arena);
	uint32_t *node = xcalloc((size_t)l->ends.count + 1, sizeof(*node)), piece = 0, end = 0;

	for (uint32_t i = rank_set_next(&l->ends, 0); i < l->g->count;
		i = rank_set_next(&l->ends, i + 1)) {
		while (i >= l->first[piece + 1])
			piece++;
		node[end] = l->place[piece] + (i - l->first[piece]);
		rank_set_put(bits, node[end++]);
	}
	tree->ends = rank_set_make(bits, l->node_count, arena);
	for (uint32_t k = 0; k < end; k++)
		node[k] = rank_set_below(&tree->ends, node[k]);
	return node;
}

/* When stacks first reached each end: numbers from 0. */
static const uint32_t *emit_seen(const struct layout *l, const uint32_t *rank, struct arena *arena)
{
	const uint32_t *first = l->g->first;
	uint32_t *seen = ARENA_ARRAY(arena, uint32_t, l->ends.count), end = 0, most = 0;
	struct rank_set firsts = {0};

	if (first) {
		for (uint32_t i = 0; i < l->g->count; i++)
			if (first[i] != NO_ID && first[i] > most)
				most = first[i];
		uint64_t *bits = rank_set_bits((size_t)most + 1, l->scratch);
		for (uint32_t i = 0; i < l->g->count; i++)
			if (first[i] != NO_ID)
				rank_set_put(bits, first[i]);
		firsts = rank_set_make(bits, (size_t)most + 1, l->scratch);
	}
	for (uint32_t i = rank_set_next(&l->ends, 0); i < l->g->count;
		i = rank_set_next(&l->ends, i + 1), end++)
		seen[rank[end]] = first ? rank_set_below(&firsts, first[i]) : end;
	return seen;
}

/* [row] of the profile: its end; NO_ID where nothing is shown, or nothing has weight. */
static const uint32_t *emit_row_ends(
	const struct layout *l, const uint32_t *rank, struct arena *arena)
{
	size_t count = l->g->selection->profile->row_count;
	uint32_t *row_end = ARENA_ARRAY(arena, uint32_t, count);

	for (size_t row = 0; row < count; row++) {
		uint32_t group = l->g->row_group[row];

		row_end[row] = group != NO_ID && rank_set_has(&l->ends, group)
				       ? rank[rank_set_below(&l->ends, group)]
				       : NO_ID;
	}
	return row_end;
}

/* The weights of one metric, by the ends. */
static void emit_weights(const struct layout *l, const uint32_t *rank, size_t metric,
	struct entity_tree *tree, struct arena *arena)
{
	int64_t *before = ARENA_ARRAY(arena, int64_t, (size_t)l->ends.count + 1);
	uint32_t end = 0;

	for (uint32_t i = rank_set_next(&l->ends, 0); i < l->g->count;
		i = rank_set_next(&l->ends, i + 1))
		before[rank[end++] + 1] = growth_weight(l->g, metric, i);
	tree->has_negative = entity_nodes_sum(before, l->ends.count);
	tree->before = before;
}

/* Marks where stacks with weight in one of several metrics end, and all nodes they pass. */
static void emit_passed(const struct layout *l, const uint32_t *rank, size_t metric,
	struct entity_tree *tree, struct arena *arena)
{
	bool *passed = ARENA_ARRAY(arena, bool, l->node_count);
	bool *ends = xcalloc((size_t)l->ends.count + 1, sizeof(*ends));
	uint32_t end = 0;

	for (uint32_t i = rank_set_next(&l->ends, 0); i < l->g->count;
		i = rank_set_next(&l->ends, i + 1))
		ends[rank[end++]] = growth_has_weight(l->g, metric, i);
	end = 0;
	for (uint32_t i = rank_set_next(&tree->ends, 0); i < l->node_count;
		i = rank_set_next(&tree->ends, i + 1))
		passed[i] = ends[end++];
	for (uint32_t i = (uint32_t)l->node_count; i-- > 1;)
		if (passed[i])
			passed[entity_tree_parent(tree, i)] = true;
	free(ends);
	tree->is_passed = passed;
}

/* [stack]: the node of each zone stack. */
static uint32_t *layout_zone_nodes(
	const struct layout *l, const struct entity_tree *tree, struct arena *arena)
{
	size_t count = l->g->selection->profile->stack_count;
	uint32_t *node = ARENA_ARRAY(arena, uint32_t, count);

	for (size_t i = 0; i < count; i++) {
		uint32_t group = l->g->zone_group[i], piece = find_piece(l, group);
		uint32_t place = l->place[piece] + (group - l->first[piece]);

		node[i] = place < piece_end(l, tree, piece) ? place : 0;
	}
	return node;
}

void growth_lay_out(const struct growth *g, struct entity_tree *const *trees, struct arena *arena)
{
	struct entity_tree shape = {0};
	struct layout l;

	layout_init(&l, g);
	emit_runs(&l, &shape, arena);
	layout_drop_sizes(&l);
	emit_entities(&l, &shape, arena);
	uint32_t *rank = emit_ends(&l, &shape, arena);
	if (!g->spec->sums_only) {
		shape.seen = emit_seen(&l, rank, arena);
		shape.depth_max = entity_tree_measure_depth(&shape);
	}
	for (size_t k = 0; k < g->spec->metric_count; k++) {
		struct entity_tree *tree = trees[k];

		tree->runs = shape.runs;
		tree->run_end = shape.run_end;
		tree->node_count = shape.node_count;
		tree->entity = shape.entity;
		tree->ends = shape.ends;
		tree->seen = shape.seen;
		tree->depth_max = shape.depth_max;
		emit_weights(&l, rank, k, tree, arena);
		if (g->spec->metric_count > 1 && !g->spec->sums_only)
			emit_passed(&l, rank, k, tree, arena);
	}
	if (g->row_group)
		trees[0]->row_end = emit_row_ends(&l, rank, arena);
	if (g->zone_group)
		trees[0]->zone_node = layout_zone_nodes(&l, &shape, arena);
	free(rank);
	layout_deinit(&l);
}
