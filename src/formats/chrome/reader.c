/*
 * Traces of Chrome and of all who write its trace events, and CPU profiles of V8.  docs/formats/
 * chrome.md says what becomes of what.
 *
 * Source: "Trace Event Format" (Chromium project): the JSON array form, which may be cut off, and
 * the object form.  The order of events at one time is speedscope's (slices.c).
 */
#include "formats/chrome/reader.h"

/* ---- The file */

static void read_events(struct chrome *c)
{
	if (json_array(&c->json))
		while (json_element(&c->json))
			chrome_read_event(c);
}

/* What our own writer says beside. */
static void read_other(struct chrome *c)
{
	struct str key, text;
	struct builder_header *header = builder_header(c->builder);

	if (!json_object(&c->json))
		return;
	while (json_key(&c->json, &key)) {
		int64_t number;
		if (str_equal(key, STR("start_unix_ns")) && json_int(&c->json, &number)) {
			header->start_unix_ns = number > 0 ? (uint64_t)number : 0;
			c->is_ours = c->has_weights = true;
		} else if (str_equal(key, STR("command")) && json_string(&c->json, &text)) {
			header->command = builder_string(c->builder, text);
		} else if (str_equal(key, STR("host")) && json_string(&c->json, &text)) {
			header->host = builder_string(c->builder, text);
		} else if (str_equal(key, STR("metric")) && json_string(&c->json, &text)) {
			c->metric = builder_string(c->builder, text);
		} else if (str_equal(key, STR("unit")) && json_string(&c->json, &text)) {
			c->unit = builder_string(c->builder, text);
		}
	}
}

/* `samples` are a trace's, objects, or a CPU profile's, numbers. */
static void read_samples(struct chrome *c, struct v8_profile *v8)
{
	struct json_mark mark = json_mark(&c->json);
	bool is_trace = json_array(&c->json) && json_element(&c->json) &&
			json_peek(&c->json) == JSON_OBJECT;

	json_return(&c->json, &mark);
	if (!is_trace)
		(void)chrome_v8_member(c, v8, &c->json, STR("samples"));
	else if (json_array(&c->json))
		while (json_element(&c->json))
			chrome_read_sample(c);
}

static void read_object(struct chrome *c)
{
	struct v8_profile v8 = {.key = UINT64_MAX};
	struct str key;

	if (!json_object(&c->json))
		return;
	while (json_key(&c->json, &key)) {
		if (str_equal(key, STR("traceEvents")))
			read_events(c);
		else if (str_equal(key, STR("stackFrames")))
			chrome_read_frames(c);
		else if (str_equal(key, STR("otherData")))
			read_other(c);
		else if (str_equal(key, STR("samples")))
			read_samples(c, &v8);
		else
			(void)chrome_v8_member(c, &v8, &c->json, key);
	}
	if (v8.samples.count) {
		v8.thread = chrome_thread_at(c, 0, 0);
		c->threads.data[v8.thread].is_used = true;
		vec_push(&c->v8, v8);
	} else {
		chrome_v8_deinit(&v8);
	}
}

/* ---- What was read, as a profile */

static bool has_v8_samples(const struct chrome *c)
{
	for (size_t i = 0; i < c->v8.count; i++)
		if (c->v8.data[i].samples.count)
			return true;
	return false;
}

static size_t add_metric(struct chrome *c, struct str name, struct str unit)
{
	return builder_metric(c->builder, name, unit).i;
}

static void add_metrics(struct chrome *c)
{
	struct str own = builder_string_bytes(c->builder, c->metric);
	struct str unit = builder_string_bytes(c->builder, c->unit);
	bool has_time = c->samples.count || has_v8_samples(c);

	c->samples_metric = c->time_metric = c->zone_metric = SIZE_MAX;
	if (has_time && c->has_weights && own.size)
		c->time_metric = add_metric(c, own, unit);
	else if (has_time)
		c->time_metric = add_metric(c, STR("time"), STR("ns"));
	if (c->events.count == 0 && has_time)
		return;
	if (!has_time || !metric_counts_samples(own, unit))
		c->samples_metric = add_metric(c, STR("samples"), STR("count"));
	c->zone_metric = add_metric(c, STR(ZONE_TIME), STR("ns"));
	(void)add_metric(c, STR(ZONE_ENTRIES), STR("count"));
	if (!has_time)
		builder_header(c->builder)->default_metric = (metric_id){(uint32_t)c->zone_metric};
}

/* Times count from the first thing that happened; in our own files they do so already. */
static void find_base(struct chrome *c)
{
	int64_t base = INT64_MAX;

	for (size_t i = 0; i < c->events.count; i++)
		base = c->events.data[i].ts < base ? c->events.data[i].ts : base;
	for (size_t i = 0; i < c->samples.count; i++)
		base = c->samples.data[i].ts < base ? c->samples.data[i].ts : base;
	for (size_t i = 0; i < c->ticks.count; i++)
		base = c->ticks.data[i].ts < base ? c->ticks.data[i].ts : base;
	for (size_t i = 0; i < c->v8.count; i++)
		if (c->v8.data[i].samples.count)
			base = c->v8.data[i].start < base ? c->v8.data[i].start : base;
	c->base = c->is_ours || base == INT64_MAX ? 0 : base;
}

static void add_threads(struct chrome *c)
{
	for (size_t i = 0; i < c->processes.count; i++) {
		struct chrome_process *p = &c->processes.data[i];
		p->id = builder_process(
			c->builder, p->pid, 0, builder_string_bytes(c->builder, p->name));
	}
	for (size_t i = 0; i < c->threads.count; i++) {
		struct chrome_thread *t = &c->threads.data[i];
		if (t->is_used)
			t->id = builder_thread(c->builder, t->tid, c->processes.data[t->process].id,
				0, builder_string_bytes(c->builder, t->name));
	}
}

static void add_ticks(struct chrome *c)
{
	for (size_t i = 0; i < c->ticks.count; i++) {
		const struct chrome_tick *t = &c->ticks.data[i];
		builder_tick(c->builder, c->processes.data[t->process].id, t->stream, t->number,
			chrome_time(c, t->ts), chrome_time(c, t->ts + t->dur));
	}
}

/* A list that ends in a comma is whole; many writers put one. */
static bool is_trailing_comma(const struct json_reader *r)
{
	return r->bad && r->bad < r->end && (*r->bad == ']' || *r->bad == '}');
}

static void add_notes(struct chrome *c)
{
	static const struct fault_note notes[CHROME_FAULT_COUNT] = {
		[CHROME_BAD_EVENT] = {NOTE_BAD_RECORD,
			"event has no time or no kind, and was passed over",
			"events have no time or no kind, and were passed over", FAULT_NOWHERE},
		[CHROME_BAD_END] = {NOTE_BAD_RECORD,
			"end of a slice fits none that was open, and was passed over",
			"ends of slices fit none that was open, and were passed over",
			FAULT_NOWHERE},
		[CHROME_STILL_OPEN] = {NOTE_INCOMPLETE,
			"a slice is not ended, and ends with its thread",
			"slices are not ended, and end with their threads", FAULT_NOWHERE},
		[CHROME_BAD_LINK] = {NOTE_BAD_RECORD,
			"reference is to a frame that is not there, or its own caller",
			"references are to frames that are not there, or their own callers",
			FAULT_NOWHERE},
		[CHROME_OTHER] = {NOTE_INFO,
			"an event that is no stack (instant, counter, flow, asynchronous) is left "
			"out",
			"events that are no stacks (instants, counters, flows, asynchronous ones) "
			"are left out",
			FAULT_NOWHERE},
	};

	if (!is_trailing_comma(&c->json))
		json_damage_note(&c->json, c->builder);
	fault_notes(c->builder, c->faults, notes, CHROME_FAULT_COUNT);
}

struct error *chrome_build(struct chrome *c)
{
	if (c->events.count == 0 && c->samples.count == 0 && c->ticks.count == 0 &&
		!has_v8_samples(c)) {
		struct error *err = json_error(&c->json);
		return err ? err
			   : error_new(ERROR_INPUT,
				     "%s: there are no slices and no samples in this trace",
				     c->input->name);
	}
	find_base(c);
	add_metrics(c);
	add_threads(c);
	add_ticks(c);
	chrome_add_slices(c);
	chrome_add_samples(c);
	chrome_add_v8(c);
	add_notes(c);
	return NULL;
}

void chrome_deinit(struct chrome *c)
{
	for (size_t i = 0; i < c->v8.count; i++)
		chrome_v8_deinit(&c->v8.data[i]);
	json_reader_deinit(&c->json);
	vec_deinit(&c->events);
	vec_deinit(&c->threads);
	vec_deinit(&c->processes);
	vec_deinit(&c->ticks);
	vec_deinit(&c->samples);
	vec_deinit(&c->frames);
	vec_deinit(&c->changes);
	vec_deinit(&c->v8);
	map_deinit(&c->thread_ids);
	map_deinit(&c->process_ids);
	map_deinit(&c->frame_ids);
	map_deinit(&c->v8_ids);
}

static struct error *chrome_read(const struct reader_input *input, struct builder *builder)
{
	struct chrome c = {.input = input, .builder = builder};

	json_reader_init(&c.json, input->data, input->size, input->name);
	if (json_peek(&c.json) == JSON_ARRAY)
		read_events(&c);
	else
		read_object(&c);
	struct error *err = chrome_build(&c);
	chrome_deinit(&c);
	return err;
}

/* ---- Whether it is one */

static bool has_text(struct str s, const char *text)
{
	return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/* An array of objects with "ph", an object with "traceEvents", or a CPU profile's members. */
static int chrome_bid(const uint8_t *data, size_t size)
{
	struct str start = {(const char *)data, size < 65536 ? size : 65536};
	size_t i = 0;

	while (i < start.size && (data[i] <= ' ' || data[i] >= 0x80))
		i++;
	if (i == start.size)
		return 0;
	if (data[i] == '[')
		return has_text(start, "\"ph\"") ? 80 : 0;
	if (data[i] != '{')
		return 0;
	if (has_text(start, "\"traceEvents\""))
		return 85;
	if (has_text(start, "\"nodes\"") && has_text(start, "\"callFrame\""))
		return 85;
	return has_text(start, "\"ph\"") && has_text(start, "\"ts\"") ? 40 : 0;
}

const struct reader reader_chrome = {
	.name = "chrome",
	.summary = "trace events of Chrome and others (JSON), and .cpuprofile files of V8",
	.bid = chrome_bid,
	.read = chrome_read,
};
