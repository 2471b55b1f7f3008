/*
 * Samples of `perf script` text.  See script_rows.h.
 */
#include "formats/perf/script_rows.h"

#include "formats/common/importer.h"

#include <stdlib.h>

void perf_rows_deinit(struct perf_rows *r)
{
	for (size_t i = 0; i < r->blocks.count; i++)
		free(r->blocks.data[i]);
	vec_deinit(&r->blocks);
	vec_deinit(&r->events);
	vec_deinit(&r->sources);
	map_deinit(&r->event_of_name);
	map_deinit(&r->source_of);
}

uint32_t perf_rows_event(struct perf_rows *r, struct str name)
{
	bool added;

	if (r->events.count && str_equal(name, r->last_name))
		return r->last_event;
	string_id id = builder_string(r->builder, name);
	uint32_t event = *map_at(&r->event_of_name, id.i, 0, (uint32_t)r->events.count, &added);

	if (added)
		vec_push(&r->events, (struct perf_event){.name = id});
	r->last_name = name;
	r->last_event = event;
	return event;
}

/* What a source takes, with its place in the lookup. */
#define SOURCE_BYTES (sizeof(struct perf_source) + 4 * sizeof(struct map_slot))

static uint32_t source_of(struct perf_rows *r, uint32_t thread, uint32_t event)
{
	bool added;
	uint32_t source = *map_at(&r->source_of, thread, event, (uint32_t)r->sources.count, &added);

	if (added) {
		vec_push(&r->sources, (struct perf_source){.thread = thread, .event = event});
		builder_charge(r->builder, SOURCE_BYTES);
	}
	return source;
}

void perf_rows_add(struct perf_rows *r, const struct perf_sample *sample)
{
	struct perf_event *event = &r->events.data[sample->event];

	if (r->count % PERF_BLOCK_ROWS == 0) {
		vec_push(
			&r->blocks, xrealloc_array(NULL, PERF_BLOCK_ROWS, sizeof(struct perf_row)));
		builder_charge(r->builder, PERF_BLOCK_ROWS * sizeof(struct perf_row));
	}
	if (sample->time_ns == UINT64_MAX)
		r->without_time++;
	else if (r->count == r->without_time || sample->time_ns < r->first_ns)
		r->first_ns = sample->time_ns;
	if (sample->time_ns != UINT64_MAX && sample->time_ns > r->last_ns)
		r->last_ns = sample->time_ns;
	r->without_thread += sample->thread == NO_ID;
	event->has_period |= sample->period != UINT64_MAX;
	event->samples++;
	r->blocks.data[r->blocks.count - 1][r->count % PERF_BLOCK_ROWS] =
		(struct perf_row){.time_ns = sample->time_ns,
			.period = sample->period,
			.stack = sample->stack,
			.source = source_of(r, sample->thread, sample->event)};
	if (sample->stack.i > r->last_stack)
		r->last_stack = sample->stack.i;
	r->count++;
}

/* Events whose periods are nanoseconds: perf's clocks, and the metrics of sonde's recordings. */
static bool counts_ns(struct str event)
{
	static const char *const clocks[] = {
		"cpu-clock", "task-clock", "offcpu-time", "cpu-time", "real-time", "blocked-time"};
	const char *colon = memchr(event.data, ':', event.size);

	if (colon)
		event.size = (size_t)(colon - event.data);
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if (str_equal(event, str_from(clocks[i])))
			return true;
	return false;
}

/*
 * The metric of an event: that which counts samples, where it has no name, or where nothing else is
 * measured.
 */
static metric_id add_metric(struct perf_rows *r, const struct perf_event *event, metric_id samples)
{
	struct str name = builder_string_bytes(r->builder, event->name);

	if (name.size == 0 || (r->events.count == 1 && !event->has_period))
		return samples;
	return builder_metric(
		r->builder, name, event->has_period && counts_ns(name) ? STR("ns") : STR("count"));
}

/* How many events there is memory for: each has a weight for every sample and every stack. */
static size_t events_max(const struct perf_rows *r, size_t input_size)
{
	uint64_t weights = r->count + r->last_stack + 1;
	uint64_t most = (((uint64_t)32 << 20) + 2 * (uint64_t)input_size) / 8 / weights;

	return most < 1 ? 1 : most < r->events.count ? (size_t)most : r->events.count;
}

/* [event]: its metric; the caller frees it.  The first event's is the default. */
static metric_id *add_metrics(struct perf_rows *r, metric_id samples, size_t count)
{
	metric_id *metric_of = xcalloc(count, sizeof(*metric_of));

	for (size_t i = 0; i < count; i++)
		metric_of[i] = add_metric(r, &r->events.data[i], samples);
	builder_header(r->builder)->default_metric = metric_of[0];
	return metric_of;
}

struct finishing {
	const struct perf_rows *rows;
	const struct perf_task_ids *tasks; /* NULL: not told */
	uint32_t task_count;
	bool has_times;
	metric_id samples;
	const metric_id *metric_of;
	size_t event_count; /* of those that are kept */
	uint64_t left_out;
	uint64_t too_large; /* samples with a period that no weight holds */
	int64_t *weight;    /* [metric], all 0 between samples */
};

/*
 * What a sample weighs: its period.  One of more than 63 bits is no count of anything; it would
 * make the sum of all others nothing beside it, or overflow.
 */
static int64_t weight_of(struct finishing *f, uint64_t period)
{
	if (period == UINT64_MAX)
		return 1;
	if (period > INT64_MAX) {
		f->too_large++;
		return 0;
	}
	return (int64_t)period;
}

static void finish_row(struct finishing *f, const struct perf_row *row)
{
	const struct perf_source *source = &f->rows->sources.data[row->source];
	if (source->event >= f->event_count) {
		f->left_out++;
		return;
	}
	metric_id metric = f->metric_of[source->event];
	struct perf_task_ids task = {.thread = {NO_ID}};
	struct builder *b = f->rows->builder;

	if (f->tasks)
		task = f->tasks[source->thread == NO_ID ? f->task_count : source->thread];

	f->weight[f->samples.i] = 1;
	f->weight[metric.i] = weight_of(f, row->period);
	if (f->tasks == NULL && !f->has_times)
		builder_weight(b, row->stack, f->weight, (uint64_t)f->weight[f->samples.i]);
	else
		builder_sample(b, row->stack, task.thread,
			f->has_times ? builder_time(row->time_ns - f->rows->first_ns) : UINT64_MAX,
			f->weight);
	if (task.labels.i)
		builder_sample_labels(b, task.labels);
	f->weight[metric.i] = 0;
}

/* Hands the rows over, block by block, so that they are never in memory twice. */
static void finish_rows(struct perf_rows *r, struct finishing *f)
{
	for (size_t i = 0; i < r->blocks.count; i++) {
		uint64_t left = r->count - i * PERF_BLOCK_ROWS;
		size_t count = left < PERF_BLOCK_ROWS ? (size_t)left : PERF_BLOCK_ROWS;

		for (size_t k = 0; k < count; k++)
			finish_row(f, &r->blocks.data[i][k]);
		free(r->blocks.data[i]);
		r->blocks.data[i] = NULL;
	}
}

void perf_rows_finish(struct perf_rows *r, struct perf_tasks *tasks, size_t input_size)
{
	size_t event_count = events_max(r, input_size);
	metric_id samples = builder_metric(r->builder, STR("samples"), STR("count"));
	metric_id *metric_of = add_metrics(r, samples, event_count);
	bool has_threads = r->without_thread < r->count;
	struct perf_task_ids *ids =
		has_threads ? perf_tasks_add(tasks, r->without_thread > 0) : NULL;
	struct finishing f = {.rows = r,
		.tasks = ids,
		.task_count = (uint32_t)tasks->tasks.count,
		/* A text without times has none, or all are zero. */
		.has_times = r->without_time == 0 && r->last_ns > 0,
		.samples = samples,
		.metric_of = metric_of,
		.event_count = event_count,
		.weight = xcalloc(r->events.count + 1, sizeof(*f.weight))};

	if (has_threads || f.has_times)
		builder_expect_samples(r->builder, r->count);
	if (r->without_time < r->count)
		counted_note(r->builder, NOTE_INFO, r->without_time,
			"a sample has no time; so that of the others is left out",
			"samples have no time; so that of the others is left out");
	finish_rows(r, &f);
	if (f.left_out)
		builder_note(r->builder, NOTE_LOST, f.left_out,
			"samples are of more events than there is memory for, and left out");
	if (f.too_large)
		builder_note(r->builder, NOTE_BAD_RECORD, f.too_large,
			"samples have a period of 2^63 or more; they are counted and weigh "
			"nothing");
	free(f.weight);
	free(ids);
	free(metric_of);
}
