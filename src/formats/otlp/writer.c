/*
 * Writes OpenTelemetry profiles, a ProfilesData message of opentelemetry-proto 1.11, as
 * formats/otlp/reader.c reads it; docs/formats/otlp.md defines the output exactly.
 *
 * A Profile holds one figure, so there is one per metric.  All have the same samples in the same
 * order: one for each stack, thread and set of labels, with all its times.  A message is preceded
 * by its length, and messages nest.  So profiles are generated twice, first to count their bytes,
 * and only one sample is in memory at a time.
 */
#include "formats/otlp/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "formats/writers.h"

/* A Profile to write: for a metric, or for the number of samples. */
struct figure {
	const int64_t *of_sample, *of_row;
	const uint64_t *counts; /* by row, for the number of samples; replaces the weights */
	struct str name, unit;
	bool is_one;   /* all its values are 1 and have times, so values are omitted */
	uint64_t size; /* of the message, once counted */
};

struct writing {
	const struct writer_options *options;
	struct otlp_writer tables;
	const struct profile *profile;
	struct sink *sink;
	struct figure *figures;
	size_t figure_count;
	uint32_t *order; /* samples, or stacks; equal identities are adjacent */
	size_t order_count;
	uint64_t start_ns, duration_ns;
	bool is_counting;
	uint64_t counted;
	struct strbuf sample;
};

/* ---- what to write ---- */

static int number_compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static uint32_t thread_at(const struct samples *s, uint32_t i)
{
	return s->thread ? s->thread[i].i : NO_ID;
}

static uint32_t labels_at(const struct samples *s, uint32_t i)
{
	return s->labels ? s->labels[i].i : 0;
}

/* Order by who and what was sampled. */
static int identity_compare(const struct samples *s, uint32_t x, uint32_t y)
{
	int order = number_compare(s->stack[x].i, s->stack[y].i);

	if (order == 0)
		order = number_compare(thread_at(s, x), thread_at(s, y));
	return order ? order : number_compare(labels_at(s, x), labels_at(s, y));
}

static int sample_compare(const void *a, const void *b, void *context)
{
	const uint32_t *x = a, *y = b;
	int order = identity_compare(context, *x, *y);

	return order ? order : number_compare(*x, *y);
}

static void find_order(struct writing *w)
{
	const struct profile *p = w->profile;

	w->order_count = p->samples.count ? p->samples.count : p->stack_count;
	w->order = xcalloc(w->order_count, sizeof(*w->order));
	for (size_t i = 0; i < w->order_count; i++)
		w->order[i] = (uint32_t)i;
	if (p->samples.count)
		qsort_r(w->order, w->order_count, sizeof(*w->order), sample_compare,
			(void *)(uintptr_t)&p->samples);
}

static bool all_are_one(const struct profile *p, const int64_t *weight)
{
	for (size_t i = 0; i < p->samples.count; i++)
		if (weight[i] != 1)
			return false;
	return p->samples.time_ns != NULL;
}

static void add_metric(struct writing *w, size_t m)
{
	const struct profile *p = w->profile;
	const int64_t *of_sample = p->samples.count ? p->samples.weight[m] : NULL;

	w->figures[w->figure_count++] = (struct figure){.of_sample = of_sample,
		.of_row = p->row_weight[m],
		.name = profile_string(p, p->metrics[m].name),
		.unit = profile_string(p, p->metrics[m].unit),
		.is_one = of_sample && all_are_one(p, of_sample)};
}

/* The default metric comes first, as viewers show the first one; the number of samples is added. */
static void find_figures(struct writing *w)
{
	const struct profile *p = w->profile;
	bool counts = p->row_samples && p->samples.time_ns == NULL;

	w->figures = xcalloc(p->metric_count + 1, sizeof(*w->figures));
	add_metric(w, p->default_metric.i);
	for (size_t m = 0; m < p->metric_count; m++) {
		counts &= !metric_counts_samples(profile_string(p, p->metrics[m].name),
			profile_string(p, p->metrics[m].unit));
		if (m != p->default_metric.i)
			add_metric(w, m);
	}
	if (counts)
		w->figures[w->figure_count++] = (struct figure){
			.counts = p->row_samples, .name = STR("samples"), .unit = STR("count")};
}

/* Timestamps must be before the end. */
static void find_extent(struct writing *w)
{
	const struct profile *p = w->profile;
	uint64_t last_ns = 0;

	w->start_ns = p->start_unix_ns;
	w->duration_ns = p->stats.duration_ns == UINT64_MAX ? 0 : p->stats.duration_ns;
	for (size_t i = 0; p->samples.time_ns && i < p->samples.count; i++)
		if (p->samples.time_ns[i] > last_ns)
			last_ns = p->samples.time_ns[i];
	if (p->samples.time_ns && last_ns >= w->duration_ns)
		w->duration_ns = last_ns + 1;
}

/* ---- written, or counted ---- */

/* Accepts the text put into the sink; false: stop writing. */
static bool settle(struct writing *w)
{
	return w->is_counting || sink_settle(w->sink);
}

static void put(struct writing *w, const struct strbuf *bytes)
{
	if (w->is_counting)
		w->counted += bytes->size;
	else
		strbuf_add(&w->sink->text, strbuf_str(bytes));
}

/* Writes the start of a message with a known size. */
static void put_head(struct strbuf *out, uint32_t number, uint64_t size)
{
	proto_put_packed(out, (uint64_t)number << 3 | PROTO_BYTES);
	proto_put_packed(out, size);
}

static uint64_t head_size(uint32_t number, uint64_t size)
{
	struct strbuf head = {0};

	put_head(&head, number, size);
	uint64_t result = head.size;
	strbuf_deinit(&head);
	return result;
}

/* ---- samples ---- */

/* The sum over order[first … end - 1]. */
static int64_t sum_of(const struct writing *w, const struct figure *f, size_t first, size_t end)
{
	int64_t sum = 0;

	for (size_t i = first; i < end; i++) {
		uint32_t item = w->order[i];

		if (f->of_sample)
			sum += f->of_sample[item];
		else if (f->of_row)
			sum += f->of_row[profile_row(w->profile, item)];
		else if (w->profile->samples.count)
			sum++;
		else
			sum += (int64_t)f->counts[profile_row(w->profile, item)];
	}
	return sum;
}

static void put_values(struct writing *w, const struct figure *f, size_t first, size_t end)
{
	size_t begun = proto_begin(&w->sample, SAMPLE_VALUE);

	for (size_t i = first; i < end; i++)
		proto_put_packed(&w->sample, (uint64_t)f->of_sample[w->order[i]]);
	proto_end(&w->sample, begun);
}

static void put_times(struct writing *w, size_t first, size_t end)
{
	size_t begun = proto_begin(&w->sample, SAMPLE_TIMESTAMP);

	for (size_t i = first; i < end; i++) {
		uint64_t time_ns = w->start_ns + w->profile->samples.time_ns[w->order[i]];
		char bytes[8];

		for (unsigned int k = 0; k < 8; k++)
			bytes[k] = (char)(time_ns >> 8 * k);
		strbuf_add(&w->sample, (struct str){bytes, sizeof(bytes)});
	}
	proto_end(&w->sample, begun);
}

static void put_sample(struct writing *w, const struct figure *f, size_t first, size_t end)
{
	const struct samples *s = &w->profile->samples;
	uint32_t row = w->order[first];
	int64_t sum = s->time_ns ? 0 : sum_of(w, f, first, end);

	if (s->time_ns == NULL && sum == 0)
		return;
	strbuf_clear(&w->sample);
	size_t begun = proto_begin(&w->sample, PROFILE_SAMPLE);
	otlp_put_identity(&w->tables, &w->sample, s->count ? s->stack[row] : (stack_id){row},
		(thread_id){s->count ? thread_at(s, row) : NO_ID},
		(label_set_id){s->count ? labels_at(s, row) : 0});
	if (s->time_ns == NULL) {
		size_t values = proto_begin(&w->sample, SAMPLE_VALUE);

		proto_put_packed(&w->sample, (uint64_t)sum);
		proto_end(&w->sample, values);
	} else {
		if (!f->is_one)
			put_values(w, f, first, end);
		put_times(w, first, end);
	}
	proto_end(&w->sample, begun);
	put(w, &w->sample);
}

/* How many entries of order from `first` on have the same identity. */
static size_t run_end(const struct writing *w, size_t first)
{
	const struct samples *s = &w->profile->samples;
	size_t end = first + 1;

	while (s->count && end < w->order_count &&
		identity_compare(s, w->order[first], w->order[end]) == 0)
		end++;
	return end;
}

/* ---- profiles ---- */

static uint32_t unit_row(struct writing *w, struct str unit)
{
	if (str_equal(unit, STR("ns")))
		unit = STR("nanoseconds");
	return otlp_writer_text(&w->tables, unit);
}

static void put_type(
	struct writing *w, struct strbuf *out, uint32_t number, struct str type, struct str unit)
{
	uint32_t type_row = otlp_writer_text(&w->tables, type), row = unit_row(w, unit);
	size_t begun = proto_begin(out, number);

	if (type_row)
		proto_put_varint(out, TYPE_NAME, type_row);
	if (row)
		proto_put_varint(out, TYPE_UNIT, row);
	proto_end(out, begun);
}

static void put_profile(struct writing *w, const struct figure *f)
{
	const struct profile *p = w->profile;
	struct strbuf fields = {0};

	put_type(w, &fields, PROFILE_SAMPLE_TYPE, f->name, f->unit);
	if (w->start_ns)
		proto_put_fixed64(&fields, PROFILE_TIME, w->start_ns);
	if (w->duration_ns)
		proto_put_varint(&fields, PROFILE_DURATION, w->duration_ns);
	if (p->stats.interval_ns != UINT64_MAX && p->stats.interval_ns <= INT64_MAX) {
		put_type(w, &fields, PROFILE_PERIOD_TYPE, STR("cpu"), STR("ns"));
		proto_put_varint(&fields, PROFILE_PERIOD, p->stats.interval_ns);
	}
	put(w, &fields);
	strbuf_deinit(&fields);
	for (size_t first = 0, end; first < w->order_count; first = end) {
		end = run_end(w, first);
		put_sample(w, f, first, end);
		if (!settle(w))
			return;
	}
}

static void put_attribute(struct strbuf *out, struct str key, struct str text)
{
	struct strbuf escaped = {0};

	if (text.size == 0)
		return;
	escape_text(&escaped, text);
	size_t attribute = proto_begin(out, RESOURCE_ATTRIBUTE);
	proto_put_string(out, KEY_VALUE_KEY, key);
	size_t value = proto_begin(out, KEY_VALUE_VALUE);
	proto_put_bytes(out, VALUE_STRING, strbuf_str(&escaped));
	proto_end(out, value);
	proto_end(out, attribute);
	strbuf_deinit(&escaped);
}

/* Puts what the profile says, unless the options do. */
static void put_own_attribute(
	const struct writing *w, struct strbuf *out, struct str key, string_id text)
{
	for (size_t i = 0; i < w->options->attribute_count; i++)
		if (str_equal(w->options->attributes[i].key, key))
			return;
	put_attribute(out, key, profile_string(w->profile, text));
}

/* Writes a ResourceProfiles: its resource, and one scope with all profiles. */
static void put_resource_profiles(struct writing *w)
{
	const struct profile *p = w->profile;
	struct strbuf resource = {0}, scope = {0};
	uint64_t scope_size;
	size_t begun = proto_begin(&resource, RESOURCE_PROFILES_RESOURCE);

	for (size_t i = 0; i < w->options->attribute_count; i++)
		put_attribute(
			&resource, w->options->attributes[i].key, w->options->attributes[i].value);
	put_own_attribute(w, &resource, STR("host.name"), p->host);
	put_own_attribute(w, &resource, STR("process.command_line"), p->command);
	proto_end(&resource, begun);
	begun = proto_begin(&scope, SCOPE_PROFILES_SCOPE);
	proto_put_bytes(&scope, SCOPE_NAME, STR("sonde"));
	proto_end(&scope, begun);
	scope_size = scope.size;
	for (size_t i = 0; i < w->figure_count; i++)
		scope_size +=
			head_size(SCOPE_PROFILES_PROFILE, w->figures[i].size) + w->figures[i].size;
	put_head(&w->sink->text, DATA_RESOURCE_PROFILES,
		resource.size + head_size(RESOURCE_PROFILES_SCOPES, scope_size) + scope_size);
	strbuf_add(&w->sink->text, strbuf_str(&resource));
	put_head(&w->sink->text, RESOURCE_PROFILES_SCOPES, scope_size);
	strbuf_add(&w->sink->text, strbuf_str(&scope));
	for (size_t i = 0; i < w->figure_count; i++) {
		put_head(&w->sink->text, SCOPE_PROFILES_PROFILE, w->figures[i].size);
		put_profile(w, &w->figures[i]);
	}
	strbuf_deinit(&resource);
	strbuf_deinit(&scope);
}

static void count_profiles(struct writing *w)
{
	w->is_counting = true;
	for (size_t i = 0; i < w->figure_count; i++) {
		w->counted = 0;
		put_profile(w, &w->figures[i]);
		w->figures[i].size = w->counted;
	}
	w->is_counting = false;
}

static struct error *otlp_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	/* All metrics are written. */
	struct writing w = {.profile = profile, .sink = sink, .options = options};

	otlp_writer_tables_init(&w.tables, profile, sink);
	find_order(&w);
	find_figures(&w);
	find_extent(&w);
	count_profiles(&w);
	put_resource_profiles(&w);
	otlp_put_dictionary(&w.tables);
	free(w.order);
	free(w.figures);
	strbuf_deinit(&w.sample);
	otlp_writer_tables_deinit(&w.tables);
	return NULL;
}

const struct writer writer_otlp = {
	.name = "otlp",
	.extension = ".otlp",
	.summary = "OpenTelemetry profiles (ProfilesData), of opentelemetry-proto 1.11",
	.holds_metrics = true,
	.write = otlp_write,
};
