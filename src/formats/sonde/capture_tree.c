/*
 * The stack tree of a capture file on its way into a builder.  See capture_tree.h.
 */
#include "formats/sonde/capture_tree.h"

#include <stdlib.h>

/* Whether none of the ids from first on was given before. */
static bool id_runs_accept(const struct capture_id_runs *r, uint32_t first, size_t count)
{
	if (count == 0 || r->runs.count == 0)
		return true;
	const struct capture_id_run *last = &r->runs.data[r->runs.count - 1];
	return first >= last->first + last->count;
}

static void id_runs_add(struct capture_id_runs *r, uint32_t first, size_t count, size_t place)
{
	struct capture_id_run *last = r->runs.count ? &r->runs.data[r->runs.count - 1] : NULL;

	if (count == 0)
		return;
	if (last && first == last->first + last->count)
		last->count += (uint32_t)count;
	else
		vec_push(&r->runs, (struct capture_id_run){first, (uint32_t)count, place});
}

/* The id's place, or SIZE_MAX. */
static size_t id_runs_find(const struct capture_id_runs *r, uint32_t id)
{
	size_t low = 0, high = r->runs.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct capture_id_run *run = &r->runs.data[middle];
		if (id < run->first)
			high = middle;
		else if (id - run->first >= run->count)
			low = middle + 1;
		else
			return run->place + (id - run->first);
	}
	return SIZE_MAX;
}

void capture_tree_init(struct capture_tree *t, struct builder *b)
{
	*t = (struct capture_tree){.builder = b};
}

void capture_tree_deinit(struct capture_tree *t)
{
	capture_stacks_deinit(&t->chunk);
	vec_deinit(&t->frames);
	vec_deinit(&t->nodes);
	vec_deinit(&t->frame_runs.runs);
	vec_deinit(&t->node_runs.runs);
	free(t->stacks);
	free(t->flags);
}

struct error *capture_tree_read_stacks(struct capture_tree *t, struct cursor *payload)
{
	struct capture_stacks *s = &t->chunk;
	struct error *err = capture_stacks_decode(payload, s);

	if (err)
		return err;
	if (!id_runs_accept(&t->frame_runs, s->first_frame, s->frames.count) ||
		!id_runs_accept(&t->node_runs, s->first_node, s->nodes.count)) {
		cursor_fail(payload, "stacks have numbers that were given before");
		return cursor_error(payload);
	}
	id_runs_add(&t->frame_runs, s->first_frame, s->frames.count, t->frames.count);
	id_runs_add(&t->node_runs, s->first_node, s->nodes.count, t->nodes.count);
	for (size_t i = 0; i < s->frames.count; i++)
		vec_push(&t->frames, s->frames.data[i]);
	for (size_t i = 0; i < s->nodes.count; i++)
		vec_push(&t->nodes, s->nodes.data[i]);
	return NULL;
}

void capture_tree_fill(struct capture_tree *t, const struct capture_frame *frames,
	size_t frame_count, const struct child_table *nodes)
{
	size_t node_count = nodes->nodes.count - 1;

	id_runs_add(&t->frame_runs, 0, frame_count, 0);
	id_runs_add(&t->node_runs, 1, node_count, 0);
	vec_reserve(&t->frames, frame_count);
	vec_reserve(&t->nodes, node_count);
	for (size_t i = 0; i < frame_count; i++)
		vec_push(&t->frames, frames[i]);
	for (size_t i = 1; i <= node_count; i++)
		vec_push(&t->nodes, (struct capture_node){
					    nodes->nodes.data[i].parent, nodes->nodes.data[i].key});
}

static void build_node(struct capture_tree *t, struct capture_names *names,
	const struct capture_chain *chains, size_t place)
{
	const struct capture_node *node = &t->nodes.data[place];
	size_t frame = id_runs_find(&t->frame_runs, node->frame);
	const struct capture_chain *chain =
		frame == SIZE_MAX ? capture_names_unknown(names) : &chains[frame];
	uint8_t flags;
	stack_id stack = capture_tree_stack(t, node->parent, &flags);

	/* Where there is no room for all, the innermost are left out: the outermost is the
	 * function. */
	uint32_t count = chain->count <= t->stacks_left ? chain->count : 1;
	t->left_out += chain->count - count;
	t->stacks_left -= count < t->stacks_left ? count : t->stacks_left;
	for (uint32_t i = 0; i < count; i++)
		stack = builder_stack(t->builder, stack, names->frame_ids.data[chain->first + i]);
	flags &= (uint8_t)~CAPTURE_STACK_FOREIGN;
	if (!chain->is_known)
		flags |= CAPTURE_STACK_FOREIGN;
	if (chain->is_truncated)
		flags |= CAPTURE_STACK_TRUNCATED;
	if (chain->is_guessed)
		flags |= CAPTURE_STACK_GUESSED;
	t->stacks[place] = stack;
	t->flags[place] = flags;
}

void capture_tree_build(struct capture_tree *t, struct capture_names *names, bool ask_local)
{
	struct capture_chain *chains = xcalloc(t->frames.count + 1, sizeof(*chains));

	capture_names_resolve(names, t->frames.data, t->frames.count, ask_local, chains);
	t->names = names;
	t->stacks = xcalloc(t->nodes.count + 1, sizeof(*t->stacks));
	t->flags = xcalloc(t->nodes.count + 1, sizeof(*t->flags));
	/* Ascending, and a parent is less than its node: so it is there already. */
	for (size_t place = 0; place < t->nodes.count; place++)
		build_node(t, names, chains, place);
	free(chains);
}

stack_id capture_tree_stack(struct capture_tree *t, uint32_t node, uint8_t *flags)
{
	*flags = 0;
	if (node == 0)
		return (stack_id){0};
	size_t place = id_runs_find(&t->node_runs, node);
	if (place != SIZE_MAX) {
		*flags = t->flags[place];
		return t->stacks[place];
	}
	*flags = CAPTURE_STACK_TRUNCATED | CAPTURE_STACK_ORPHAN | CAPTURE_STACK_FOREIGN;
	uint32_t frame = capture_names_truncated(t->names)->first;

	return builder_stack(t->builder, (stack_id){0}, t->names->frame_ids.data[frame]);
}

bool capture_tree_take(struct capture_tree *t, struct capture_nodes *nodes)
{
	const struct capture_id_run *run = t->node_runs.runs.data;
	size_t count = t->nodes.count;

	if (count > 0 && (t->node_runs.runs.count != 1 || run->first != 1))
		return false;
	nodes->stacks = xcalloc(count + 1, sizeof(*nodes->stacks));
	nodes->count = count + 1;
	if (count > 0)
		memcpy(nodes->stacks + 1, t->stacks, count * sizeof(*nodes->stacks));
	return true;
}
