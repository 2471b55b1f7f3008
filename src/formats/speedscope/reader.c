/*
 * speedscope's own JSON, of all versions since 0.0.1, from which the layout has only grown.
 * docs/formats/speedscope.md says what becomes of what.
 *
 * Source: speedscope's src/lib/file-format-spec.ts, which is the format's definition.
 *
 * Members may come in any order, and metrics must be known before the first stack: so the file is
 * passed over first, for the frames and for what the profiles are of, then each profile is read.
 */
#include "formats/speedscope/reader.h"

#include "obj/demangle.h"

/*
 * Stacks of any file, and of each so many bytes one more.  An event that opens a frame has more
 * bytes than that; in a sample a frame may have two.
 */
#define STACKS_ANY    400000u
#define BYTES_A_STACK 24
/* As many distinct texts of samples are kept, each of which takes 32 to 40 bytes. */
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

/* What the profiles are of. */
static void look_at_profiles(struct speedscope *s)
{
	if (json_array(&s->json))
		while (json_element(&s->json)) {
			struct speedscope_profile p = speedscope_members(s);
			/* One that is cut off has its beginning. */
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

static bool take_end(struct str *name, struct str end)
{
	if (!str_ends_with(*name, end))
		return false;
	name->size -= end.size;
	return true;
}

/*
 * What names say: "main (tid 1)", and what speedscope makes of traces: "main (pid 1, tid 2)",
 * "server (pid 1), main (tid 2)".
 */
static void read_name(struct speedscope_profile *p)
{
	struct str rest = p->name;
	int64_t tid, pid = 0;

	p->thread = p->name;
	if (!take_end(&rest, STR(")")) || !take_number(&rest, &tid) ||
		!take_end(&rest, STR("tid ")))
		return;
	if (take_end(&rest, STR(", "))) {
		if (!take_number(&rest, &pid) || !take_end(&rest, STR("pid ")))
			return;
	}
	if (!take_end(&rest, STR("(")))
		return;
	(void)take_end(&rest, STR(" "));
	p->thread = rest;
	p->tid = tid;
	p->pid = pid;
	p->has_thread = true;
	const char *comma = memmem(rest.data, rest.size, "), ", 3);
	struct str before = {rest.data, comma ? (size_t)(comma - rest.data) : 0};
	if (pid == 0 && comma && take_number(&before, &pid) && take_end(&before, STR(" (pid "))) {
		p->pid = pid;
		p->process = before;
		p->thread = (struct str){comma + 3, (size_t)(rest.data + rest.size - comma) - 3};
	}
}

/* The thread of the profile of that number, from 1: threads are told apart by process, id and name.
 */
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
			"reference is to a frame that is not there, shown as [unknown]",
			"references are to frames that are not there, shown as [unknown]",
			FAULT_NOWHERE},
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
			"weight is negative, or no number, and was passed over",
			"weights are negative, or no numbers, and were passed over", FAULT_NOWHERE},
		[FAULT_PROFILE] = {NOTE_BAD_RECORD,
			"profile is of no kind that is known, and was passed over",
			"profiles are of no kind that is known, and were passed over",
			FAULT_NOWHERE},
		[FAULT_METRIC] = {NOTE_BAD_RECORD,
			"profile is of a metric beyond the 16 that there may be, and was passed "
			"over",
			"profiles are of metrics beyond the 16 that there may be, and were passed "
			"over",
			FAULT_NOWHERE},
	};

	stack_budget_note(&s->budget, s->builder);
	json_damage_note(&s->json, s->builder);
	fault_notes(s->builder, s->faults, notes, FAULT_COUNT);
}

/* Where the file's two parts are; the profiles are looked at on the way. */
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
			   : error_new(ERROR_INPUT, "%s: there is no speedscope profile in it",
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

static bool has_text(struct str s, const char *text)
{
	return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/* Its schema is named at the start, mostly, or at the end; or else both of its parts are. */
static int speedscope_bid(const uint8_t *data, size_t size)
{
	struct str start = {(const char *)data, size < 65536 ? size : 65536}, end = start;
	size_t i = 0;

	end.data = (const char *)data + (size - end.size);
	while (i < start.size && (data[i] <= ' ' || data[i] >= 0x80))
		i++;
	if (i == start.size || data[i] != '{')
		return 0;
	if (has_text(start, "speedscope.app/file-format-schema") ||
		has_text(end, "speedscope.app/file-format-schema"))
		return 95;
	return has_text(start, "\"shared\"") && has_text(start, "\"frames\"") &&
			       has_text(start, "\"profiles\"")
		       ? 60
		       : 0;
}

const struct reader reader_speedscope = {
	.name = "speedscope",
	.summary = "speedscope's JSON",
	.bid = speedscope_bid,
	.read = speedscope_read,
};
