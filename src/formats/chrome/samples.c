/*
 * Samples of a trace, whose stacks are a tree of frames: `samples` and `stackFrames`, and our own.
 *
 * A sample says nothing of how long: its thread was there until the thread's next sample.  Our own
 * have weights.
 */
#include "formats/chrome/reader.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"

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
		/* The key is a number, mostly, and read as other references are. */
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

/* The frame itself; categories are load objects in our own files alone. */
static frame_id make_frame(struct chrome *c, const struct chrome_frame *f)
{
	object_id object = {NO_ID};
	string_id name = f->name;
	struct str module = builder_string_bytes(c->builder, f->category);

	if (c->is_ours && module.size)
		object = builder_object(c->builder, module, STR(""),
			str_starts_with(module, STR("[kernel")) ? OBJECT_KERNEL : OBJECT_USER);
	if (builder_string_bytes(c->builder, name).size == 0)
		name = builder_string(c->builder, STR("[unknown]"));
	return frame_of_name(c->builder, name, object, 0);
}

/* The stack of a frame: its parents' and itself.  Parents that are not there, or its own, are cut.
 */
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

/* The zone that the thread was in: that of the last change up to then. */
static stack_id zone_at(const struct chrome *c, uint32_t thread, int64_t at)
{
	const struct chrome_thread *t = &c->threads.data[thread];

	size_t next =
		partition_point(i, 0, t->change_count, c->changes.data[t->changes + i].ts <= at);

	return next ? c->changes.data[t->changes + next - 1].stack : (stack_id){0};
}

void chrome_add_row(struct chrome *c, stack_id stack, uint32_t thread, int64_t at, int64_t weight)
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
