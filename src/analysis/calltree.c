/*
 * The call tree in rows: what calltree_play.c made, ordered among siblings and laid out in
 * pre-order.
 *
 * Numbers of the play ascend from parent to child.  So one backward loop tells how many rows each
 * subtree takes, and one forward loop gives each its place: siblings in order, each behind the
 * whole subtree of the one before.
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

struct layout {
	const struct play *play;
	enum calltree_order order;
	uint32_t *size;	    /* [play node]: rows of its subtree, itself included; 0: left out */
	uint32_t *begin;    /* [play node + 1]: where its children begin in `children` */
	uint32_t *children; /* kept ones, in order */
	uint32_t *row;	    /* [play node]; the root has none */
};

static void layout_init(struct layout *l, const struct play *play, enum calltree_order order)
{
	size_t count = play->nodes.count;

	*l = (struct layout){.play = play, .order = order};
	l->size = xcalloc(count, sizeof(*l->size));
	l->begin = xcalloc(count + 2, sizeof(*l->begin));
	l->children = xcalloc(count, sizeof(*l->children));
	l->row = xcalloc(count, sizeof(*l->row));
}

static void layout_deinit(struct layout *l)
{
	free(l->size);
	free(l->begin);
	free(l->children);
	free(l->row);
}

static bool layout_is_zero(const struct layout *l, size_t node)
{
	const struct play *p = l->play;
	uint32_t stub = p->nodes.data[node].stub;

	for (size_t k = 0; k < p->metric_count; k++) {
		const struct play_figures *f = &p->weights[k].nodes[node];

		if (stub != NO_ID && p->weights[k].stubs[stub].weight != 0)
			return false;
		if (f->direct != 0 || f->indirect != 0 || f->in_only != 0)
			return false;
	}
	return true;
}

static void layout_measure(struct layout *l)
{
	for (size_t i = l->play->nodes.count - 1; i > 0; i--) {
		if (l->size[i] > 0 || !layout_is_zero(l, i))
			l->size[i]++;
		l->size[play_parent(l->play, i)] += l->size[i];
	}
}

/* Groups kept children by parent, in order of making: a counting sort. */
static void layout_group(struct layout *l)
{
	size_t count = l->play->nodes.count;

	for (size_t i = 1; i < count; i++)
		l->begin[play_parent(l->play, i) + 2] += l->size[i] > 0;
	for (size_t i = 2; i < count + 2; i++)
		l->begin[i] += l->begin[i - 1];
	/* Filling moves begin[parent + 1] from the group's begin to its end, the next one's begin.
	 */
	for (uint32_t i = 1; i < count; i++)
		if (l->size[i] > 0)
			l->children[l->begin[play_parent(l->play, i) + 1]++] = i;
}

static int by_first_seen(const void *a, const void *b, void *layout)
{
	const struct play_node *nodes = ((const struct layout *)layout)->play->nodes.data;
	uint32_t x = nodes[*(const uint32_t *)a].first_seen;
	uint32_t y = nodes[*(const uint32_t *)b].first_seen;

	return (x > y) - (x < y);
}

/* What counts of it in the order asked for. */
static int64_t weight_of(const struct layout *l, const struct play_figures *f)
{
	int64_t weight = f->direct + f->indirect;

	return l->order == CALLTREE_BY_CHANGE && weight < 0 ? -weight : weight;
}

static int by_weight(const void *a, const void *b, void *layout)
{
	const struct play *p = ((const struct layout *)layout)->play;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	bool x_is_stub = p->nodes.data[i].stub != NO_ID, y_is_stub = p->nodes.data[k].stub != NO_ID;

	if (x_is_stub != y_is_stub)
		return y_is_stub ? -1 : 1;
	for (size_t m = 0; m < p->metric_count; m++) {
		const struct play_figures *x = &p->weights[m].nodes[i],
					  *y = &p->weights[m].nodes[k];
		int64_t x_weight = weight_of(layout, x), y_weight = weight_of(layout, y);

		if (x_weight != y_weight)
			return x_weight < y_weight ? 1 : -1;
	}
	return entity_compare(
		&p->tree->entities[play_entity(p, i)], &p->tree->entities[play_entity(p, k)]);
}

static void layout_sort(struct layout *l)
{
	for (size_t i = 0; i < l->play->nodes.count; i++) {
		size_t count = l->begin[i + 1] - l->begin[i];
		if (count > 1)
			qsort_r(l->children + l->begin[i], count, sizeof(*l->children),
				l->order == CALLTREE_FIRST_SEEN ? by_first_seen : by_weight, l);
	}
}

/* Each child's subtree begins where the one before it ends. */
static void layout_place(struct layout *l)
{
	for (size_t i = 0; i < l->play->nodes.count; i++) {
		uint32_t row = i ? l->row[i] + 1 : 0;
		for (size_t k = l->begin[i]; k < l->begin[i + 1]; k++) {
			l->row[l->children[k]] = row;
			row += l->size[l->children[k]];
		}
	}
}

static struct calltree_row layout_row(const struct layout *l, size_t node, size_t metric)
{
	const struct play_node *n = &l->play->nodes.data[node];
	const struct play_figures *f = &l->play->weights[metric].nodes[node];
	uint32_t parent = play_parent(l->play, node);

	return (struct calltree_row){
		.level = n->depth,
		.parent = parent ? l->row[parent] : NO_ID,
		.entity = play_entity(l->play, node),
		.target = NO_ID,
		.stub = NO_ID,
		.direct = f->direct,
		.indirect = f->indirect,
		.in_only = f->in_only,
	};
}

static struct calltree_stub layout_stub(const struct play_jumps *s)
{
	return (struct calltree_stub){
		.weight = s->weight,
		.jumps_max = s->jumps_max,
		.jumps_mean = s->weight ? (double)s->jumps / (double)s->weight : 0,
	};
}

/* The rows with one metric's figures. */
static struct calltree *layout_emit(const struct layout *l, size_t metric, struct arena *arena)
{
	const struct play *p = l->play;
	struct calltree *out = ARENA_NEW(arena, struct calltree);
	struct calltree_row *rows = ARENA_ARRAY(arena, struct calltree_row, l->size[0]);
	struct calltree_stub *stubs = ARENA_ARRAY(arena, struct calltree_stub, p->stubs.count);

	for (size_t i = 1; i < p->nodes.count; i++) {
		const struct play_node *n = &p->nodes.data[i];
		if (l->size[i] == 0)
			continue;
		struct calltree_row *row = &rows[l->row[i]];
		*row = layout_row(l, i, metric);
		if (n->stub != NO_ID) {
			row->is_stub = true;
			row->target = l->row[p->stubs.data[n->stub].target];
			row->stub = (uint32_t)out->stub_count++;
			stubs[row->stub] = layout_stub(&p->weights[metric].stubs[n->stub]);
		}
		if (n->depth > out->level_max)
			out->level_max = n->depth;
	}
	out->tree = p->weights[metric].tree;
	out->collapse = p->collapse;
	out->rows = rows;
	out->count = l->size[0];
	out->stubs = stubs;
	return out;
}

struct calltree *calltree_analyse(const struct entity_tree *tree, enum collapse collapse,
	enum calltree_order order, struct arena *arena)
{
	const struct calltree **others =
		ARENA_ARRAY(arena, const struct calltree *, tree->other_count);
	struct play play;
	struct layout layout;
	struct calltree *out;

	assert(collapse < COLLAPSE_COUNT);
	play_init(&play, tree, collapse);
	layout_init(&layout, &play, order);
	layout_measure(&layout);
	layout_group(&layout);
	layout_sort(&layout);
	layout_place(&layout);
	out = layout_emit(&layout, 0, arena);
	for (size_t k = 1; k < play.metric_count; k++)
		others[k - 1] = layout_emit(&layout, k, arena);
	out->others = others;
	layout_deinit(&layout);
	play_deinit(&play);
	return out;
}
