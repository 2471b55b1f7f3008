/*
 * The samples of OTLP profiles.  See reader.h.
 *
 * A Profile has one figure for each sample.  Consecutive Profiles with the same scope and time but
 * different metrics may hold several figures of the same samples, for example after conversion from
 * pprof.  So they are read in parallel, and rows with the same stack, thread, labels and time
 * become one sample.
 */
#include <inttypes.h>

#include "base/saturate.h"
#include "formats/otlp/reader.h"

/* Per sample, in all its repeated fields; further ones are skipped. */
enum { ELEMENTS_MAX = 4 << 20 };

struct profile_head {
	struct str type, unit;
	uint64_t time_ns, duration_ns;
	bool has_period;
	struct str period_unit;
	int64_t period;
	uint64_t offset;
};

static void read_type(struct otlp *o, struct cursor row, struct str *type, struct str *unit)
{
	struct proto_field f;

	while (otlp_next(o, &row, &f)) {
		if (f.number == TYPE_NAME)
			*type = otlp_string(o, f.value, f.offset);
		else if (f.number == TYPE_UNIT)
			*unit = otlp_string(o, f.value, f.offset);
	}
}

static struct profile_head read_head(struct otlp *o, struct cursor profile)
{
	struct profile_head head = {.type = STR(""), .unit = STR(""), .period_unit = STR("")};
	struct str period_type = STR("");
	struct proto_field f;

	head.offset = cursor_offset(&profile);
	while (otlp_next(o, &profile, &f))
		switch (f.number) {
		case PROFILE_SAMPLE_TYPE:
			read_type(o, proto_message(&profile, &f), &head.type, &head.unit);
			break;
		case PROFILE_TIME:
			head.time_ns = f.value;
			break;
		case PROFILE_DURATION:
			head.duration_ns = f.value;
			break;
		case PROFILE_PERIOD_TYPE:
			read_type(o, proto_message(&profile, &f), &period_type, &head.period_unit);
			break;
		case PROFILE_PERIOD:
			head.period = (int64_t)f.value;
			break;
		default:
			break;
		}
	return head;
}

/* The metric with that name, added if new; false: there is no room for it. */
static bool metric_of(
	struct otlp *o, const struct profile_head *head, metric_id *metric, int64_t *scale)
{
	struct str unit = otlp_unit(head->unit, scale);
	struct str type = head->type.size ? head->type : STR("samples");

	for (uint32_t i = 0; i < o->metric_count; i++) {
		*metric = (metric_id){i};
		if (str_equal(o->metrics[i].type, type) && str_equal(o->metrics[i].unit, unit))
			return true;
	}
	if (o->metric_count == OTLP_METRICS_MAX || o->are_metrics_known)
		return false;
	*metric = builder_metric(o->builder, type, unit);
	if (metric_counts_samples(type, unit))
		o->samples_metric = metric->i;
	o->metrics[o->metric_count].type = type;
	o->metrics[o->metric_count++].unit = unit;
	return true;
}

/* ---- one sample ---- */

/* Iterates over the rows of a profile: its samples, and the times of each sample. */
struct rows {
	struct cursor profile;
	metric_id metric;
	int64_t scale;
	uint64_t time_ns; /* of the profile */
	VEC(uint64_t) values, times;
	VEC(uint32_t) attributes;
	size_t next, count; /* rows of the current sample */
	bool is_open;	    /* there is a current row */
	stack_id stack;
	struct otlp_identity identity;
	/* The current row. */
	int64_t value;
	uint64_t row_time;
};

struct sample_fields {
	uint64_t stack, link, offset;
};

static void read_values(struct rows *r, struct cursor *c, const struct proto_field *f)
{
	struct proto_numbers numbers = proto_numbers(c, f, PROTO_VARINT);
	uint64_t value;

	while (r->values.count < ELEMENTS_MAX && proto_number(&numbers, &value))
		vec_push(&r->values, value);
}

static void read_times(struct rows *r, struct cursor *c, const struct proto_field *f)
{
	struct proto_numbers numbers = proto_numbers(c, f, PROTO_FIXED64);
	uint64_t value;

	while (r->times.count < ELEMENTS_MAX && proto_number(&numbers, &value))
		vec_push(&r->times, value);
}

static void read_attributes(struct rows *r, struct cursor *c, const struct proto_field *f)
{
	struct proto_numbers numbers = proto_numbers(c, f, PROTO_VARINT);
	uint64_t value;

	while (r->attributes.count < ELEMENTS_MAX && proto_number(&numbers, &value))
		vec_push(&r->attributes, value < UINT32_MAX ? (uint32_t)value : UINT32_MAX - 1);
}

static struct sample_fields read_fields(struct otlp *o, struct rows *r, struct cursor sample)
{
	const struct otlp_layout *at = o->layout;
	struct sample_fields s = {.offset = cursor_offset(&sample)};
	struct proto_field f;

	r->values.count = r->times.count = r->attributes.count = 0;
	while (otlp_next(o, &sample, &f)) {
		if (f.number == SAMPLE_STACK)
			s.stack = f.value;
		else if (f.number == at->attribute)
			read_attributes(r, &sample, &f);
		else if (f.number == at->link)
			s.link = f.value;
		else if (f.number == at->value)
			read_values(r, &sample, &f);
		else if (f.number == SAMPLE_TIMESTAMP)
			read_times(r, &sample, &f);
	}
	return s;
}

/* The number of rows of the sample, by its values and times; 0: invalid. */
static size_t row_count(const struct rows *r)
{
	if (r->times.count == 0)
		return r->values.count ? 1 : 0;
	return r->values.count == 0 || r->values.count == r->times.count ? r->times.count : 0;
}

/* ---- layouts ---- */

static const struct otlp_layout layout_1_10 = {SAMPLE_ATTRIBUTE, SAMPLE_LINK, SAMPLE_VALUE};
static const struct otlp_layout layout_1_8 = {.value = 2, .attribute = 3, .link = 4};

/* What a sample shows about the layout: lists are bytes, links are numbers. */
static void look_at_sample(struct otlp *o, struct cursor sample)
{
	struct proto_field f;
	bool has_second = false, has_more = false;

	while (otlp_next(o, &sample, &f)) {
		bool is_list = f.type == PROTO_BYTES;

		o->is_1_8 |= (f.number == 3 && is_list) || (f.number == 4 && !is_list);
		o->is_1_10 |= (f.number == 3 && !is_list) || (f.number == 4 && is_list);
		has_second |= f.number == 2;
		has_more |= f.number > 2;
	}
	/* A sample cannot have attributes only, but it can have values only. */
	o->may_be_1_8 |= has_second && !has_more;
}

static void look_at_profile(struct otlp *o, struct cursor profile)
{
	struct proto_field f;

	while (otlp_next(o, &profile, &f)) {
		/* Until 1.7, a list of locations; in 1.8, the profile's id. */
		o->is_1_7 |= f.number == PROFILE_TIME && f.type == PROTO_BYTES;
		o->is_1_8 |= f.number == 8 && f.type == PROTO_BYTES;
		if (f.number == PROFILE_SAMPLE && f.type == PROTO_BYTES)
			look_at_sample(o, proto_message(&profile, &f));
	}
}

void otlp_samples_layout(struct otlp *o, struct cursor resource_profiles)
{
	struct proto_field f, profile;

	while (otlp_next(o, &resource_profiles, &f)) {
		struct cursor message = proto_message(&resource_profiles, &f);

		while (f.number == RESOURCE_PROFILES_SCOPES && otlp_next(o, &message, &profile))
			if (profile.number == SCOPE_PROFILES_PROFILE && profile.type == PROTO_BYTES)
				look_at_profile(o, proto_message(&message, &profile));
	}
	/* JSON has names, which were converted to 1.11's numbers. */
	bool is_old = (o->is_1_8 || o->may_be_1_8) && o->json.size == 0;

	o->layout = is_old && !o->is_1_10 ? &layout_1_8 : &layout_1_10;
}

/* ---- the survey of all samples ---- */

static void survey_sample(struct otlp *o, struct rows *r, struct cursor sample)
{
	struct sample_fields s = read_fields(o, r, sample);

	o->row_count += row_count(r);
	o->has_times |= r->times.count > 0;
	o->has_labels |= r->attributes.count > 0 || s.link;
	for (size_t i = 0; i < r->times.count; i++) {
		if (r->times.data[i] < o->start_ns)
			o->start_ns = r->times.data[i];
		if (r->times.data[i] > o->last_ns)
			o->last_ns = r->times.data[i];
	}
}

static void survey_period(struct otlp *o, const struct profile_head *head)
{
	struct profile_stats *stats = &builder_header(o->builder)->stats;
	int64_t scale, ns;

	if (head->period > 0 && str_equal(otlp_unit(head->period_unit, &scale), STR("ns")) &&
		head->period_unit.size && !__builtin_mul_overflow(head->period, scale, &ns) &&
		stats->interval_ns == UINT64_MAX)
		stats->interval_ns = stats->interval_asked_ns = (uint64_t)ns;
}

static void survey_profile(struct otlp *o, struct rows *r, struct cursor profile)
{
	struct profile_head head = read_head(o, profile);
	struct proto_field f;
	uint64_t end_ns = head.time_ns;
	metric_id metric;
	int64_t scale;

	(void)metric_of(o, &head, &metric, &scale);
	survey_period(o, &head);
	o->says_start |= head.time_ns > 0;
	if (head.time_ns && head.time_ns < o->start_ns)
		o->start_ns = head.time_ns;
	add_saturating(&end_ns, head.duration_ns);
	if (head.duration_ns && end_ns > o->end_ns)
		o->end_ns = end_ns;
	while (otlp_next(o, &profile, &f))
		if (f.number == PROFILE_SAMPLE && f.type == PROTO_BYTES)
			survey_sample(o, r, proto_message(&profile, &f));
}

static void survey_resource(struct otlp *o, struct cursor resource)
{
	struct otlp_attribute attribute;
	struct proto_field f;
	bool has_more = false;

	while (otlp_next(o, &resource, &f))
		if (f.number == RESOURCE_ATTRIBUTE &&
			otlp_attribute(o, proto_message(&resource, &f), true, &attribute)) {
			o->has_threads |= otlp_key_is_thread(attribute.key);
			has_more |= !otlp_key_is_thread(attribute.key);
		}
	o->resource_count += has_more;
}

static void rows_deinit(struct rows *r)
{
	vec_deinit(&r->values);
	vec_deinit(&r->times);
	vec_deinit(&r->attributes);
}

void otlp_samples_survey(struct otlp *o, struct cursor resource_profiles)
{
	struct proto_field f, profile;
	struct rows r = {0};

	while (otlp_next(o, &resource_profiles, &f)) {
		struct cursor message = proto_message(&resource_profiles, &f);

		if (f.number == RESOURCE_PROFILES_RESOURCE)
			survey_resource(o, message);
		while (f.number == RESOURCE_PROFILES_SCOPES && otlp_next(o, &message, &profile))
			if (profile.number == SCOPE_PROFILES_PROFILE && profile.type == PROTO_BYTES)
				survey_profile(o, &r, proto_message(&message, &profile));
	}
	rows_deinit(&r);
}

/* ---- reading in parallel ---- */

/* The next valid sample; false: the end. */
static bool next_sample(struct otlp *o, struct rows *r)
{
	struct proto_field f;

	while (otlp_next(o, &r->profile, &f)) {
		if (f.number != PROFILE_SAMPLE || f.type != PROTO_BYTES)
			continue;
		struct sample_fields s = read_fields(o, r, proto_message(&r->profile, &f));

		r->next = 0;
		r->count = row_count(r);
		if (r->count == 0)
			fault_add(&o->faults[FAULT_SAMPLE], f.offset);
		else if (otlp_stack(o, s.stack, s.offset, &r->stack)) {
			if (o->keeps_samples)
				r->identity = otlp_identify(o, r->attributes.data,
					r->attributes.count, s.link, s.offset);
			return true;
		}
	}
	return false;
}

/* Values without times are summed: they belong to one stack and cannot be distinguished. */
static int64_t aggregated(const struct rows *r, bool *fits)
{
	int64_t sum = 0;

	for (size_t i = 0; i < r->values.count; i++)
		*fits &= !__builtin_add_overflow(sum, (int64_t)r->values.data[i], &sum);
	return sum;
}

static void next_row(struct otlp *o, struct rows *r)
{
	bool fits = true;

	r->is_open = r->next < r->count || next_sample(o, r);
	if (!r->is_open)
		return;
	r->row_time = r->times.count ? r->times.data[r->next] : r->time_ns;
	if (r->values.count == 0)
		r->value = 1;
	else if (r->times.count == 0)
		r->value = aggregated(r, &fits);
	else
		r->value = (int64_t)r->values.data[r->next];
	fits &= !__builtin_mul_overflow(r->value, r->scale, &r->value);
	if (!fits) {
		fault_add(&o->faults[FAULT_OVERFLOW], cursor_offset(&r->profile));
		r->value = 0;
	}
	r->next++;
}

static bool is_same_row(const struct rows *a, const struct rows *b)
{
	return a->stack.i == b->stack.i && a->identity.thread.i == b->identity.thread.i &&
	       a->identity.labels.i == b->identity.labels.i && a->row_time == b->row_time;
}

static void add_row(struct otlp *o, const struct rows *r, const int64_t *weight)
{
	bool counts = r->times.count || o->samples_metric != SIZE_MAX;
	uint64_t samples =
		o->samples_metric == SIZE_MAX ? 1 : sample_count(&weight[o->samples_metric]);

	if (!o->keeps_samples) {
		builder_weight(o->builder, r->stack, weight, counts ? samples : UINT64_MAX);
		return;
	}
	uint64_t time_ns = r->row_time > o->start_ns ? r->row_time - o->start_ns : 0;

	builder_sample(o->builder, r->stack, r->identity.thread,
		o->has_times ? builder_time(time_ns) : UINT64_MAX, weight);
	builder_sample_labels(o->builder, r->identity.labels);
}

/* Reads one row of each profile that has it.  If rows differ, the first profile's comes first. */
static void read_group(struct otlp *o, struct rows *rows, size_t count)
{
	int64_t weight[OTLP_METRICS_MAX];

	for (size_t i = 0; i < count; i++)
		next_row(o, &rows[i]);
	for (;;) {
		size_t first = 0;

		while (first < count && !rows[first].is_open)
			first++;
		if (first == count)
			return;
		memset(weight, 0, sizeof(weight));
		struct rows row = rows[first];

		weight[row.metric.i] = row.value;
		for (size_t i = first + 1; i < count; i++)
			if (rows[i].is_open && is_same_row(&rows[i], &row)) {
				weight[rows[i].metric.i] = rows[i].value;
				next_row(o, &rows[i]);
			}
		add_row(o, &row, weight);
		next_row(o, &rows[first]);
	}
}

static bool has_metric(const struct rows *rows, size_t count, metric_id metric)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].metric.i == metric.i)
			return true;
	return false;
}

/* Adds a profile with that metric to the group; false: it does not belong to it. */
static bool join_group(struct rows *rows, size_t count, const struct profile_head *head,
	struct cursor profile, metric_id metric, int64_t scale)
{
	struct rows *r = &rows[count];

	if (has_metric(rows, count, metric) || (count && rows[0].time_ns != head->time_ns))
		return false;
	r->profile = profile;
	r->metric = metric;
	r->scale = scale;
	r->time_ns = head->time_ns;
	r->next = r->count = 0;
	return true;
}

static void read_scope(struct otlp *o, struct cursor scope)
{
	struct rows rows[OTLP_METRICS_MAX + 1] = {0};
	struct proto_field f;
	size_t count = 0;

	while (otlp_next(o, &scope, &f)) {
		struct cursor profile = proto_message(&scope, &f);
		metric_id metric;
		int64_t scale;

		if (f.number != SCOPE_PROFILES_PROFILE)
			continue;
		struct profile_head head = read_head(o, profile);

		if (!metric_of(o, &head, &metric, &scale)) {
			fault_add(&o->faults[FAULT_PROFILE], f.offset);
			continue;
		}
		if (!join_group(rows, count, &head, profile, metric, scale)) {
			read_group(o, rows, count);
			count = 0;
			(void)join_group(rows, count, &head, profile, metric, scale);
		}
		count++;
	}
	read_group(o, rows, count);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows_deinit(&rows[i]);
}

void otlp_samples_read(struct otlp *o, struct cursor resource_profiles)
{
	struct cursor at = resource_profiles, none;
	struct proto_field f;

	/* The resource may come after its data. */
	cursor_init(&none, "", 0, o->input->name, 0);
	while (otlp_next(o, &at, &f))
		if (f.number == RESOURCE_PROFILES_RESOURCE)
			none = proto_message(&at, &f);
	otlp_labels_resource(o, none);
	while (otlp_next(o, &resource_profiles, &f))
		if (f.number == RESOURCE_PROFILES_SCOPES && f.type == PROTO_BYTES)
			read_scope(o, proto_message(&resource_profiles, &f));
}
