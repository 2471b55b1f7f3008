/*
 * Writes speedscope's own JSON: one of its profiles for each metric and thread;
 * docs/formats/speedscope.md defines the output exactly.
 *
 * Source: speedscope's src/lib/file-format-spec.ts, which is the format's definition.
 *
 * Its frames are what sonde calls functions: two frames with different lines would be two
 * functions.  A profile is written in the shorter of two forms: a list of stacks, or, if stacks are
 * deep and share most frames with their neighbours, events that open and close frames.
 */
#include "formats/writers.h"

#include <stdlib.h>

#include "base/json_writer.h"
#include "base/sort.h"
#include "base/vec.h"
#include "formats/common/exporter.h"

/* Approximate text per frame: in a listed stack, and as events. */
enum { LISTED_BYTES = 5, EVENT_BYTES = 32 };

/* A sample, or in a profile without samples, a stack with its weight. */
struct row {
	uint32_t stack;
	int64_t weight;
};

struct speedscope {
	const struct profile *profile;
	struct sink *sink;
	struct json_writer json;
	bool with_modules;
	uint32_t unknown;	   /* the frame of the empty stack */
	uint32_t *depth;	   /* [stack] */
	struct sort_item *samples; /* by thread, then by time; NULL: there are none */
	VEC(struct row) rows;	   /* of the profile being written */
	VEC(uint32_t) path;	   /* scratch: stacks, leaf first */
	metric_id metric;
	uint32_t thread;  /* NO_ID: unknown */
	bool has_profile; /* one was written */
};

/* ---- Frames */

static void write_frame_name(struct speedscope *w, const struct function *f)
{
	const struct profile *p = w->profile;
	struct str name = profile_string(p, f->name), module = profile_module(p, f->object);
	struct strbuf text = {0};

	if (w->with_modules && module.size) {
		strbuf_add(&text, module);
		strbuf_add_char(&text, '`');
	}
	strbuf_add(&text, name.size ? name : STR("[unknown]"));
	json_put_key(&w->json, "name"), json_put_string(&w->json, strbuf_str(&text));
	strbuf_deinit(&text);
}

static void write_frames(struct speedscope *w)
{
	const struct profile *p = w->profile;

	json_put_key(&w->json, "shared"), json_put_object(&w->json);
	json_put_key(&w->json, "frames"), json_put_array(&w->json);
	for (size_t i = 0; i < p->function_count && sink_settle(w->sink); i++) {
		const struct function *f = &p->functions[i];
		struct str file = profile_string(p, f->file);

		json_put_line(&w->json);
		json_put_object(&w->json);
		write_frame_name(w, f);
		if (file.size)
			json_put_key(&w->json, "file"), json_put_string(&w->json, file);
		if (f->line)
			json_put_key(&w->json, "line"), json_put_unsigned(&w->json, f->line);
		json_put_end(&w->json);
	}
	w->unknown = (uint32_t)p->function_count;
	json_put_line(&w->json);
	json_put_object(&w->json);
	json_put_key(&w->json, "name"), json_put_string(&w->json, STR("[unknown]"));
	json_put_end(&w->json);
	json_put_end(&w->json), json_put_end(&w->json);
}

static uint32_t stack_frame(const struct speedscope *w, uint32_t stack)
{
	const struct profile *p = w->profile;

	return p->frames[p->stack_frame[stack].i].function.i;
}

/* ---- The two forms */

static uint32_t common_stack(const struct speedscope *w, uint32_t a, uint32_t b)
{
	while (a != b)
		if (w->depth[a] > w->depth[b])
			a = profile_stack_parent(w->profile, a);
		else
			b = profile_stack_parent(w->profile, b);
	return a;
}

/* Whether the rows are shorter as events. */
static bool prefers_events(const struct speedscope *w)
{
	uint64_t listed = 0, events = 0;
	uint32_t at = 0;

	for (size_t i = 0; i < w->rows.count; i++) {
		uint32_t stack = w->rows.data[i].stack, common;

		listed += w->depth[stack];
		common = common_stack(w, at, stack);
		events += w->depth[at] + w->depth[stack] - 2 * w->depth[common];
		at = stack;
	}
	return listed * LISTED_BYTES > (events + w->depth[at]) * EVENT_BYTES;
}

static void write_stack(struct speedscope *w, uint32_t stack)
{
	json_put_array(&w->json);
	if (stack == 0)
		json_put_unsigned(&w->json, w->unknown);
	for (w->path.count = 0; stack; stack = profile_stack_parent(w->profile, stack))
		vec_push(&w->path, stack);
	while (w->path.count && sink_settle(w->sink))
		json_put_unsigned(&w->json, stack_frame(w, w->path.data[--w->path.count]));
	json_put_end(&w->json);
}

static void write_listed(struct speedscope *w)
{
	json_put_key(&w->json, "samples"), json_put_array(&w->json);
	for (size_t i = 0; i < w->rows.count && sink_settle(w->sink); i++)
		write_stack(w, w->rows.data[i].stack);
	json_put_end(&w->json);
	json_put_key(&w->json, "weights"), json_put_array(&w->json);
	for (size_t i = 0; i < w->rows.count && sink_settle(w->sink); i++)
		json_put_int(&w->json, w->rows.data[i].weight);
	json_put_end(&w->json);
}

static void write_event(struct speedscope *w, struct str type, uint32_t frame, int64_t at)
{
	json_put_object(&w->json);
	json_put_key(&w->json, "type"), json_put_string(&w->json, type);
	json_put_key(&w->json, "frame"), json_put_unsigned(&w->json, frame);
	json_put_key(&w->json, "at"), json_put_int(&w->json, at);
	json_put_end(&w->json);
	(void)sink_settle(w->sink);
}

/*
 * Closes the frames that are only in `from`, and opens those only in `to`; an empty stack has a
 * frame.
 */
static void write_change(struct speedscope *w, uint32_t from, uint32_t to, int64_t at)
{
	const struct profile *p = w->profile;
	uint32_t common = common_stack(w, from, to);

	for (; from != common; from = profile_stack_parent(p, from))
		write_event(w, STR("C"), stack_frame(w, from), at);
	for (w->path.count = 0; to != common; to = profile_stack_parent(p, to))
		vec_push(&w->path, to);
	while (w->path.count)
		write_event(w, STR("O"), stack_frame(w, w->path.data[--w->path.count]), at);
}

static void write_events(struct speedscope *w)
{
	uint32_t stack = 0;
	int64_t at = 0;

	json_put_key(&w->json, "events"), json_put_array(&w->json);
	for (size_t i = 0; i < w->rows.count; i++) {
		write_change(w, stack, w->rows.data[i].stack, at);
		stack = w->rows.data[i].stack;
		if (stack == 0)
			write_event(w, STR("O"), w->unknown, at);
		at += w->rows.data[i].weight;
		if (stack == 0)
			write_event(w, STR("C"), w->unknown, at);
	}
	write_change(w, stack, 0, at);
	json_put_end(&w->json);
}

/* ---- Profiles */

/* The format's word for a unit; "none" if there is no word. */
static struct str unit_word(struct str unit)
{
	static const char words[][2][16] = {{"ns", "nanoseconds"}, {"us", "microseconds"},
		{"ms", "milliseconds"}, {"s", "seconds"}, {"bytes", "bytes"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_equal(unit, str_from(words[i][0])))
			return str_from(words[i][1]);
	return STR("none");
}

/* Writes "METRIC: THREAD (pid N, tid N)"; parts that do not distinguish profiles are omitted. */
static void write_profile_name(struct speedscope *w)
{
	const struct profile *p = w->profile;
	struct strbuf name = {0};

	if (p->metric_count > 1 || w->thread == NO_ID) {
		strbuf_add(&name, profile_string(p, p->metrics[w->metric.i].name));
		if (w->thread != NO_ID)
			strbuf_add(&name, STR(": "));
	}
	if (w->thread != NO_ID) {
		const struct thread *t = &p->threads[w->thread];

		strbuf_add(&name, profile_string(p, t->name));
		strbuf_printf(&name, "%s(pid %lld, tid %lld)",
			profile_string(p, t->name).size ? " " : "",
			(long long)p->processes[t->process.i].pid, (long long)t->tid);
	}
	json_put_key(&w->json, "name"), json_put_string(&w->json, strbuf_str(&name));
	strbuf_deinit(&name);
}

/* Writes what the format cannot hold, for sonde's reader; other readers skip it. */
static void write_facts(struct speedscope *w)
{
	const struct profile *p = w->profile;
	const struct metric *metric = &p->metrics[w->metric.i];

	json_put_key(&w->json, "sonde"), json_put_object(&w->json);
	json_put_key(&w->json, "metric"),
		json_put_string(&w->json, profile_string(p, metric->name));
	json_put_key(&w->json, "unit"), json_put_string(&w->json, profile_string(p, metric->unit));
	if (w->thread != NO_ID) {
		const struct thread *t = &p->threads[w->thread];
		const struct process *process = &p->processes[t->process.i];

		json_put_key(&w->json, "pid"), json_put_int(&w->json, process->pid);
		json_put_key(&w->json, "process");
		json_put_string(&w->json, profile_string(p, process->name));
		json_put_key(&w->json, "tid"), json_put_int(&w->json, t->tid);
		json_put_key(&w->json, "thread"),
			json_put_string(&w->json, profile_string(p, t->name));
	}
	json_put_end(&w->json);
}

static void write_profile(struct speedscope *w)
{
	const struct profile *p = w->profile;
	bool has_events = prefers_events(w);
	int64_t end = 0;

	w->has_profile = true;
	for (size_t i = 0; i < w->rows.count; i++)
		end += w->rows.data[i].weight;
	json_put_line(&w->json);
	json_put_object(&w->json);
	json_put_key(&w->json, "type");
	json_put_string(&w->json, has_events ? STR("evented") : STR("sampled"));
	write_profile_name(w);
	json_put_key(&w->json, "unit");
	json_put_string(&w->json, unit_word(profile_string(p, p->metrics[w->metric.i].unit)));
	json_put_key(&w->json, "startValue"), json_put_int(&w->json, 0);
	json_put_key(&w->json, "endValue"), json_put_int(&w->json, end);
	write_facts(w);
	if (has_events)
		write_events(w);
	else
		write_listed(w);
	json_put_end(&w->json);
}

/* Sorts samples by thread, then by time. */
static void sort_samples(struct speedscope *w)
{
	const struct samples *s = &w->profile->samples;

	if (s->count == 0)
		return;
	w->samples = xcalloc(s->count, sizeof(*w->samples));
	for (size_t i = 0; i < s->count; i++)
		w->samples[i] = (struct sort_item){s->time_ns ? s->time_ns[i] : 0, (uint32_t)i};
	sort_items(w->samples, s->count);
	for (size_t i = 0; i < s->count; i++)
		w->samples[i].key = s->thread ? s->thread[w->samples[i].index].i : NO_ID;
	sort_items(w->samples, s->count);
}

static void add_row(struct speedscope *w, uint32_t stack, int64_t weight)
{
	if (weight != 0)
		vec_push(&w->rows, (struct row){stack, weight});
}

static void write_metric(struct speedscope *w, metric_id metric)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;

	w->metric = metric;
	w->thread = NO_ID;
	w->rows.count = 0;
	for (uint32_t i = 0; i < p->stack_count && s->count == 0; i++)
		add_row(w, i, profile_weight(p, metric.i, i));
	if (w->rows.count)
		write_profile(w);
	for (size_t i = 0; i < s->count;) {
		w->rows.count = 0;
		w->thread = (uint32_t)w->samples[i].key;
		for (; i < s->count && w->samples[i].key == w->thread; i++)
			add_row(w, s->stack[w->samples[i].index].i,
				s->weight[metric.i][w->samples[i].index]);
		if (w->rows.count)
			write_profile(w);
	}
}

static struct error *check_weights(const struct profile *p)
{
	for (uint32_t m = 0; m < p->metric_count; m++)
		if (writer_has_negative(p, (metric_id){m}))
			return error_new(ERROR_UNSUPPORTED,
				"speedscope shows no negative weights, and '%.*s' has some",
				STR_ARG(profile_string(p, p->metrics[m].name)));
	return NULL;
}

static void write_file(struct speedscope *w, metric_id first)
{
	const struct profile *p = w->profile;
	struct str name = profile_string(p, p->command);

	json_put_object(&w->json);
	json_put_key(&w->json, "$schema");
	json_put_string(&w->json, STR("https://www.speedscope.app/file-format-schema.json"));
	json_put_key(&w->json, "exporter"), json_put_string(&w->json, STR("sonde@" SONDE_VERSION));
	json_put_key(&w->json, "name");
	json_put_string(&w->json, name.size ? name : str_base_name(profile_string(p, p->source)));
	json_put_key(&w->json, "activeProfileIndex"), json_put_int(&w->json, 0);
	write_frames(w);
	json_put_key(&w->json, "profiles"), json_put_array(&w->json);
	write_metric(w, first);
	for (uint32_t i = 0; i < p->metric_count; i++)
		if (i != first.i)
			write_metric(w, (metric_id){i});
	/* A file without profiles is invalid. */
	if (!w->has_profile) {
		w->metric = first;
		w->thread = NO_ID;
		w->rows.count = 0;
		write_profile(w);
	}
	json_put_end(&w->json), json_put_end(&w->json);
	strbuf_add_char(&w->sink->text, '\n');
}

static struct error *speedscope_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct speedscope w = {.profile = profile,
		.sink = sink,
		.json = json_writer(&sink->text),
		.with_modules = options->with_modules};
	struct error *err = profile_needs_stacks(profile, "--to speedscope");

	if (err == NULL)
		err = check_weights(profile);
	if (err)
		return err;
	w.depth = exporter_depths(profile);
	sort_samples(&w);
	write_file(&w, options->metric);
	free(w.depth);
	free(w.samples);
	vec_deinit(&w.rows);
	vec_deinit(&w.path);
	return NULL;
}

const struct writer writer_speedscope = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.summary = "speedscope's JSON, for https://www.speedscope.app: each metric of each thread",
	.holds_metrics = true,
	.write = speedscope_write,
};
