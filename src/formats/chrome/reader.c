/*
 * Reads traces of Chrome and of other tools that write its trace events, and CPU profiles of V8.
 * docs/formats/chrome.md defines the mapping.
 *
 * Source: "Trace Event Format" (Chromium project): the JSON array form, which may be truncated, and
 * the object form.  pairs.c and slices.c say how slices nest.
 */
#include "formats/chrome/reader.h"

#include <stdlib.h>

#include "base/hash.h"
#include "formats/common/text_field.h"

/* ---- events ---- */

/*
 * The events of a trace, one by one.
 *
 * Members come in any order, and the meaning of `args` depends on others.  So only its position is
 * stored.  It is parsed later, by a second parser, for the few kinds of events that need it.
 */

/* The members of an event, unprocessed. */
struct members {
	struct str name, phase, category;
	int64_t ts, dur, tdur, pid, tid;
	uint64_t id, frame, scope;
	bool has_ts, has_dur, has_tdur, has_id, has_frame;
	bool is_global; /* the id is of all processes */
	const uint8_t *args;
};

/* The text that a pid or tid stands for, if any. */
static string_id text_id(int64_t id)
{
	return (string_id){id < CHROME_LANE ? (uint32_t)((uint64_t)id - (uint64_t)CHROME_TEXT) : 0};
}

uint32_t chrome_process_at(struct chrome *c, int64_t pid)
{
	bool is_new;
	uint32_t *at =
		map_at(&c->process_ids, (uint64_t)pid, 0, (uint32_t)c->processes.count, &is_new);

	if (is_new) {
		vec_push(&c->processes, (struct chrome_process){.pid = pid, .name = text_id(pid)});
		builder_charge(c->builder, sizeof(struct chrome_process) + MAP_ENTRY_BYTES);
	}
	return *at;
}

uint32_t chrome_thread_at(struct chrome *c, int64_t pid, int64_t tid)
{
	bool is_new;

	if (c->threads.count && c->last_pid == pid && c->last_tid == tid)
		return c->last_thread;
	uint32_t *at = map_at(
		&c->thread_ids, (uint64_t)pid, (uint64_t)tid, (uint32_t)c->threads.count, &is_new);
	c->last_thread = *at;
	c->last_pid = pid;
	c->last_tid = tid;
	if (is_new) {
		vec_push(&c->threads, (struct chrome_thread){.tid = tid,
					      .process = chrome_process_at(c, pid),
					      .name = text_id(tid)});
		builder_charge(c->builder, sizeof(struct chrome_thread) + MAP_ENTRY_BYTES);
	}
	return c->last_thread;
}

bool chrome_frame_id(struct json_reader *r, uint64_t *id)
{
	int64_t number;
	struct str text;

	if (json_peek(r) == JSON_STRING) {
		if (!json_string(r, &text))
			return false;
		*id = 0;
		for (size_t i = 0; i < text.size; i++) {
			unsigned int digit = (unsigned int)(unsigned char)text.data[i] - '0';
			if (digit > 9 || text.size > 18) {
				*id = hash_bytes(text.data, text.size) | UINT64_C(1) << 63;
				break;
			}
			*id = *id * 10 + digit;
		}
		return text.size != 0;
	}
	if (!json_int(r, &number))
		return false;
	*id = (uint64_t)number;
	return true;
}

/*
 * Keeps the text of a string that may be in the reader's buffer, which the next string overwrites.
 */
static struct str keep_text(struct chrome *c, struct str s)
{
	const char *start = (const char *)c->json.start;

	if (s.data >= start && s.data < (const char *)c->json.end)
		return s;
	return builder_string_bytes(c->builder, builder_string(c->builder, s));
}

static void read_text(struct chrome *c, struct str *text)
{
	if (json_string(&c->json, text))
		*text = keep_text(c, *text);
}

/*
 * Reads a pid or tid: a number, or another text, as of devices in traces of PyTorch.
 */
static void read_task_id(struct chrome *c, int64_t *id)
{
	struct json_reader *r = &c->json;
	struct json_mark mark = json_mark(r);
	bool is_text = json_peek(r) == JSON_STRING;
	struct str text;

	if (json_int(r, id)) {
		if (*id < CHROME_NUMBER_MIN)
			*id = CHROME_NUMBER_MIN;
		return;
	}
	*id = 0;
	if (!is_text)
		return;
	json_return(r, &mark);
	if (json_string(r, &text) && text.size)
		*id = CHROME_TEXT + builder_string(c->builder, text).i;
}

/* Reads `id2`: an id of this process, or of all. */
static void read_id2(struct chrome *c, struct members *m)
{
	struct json_reader *r = &c->json;
	struct str key;

	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		bool is_global = str_equal(key, STR("global"));
		if (!is_global && !str_equal(key, STR("local")))
			continue;
		m->has_id = chrome_frame_id(r, &m->id);
		m->is_global = is_global;
	}
}

/* A scope only distinguishes ids. */
static void read_scope(struct chrome *c, struct members *m)
{
	struct str text;

	if (json_string(&c->json, &text))
		m->scope = hash_bytes(text.data, text.size);
}

/*
 * Members are dispatched by the length of their names, 2 to 5 letters: an event has about ten, and
 * there are millions of events.
 */
static void read_member2(struct chrome *c, struct members *m, struct str key)
{
	struct json_reader *r = &c->json;

	if (str_equal(key, STR("ph")))
		read_text(c, &m->phase);
	else if (str_equal(key, STR("ts")))
		m->has_ts = json_decimal(r, 3, &m->ts);
	else if (str_equal(key, STR("id")))
		m->has_id = chrome_frame_id(r, &m->id);
	else if (str_equal(key, STR("sf")))
		m->has_frame = chrome_frame_id(r, &m->frame);
}

static void read_member3(struct chrome *c, struct members *m, struct str key)
{
	struct json_reader *r = &c->json;

	if (str_equal(key, STR("pid")))
		read_task_id(c, &m->pid);
	else if (str_equal(key, STR("tid")))
		read_task_id(c, &m->tid);
	else if (str_equal(key, STR("dur")))
		m->has_dur = json_decimal(r, 3, &m->dur);
	else if (str_equal(key, STR("cat")))
		read_text(c, &m->category);
	else if (str_equal(key, STR("id2")))
		read_id2(c, m);
}

static void read_member4(struct chrome *c, struct members *m, struct str key)
{
	if (str_equal(key, STR("name")))
		read_text(c, &m->name);
	else if (str_equal(key, STR("args")))
		m->args = c->json.at;
	else if (str_equal(key, STR("tdur")))
		m->has_tdur = json_decimal(&c->json, 3, &m->tdur);
}

static bool read_members(struct chrome *c, struct members *m)
{
	struct str key;

	if (!json_object(&c->json))
		return false;
	while (json_key(&c->json, &key)) {
		if (key.size == 3)
			read_member3(c, m, key);
		else if (key.size == 2)
			read_member2(c, m, key);
		else if (key.size == 4)
			read_member4(c, m, key);
		else if (str_equal(key, STR("scope")))
			read_scope(c, m);
	}
	return json_ok(&c->json);
}

/* A parser positioned at the event's arguments. */
static struct json_reader args_reader(const struct chrome *c, const uint8_t *args)
{
	struct json_reader r;

	json_reader_init(&r, args, (size_t)(c->json.end - args), c->json.name);
	return r;
}

static void set_name(struct chrome *c, const struct members *m, bool is_process, string_id name)
{
	if (is_process) {
		uint32_t process = chrome_process_at(c, m->pid);
		c->processes.data[process].name = name;
		return;
	}
	uint32_t thread = chrome_thread_at(c, m->pid, m->tid);
	c->threads.data[thread].name = name;
	/*
	 * sonde's tracks of ticks are not threads, but another tool's thread may have the number.
	 */
	c->threads.data[thread].is_used |= m->tid <= CHROME_TICK_TRACK;
}

/* `process_name` and `thread_name`. */
static void read_name(struct chrome *c, const struct members *m)
{
	bool is_process = str_equal(m->name, STR("process_name"));
	struct str key, text;

	if (m->args == NULL || (!is_process && !str_equal(m->name, STR("thread_name"))))
		return;
	struct json_reader r = args_reader(c, m->args);
	if (json_object(&r))
		while (json_key(&r, &key))
			if (str_equal(key, STR("name")) && json_string(&r, &text))
				set_name(c, m, is_process, builder_string(c->builder, text));
	json_reader_deinit(&r);
}

/* Whether the event has a time, from which it lasts dur, that can be counted with. */
static bool is_time(const struct members *m, int64_t dur)
{
	return m->has_ts && m->ts >= -CHROME_TIME_MAX && m->ts <= CHROME_TIME_MAX &&
	       (dur <= 0 || dur <= CHROME_TIME_MAX - m->ts);
}

/* "STREAM NUMBER", of our own ticks. */
static bool read_tick(struct chrome *c, const struct members *m)
{
	const char *space = m->name.size ? memrchr(m->name.data, ' ', m->name.size) : NULL;
	uint64_t number;

	if (m->tid <= CHROME_TICK_TRACK || !m->has_dur || m->dur < 0 || space == NULL ||
		!str_equal(m->category, STR("tick")))
		return false;
	if (!is_time(m, m->dur))
		return false;
	struct str stream = {m->name.data, (size_t)(space - m->name.data)};
	struct str digits = {space + 1, m->name.size - stream.size - 1};
	if (!text_take_number(&digits, &number) || digits.size > 0)
		return false;
	vec_push(&c->ticks, (struct chrome_tick){.ts = m->ts,
				    .dur = m->dur,
				    .number = number,
				    .stream = builder_string(c->builder, stream),
				    .process = chrome_process_at(c, m->pid)});
	return true;
}

static void add_slice(struct chrome *c, const struct members *m, uint32_t thread, int64_t dur)
{
	struct str name = m->name.size ? m->name : STR("(unnamed)");

	if (!is_time(m, dur)) {
		c->faults[CHROME_BAD_EVENT].count++;
		return;
	}
	c->threads.data[thread].is_used |= !c->threads.data[thread].is_async;
	c->threads.data[thread].event_count++;
	string_id id = {0};
	/* An end need not have a name. */
	if (m->name.size || dur != CHROME_END)
		id = builder_string(c->builder, name);
	vec_push(&c->events,
		(struct chrome_event){.ts = m->ts, .dur = dur, .name = id, .thread = thread});
}

static void read_slice(struct chrome *c, const struct members *m)
{
	int64_t dur = m->has_dur ? m->dur : m->has_tdur ? m->tdur : 0;
	char phase = m->phase.data[0];

	if (phase == 'X' && read_tick(c, m))
		return;
	uint32_t thread = chrome_thread_at(c, m->pid, m->tid);
	if (phase == 'B')
		add_slice(c, m, thread, CHROME_BEGIN);
	else if (phase == 'E')
		add_slice(c, m, thread, CHROME_END);
	else
		add_slice(c, m, thread, dur > 0 ? dur : 0);
}

/*
 * The slices of one asynchronous id, as a thread: ids are of a category, of a scope, and, unless
 * they say otherwise, of a process.
 */
static uint32_t async_at(struct chrome *c, const struct members *m)
{
	uint64_t category = hash_bytes(m->category.data, m->category.size);
	uint64_t key = hash_pair(hash_pair(m->id, m->scope), category);
	bool is_new;
	uint32_t at = *map_at(&c->async_ids, key, m->is_global ? UINT64_MAX : (uint64_t)m->pid,
		(uint32_t)c->threads.count, &is_new);

	if (!is_new)
		return at;
	struct strbuf name = {0};
	strbuf_printf(&name, m->category.size ? "async %.*s" : "async", STR_ARG(m->category));
	vec_push(&c->threads,
		(struct chrome_thread){.name = builder_string(c->builder, strbuf_str(&name)),
			.process = chrome_process_at(c, m->pid),
			.is_async = true});
	builder_charge(c->builder, sizeof(struct chrome_thread) + MAP_ENTRY_BYTES);
	strbuf_deinit(&name);
	return at;
}

/* `b` and `e`, and those of older traces, `S` and `F`. */
static void read_async(struct chrome *c, const struct members *m)
{
	bool is_begin = m->phase.data[0] == 'b' || m->phase.data[0] == 'S';

	if (!m->has_id)
		c->faults[CHROME_BAD_EVENT].count++;
	else
		add_slice(c, m, async_at(c, m), is_begin ? CHROME_BEGIN : CHROME_END);
}

/* Reads V8's profile in events: a whole `CpuProfile`, or `Profile` and then `ProfileChunk`s. */
static bool read_v8(struct chrome *c, const struct members *m)
{
	bool is_chunk = str_equal(m->name, STR("ProfileChunk"));
	struct str key;

	if (!is_chunk && !str_equal(m->name, STR("Profile")) &&
		!str_equal(m->name, STR("CpuProfile")))
		return false;
	uint32_t thread = chrome_thread_at(c, m->pid, m->tid);
	uint64_t id = m->has_id ? m->id : UINT64_MAX;
	/* Ids are unique within a process; profiles without one are distinguished by thread. */
	struct v8_profile *v = chrome_v8_at(
		c, hash_pair((uint64_t)m->pid, m->has_id ? id : (uint64_t)m->tid), thread);

	/* Chunks come from a separate thread, not from the one profiled. */
	if (!is_chunk)
		v->thread = thread;
	c->threads.data[v->thread].is_used = true;
	if (m->args == NULL)
		return true;
	struct json_reader r = args_reader(c, m->args);
	if (json_object(&r))
		while (json_key(&r, &key))
			if (str_equal(key, STR("data")) && json_object(&r))
				while (json_key(&r, &key))
					(void)chrome_v8_member(c, v, &r, key);
	json_reader_deinit(&r);
	return true;
}

/* Reads the weight of sonde's own samples: {"METRIC": WEIGHT}. */
static int64_t read_weight(struct chrome *c, const struct members *m)
{
	int64_t weight = 0;
	struct str key;

	if (m->args == NULL)
		return 0;
	struct json_reader r = args_reader(c, m->args);
	if (json_object(&r) && json_key(&r, &key)) {
		if (c->metric.i == 0)
			c->metric = builder_string(c->builder, key);
		(void)json_int(&r, &weight);
	}
	json_reader_deinit(&r);
	return weight;
}

static void add_sample(struct chrome *c, const struct members *m, int64_t weight)
{
	uint32_t thread = chrome_thread_at(c, m->pid, m->tid);

	if (!is_time(m, 0)) {
		c->faults[CHROME_BAD_EVENT].count++;
		return;
	}
	c->threads.data[thread].is_used = true;
	vec_push(&c->samples, (struct chrome_sample){.ts = m->ts,
				      .frame = m->has_frame ? m->frame : UINT64_MAX,
				      .weight = weight,
				      .thread = thread});
}

/* Reads the next event. */
static void chrome_read_event(struct chrome *c)
{
	struct members m = {0};

	if (!read_members(c, &m))
		return;
	switch (m.phase.size == 1 ? m.phase.data[0] : 0) {
	case 'B':
	case 'E':
	case 'X':
		read_slice(c, &m);
		break;
	case 'b':
	case 'e':
	case 'S':
	case 'F':
		if (!read_v8(c, &m))
			read_async(c, &m);
		break;
	case 'M':
		read_name(c, &m);
		break;
	case 'P':
	case 'i':
	case 'I':
		if (read_v8(c, &m))
			break;
		if (m.has_frame || str_equal(m.category, STR("sample")))
			add_sample(c, &m, read_weight(c, &m));
		else
			c->faults[CHROME_OTHER].count++;
		break;
	case 0:
		c->faults[CHROME_BAD_EVENT].count++;
		break;
	default:
		if (!read_v8(c, &m))
			c->faults[CHROME_OTHER].count++;
	}
}

/* Reads the next object in `samples`. */
static void chrome_read_sample(struct chrome *c)
{
	struct members m = {0};

	if (read_members(c, &m))
		add_sample(c, &m, 0);
}

/* ---- The file */

static void read_events(struct chrome *c)
{
	if (json_array(&c->json))
		while (json_element(&c->json))
			chrome_read_event(c);
}

/* Reads the additional data of sonde's own writer. */
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

/* `samples` holds objects in a trace and numbers in a CPU profile. */
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
	if (v8.has_times && v8.deltas.count)
		v8.start = v8.deltas.data[0];
	else if (v8.is_old)
		v8.start = v8.start_of_old;
	c->are_hits = v8.samples.count == 0 && chrome_v8_hits(&v8) && c->events.count == 0 &&
		      c->samples.count == 0 && c->v8.count == 0;
	if (c->are_hits) {
		vec_push(&c->v8, v8);
	} else if (v8.samples.count) {
		v8.thread = chrome_thread_at(c, 0, 0);
		c->threads.data[v8.thread].is_used = true;
		vec_push(&c->v8, v8);
	} else {
		chrome_v8_deinit(&v8);
	}
}

/* ---- Building the profile */

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
	if (c->are_hits) {
		bool has_duration = chrome_v8_duration(&c->v8.data[0]) > 0;

		(void)add_metric(c, has_duration ? STR("time") : STR("samples"),
			has_duration ? STR("ns") : STR("count"));
		return;
	}
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

/* Times count from the first event.  In sonde's own files they already do. */
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

/* Gives a process or thread that has no number one that no other has: they count down from -1. */
static void number_tasks(struct chrome *c)
{
	int64_t pid = 0, tid = 0;
	struct map tids = {0};
	uint32_t at;

	for (size_t i = 0; i < c->threads.count; i++) {
		int64_t number = c->threads.data[i].tid;
		if (number < 0 && number >= CHROME_NUMBER_MIN)
			map_put(&tids, (uint64_t)number, 0, 0);
	}
	for (size_t i = 0; i < c->processes.count; i++) {
		struct chrome_process *p = &c->processes.data[i];
		if (p->pid >= CHROME_NUMBER_MIN)
			continue;
		do
			pid--;
		while (map_get(&c->process_ids, (uint64_t)pid, 0, &at));
		p->pid = pid;
	}
	for (size_t i = 0; i < c->threads.count; i++) {
		struct chrome_thread *t = &c->threads.data[i];
		if (!t->is_used || t->tid >= CHROME_NUMBER_MIN)
			continue;
		do
			tid--;
		while (map_get(&tids, (uint64_t)tid, 0, &at));
		t->tid = tid;
	}
	map_deinit(&tids);
}

static void add_threads(struct chrome *c)
{
	number_tasks(c);
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
		builder_tick(c->builder, &(struct tick){.process = c->processes.data[t->process].id,
						 .stream = t->stream,
						 .number = t->number,
						 .start_ns = chrome_time(c, t->ts),
						 .end_ns = chrome_time(c, t->ts + t->dur),
						 .thread = {NO_ID}});
	}
}

/* A list that ends in a comma is complete; many writers leave one. */
static bool is_trailing_comma(const struct json_reader *r)
{
	return r->bad && r->bad < r->end && (*r->bad == ']' || *r->bad == '}');
}

static void add_notes(struct chrome *c)
{
	static const struct fault_note notes[CHROME_FAULT_COUNT] = {
		[CHROME_BAD_EVENT] = {NOTE_BAD_RECORD,
			"an event has no time or no type, or is asynchronous without an id, and "
			"was "
			"skipped",
			"events have no time or no type, or are asynchronous without an id, and "
			"were skipped",
			FAULT_NOWHERE},
		[CHROME_BAD_END] = {NOTE_BAD_RECORD,
			"the end of a slice matches no open slice, and was skipped",
			"ends of slices match no open slice, and were skipped", FAULT_NOWHERE},
		[CHROME_STILL_OPEN] = {NOTE_INCOMPLETE,
			"a slice is not ended, and ends with the slice around it or with its "
			"thread",
			"slices are not ended, and end with the slices around them or with their "
			"threads",
			FAULT_NOWHERE},
		[CHROME_OVERLAP] = {NOTE_INFO,
			"a slice ends after a slice in which it began, and goes on without it",
			"slices end after a slice in which they began, and go on without it",
			FAULT_NOWHERE},
		[CHROME_CUT] = {NOTE_BAD_RECORD,
			"a slice ends early: too many slices go on after one in which they began",
			"slices end early: too many slices go on after one in which they began",
			FAULT_NOWHERE},
		[CHROME_BAD_LINK] = {NOTE_BAD_RECORD,
			"a reference is to a missing frame, or to a frame that is its own caller",
			"references are to missing frames, or to frames that are their own callers",
			FAULT_NOWHERE},
		[CHROME_TOO_LARGE] = {NOTE_BAD_RECORD,
			"a time or a count does not fit in 64 bits, and counts as 0",
			"times or counts do not fit in 64 bits, and count as 0", FAULT_NOWHERE},
		[CHROME_OTHER] = {NOTE_INFO,
			"an event without a stack (instant, counter, flow) is left out",
			"events that are not stacks (instants, counters, flows) are left out",
			FAULT_NOWHERE},
	};

	if (!is_trailing_comma(&c->json))
		json_damage_note(&c->json, c->builder);
	fault_notes(c->builder, c->faults, notes, CHROME_FAULT_COUNT);
}

struct error *chrome_build(struct chrome *c)
{
	if (c->events.count == 0 && c->samples.count == 0 && c->ticks.count == 0 &&
		!has_v8_samples(c) && !c->are_hits) {
		struct error *err = json_error(&c->json);
		return err ? err
			   : error_new(ERROR_INPUT,
				     "%s: the trace contains no slices and no samples",
				     c->input->name);
	}
	find_base(c);
	chrome_pair_slices(c);
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
	map_deinit(&c->async_ids);
	free(c->outer);
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

/* ---- Bidding */

/*
 * Bids for an array of objects with "ph", an object with "traceEvents", or a CPU profile's members.
 */
static int chrome_bid(const uint8_t *data, size_t size)
{
	struct str start = {(const char *)data, size < 65536 ? size : 65536};
	size_t i = 0;

	while (i < start.size && (data[i] <= ' ' || data[i] >= 0x80))
		i++;
	if (i == start.size)
		return 0;
	if (data[i] == '[')
		return text_contains(start, "\"ph\"") ? 80 : 0;
	if (data[i] != '{')
		return 0;
	if (text_contains(start, "\"traceEvents\""))
		return 85;
	if (text_contains(start, "\"nodes\"") && text_contains(start, "\"callFrame\""))
		return 85;
	if (text_contains(start, "\"head\"") && text_contains(start, "\"functionName\""))
		return 85;
	return text_contains(start, "\"ph\"") && text_contains(start, "\"ts\"") ? 40 : 0;
}

const struct reader reader_chrome = {
	.name = "chrome",
	.summary = "trace events of Chrome and others (JSON), and .cpuprofile files of V8",
	.bid = chrome_bid,
	.read = chrome_read,
};
