/*
 * A profile as JSON, for scripts: all its tables, as in memory (model/profile.h); large ones column
 * by column.  docs/formats/json.md defines the output.
 *
 * Numbers are exact integers, also above 2^53, JavaScript's limit.
 */
#include "formats/writers.h"

#include "base/json_writer.h"

struct json_profile {
	struct json_writer json;
	struct sink *sink;
	const struct profile *profile;
};

/* Ends a line, which is a row or a column, and empties the buffer. */
static void next_line(struct json_profile *w)
{
	(void)sink_settle(w->sink);
	json_put_line(&w->json);
}

static void put_text(struct json_profile *w, const char *key, string_id id)
{
	json_put_key(&w->json, key);
	json_put_string(&w->json, profile_string(w->profile, id));
}

static void put_unsigned(struct json_profile *w, const char *key, uint64_t value)
{
	json_put_key(&w->json, key);
	json_put_unsigned(&w->json, value);
}

/* null if unknown. */
static void put_unsigned_or_null(
	struct json_profile *w, const char *key, uint64_t value, bool known)
{
	json_put_key(&w->json, key);
	if (known)
		json_put_unsigned(&w->json, value);
	else
		json_put_null(&w->json);
}

static void put_id(struct json_profile *w, const char *key, uint32_t id)
{
	put_unsigned_or_null(w, key, id, id != NO_ID);
}

static void begin_table(struct json_profile *w, const char *key)
{
	next_line(w);
	json_put_key(&w->json, key);
	json_put_array(&w->json);
}

static void begin_row(struct json_profile *w)
{
	next_line(w);
	json_put_object(&w->json);
}

/* A list in which a NUL ends each item. */
static void put_items(struct json_profile *w, const char *key, string_id list)
{
	json_put_key(&w->json, key);
	json_put_array(&w->json);
	for (struct str rest = profile_string(w->profile, list); rest.size;)
		json_put_string(&w->json, str_take_item(&rest));
	json_put_end(&w->json);
}

/* Writes facts about the whole profile. */
static void write_header(struct json_profile *w)
{
	const struct profile *p = w->profile;

	put_unsigned(w, "sonde_profile", 1);
	put_text(w, "source", p->source);
	put_text(w, "format", p->format);
	put_text(w, "command", p->command);
	put_text(w, "host", p->host);
	put_unsigned_or_null(w, "start_unix_ns", p->start_unix_ns, p->start_unix_ns != 0);
	json_put_key(&w->json, "has_stacks");
	json_put_bool(&w->json, p->has_stacks);
	put_unsigned(w, "default_metric", p->default_metric.i);
	put_items(w, "when", p->when);
}

static void write_stats(struct json_profile *w)
{
	next_line(w);
	json_put_key(&w->json, "stats");
	json_put_object(&w->json);
	for (size_t i = 0; stat_fields[i].name; i++) {
		const char *stats = (const char *)&w->profile->stats;
		uint64_t value;

		memcpy(&value, stats + stat_fields[i].offset, sizeof(value));
		put_unsigned_or_null(w, stat_fields[i].name, value, value != UINT64_MAX);
	}
	json_put_end(&w->json);
}

static void write_metrics(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "metrics");
	for (size_t i = 0; i < p->metric_count; i++) {
		begin_row(w);
		put_text(w, "name", p->metrics[i].name);
		put_text(w, "unit", p->metrics[i].unit);
		json_put_key(&w->json, "total");
		json_put_int(&w->json, p->total[i]);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void write_notes(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "notes");
	for (size_t i = 0; i < p->note_count; i++) {
		begin_row(w);
		json_put_key(&w->json, "kind");
		json_put_string(&w->json, str_from(note_kind_names[p->notes[i].kind]));
		put_unsigned(w, "count", p->notes[i].count);
		put_text(w, "text", p->notes[i].text);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void write_objects(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "objects");
	for (size_t i = 0; i < p->object_count; i++) {
		begin_row(w);
		put_text(w, "path", p->objects[i].path);
		put_text(w, "build_id", p->objects[i].build_id);
		json_put_key(&w->json, "kind");
		json_put_string(&w->json, str_from(object_kind_names[p->objects[i].kind]));
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void write_functions(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "functions");
	for (size_t i = 0; i < p->function_count; i++) {
		begin_row(w);
		put_text(w, "name", p->functions[i].name);
		put_id(w, "object", p->functions[i].object.i);
		put_text(w, "file", p->functions[i].file);
		put_unsigned(w, "line", p->functions[i].line);
		put_items(w, "aliases", p->functions[i].aliases);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void write_frames(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "frames");
	for (size_t i = 0; i < p->frame_count; i++) {
		begin_row(w);
		put_unsigned(w, "function", p->frames[i].function.i);
		put_text(w, "file", p->frames[i].file);
		put_unsigned(w, "line", p->frames[i].line);
		json_put_key(&w->json, "inline");
		json_put_bool(&w->json, p->frames[i].is_inline);
		put_unsigned(w, "address", p->frames[i].obj_addr);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

/* Columns. */

/* Writes 32-bit ids, all of which are one-member structs (model/ids.h); NO_ID is null. */
static void put_ids(
	struct json_profile *w, const char *key, const void *ids, size_t stride, size_t count)
{
	next_line(w);
	json_put_key(&w->json, key);
	json_put_array(&w->json);
	for (size_t i = 0; i < count; i++) {
		uint32_t id;

		memcpy(&id, (const char *)ids + i * stride, sizeof(id));
		if (id == NO_ID)
			json_put_null(&w->json);
		else
			json_put_unsigned(&w->json, id);
		(void)sink_settle(w->sink);
	}
	json_put_end(&w->json);
}

static void put_parents(struct json_profile *w)
{
	const struct profile *p = w->profile;

	next_line(w);
	json_put_key(&w->json, "parent");
	json_put_array(&w->json);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		json_put_unsigned(&w->json, profile_stack_parent(p, i));
		(void)sink_settle(w->sink);
	}
	json_put_end(&w->json);
}

/* Writes count numbers; is_by_row: of stacks, stored by row. */
static void put_numbers(struct json_profile *w, const char *key, const uint64_t *numbers,
	bool is_by_row, size_t count)
{
	next_line(w);
	json_put_key(&w->json, key);
	json_put_array(&w->json);
	for (uint32_t i = 0; i < count; i++) {
		json_put_unsigned(&w->json, numbers[is_by_row ? profile_row(w->profile, i) : i]);
		(void)sink_settle(w->sink);
	}
	json_put_end(&w->json);
}

/* The same for each metric. */
static void put_weights(struct json_profile *w, const char *key, const int64_t *const *weight,
	bool is_by_row, size_t count)
{
	next_line(w);
	json_put_key(&w->json, key);
	json_put_array(&w->json);
	for (size_t m = 0; m < w->profile->metric_count; m++) {
		next_line(w);
		json_put_array(&w->json);
		for (uint32_t i = 0; i < count; i++) {
			json_put_int(
				&w->json, weight[m][is_by_row ? profile_row(w->profile, i) : i]);
			(void)sink_settle(w->sink);
		}
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void begin_columns(struct json_profile *w, const char *key, size_t count)
{
	next_line(w);
	json_put_key(&w->json, key);
	json_put_object(&w->json);
	put_unsigned(w, "count", count);
}

static void write_stacks(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_columns(w, "stacks", p->stack_count);
	put_parents(w);
	put_ids(w, "frame", p->stack_frame, sizeof(*p->stack_frame), p->stack_count);
	put_weights(w, "weights", p->row_weight, true, p->stack_count);
	if (p->row_samples)
		put_numbers(w, "samples", p->row_samples, true, p->stack_count);
	json_put_end(&w->json);
}

static void write_arcs(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "arcs");
	for (size_t i = 0; i < p->arc_count; i++) {
		begin_row(w);
		put_id(w, "caller", p->arcs[i].caller.i);
		put_id(w, "callee", p->arcs[i].callee.i);
		put_unsigned(w, "calls", p->arcs[i].calls);
		if (p->arc_cost) {
			json_put_key(&w->json, "costs");
			json_put_array(&w->json);
			for (size_t m = 0; m < p->metric_count; m++)
				json_put_int(&w->json, p->arc_cost[m][i]);
			json_put_end(&w->json);
		}
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void write_tasks(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "processes");
	for (size_t i = 0; i < p->process_count; i++) {
		begin_row(w);
		json_put_key(&w->json, "pid");
		json_put_int(&w->json, p->processes[i].pid);
		put_text(w, "name", p->processes[i].name);
		put_unsigned(w, "start_ns", p->processes[i].start_ns);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
	begin_table(w, "threads");
	for (size_t i = 0; i < p->thread_count; i++) {
		begin_row(w);
		json_put_key(&w->json, "tid");
		json_put_int(&w->json, p->threads[i].tid);
		put_id(w, "process", p->threads[i].process.i);
		put_text(w, "name", p->threads[i].name);
		put_unsigned(w, "start_ns", p->threads[i].start_ns);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

static void write_labels(struct json_profile *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "labels");
	for (size_t i = 0; i < p->label_count; i++) {
		begin_row(w);
		put_text(w, "key", p->labels[i].key);
		put_text(w, "text", p->labels[i].text);
		json_put_key(&w->json, "number");
		json_put_int(&w->json, p->labels[i].number);
		put_text(w, "unit", p->labels[i].unit);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
	begin_columns(w, "label_sets", p->label_set_count);
	put_ids(w, "rest", &p->label_sets->rest, sizeof(*p->label_sets), p->label_set_count);
	put_ids(w, "label", &p->label_sets->label, sizeof(*p->label_sets), p->label_set_count);
	json_put_end(&w->json);
}

static void write_samples(struct json_profile *w)
{
	const struct samples *s = &w->profile->samples;

	begin_columns(w, "samples", s->count);
	put_ids(w, "stack", s->stack, sizeof(*s->stack), s->count);
	if (s->thread)
		put_ids(w, "thread", s->thread, sizeof(*s->thread), s->count);
	if (s->time_ns)
		put_numbers(w, "time_ns", s->time_ns, false, s->count);
	if (s->zone)
		put_ids(w, "zone", s->zone, sizeof(*s->zone), s->count);
	if (s->labels)
		put_ids(w, "label_set", s->labels, sizeof(*s->labels), s->count);
	if (s->count)
		put_weights(w, "weights", (const int64_t *const *)s->weight, false, s->count);
	json_put_end(&w->json);
}

static void write_zones(struct json_profile *w)
{
	const struct profile *p = w->profile;
	const struct zone_events *e = &p->zone_events;

	begin_table(w, "ticks");
	for (size_t i = 0; i < p->tick_count; i++) {
		begin_row(w);
		put_id(w, "process", p->ticks[i].process.i);
		put_text(w, "stream", p->ticks[i].stream);
		put_unsigned(w, "number", p->ticks[i].number);
		put_unsigned(w, "start_ns", p->ticks[i].start_ns);
		put_unsigned(w, "end_ns", p->ticks[i].end_ns);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
	begin_columns(w, "zone_events", e->count);
	put_ids(w, "thread", e->thread, sizeof(*e->thread), e->count);
	put_numbers(w, "time_ns", e->time_ns, false, e->count);
	put_ids(w, "stack", e->stack, sizeof(*e->stack), e->count);
	json_put_end(&w->json);
}

static struct error *json_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct json_profile w = {
		.json = json_writer(&sink->text), .sink = sink, .profile = profile};

	(void)options;
	json_put_object(&w.json);
	write_header(&w);
	write_stats(&w);
	write_metrics(&w);
	write_notes(&w);
	write_objects(&w);
	write_functions(&w);
	write_frames(&w);
	write_stacks(&w);
	write_arcs(&w);
	write_tasks(&w);
	write_labels(&w);
	write_samples(&w);
	write_zones(&w);
	json_put_end(&w.json);
	strbuf_add_char(&sink->text, '\n');
	return NULL;
}

const struct writer writer_json = {
	.name = "json",
	.extension = ".json",
	.summary = "all tables of a profile, for scripts; sonde report --format json has the views",
	.holds_all = true,
	.write = json_write,
};
