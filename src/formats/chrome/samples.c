/*
 * Samples of a trace, whose stacks are a tree of frames: `samples` and `stackFrames`, and sonde's
 * own.
 *
 * A sample has no duration: it lasts until the thread's next sample. sonde's own have weights.
 *
 * V8's CPU profiles: a .cpuprofile file, or in the events of a trace, whole or in chunks.  A call
 * tree, the node of each sample, and the time between samples.
 *
 * Source: the DevTools protocol's domain Profiler. Before 2015 it had the call tree as nested
 * nodes below `head`, lines that count from 1, seconds, and `timestamps`. Profiles may lack
 * samples, and have only each node's number of hits. V8's own work is at the tree's root, not
 * where it happened: as in DevTools, "(program)" and "(garbage collector)" go on top of the
 * previous stack.
 */
#include "formats/chrome/reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

/* ---- samples of traces ---- */

void chrome_read_frames(struct chrome *c)
{
	struct json_reader *r = &c->json;
	struct str key, text;
	bool is_new;

	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		struct chrome_frame frame = {.parent = UINT64_MAX};
		uint64_t id = 0;
		struct strbuf quoted = {0};
		struct json_reader name;
		/* The key is usually a number, and is parsed like other references. */
		strbuf_printf(&quoted, "\"%.*s\"", STR_ARG(key));
		json_reader_init(&name, quoted.data, quoted.size, "");
		(void)chrome_frame_id(&name, &id);
		json_reader_deinit(&name);
		strbuf_deinit(&quoted);
		if (!json_object(r))
			continue;
		while (json_key(r, &key)) {
			if (str_equal(key, STR("name")) && json_string(r, &text))
				frame.name = builder_string(c->builder, text);
			else if (str_equal(key, STR("category")) && json_string(r, &text))
				frame.category = builder_string(c->builder, text);
			else if (str_equal(key, STR("parent")) &&
				 !chrome_frame_id(r, &frame.parent))
				frame.parent = UINT64_MAX;
		}
		(void)map_at(&c->frame_ids, id, 0, (uint32_t)c->frames.count, &is_new);
		if (is_new) {
			vec_push(&c->frames, frame);
			builder_charge(c->builder, sizeof(frame) + MAP_ENTRY_BYTES);
		}
	}
}

/* Makes the frame.  Only in sonde's own files are categories load objects. */
static frame_id make_frame(struct chrome *c, const struct chrome_frame *f)
{
	object_id object = {NO_ID};
	string_id name = f->name;
	struct str module = builder_string_bytes(c->builder, f->category);

	if (c->is_ours)
		object = object_of_module(c->builder, module);
	if (builder_string_bytes(c->builder, name).size == 0)
		name = builder_string(c->builder, STR("[unknown]"));
	return frame_of_name(c->builder, name, object, 0);
}

/* The stack of a frame, including its parents.  Missing or circular parents end it. */
static stack_id stack_of(struct chrome *c, uint64_t id)
{
	VEC(uint32_t) path = {0};
	stack_id stack = {0};
	uint32_t at;

	while (id != UINT64_MAX) {
		if (!map_get(&c->frame_ids, id, 0, &at) || c->frames.data[at].state == 1) {
			c->faults[CHROME_BAD_LINK].count++;
			break;
		}
		if (c->frames.data[at].state == 2) {
			stack = c->frames.data[at].stack;
			break;
		}
		c->frames.data[at].state = 1;
		vec_push(&path, at);
		id = c->frames.data[at].parent;
	}
	while (path.count) {
		struct chrome_frame *f = &c->frames.data[path.data[--path.count]];
		stack = builder_stack(c->builder, stack, make_frame(c, f));
		f->stack = stack;
		f->state = 2;
	}
	vec_deinit(&path);
	return stack;
}

/* The zone of a thread at a time: that of the last change up to then. */
static stack_id zone_at(const struct chrome *c, uint32_t thread, int64_t at)
{
	const struct chrome_thread *t = &c->threads.data[thread];

	size_t next =
		partition_point(i, 0, t->change_count, c->changes.data[t->changes + i].ts <= at);

	return next ? c->changes.data[t->changes + next - 1].stack : (stack_id){0};
}

/* Adds a sample, with its weight in the file's own metric or in time. */
static void chrome_add_row(
	struct chrome *c, stack_id stack, uint32_t thread, int64_t at, int64_t weight)
{
	if (c->samples_metric != SIZE_MAX)
		c->weight[c->samples_metric] = 1;
	c->weight[c->time_metric] = weight;
	builder_sample(
		c->builder, stack, c->threads.data[thread].id, chrome_time(c, at), c->weight);
	if (c->zone_metric != SIZE_MAX)
		builder_sample_zone(c->builder, zone_at(c, thread, at));
	c->weight[c->time_metric] = 0;
	if (c->samples_metric != SIZE_MAX)
		c->weight[c->samples_metric] = 0;
}

void chrome_add_samples(struct chrome *c)
{
	size_t count = c->samples.count;
	struct sort_item *order = xcalloc(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct sort_item){
			(uint64_t)c->samples.data[i].ts ^ UINT64_C(1) << 63, (uint32_t)i};
	if (!c->is_ours)
		sort_items(order, count);
	for (size_t i = 0; i < count; i++)
		order[i].key = c->samples.data[order[i].index].thread;
	if (!c->is_ours)
		sort_items(order, count);
	for (size_t i = 0; i < count; i++) {
		const struct chrome_sample *s = &c->samples.data[order[i].index], *next = NULL;
		if (i + 1 < count && order[i + 1].key == order[i].key)
			next = &c->samples.data[order[i + 1].index];
		int64_t weight =
			next ? (int64_t)(chrome_time(c, next->ts) - chrome_time(c, s->ts)) : 0;
		stack_id stack = c->stack_of ? c->stack_of(c, s->frame) : stack_of(c, s->frame);
		chrome_add_row(c, stack, s->thread, s->ts, c->has_weights ? s->weight : weight);
	}
	free(order);
}

/* ---- V8's profiles ---- */

enum { NODE_PLAIN, NODE_IGNORED, NODE_ON_TOP };

/*
 * A file may have this many nodes known only as children, plus one for so many bytes.  Real nodes
 * take about 150 bytes.
 */
#define NODES_ANY    ((size_t)200000)
#define BYTES_A_NODE 32

struct v8_profile *chrome_v8_at(struct chrome *c, uint64_t key, uint32_t thread)
{
	bool is_new;
	uint32_t at = *map_at(&c->v8_ids, key, 0, (uint32_t)c->v8.count, &is_new);

	if (is_new)
		vec_push(&c->v8, (struct v8_profile){.key = key, .thread = thread});
	return &c->v8.data[at];
}

void chrome_v8_deinit(struct v8_profile *v)
{
	vec_deinit(&v->nodes);
	vec_deinit(&v->samples);
	vec_deinit(&v->deltas);
	vec_deinit(&v->open);
	map_deinit(&v->ids);
}

static uint32_t node_at(struct chrome *c, struct v8_profile *v, uint64_t id)
{
	bool is_new;
	uint32_t at = *map_at(&v->ids, id, 0, (uint32_t)v->nodes.count, &is_new);

	if (is_new) {
		vec_push(&v->nodes, (struct v8_node){.parent = UINT64_MAX});
		builder_charge(c->builder, sizeof(struct v8_node) + MAP_ENTRY_BYTES);
	}
	return at;
}

/* Reads functionName, url, and lineNumber, which counts from `first`. */
static void read_function(struct chrome *c, struct json_reader *r, struct str key, int64_t first,
	struct v8_node *node)
{
	struct str text;
	int64_t line;

	if (str_equal(key, STR("functionName")) && json_string(r, &text))
		node->name = builder_string(c->builder, text);
	else if (str_equal(key, STR("url")) && json_string(r, &text))
		node->file = builder_string(c->builder, text);
	else if (str_equal(key, STR("lineNumber")) && json_int(r, &line) && line >= first &&
		 line < UINT32_MAX)
		node->line = (uint32_t)(line - first + 1);
}

static void read_call_frame(struct chrome *c, struct json_reader *r, struct v8_node *node)
{
	struct str key;

	if (!json_object(r))
		return;
	while (json_key(r, &key))
		read_function(c, r, key, 0, node);
}

/* Whether a number is out of range: json_int and json_decimal give the nearest then. */
static bool is_too_large(struct chrome *c, int64_t number)
{
	bool is_cut = number == INT64_MAX || number == INT64_MIN;

	c->faults[CHROME_TOO_LARGE].count += is_cut;
	return is_cut;
}

static void read_hits(struct chrome *c, struct json_reader *r, struct v8_node *node)
{
	int64_t hits;

	if (json_int(r, &hits) && !is_too_large(c, hits) && hits > 0)
		node->hits = hits;
}

static void name_node(struct chrome *c, struct v8_node *node)
{
	struct str name = builder_string_bytes(c->builder, node->name);
	struct str file = builder_string_bytes(c->builder, node->file);

	if (str_equal(name, STR("(root)")) || str_equal(name, STR("(idle)")) ||
		str_equal(file, STR("native dummy.js")))
		node->kind = NODE_IGNORED;
	else if (str_equal(name, STR("(program)")) || str_equal(name, STR("(garbage collector)")))
		node->kind = NODE_ON_TOP;
	if (name.size)
		return;
	struct strbuf text = {0};
	struct str base = str_base_name(file);
	if (file.size)
		strbuf_printf(&text, "(anonymous %.*s:%u)", STR_ARG(base), node->line);
	else
		strbuf_add(&text, STR("(anonymous)"));
	node->name = builder_string(c->builder, strbuf_str(&text));
	strbuf_deinit(&text);
}

/* A child may precede its node; ids without a node must not take much memory. */
static void add_child(struct chrome *c, struct v8_profile *v, uint64_t parent, uint64_t id)
{
	uint32_t at;

	if (!map_get(&v->ids, id, 0, &at)) {
		if (v->nodes.count >= NODES_ANY + c->input->size / BYTES_A_NODE) {
			c->faults[CHROME_BAD_LINK].count++;
			return;
		}
		at = node_at(c, v, id);
	}
	v->nodes.data[at].parent = parent;
}

static void read_node(struct chrome *c, struct v8_profile *v, struct json_reader *r)
{
	struct v8_node node = {.parent = UINT64_MAX};
	const uint8_t *children = NULL;
	int64_t id = 0, child;
	struct str key;

	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		if (str_equal(key, STR("id")))
			(void)json_int(r, &id);
		else if (str_equal(key, STR("parent")) && json_int(r, &child))
			node.parent = (uint64_t)child;
		else if (str_equal(key, STR("callFrame")))
			read_call_frame(c, r, &node);
		else if (str_equal(key, STR("hitCount")))
			read_hits(c, r, &node);
		else if (str_equal(key, STR("children")))
			children = r->at;
	}
	name_node(c, &node);
	uint32_t at = node_at(c, v, (uint64_t)id);
	if (node.parent == UINT64_MAX)
		node.parent = v->nodes.data[at].parent;
	v->nodes.data[at] = node;
	if (children == NULL)
		return;
	struct json_reader list;
	json_reader_init(&list, children, (size_t)(r->end - children), r->name);
	if (json_array(&list))
		while (json_element(&list))
			if (json_int(&list, &child))
				add_child(c, v, (uint64_t)id, (uint64_t)child);
	json_reader_deinit(&list);
}

/* Nodes of a `head` are known by their places, as ids of other nodes may come later. */
#define HEAD_NODE (UINT64_C(1) << 63)

/* Adds a node below the innermost open one. */
static void open_node(struct chrome *c, struct v8_profile *v)
{
	uint64_t parent = v->open.count ? HEAD_NODE | v->open.data[v->open.count - 1] : UINT64_MAX;
	uint32_t at = node_at(c, v, HEAD_NODE | v->nodes.count);

	vec_push(&v->open, at);
	v->nodes.data[at].parent = parent;
}

/* Reads a member of the innermost open node; true: its children come next. */
static bool read_open_node(
	struct chrome *c, struct v8_profile *v, struct json_reader *r, struct str key, uint32_t at)
{
	struct v8_node *node = &v->nodes.data[at];
	int64_t id;
	bool is_new;

	if (str_equal(key, STR("children")))
		return json_array(r);
	if (str_equal(key, STR("id")) && json_int(r, &id)) {
		(void)map_at(&v->ids, (uint64_t)id, 0, at, &is_new);
		builder_charge(c->builder, MAP_ENTRY_BYTES);
	} else if (str_equal(key, STR("hitCount"))) {
		read_hits(c, r, node);
	} else {
		read_function(c, r, key, 1, node);
	}
	return false;
}

/* Reads `head`, a tree of nodes in each other, which may be deep. */
static void read_head(struct chrome *c, struct v8_profile *v, struct json_reader *r)
{
	bool in_children = false;
	struct str key;

	v->is_old = true;
	if (!json_object(r))
		return;
	open_node(c, v);
	while (v->open.count) {
		uint32_t at = v->open.data[v->open.count - 1];

		if (in_children && json_element(r)) {
			if (json_object(r)) {
				open_node(c, v);
				in_children = false;
			}
		} else if (in_children) {
			in_children = false;
		} else if (json_key(r, &key)) {
			in_children = read_open_node(c, v, r, key, at);
		} else {
			name_node(c, &v->nodes.data[at]);
			v->open.count--;
			in_children = v->open.count > 0;
		}
	}
}

/* Reads a time in µs, and the same in seconds. */
static void read_time(struct json_reader *r, int64_t *time, int64_t *time_of_old)
{
	struct json_mark mark = json_mark(r);

	(void)json_decimal(r, 9, time_of_old);
	json_return(r, &mark);
	(void)json_decimal(r, 3, time);
}

int64_t chrome_v8_hits(const struct v8_profile *v)
{
	int64_t hits = 0;

	for (size_t i = 0; i < v->nodes.count; i++)
		if (__builtin_add_overflow(hits, v->nodes.data[i].hits, &hits))
			return 0;
	return hits;
}

int64_t chrome_v8_duration(const struct v8_profile *v)
{
	int64_t start = v->is_old ? v->start_of_old : v->start, duration;
	int64_t end = v->is_old ? v->end_of_old : v->end;

	return __builtin_sub_overflow(end, start, &duration) || duration < 0 ? 0 : duration;
}

static void read_numbers(
	struct chrome *c, struct v8_profile *v, struct json_reader *r, bool is_samples)
{
	size_t before = v->samples.count, deltas_before = v->deltas.count;
	int64_t number;

	if (!json_array(r))
		return;
	while (json_element(r)) {
		/* No node has the id UINT32_MAX. */
		if (is_samples && json_int(r, &number))
			vec_push(&v->samples,
				number < 0 || number > UINT32_MAX ? UINT32_MAX : (uint32_t)number);
		else if (!is_samples && json_decimal(r, 3, &number))
			vec_push(&v->deltas, !is_too_large(c, number) ? number
					     : v->has_times && v->deltas.count
						     ? v->deltas.data[v->deltas.count - 1]
						     : 0);
	}
	builder_charge(c->builder, (v->samples.count - before) * sizeof(*v->samples.data) +
					   (v->deltas.count - deltas_before) * sizeof(number));
}

bool chrome_v8_member(struct chrome *c, struct v8_profile *v, struct json_reader *r, struct str key)
{
	if (str_equal(key, STR("nodes"))) {
		if (json_array(r))
			while (json_element(r))
				read_node(c, v, r);
	} else if (str_equal(key, STR("samples"))) {
		read_numbers(c, v, r, true);
	} else if (str_equal(key, STR("timeDeltas")) && !v->has_times) {
		read_numbers(c, v, r, false);
	} else if (str_equal(key, STR("timestamps")) && v->deltas.count == 0) {
		v->has_times = true;
		read_numbers(c, v, r, false);
	} else if (str_equal(key, STR("head"))) {
		read_head(c, v, r);
	} else if (str_equal(key, STR("startTime"))) {
		read_time(r, &v->start, &v->start_of_old);
	} else if (str_equal(key, STR("endTime"))) {
		read_time(r, &v->end, &v->end_of_old);
	} else if (str_equal(key, STR("cpuProfile"))) {
		if (json_object(r))
			while (json_key(r, &key))
				if (!str_equal(key, STR("cpuProfile")))
					(void)chrome_v8_member(c, v, r, key);
	} else {
		return false;
	}
	return true;
}

/* ---- Stacks */

static stack_id push_node(struct chrome *c, stack_id parent, const struct v8_node *node)
{
	function_id function = builder_function(
		c->builder, node->name, (object_id){NO_ID}, node->file, node->line);

	return builder_stack(c->builder, parent,
		builder_frame(c->builder, function, node->file, node->line, false, 0));
}

/* The stack of a node, from its outermost function on. */
static stack_id v8_stack_of(struct chrome *c, struct v8_profile *v, uint32_t node)
{
	VEC(uint32_t) path = {0};
	stack_id stack = {0};

	for (;;) {
		struct v8_node *n = &v->nodes.data[node];
		if (n->state == 2) {
			stack = n->stack;
			break;
		}
		if (n->state == 1 || n->kind == NODE_IGNORED || n->name.i == 0) {
			c->faults[CHROME_BAD_LINK].count += n->kind != NODE_IGNORED;
			break;
		}
		n->state = 1;
		vec_push(&path, node);
		uint64_t parent = n->parent;
		if (parent == UINT64_MAX || !map_get(&v->ids, parent, 0, &node))
			break;
	}
	while (path.count) {
		struct v8_node *n = &v->nodes.data[path.data[--path.count]];
		stack = push_node(c, stack, n);
		n->stack = stack;
		n->state = 2;
	}
	vec_deinit(&path);
	return stack;
}

/* The current stack, and V8's own work on top of it, each added once. */
struct current {
	stack_id base;
	uint32_t node[2];
	stack_id on_top[2];
	size_t count;
};

static stack_id move_to(struct chrome *c, struct v8_profile *v, struct current *now, uint32_t id)
{
	stack_id below = now->count ? now->on_top[now->count - 1] : now->base;
	uint32_t at;

	/* As in speedscope, an unknown node continues the previous stack. */
	if (!map_get(&v->ids, id, 0, &at)) {
		c->faults[CHROME_BAD_LINK].count++;
		return below;
	}
	const struct v8_node *node = &v->nodes.data[at];
	if (node->kind != NODE_ON_TOP) {
		now->count = 0;
		now->base = node->kind == NODE_IGNORED ? (stack_id){0} : v8_stack_of(c, v, at);
		return now->base;
	}
	for (size_t i = 0; i < now->count; i++)
		if (now->node[i] == at) {
			now->count = i + 1;
			return now->on_top[i];
		}
	if (now->count == 2)
		return below;
	now->node[now->count] = at;
	now->on_top[now->count] = push_node(c, below, node);
	return now->on_top[now->count++];
}

/* The time of a sample, if the one before was at `at`. */
static int64_t sample_time(const struct v8_profile *v, size_t i, int64_t at)
{
	int64_t time;

	if (i >= v->deltas.count)
		return at;
	if (v->has_times)
		return v->deltas.data[i];
	return __builtin_add_overflow(at, v->deltas.data[i], &time) ? at : time;
}

/* A sample lasts until the next one; time that runs backwards counts as 0. */
static void add_profile(struct chrome *c, struct v8_profile *v)
{
	struct current now = {0};
	int64_t at = sample_time(v, 0, v->start), latest = at;

	for (size_t i = 0; i < v->samples.count; i++) {
		int64_t next = i + 1 < v->samples.count ? sample_time(v, i + 1, at) : at;
		stack_id stack = move_to(c, v, &now, v->samples.data[i]);
		int64_t begin = at > latest ? at : latest, end = next > begin ? next : begin;
		if (stack.i)
			chrome_add_row(c, stack, v->thread, begin, end - begin);
		latest = begin;
		at = next;
	}
}

/* Without samples, each hit took the same part of the time. */
static void add_hits(struct chrome *c, struct v8_profile *v)
{
	int64_t hits = chrome_v8_hits(v), duration = chrome_v8_duration(v);

	for (uint32_t i = 0; i < v->nodes.count; i++) {
		struct v8_node *node = &v->nodes.data[i];
		stack_id stack = {0};

		if (node->hits == 0 || node->kind == NODE_IGNORED)
			continue;
		stack = v8_stack_of(c, v, i);
		c->weight[0] =
			duration ? (int64_t)((__int128)node->hits * duration / hits) : node->hits;
		builder_weight(c->builder, stack, c->weight, (uint64_t)node->hits);
	}
	if (duration)
		builder_note(c->builder, NOTE_GUESSED, (uint64_t)hits,
			"samples have no times in the file: each counts as the same part of the "
			"profile's duration");
}

void chrome_add_v8(struct chrome *c)
{
	for (size_t i = 0; i < c->v8.count; i++)
		(c->are_hits ? add_hits : add_profile)(c, &c->v8.data[i]);
}
