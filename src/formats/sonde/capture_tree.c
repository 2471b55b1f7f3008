/*
 * Adds the stack tree of a capture file to a builder.  See capture_tree.h.
 *
 * While the stacks of some chunks are added to the tree, the next ones are decompressed and
 * decoded, each by one thread, as a chunk can be decoded on its own.  Only small chunks, which are
 * what sonde writes, are decoded ahead: a hostile file's must not be in memory at the same time.
 */
#include "formats/sonde/capture_tree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/jobs.h"

/* Chunks decoded while as many others are added: one for each thread, at most these. */
#define AHEAD 8
/* Size of a small chunk, decompressed. */
#define SMALL_MAX ((size_t)1 << 20)

/* Whether all ids from first on are new. */
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

/* The index for an id, or SIZE_MAX. */
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
	vec_push(&t->nodes, (frame_id){NO_ID});
	run_list_begin(&t->parents, 0, 0);
}

void capture_tree_deinit(struct capture_tree *t)
{
	vec_deinit(&t->frames);
	vec_deinit(&t->nodes);
	run_list_deinit(&t->parents);
	vec_deinit(&t->frame_runs.runs);
	vec_deinit(&t->node_runs.runs);
	free(t->stacks);
	free(t->flags);
}

/* Adds a node at the next place.  follows: the previous place has the previous id. */
static inline void add_node(
	struct capture_tree *t, uint32_t id, uint32_t parent, uint32_t frame, bool follows)
{
	if (!follows || parent + 1 != id)
		run_list_begin(&t->parents, (uint32_t)t->nodes.count, parent);
	vec_push(&t->nodes, (frame_id){frame});
}

/* Adds what a chunk has; false, and nothing is added, if other chunks had its numbers. */
static bool tree_add(struct capture_tree *t, const struct capture_stacks *s)
{
	if (!id_runs_accept(&t->frame_runs, s->first_frame, s->frames.count) ||
		!id_runs_accept(&t->node_runs, s->first_node, s->nodes.count))
		return false;
	id_runs_add(&t->frame_runs, s->first_frame, s->frames.count, t->frames.count);
	size_t runs_before = t->node_runs.runs.count;
	id_runs_add(&t->node_runs, s->first_node, s->nodes.count, t->nodes.count);
	bool follows = runs_before ? t->node_runs.runs.count == runs_before : s->first_node == 1;
	for (size_t i = 0; i < s->frames.count; i++)
		vec_push(&t->frames, s->frames.data[i]);
	vec_reserve(&t->nodes, t->nodes.count + s->nodes.count);
	for (size_t i = 0, count = s->nodes.count; i < count; i++) {
		const struct capture_node *node = &s->nodes.data[i];

		add_node(t, s->first_node + (uint32_t)i, node->parent, node->frame, i || follows);
	}
	return true;
}

/* ---- Reading chunks */

/* A chunk and its stacks. */
struct decoded {
	const struct capture_chunk *chunk;
	struct capture_unpacker *unpacker; /* NULL: not used so far */
	struct capture_stacks stacks;
	bool is_bad;
};

struct reading {
	struct capture_tree *tree;
	const struct capture_chunk *next, *end;
	uint64_t bad, first_bad;
};

static bool is_small(const struct capture_chunk *chunk)
{
	return chunk->raw_size <= SMALL_MAX;
}

static bool next_chunk(void *reading, void *decoded)
{
	struct reading *r = reading;

	while (r->next < r->end && r->next->type != CAPTURE_CHUNK_STACKS)
		r->next++;
	if (r->next == r->end)
		return false;
	((struct decoded *)decoded)->chunk = r->next++;
	return true;
}

static void decode(struct decoded *d)
{
	struct cursor payload;
	struct error *err;

	if (d->unpacker == NULL)
		d->unpacker = capture_unpacker_create();
	err = capture_unpack(d->unpacker, d->chunk, "", &payload);
	if (err == NULL)
		err = capture_stacks_decode(&payload, &d->stacks);
	d->is_bad = err != NULL;
	error_destroy(err);
}

static void decode_small(void *reading, void *decoded)
{
	struct decoded *d = decoded;

	(void)reading;
	if (is_small(d->chunk))
		decode(d);
}

static void decoded_deinit(void *decoded)
{
	struct decoded *d = decoded;

	capture_unpacker_destroy(d->unpacker);
	capture_stacks_deinit(&d->stacks);
}

static void add(void *reading, void *decoded)
{
	struct reading *r = reading;
	struct decoded *d = decoded;

	if (!is_small(d->chunk))
		decode(d);
	if (d->is_bad || !tree_add(r->tree, &d->stacks))
		if (r->bad++ == 0)
			r->first_bad = d->chunk->offset;
	if (!is_small(d->chunk)) {
		decoded_deinit(d);
		*d = (struct decoded){0};
	}
}

static const struct jobs_ahead chunks_ahead = {
	.item_bytes = sizeof(struct decoded),
	.next = next_chunk,
	.prepare = decode_small,
	.use = add,
	.deinit = decoded_deinit,
};

uint64_t capture_tree_read(struct capture_tree *t, const struct capture_chunk *chunks, size_t count,
	size_t threads, uint64_t *first_bad)
{
	struct reading r = {.tree = t, .next = chunks, .end = chunks + count};
	size_t window = threads < AHEAD ? threads : AHEAD;

	jobs_run_ahead(threads, window ? window : 1, &chunks_ahead, &r);
	*first_bad = r.first_bad;
	return r.bad;
}

/* ---- Names and stacks */

void capture_tree_fill(struct capture_tree *t, const struct capture_frame *frames,
	size_t frame_count, const struct child_table *nodes)
{
	size_t node_count = nodes->nodes.count - 1;

	id_runs_add(&t->frame_runs, 0, frame_count, 0);
	id_runs_add(&t->node_runs, 1, node_count, 1);
	vec_reserve(&t->frames, frame_count);
	vec_reserve(&t->nodes, node_count + 1);
	for (size_t i = 0; i < frame_count; i++)
		vec_push(&t->frames, frames[i]);
	for (uint32_t i = 1; i <= node_count; i++)
		add_node(t, i, nodes->nodes.data[i].parent, nodes->nodes.data[i].key, true);
}

/* Finds the chains whose outermost frame also begins another chain. */
static void find_shared(const struct capture_tree *t, struct capture_chain *chains)
{
	const struct capture_id_runs *r = &t->frame_runs;
	bool is_whole = r->runs.count == 1 && r->runs.data[0].first == 0;
	struct map owners = {0}; /* outermost frame → index of the first chain */

	for (uint32_t i = 0; i < t->frames.count; i++) {
		struct capture_chain *c = &chains[i];
		bool added = true;

		c->is_shared = !is_whole || c->count == 0 || c->is_truncated || c->is_guessed;
		if (c->is_shared)
			continue;
		uint32_t frame = t->names->frame_ids.data[c->first].i;
		uint32_t owner = *map_at(&owners, frame, 0, i, &added);
		if (!added)
			chains[owner].is_shared = c->is_shared = true;
	}
	map_deinit(&owners);
}

static uint8_t chain_flags(const struct capture_chain *chain)
{
	uint8_t flags = 0;

	if (!chain->is_known)
		flags |= CAPTURE_STACK_FOREIGN;
	if (chain->is_truncated)
		flags |= CAPTURE_STACK_TRUNCATED;
	if (chain->is_guessed)
		flags |= CAPTURE_STACK_GUESSED;
	if (chain->is_shared)
		flags |= CAPTURE_STACK_SHARED;
	return flags;
}

/* A node's flags, from those of its parent and of its chain. */
static uint8_t join_flags(uint8_t parent, uint8_t chain)
{
	return (uint8_t)(parent & ~CAPTURE_STACK_FOREIGN) | chain;
}

/* Whether nodes can become stacks directly. */
static bool is_plain(const struct capture_tree *t, const struct capture_chain *chains)
{
	const struct capture_id_runs *r = &t->node_runs;

	if (t->tail_places || r->runs.count != 1 || r->runs.data[0].first != 1 ||
		t->nodes.count > t->stacks_left || !builder_can_adopt(t->builder, t->nodes.count))
		return false;
	for (size_t i = 0; i < t->frames.count; i++)
		if (chains[i].is_shared || chains[i].count != 1)
			return false;
	for (size_t place = 1; place < t->nodes.count; place++)
		if (t->nodes.data[place].i >= t->frames.count)
			return false;
	return true;
}

/* The nodes' parents, place by place. */
struct parents {
	const struct run_list *runs;
	size_t run; /* the next one */
};

/* The id of the parent of the node with this id; places must be asked for in order. */
static uint32_t next_parent(struct parents *p, uint32_t id, size_t place)
{
	if (p->run < p->runs->first.count && p->runs->first.data[p->run] == place)
		return p->runs->parent.data[p->run++];
	return id - 1;
}

/* Sets the flags of nodes that become stacks directly; their ids are their places. */
static void flag_plain(struct capture_tree *t, const struct capture_chain *chains)
{
	struct parents parents = {&t->parents, 1};

	t->flags = xcalloc(t->count, sizeof(*t->flags));
	for (uint32_t place = 1; place < t->count; place++)
		t->flags[place] = join_flags(t->flags[next_parent(&parents, place, place)],
			chain_flags(&chains[t->nodes.data[place].i]));
}

static void build_plain(struct capture_tree *t, const struct capture_chain *chains)
{
	const frame_id *frame_ids = t->names->frame_ids.data;
	uint8_t any = 0;

	for (size_t i = 0; i < t->frames.count; i++)
		any |= chain_flags(&chains[i]);
	if (any)
		flag_plain(t, chains);
	for (size_t place = 1; place < t->count; place++)
		t->nodes.data[place] = frame_ids[chains[t->nodes.data[place].i].first];
	builder_adopt_stacks(t->builder, t->nodes.data, t->count, &t->parents);
	t->nodes.data = NULL;
	t->nodes.count = t->nodes.capacity = 0;
}

/* ---- callers that left no frame ---- */

struct tail_places {
	uint32_t *numbers;	      /* [frame] in the tails */
	struct capture_chain *chains; /* [jump] */
};

/* Numbers the frames that tails mention, and names the jumps. */
static void place_tails(struct capture_tree *t, bool ask_local)
{
	const struct capture_tails *tails = t->tails;

	if (tails == NULL || tails->jumps.count == 0)
		return;
	struct tail_places *places = t->tail_places = xalloc(sizeof(*t->tail_places));
	places->numbers = xcalloc(t->frames.count + 1, sizeof(*places->numbers));
	places->chains = xcalloc(tails->jumps.count, sizeof(*places->chains));
	for (size_t i = 0; i < t->frames.count; i++)
		places->numbers[i] = capture_tails_number(tails, &t->frames.data[i]);
	capture_names_resolve(
		t->names, tails->jumps.data, tails->jumps.count, ask_local, places->chains);
	for (size_t i = 0; i < tails->jumps.count; i++)
		places->chains[i] = capture_names_restored(t->names, &places->chains[i]);
}

static void tail_places_destroy(struct tail_places *places)
{
	if (places == NULL)
		return;
	free(places->numbers);
	free(places->chains);
	free(places);
}

/* The number, in the tails, of the frame of the node with that id. */
static uint32_t tail_number_of(const struct capture_tree *t, uint32_t node)
{
	size_t place = node ? id_runs_find(&t->node_runs, node) : SIZE_MAX;
	size_t frame =
		place == SIZE_MAX ? SIZE_MAX : id_runs_find(&t->frame_runs, t->nodes.data[place].i);

	return frame == SIZE_MAX ? CAPTURE_NO_TAIL : t->tail_places->numbers[frame];
}

/* The frames of the restored caller in a row of the tails. */
static const struct capture_chain *tail_chain(const struct capture_tree *t, uint32_t row)
{
	return &t->tail_places->chains[t->tails->rows.data[row]];
}

/* The stack in which a node's own frames are: its parent's, with the callers missing between. */
static stack_id add_tails(
	struct capture_tree *t, stack_id stack, uint32_t parent, size_t frame, uint8_t *flags)
{
	uint32_t number = frame == SIZE_MAX ? CAPTURE_NO_TAIL : t->tail_places->numbers[frame];
	uint32_t caller = number == CAPTURE_NO_TAIL ? CAPTURE_NO_TAIL : tail_number_of(t, parent);
	uint32_t first, count, frames = 0;

	if (caller == CAPTURE_NO_TAIL)
		return stack;
	count = capture_tails_find(t->tails, caller, number, &first);
	for (uint32_t i = 0; i < count; i++)
		frames += tail_chain(t, first + i)->count;
	if (frames > t->stacks_left) {
		t->left_out += frames;
		return stack;
	}
	t->stacks_left -= frames;
	for (uint32_t i = 0; i < count; i++) {
		const struct capture_chain *chain = tail_chain(t, first + i);

		for (uint32_t k = 0; k < chain->count; k++)
			stack = builder_stack(
				t->builder, stack, t->names->frame_ids.data[chain->first + k]);
	}
	if (frames)
		*flags |= CAPTURE_STACK_RESTORED | CAPTURE_STACK_SHARED;
	return stack;
}

/* A stack that belongs to a single node is added without a look-up. */
static stack_id build_stack(struct capture_tree *t, stack_id parent, frame_id frame, bool is_shared)
{
	stack_id stack;

	if (!is_shared && builder_stack_push(t->builder, parent, frame, &stack))
		return stack;
	return builder_stack(t->builder, parent, frame);
}

static void build_node(
	struct capture_tree *t, const struct capture_chain *chains, size_t place, uint32_t parent)
{
	size_t frame = id_runs_find(&t->frame_runs, t->nodes.data[place].i);
	const struct capture_chain *chain =
		frame == SIZE_MAX ? capture_names_unknown(t->names) : &chains[frame];
	uint8_t flags;
	stack_id stack = capture_tree_stack(t, parent, &flags);

	if (t->tail_places)
		stack = add_tails(t, stack, parent, frame, &flags);
	/* If there is no room for all, omit the inner ones: the outermost is the function. */
	uint32_t count = chain->count <= t->stacks_left ? chain->count : 1;
	t->left_out += chain->count - count;
	t->stacks_left -= count < t->stacks_left ? count : t->stacks_left;
	flags = join_flags(flags, chain_flags(chain));
	if (frame == SIZE_MAX || count < chain->count)
		flags |= CAPTURE_STACK_SHARED;
	for (uint32_t i = 0; i < count; i++)
		stack = build_stack(t, stack, t->names->frame_ids.data[chain->first + i],
			flags & CAPTURE_STACK_SHARED);
	t->stacks[place] = stack;
	t->flags[place] = flags;
}

static void build_nodes(struct capture_tree *t, const struct capture_chain *chains)
{
	struct parents parents = {&t->parents, 1};

	t->stacks = xcalloc(t->count, sizeof(*t->stacks));
	t->flags = xcalloc(t->count, sizeof(*t->flags));
	/* Ascending: a parent has a lower id than its node, so it is built already. */
	for (size_t r = 0; r < t->node_runs.runs.count; r++) {
		const struct capture_id_run *ids = &t->node_runs.runs.data[r];

		for (uint32_t i = 0; i < ids->count; i++)
			build_node(t, chains, ids->place + i,
				next_parent(&parents, ids->first + i, ids->place + i));
	}
	vec_deinit(&t->nodes);
	run_list_deinit(&t->parents);
}

void capture_tree_build(struct capture_tree *t, struct capture_names *names, bool ask_local)
{
	struct capture_chain *chains = xcalloc(t->frames.count + 1, sizeof(*chains));

	capture_names_resolve(names, t->frames.data, t->frames.count, ask_local, chains);
	t->names = names;
	t->count = t->nodes.count;
	find_shared(t, chains);
	place_tails(t, ask_local);
	if (is_plain(t, chains))
		build_plain(t, chains);
	else
		build_nodes(t, chains);
	tail_places_destroy(t->tail_places);
	t->tail_places = NULL;
	free(chains);
}

stack_id capture_tree_stack(struct capture_tree *t, uint32_t node, uint8_t *flags)
{
	*flags = 0;
	if (node == 0)
		return (stack_id){0};
	size_t place = id_runs_find(&t->node_runs, node);
	if (place != SIZE_MAX) {
		*flags = t->flags ? t->flags[place] : 0;
		return t->stacks ? t->stacks[place] : (stack_id){(uint32_t)place};
	}
	*flags = CAPTURE_STACK_TRUNCATED | CAPTURE_STACK_ORPHAN | CAPTURE_STACK_FOREIGN |
		 CAPTURE_STACK_SHARED;
	uint32_t frame = capture_names_truncated(t->names)->first;

	return builder_stack(t->builder, (stack_id){0}, t->names->frame_ids.data[frame]);
}

void capture_tree_stacks(struct capture_tree *t, const uint32_t *nodes, size_t count,
	stack_id *stacks, uint8_t *flags)
{
	static const struct capture_id_run none;
	/* In a complete file, all are in the first run. */
	const struct capture_id_run *run =
		t->node_runs.runs.count ? &t->node_runs.runs.data[0] : &none;

	for (size_t i = 0; i < count; i++) {
		uint32_t at = nodes[i] - run->first;

		if (unlikely(at >= run->count)) {
			stacks[i] = capture_tree_stack(t, nodes[i], &flags[i]);
			continue;
		}
		size_t place = run->place + at;
		flags[i] = t->flags ? t->flags[place] : 0;
		stacks[i] = t->stacks ? t->stacks[place] : (stack_id){(uint32_t)place};
	}
}

bool capture_tree_take(const struct capture_tree *t, struct capture_nodes *nodes)
{
	const struct capture_id_runs *r = &t->node_runs;

	if (t->count > 1 && (r->runs.count != 1 || r->runs.data[0].first != 1))
		return false;
	nodes->stacks = xcalloc(t->count, sizeof(*nodes->stacks));
	nodes->count = t->count;
	for (uint32_t place = 1; place < t->count; place++)
		nodes->stacks[place] = t->stacks ? t->stacks[place] : (stack_id){place};
	return true;
}
