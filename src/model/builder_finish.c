/*
 * A builder's end: sums are checked, samples summed onto their stacks, and the tables' memory is
 * handed to the profile's arena as it is, without a copy.
 */
#include "model/builder.h"

#include <assert.h>
#include <stdlib.h>

#include "model/builder_state.h"

static struct error *check_sums(const struct builder *b)
{
	if (b->metrics.count == 0)
		return error_new(ERROR_INPUT, "no metric is measured");
	for (size_t m = 0; m < b->metrics.count; m++) {
		struct weight_bounds bounds = {0};

		if (b->weights.bounds)
			weight_bounds_join(&bounds, &b->weights.bounds[m]);
		if (b->columns)
			weight_bounds_join(&bounds, &b->columns[m].bounds);
		bool is_arcs = weight_bounds_fit(&bounds);
		if (is_arcs && arc_table_costs_fit(&b->arcs, m, &bounds))
			continue;
		const struct metric *metric = row_table_row(&b->metrics, &metric_rows, (uint32_t)m);
		return error_new(ERROR_INPUT, "the sum of '%s'%s exceeds 64 bits",
			b->strings.strings[metric->name.i].data, is_arcs ? " along calls" : "");
	}
	if (!b->samples_unknown && b->samples_sum > INT64_MAX)
		return error_new(ERROR_INPUT, "the number of samples exceeds 64 bits");
	if (!arc_table_calls_fit(&b->arcs))
		return error_new(ERROR_INPUT, "the number of calls exceeds 64 bits");
	return NULL;
}

/* The samples' weights in the metric that counts them, or NULL. */
static const int64_t *sample_counts(const struct builder *b)
{
	for (size_t m = 0; m < b->metrics.count; m++) {
		const struct metric *metric = row_table_row(&b->metrics, &metric_rows, (uint32_t)m);

		if (metric_counts_samples(
			    b->strings.strings[metric->name.i], b->strings.strings[metric->unit.i]))
			return b->columns[m].of_sample.data;
	}
	return NULL;
}

/* Counts the samples by row; there is a table. */
static void count_samples(struct builder *b)
{
	const stack_id *stack = b->sample_stack.data;
	const uint32_t *row = b->rows.table.data;
	const int64_t *counts = sample_counts(b);

	vec_extend(&b->samples_of_row, b->rows.count);
	uint64_t *samples = b->samples_of_row.data, all = 0;
	for (size_t i = 0; i < b->sample_stack.count; i++) {
		uint64_t n = sample_count(counts ? &counts[i] : NULL);

		samples[row[stack[i].i]] += n;
		all += n;
	}
	add_saturating(&b->samples_sum, all);
}

/* The samples' weights in that metric by row; there is a table.  The sums were found to fit. */
static int64_t *sum_samples(const struct builder *b, size_t metric)
{
	const int64_t *weight = b->columns[metric].of_sample.data;
	const stack_id *stack = b->sample_stack.data;
	const uint32_t *row = b->rows.table.data;
	int64_t *sum = xcalloc(b->rows.count, sizeof(*sum));

	for (size_t i = 0; i < b->sample_stack.count; i++)
		add_wrapping(&sum[row[stack[i].i]], weight[i]);
	return sum;
}

#define adopt_vec(arena, v) arena_adopt_array((arena), (v)->data, (v)->count, sizeof(*(v)->data))
/* Forgets memory that the arena owns now. */
#define vec_forget(v) ((v)->data = NULL, (v)->count = (v)->capacity = 0)

static const void *adopt_table(
	struct profile *p, struct row_table *t, const struct row_kind *kind, size_t *count)
{
	*count = t->count;
	void *rows = row_table_take(t, kind);
	arena_adopt(p->arena, rows, *count * kind->size);
	return rows;
}

static void freeze_strings(struct builder *b, struct profile *p)
{
	p->string_count = b->strings.count;
	p->strings = arena_adopt_array(
		p->arena, b->strings.strings, p->string_count, sizeof(*p->strings));
	b->strings.strings = NULL;
	b->strings.count = 0;
}

static void freeze_samples(struct builder *b, struct profile *p)
{
	struct samples *s = &p->samples;
	size_t metrics = p->metric_count;

	s->count = b->sample_stack.count;
	assert(b->sample_thread.count == 0 || b->sample_thread.count == s->count);
	assert(b->sample_time.count == 0 || b->sample_time.count == s->count);
	s->stack = adopt_vec(p->arena, &b->sample_stack);
	s->thread = adopt_vec(p->arena, &b->sample_thread);
	s->time_ns = adopt_vec(p->arena, &b->sample_time);
	if (b->sample_zone.count)
		vec_extend(&b->sample_zone, s->count);
	s->zone = adopt_vec(p->arena, &b->sample_zone);
	vec_forget(&b->sample_stack);
	vec_forget(&b->sample_thread);
	vec_forget(&b->sample_time);
	vec_forget(&b->sample_zone);
	if (s->count == 0)
		return;
	s->weight = ARENA_ARRAY(p->arena, int64_t *, metrics);
	for (size_t m = 0; m < metrics; m++) {
		s->weight[m] = adopt_vec(p->arena, &b->columns[m].of_sample);
		vec_forget(&b->columns[m].of_sample);
	}
}

/*
 * Sets the stacks that have rows; in the profile, rows are in the order of stacks, in the builder
 * in that of arrival.  Returns [row of the profile] the builder's row, to be freed; NULL: they are
 * the same.
 */
static uint32_t *freeze_weighted(const struct builder *b, struct profile *p)
{
	const struct row_index *ix = &b->rows;
	size_t count = ix->table.count < p->stack_count ? ix->table.count : p->stack_count;
	uint64_t *bits = rank_set_bits(p->stack_count, p->arena);
	uint32_t *rows = ix->has_table ? xcalloc(ix->count, sizeof(*rows)) : NULL, next = 1;
	bool is_same = true;

	for (size_t i = 0; i < ix->stacks.count; i++)
		rank_set_put(bits, ix->stacks.data[i].i);
	for (uint32_t i = 0; i < count; i++) {
		if (ix->table.data[i] == 0)
			continue;
		rank_set_put(bits, i);
		is_same &= ix->table.data[i] == next;
		rows[next++] = ix->table.data[i];
	}
	assert(next + ix->stacks.count == ix->count);
	p->weighted = rank_set_make(bits, p->stack_count, p->arena);
	p->row_count = ix->count;
	if (!is_same)
		return rows;
	free(rows);
	return NULL;
}

/* Puts rows of eight bytes into the profile's order. */
static void *order_rows(struct builder *b, void *column, const uint32_t *rows)
{
	uint64_t *from = column, *to;

	if (rows == NULL)
		return column;
	to = xrealloc_array(NULL, b->rows.count, sizeof(*to));
	for (size_t i = 0; i < b->rows.count; i++)
		to[i] = from[rows[i]];
	free(column);
	return to;
}

static void freeze_row_samples(struct builder *b, struct profile *p, const uint32_t *rows)
{
	if (b->samples_unknown)
		return;
	vec_extend(&b->samples_of_row, p->row_count);
	b->samples_of_row.data = order_rows(b, b->samples_of_row.data, rows);
	b->samples_of_row.capacity = p->row_count;
	p->row_samples = adopt_vec(p->arena, &b->samples_of_row);
	vec_forget(&b->samples_of_row);
	b->header.stats.counted = b->samples_sum;
}

/* Before the samples are handed over. */
static void freeze_weights(struct builder *b, struct profile *p)
{
	int64_t **weight = ARENA_ARRAY(p->arena, int64_t *, p->metric_count);
	int64_t *total = ARENA_ARRAY(p->arena, int64_t, p->metric_count);

	if (b->sample_stack.count)
		row_index_tabulate(&b->rows);
	uint32_t *rows = freeze_weighted(b, p);

	if (b->sample_stack.count == 0) {
		weight_rows_begin(&b->weights, p->metric_count);
		weight_rows_take(&b->weights, weight, b->rows.count);
	}
	for (size_t m = 0; m < p->metric_count; m++) {
		if (b->sample_stack.count)
			weight[m] = sum_samples(b, m);
		weight[m] = order_rows(b, weight[m], rows);
		arena_adopt(p->arena, weight[m], b->rows.count * sizeof(*weight[m]));
		for (size_t i = 0; i < b->rows.count; i++)
			total[m] += weight[m][i];
	}
	p->row_weight = (const int64_t *const *)weight;
	p->total = total;
	if (b->sample_stack.count)
		count_samples(b);
	freeze_row_samples(b, p, rows);
	row_index_deinit(&b->rows);
	free(rows);
}

static void measure_depth(struct profile *p)
{
	uint32_t *depth = tree_runs_depths(&p->runs), i = rank_set_next(&p->weighted, 0);

	for (size_t r = 0; r < p->runs.count; r++) {
		uint32_t first = p->runs.first[r], end = p->runs.first[r + 1];

		if (depth[r] + (end - first - 1) > p->depth_max)
			p->depth_max = depth[r] + (end - first - 1);
		for (; i < end; i = rank_set_next(&p->weighted, i + 1))
			p->depth_sum += depth[r] + (i - first);
	}
	free(depth);
}

static void freeze_stacks(struct builder *b, struct profile *p)
{
	frame_id *frames = stack_table_take(&b->stacks, &p->runs, p->arena);

	arena_adopt(p->arena, frames, p->stack_count * sizeof(*frames));
	p->stack_frame = frames;
}

/*
 * builder_destroy frees as many columns as the metric table has rows, so that table is taken last.
 */
static void freeze_tables(struct builder *b, struct profile *p)
{
	p->objects = adopt_table(p, &b->objects, &object_rows, &p->object_count);
	p->functions = adopt_table(p, &b->functions, &function_rows, &p->function_count);
	p->frames = adopt_table(p, &b->frames, &frame_rows, &p->frame_count);
	p->stack_count = stack_table_count(&b->stacks);
	freeze_stacks(b, p);
	p->processes = adopt_table(p, &b->processes, &process_rows, &p->process_count);
	p->threads = adopt_table(p, &b->threads, &thread_rows, &p->thread_count);
	p->notes = adopt_table(p, &b->notes, &note_rows, &p->note_count);
	arc_table_freeze(&b->arcs, p);
	p->metric_count = b->metrics.count;
	freeze_weights(b, p);
	measure_depth(p);
	freeze_samples(b, p);
	label_tables_freeze(&b->labels, p);
	zone_tables_freeze(&b->zones, p);
	builder_columns_destroy(b);
	p->metrics = adopt_table(p, &b->metrics, &metric_rows, &p->metric_count);
	freeze_strings(b, p);
}

static struct profile *freeze(struct builder *b)
{
	struct profile *p = ARENA_NEW(b->arena, struct profile);

	p->arena = b->arena;
	b->arena = NULL;
	freeze_tables(b, p);
	p->default_metric = b->header.default_metric;
	p->has_stacks = b->header.has_stacks;
	p->stats = b->header.stats;
	p->source = b->header.source;
	p->format = b->header.format;
	p->command = b->header.command;
	p->host = b->header.host;
	p->when = b->header.when;
	p->start_unix_ns = b->header.start_unix_ns;
	return p;
}

struct error *builder_finish(struct builder *b, struct profile **profile)
{
	builder_places_end(b);
	builder_name_no_stack(b);
	struct error *err = check_sums(b);

	builder_note_refused(b);
	if (err) {
		builder_destroy(b);
		return err;
	}
	struct profile *p = freeze(b);
	builder_destroy(b);
	err = profile_check(p);
	if (err) {
		profile_destroy(p);
		return err;
	}
	*profile = p;
	return NULL;
}
