/*
 * The tree turned round: stacks from their leaves to their roots.
 *
 * A stack is a cursor that begins at the node where the stack ends and climbs to the root.  A node
 * of the inverted tree is the list of cursors that went the same way so far; its children differ
 * by the entity that each cursor stands on.  This takes one step for each frame of each
 * distinct stack: no more than the inverted tree can have nodes.
 */
#include "analysis/entity_tree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"

struct cursor {
	uint32_t end;  /* the node of the stack */
	uint32_t at;   /* where it stands; 0: it has arrived at the root */
	uint32_t next; /* in its list; NO_ID: none */
};

/* A node whose children are not made yet. */
struct branch {
	uint32_t entity, parent, depth;
	uint32_t first;	     /* least first_seen of the stacks */
	uint32_t head, tail; /* cursors */
};

struct inverting {
	const struct entity_tree *tree;
	struct cursor *cursors;	     /* [node of tree], used where a stack ends */
	uint32_t *stamp, *branch_of; /* [entity]: its branch among the children of node `stamp` */
	VEC(struct branch) fresh, pending;
	VEC(uint32_t) parent, entity; /* [node] */
	VEC(uint32_t) firsts;	      /* [node] */
	VEC(uint32_t) ends;	      /* the tree's nodes whose stacks end … */
	VEC(uint32_t) ends_at;	      /* … at these nodes */
	uint32_t depth_max;
};

/* Whether a stack ends at a node, by any metric. */
static bool is_end(const struct entity_tree *tree, uint32_t i)
{
	bool ends = entity_tree_weight(tree, i) != 0;

	for (size_t k = 0; k < tree->other_count; k++)
		ends |= entity_tree_weight(tree->others[k], i) != 0;
	return ends;
}

static void branch_append(struct inverting *v, struct branch *b, uint32_t cursor)
{
	v->cursors[cursor].next = NO_ID;
	if (b->head == NO_ID)
		b->head = cursor;
	else
		v->cursors[b->tail].next = cursor;
	b->tail = cursor;
	if (v->tree->first_seen[cursor] < b->first)
		b->first = v->tree->first_seen[cursor];
}

static void sort_cursor(
	struct inverting *v, const struct branch *parent, uint32_t index, uint32_t c)
{
	uint32_t entity = v->tree->entity[v->cursors[c].at];

	if (v->stamp[entity] != index) {
		v->stamp[entity] = index;
		v->branch_of[entity] = (uint32_t)v->fresh.count;
		vec_push(&v->fresh, (struct branch){.entity = entity,
					    .parent = index,
					    .depth = parent->depth + 1,
					    .first = NO_ID,
					    .head = NO_ID});
	}
	branch_append(v, &v->fresh.data[v->branch_of[entity]], c);
	v->cursors[c].at = v->tree->parent[v->cursors[c].at];
}

/* Latest first, as the last pending one is taken first. */
static int branches_compare(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return (x->first < y->first) - (x->first > y->first);
}

static void add_node(struct inverting *v, const struct branch *b)
{
	uint32_t index = (uint32_t)v->parent.count;

	vec_push(&v->parent, b->parent);
	vec_push(&v->entity, b->entity);
	vec_push(&v->firsts, b->first);
	if (b->depth > v->depth_max)
		v->depth_max = b->depth;
	for (uint32_t c = b->head, next; c != NO_ID; c = next) {
		next = v->cursors[c].next;
		if (v->cursors[c].at != 0) {
			sort_cursor(v, b, index, c);
			continue;
		}
		vec_push(&v->ends, v->cursors[c].end);
		vec_push(&v->ends_at, index);
	}
	if (v->fresh.count > 1)
		qsort(v->fresh.data, v->fresh.count, sizeof(*v->fresh.data), branches_compare);
	for (size_t i = 0; i < v->fresh.count; i++)
		vec_push(&v->pending, v->fresh.data[i]);
	v->fresh.count = 0;
}

static void invert_run(struct inverting *v)
{
	struct branch root = {.entity = NO_ID, .parent = NO_ID, .first = NO_ID, .head = NO_ID};

	for (uint32_t i = 0; i < v->tree->node_count; i++) {
		if (!is_end(v->tree, i))
			continue;
		v->cursors[i] = (struct cursor){.end = i, .at = i};
		branch_append(v, &root, i);
	}
	vec_push(&v->pending, root);
	while (v->pending.count > 0) {
		struct branch b = v->pending.data[--v->pending.count];

		add_node(v, &b);
	}
}

static bool *invert_passed(
	const struct inverting *v, const struct entity_tree *of, struct arena *arena)
{
	bool *passed = ARENA_ARRAY(arena, bool, v->parent.count);

	for (size_t i = 0; i < v->ends.count; i++)
		passed[v->ends_at.data[i]] |= entity_tree_weight(of, v->ends.data[i]) != 0;
	for (size_t i = v->parent.count; i-- > 1;)
		if (passed[i])
			passed[v->parent.data[i]] = true;
	return passed;
}

/* The inverted tree with the weights of one of its others, or of the tree. */
static struct entity_tree *invert_tree(const struct inverting *v, const struct entity_tree *shape,
	const struct entity_tree *of, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	int64_t *before = ARENA_ARRAY(arena, int64_t, shape->node_count + 1);

	*tree = *of;
	for (size_t i = 0; i < v->ends.count; i++)
		before[v->ends_at.data[i] + 1] += entity_tree_weight(of, v->ends.data[i]);
	entity_nodes_sum(before, shape->node_count);
	tree->node_count = shape->node_count;
	tree->parent = shape->parent;
	tree->entity = shape->entity;
	tree->end = shape->end;
	tree->first_seen = shape->first_seen;
	tree->before = before;
	tree->depth_max = v->depth_max;
	tree->arcs = NULL;
	tree->arc_count = 0;
	if (of->is_passed)
		tree->is_passed = invert_passed(v, of, arena);
	return tree;
}

/* One past the last node of each subtree. */
static uint32_t *find_ends(const uint32_t *parent, size_t count, struct arena *arena)
{
	uint32_t *end = ARENA_ARRAY(arena, uint32_t, count);

	for (uint32_t i = (uint32_t)count; i-- > 0;) {
		/* The last child, which is passed first, ends where its parent does. */
		if (end[i] == 0)
			end[i] = i + 1;
		if (i > 0 && end[parent[i]] == 0)
			end[parent[i]] = end[i];
	}
	return end;
}

/* The columns that do not depend on the metric; takes those of the work. */
static struct entity_tree invert_shape(struct inverting *v, struct arena *arena)
{
	struct entity_tree shape = {.node_count = v->parent.count,
		.parent = v->parent.data,
		.entity = v->entity.data,
		.first_seen = v->firsts.data,
		.end = find_ends(v->parent.data, v->parent.count, arena)};

	entity_nodes_rank(v->firsts.data, v->firsts.count);
	arena_adopt(arena, v->parent.data, v->parent.capacity * sizeof(*v->parent.data));
	arena_adopt(arena, v->entity.data, v->entity.capacity * sizeof(*v->entity.data));
	arena_adopt(arena, v->firsts.data, v->firsts.capacity * sizeof(*v->firsts.data));
	return shape;
}

static struct entity_tree *invert_trees(struct inverting *v, struct arena *arena)
{
	struct entity_tree shape = invert_shape(v, arena);
	struct entity_tree *tree = invert_tree(v, &shape, v->tree, arena);
	const struct entity_tree **others =
		ARENA_ARRAY(arena, const struct entity_tree *, tree->other_count);

	for (size_t k = 0; k < tree->other_count; k++)
		others[k] = invert_tree(v, &shape, v->tree->others[k], arena);
	tree->others = others;
	return tree;
}

struct entity_tree *entity_tree_invert(const struct entity_tree *tree, struct arena *arena)
{
	struct inverting v = {.tree = tree,
		.cursors = xcalloc(tree->node_count, sizeof(*v.cursors)),
		.stamp = xcalloc(tree->entity_count, sizeof(*v.stamp)),
		.branch_of = xcalloc(tree->entity_count, sizeof(*v.branch_of))};

	for (size_t i = 0; i < tree->entity_count; i++)
		v.stamp[i] = NO_ID;
	invert_run(&v);
	struct entity_tree *out = invert_trees(&v, arena);

	free(v.cursors);
	free(v.stamp);
	free(v.branch_of);
	vec_deinit(&v.fresh);
	vec_deinit(&v.pending);
	vec_deinit(&v.ends);
	vec_deinit(&v.ends_at);
	return out;
}
