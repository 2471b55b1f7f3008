/*
 * Inverts a tree: stacks run from their leaves to their roots.
 *
 * A stack is a cursor that begins at the node where the stack ends and climbs to the root.  A node
 * of the inverted tree is the list of cursors that went the same way so far; its children differ by
 * the entity at each cursor.  Most cursors are alone after a few steps, and the rest of their climb
 * is a chain of only children, made at once.
 *
 * That takes a step for each frame of each distinct stack, which may be far more than the tree has
 * nodes: a chain of n nodes, at each of which a stack ends, has n²/2 of them.  So if there are more
 * than INVERTED_PER_NODE frames for each node, beyond INVERTED_ALWAYS, stacks are cut at the same
 * number of levels, the greatest that fits; the rest of each is one entity, "[left out]".  Weights
 * are those of the whole stacks.
 */
#include "analysis/entity_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/vec.h"

#define INVERTED_PER_NODE 4
#define INVERTED_ALWAYS	  ((uint64_t)1 << 20)

/* A cursor has the number of the end it came from. */
struct cursor {
	uint32_t at;   /* the node it is at; 0: it has reached the root */
	uint32_t next; /* in its list; NO_ID: none */
};

/* A node whose children are not made yet. */
struct branch {
	uint32_t entity, parent, depth;
	bool is_only;	     /* its parent has no other child */
	uint32_t first;	     /* least `seen` of the stacks */
	uint32_t head, tail; /* cursors */
};

struct inverting {
	const struct entity_tree *tree;
	uint32_t levels_max;	     /* of the inverted tree, without that of "[left out]" */
	uint32_t left_out;	     /* its entity */
	struct cursor *cursors;	     /* [end of tree] */
	uint32_t *stamp, *branch_of; /* [entity]: its branch among the children of node `stamp` */
	VEC(struct branch) fresh, pending;
	VEC(uint32_t) entity; /* [node] */
	struct run_list runs; /* of only children */
	/* [end of tree]: when stacks first got to its node; its node, or NO_ID: it has no weight */
	uint32_t *seen, *end_at;
	uint32_t depth_max;
};

/* ---- how far stacks go ---- */

/* [depth] how many stacks end there; *sum their depths. */
static uint32_t *count_depths(const struct entity_tree *tree, uint64_t *sum)
{
	const struct tree_runs *r = &tree->runs;
	uint32_t *depth = tree_runs_depths(r), run = 0;
	uint32_t *count = xcalloc((size_t)tree->depth_max + 1, sizeof(*count));

	*sum = 0;
	for (uint32_t i = rank_set_next(&tree->ends, 0); i < tree->node_count;
		i = rank_set_next(&tree->ends, i + 1)) {
		while (r->first[run + 1] <= i)
			run++;
		*sum += depth[run] + (i - r->first[run]);
		count[depth[run] + (i - r->first[run])]++;
	}
	free(depth);
	return count;
}

/* The most levels at which the inverted tree stays within its bound. */
static uint32_t find_levels(const struct entity_tree *tree)
{
	uint64_t sum, most = INVERTED_ALWAYS + INVERTED_PER_NODE * (uint64_t)tree->node_count;
	uint32_t *count = count_depths(tree, &sum), levels = tree->depth_max;

	if (sum > most) {
		uint64_t deeper = tree->ends.count, nodes = 0;

		for (levels = 0; levels < tree->depth_max; levels++) {
			deeper -= count[levels];
			if (nodes + deeper > most)
				break;
			nodes += deeper;
		}
		levels = levels > 0 ? levels : 1;
	}
	free(count);
	return levels;
}

/* ---- nodes ---- */

static uint32_t push_node(struct inverting *v, uint32_t entity, uint32_t parent, bool is_only)
{
	uint32_t node = (uint32_t)v->entity.count;

	if (!is_only || node == 0)
		run_list_begin(&v->runs, node, parent);
	vec_push(&v->entity, entity);
	return node;
}

/* The entity of the node that a cursor is at; NO_ID: it is at the root. */
static uint32_t entity_under(const struct inverting *v, uint32_t cursor, uint32_t depth)
{
	if (v->cursors[cursor].at == 0)
		return NO_ID;
	return depth > v->levels_max ? v->left_out : v->tree->entity[v->cursors[cursor].at];
}

static void cursor_climb(struct inverting *v, uint32_t cursor, uint32_t depth)
{
	uint32_t *at = &v->cursors[cursor].at;

	*at = depth > v->levels_max ? 0 : entity_tree_parent(v->tree, *at);
}

static void branch_append(struct inverting *v, struct branch *b, uint32_t cursor)
{
	v->cursors[cursor].next = NO_ID;
	if (b->head == NO_ID)
		b->head = cursor;
	else
		v->cursors[b->tail].next = cursor;
	b->tail = cursor;
	if (v->seen[cursor] < b->first)
		b->first = v->seen[cursor];
}

/* Moves a cursor to the child of node `index` for the entity it is at. */
static void sort_cursor(
	struct inverting *v, const struct branch *parent, uint32_t index, uint32_t c)
{
	uint32_t depth = parent->depth + 1, entity = entity_under(v, c, depth);

	if (v->stamp[entity] != index) {
		v->stamp[entity] = index;
		v->branch_of[entity] = (uint32_t)v->fresh.count;
		vec_push(&v->fresh, (struct branch){.entity = entity,
					    .parent = index,
					    .depth = depth,
					    .first = NO_ID,
					    .head = NO_ID});
	}
	branch_append(v, &v->fresh.data[v->branch_of[entity]], c);
	cursor_climb(v, c, depth);
}

/* Latest first, as the last pending one is taken first. */
static int branches_compare(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return (x->first < y->first) - (x->first > y->first);
}

/* Adds the frames from a node up to the first of its run, at most `most`; returns how many. */
static uint32_t add_frames(struct inverting *v, uint32_t at, uint32_t run_first, uint32_t most)
{
	uint32_t count = at - run_first + (run_first > 0); /* without the root */

	if (count > most)
		count = most;
	vec_reserve(&v->entity, v->entity.count + count);
	uint32_t *to = v->entity.data + v->entity.count;
	for (uint32_t i = 0; i < count; i++)
		to[i] = v->tree->entity[at - i];
	v->entity.count += count;
	return count;
}

/* Adds the rest of a cursor that is alone, which is a chain of only children, run by run. */
static void add_chain(struct inverting *v, uint32_t depth, uint32_t c)
{
	const struct tree_runs *runs = &v->tree->runs;
	uint32_t at = v->cursors[c].at;

	while (at != 0 && depth < v->levels_max) {
		uint32_t run = tree_runs_find(runs, at);
		uint32_t count = add_frames(v, at, runs->first[run], v->levels_max - depth);

		depth += count;
		at = at - count + 1 == runs->first[run] ? runs->parent[run] : at - count;
	}
	if (at != 0) {
		vec_push(&v->entity, v->left_out);
		depth++;
	}
	if (depth > v->depth_max)
		v->depth_max = depth;
	v->end_at[c] = (uint32_t)v->entity.count - 1;
}

/* Cursors stand anywhere in the tree: begins to read what is at one. */
static void warm(const struct inverting *v, uint32_t cursor)
{
	const struct entity_tree *tree = v->tree;
	uint32_t at = v->cursors[cursor].at;

	prefetch(&tree->entity[at]);
	prefetch(&tree->runs.begins.bits[at / 64]);
	prefetch(&tree->runs.begins.before[at / 64]);
}

#define CURSORS_AHEAD 12

static void add_node(struct inverting *v, const struct branch *b)
{
	uint32_t index = push_node(v, b->entity, b->parent, b->is_only);

	if (b->depth > v->depth_max)
		v->depth_max = b->depth;
	if (b->head != NO_ID && b->head == b->tail) {
		add_chain(v, b->depth, b->head);
		return;
	}
	uint32_t ahead = b->head;
	for (int i = 0; i < CURSORS_AHEAD && ahead != NO_ID; i++, ahead = v->cursors[ahead].next)
		warm(v, ahead);
	for (uint32_t c = b->head, next; c != NO_ID; c = next) {
		next = v->cursors[c].next;
		if (ahead != NO_ID) {
			warm(v, ahead);
			ahead = v->cursors[ahead].next;
		}
		if (v->cursors[c].at != 0)
			sort_cursor(v, b, index, c);
		else
			v->end_at[c] = index;
	}
	if (v->fresh.count == 1)
		v->fresh.data[0].is_only = true;
	else if (v->fresh.count > 1)
		qsort(v->fresh.data, v->fresh.count, sizeof(*v->fresh.data), branches_compare);
	for (size_t i = 0; i < v->fresh.count; i++)
		vec_push(&v->pending, v->fresh.data[i]);
	v->fresh.count = 0;
}

/* Whether the end has weight in any metric: several stacks' weights may cancel. */
static bool has_weight(const struct entity_tree *tree, uint32_t end)
{
	bool has = tree->before[end + 1] != tree->before[end];

	for (size_t k = 0; k < tree->other_count; k++)
		has |= tree->others[k]->before[end + 1] != tree->others[k]->before[end];
	return has;
}

static void invert_run(struct inverting *v)
{
	struct branch root = {.entity = NO_ID, .first = NO_ID, .head = NO_ID};
	uint32_t end = 0;

	for (uint32_t i = rank_set_next(&v->tree->ends, 0); i < v->tree->node_count;
		i = rank_set_next(&v->tree->ends, i + 1), end++) {
		v->cursors[end].at = i;
		v->end_at[end] = NO_ID;
		if (has_weight(v->tree, end))
			branch_append(v, &root, end);
	}
	vec_push(&v->pending, root);
	while (v->pending.count > 0) {
		struct branch b = v->pending.data[--v->pending.count];

		add_node(v, &b);
	}
}

/* ---- the trees ---- */

static const uint32_t *find_run_ends(const struct tree_runs *r, struct arena *arena)
{
	uint32_t *end = ARENA_ARRAY(arena, uint32_t, r->count);

	for (size_t i = r->count; i-- > 0;) {
		/* The last run below, which is passed first, ends where this one does. */
		if (end[i] == 0)
			end[i] = r->first[i + 1];
		uint32_t *above = &end[tree_runs_find(r, r->parent[i])];
		if (i > 0 && *above == 0)
			*above = end[i];
	}
	return end;
}

/* Where stacks end; end_at becomes the number of that end. */
static void find_ends(struct inverting *v, struct entity_tree *shape, struct arena *arena)
{
	uint32_t count = v->tree->ends.count;
	uint64_t *ends = rank_set_bits(shape->node_count, arena);

	for (uint32_t i = 0; i < count; i++)
		if (v->end_at[i] != NO_ID)
			rank_set_put(ends, v->end_at[i]);
	shape->ends = rank_set_make(ends, shape->node_count, arena);
	uint32_t *seen = ARENA_ARRAY(arena, uint32_t, shape->ends.count);
	memset(seen, 0xff, shape->ends.count * sizeof(*seen)); /* NO_ID */
	for (uint32_t i = 0; i < count; i++) {
		if (v->end_at[i] == NO_ID)
			continue;
		uint32_t end = v->end_at[i] = rank_set_below(&shape->ends, v->end_at[i]);

		if (v->seen[i] < seen[end])
			seen[end] = v->seen[i];
	}
	shape->seen = seen;
}

/* The columns that do not depend on the metric; takes those of the work. */
static struct entity_tree invert_shape(struct inverting *v, struct arena *arena)
{
	struct entity_tree shape = {.node_count = v->entity.count,
		.entity = arena_adopt_array(
			arena, v->entity.data, v->entity.count, sizeof(*v->entity.data))};

	tree_runs_take(&shape.runs, &v->runs, shape.node_count, arena);
	shape.run_end = find_run_ends(&shape.runs, arena);
	find_ends(v, &shape, arena);
	return shape;
}

static const bool *invert_passed(const struct inverting *v, const struct entity_tree *shape,
	const struct entity_tree *of, struct arena *arena)
{
	bool *passed = ARENA_ARRAY(arena, bool, shape->node_count);
	bool *ends = xcalloc((size_t)shape->ends.count + 1, sizeof(*ends));
	uint32_t end = 0;

	for (uint32_t i = 0; i < v->tree->ends.count; i++)
		if (v->end_at[i] != NO_ID)
			ends[v->end_at[i]] |= of->before[i + 1] != of->before[i];
	for (uint32_t i = rank_set_next(&shape->ends, 0); i < shape->node_count;
		i = rank_set_next(&shape->ends, i + 1))
		passed[i] = ends[end++];
	for (uint32_t i = (uint32_t)shape->node_count; i-- > 1;)
		if (passed[i])
			passed[entity_tree_parent(shape, i)] = true;
	free(ends);
	return passed;
}

/* The inverted tree with the weights of one of its others, or of the tree. */
static struct entity_tree *invert_tree(const struct inverting *v, const struct entity_tree *shape,
	const struct entity_tree *of, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	int64_t *before = ARENA_ARRAY(arena, int64_t, (size_t)shape->ends.count + 1);

	*tree = *of;
	for (uint32_t i = 0; i < v->tree->ends.count; i++)
		if (v->end_at[i] != NO_ID)
			before[v->end_at[i] + 1] += of->before[i + 1] - of->before[i];
	entity_nodes_sum(before, shape->ends.count);
	tree->node_count = shape->node_count;
	tree->entity = shape->entity;
	tree->runs = shape->runs;
	tree->run_end = shape->run_end;
	tree->ends = shape->ends;
	tree->seen = shape->seen;
	tree->before = before;
	tree->depth_max = v->depth_max;
	tree->levels_left_out = v->levels_max < v->tree->depth_max ? v->levels_max : 0;
	tree->arcs = NULL;
	tree->arc_count = 0;
	tree->arc_cost = NULL;
	tree->zone_node = NULL;
	if (of->is_passed)
		tree->is_passed = invert_passed(v, shape, of, arena);
	return tree;
}

/* A copy of the entities, and if levels are left out, one that says so. */
static void copy_entities(struct entity_tree *tree, struct arena *arena)
{
	size_t more = tree->levels_left_out ? 1 : 0;
	struct entity *entities = ARENA_ARRAY(arena, struct entity, tree->entity_count + more);

	if (tree->entity_count)
		memcpy(entities, tree->entities, tree->entity_count * sizeof(*entities));
	/* All other texts are the profile's, which outlives both trees. */
	for (size_t i = 0; i < tree->entity_count; i++)
		entities[i].apart = arena_str(arena, entities[i].apart);
	if (more)
		entities[tree->entity_count] =
			(struct entity){.name = STR("[left out]"), .occurrence = 1};
	tree->entities = entities;
	tree->entity_count += more;
}

static struct entity_tree *invert_trees(struct inverting *v, struct arena *arena)
{
	struct entity_tree shape = invert_shape(v, arena);
	struct entity_tree *tree = invert_tree(v, &shape, v->tree, arena);
	struct entity_tree **others = ARENA_ARRAY(arena, struct entity_tree *, tree->other_count);

	for (size_t k = 0; k < tree->other_count; k++)
		others[k] = invert_tree(v, &shape, v->tree->others[k], arena);
	tree->others = (const struct entity_tree *const *)others;
	copy_entities(tree, arena);
	for (size_t k = 0; k < tree->other_count; k++) {
		others[k]->entities = tree->entities;
		others[k]->entity_count = tree->entity_count;
	}
	return tree;
}

/* [end] */
static uint32_t *seen_of_ends(const struct entity_tree *tree)
{
	uint32_t *first_seen = entity_tree_first_seen(tree), end = 0;
	uint32_t *seen = xcalloc((size_t)tree->ends.count + 1, sizeof(*seen));

	for (uint32_t i = rank_set_next(&tree->ends, 0); i < tree->node_count;
		i = rank_set_next(&tree->ends, i + 1))
		seen[end++] = first_seen[i];
	free(first_seen);
	return seen;
}

struct entity_tree *entity_tree_invert(const struct entity_tree *tree, struct arena *arena)
{
	size_t entities = tree->entity_count + 1, ends = tree->ends.count;
	struct inverting v = {.tree = tree,
		.levels_max = find_levels(tree),
		.left_out = (uint32_t)tree->entity_count,
		.cursors = xcalloc(ends, sizeof(*v.cursors)),
		.stamp = xcalloc(entities, sizeof(*v.stamp)),
		.branch_of = xcalloc(entities, sizeof(*v.branch_of)),
		.seen = seen_of_ends(tree),
		.end_at = xcalloc(ends, sizeof(*v.end_at))};

	for (size_t i = 0; i < entities; i++)
		v.stamp[i] = NO_ID;
	invert_run(&v);
	struct entity_tree *out = invert_trees(&v, arena);

	free(v.cursors);
	free(v.stamp);
	free(v.branch_of);
	free(v.seen);
	free(v.end_at);
	vec_deinit(&v.fresh);
	vec_deinit(&v.pending);
	return out;
}
