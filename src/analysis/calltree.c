/*
 * The call tree with recursion collapsed.
 *
 * Whether a frame becomes a stub depends only on the node reached so far and on the frame's entity,
 * so each (node, entity) is decided once, and all stacks are played together: every node of the
 * entity tree moves on from where its parent arrived.  Two passes, each linear:
 *
 * 1. Play.  A depth-first walk of the tree being made.  Entity nodes wait in the inbox of the node
 *    where they arrived.  The walk enters a child when its inbox has something, hands on what waits
 *    there, and leaves when nothing waits in it or below; a stub hands back to a node that is still
 *    on the walk's path.  So the innermost node of every entity on the path is at hand in an array,
 *    kept up to date by entering and leaving, and a step into a child is paid for by the entity
 * node that waited there.
 * 2. Weigh.  In the entity tree's pre-order, where the stacks that pass a node are one subtree and
 *    what has already been reached on the way is told by where that subtree ends.
 *
 * The conservative degree asks whether every name below A on the path also stands at or above A.
 * The deepest node whose name stands nowhere above it answers that: no name is lost if it is not
 * below A.
 */
#include "analysis/calltree.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/child_table.h"
#include "base/alloc.h"
#include "base/vec.h"

const char *const collapse_names[COLLAPSE_COUNT + 1] = {
	[COLLAPSE_NONE] = "none",
	[COLLAPSE_DIRECT] = "direct",
	[COLLAPSE_CONSERVATIVE] = "conservative",
	[COLLAPSE_FULL] = "full",
};

/* A node of the call tree or a stub, a row to be.  Parent < own index; 0 is the nameless root. */
struct play_node {
	uint32_t parent, entity, depth;
	uint32_t target;      /* a stub's; else NO_ID */
	uint32_t first_seen;  /* least of the entity nodes that arrived here */
	uint32_t fresh_depth; /* of the deepest node on the path whose name stands nowhere above it
			       */

	/* Pass 1, nodes only. */
	uint32_t outer;	     /* the next node up the path with the same entity; set when entered */
	uint32_t inbox;	     /* first entity node that waits here; chained by play.next */
	uint32_t busy_child; /* first child with something in its inbox */
	uint32_t busy_next;  /* the next such sibling */

	/* Pass 2. */
	uint32_t reached_end; /* end of the entity subtree that was last counted here */
	uint32_t last_jump;   /* a stub's: the entity node that last arrived */
	uint32_t jumps_max;
	int64_t direct, indirect, in_only;
	int64_t stub_weight;
	__int128 jumps; /* weight × jumps, may pass 64 bits */
};

struct play {
	const struct entity_tree *tree;
	enum collapse collapse;
	struct child_table children;
	VEC(struct play_node) nodes;
	uint32_t *nearest; /* [entity]: innermost node of it on the path, or NO_ID */
	uint32_t *arrival; /* [entity node]: the node or stub it arrived at */
	uint32_t *next;	   /* [entity node]: in the same inbox; in pass 2 the last jump outside */
	uint32_t *jumps;   /* [entity node]: how often its stub was taken up to here */
	bool *jumped;	   /* [entity node]: whether any stub was */
};

static void play_init(struct play *p, const struct entity_tree *tree, enum collapse collapse)
{
	*p = (struct play){.tree = tree, .collapse = collapse};
	child_table_init(&p->children);
	vec_push(&p->nodes, (struct play_node){.parent = NO_ID,
				    .entity = NO_ID,
				    .target = NO_ID,
				    .inbox = NO_ID,
				    .busy_child = NO_ID});
	p->nearest = xcalloc(tree->entity_count, sizeof(*p->nearest));
	for (size_t i = 0; i < tree->entity_count; i++)
		p->nearest[i] = NO_ID;
	p->arrival = xcalloc(tree->node_count, sizeof(*p->arrival));
	p->next = xcalloc(tree->node_count, sizeof(*p->next));
	p->jumps = xcalloc(tree->node_count, sizeof(*p->jumps));
	p->jumped = xcalloc(tree->node_count, sizeof(*p->jumped));
}

static void play_deinit(struct play *p)
{
	child_table_deinit(&p->children);
	vec_deinit(&p->nodes);
	free(p->nearest);
	free(p->arrival);
	free(p->next);
	free(p->jumps);
	free(p->jumped);
}

/* The node that a frame of `entity` jumps to from cur, which ends the walk's path, or NO_ID. */
static uint32_t play_target(const struct play *p, uint32_t cur, uint32_t entity)
{
	uint32_t a = p->nearest[entity];
	bool is_stub = false;

	if (a == NO_ID)
		return NO_ID;
	switch (p->collapse) {
	case COLLAPSE_DIRECT:
		is_stub = a == cur;
		break;
	case COLLAPSE_CONSERVATIVE:
		is_stub = p->nodes.data[a].depth >= p->nodes.data[cur].fresh_depth;
		break;
	case COLLAPSE_FULL:
		is_stub = true;
		break;
	case COLLAPSE_NONE:
	case COLLAPSE_COUNT:
		break;
	}
	return is_stub ? a : NO_ID;
}

static struct play_node play_new_node(const struct play *p, uint32_t cur, uint32_t entity)
{
	const struct play_node *parent = &p->nodes.data[cur];
	bool is_fresh = p->nearest[entity] == NO_ID;

	return (struct play_node){
		.parent = cur,
		.entity = entity,
		.depth = parent->depth + 1,
		.target = play_target(p, cur, entity),
		.first_seen = UINT32_MAX,
		.fresh_depth = is_fresh ? parent->depth + 1 : parent->fresh_depth,
		.inbox = NO_ID,
		.busy_child = NO_ID,
		.last_jump = NO_ID,
	};
}

/* The child or stub of cur for the entity, made at first sight. */
static uint32_t play_step(struct play *p, uint32_t cur, uint32_t entity)
{
	bool added;
	uint32_t id = child_table_at(&p->children, cur, entity, &added);

	if (added) {
		struct play_node node = play_new_node(p, cur, entity);
		vec_push(&p->nodes, node);
	}
	return id;
}

static void play_wait(struct play *p, uint32_t at, uint32_t entity_node)
{
	p->next[entity_node] = p->nodes.data[at].inbox;
	p->nodes.data[at].inbox = entity_node;
}

/* One frame further: from cur, the end of the walk's path. */
static void play_frame(struct play *p, uint32_t cur, uint32_t entity_node)
{
	const struct entity_node *e = &p->tree->nodes[entity_node];
	uint32_t id = play_step(p, cur, e->entity);
	struct play_node *node = &p->nodes.data[id];

	p->arrival[entity_node] = id;
	if (e->first_seen < node->first_seen)
		node->first_seen = e->first_seen;
	if (e->end == entity_node + 1)
		return; /* no stack goes on from here */
	if (node->target != NO_ID) {
		play_wait(p, node->target, entity_node);
		return;
	}
	if (node->inbox == NO_ID) {
		node->busy_next = p->nodes.data[cur].busy_child;
		p->nodes.data[cur].busy_child = id;
	}
	play_wait(p, id, entity_node);
}

static void play_hand_on(struct play *p, uint32_t cur)
{
	uint32_t from = p->nodes.data[cur].inbox;
	const struct entity_node *nodes = p->tree->nodes;

	p->nodes.data[cur].inbox = p->next[from];
	for (uint32_t i = from + 1; i < nodes[from].end; i = nodes[i].end)
		play_frame(p, cur, i);
}

static uint32_t play_enter(struct play *p, uint32_t cur)
{
	uint32_t child = p->nodes.data[cur].busy_child;
	struct play_node *c = &p->nodes.data[child];

	p->nodes.data[cur].busy_child = c->busy_next;
	c->outer = p->nearest[c->entity];
	p->nearest[c->entity] = child;
	return child;
}

static uint32_t play_leave(struct play *p, uint32_t cur)
{
	const struct play_node *c = &p->nodes.data[cur];

	p->nearest[c->entity] = c->outer;
	return c->parent;
}

static void play_all(struct play *p)
{
	uint32_t cur = 0;

	play_wait(p, 0, 0);
	for (;;) {
		if (p->nodes.data[cur].inbox != NO_ID)
			play_hand_on(p, cur);
		else if (p->nodes.data[cur].busy_child != NO_ID)
			cur = play_enter(p, cur);
		else if (cur != 0)
			cur = play_leave(p, cur);
		else
			return;
	}
}

/* A jump on the way of all stacks through entity node i. */
static void weigh_jump(struct play *p, struct play_node *stub, uint32_t i)
{
	const struct entity_node *nodes = p->tree->nodes;
	uint32_t before = stub->last_jump;

	while (before != NO_ID && nodes[before].end <= i)
		before = p->next[before];
	p->next[i] = before;
	stub->last_jump = i;
	p->jumps[i] = before == NO_ID ? 1 : p->jumps[before] + 1;
	if (p->jumps[i] > stub->jumps_max)
		stub->jumps_max = p->jumps[i];
	stub->jumps += nodes[i].weight_below;
	if (before == NO_ID)
		stub->stub_weight += nodes[i].weight_below;
}

/* The first arrival in a stack decides; the later ones lie in the subtree of the first. */
static void weigh_node(struct play *p, struct play_node *node, uint32_t i)
{
	const struct entity_node *e = &p->tree->nodes[i];

	if (i < node->reached_end)
		return;
	node->reached_end = e->end;
	if (p->jumped[i])
		node->indirect += e->weight_below;
	else
		node->direct += e->weight_below;
}

static void weigh_all(struct play *p)
{
	for (uint32_t i = 1; i < p->tree->node_count; i++) {
		const struct entity_node *e = &p->tree->nodes[i];
		struct play_node *at = &p->nodes.data[p->arrival[i]];
		bool is_stub = at->target != NO_ID;
		p->jumped[i] = is_stub || p->jumped[e->parent];
		if (is_stub) {
			weigh_jump(p, at, i);
			at = &p->nodes.data[at->target];
			/* What stands above a node was reached before it. */
			assert(i < at->reached_end);
		} else {
			weigh_node(p, at, i);
		}
		at->in_only += e->weight;
	}
}

/* Lays the played nodes out as rows. */
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

static bool play_node_is_zero(const struct play_node *n)
{
	return n->direct == 0 && n->indirect == 0 && n->in_only == 0 && n->stub_weight == 0;
}

static void layout_measure(struct layout *l)
{
	const struct play_node *nodes = l->play->nodes.data;

	for (size_t i = l->play->nodes.count - 1; i > 0; i--) {
		if (l->size[i] > 0 || !play_node_is_zero(&nodes[i]))
			l->size[i]++;
		l->size[nodes[i].parent] += l->size[i];
	}
}

/* Groups kept children by parent, in order of making: a counting sort. */
static void layout_group(struct layout *l)
{
	const struct play_node *nodes = l->play->nodes.data;
	size_t count = l->play->nodes.count;

	for (size_t i = 1; i < count; i++)
		l->begin[nodes[i].parent + 2] += l->size[i] > 0;
	for (size_t i = 2; i < count + 2; i++)
		l->begin[i] += l->begin[i - 1];
	/* Filling moves begin[parent + 1] from the group's begin to its end, the next one's begin.
	 */
	for (uint32_t i = 1; i < count; i++)
		if (l->size[i] > 0)
			l->children[l->begin[nodes[i].parent + 1]++] = i;
}

static int by_first_seen(const void *a, const void *b, void *layout)
{
	const struct play_node *nodes = ((const struct layout *)layout)->play->nodes.data;
	uint32_t x = nodes[*(const uint32_t *)a].first_seen;
	uint32_t y = nodes[*(const uint32_t *)b].first_seen;

	return (x > y) - (x < y);
}

static int by_weight(const void *a, const void *b, void *layout)
{
	const struct play *p = ((const struct layout *)layout)->play;
	const struct play_node *x = &p->nodes.data[*(const uint32_t *)a];
	const struct play_node *y = &p->nodes.data[*(const uint32_t *)b];
	bool x_is_stub = x->target != NO_ID, y_is_stub = y->target != NO_ID;
	int64_t x_weight = x->direct + x->indirect, y_weight = y->direct + y->indirect;

	if (x_is_stub != y_is_stub)
		return x_is_stub ? 1 : -1;
	if (x_weight != y_weight)
		return x_weight < y_weight ? 1 : -1;
	return entity_compare(&p->tree->entities[x->entity], &p->tree->entities[y->entity]);
}

static void layout_sort(struct layout *l)
{
	for (size_t i = 0; i < l->play->nodes.count; i++) {
		size_t count = l->begin[i + 1] - l->begin[i];
		if (count > 1)
			qsort_r(l->children + l->begin[i], count, sizeof(*l->children),
				l->order == CALLTREE_BY_WEIGHT ? by_weight : by_first_seen, l);
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

static struct calltree_row layout_row(const struct layout *l, const struct play_node *n)
{
	bool is_stub = n->target != NO_ID;

	return (struct calltree_row){
		.level = n->depth,
		.parent = n->parent ? l->row[n->parent] : NO_ID,
		.entity = n->entity,
		.is_stub = is_stub,
		.target = is_stub ? l->row[n->target] : NO_ID,
		.direct = n->direct,
		.indirect = n->indirect,
		.in_only = n->in_only,
		.stub_weight = n->stub_weight,
		.jumps_max = n->jumps_max,
		.jumps_mean = n->stub_weight ? (double)n->jumps / (double)n->stub_weight : 0,
	};
}

static void layout_emit(const struct layout *l, struct calltree *out, struct arena *arena)
{
	struct calltree_row *rows = ARENA_ARRAY(arena, struct calltree_row, l->size[0]);

	for (size_t i = 1; i < l->play->nodes.count; i++) {
		const struct play_node *n = &l->play->nodes.data[i];
		if (l->size[i] == 0)
			continue;
		rows[l->row[i]] = layout_row(l, n);
		if (n->depth > out->level_max)
			out->level_max = n->depth;
	}
	out->rows = rows;
	out->count = l->size[0];
}

struct calltree *calltree_analyse(const struct entity_tree *tree, enum collapse collapse,
	enum calltree_order order, struct arena *arena)
{
	struct calltree *out = ARENA_NEW(arena, struct calltree);
	struct play play;
	struct layout layout;

	assert(collapse < COLLAPSE_COUNT);
	out->tree = tree;
	out->collapse = collapse;
	play_init(&play, tree, collapse);
	play_all(&play);
	weigh_all(&play);
	layout_init(&layout, &play, order);
	layout_measure(&layout);
	layout_group(&layout);
	layout_sort(&layout);
	layout_place(&layout);
	layout_emit(&layout, out, arena);
	layout_deinit(&layout);
	play_deinit(&play);
	return out;
}
