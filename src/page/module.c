/*
 * The module that a page runs: the session of src/session in WebAssembly.
 *
 * The page puts a file's bytes, or a request as JSON, into memory of page_alloc and calls
 * page_open, which frees the bytes, or page_ask.  The answer is at page_reply, page_reply_size
 * bytes long, until the next call: JSON, or for page_ask's "flame", "lanes" and "marks" the form of
 * reply.h.  Every failure is {"error": "one line"}.
 *
 * A request is {"ask": WHAT, "profile": N, "options": [[NAME, VALUE], …]}; options are those of
 * `sonde report`, by the same names, in the same order, so that an answer is the command line's:
 *
 *	report	what `sonde report --format json` prints, byte for byte; with "lines", so many
 *		callers, and callees, of each entry at most
 *	text	what `sonde report --text` prints
 *	flame	the call tree as boxes (analysis/flame.h), with their names: all, or with the option
 *		"limit" the heaviest, how many are "left_out", and the "least" weight of the others;
 *		with "old", of the difference (change_boxes.h), with "by_old" 1 as wide as the old
 *	lanes	the threads over time, in "slices" slices of "from" to "to" ns, or of all time; and
 *		their sums by process
 *	marks	what is on the lanes of "threads", by the ids that lanes gives them: zones and
 *		events (thread_marks.h), in those slices
 *	about	the profile itself: metrics, threads, where it is from, how well it was sampled
 *	diff	what `sonde diff --format json` prints of the profile "old" and this one; with
 *		"normalize" 1, here and for "flame", of their shares
 *	annotate	what `sonde annotate --format json` prints of "function", with the code of
 *		page_code in place of this machine's
 */
#include "page/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/certificate.h"
#include "analysis/flame.h"
#include "analysis/lane_groups.h"
#include "base/alloc.h"
#include "base/decompress.h"
#include "base/json_reader.h"
#include "code/annotate_session.h"
#include "code/carried_code.h"
#include "page/change_boxes.h"
#include "page/flame_boxes.h"
#include "page/reply.h"
#include "page/thread_marks.h"
#include "session/comparison.h"
#include "session/session.h"
#include "view/svg/colours.h"
#include "view/views.h"

#define EXPORT(name)	 __attribute__((export_name(name), used))
#define PROFILES_MAX	 8u
#define MARKS_SLICES_MAX 4096u

static struct session *sessions[PROFILES_MAX];
static struct carried_code *codes[PROFILES_MAX]; /* NULL: none */
static size_t session_count;
static struct reply reply;

/* ---- memory and replies ---- */

EXPORT("page_alloc") void *page_alloc(size_t size)
{
	return malloc(size ? size : 1);
}

EXPORT("page_free") void page_free(void *memory)
{
	free(memory);
}

EXPORT("page_reply") const char *page_reply(void)
{
	return reply.bytes.data;
}

EXPORT("page_reply_size") size_t page_reply_size(void)
{
	return reply.bytes.size;
}

static void reply_error(struct error *err)
{
	reply_begin(&reply);
	reply.json = json_writer(&reply.bytes);
	json_put_object(&reply.json);
	json_put_key(&reply.json, "error");
	json_put_string(&reply.json, str_from(err->message));
	json_put_end(&reply.json);
	error_destroy(err);
}

/* ---- opening ---- */

static struct error *open_bytes(struct file_bytes *bytes, const char *name, size_t place)
{
	struct reader_input input = {.name = name};
	struct session *session;
	struct error *err;

	if (place >= PROFILES_MAX || place > session_count)
		return error_new(ERROR_USAGE, "%u files are open, the most at once", PROFILES_MAX);
	err = decompress(name, 0, bytes, &input.is_cut);
	if (err)
		return err;
	input.data = bytes->data;
	input.size = bytes->size;
	err = session_open_bytes(&input, NULL, &session);
	if (err)
		return err;
	if (place == session_count)
		session_count++;
	session_close(sessions[place]);
	carried_code_destroy(codes[place]);
	sessions[place] = session;
	codes[place] = NULL;
	return NULL;
}

EXPORT("page_open") void page_open(uint8_t *data, size_t size, const char *name, size_t place)
{
	struct file_bytes bytes = {data, size};
	struct error *err = open_bytes(&bytes, name, place);

	file_bytes_deinit(&bytes);
	if (err) {
		reply_error(err);
		return;
	}
	reply_begin(&reply);
	strbuf_printf(&reply.bytes, "{\"profile\": %zu}", place);
}

static struct error *read_code(struct file_bytes *bytes, size_t profile)
{
	struct error *err;
	bool is_cut;

	if (profile >= session_count || codes[profile])
		return error_new(ERROR_USAGE, "there is no profile that this code is of");
	err = decompress("the carried code", 0, bytes, &is_cut);
	return err ? err : carried_code_read(bytes->data, bytes->size, &codes[profile]);
}

/* The code that goes with a profile, as code/carried_code.h writes it; frees it. */
EXPORT("page_code") void page_code(uint8_t *data, size_t size, size_t profile)
{
	struct file_bytes bytes = {data, size};
	struct error *err = read_code(&bytes, profile);

	file_bytes_deinit(&bytes);
	if (err) {
		reply_error(err);
		return;
	}
	reply_begin(&reply);
	strbuf_add(&reply.bytes, STR("{}"));
}

/* ---- requests ---- */

struct request {
	struct arena *arena; /* of the texts that the question borrows */
	char *ask, *function;
	struct session *session, *old;	 /* old: of a difference */
	const struct carried_code *code; /* of the session; NULL: none */
	struct question question;
	uint64_t from_ns, to_ns; /* of lanes; to 0: all time */
	uint32_t slices;
	uint32_t threads[THREAD_MARKS_MAX];
	size_t thread_count;
	bool is_by_old; /* boxes of a difference are as wide as the old profile */
	bool normalize; /* a difference is of shares */
};

static char *copy(struct request *r, struct str text)
{
	return (char *)(uintptr_t)arena_str(r->arena, text).data;
}

static struct error *read_option(struct request *r, struct json_reader *json)
{
	struct str text = {0};
	char *name = NULL, *value = NULL;

	if (!json_array(json))
		return NULL;
	for (size_t i = 0; json_element(json); i++) {
		if (!json_string(json, &text))
			continue;
		if (i == 0)
			name = copy(r, text);
		else
			value = copy(r, text);
	}
	return name ? question_put(&r->question, name, value) : NULL;
}

static struct error *read_options(struct request *r, struct json_reader *json)
{
	struct error *err = NULL;

	if (!json_array(json))
		return NULL;
	while (json_element(json)) {
		if (err == NULL)
			err = read_option(r, json);
		else
			json_skip(json);
	}
	return err;
}

static void read_threads(struct request *r, struct json_reader *json)
{
	int64_t number;

	if (!json_array(json))
		return;
	while (json_element(json))
		if (json_int(json, &number) && number >= 0 && number < NO_ID &&
			r->thread_count < THREAD_MARKS_MAX)
			r->threads[r->thread_count++] = (uint32_t)number;
}

static struct error *choose_session(struct request *r, int64_t number)
{
	if (number < 0 || (uint64_t)number >= session_count)
		return error_new(ERROR_USAGE, "there is no profile %lld", (long long)number);
	r->session = sessions[number];
	r->code = codes[number];
	return NULL;
}

static struct error *read_member(struct request *r, struct json_reader *json, struct str key)
{
	struct str text;
	int64_t number = 0;

	if (str_equal(key, STR("options")))
		return read_options(r, json);
	if (str_equal(key, STR("ask"))) {
		if (json_string(json, &text))
			r->ask = copy(r, text);
		return NULL;
	}
	if (str_equal(key, STR("function"))) {
		if (json_string(json, &text))
			r->function = copy(r, text);
		return NULL;
	}
	if (str_equal(key, STR("threads"))) {
		read_threads(r, json);
		return NULL;
	}
	if (!json_int(json, &number) || number < 0)
		return NULL;
	if (str_equal(key, STR("profile")))
		return choose_session(r, number);
	if (str_equal(key, STR("old")) && (uint64_t)number < session_count)
		r->old = sessions[number];
	else if (str_equal(key, STR("by_old")))
		r->is_by_old = number != 0;
	else if (str_equal(key, STR("normalize")))
		r->normalize = number != 0;
	else if (str_equal(key, STR("from")))
		r->from_ns = (uint64_t)number;
	else if (str_equal(key, STR("to")))
		r->to_ns = (uint64_t)number;
	else if (str_equal(key, STR("lines")))
		r->question.part_rows = (size_t)number;
	else if (str_equal(key, STR("slices")))
		r->slices = number > 100000 ? 100000 : (uint32_t)number;
	return NULL;
}

static struct error *read_request(struct request *r, const char *text, size_t size)
{
	struct json_reader json;
	struct error *err = NULL, *bad;
	struct str key;

	*r = (struct request){.arena = arena_create(), .question = question_default(), .slices = 1};
	json_reader_init(&json, text, size, "request");
	if (json_object(&json))
		while (json_key(&json, &key)) {
			if (err == NULL)
				err = read_member(r, &json, key);
			else
				json_skip(&json);
		}
	bad = json_error(&json);
	json_reader_deinit(&json);
	if (err)
		error_destroy(bad);
	else
		err = bad;
	if (err == NULL && (r->ask == NULL || r->session == NULL))
		err = error_new(ERROR_USAGE, "a request names what it asks, and of which profile");
	return err;
}

static void request_deinit(struct request *r)
{
	question_deinit(&r->question);
	arena_destroy(r->arena);
}

/* ---- answers ---- */

static struct error *answer(struct request *r, struct answer **made)
{
	struct error *err = question_settle(&r->question);

	return err ? err : session_ask(r->session, &r->question, made);
}

static void put_text(const char *key, struct str text)
{
	json_put_key(&reply.json, key);
	json_put_string(&reply.json, text);
}

static void put_number(const char *key, uint64_t number)
{
	reply_put_number(&reply, key, number);
}

static struct error *draw_report(struct request *r, const char *format)
{
	const struct text_style style = {.width = 120, .utf8 = true};
	struct answer *made;
	struct sink sink;
	struct error *err = question_put(&r->question, "format", format);

	if (err == NULL)
		err = answer(r, &made);
	if (err)
		return err;
	sink_init_memory(&sink);
	answer_draw(made, &style, &sink);
	answer_destroy(made);
	reply_begin(&reply);
	strbuf_deinit(&reply.bytes);
	reply.bytes = sink.text;
	return NULL;
}

static struct error *ask_report(struct request *r)
{
	return draw_report(r, "json");
}

static struct error *ask_text(struct request *r)
{
	return draw_report(r, "text");
}

/* The profile minus the old one; the caller frees both results, also after an error. */
static struct error *compare(
	struct request *r, struct comparison **comparison, struct answer **made)
{
	struct error *err = NULL;

	r->question.is_difference = true;
	if (r->old == NULL)
		err = error_new(ERROR_USAGE, "a difference is asked of two profiles");
	if (err == NULL)
		err = question_settle(&r->question);
	if (err == NULL)
		err = comparison_of(session_profile(r->old), session_profile(r->session),
			r->normalize, &r->question, comparison);
	if (err == NULL)
		err = comparison_ask(*comparison, &r->question, made);
	return err;
}

static struct error *ask_diff(struct request *r)
{
	const struct text_style style = {0};
	struct comparison *comparison = NULL;
	struct answer *made = NULL;
	struct sink sink;
	struct error *err = question_put(&r->question, "format", "json");

	if (err == NULL)
		err = compare(r, &comparison, &made);
	if (err == NULL) {
		sink_init_memory(&sink);
		answer_draw(made, &style, &sink);
		reply_begin(&reply);
		strbuf_deinit(&reply.bytes);
		reply.bytes = sink.text;
	}
	answer_destroy(made);
	comparison_close(comparison);
	return err;
}

/* Makes all rows, as chance is tested over all of them; the limit is of boxes. */
static struct error *ask_change_flame(struct request *r)
{
	struct comparison *comparison = NULL;
	struct answer *made = NULL;
	size_t limit = r->question.limit > 0 ? (size_t)r->question.limit : 0;
	struct error *err = question_put(&r->question, "view", "tree");

	if (err == NULL)
		err = question_put(&r->question, "limit", "0");
	if (err == NULL)
		err = compare(r, &comparison, &made);
	if (err == NULL) {
		const struct report *report = made->reports[0];

		reply_begin(&reply);
		json_put_object(&reply.json);
		put_text("unit", profile_string(report->profile, report_metric(report).unit));
		put_change_boxes(&reply, report, r->is_by_old, limit);
		reply_end(&reply);
	}
	answer_destroy(made);
	comparison_close(comparison);
	return err;
}

/* Without carried code, lines and addresses have figures but no text. */
static struct error *ask_annotate(struct request *r)
{
	const struct text_style style = {0};
	const struct annotate_wanted wanted = {.code = &carried_code_provider,
		.data = r->code,
		.without_source = r->code && !carried_code_has_source(r->code),
		.without_instructions = r->code && !carried_code_has_instructions(r->code)};
	struct annotated *made;
	struct sink sink;
	struct error *err = question_put(&r->question, "format", "json");

	if (err == NULL && r->function == NULL)
		err = error_new(ERROR_USAGE, "a request to annotate names a function");
	if (err == NULL)
		err = annotate_settle(&r->question);
	if (err == NULL)
		err = annotate_ask(r->session, &r->question, &wanted, str_from(r->function), &made);
	if (err)
		return err;
	sink_init_memory(&sink);
	answer_draw(made->answer, &style, &sink);
	annotated_destroy(made);
	reply_begin(&reply);
	strbuf_deinit(&reply.bytes);
	reply.bytes = sink.text;
	return NULL;
}

static struct error *ask_flame(struct request *r)
{
	struct answer *made;
	struct error *err;

	if (r->old)
		return ask_change_flame(r);
	err = question_put(&r->question, "view", "tree");
	if (err == NULL && r->question.limit < 0)
		err = question_put(&r->question, "limit", "0");
	r->question.has_widths = true;
	if (err == NULL)
		err = answer(r, &made);
	if (err)
		return err;
	const struct report *report = made->reports[0];
	const struct calltree *tree = report->calltree;
	struct arena *arena = arena_create();
	const struct flame *flame = flame_lay_out(tree, tree, arena);
	struct flame_boxes boxes;
	struct svg_colours colours;

	flame_boxes_init(&boxes, report, flame->count, arena);
	for (size_t i = 0; i < flame->count; i++) {
		const struct flame_box *box = &flame->boxes[i];

		flame_boxes_add(
			&boxes, box, box->row == NO_ID ? 0 : (double)tree->rows[box->row].in_only);
	}
	svg_colours_init(&colours, tree, report->tree, flame);
	reply_begin(&reply);
	json_put_object(&reply.json);
	put_text("unit", profile_string(report->profile, report_metric(report).unit));
	put_number("depth", flame->depth_max);
	json_put_key(&reply.json, "total");
	json_put_int(&reply.json, report->tree->total);
	put_number("left_out", report->left_out);
	put_number("least", calltree_least_weight(tree));
	put_number("colour", svg_colour(&colours, NULL));
	flame_boxes_put(&boxes, &colours, &reply);
	svg_colours_deinit(&colours);
	reply_end(&reply);
	arena_destroy(arena);
	answer_destroy(made);
	return NULL;
}

static void put_process(const struct profile *p, const struct lane *lane)
{
	const struct process *process = &p->processes[p->threads[lane->thread].process.i];

	put_text("process", profile_string(p, process->name));
	json_put_key(&reply.json, "pid");
	json_put_int(&reply.json, process->pid);
}

static void put_lane(const struct profile *p, const struct lane *lane, size_t number)
{
	json_put_object(&reply.json);
	if (lane->thread != NO_ID) {
		const struct thread *t = &p->threads[lane->thread];

		put_text("thread", profile_string(p, t->name));
		json_put_key(&reply.json, "tid");
		json_put_int(&reply.json, t->tid);
		put_number("id", lane->thread);
		put_process(p, lane);
	}
	put_number("number", number);
	json_put_end(&reply.json);
}

static void put_group(const struct profile *p, const struct lane_group *group, size_t number)
{
	json_put_object(&reply.json);
	if (group->sum.thread != NO_ID)
		put_process(p, &group->sum);
	put_number("first", group->first);
	put_number("count", group->count);
	put_number("peak", (uint64_t)group->peak);
	put_number("number", number);
	json_put_end(&reply.json);
}

/* letter: what the columns' names begin with. */
static void put_lane_columns(
	const char *letter, size_t number, const struct lane *lane, uint32_t slices, double *values)
{
	for (enum lane_kind kind = 0; kind < LANE_KIND_COUNT; kind++) {
		const int64_t *weight = lane->weight[kind];
		char name[64];

		if (weight == NULL)
			continue;
		for (uint32_t k = 0; k < slices; k++)
			values[k] = (double)weight[k];
		(void)snprintf(
			name, sizeof(name), "%s%zu.%s", letter, number, lane_kind_names[kind]);
		reply_put_f64(&reply, name, values, slices);
	}
}

/* A process with one thread has no columns of its own: its thread's are the sum. */
static void put_lanes(const struct profile *p, const struct lanes *lanes, struct arena *arena)
{
	const struct lane_groups *groups = lane_groups_analyse(lanes, p, arena);
	double *values = ARENA_ARRAY(arena, double, lanes->slices.count);

	json_put_key(&reply.json, "lanes");
	json_put_array(&reply.json);
	for (size_t i = 0; i < lanes->count; i++)
		put_lane(p, &lanes->lanes[i], i);
	json_put_end(&reply.json);
	json_put_key(&reply.json, "processes");
	json_put_array(&reply.json);
	for (size_t i = 0; i < groups->count; i++)
		put_group(p, &groups->groups[i], i);
	json_put_end(&reply.json);
	for (size_t i = 0; i < lanes->count; i++)
		put_lane_columns("", i, &lanes->lanes[i], lanes->slices.count, values);
	for (size_t i = 0; i < groups->count; i++)
		if (groups->groups[i].count > 1)
			put_lane_columns(
				"p", i, &groups->groups[i].sum, lanes->slices.count, values);
}

/* The ticks of all streams: number, start and end of each. */
static void put_ticks(const struct profile *p, struct arena *arena)
{
	double *start = ARENA_ARRAY(arena, double, p->tick_count),
	       *end = ARENA_ARRAY(arena, double, p->tick_count);
	uint32_t *stream = ARENA_ARRAY(arena, uint32_t, p->tick_count),
		 *number = ARENA_ARRAY(arena, uint32_t, p->tick_count);
	size_t count = 0;

	json_put_key(&reply.json, "streams");
	json_put_array(&reply.json);
	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];

		if (i == 0 || t->stream.i != p->ticks[i - 1].stream.i ||
			t->process.i != p->ticks[i - 1].process.i) {
			json_put_string(&reply.json, profile_string(p, t->stream));
			count++;
		}
		stream[i] = (uint32_t)count - 1;
		number[i] = (uint32_t)t->number;
		start[i] = (double)t->start_ns;
		end[i] = (double)t->end_ns;
	}
	json_put_end(&reply.json);
	reply_put_u32(&reply, "tick_stream", stream, p->tick_count);
	reply_put_u32(&reply, "tick_number", number, p->tick_count);
	reply_put_f64(&reply, "tick_start", start, p->tick_count);
	reply_put_f64(&reply, "tick_end", end, p->tick_count);
}

/* The slices asked for; without a time, of all that is shown. */
static struct time_slices slices_of(const struct request *r, const struct selection *selection)
{
	uint32_t count = r->slices ? r->slices : 1;

	if (r->to_ns > r->from_ns)
		return (struct time_slices){
			r->from_ns, (r->to_ns - r->from_ns + count - 1) / count, count};
	return lanes_span(selection, count);
}

static struct error *answer_over_time(struct request *r, struct answer **made)
{
	struct error *err = profile_needs_times(session_profile(r->session));

	if (err == NULL)
		err = question_put(&r->question, "view", "stats");
	return err ? err : answer(r, made);
}

static void put_slices(struct time_slices slices)
{
	put_number("begin", slices.begin_ns);
	put_number("slice", slices.slice_ns);
	put_number("slices", slices.count);
}

static struct error *ask_lanes(struct request *r)
{
	struct answer *made;
	struct error *err = answer_over_time(r, &made);

	if (err)
		return err;
	const struct report *report = made->reports[0];
	const struct profile *p = report->profile;
	struct arena *arena = arena_create();
	struct time_slices slices = slices_of(r, report->selection),
			   whole = r->to_ns > r->from_ns ? lanes_span(report->selection, 1)
							 : slices;
	const struct lanes *lanes =
		lanes_analyse(report->selection, report->query.metric, slices, arena);

	reply_begin(&reply);
	json_put_object(&reply.json);
	put_slices(slices);
	put_number("whole_begin", whole.begin_ns);
	put_number("whole_end", whole.begin_ns + whole.slice_ns * whole.count);
	put_text("unit",
		profile_string(p, p->metrics[lanes_metric(p, report->query.metric).i].unit));
	put_ticks(p, arena);
	put_lanes(p, lanes, arena);
	reply_end(&reply);
	arena_destroy(arena);
	answer_destroy(made);
	return NULL;
}

static struct error *ask_marks(struct request *r)
{
	const struct profile *p = session_profile(r->session);
	struct answer *made;
	struct error *err = profile_needs_threads(p);

	for (size_t i = 0; i < r->thread_count && err == NULL; i++)
		if (r->threads[i] >= p->thread_count)
			err = error_new(ERROR_USAGE, "there is no thread number %u", r->threads[i]);
	if (r->slices > MARKS_SLICES_MAX)
		r->slices = MARKS_SLICES_MAX;
	if (err == NULL)
		err = answer_over_time(r, &made);
	if (err)
		return err;
	struct time_slices slices = slices_of(r, made->reports[0]->selection);

	reply_begin(&reply);
	json_put_object(&reply.json);
	put_slices(slices);
	put_thread_marks(&reply, made->reports[0], r->threads, r->thread_count, slices);
	reply_end(&reply);
	answer_destroy(made);
	return NULL;
}

static void put_metrics(const struct profile *p)
{
	json_put_key(&reply.json, "metrics");
	json_put_array(&reply.json);
	for (size_t m = 0; m < p->metric_count; m++) {
		json_put_object(&reply.json);
		put_text("name", profile_string(p, p->metrics[m].name));
		put_text("unit", profile_string(p, p->metrics[m].unit));
		json_put_key(&reply.json, "total");
		json_put_int(&reply.json, p->total[m]);
		json_put_end(&reply.json);
	}
	json_put_end(&reply.json);
	put_text("metric", profile_string(p, p->metrics[p->default_metric.i].name));
}

static void put_knowledge(const struct profile *p)
{
	json_put_key(&reply.json, "has_times");
	json_put_bool(&reply.json, p->samples.count > 0 && p->samples.time_ns);
	json_put_key(&reply.json, "has_threads");
	json_put_bool(&reply.json, p->samples.count > 0 && p->samples.thread);
	json_put_key(&reply.json, "has_stacks");
	json_put_bool(&reply.json, p->has_stacks);
	json_put_key(&reply.json, "has_zones");
	json_put_bool(&reply.json, p->samples.count > 0 && p->samples.zone);
	put_number("ticks", p->tick_count);
	json_put_key(&reply.json, "has_zone_events");
	json_put_bool(&reply.json, p->zone_events.count > 0);
}

static struct error *ask_about(struct request *r)
{
	const struct profile *p = session_profile(r->session);
	struct certificate certificate = certificate_of(p);

	reply_begin(&reply);
	reply.json = json_writer(&reply.bytes);
	json_put_object(&reply.json);
	put_text("source", profile_string(p, p->source));
	put_text("format", profile_string(p, p->format));
	put_text("command", profile_string(p, p->command));
	put_text("host", profile_string(p, p->host));
	put_number("start_unix_ns", p->start_unix_ns);
	put_metrics(p);
	put_knowledge(p);
	for (const struct stat_field *f = stat_fields; f->name; f++)
		put_number(f->name,
			*(const uint64_t *)(const void *)((const char *)&p->stats + f->offset));
	json_put_key(&reply.json, "fit");
	json_put_bool(&reply.json, certificate_is_fit(&certificate));
	json_put_end(&reply.json);
	return NULL;
}

static const struct {
	const char *name;
	struct error *(*ask)(struct request *r);
} asks[] = {
	{"report", ask_report},
	{"text", ask_text},
	{"flame", ask_flame},
	{"lanes", ask_lanes},
	{"marks", ask_marks},
	{"about", ask_about},
	{"annotate", ask_annotate},
	{"diff", ask_diff},
};

static struct error *ask(struct request *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++)
		if (strcmp(asks[i].name, r->ask) == 0)
			return asks[i].ask(r);
	return error_new(ERROR_USAGE, "no such question: %s", r->ask);
}

EXPORT("page_ask") void page_ask(const char *text, size_t size)
{
	struct request r;
	struct error *err = read_request(&r, text, size);

	if (err == NULL)
		err = ask(&r);
	request_deinit(&r);
	if (err)
		reply_error(err);
}
