/*
 * Playing all stacks into the call tree.
 *
 * Whether a frame becomes a stub depends only on the node reached so far and on the frame's entity,
 * so each (node, entity) is decided once, and all stacks are played together: every node of the
 * entity tree moves on from where its parent arrived.  Two passes, each linear:
 *
 * 1. Play: a depth-first walk of the tree being made.  Each of its nodes has a list of pending
 *    entity nodes: those that arrived there and whose children have not been played.  The walk
 *    enters a child that has pending nodes, plays their children one frame further, and leaves when
 *    nothing is pending in the node or below.  What arrives at a stub becomes pending at its
 *    target, which is still on the walk's path.  An array, updated on entering and leaving, has the
 *    innermost node of every entity on the path.  Each step into a child processes at least one
 *    entity node that was pending there.
 * 2. Weigh, once for each metric: in the entity tree's pre-order, where the stacks that pass a node
 *    are one subtree, and where that subtree ends shows what has been reached on the way.
 *
 * The conservative degree asks whether every name below A on the path also occurs at or above A.
 * The deepest node whose name does not occur above it answers that: no name is lost if it is not
 * below A.
 */
#include "analysis/calltree_play.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

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

static void play_add_node(struct play *p, uint32_t cur, uint32_t entity)
{
	const struct play_node *parent = &p->nodes.data[cur];
	uint32_t target = play_target(p, cur, entity);
	bool is_fresh = p->nearest[entity] == NO_ID;
	struct play_node node = {
		.depth = parent->depth + 1,
		.stub = NO_ID,
		.first_seen = UINT32_MAX,
		.fresh_depth = is_fresh ? parent->depth + 1 : parent->fresh_depth,
		.pending = NO_ID,
		.pending_child = NO_ID,
	};

	if (target != NO_ID) {
		node.stub = (uint32_t)p->stubs.count;
		vec_push(&p->stubs, (struct play_stub){.target = target});
	}
	vec_push(&p->nodes, node);
}

static void play_push(struct play *p, uint32_t at, uint32_t entity_node)
{
	p->next[entity_node] = p->nodes.data[at].pending;
	p->nodes.data[at].pending = entity_node;
}

/* Plays one more frame: from cur, the end of the walk's path. */
static void play_frame(struct play *p, uint32_t cur, uint32_t entity_node)
{
	const struct entity_tree *tree = p->tree;
	uint32_t entity = tree->entity[entity_node], first_seen = p->first_seen[entity_node];
	bool added;
	uint32_t id = child_table_at(&p->children, cur, entity, &added);

	if (added)
		play_add_node(p, cur, entity);
	struct play_node *node = &p->nodes.data[id];
	p->arrival[entity_node] = id;
	if (first_seen < node->first_seen)
		node->first_seen = first_seen;
	if (entity_tree_end(tree, entity_node) == entity_node + 1)
		return; /* no stack continues from here */
	if (node->stub != NO_ID) {
		play_push(p, p->stubs.data[node->stub].target, entity_node);
		return;
	}
	if (node->pending == NO_ID) {
		node->link = p->nodes.data[cur].pending_child;
		p->nodes.data[cur].pending_child = id;
	}
	play_push(p, id, entity_node);
}

static void play_advance(struct play *p, uint32_t cur)
{
	uint32_t from = p->nodes.data[cur].pending;
	uint32_t end = entity_tree_end(p->tree, from);

	p->nodes.data[cur].pending = p->next[from];
	for (uint32_t i = from + 1; i < end; i = entity_tree_end(p->tree, i))
		play_frame(p, cur, i);
}

static uint32_t play_enter(struct play *p, uint32_t cur)
{
	uint32_t child = p->nodes.data[cur].pending_child;
	struct play_node *c = &p->nodes.data[child];
	uint32_t *nearest = &p->nearest[play_entity(p, child)];

	p->nodes.data[cur].pending_child = c->link;
	c->link = *nearest;
	*nearest = child;
	return child;
}

static uint32_t play_leave(struct play *p, uint32_t cur)
{
	p->nearest[play_entity(p, cur)] = p->nodes.data[cur].link;
	return play_parent(p, cur);
}

static void play_all(struct play *p)
{
	uint32_t cur = 0;

	play_push(p, 0, 0);
	for (;;) {
		if (p->nodes.data[cur].pending != NO_ID)
			play_advance(p, cur);
		else if (p->nodes.data[cur].pending_child != NO_ID)
			cur = play_enter(p, cur);
		else if (cur != 0)
			cur = play_leave(p, cur);
		else
			return;
	}
}

/* A jump in all stacks through entity node i. */
static void weigh_jump(
	struct play *p, const struct entity_tree *tree, struct play_jumps *stub, uint32_t i)
{
	int64_t below = entity_tree_weight_below(tree, i);
	uint32_t before = stub->last_jump;

	while (before != 0 && entity_tree_end(tree, before) <= i)
		before = p->next[before];
	p->next[i] = before;
	stub->last_jump = i;
	p->jumps[i] = before == 0 ? 1 : p->jumps[before] + 1;
	if (p->jumps[i] > stub->jumps_max)
		stub->jumps_max = p->jumps[i];
	stub->jumps += below;
	if (before == 0)
		stub->weight += below;
}

/* The first arrival in a stack decides; the later ones lie in the subtree of the first. */
static void weigh_node(
	const struct play *p, const struct entity_tree *tree, struct play_figures *node, uint32_t i)
{
	if (i < node->reached_end)
		return;
	node->reached_end = entity_tree_end(tree, i);
	int64_t below = entity_tree_weight_between(tree, i, node->reached_end);
	if (p->jumped[i])
		node->indirect += below;
	else
		node->direct += below;
}

static void weigh_all(struct play *p, const struct play_weights *w)
{
	for (uint32_t i = 1; i < w->tree->node_count; i++) {
		uint32_t at = p->arrival[i], stub = p->nodes.data[at].stub;

		if (w->tree->is_passed && !w->tree->is_passed[i])
			continue;
		/* Most never jump; what is not written stays zero and takes no memory. */
		if (stub != NO_ID || p->jumped[entity_tree_parent(w->tree, i)])
			p->jumped[i] = true;
		if (stub != NO_ID) {
			weigh_jump(p, w->tree, &w->stubs[stub], i);
			at = p->stubs.data[stub].target;
			/* Nodes above a node were reached before it. */
			assert(i < w->nodes[at].reached_end);
		} else {
			weigh_node(p, w->tree, &w->nodes[at], i);
		}
		w->nodes[at].in_only += entity_tree_weight(w->tree, i);
	}
}

static void weigh_metrics(struct play *p)
{
	p->metric_count = p->tree->other_count + 1;
	p->weights = xcalloc(p->metric_count, sizeof(*p->weights));
	for (size_t k = 0; k < p->metric_count; k++) {
		struct play_weights *w = &p->weights[k];

		w->tree = k == 0 ? p->tree : p->tree->others[k - 1];
		w->nodes = xcalloc(p->nodes.count, sizeof(*w->nodes));
		w->stubs = xcalloc(p->stubs.count, sizeof(*w->stubs));
		weigh_all(p, w);
	}
}

void play_init(struct play *p, const struct entity_tree *tree, enum collapse collapse)
{
	*p = (struct play){.tree = tree, .collapse = collapse};
	child_table_init(&p->children, tree->node_count);
	vec_reserve(&p->nodes, tree->node_count);
	vec_push(&p->nodes,
		(struct play_node){.stub = NO_ID, .pending = NO_ID, .pending_child = NO_ID});
	p->nearest = xcalloc(tree->entity_count, sizeof(*p->nearest));
	for (size_t i = 0; i < tree->entity_count; i++)
		p->nearest[i] = NO_ID;
	p->arrival = xcalloc(tree->node_count, sizeof(*p->arrival));
	p->next = xcalloc(tree->node_count, sizeof(*p->next));
	p->jumps = xcalloc(tree->node_count, sizeof(*p->jumps));
	p->jumped = xcalloc(tree->node_count, sizeof(*p->jumped));
	p->first_seen = entity_tree_first_seen(tree);
	play_all(p);
	free(p->first_seen);
	weigh_metrics(p);
}

void play_deinit(struct play *p)
{
	child_table_deinit(&p->children);
	vec_deinit(&p->nodes);
	vec_deinit(&p->stubs);
	for (size_t k = 0; k < p->metric_count; k++) {
		free(p->weights[k].nodes);
		free(p->weights[k].stubs);
	}
	free(p->weights);
	free(p->nearest);
	free(p->arrival);
	free(p->next);
	free(p->jumps);
	free(p->jumped);
}
