/*
 * Reads speedscope's own JSON, of all versions since 0.0.1; the layout has only grown.
 * docs/formats/speedscope.md defines the mapping.
 *
 * Source: speedscope's src/lib/file-format-spec.ts, which is the format's definition.
 *
 * Members may be in any order, and metrics must be known before the first stack.  So a first pass
 * reads the frames and the types of profiles, then each profile is read.
 */
#include "formats/readers.h"

#include "base/json_reader.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "formats/common/importer.h"
#include "formats/common/spans.h"
#include "formats/common/stack_budget.h"
#include "formats/common/text_field.h"

#define SPEEDSCOPE_METRICS_MAX 16

enum speedscope_fault {
	FAULT_FRAME,   /* a reference to a missing frame */
	FAULT_ORDER,   /* an event without a time, or earlier than the previous one */
	FAULT_CLOSE,   /* an event that does not close the innermost frame */
	FAULT_OPEN,    /* a frame that is never closed */
	FAULT_LENGTH,  /* the numbers of weights and samples differ */
	FAULT_WEIGHT,  /* a missing or negative weight */
	FAULT_PROFILE, /* of an unknown kind */
	FAULT_METRIC,  /* beyond the maximum number of metrics */
	FAULT_COUNT
};

/* A profile's members; strings are borrowed, or in the reader's scratch. */
struct speedscope_profile {
	struct str type, name, unit;
	struct str metric, metric_unit, process, thread; /* in sonde's own files */
	int64_t pid, tid;
	bool has_thread;    /* pid and tid are known */
	int64_t start, end; /* in units of the metric */
	bool has_samples, has_weights, has_events;
	struct json_mark samples, weights, events;
};

struct speedscope_metric {
	struct str name, unit; /* in the arena */
};

struct speedscope {
	const struct reader_input *input;
	struct builder *builder;
	struct arena *arena;
	struct json_reader json, second; /* the second one reads another array in parallel */
	VEC(frame_id) frames;		 /* shared; the last one stands for missing frames */
	struct speedscope_metric metrics[SPEEDSCOPE_METRICS_MAX];
	size_t metric_count; /* in the file; if there are several, one more is the number of
			        samples */
	int64_t weight[SPEEDSCOPE_METRICS_MAX + 1];
	size_t samples_metric; /* the number of samples; metric_count: none of the file's */
	size_t profile_count;
	bool has_events;	  /* some profile consists of events */
	bool has_times, has_rows; /* samples have times; there are samples, not totals */
	int64_t base;		  /* the earliest start, in ns */
	struct stack_budget budget;
	struct row_table stacks; /* struct span: texts of samples; ids are stacks */
	size_t stacks_max;
	struct fault faults[FAULT_COUNT];
};

static struct str keep(struct speedscope *s)
{
	struct str text;

	return json_string(&s->json, &text) ? arena_str(s->arena, text) : STR("");
}

/* Reads the additional data of sonde's own writer. */
static void read_facts(struct speedscope *s, struct speedscope_profile *p)
{
	struct str key;
	bool has_pid = false, has_tid = false;

	if (!json_object(&s->json))
		return;
	while (json_key(&s->json, &key)) {
		if (str_equal(key, STR("metric")))
			p->metric = keep(s);
		else if (str_equal(key, STR("unit")))
			p->metric_unit = keep(s);
		else if (str_equal(key, STR("process")))
			p->process = keep(s);
		else if (str_equal(key, STR("thread")))
			p->thread = keep(s);
		else if (str_equal(key, STR("pid")))
			has_pid = json_int(&s->json, &p->pid);
		else if (str_equal(key, STR("tid")))
			has_tid = json_int(&s->json, &p->tid);
	}
	p->has_thread = has_pid && has_tid;
}

static bool mark_array(struct json_reader *r, struct json_mark *mark)
{
	*mark = json_mark(r);
	return json_peek(r) == JSON_ARRAY;
}

/* The name and unit of a profile's metric, and the power of ten that scales its values. */
static struct speedscope_metric speedscope_metric_of(
	const struct speedscope_profile *p, unsigned int *digits)
{
	static const struct {
		char word[16], name[8], unit[8];
		unsigned int digits;
	} units[] = {{"nanoseconds", "time", "ns", 0}, {"microseconds", "time", "ns", 3},
		{"milliseconds", "time", "ns", 6}, {"seconds", "time", "ns", 9},
		{"bytes", "bytes", "bytes", 0}};
	struct speedscope_metric metric = {STR("weight"), STR("count")};

	*digits = 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!str_equal(p->unit, str_from(units[i].word)))
			continue;
		metric.name = str_from(units[i].name);
		metric.unit = str_from(units[i].unit);
		*digits = units[i].digits;
	}
	if (p->metric.size)
		metric.name = p->metric;
	if (p->metric_unit.size && *digits == 0)
		metric.unit = p->metric_unit;
	return metric;
}

/* The index of a profile's metric; metric_count: none. */
static size_t speedscope_find_metric(const struct speedscope *s, const struct speedscope_profile *p)
{
	unsigned int digits;
	struct speedscope_metric metric = speedscope_metric_of(p, &digits);
	size_t i = 0;

	while (i < s->metric_count && !(str_equal(s->metrics[i].name, metric.name) &&
					      str_equal(s->metrics[i].unit, metric.unit)))
		i++;
	return i;
}

/* Reads the next profile, except samples and events; stores their positions. */
static struct speedscope_profile speedscope_members(struct speedscope *s)
{
	struct speedscope_profile p = {0};
	struct json_mark start = {0}, end = {0}, after;
	bool has_start = false, has_end = false;
	struct json_reader *r = &s->json;
	unsigned int digits;
	struct str key;

	if (!json_object(r))
		return p;
	while (json_key(r, &key)) {
		if (str_equal(key, STR("type")))
			p.type = keep(s);
		else if (str_equal(key, STR("name")))
			p.name = keep(s);
		else if (str_equal(key, STR("unit")))
			p.unit = keep(s);
		else if (str_equal(key, STR("sonde")))
			read_facts(s, &p);
		else if (str_equal(key, STR("startValue")))
			start = json_mark(r), has_start = true;
		else if (str_equal(key, STR("endValue")))
			end = json_mark(r), has_end = true;
		else if (str_equal(key, STR("samples")))
			p.has_samples = mark_array(r, &p.samples);
		else if (str_equal(key, STR("weights")))
			p.has_weights = mark_array(r, &p.weights);
		else if (str_equal(key, STR("events")))
			p.has_events = mark_array(r, &p.events);
	}
	/* The unit may come last.  Keep the position of the first fault. */
	struct json_reader found = *r;
	after = json_mark(r);
	(void)speedscope_metric_of(&p, &digits);
	if (has_start)
		json_return(r, &start), (void)json_decimal(r, digits, &p.start);
	if (has_end)
		json_return(r, &end), (void)json_decimal(r, digits, &p.end);
	json_return(r, &after);
	r->bad = found.bad;
	r->problem = found.problem;
	return p;
}

/* ---- Samples */

struct open_frame {
	frame_id frame;
	stack_id stack;
};

/* A profile being added. */
struct adding {
	struct speedscope *s;
	const struct speedscope_profile *profile;
	thread_id thread;
	size_t metric;
	unsigned int digits;
	int64_t at; /* time of the last event; for samples, the sum of earlier weights */
	VEC(struct open_frame) open;
};

/* The number of samples that a weight stands for, in a profile without threads. */
static uint64_t totals_samples(const struct adding *a, int64_t weight)
{
	if (a->s->samples_metric < a->s->metric_count)
		return a->metric == a->s->samples_metric ? (uint64_t)weight : 0;
	return a->profile->has_events || a->profile->metric.size ? UINT64_MAX : 1;
}

static void add_row(struct adding *a, stack_id stack, int64_t at, int64_t weight)
{
	struct speedscope *s = a->s;
	int64_t since;

	if (weight < 0) {
		s->faults[FAULT_WEIGHT].count++;
		return;
	}
	s->weight[a->metric] = weight;
	/*
	 * Time between events is not a sample.  With several metrics of sonde's, one has the
	 * samples.
	 */
	if (s->samples_metric == s->metric_count)
		s->weight[s->metric_count] =
			!a->profile->has_events && (a->metric == 0 || a->profile->metric.size == 0);
	if (__builtin_sub_overflow(at, s->base, &since) || since < 0)
		since = 0;
	if (s->has_rows)
		builder_sample(s->builder, stack, a->thread,
			s->has_times ? builder_time((uint64_t)since) : UINT64_MAX, s->weight);
	else
		builder_weight(s->builder, stack, s->weight, totals_samples(a, weight));
	s->weight[a->metric] = 0;
}

static frame_id frame_at(struct speedscope *s, int64_t i)
{
	size_t known = s->frames.count - 1;

	if (i >= 0 && (uint64_t)i < known)
		return s->frames.data[i];
	s->faults[FAULT_FRAME].count++;
	return s->frames.data[known];
}

/* Reads the frames of the next array; *is_plain: all of them are numbers of frames. */
static stack_id read_frames(struct speedscope *s, bool *is_plain)
{
	enum { BLOCK = 64 };
	stack_id stack = {0};
	bool has_room = true;
	int64_t frames[BLOCK];
	size_t count = BLOCK;

	*is_plain = false;
	if (!json_array(&s->json))
		return stack;
	uint64_t bad_before = s->faults[FAULT_FRAME].count;
	bool is_numbers = true;
	while (count == BLOCK) {
		count = json_numbers(&s->json, 0, frames, BLOCK);
		for (size_t i = 0; i < count; i++) {
			is_numbers &= frames[i] != JSON_NO_NUMBER;
			if (frames[i] == JSON_NO_NUMBER)
				continue;
			if (has_room)
				has_room = stack_budget_take(&s->budget, s->builder, stack,
					frame_at(s, frames[i]), &stack);
			else
				s->budget.cut++;
		}
	}
	*is_plain = is_numbers && has_room && s->faults[FAULT_FRAME].count == bad_before &&
		    json_ok(&s->json);
	return stack;
}

/* *text is the text up to the array's first ']'; false: there is no array, or no ']'. */
static bool sample_text(struct speedscope *s, struct span *text)
{
	if (json_peek(&s->json) != JSON_ARRAY)
		return false;
	size_t at = json_offset(&s->json), left = s->input->size - at;
	if (left > UINT32_MAX)
		left = UINT32_MAX;
	*text = span_scan((struct str){(const char *)s->input->data + at, left}, ']');
	return text->size < left;
}

/*
 * The stack of the next sample.  Samples often recur with identical text, so known stacks are found
 * by their text.  It ends at the first ']', as it contains only numbers.
 */
static stack_id read_stack(struct speedscope *s)
{
	struct span text;
	bool is_plain, has_end = sample_text(s, &text);
	uint32_t known = has_end ? span_find(&s->stacks, text) : NO_ID;

	if (known != NO_ID) {
		json_pass(&s->json, text.size + 1);
		return (stack_id){known};
	}
	stack_id stack = read_frames(s, &is_plain);
	if (has_end && is_plain && s->stacks.count < s->stacks_max)
		span_intern(&s->stacks, text)->id = stack.i;
	return stack;
}

/* The column of weights, read in blocks. */
struct weights {
	struct json_reader *json;
	unsigned int digits;
	int64_t value[256];
	size_t at, count;
};

static bool next_weight(struct weights *w, int64_t *weight)
{
	if (w->at == w->count) {
		w->at = 0;
		w->count = json_numbers(w->json, w->digits, w->value, ARRAY_SIZE(w->value));
	}
	if (w->count == 0)
		return false;
	*weight = w->value[w->at++];
	return true;
}

static void add_samples(struct adding *a)
{
	struct speedscope *s = a->s;
	struct weights weights = {.json = &s->second, .digits = a->digits};
	int64_t weight = 0;
	bool has_sample, has_weight;

	json_return(&s->json, &a->profile->samples);
	json_return(&s->second, &a->profile->weights);
	if (!json_array(&s->json) || !json_array(&s->second))
		return;
	a->at = a->profile->start;
	for (;;) {
		has_sample = json_element(&s->json);
		has_weight = next_weight(&weights, &weight);
		if (!has_sample || !has_weight)
			break;
		stack_id stack = read_stack(s);
		if (weight == JSON_NO_NUMBER) {
			s->faults[FAULT_WEIGHT].count++;
			continue;
		}
		add_row(a, stack, a->at, weight);
		a->at = sum_saturating(a->at, weight > 0 ? weight : 0);
	}
	s->faults[FAULT_LENGTH].count += has_sample || has_weight;
}

/* ---- Events */

struct event {
	bool is_open, is_close;
	int64_t frame, at;
	bool has_at;
};

static struct event read_event(struct adding *a)
{
	struct json_reader *r = &a->s->json;
	struct event e = {.frame = -1};
	struct str key, type;

	if (!json_object(r))
		return e;
	while (json_key(r, &key)) {
		if (str_equal(key, STR("type")) && json_string(r, &type)) {
			e.is_open = type.size == 1 && type.data[0] == 'O';
			e.is_close = type.size == 1 && type.data[0] == 'C';
		} else if (str_equal(key, STR("frame"))) {
			(void)json_int(r, &e.frame);
		} else if (str_equal(key, STR("at"))) {
			e.has_at = json_decimal(r, a->digits, &e.at);
		}
	}
	return e;
}

/* Attributes the time up to `at` to the innermost frame. */
static void advance(struct adding *a, int64_t at)
{
	int64_t weight;

	if (at < a->at) {
		a->s->faults[FAULT_ORDER].count++;
		return;
	}
	if (__builtin_sub_overflow(at, a->at, &weight))
		a->s->faults[FAULT_WEIGHT].count++;
	else if (weight > 0 && a->open.count)
		add_row(a, a->open.data[a->open.count - 1].stack, a->at, weight);
	a->at = at;
}

static void play(struct adding *a, const struct event *e)
{
	struct speedscope *s = a->s;
	struct open_frame top = {0};

	if (a->open.count)
		top = a->open.data[a->open.count - 1];
	advance(a, e->at);
	frame_id frame = frame_at(s, e->frame);
	if (e->is_open) {
		stack_id stack;

		(void)stack_budget_take(&s->budget, s->builder, top.stack, frame, &stack);
		vec_push(&a->open, (struct open_frame){frame, stack});
		return;
	}
	/* Close the innermost frame even if it is another one, to keep the others balanced. */
	if (a->open.count == 0) {
		s->faults[FAULT_CLOSE].count++;
		return;
	}
	a->open.count--;
	s->faults[FAULT_CLOSE].count += top.frame.i != frame.i;
}

static void add_events(struct adding *a)
{
	struct speedscope *s = a->s;

	json_return(&s->json, &a->profile->events);
	if (!json_array(&s->json))
		return;
	a->at = a->profile->start;
	while (json_element(&s->json)) {
		struct event e = read_event(a);
		if (!json_ok(&s->json))
			break;
		if ((e.is_open || e.is_close) && e.has_at)
			play(a, &e);
		else
			s->faults[FAULT_ORDER].count++;
	}
	if (a->open.count) {
		s->faults[FAULT_OPEN].count += a->open.count;
		if (a->profile->end > a->at)
			advance(a, a->profile->end);
	}
	vec_deinit(&a->open);
}

/* Adds a profile's samples to the builder.  thread may be NO_ID. */
static void speedscope_add(
	struct speedscope *s, const struct speedscope_profile *p, thread_id thread)
{
	struct adding a = {
		.s = s, .profile = p, .thread = thread, .metric = speedscope_find_metric(s, p)};

	(void)speedscope_metric_of(p, &a.digits);
	if (a.metric == s->metric_count)
		s->faults[FAULT_METRIC].count++;
	else if (p->has_events)
		add_events(&a);
	else if (p->has_samples && p->has_weights)
		add_samples(&a);
	else
		s->faults[FAULT_PROFILE].count++;
}

/*
 * The maximum number of stacks: a fixed part, plus one per so many bytes.  An event that opens a
 * frame is longer; in a sample, a frame may take two bytes.
 */
#define STACKS_ANY    400000u
#define BYTES_A_STACK 24
/* The maximum number of distinct sample texts, which take 32 to 40 bytes each. */
#define TEXTS_ANY    65536u
#define BYTES_A_TEXT 64

/* ---- Frames */

static frame_id read_frame(struct speedscope *s, struct demangler *demangler)
{
	struct builder *b = s->builder;
	string_id name = {0}, file = {0};
	int64_t line = 0;
	struct str key, text;

	if (json_object(&s->json))
		while (json_key(&s->json, &key)) {
			if (str_equal(key, STR("name")) && json_string(&s->json, &text))
				name = builder_string(b, demangle_is_mangled(text)
								 ? demangle(demangler, text)
								 : text);
			else if (str_equal(key, STR("file")) && json_string(&s->json, &text))
				file = builder_string(b, text);
			else if (str_equal(key, STR("line")))
				(void)json_int(&s->json, &line);
		}
	if (builder_string_bytes(b, name).size == 0)
		name = builder_string(b, STR("[unknown]"));
	if (line < 0 || line > UINT32_MAX)
		line = 0;
	function_id f = builder_function(b, name, (object_id){NO_ID}, file, (uint32_t)line);
	return builder_frame(b, f, file, (uint32_t)line, false, 0);
}

static void read_shared(struct speedscope *s)
{
	struct demangler *demangler = demangler_create();
	struct str key;

	if (json_object(&s->json))
		while (json_key(&s->json, &key))
			if (str_equal(key, STR("frames")) && json_array(&s->json))
				while (json_element(&s->json))
					vec_push(&s->frames, read_frame(s, demangler));
	demangler_destroy(demangler);
}

/* ---- Profiles */

static void note_metric(struct speedscope *s, const struct speedscope_profile *p)
{
	unsigned int digits;
	struct speedscope_metric metric = speedscope_metric_of(p, &digits);
	bool is_time = str_equal(metric.unit, STR("ns")), is_ours = p->metric.size > 0;

	s->base = s->profile_count == 0 || p->start < s->base ? p->start : s->base;
	s->has_times = is_time && !is_ours && (s->has_times || s->profile_count == 0);
	s->has_rows |= p->has_thread || (!is_ours && s->profile_count > 0);
	s->has_events |= p->has_events;
	s->profile_count++;
	if (speedscope_find_metric(s, p) < s->metric_count ||
		s->metric_count == SPEEDSCOPE_METRICS_MAX)
		return;
	s->metrics[s->metric_count++] = (struct speedscope_metric){
		arena_str(s->arena, metric.name), arena_str(s->arena, metric.unit)};
}

/* Surveys the profiles. */
static void look_at_profiles(struct speedscope *s)
{
	if (json_array(&s->json))
		while (json_element(&s->json)) {
			struct speedscope_profile p = speedscope_members(s);
			/* A truncated profile has its beginning. */
			if (p.type.size || p.has_events || p.has_samples) {
				note_metric(s, &p);
			}
		}
}

static void add_metrics(struct speedscope *s)
{
	s->samples_metric = s->metric_count;
	for (size_t i = 0; i < s->metric_count; i++) {
		(void)builder_metric(s->builder, s->metrics[i].name, s->metrics[i].unit);
		if (metric_counts_samples(s->metrics[i].name, s->metrics[i].unit))
			s->samples_metric = i;
	}
	s->has_rows |= s->has_times;
	if (s->has_rows && (s->metric_count > 1 || s->has_events) &&
		s->samples_metric == s->metric_count)
		(void)builder_metric(s->builder, STR("samples"), STR("count"));
}

static bool take_number(struct str *name, int64_t *number)
{
	size_t i = name->size, begin;

	while (i && name->data[i - 1] >= '0' && name->data[i - 1] <= '9')
		i--;
	begin = i;
	if (begin == name->size || name->size - begin > 18)
		return false;
	for (*number = 0; i < name->size; i++)
		*number = *number * 10 + (name->data[i] - '0');
	name->size = begin;
	return true;
}

/*
 * Parses names: "main (tid 1)", and speedscope's own for traces: "main (pid 1, tid 2)", "server
 * (pid 1), main (tid 2)".
 */
static void read_name(struct speedscope_profile *p)
{
	struct str rest = p->name;
	int64_t tid, pid = 0;

	p->thread = p->name;
	if (!text_take_end(&rest, STR(")")) || !take_number(&rest, &tid) ||
		!text_take_end(&rest, STR("tid ")))
		return;
	if (text_take_end(&rest, STR(", "))) {
		if (!take_number(&rest, &pid) || !text_take_end(&rest, STR("pid ")))
			return;
	}
	if (!text_take_end(&rest, STR("(")))
		return;
	(void)text_take_end(&rest, STR(" "));
	p->thread = rest;
	p->tid = tid;
	p->pid = pid;
	p->has_thread = true;
	const char *comma = memmem(rest.data, rest.size, "), ", 3);
	struct str before = {rest.data, comma ? (size_t)(comma - rest.data) : 0};
	if (pid == 0 && comma && take_number(&before, &pid) &&
		text_take_end(&before, STR(" (pid "))) {
		p->pid = pid;
		p->process = before;
		p->thread = (struct str){comma + 3, (size_t)(rest.data + rest.size - comma) - 3};
	}
}

/* The thread of the profile with that number, from 1; threads differ by process, id or name. */
static thread_id thread_of(
	struct speedscope *s, struct task_ids *tasks, struct speedscope_profile *p, int64_t number)
{
	struct builder *b = s->builder;

	if (p->thread.size == 0 && !p->has_thread)
		read_name(p);
	if (!p->has_thread)
		p->tid = number;
	string_id process_name = builder_string(b, p->process);
	process_id process = task_process(tasks, b, p->pid, process_name, process_name);
	string_id name = builder_string(b, p->thread);
	return task_thread(tasks, b, process, p->tid, name, name);
}

static void read_profiles(struct speedscope *s)
{
	struct task_ids tasks = {0};
	thread_id thread = {NO_ID};
	int64_t count = 0;

	if (!json_array(&s->json))
		return;
	while (json_element(&s->json)) {
		struct speedscope_profile p = speedscope_members(s);
		struct json_mark behind = json_mark(&s->json);
		const uint8_t *bad = s->json.bad;
		const char *problem = s->json.problem;
		if (p.has_events || p.has_samples) {
			if (s->has_rows)
				thread = thread_of(s, &tasks, &p, ++count);
			speedscope_add(s, &p, thread);
		}
		json_return(&s->json, &behind);
		s->json.bad = bad;
		s->json.problem = problem;
	}
	task_ids_deinit(&tasks);
}

/* ---- The file */

static void add_notes(struct speedscope *s)
{
	static const struct fault_note notes[FAULT_COUNT] = {
		[FAULT_FRAME] = {NOTE_BAD_RECORD,
			"reference is to a missing frame, shown as [unknown]",
			"references are to missing frames, shown as [unknown]", FAULT_NOWHERE},
		[FAULT_ORDER] = {NOTE_BAD_RECORD,
			"event is not in the order of time, or has none; its time was taken as the "
			"last",
			"events are not in the order of time, or have none; their time was taken "
			"as the last",
			FAULT_NOWHERE},
		[FAULT_CLOSE] = {NOTE_BAD_RECORD, "event closes a frame that is not the innermost",
			"events close frames that are not the innermost", FAULT_NOWHERE},
		[FAULT_OPEN] = {NOTE_INCOMPLETE, "a frame is still open at its profile's end",
			"frames are still open at their profiles' ends", FAULT_NOWHERE},
		[FAULT_LENGTH] = {NOTE_BAD_RECORD, "profile has not as many weights as samples",
			"profiles have not as many weights as samples", FAULT_NOWHERE},
		[FAULT_WEIGHT] = {NOTE_BAD_RECORD,
			"weight is negative, or no number, and was skipped",
			"weights are negative, or no numbers, and were skipped", FAULT_NOWHERE},
		[FAULT_PROFILE] = {NOTE_BAD_RECORD, "profile is of an unknown kind and was skipped",
			"profiles are of an unknown kind and were skipped", FAULT_NOWHERE},
		[FAULT_METRIC] = {NOTE_BAD_RECORD,
			"profile has a metric beyond the 16 that sonde supports and was skipped",
			"profiles have metrics beyond the 16 that sonde supports and were skipped",
			FAULT_NOWHERE},
	};

	stack_budget_note(&s->budget, s->builder);
	json_damage_note(&s->json, s->builder);
	fault_notes(s->builder, s->faults, notes, FAULT_COUNT);
}

/* Finds the file's two parts, and surveys the profiles. */
static void find_parts(struct speedscope *s, struct json_mark *shared, struct json_mark *profiles)
{
	struct str key;

	if (!json_object(&s->json))
		return;
	while (json_key(&s->json, &key)) {
		if (str_equal(key, STR("shared"))) {
			*shared = json_mark(&s->json);
		} else if (str_equal(key, STR("profiles"))) {
			*profiles = json_mark(&s->json);
			look_at_profiles(s);
		}
	}
}

static struct error *read_parts(struct speedscope *s)
{
	struct json_mark shared = {0}, profiles = {0};
	const uint8_t *bad;

	find_parts(s, &shared, &profiles);
	if (s->metric_count == 0) {
		struct error *err = json_error(&s->json);
		return err ? err
			   : error_new(ERROR_INPUT, "%s: contains no speedscope profile",
				     s->input->name);
	}
	add_metrics(s);
	bad = s->json.bad;
	const char *problem = s->json.problem;
	if (shared.at) {
		json_return(&s->json, &shared);
		read_shared(s);
	}
	vec_push(&s->frames, frame_unknown(s->builder));
	json_return(&s->json, &profiles);
	read_profiles(s);
	s->json.bad = bad;
	s->json.problem = problem;
	add_notes(s);
	return NULL;
}

static struct error *speedscope_read(const struct reader_input *input, struct builder *builder)
{
	struct speedscope s = {.input = input,
		.builder = builder,
		.arena = arena_create(),
		.budget = {.left = STACKS_ANY + input->size / BYTES_A_STACK},
		.stacks_max = TEXTS_ANY + input->size / BYTES_A_TEXT};

	json_reader_init(&s.json, input->data, input->size, input->name);
	json_reader_init(&s.second, input->data, input->size, input->name);
	struct error *err = read_parts(&s);
	json_reader_deinit(&s.json);
	json_reader_deinit(&s.second);
	vec_deinit(&s.frames);
	row_table_deinit(&s.stacks);
	arena_destroy(s.arena);
	return err;
}

/* Bids by the schema's name, usually near the start or the end, or by both parts. */
static int speedscope_bid(const uint8_t *data, size_t size)
{
	struct str start = {(const char *)data, size < 65536 ? size : 65536}, end = start;
	size_t i = 0;

	end.data = (const char *)data + (size - end.size);
	while (i < start.size && (data[i] <= ' ' || data[i] >= 0x80))
		i++;
	if (i == start.size || data[i] != '{')
		return 0;
	if (text_contains(start, "speedscope.app/file-format-schema") ||
		text_contains(end, "speedscope.app/file-format-schema"))
		return 95;
	return text_contains(start, "\"shared\"") && text_contains(start, "\"frames\"") &&
			       text_contains(start, "\"profiles\"")
		       ? 60
		       : 0;
}

const struct reader reader_speedscope = {
	.name = "speedscope",
	.summary = "speedscope's JSON",
	.bid = speedscope_bid,
	.read = speedscope_read,
};
