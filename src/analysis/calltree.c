/*
 * The call tree as rows: the result of calltree_play.c, with siblings ordered, laid out in
 * pre-order.  A tree that is not collapsed is the entity tree itself, and is not played.  In both,
 * nodes have the numbers of entity nodes.
 *
 * Numbers of nodes ascend from parent to child.  So one backward loop computes how many rows each
 * subtree takes, and one forward loop assigns places: siblings in order, each after the whole
 * subtree of the previous one.
 *
 * If a limit chooses rows, these are found first.  A node ranks no lower than those below it, so
 * taking the highest from a heap, and adding its children, finds the limit's rank in as many steps
 * as there are rows to show.  Then a walk in order takes all nodes above that rank, and as many
 * with that rank as there is room for.  Nothing else is ordered.
 */
#include "analysis/calltree.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/calltree_play.h"
#include "base/alloc.h"

const char *const collapse_names[COLLAPSE_COUNT + 1] = {
	[COLLAPSE_NONE] = "none",
	[COLLAPSE_DIRECT] = "direct",
	[COLLAPSE_CONSERVATIVE] = "conservative",
	[COLLAPSE_FULL] = "full",
};

/* A node whose children may be rows; heaps and walks are of these. */
struct place {
	uint64_t rank;
	uint32_t node;
};

struct layout {
	const struct entity_tree *tree;
	const struct play *play; /* NULL: nodes are the tree's own */
	enum calltree_order order;
	size_t metric_count;
	size_t count;	   /* entity nodes; not all are nodes of the call tree; 0 is the root */
	size_t node_count; /* nodes and stubs, without those that have no weight */
	/*
	 * All nodes are rows, which rank by weight, and only some are shown: then the members below
	 * are not made, as the entity tree has them.
	 */
	bool is_plain;
	uint32_t *size;	     /* [node]: rows of its subtree, itself included; 0: left out */
	uint64_t *rank;	     /* [node]: priority for being shown; NULL: not needed */
	uint32_t *begin;     /* [node + 1]: where its children begin in `children` */
	uint32_t *children;  /* kept ones; in order, once sorted */
	uint32_t *row;	     /* [node]; the root has none; NULL: only shown_nodes have rows */
	VEC(uint32_t) shown; /* nodes that the limit chooses, in pre-order */
	struct rank_set shown_nodes; /* the same */
	uint32_t *shown_row;	     /* [member of shown_nodes] */
	struct arena *scratch;
	VEC(struct place) places;
	VEC(uint32_t) siblings;
};

/* ---- nodes ---- */

static uint32_t node_parent(const struct layout *l, uint32_t node)
{
	return l->play ? play_parent(l->play, node) : entity_tree_parent(l->tree, node);
}

static bool is_node(const struct layout *l, uint32_t number)
{
	return l->play == NULL || play_is_node(l->play, number);
}

/* Its index in the play's stubs, or NO_ID. */
static uint32_t node_stub(const struct layout *l, uint32_t node)
{
	return l->play ? play_stub(l->play, node) : NO_ID;
}

static uint32_t node_first_seen(const struct layout *l, uint32_t node)
{
	return l->play ? l->play->first_seen[node] : node; /* siblings are in that order */
}

static const struct entity_tree *metric_tree(const struct layout *l, size_t metric)
{
	return metric ? l->tree->others[metric - 1] : l->tree;
}

static struct play_figures node_figures(const struct layout *l, size_t metric, uint32_t node)
{
	if (l->play)
		return play_figures(l->play, metric, node);
	const struct entity_tree *tree = metric_tree(l, metric);

	return (struct play_figures){.direct = entity_tree_weight_below(tree, node),
		.in_only = entity_tree_weight(tree, node)};
}

/* ---- selection of rows ---- */

static void layout_init(struct layout *l, const struct entity_tree *tree, const struct play *play,
	enum calltree_order order)
{
	*l = (struct layout){.tree = tree,
		.play = play,
		.order = order,
		.metric_count = tree->other_count + 1,
		.count = tree->node_count,
		.node_count = play ? play_count(play) : tree->node_count - tree->empty_count - 1};
}

static void layout_deinit(struct layout *l)
{
	free(l->size);
	free(l->rank);
	free(l->begin);
	free(l->children);
	free(l->row);
	free(l->shown_row);
	arena_destroy(l->scratch);
	vec_deinit(&l->shown);
	vec_deinit(&l->places);
	vec_deinit(&l->siblings);
}

static bool layout_is_zero(const struct layout *l, uint32_t node)
{
	uint32_t stub = node_stub(l, node);

	for (size_t k = 0; k < l->metric_count; k++) {
		struct play_figures f = node_figures(l, k, node);

		if (stub != NO_ID && l->play->weights[k].stubs[stub].weight != 0)
			return false;
		if (f.direct != 0 || f.indirect != 0 || f.in_only != 0)
			return false;
	}
	return true;
}

static void layout_measure(struct layout *l)
{
	l->size = xcalloc(l->count, sizeof(*l->size));
	for (uint32_t i = (uint32_t)l->count - 1; i > 0; i--) {
		if (!is_node(l, i))
			continue;
		if (l->size[i] > 0 || !layout_is_zero(l, i))
			l->size[i]++;
		l->size[node_parent(l, i)] += l->size[i];
	}
}

/* Groups kept children by parent, in the order in which they were made: a counting sort. */
static void layout_group(struct layout *l)
{
	l->begin = xcalloc(l->count + 2, sizeof(*l->begin));
	l->children = xcalloc(l->count, sizeof(*l->children));
	for (uint32_t i = 1; i < l->count; i++)
		if (l->size[i] > 0)
			l->begin[node_parent(l, i) + 2]++;
	for (size_t i = 2; i < l->count + 2; i++)
		l->begin[i] += l->begin[i - 1];
	/* Filling moves begin[parent + 1] from the group's begin to its end, the next one's begin.
	 */
	for (uint32_t i = 1; i < l->count; i++)
		if (l->size[i] > 0)
			l->children[l->begin[node_parent(l, i) + 1]++] = i;
}

/* ---- their order ---- */

static int by_first_seen(const void *a, const void *b, void *layout)
{
	uint32_t x = node_first_seen(layout, *(const uint32_t *)a);
	uint32_t y = node_first_seen(layout, *(const uint32_t *)b);

	return (x > y) - (x < y);
}

/* The node's weight in the requested order. */
static int64_t weight_of(const struct layout *l, const struct play_figures *f)
{
	int64_t weight = f->direct + f->indirect;

	return l->order == CALLTREE_BY_CHANGE && weight < 0 ? -weight : weight;
}

static int by_weight(const void *a, const void *b, void *layout)
{
	const struct layout *l = layout;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	bool x_is_stub = node_stub(l, i) != NO_ID, y_is_stub = node_stub(l, k) != NO_ID;

	if (x_is_stub != y_is_stub)
		return y_is_stub ? -1 : 1;
	for (size_t m = 0; m < l->tree->order_count; m++) {
		struct play_figures x = node_figures(l, m, i), y = node_figures(l, m, k);
		int64_t x_weight = weight_of(l, &x), y_weight = weight_of(l, &y);

		if (x_weight != y_weight)
			return x_weight < y_weight ? 1 : -1;
	}
	return entity_compare(
		&l->tree->entities[l->tree->entity[i]], &l->tree->entities[l->tree->entity[k]]);
}

static void layout_sort(struct layout *l, uint32_t *nodes, size_t count)
{
	if (count > 1)
		qsort_r(nodes, count, sizeof(*nodes),
			l->order == CALLTREE_FIRST_SEEN ? by_first_seen : by_weight, l);
}

/* ---- rows chosen by a limit ---- */

/*
 * Ranks nodes for being shown: by weight, but never below a descendant (this matters if weights are
 * negative), so that what is shown is always a whole tree.  A stub ranks as the node it belongs to.
 */
static void layout_rank(struct layout *l)
{
	l->rank = xcalloc(l->count, sizeof(*l->rank));
	for (uint32_t i = (uint32_t)l->count - 1; i > 0; i--) {
		if (!is_node(l, i))
			continue;
		struct play_figures f = node_figures(l, 0, i);
		uint64_t own = (uint64_t)llabs(f.direct) + (uint64_t)llabs(f.indirect);
		uint64_t *above = &l->rank[node_parent(l, i)];

		if (l->rank[i] < own)
			l->rank[i] = own;
		if (*above < l->rank[i])
			*above = l->rank[i];
	}
	for (size_t s = 0; l->play && s < l->play->stubs.count; s++) {
		const struct play_stub *stub = &l->play->stubs.data[s];

		l->rank[stub->node] = l->rank[stub->parent];
	}
}

static void heap_push(struct layout *l, struct place place)
{
	size_t at = l->places.count;

	vec_push(&l->places, place);
	for (; at > 0 && l->places.data[(at - 1) / 2].rank < place.rank; at = (at - 1) / 2)
		l->places.data[at] = l->places.data[(at - 1) / 2];
	l->places.data[at] = place;
}

/* The heap must not be empty. */
static struct place heap_pop(struct layout *l)
{
	struct place *heap = l->places.data, top = heap[0], last = heap[--l->places.count];
	size_t at = 0;

	for (size_t child = 1; child < l->places.count; child = 2 * at + 1) {
		if (child + 1 < l->places.count && heap[child + 1].rank > heap[child].rank)
			child++;
		if (heap[child].rank <= last.rank)
			break;
		heap[at] = heap[child];
		at = child;
	}
	if (l->places.count)
		heap[at] = last;
	return top;
}

static uint64_t node_rank(const struct layout *l, uint32_t node)
{
	if (!l->is_plain)
		return l->rank[node];
	uint32_t stub = node_stub(l, node);
	struct play_figures f =
		node_figures(l, 0, stub == NO_ID ? node : l->play->stubs.data[stub].parent);

	return (uint64_t)(f.direct + f.indirect);
}

/* Whether its stacks have weight; nodes of a tree that is weighed anew may have none. */
static bool is_empty(const struct layout *l, uint32_t node, uint64_t rank)
{
	uint32_t stub;

	if (l->tree->empty_count == 0)
		return false;
	if (rank == 0)
		return true;
	stub = node_stub(l, node);
	return stub != NO_ID && l->play->weights[0].stubs[stub].weight == 0;
}

static void add_sibling(struct layout *l, uint32_t node, uint64_t least)
{
	uint64_t rank = node_rank(l, node);

	if (rank >= least && !(l->is_plain && is_empty(l, node, rank)))
		vec_push(&l->siblings, node);
}

/* Adds the nodes that an entity node's children made. */
static void add_children(struct layout *l, uint32_t entity_node, uint64_t least)
{
	uint32_t end = entity_tree_end(l->tree, entity_node);

	for (uint32_t c = entity_node + 1; c < end; c = entity_tree_end(l->tree, c))
		if (is_node(l, c))
			add_sibling(l, c, least);
}

/* The same for all entity nodes that arrived at a node. */
static void add_all_children(struct layout *l, uint32_t node, uint64_t least)
{
	add_children(l, node, least);
	if (l->play == NULL)
		return;
	for (uint32_t i = play_first_arrival(l->play, node); i != NO_ID;
		i = l->play->arrivals.data[i].next)
		add_children(l, l->play->arrivals.data[i].entity_node, least);
}

/* The node's children that rank high enough. */
static void find_children(struct layout *l, uint32_t node, uint64_t least)
{
	l->siblings.count = 0;
	if (!l->is_plain)
		for (size_t i = l->begin[node]; i < l->begin[node + 1]; i++)
			add_sibling(l, l->children[i], least);
	else if (node_stub(l, node) == NO_ID)
		add_all_children(l, node, least);
}

static void heap_push_children(struct layout *l, uint32_t node)
{
	find_children(l, node, 0);
	for (size_t i = 0; i < l->siblings.count; i++)
		heap_push(
			l, (struct place){node_rank(l, l->siblings.data[i]), l->siblings.data[i]});
}

/* The rank of the limit-th row; *above: how many rank higher. */
static uint64_t find_threshold(struct layout *l, size_t limit, size_t *above)
{
	uint64_t threshold = UINT64_MAX;

	*above = 0;
	heap_push_children(l, 0);
	for (size_t taken = 0; taken < limit; taken++) {
		struct place top = heap_pop(l);

		if (top.rank != threshold)
			*above = taken;
		threshold = top.rank;
		heap_push_children(l, top.node);
	}
	l->places.count = 0;
	return threshold;
}

/* Pushes its children that rank high enough, in reverse order. */
static void walk_push_children(struct layout *l, uint32_t node, uint64_t least)
{
	find_children(l, node, least);
	layout_sort(l, l->siblings.data, l->siblings.count);
	for (size_t i = l->siblings.count; i-- > 0;) {
		uint32_t child = l->siblings.data[i];

		vec_push(&l->places, (struct place){node_rank(l, child), child});
	}
}

/* The limit keeps the highest, not the first: otherwise a tree would be cut in its first branch. */
static void layout_choose(struct layout *l, size_t limit)
{
	size_t above;

	if (!l->is_plain)
		layout_rank(l);
	uint64_t threshold = find_threshold(l, limit, &above);
	size_t equals = limit - above;

	walk_push_children(l, 0, threshold);
	while (l->places.count) {
		struct place p = l->places.data[--l->places.count];

		if (p.rank == threshold && equals == 0)
			continue;
		equals -= p.rank == threshold;
		vec_push(&l->shown, p.node);
		walk_push_children(l, p.node, equals ? threshold : threshold + 1);
	}
}

/* ---- rows ---- */

/* Each child's subtree begins where the one before it ends. */
static void layout_place(struct layout *l)
{
	l->row = xcalloc(l->count, sizeof(*l->row));
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t row = i ? l->row[i] + 1 : 0;

		layout_sort(l, l->children + l->begin[i], l->begin[i + 1] - l->begin[i]);
		for (size_t k = l->begin[i]; k < l->begin[i + 1]; k++) {
			l->row[l->children[k]] = row;
			row += l->size[l->children[k]];
		}
	}
}

/* Only the nodes that the limit chooses are rows: too few for an array of all nodes. */
static void layout_place_shown(struct layout *l)
{
	l->scratch = arena_create();
	uint64_t *bits = rank_set_bits(l->count, l->scratch);

	for (size_t i = 0; i < l->shown.count; i++)
		rank_set_put(bits, l->shown.data[i]);
	l->shown_nodes = rank_set_make(bits, l->count, l->scratch);
	l->shown_row = xcalloc(l->shown.count, sizeof(*l->shown_row));
	for (uint32_t i = 0; i < l->shown.count; i++)
		l->shown_row[rank_set_below(&l->shown_nodes, l->shown.data[i])] = i;
}

/* The row of a node that has one. */
static uint32_t node_row(const struct layout *l, uint32_t node)
{
	if (l->row)
		return l->row[node];
	assert(rank_set_has(&l->shown_nodes, node));
	return l->shown_row[rank_set_below(&l->shown_nodes, node)];
}

static struct calltree_stub layout_stub(const struct play_jumps *s)
{
	return (struct calltree_stub){
		.weight = s->weight,
		.jumps_max = s->jumps_max,
		.jumps_mean = s->weight ? (double)s->jumps / (double)s->weight : 0,
	};
}

/* The row of a node, whose parent has one already. */
static void emit_row(const struct layout *l, size_t metric, uint32_t node, struct calltree *out,
	struct calltree_row *rows, struct calltree_stub *stubs)
{
	struct play_figures f = node_figures(l, metric, node);
	uint32_t parent = node_parent(l, node), stub = node_stub(l, node);
	uint32_t above = parent ? node_row(l, parent) : NO_ID;
	struct calltree_row *row = &rows[node_row(l, node)];

	*row = (struct calltree_row){
		.level = above == NO_ID ? 1 : rows[above].level + 1,
		.parent = above,
		.entity = l->tree->entity[node],
		.target = NO_ID,
		.stub = NO_ID,
		.direct = f.direct,
		.indirect = f.indirect,
		.in_only = f.in_only,
	};
	if (stub != NO_ID) {
		row->is_stub = true;
		row->target = node_row(l, l->play->stubs.data[stub].target);
		row->stub = (uint32_t)out->stub_count++;
		stubs[row->stub] = layout_stub(&l->play->weights[metric].stubs[stub]);
	}
	if (row->level > out->level_max)
		out->level_max = row->level;
}

static size_t whole_count(const struct layout *l)
{
	return l->is_plain ? l->node_count : l->size[0];
}

/* The rows with one metric's figures: all, or those that are shown. */
static struct calltree *layout_emit(const struct layout *l, size_t metric, enum collapse collapse,
	bool all, struct arena *arena)
{
	struct calltree *out = ARENA_NEW(arena, struct calltree);
	size_t stub_count = l->play ? l->play->stubs.count : 0;

	out->tree = metric_tree(l, metric);
	out->collapse = collapse;
	out->whole_count = whole_count(l);
	out->count = all ? out->whole_count : l->shown.count;
	struct calltree_row *rows = ARENA_ARRAY(arena, struct calltree_row, out->count);
	struct calltree_stub *stubs = ARENA_ARRAY(
		arena, struct calltree_stub, stub_count < out->count ? stub_count : out->count);

	for (uint32_t i = 1; all && i < l->count; i++)
		if (l->size[i] > 0)
			emit_row(l, metric, i, out, rows, stubs);
	for (size_t i = 0; !all && i < l->shown.count; i++)
		emit_row(l, metric, l->shown.data[i], out, rows, stubs);
	out->rows = rows;
	out->stubs = stubs;
	return out;
}

/*
 * By how much what was spent in a node and below it differs from its entity node's.  Each arrival
 * takes the weight of its entity node away from the node where its stacks come from, and to the one
 * where it arrives, and from these to all above them.  Of most trees, these are few.
 */
struct moves {
	struct arena *scratch;
	struct rank_set nodes; /* those where it may differ */
	int64_t *by;	       /* [member of nodes] */
};

/* The nodes where arrivals come from or arrive, and all above them. */
static struct rank_set find_moved(const struct layout *l, struct arena *scratch)
{
	uint64_t *bits = rank_set_bits(l->count, scratch);

	for (size_t i = 0; i < l->play->arrivals.count; i++) {
		const struct play_arrival *a = &l->play->arrivals.data[i];

		rank_set_put(bits, a->at);
		rank_set_put(bits, node_parent(l, a->entity_node));
	}
	/* Downwards, as parents have smaller numbers. */
	for (size_t word = l->count / 64 + 1; word-- > 0;)
		for (uint64_t rest = bits[word]; rest;) {
			unsigned bit = 63u - (unsigned)__builtin_clzll(rest);

			rank_set_put(bits, node_parent(l, (uint32_t)(word * 64 + bit)));
			rest = bits[word] & ((UINT64_C(1) << bit) - 1);
		}
	return rank_set_make(bits, l->count, scratch);
}

static void moves_init(struct moves *m, const struct layout *l)
{
	m->scratch = arena_create();
	m->nodes = find_moved(l, m->scratch);
	m->by = ARENA_ARRAY(m->scratch, int64_t, m->nodes.count);
	uint32_t *node = ARENA_ARRAY(m->scratch, uint32_t, m->nodes.count), count = 0;

	for (size_t i = 0; i < l->play->arrivals.count; i++) {
		const struct play_arrival *a = &l->play->arrivals.data[i];
		int64_t below = entity_tree_weight_below(l->tree, a->entity_node);

		m->by[rank_set_below(&m->nodes, a->at)] += below;
		m->by[rank_set_below(&m->nodes, node_parent(l, a->entity_node))] -= below;
	}
	for (uint32_t i = rank_set_next(&m->nodes, 0); i < l->count;
		i = rank_set_next(&m->nodes, i + 1))
		node[count++] = i;
	while (count-- > 1)
		if (m->by[count])
			m->by[rank_set_below(&m->nodes, node_parent(l, node[count]))] +=
				m->by[count];
}

static int64_t moves_at(const struct moves *m, uint32_t node)
{
	return rank_set_has(&m->nodes, node) ? m->by[rank_set_below(&m->nodes, node)] : 0;
}

/* The widths of the shown rows: what was spent in each node and below it. */
static const int64_t *layout_widths(const struct layout *l, struct arena *arena)
{
	int64_t *widths = ARENA_ARRAY(arena, int64_t, l->shown.count);
	struct moves moves = {0};

	if (l->play)
		moves_init(&moves, l);
	for (size_t i = 0; i < l->shown.count; i++) {
		uint32_t node = l->shown.data[i];

		if (node_stub(l, node) == NO_ID)
			widths[i] = entity_tree_weight_below(l->tree, node) +
				    (l->play ? moves_at(&moves, node) : 0);
	}
	arena_destroy(moves.scratch);
	return widths;
}

/* If all rows are kept: which of them the limit chooses. */
static const uint32_t *layout_shown_rows(const struct layout *l, struct arena *arena)
{
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, l->shown.count);

	for (size_t i = 0; i < l->shown.count; i++)
		rows[i] = node_row(l, l->shown.data[i]);
	return rows;
}

/* Rows of a tree, with its weighed play; NULL: it is not collapsed. */
static struct calltree *lay_out(const struct entity_tree *tree, const struct play *play,
	enum collapse collapse, enum calltree_order order, const struct calltree_limit *limit,
	struct arena *arena)
{
	const struct calltree **others =
		ARENA_ARRAY(arena, const struct calltree *, tree->other_count);
	struct layout l;
	struct calltree *out;

	layout_init(&l, tree, play, order);
	l.is_plain = !tree->has_negative && tree->other_count == 0 && limit && limit->rows > 0 &&
		     limit->rows < l.node_count && !limit->keeps_others;
	if (!l.is_plain) {
		layout_measure(&l);
		layout_group(&l);
	}
	bool is_limited = limit && limit->rows > 0 && limit->rows < whole_count(&l);
	bool all = !is_limited || limit->keeps_others;

	if (is_limited)
		layout_choose(&l, limit->rows);
	if (all)
		layout_place(&l);
	else
		layout_place_shown(&l);
	out = layout_emit(&l, 0, collapse, all, arena);
	out->shown = is_limited && all ? layout_shown_rows(&l, arena) : NULL;
	out->shown_count = is_limited ? l.shown.count : out->count;
	if (!all && limit->has_widths && !tree->has_negative)
		out->widths = layout_widths(&l, arena);
	for (size_t k = 1; k < l.metric_count; k++)
		others[k - 1] = layout_emit(&l, k, collapse, all, arena);
	out->others = others;
	layout_deinit(&l);
	return out;
}

struct calltree *calltree_analyse_keeping(const struct entity_tree *tree, enum collapse collapse,
	enum calltree_order order, const struct calltree_limit *limit, struct play **kept,
	struct arena *arena)
{
	struct calltree *out;

	assert(collapse < COLLAPSE_COUNT);
	if (collapse == COLLAPSE_NONE)
		return lay_out(tree, NULL, collapse, order, limit, arena);
	if (*kept == NULL || (*kept)->collapse != collapse) {
		calltree_forget(*kept);
		*kept = xcalloc(1, sizeof(**kept));
		play_init(*kept, tree, collapse);
	}
	play_weigh(*kept, tree, order == CALLTREE_FIRST_SEEN);
	out = lay_out(tree, *kept, collapse, order, limit, arena);
	play_unweigh(*kept);
	return out;
}

void calltree_forget(struct play *kept)
{
	if (kept == NULL)
		return;
	play_deinit(kept);
	free(kept);
}

struct calltree *calltree_analyse(const struct entity_tree *tree, enum collapse collapse,
	enum calltree_order order, const struct calltree_limit *limit, struct arena *arena)
{
	struct play *play = NULL;
	struct calltree *out = calltree_analyse_keeping(tree, collapse, order, limit, &play, arena);

	calltree_forget(play);
	return out;
}

uint64_t calltree_least_weight(const struct calltree *tree)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < tree->count; i++) {
		const struct calltree_row *row = &tree->rows[i];
		uint64_t weight = (uint64_t)(row->direct + row->indirect);

		if (!row->is_stub && weight < least)
			least = weight;
	}
	return least;
}
