/*
 * One profile of a speedscope file: its members, and its stacks as samples.
 *
 * A list of samples and the list of their weights are walked side by side by two parsers.  Events
 * are played: what goes by between two of them is the innermost frame's.
 */
#include "formats/speedscope/reader.h"

static struct str keep(struct speedscope *s)
{
	struct str text;

	return json_string(&s->json, &text) ? arena_str(s->arena, text) : STR("");
}

/* What our own writer says beside. */
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

struct speedscope_metric speedscope_metric_of(
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

size_t speedscope_find_metric(const struct speedscope *s, const struct speedscope_profile *p)
{
	unsigned int digits;
	struct speedscope_metric metric = speedscope_metric_of(p, &digits);
	size_t i = 0;

	while (i < s->metric_count && !(str_equal(s->metrics[i].name, metric.name) &&
					      str_equal(s->metrics[i].unit, metric.unit)))
		i++;
	return i;
}

struct speedscope_profile speedscope_members(struct speedscope *s)
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
	/* The unit may come last.  A fault stays where it was found. */
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

/* A profile that is added. */
struct adding {
	struct speedscope *s;
	const struct speedscope_profile *profile;
	thread_id thread;
	size_t metric;
	unsigned int digits;
	int64_t at; /* of the last event; of samples the sum of those before */
	VEC(struct open_frame) open;
};

/* How many samples a weight of a profile without threads stands for. */
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
	/* What is between events is no sample; of our own several metrics one has the samples. */
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

/* The frames of the array that comes next; *is_plain: they were numbers of frames, all of them. */
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

/* What is up to the array's first ']', in *text; false: there is no array, or no end of it. */
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
 * The stack of the sample that comes next.  Samples come again and again, in the same words: the
 * stack of one that came before is known by its text, which ends at the first ']' as there are but
 * numbers in it.
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
		if (weight > 0 && __builtin_add_overflow(a->at, weight, &a->at))
			a->at = INT64_MAX;
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

/* Up to that time the innermost frame went on. */
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
	/* The innermost is closed even if it is another: that keeps the others in balance. */
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

void speedscope_add(struct speedscope *s, const struct speedscope_profile *p, thread_id thread)
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
