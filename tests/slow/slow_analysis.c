/*
 * Plain slow implementations of the analyses.  See slow_analysis.h.
 */
#include "slow_analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool same_name(const struct entity *a, const struct entity *b)
{
	return str_equal(a->name, b->name) && str_equal(a->module, b->module) &&
	       str_equal(a->file, b->file) && a->line == b->line && a->occurrence == b->occurrence;
}

uint32_t slow_stacks_find(const struct slow_stacks *s, const struct entity *e)
{
	for (uint32_t i = 0; i < s->names.count; i++)
		if (same_name(&s->names.data[i], e))
			return i;
	return NO_ID;
}

static uint32_t name_index(struct slow_stacks *s, const struct entity *e)
{
	uint32_t found = slow_stacks_find(s, e);

	if (found != NO_ID)
		return found;
	vec_push(&s->names, *e);
	return (uint32_t)s->names.count - 1;
}

static struct entity name_of_frame(const struct profile *p, frame_id frame, enum level level)
{
	const struct function *f = &p->functions[p->frames[frame.i].function.i];
	struct entity e = {.name = profile_string(p, f->name), .occurrence = 1};

	if (f->object.i != NO_ID)
		e.module = str_base_name(profile_string(p, p->objects[f->object.i].path));
	if (level == LEVEL_MODULE) {
		e.name = e.module;
	} else {
		e.file = profile_string(p, f->file);
		e.line = f->line;
	}
	if (e.name.size == 0)
		e.name = STR("[unknown]");
	return e;
}

static void write_out(struct slow_stacks *s, const struct profile *p, enum level level,
	stack_id stack, int64_t weight)
{
	VEC(uint32_t) leaf_first = {0};

	for (stack_id i = stack; i.i != 0; i = profile_parent(p, i)) {
		struct entity e = name_of_frame(p, p->stack_frame[i.i], level);
		uint32_t name = name_index(s, &e);
		bool is_neighbour =
			leaf_first.count && leaf_first.data[leaf_first.count - 1] == name;
		if (level == LEVEL_FUNCTION || !is_neighbour)
			vec_push(&leaf_first, name);
	}
	struct slow_stack out = {.depth = (uint32_t)leaf_first.count, .weight = weight};
	out.names = ARENA_ARRAY(s->arena, uint32_t, out.depth);
	for (uint32_t i = 0; i < out.depth; i++)
		out.names[i] = leaf_first.data[out.depth - 1 - i];
	vec_push(&s->stacks, out);
	vec_deinit(&leaf_first);
}

struct slow_stacks *slow_stacks_create(const struct profile *p, enum level level, metric_id metric)
{
	struct slow_stacks *s = xalloc(sizeof(*s));

	s->arena = arena_create();
	for (uint32_t i = 0; i < p->stack_count; i++) {
		int64_t weight = profile_weight(p, metric.i, i);
		if (weight != 0)
			write_out(s, p, level, (stack_id){i}, weight);
	}
	return s;
}

void slow_stacks_destroy(struct slow_stacks *s)
{
	vec_deinit(&s->names);
	vec_deinit(&s->stacks);
	arena_destroy(s->arena);
	free(s);
}

void slow_stacks_spread(struct slow_stacks *s)
{
	for (size_t i = 0; i < s->stacks.count; i++) {
		struct slow_stack *stack = &s->stacks.data[i];
		uint32_t *names = ARENA_ARRAY(s->arena, uint32_t, stack->depth);
		for (uint32_t d = 0; d < stack->depth; d++) {
			struct entity e = s->names.data[stack->names[d]];
			for (uint32_t above = 0; above < d; above++)
				e.occurrence += stack->names[above] == stack->names[d];
			names[d] = name_index(s, &e);
		}
		stack->names = names;
	}
}

int64_t slow_total(const struct slow_stacks *s)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->stacks.count; i++)
		total += s->stacks.data[i].weight;
	return total;
}

int64_t slow_exclusive(const struct slow_stacks *s, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		if (stack->depth > 0 && stack->names[stack->depth - 1] == name)
			sum += stack->weight;
	}
	return sum;
}

static uint32_t count_of(const struct slow_stack *stack, uint32_t name)
{
	uint32_t count = 0;

	for (uint32_t d = 0; d < stack->depth; d++)
		count += stack->names[d] == name;
	return count;
}

int64_t slow_inclusive(const struct slow_stacks *s, uint32_t name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++)
		if (count_of(&s->stacks.data[i], name) > 0)
			sum += s->stacks.data[i].weight;
	return sum;
}

int64_t slow_recursive(const struct slow_stacks *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->stacks.count; i++) {
		const struct slow_stack *stack = &s->stacks.data[i];
		bool recurs = false;
		for (uint32_t d = 0; d < stack->depth; d++)
			recurs |= count_of(stack, stack->names[d]) > 1;
		sum += recurs ? stack->weight : 0;
	}
	return sum;
}

struct slow_node {
	struct slow_node *parent, *target; /* target: a stub's */
	uint32_t name, level, row;
	VEC(struct slow_node *) children; /* nodes and stubs as first seen */
	int64_t direct, indirect, in_only, stub_weight;
	double jumps;
	uint32_t jumps_max;
	/* In the stack being played. */
	bool was_reached, was_reached_by_jump;
	uint32_t jumps_now;
};

static struct slow_node *child_for(
	struct slow_node *parent, uint32_t name, struct slow_node *target)
{
	for (size_t i = 0; i < parent->children.count; i++) {
		struct slow_node *c = parent->children.data[i];
		if (c->name == name && c->target == target)
			return c;
	}
	struct slow_node *c = xalloc(sizeof(*c));
	c->parent = parent;
	c->name = name;
	c->level = parent->level + 1;
	c->target = target;
	vec_push(&parent->children, c);
	return c;
}

static bool stands_at_or_above(const struct slow_node *n, uint32_t name)
{
	for (; n->parent != NULL; n = n->parent)
		if (n->name == name)
			return true;
	return false;
}

static bool no_name_lost(const struct slow_node *a, const struct slow_node *cur)
{
	for (const struct slow_node *n = cur; n != a; n = n->parent)
		if (!stands_at_or_above(a, n->name))
			return false;
	return true;
}

/* The table of semantics.md section 2. */
static struct slow_node *stub_target(struct slow_node *cur, uint32_t name, enum collapse collapse)
{
	struct slow_node *a = cur;

	while (a->parent != NULL && a->name != name)
		a = a->parent;
	if (a->parent == NULL)
		return NULL;
	if (collapse == COLLAPSE_FULL)
		return a;
	if (collapse == COLLAPSE_CONSERVATIVE)
		return no_name_lost(a, cur) ? a : NULL;
	return collapse == COLLAPSE_DIRECT && a == cur ? a : NULL;
}

static void arrive(struct slow_node *n, bool jumped)
{
	if (!n->was_reached)
		n->was_reached_by_jump = jumped;
	n->was_reached = true;
}

static void count_stack(struct slow_node *n, int64_t weight)
{
	if (n->was_reached && n->was_reached_by_jump)
		n->indirect += weight;
	else if (n->was_reached)
		n->direct += weight;
	if (n->jumps_now > 0)
		n->stub_weight += weight;
	n->jumps += (double)n->jumps_now * (double)weight;
	if (n->jumps_now > n->jumps_max)
		n->jumps_max = n->jumps_now;
	n->was_reached = n->was_reached_by_jump = false;
	n->jumps_now = 0;
	for (size_t i = 0; i < n->children.count; i++)
		count_stack(n->children.data[i], weight);
}

static void play(struct slow_node *root, const struct slow_stack *stack, enum collapse collapse)
{
	struct slow_node *cur = root;
	bool jumped = false;

	for (uint32_t d = 0; d < stack->depth; d++) {
		struct slow_node *a = stub_target(cur, stack->names[d], collapse);
		struct slow_node *child = child_for(cur, stack->names[d], a);
		if (a != NULL) {
			child->jumps_now++;
			cur = a;
			jumped = true;
		} else {
			cur = child;
		}
		arrive(cur, jumped);
	}
	count_stack(root, stack->weight);
	cur->in_only += stack->weight;
}

static bool goes_before(
	const struct slow_stacks *s, const struct slow_node *x, const struct slow_node *y)
{
	int64_t x_weight = x->direct + x->indirect, y_weight = y->direct + y->indirect;

	if ((x->target == NULL) != (y->target == NULL))
		return x->target == NULL;
	if (x_weight != y_weight)
		return x_weight > y_weight;
	return entity_compare(&s->names.data[x->name], &s->names.data[y->name]) < 0;
}

/* Insertion sort. */
static void sort_children(const struct slow_stacks *s, struct slow_node *n)
{
	for (size_t i = 1; i < n->children.count; i++)
		for (size_t k = i; k > 0; k--) {
			struct slow_node **at = &n->children.data[k];
			if (!goes_before(s, at[0], at[-1]))
				break;
			struct slow_node *swap = at[0];
			at[0] = at[-1];
			at[-1] = swap;
		}
}

static bool has_figures(const struct slow_node *n)
{
	if (n->direct != 0 || n->indirect != 0 || n->in_only != 0 || n->stub_weight != 0)
		return true;
	for (size_t i = 0; i < n->children.count; i++)
		if (has_figures(n->children.data[i]))
			return true;
	return false;
}

static void emit_stub(struct slow_node *n, struct slow_calltree *out)
{
	struct calltree_row *row = &out->rows.data[n->row];

	row->is_stub = true;
	row->target = n->target->row;
	row->stub = (uint32_t)out->stubs.count;
	vec_push(&out->stubs,
		(struct calltree_stub){
			.weight = n->stub_weight,
			.jumps_max = n->jumps_max,
			.jumps_mean = n->stub_weight ? n->jumps / (double)n->stub_weight : 0,
		});
}

static void emit(const struct slow_stacks *s, struct slow_node *n, enum calltree_order order,
	struct slow_calltree *out)
{
	if (order == CALLTREE_BY_WEIGHT)
		sort_children(s, n);
	for (size_t i = 0; i < n->children.count; i++) {
		struct slow_node *c = n->children.data[i];
		if (!has_figures(c))
			continue;
		c->row = (uint32_t)out->rows.count;
		vec_push(&out->rows, (struct calltree_row){
					     .level = c->level,
					     .parent = n->parent ? n->row : NO_ID,
					     .entity = c->name,
					     .target = NO_ID,
					     .stub = NO_ID,
					     .direct = c->direct,
					     .indirect = c->indirect,
					     .in_only = c->in_only,
				     });
		if (c->target)
			emit_stub(c, out);
		emit(s, c, order, out);
	}
}

static void node_destroy(struct slow_node *n)
{
	for (size_t i = 0; i < n->children.count; i++) {
		node_destroy(n->children.data[i]);
		free(n->children.data[i]);
	}
	vec_deinit(&n->children);
}

struct slow_calltree *slow_calltree_create(
	const struct slow_stacks *s, enum collapse collapse, enum calltree_order order)
{
	struct slow_calltree *out = xalloc(sizeof(*out));
	struct slow_node root = {0};

	for (size_t i = 0; i < s->stacks.count; i++)
		play(&root, &s->stacks.data[i], collapse);
	emit(s, &root, order, out);
	node_destroy(&root);
	return out;
}

void slow_calltree_destroy(struct slow_calltree *t)
{
	vec_deinit(&t->rows);
	vec_deinit(&t->stubs);
	free(t);
}
