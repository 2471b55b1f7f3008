/*
 * Playing all stacks into the call tree.
 *
 * Whether a frame becomes a stub depends only on the node reached so far and on the frame's entity,
 * so all stacks are played together, in two passes over the entity tree's pre-order, each linear:
 *
 * 1. Play.  The walk keeps a step for each entity node on its path.  A step adds a place to the
 *    path in the call tree, or jumps back to the place of an earlier step.  An array holds the
 *    places by depth, another the innermost step of each entity; a step changes one entry of each,
 *    and restores them when the walk leaves.  A node's children are looked up only if the node is
 *    shared; otherwise its next child is always new.
 * 2. Weigh, once for each metric: shared nodes and stubs only.  The stacks that pass an entity node
 *    are one subtree, so where that subtree ends shows what these stacks have already reached.  All
 *    other nodes have the weight of their entity node.
 *
 * The conservative degree asks whether every name below A on the path is also at or above A.  The
 * deepest place whose name is nowhere above it answers that: no name is lost if it is not below A.
 * A is the innermost place of its entity on the path.  If a jump has left the innermost step of
 * that entity, the next ones outwards are found by jump pointers, in logarithmic time (E. Myers,
 * "An applicative random-access stack", 1983).
 */
#include "analysis/calltree_play.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/search.h"

/* ---- the children of shared nodes ---- */

struct sibling_slot {
	uint32_t node; /* 0: free */
	uint32_t parent;
};

/* Nodes by parent and entity: open addressing with linear probing, at most half full. */
struct siblings {
	struct sibling_slot *slots;
	size_t slot_count; /* 0 or a power of two */
	size_t used;
};

/* The slot of the parent's child of that entity, or the free one where it belongs. */
static struct sibling_slot *siblings_slot(
	const struct siblings *s, const uint32_t *entities, uint32_t parent, uint32_t entity)
{
	size_t mask = s->slot_count - 1;
	size_t i = hash_u64(((uint64_t)parent << 32 | entity) + 0x9e3779b97f4a7c15u) & mask;

	while (s->slots[i].node &&
		(s->slots[i].parent != parent || entities[s->slots[i].node] != entity))
		i = (i + 1) & mask;
	return &s->slots[i];
}

static void siblings_grow(struct siblings *s, const uint32_t *entities)
{
	struct siblings old = *s;

	s->slot_count = old.slot_count ? old.slot_count * 2 : 64;
	s->slots = xcalloc(s->slot_count, sizeof(*s->slots));
	for (size_t i = 0; i < old.slot_count; i++) {
		struct sibling_slot slot = old.slots[i];

		if (slot.node)
			*siblings_slot(s, entities, slot.parent, entities[slot.node]) = slot;
	}
	free(old.slots);
}

/* The child of that entity, which is `node` if there was none. */
static uint32_t siblings_at(
	struct siblings *s, const uint32_t *entities, uint32_t parent, uint32_t node)
{
	if (unlikely((s->used + 1) * 2 > s->slot_count))
		siblings_grow(s, entities);
	struct sibling_slot *slot = siblings_slot(s, entities, parent, entities[node]);

	if (slot->node == 0) {
		*slot = (struct sibling_slot){.node = node, .parent = parent};
		s->used++;
	}
	return slot->node;
}

/* ---- the walk ---- */

/* An entity node on the walk's path; members after `jumped` are set only if it has a place. */
struct step {
	uint32_t entity_node;
	uint32_t place; /* the step where stacks continue: this one, or one that it jumped to */
	bool jumped;	/* here or before */

	uint32_t node; /* of the call tree */
	uint32_t entity;
	uint32_t depth;
	uint32_t fresh_depth; /* of the deepest place on the path whose name is nowhere above it */
	/* Of the same entity: the next place outwards, or NO_ID; one further out; places in all. */
	uint32_t outer, far, count;
	/* To be restored when the walk leaves. */
	uint32_t at_depth_before, nearest_before;
};

struct walk {
	struct play *play;
	const struct entity_tree *tree;
	struct step *steps; /* by level of the entity tree; 0 is the root's */
	uint32_t top;
	uint32_t *at_depth; /* [depth] the step whose place is there on the path, or was */
	uint32_t *nearest;  /* [entity] the last step with a place of it, or NO_ID */
	uint64_t *arriving, *shared, *jumped;
	struct siblings siblings;
};

/* Whether a step's place is on the path to `end`. */
static bool is_on_path(const struct walk *w, uint32_t step, const struct step *end)
{
	uint32_t depth = w->steps[step].depth;

	return depth <= end->depth && w->at_depth[depth] == step;
}

/* The step of the innermost place of an entity on the path to `end`, or NO_ID. */
static uint32_t find_nearest(const struct walk *w, uint32_t entity, const struct step *end)
{
	uint32_t at = w->nearest[entity];

	while (at != NO_ID && !is_on_path(w, at, end)) {
		uint32_t far = w->steps[at].far;

		/* Outwards from a place that is on the path, all are. */
		at = far != NO_ID && !is_on_path(w, far, end) ? far : w->steps[at].outer;
	}
	return at;
}

/* Whether a frame that follows the place `end` jumps to the nearest place of its entity. */
static bool is_jump(const struct walk *w, uint32_t nearest, const struct step *end)
{
	if (nearest == NO_ID)
		return false;
	switch (w->play->collapse) {
	case COLLAPSE_DIRECT:
		return &w->steps[nearest] == end;
	case COLLAPSE_CONSERVATIVE:
		return w->steps[nearest].depth >= end->fresh_depth;
	case COLLAPSE_FULL:
		return true;
	case COLLAPSE_NONE:
	case COLLAPSE_COUNT:
		break;
	}
	return false;
}

/* Makes a node shared: enters its children so far, all of its own entity node, for lookups. */
static void share(struct walk *w, uint32_t node, uint32_t last)
{
	uint32_t end = entity_tree_end(w->tree, node);

	if (rank_set_bit(w->shared, node))
		return;
	rank_set_put(w->shared, node);
	for (uint32_t c = node + 1; c < end && c <= last; c = entity_tree_end(w->tree, c))
		(void)siblings_at(&w->siblings, w->tree->entity, node, c);
}

static void add_arrival(struct walk *w, uint32_t entity_node, uint32_t at, uint32_t stub)
{
	rank_set_put(w->arriving, entity_node);
	share(w, at, entity_node);
	vec_push(&w->play->arrivals,
		(struct play_arrival){
			.entity_node = entity_node, .at = at, .stub = stub, .next = NO_ID});
}

/* The index of the stub with that number. */
static uint32_t find_stub(const struct play *p, uint32_t node)
{
	uint32_t stub =
		partition_point(i, 0u, (uint32_t)p->stubs.count, p->stubs.data[i].node < node);

	assert(p->stubs.data[stub].node == node);
	return stub;
}

static void jump(struct walk *w, struct step *step, const struct step *end, uint32_t to)
{
	struct play *p = w->play;
	uint32_t stub = (uint32_t)p->stubs.count, target = w->steps[to].node;

	step->place = to;
	step->jumped = true;
	if (step->node == step->entity_node)
		vec_push(&p->stubs, (struct play_stub){step->node, end->node, target});
	else
		stub = find_stub(p, step->node);
	add_arrival(w, step->entity_node, target, stub);
}

/* The step gets a place, after `end`. */
static void arrive(struct walk *w, struct step *step, const struct step *end, uint32_t nearest)
{
	uint32_t self = step->place = w->top, entity = step->entity;

	step->depth = end->depth + 1;
	step->fresh_depth = nearest == NO_ID ? step->depth : end->fresh_depth;
	step->outer = step->far = nearest;
	step->count = 1;
	if (nearest != NO_ID) {
		const struct step *outer = &w->steps[nearest];
		const struct step *far = outer->far == NO_ID ? NULL : &w->steps[outer->far];

		step->count = outer->count + 1;
		if (far && far->far != NO_ID &&
			outer->count - far->count == far->count - w->steps[far->far].count)
			step->far = far->far;
	}
	step->at_depth_before = w->at_depth[step->depth];
	w->at_depth[step->depth] = self;
	step->nearest_before = w->nearest[entity];
	w->nearest[entity] = self;
	if (step->node != step->entity_node)
		add_arrival(w, step->entity_node, step->node, NO_ID);
}

static void leave(struct walk *w)
{
	const struct step *step = &w->steps[w->top];

	if (step->place == w->top) {
		w->at_depth[step->depth] = step->at_depth_before;
		w->nearest[step->entity] = step->nearest_before;
	}
	w->top--;
}

/* Plays one more frame, a child of the top step's entity node. */
static void play_frame(struct walk *w, uint32_t entity_node)
{
	const struct step *above = &w->steps[w->top], *end = &w->steps[above->place];
	struct step *step = &w->steps[++w->top];

	step->entity_node = step->node = entity_node;
	step->entity = w->tree->entity[entity_node];
	step->jumped = above->jumped;
	if (rank_set_bit(w->shared, end->node))
		step->node = siblings_at(&w->siblings, w->tree->entity, end->node, entity_node);
	uint32_t nearest = find_nearest(w, step->entity, end);
	if (is_jump(w, nearest, end))
		jump(w, step, end, nearest);
	else
		arrive(w, step, end, nearest);
	if (step->jumped)
		rank_set_put(w->jumped, entity_node);
}

static void play_all(struct walk *w)
{
	const struct tree_runs *runs = &w->tree->runs;

	for (uint32_t r = 0; r < runs->count; r++) {
		while (w->steps[w->top].entity_node != runs->parent[r])
			leave(w);
		for (uint32_t i = r ? runs->first[r] : 1; i < runs->first[r + 1]; i++)
			play_frame(w, i);
	}
}

/* Lists the arrivals at each shared node, the first one first. */
static void chain_arrivals(struct play *p)
{
	p->first_arrival = xcalloc(p->shared.count, sizeof(*p->first_arrival));
	for (size_t s = 0; s < p->shared.count; s++)
		p->first_arrival[s] = NO_ID;
	for (size_t i = p->arrivals.count; i-- > 0;) {
		uint32_t *first =
			&p->first_arrival[rank_set_below(&p->shared, p->arrivals.data[i].at)];

		p->arrivals.data[i].next = *first;
		*first = (uint32_t)i;
	}
}

static void play_stacks(struct play *p)
{
	const struct entity_tree *tree = p->tree;
	size_t count = tree->node_count;
	uint32_t levels = tree->depth_max + 1;
	struct walk w = {.play = p,
		.tree = tree,
		.steps = xcalloc(levels, sizeof(*w.steps)),
		.at_depth = xcalloc(levels, sizeof(*w.at_depth)),
		.nearest = xcalloc(tree->entity_count, sizeof(*w.nearest)),
		.arriving = rank_set_bits(count, p->arena),
		.shared = rank_set_bits(count, p->arena),
		.jumped = rank_set_bits(count, p->arena)};

	for (size_t i = 0; i < tree->entity_count; i++)
		w.nearest[i] = NO_ID;
	w.steps[0].entity = NO_ID;
	play_all(&w);
	p->arriving = rank_set_make(w.arriving, count, p->arena);
	p->shared = rank_set_make(w.shared, count, p->arena);
	p->jumped = w.jumped;
	chain_arrivals(p);
	free(w.steps);
	free(w.at_depth);
	free(w.nearest);
	free(w.siblings.slots);
}

/* ---- weights ---- */

static bool has_jumped(const struct play *p, uint32_t entity_node)
{
	return rank_set_bit(p->jumped, entity_node);
}

/* [arrival] For jumps, while they are weighed. */
struct weighing {
	uint32_t *before; /* the jump to the same stub before it in the stack, or NO_ID */
	uint32_t *jumps;  /* how often the stub was taken up to here */
};

/* A jump in all stacks through the entity node of arrival number i. */
static void weigh_jump(const struct play *p, const struct entity_tree *tree,
	const struct weighing *w, struct play_jumps *stub, uint32_t i)
{
	uint32_t entity_node = p->arrivals.data[i].entity_node, before = stub->last_jump;
	int64_t below = entity_tree_weight_below(tree, entity_node);

	/* No stack with weight jumps here. */
	if (below == 0 && tree->empty_count)
		return;
	while (before != NO_ID &&
		entity_tree_end(tree, p->arrivals.data[before].entity_node) <= entity_node)
		before = w->before[before];
	w->before[i] = before;
	stub->last_jump = i;
	w->jumps[i] = before == NO_ID ? 1 : w->jumps[before] + 1;
	if (w->jumps[i] > stub->jumps_max)
		stub->jumps_max = w->jumps[i];
	stub->jumps += below;
	if (before == NO_ID)
		stub->weight += below;
}

/* The first arrival in a stack decides; the later ones are in the subtree of the first. */
static void weigh_node(const struct play *p, const struct entity_tree *tree,
	struct play_sums *shared, uint32_t entity_node)
{
	if (entity_node < shared->reached_end)
		return;
	shared->reached_end = entity_tree_end(tree, entity_node);
	int64_t below = entity_tree_weight_between(tree, entity_node, shared->reached_end);
	if (has_jumped(p, entity_node))
		shared->figures.indirect += below;
	else
		shared->figures.direct += below;
}

/* The entity node arrives at that node, which is shared. */
static void weigh_arrival(const struct play *p, const struct play_weights *w,
	const struct weighing *weighing, uint32_t node, uint32_t entity_node)
{
	struct play_sums *shared = &w->sums[rank_set_below(&p->shared, node)];
	const struct play_arrival *arrival = play_arrival(p, entity_node);

	if (w->tree->is_passed && !w->tree->is_passed[entity_node])
		return;
	if (arrival && arrival->stub != NO_ID)
		weigh_jump(p, w->tree, weighing, &w->stubs[arrival->stub],
			(uint32_t)(arrival - p->arrivals.data));
	else
		weigh_node(p, w->tree, shared, entity_node);
	/* Nodes above a node were reached before it. */
	assert(entity_node < shared->reached_end);
	shared->figures.in_only += entity_tree_weight(w->tree, entity_node);
}

static void weigh_all(const struct play *p, const struct play_weights *w, const struct weighing *g)
{
	uint32_t count = (uint32_t)w->tree->node_count, shared = rank_set_next(&p->shared, 0);

	for (size_t i = 0; i < p->arrivals.count; i++) {
		const struct play_arrival *o = &p->arrivals.data[i];

		for (; shared < o->entity_node; shared = rank_set_next(&p->shared, shared + 1))
			weigh_arrival(p, w, g, shared, shared);
		weigh_arrival(p, w, g, o->at, o->entity_node);
	}
	assert(shared == count);
}

static void weigh_metrics(struct play *p)
{
	struct weighing weighing = {.before = xcalloc(p->arrivals.count, sizeof(uint32_t)),
		.jumps = xcalloc(p->arrivals.count, sizeof(uint32_t))};

	p->metric_count = p->tree->other_count + 1;
	p->weights = xcalloc(p->metric_count, sizeof(*p->weights));
	for (size_t k = 0; k < p->metric_count; k++) {
		struct play_weights *w = &p->weights[k];

		w->tree = k == 0 ? p->tree : p->tree->others[k - 1];
		w->sums = xcalloc(p->shared.count, sizeof(*w->sums));
		w->stubs = xcalloc(p->stubs.count, sizeof(*w->stubs));
		for (size_t i = 0; i < p->stubs.count; i++)
			w->stubs[i].last_jump = NO_ID;
		weigh_all(p, w, &weighing);
	}
	free(weighing.before);
	free(weighing.jumps);
}

/* A node or stub is first seen with the first entity node that arrived at it. */
static void play_order(struct play *p)
{
	uint32_t *seen = p->first_seen = entity_tree_first_seen(p->tree);

	for (size_t i = 0; i < p->arrivals.count; i++) {
		const struct play_arrival *o = &p->arrivals.data[i];
		uint32_t node = o->stub == NO_ID ? o->at : p->stubs.data[o->stub].node;

		if (seen[o->entity_node] < seen[node])
			seen[node] = seen[o->entity_node];
	}
}

void play_init(struct play *p, const struct entity_tree *tree, enum collapse collapse)
{
	*p = (struct play){.tree = tree, .collapse = collapse, .arena = arena_create()};
	play_stacks(p);
}

void play_deinit(struct play *p)
{
	play_unweigh(p);
	free(p->first_arrival);
	vec_deinit(&p->arrivals);
	vec_deinit(&p->stubs);
	arena_destroy(p->arena);
}

void play_weigh(struct play *p, const struct entity_tree *tree, bool has_order)
{
	assert(p->weights == NULL && tree->node_count == p->arriving.size);
	p->tree = tree;
	weigh_metrics(p);
	if (has_order)
		play_order(p);
}

void play_unweigh(struct play *p)
{
	for (size_t k = 0; k < p->metric_count; k++) {
		free(p->weights[k].sums);
		free(p->weights[k].stubs);
	}
	free(p->weights);
	free(p->first_seen);
	p->weights = NULL;
	p->first_seen = NULL;
	p->metric_count = 0;
	p->tree = NULL;
}

/* ---- what is known of a node ---- */

uint32_t play_stub(const struct play *p, uint32_t node)
{
	const struct play_arrival *arrival = play_arrival(p, node);

	return arrival ? arrival->stub : NO_ID;
}

bool play_is_node(const struct play *p, uint32_t number)
{
	const struct play_arrival *arrival = play_arrival(p, number);

	return arrival == NULL ||
	       (arrival->stub != NO_ID && p->stubs.data[arrival->stub].node == number);
}

uint32_t play_parent(const struct play *p, uint32_t node)
{
	uint32_t parent = entity_tree_parent(p->tree, node);
	const struct play_arrival *arrival = play_arrival(p, parent);

	return arrival ? arrival->at : parent;
}

/*
 * Of the entity nodes that have weight, those that arrive elsewhere are no nodes; a node is one
 * even if only others that arrive at it have weight.
 */
size_t play_count(const struct play *p)
{
	const struct entity_tree *tree = p->tree;
	size_t count = tree->node_count - tree->empty_count - 1;

	if (tree->empty_count == 0)
		return count - (p->arrivals.count - p->stubs.count);
	for (size_t i = 0; i < p->arrivals.count; i++)
		count -= entity_tree_weight_below(tree, p->arrivals.data[i].entity_node) != 0;
	for (size_t i = 0; i < p->stubs.count; i++)
		count += p->weights[0].stubs[i].weight != 0;
	for (uint32_t i = rank_set_next(&p->shared, 0), s = 0; s < p->shared.count;
		i = rank_set_next(&p->shared, i + 1), s++) {
		const struct play_figures *f = &p->weights[0].sums[s].figures;

		count += f->direct + f->indirect != 0 && entity_tree_weight_below(tree, i) == 0;
	}
	return count;
}

struct play_figures play_figures(const struct play *p, size_t metric, uint32_t node)
{
	const struct play_weights *w = &p->weights[metric];

	if (rank_set_has(&p->shared, node))
		return w->sums[rank_set_below(&p->shared, node)].figures;
	if (rank_set_has(&p->arriving, node))
		return (struct play_figures){0};
	int64_t below = entity_tree_weight_below(w->tree, node);
	bool jumped = has_jumped(p, node);

	return (struct play_figures){.direct = jumped ? 0 : below,
		.indirect = jumped ? below : 0,
		.in_only = entity_tree_weight(w->tree, node)};
}

uint32_t play_first_arrival(const struct play *p, uint32_t node)
{
	return rank_set_has(&p->shared, node) ? p->first_arrival[rank_set_below(&p->shared, node)]
					      : NO_ID;
}
