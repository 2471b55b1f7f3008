/*
 * Reads the canonical text dump back into a profile. docs/formats/dump.md describes it;
 * formats/dump/writer.c writes it.
 *
 * A dump is exact, so nothing in it is skipped: the first invalid line is an error. Stacks are
 * collected as rows first, because later lines ("order") give the order in which they were first
 * seen, and stacks must be built in that order.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "formats/common/line_scan.h"

#define NO_WEIGHT SIZE_MAX

struct dump_function {
	function_id id;
	size_t first_frame; /* in frames; they end where the next function's begin */
};

struct dump_row {
	uint32_t parent; /* row */
	frame_id frame;
	size_t weight; /* index of its weights in weights, or NO_WEIGHT */
	uint64_t samples;
};

struct dump {
	struct builder *builder;
	const char *name;
	uint64_t line_number;
	struct line_scan line;
	struct strbuf buffer;
	size_t metric_count;
	VEC(object_id) objects;
	VEC(struct dump_function) functions;
	VEC(frame_id) frames;
	/* (string, nth) → index in objects or functions; (string, 0) → how many have the name. */
	struct map object_places, function_places;
	VEC(process_id) processes;
	VEC(thread_id) threads;
	VEC(struct dump_row) rows; /* 0: the empty stack */
	VEC(int64_t) weights;
	VEC(uint32_t) path;   /* [level]: the rows of the current stack */
	VEC(uint32_t) order;  /* rows as they were first seen; empty: in file order */
	VEC(stack_id) stacks; /* [row], once they are built */
	VEC(int64_t) sample_weight, arc_cost;
	VEC(label_id) labels, sample_labels;
	size_t sample_count;
	bool samples_have_thread, samples_have_time, samples_have_zone;
	bool has_costs, has_ended;
};

/* Scans the string that follows. */
static string_id dump_string(struct dump *d)
{
	return builder_string(d->builder, line_scan_string(&d->line, &d->buffer));
}

/* Memory per object or function besides the builder's row: two map slots, and its own row. */
#define PLACE_BYTES (6 * sizeof(struct map_slot) + 16)

/*
 * Registers the next item with a name.  Without room for it, references to it find the first one.
 */
static void places_add(struct dump *d, struct map *places, string_id name, size_t place)
{
	bool added;
	uint32_t nth = ++*map_at(places, name.i, 0, 0, &added);

	if (nth == 1 || builder_has_room(d->builder, PLACE_BYTES))
		map_put(places, name.i, nth, (uint32_t)place);
	builder_charge(d->builder, PLACE_BYTES);
}

/* Scans "NAME"#N: returns the index of the N-th item with that name. */
static uint32_t scan_reference(struct dump *d, const struct map *places)
{
	string_id name = dump_string(d);
	uint32_t nth = line_scan_nth(&d->line, '#');
	uint32_t place = 0;

	if (d->line.problem == NULL && !map_get(places, name.i, nth, &place) &&
		(builder_has_room(d->builder, PLACE_BYTES) || !map_get(places, name.i, 1, &place)))
		line_scan_fail(&d->line, "a name that no earlier line defines");
	return place;
}

static void read_start(struct dump *d)
{
	builder_header(d->builder)->start_unix_ns = line_scan_number(&d->line, UINT64_MAX);
}

static void read_stat(struct dump *d)
{
	struct str name = line_scan_word(&d->line);
	uint64_t value = line_scan_number(&d->line, UINT64_MAX);
	struct profile_stats *stats = &builder_header(d->builder)->stats;

	for (const struct stat_field *f = stat_fields; f->name; f++) {
		if (str_equal(name, str_from(f->name))) {
			memcpy((char *)stats + f->offset, &value, sizeof(value));
			return;
		}
	}
	line_scan_fail(&d->line, "an unknown figure");
}

static void read_metric(struct dump *d)
{
	string_id name = dump_string(d);
	string_id unit = dump_string(d);

	if (d->rows.count > 1 || d->weights.count || d->has_costs)
		line_scan_fail(&d->line, "a metric after the stacks");
	if (d->line.problem)
		return;
	metric_id metric = builder_metric(d->builder, builder_string_bytes(d->builder, name),
		builder_string_bytes(d->builder, unit));
	if (metric.i < d->metric_count)
		line_scan_fail(&d->line, "the same metric again");
	else
		d->metric_count++;
	if (line_scan_is(&d->line, "default"))
		builder_header(d->builder)->default_metric = metric;
}

static void read_note(struct dump *d)
{
	enum note_kind kind = (enum note_kind)line_scan_choice(&d->line, note_kind_names);
	uint64_t count = line_scan_number(&d->line, UINT64_MAX);
	struct str text = line_scan_string(&d->line, &d->buffer);

	if (memchr(text.data, '\0', text.size))
		line_scan_fail(&d->line, "a note with a NUL in it");
	if (d->line.problem == NULL)
		builder_note(d->builder, kind, count, "%s", text.size ? text.data : "");
}

static void read_object(struct dump *d)
{
	enum object_kind kind = (enum object_kind)line_scan_choice(&d->line, object_kind_names);
	string_id path = dump_string(d);
	struct str build_id = STR("");

	if (line_scan_more(&d->line))
		build_id = line_scan_string(&d->line, &d->buffer);
	if (d->line.problem)
		return;
	places_add(d, &d->object_places, path, d->objects.count);
	vec_push(&d->objects,
		builder_object(d->builder, builder_string_bytes(d->builder, path), build_id, kind));
}

/* Scans `file "NAME" line N`; either may be missing. */
static void scan_place(struct dump *d, string_id *file, uint32_t *line)
{
	*file = (string_id){0};
	*line = 0;
	if (line_scan_is(&d->line, "file"))
		*file = dump_string(d);
	if (line_scan_is(&d->line, "line"))
		*line = (uint32_t)line_scan_number(&d->line, UINT32_MAX);
}

/* Scans `alias "NAME"`, any number of times. */
static void scan_aliases(struct dump *d, struct strbuf *aliases)
{
	while (line_scan_is(&d->line, "alias")) {
		struct str alias = line_scan_string(&d->line, &d->buffer);

		if (alias.size == 0 || memchr(alias.data, '\0', alias.size))
			line_scan_fail(&d->line, "an alias that is empty, or has a NUL in it");
		strbuf_add(aliases, alias);
		strbuf_add_char(aliases, '\0');
	}
}

static void read_function(struct dump *d)
{
	string_id name = dump_string(d), file;
	object_id object = {NO_ID};
	struct strbuf aliases = {0};
	uint32_t line;

	if (line_scan_is(&d->line, "object")) {
		uint32_t place = scan_reference(d, &d->object_places);
		if (d->line.problem == NULL)
			object = d->objects.data[place];
	}
	scan_place(d, &file, &line);
	scan_aliases(d, &aliases);
	if (d->line.problem == NULL) {
		function_id id = builder_function_called(
			d->builder, name, strbuf_str(&aliases), object, file, line);

		places_add(d, &d->function_places, name, d->functions.count);
		vec_push(&d->functions,
			(struct dump_function){.id = id, .first_frame = d->frames.count});
	}
	strbuf_deinit(&aliases);
}

static void read_frame(struct dump *d)
{
	string_id file;
	uint32_t line;
	uint64_t obj_addr = 0;

	scan_place(d, &file, &line);
	if (line_scan_is(&d->line, "addr"))
		obj_addr = line_scan_number(&d->line, UINT64_MAX);
	bool is_inline = line_scan_is(&d->line, "inline");
	if (d->functions.count == 0)
		line_scan_fail(&d->line, "a frame before any function");
	if (d->line.problem)
		return;
	function_id function = d->functions.data[d->functions.count - 1].id;
	vec_push(&d->frames, builder_frame(d->builder, function, file, line, is_inline, obj_addr));
}

/* Scans "FUNCTION"#N@M: the M-th frame of that function. */
static frame_id scan_frame(struct dump *d)
{
	uint32_t place = scan_reference(d, &d->function_places);
	uint32_t nth = line_scan_nth(&d->line, '@');

	if (d->line.problem)
		return (frame_id){0};
	size_t frame = d->functions.data[place].first_frame + nth - 1;
	size_t end = place + 1 < d->functions.count ? d->functions.data[place + 1].first_frame
						    : d->frames.count;
	if (frame >= end) {
		line_scan_fail(&d->line, "a frame that its function does not have");
		return (frame_id){0};
	}
	return d->frames.data[frame];
}

/* Scans "FUNCTION"#N. */
static function_id scan_function(struct dump *d)
{
	uint32_t place = scan_reference(d, &d->function_places);

	return d->line.problem ? (function_id){NO_ID} : d->functions.data[place].id;
}

/* Scans a weight per metric; true if none is missing. */
static bool dump_weights(struct dump *d, int64_t *weight)
{
	for (size_t m = 0; m < d->metric_count; m++)
		weight[m] = line_scan_signed(&d->line);
	return d->line.problem == NULL;
}

/* Room for the costs of one arc; later `metric` lines are errors. */
static int64_t *arc_cost(struct dump *d)
{
	vec_reserve(&d->arc_cost, d->metric_count);
	d->has_costs = true;
	return d->arc_cost.data;
}

static void read_arc(struct dump *d)
{
	bool is_spontaneous = line_scan_is(&d->line, "spontaneous");
	function_id caller = is_spontaneous ? (function_id){NO_ID} : scan_function(d);
	function_id callee = scan_function(d);

	if (!line_scan_is(&d->line, "calls"))
		line_scan_fail(&d->line, "the calls are missing");
	uint64_t calls = line_scan_number(&d->line, UINT64_MAX);
	bool has_cost = line_scan_is(&d->line, "cost");
	if (has_cost && d->metric_count == 0)
		line_scan_fail(&d->line, "a cost before any metric");
	if (has_cost)
		(void)dump_weights(d, arc_cost(d));
	if (d->line.problem)
		return;
	if (has_cost)
		(void)builder_arc_cost(d->builder, caller, callee, calls, arc_cost(d));
	else
		builder_arc(d->builder, caller, callee, calls);
}

static void read_no_stacks(struct dump *d)
{
	builder_header(d->builder)->has_stacks = false;
}

static void read_process(struct dump *d)
{
	int64_t pid = line_scan_signed(&d->line);
	uint64_t start_ns = 0;

	if (line_scan_is(&d->line, "start"))
		start_ns = line_scan_number(&d->line, UINT64_MAX);
	struct str name = line_scan_string(&d->line, &d->buffer);
	if (d->line.problem == NULL)
		vec_push(&d->processes, builder_process(d->builder, pid, start_ns, name));
}

static void read_thread(struct dump *d)
{
	int64_t tid = line_scan_signed(&d->line);
	uint64_t process = 0, start_ns = 0;

	if (line_scan_is(&d->line, "process"))
		process = line_scan_number(&d->line, UINT32_MAX);
	if (line_scan_is(&d->line, "start"))
		start_ns = line_scan_number(&d->line, UINT64_MAX);
	struct str name = line_scan_string(&d->line, &d->buffer);
	if (process >= d->processes.count)
		line_scan_fail(&d->line, "a process that no earlier line defines");
	if (d->line.problem == NULL)
		vec_push(&d->threads, builder_thread(d->builder, tid, d->processes.data[process],
					      start_ns, name));
}

/* Scans the weights of a row, if any follow. */
static void scan_row_weights(struct dump *d, struct dump_row *row)
{
	if (!line_scan_more(&d->line))
		return;
	row->weight = d->weights.count;
	vec_reserve(&d->weights, d->weights.count + d->metric_count);
	d->weights.count += d->metric_count;
	(void)dump_weights(d, d->weights.data + row->weight);
	row->samples = UINT64_MAX;
	if (line_scan_is(&d->line, "samples"))
		row->samples = line_scan_number(&d->line, UINT64_MAX - 1);
}

static void read_stack(struct dump *d)
{
	uint64_t level = line_scan_number(&d->line, UINT32_MAX);
	struct dump_row row = {.frame = {NO_ID}, .weight = NO_WEIGHT};

	if (d->metric_count == 0)
		line_scan_fail(&d->line, "a stack before any metric");
	else if (d->order.count || d->stacks.count)
		line_scan_fail(&d->line, "a stack after order or samples");
	else if (level > d->path.count || (level == 0 && d->rows.count > 1))
		line_scan_fail(&d->line, "the stack it is called from is missing");
	if (d->line.problem)
		return;
	if (level) {
		row.parent = d->path.data[level - 1];
		row.frame = scan_frame(d);
	}
	scan_row_weights(d, &row);
	d->path.count = level;
	vec_push(&d->path, level ? (uint32_t)d->rows.count : 0);
	if (level)
		vec_push(&d->rows, row);
	else
		d->rows.data[0] = row;
}

/* Reads rows and runs of rows, FIRST-LAST. */
static void read_order(struct dump *d)
{
	while (line_scan_more(&d->line)) {
		struct str word = line_scan_word(&d->line);
		const char *dash = memchr(word.data, '-', word.size);
		size_t split = dash ? (size_t)(dash - word.data) : word.size;
		struct line_scan run = line_scan_from((struct str){word.data, split});
		uint64_t first = line_scan_number(&run, UINT32_MAX), last = first;
		if (dash && run.problem == NULL) {
			run.rest = (struct str){dash + 1, word.size - split - 1};
			last = line_scan_number(&run, UINT32_MAX);
		}
		if (run.problem || last < first || last - first >= d->rows.count ||
			d->order.count + (last - first) >= d->rows.count) {
			line_scan_fail(&d->line, "not an order of the stacks above");
			return;
		}
		for (uint64_t row = first; row <= last; row++)
			vec_push(&d->order, (uint32_t)row);
	}
}

/* Whether `order` has each row once, and after its caller. */
static bool order_is_good(const struct dump *d)
{
	bool good = d->order.count == d->rows.count && d->order.data[0] == 0;
	bool *seen = xcalloc(d->rows.count, sizeof(*seen));

	for (size_t i = 0; i < d->order.count && good; i++) {
		uint32_t row = d->order.data[i];
		good = row < d->rows.count && !seen[row] &&
		       (row == 0 || seen[d->rows.data[row].parent]);
		if (good)
			seen[row] = true;
	}
	free(seen);
	return good;
}

/* Builds the stacks, once all rows and their order are known. */
static void dump_build_stacks(struct dump *d)
{
	if (d->stacks.count)
		return;
	if (d->order.count && !order_is_good(d)) {
		line_scan_fail(&d->line, "the order before this line is not one of all stacks");
		return;
	}
	vec_reserve(&d->stacks, d->rows.count);
	d->stacks.count = d->rows.count;
	d->stacks.data[0] = (stack_id){0};
	for (size_t i = 1; i < d->rows.count; i++) {
		uint32_t row = d->order.count ? d->order.data[i] : (uint32_t)i;
		const struct dump_row *r = &d->rows.data[row];
		d->stacks.data[row] =
			builder_stack(d->builder, d->stacks.data[r->parent], r->frame);
	}
	for (size_t row = 0; row < d->rows.count; row++) {
		const struct dump_row *r = &d->rows.data[row];
		if (r->weight != NO_WEIGHT)
			builder_weight(d->builder, d->stacks.data[row], d->weights.data + r->weight,
				r->samples);
	}
}

/* Scans the number of a thread. */
static thread_id dump_thread_of(struct dump *d)
{
	uint64_t number = line_scan_number(&d->line, UINT32_MAX);

	if (number < d->threads.count)
		return d->threads.data[number];
	line_scan_fail(&d->line, "a thread that no earlier line defines");
	return (thread_id){NO_ID};
}

/* Scans the number of a stack's row; builds the stacks before the first one. */
static stack_id dump_stack_of(struct dump *d)
{
	uint64_t row = line_scan_number(&d->line, UINT32_MAX);

	if (row < d->rows.count && d->stacks.count)
		return d->stacks.data[row];
	line_scan_fail(&d->line, "a stack that no earlier line defines");
	return (stack_id){0};
}

/* ---- lines with times ---- */

/* Samples with their labels, ticks, and events of zones. */

struct dump_sample {
	thread_id thread; /* NO_ID: unknown */
	uint64_t time_ns; /* UINT64_MAX: unknown */
	bool has_zone;
	stack_id zone;
};

/* Scans thread N, time N and zone N: either all samples have a column or none. */
static void scan_sample_columns(struct dump *d, struct dump_sample *s)
{
	if (line_scan_is(&d->line, "thread"))
		s->thread = dump_thread_of(d);
	if (line_scan_is(&d->line, "time"))
		s->time_ns = line_scan_number(&d->line, UINT64_MAX - 1);
	s->has_zone = line_scan_is(&d->line, "zone");
	if (s->has_zone)
		s->zone = dump_stack_of(d);
	bool has_thread = s->thread.i != NO_ID, has_time = s->time_ns != UINT64_MAX;
	if (d->sample_count &&
		(has_thread != d->samples_have_thread || has_time != d->samples_have_time ||
			s->has_zone != d->samples_have_zone))
		line_scan_fail(&d->line, "not the same columns as the sample before");
	d->samples_have_thread = has_thread;
	d->samples_have_time = has_time;
	d->samples_have_zone = s->has_zone;
}

/* Reads "KEY" "TEXT" or "KEY" number N, optionally followed by: unit "UNIT". */
static void dump_read_label(struct dump *d)
{
	struct label label = {.key = dump_string(d)};

	bool is_number = line_scan_is(&d->line, "number");
	if (!is_number) {
		label.text = dump_string(d);
		is_number = line_scan_is(&d->line, "number");
	}
	if (is_number)
		label.number = line_scan_signed(&d->line);
	if (line_scan_is(&d->line, "unit"))
		label.unit = dump_string(d);
	if (d->line.problem == NULL)
		vec_push(&d->labels, builder_label(d->builder, &label));
}

/* Scans numbers of labels up to the word "weight". */
static label_set_id scan_labels(struct dump *d)
{
	d->sample_labels.count = 0;
	while (line_scan_more(&d->line) && !str_starts_with(d->line.rest, STR("weight "))) {
		uint64_t number = line_scan_number(&d->line, UINT32_MAX);

		if (d->line.problem == NULL && number >= d->labels.count)
			line_scan_fail(&d->line, "a label that no earlier line defines");
		if (d->line.problem)
			return (label_set_id){0};
		vec_push(&d->sample_labels, d->labels.data[number]);
	}
	return builder_label_set_of(d->builder, d->sample_labels.data, d->sample_labels.count);
}

/* Reads "sample": a stack; its thread, time and zone if samples have them; labels; weights. */
static void dump_read_sample(struct dump *d)
{
	struct dump_sample sample = {.thread = {NO_ID}, .time_ns = UINT64_MAX};
	label_set_id labels = {0};

	if (d->metric_count == 0)
		line_scan_fail(&d->line, "a sample before any metric");
	if (d->weights.count)
		line_scan_fail(&d->line, "samples, though the stacks have weights");
	dump_build_stacks(d);
	stack_id stack = dump_stack_of(d);
	scan_sample_columns(d, &sample);
	if (line_scan_is(&d->line, "labels"))
		labels = scan_labels(d);
	if (!line_scan_is(&d->line, "weight"))
		line_scan_fail(&d->line, "the weight is missing");
	vec_reserve(&d->sample_weight, d->metric_count);
	if (!dump_weights(d, d->sample_weight.data))
		return;
	builder_sample(d->builder, stack, sample.thread, sample.time_ns, d->sample_weight.data);
	if (sample.has_zone)
		builder_sample_zone(d->builder, sample.zone);
	builder_sample_labels(d->builder, labels);
	d->sample_count++;
}

/* Scans a required word and the number after it. */
static uint64_t scan_named_number(struct dump *d, const char *word)
{
	if (!line_scan_is(&d->line, word))
		line_scan_fail(&d->line, "a number's name is missing");
	return line_scan_number(&d->line, UINT64_MAX - 1);
}

/* Reads "tick": one tick of a process's stream. */
static void dump_read_tick(struct dump *d)
{
	uint64_t process = scan_named_number(d, "process");
	string_id stream = dump_string(d);
	uint64_t number = line_scan_number(&d->line, UINT64_MAX);
	uint64_t start_ns = scan_named_number(d, "start");
	uint64_t end_ns = scan_named_number(d, "end");
	thread_id thread =
		line_scan_is(&d->line, "thread") ? dump_thread_of(d) : (thread_id){NO_ID};

	if (process >= d->processes.count)
		line_scan_fail(&d->line, "a process that no earlier line defines");
	else if (end_ns < start_ns)
		line_scan_fail(&d->line, "a tick that ends before it starts");
	if (d->line.problem == NULL)
		builder_tick(d->builder, &(struct tick){.process = d->processes.data[process],
						 .stream = stream,
						 .number = number,
						 .start_ns = start_ns,
						 .end_ns = end_ns,
						 .thread = thread});
}

/* Reads "zone-event": the zones that a thread is in from a time on, as a stack. */
static void dump_read_zone_event(struct dump *d)
{
	dump_build_stacks(d);
	bool has_thread = line_scan_is(&d->line, "thread");
	thread_id thread = dump_thread_of(d);
	uint64_t time_ns = scan_named_number(d, "time");

	if (!has_thread || !line_scan_is(&d->line, "stack"))
		line_scan_fail(&d->line, "its thread or stack is missing");
	stack_id stack = dump_stack_of(d);
	if (d->line.problem == NULL)
		builder_zone_event(d->builder, thread, time_ns, stack);
}

/* ---- the whole file ---- */

static void read_end(struct dump *d)
{
	dump_build_stacks(d);
	d->has_ended = true;
}

/*
 * How to read each kind of line.  read is NULL for a text of the header: then the position in it.
 */
static const struct {
	const char *word;
	void (*read)(struct dump *d);
	size_t header;
} lines[] = {
	{"stack", read_stack, 0},
	{"sample", dump_read_sample, 0},
	{"frame", read_frame, 0},
	{"function", read_function, 0},
	{"object", read_object, 0},
	{"metric", read_metric, 0},
	{"note", read_note, 0},
	{"stat", read_stat, 0},
	{"source", NULL, offsetof(struct builder_header, source)},
	{"format", NULL, offsetof(struct builder_header, format)},
	{"command", NULL, offsetof(struct builder_header, command)},
	{"host", NULL, offsetof(struct builder_header, host)},
	{"when", NULL, offsetof(struct builder_header, when)},
	{"start-unix-ns", read_start, 0},
	{"no-stacks", read_no_stacks, 0},
	{"arc", read_arc, 0},
	{"process", read_process, 0},
	{"thread", read_thread, 0},
	{"order", read_order, 0},
	{"label", dump_read_label, 0},
	{"tick", dump_read_tick, 0},
	{"zone-event", dump_read_zone_event, 0},
	{"end", read_end, 0},
};

static void read_line(struct dump *d)
{
	struct str word = line_scan_word(&d->line);

	if (d->has_ended) {
		line_scan_fail(&d->line, "a line after the end");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (str_equal(word, str_from(lines[i].word))) {
			if (lines[i].read)
				lines[i].read(d);
			else
				*(string_id *)((char *)builder_header(d->builder) +
					       lines[i].header) = dump_string(d);
			line_scan_end(&d->line);
			return;
		}
	}
	line_scan_fail(&d->line, "an unknown kind of line");
}

/* Takes the next line; a CR at its end is removed. */
static struct str take_line(struct str *text)
{
	struct str line = str_take_line(text);

	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	return line;
}

static struct error *read_version(struct dump *d, struct str first_line)
{
	if (str_equal(first_line, STR("sonde-dump 1")))
		return NULL;
	if (str_starts_with(first_line, STR("sonde-dump ")))
		return error_new(ERROR_UNSUPPORTED,
			"%s: a dump of another version; this sonde reads version 1", d->name);
	return error_new(ERROR_INPUT, "%s: does not begin with 'sonde-dump 1'", d->name);
}

static struct error *read_lines(struct dump *d, struct str text)
{
	struct error *err = read_version(d, take_line(&text));

	if (err)
		return err;
	for (d->line_number = 2; text.size; d->line_number++) {
		struct str line = take_line(&text);
		if (line.size == 0 || line.data[0] == '#')
			continue; /* for people who write dumps by hand */
		d->line = line_scan_from(line);
		read_line(d);
		if (d->line.problem)
			return error_new(ERROR_INPUT, "%s: line %llu: %s", d->name,
				(unsigned long long)d->line_number, d->line.problem);
	}
	if (!d->has_ended)
		return error_new(ERROR_INPUT, "%s: cut off: it does not close with 'end'", d->name);
	return NULL;
}

static void dump_deinit(struct dump *d)
{
	strbuf_deinit(&d->buffer);
	vec_deinit(&d->objects);
	vec_deinit(&d->functions);
	vec_deinit(&d->frames);
	map_deinit(&d->object_places);
	map_deinit(&d->function_places);
	vec_deinit(&d->processes);
	vec_deinit(&d->threads);
	vec_deinit(&d->rows);
	vec_deinit(&d->weights);
	vec_deinit(&d->path);
	vec_deinit(&d->order);
	vec_deinit(&d->stacks);
	vec_deinit(&d->labels);
	vec_deinit(&d->sample_labels);
	vec_deinit(&d->sample_weight);
	vec_deinit(&d->arc_cost);
}

static struct error *dump_read(const struct reader_input *input, struct builder *builder)
{
	struct dump d = {.builder = builder, .name = input->name};

	vec_push(&d.rows, (struct dump_row){.frame = {NO_ID}, .weight = NO_WEIGHT});
	vec_push(&d.path, 0);
	/* A dump states the source of its profile, or that it is unknown. */
	builder_header(builder)->source = (string_id){0};
	builder_header(builder)->format = (string_id){0};
	struct error *err = read_lines(&d, (struct str){(const char *)input->data, input->size});
	dump_deinit(&d);
	return err;
}

static int dump_bid(const uint8_t *data, size_t size)
{
	struct str start = {(const char *)data, size};

	return str_starts_with(start, STR("sonde-dump ")) ? 100 : 0;
}

const struct reader reader_dump = {
	.name = "dump",
	.summary = "a profile as text, as sonde convert --to dump writes it",
	.bid = dump_bid,
	.read = dump_read,
};
