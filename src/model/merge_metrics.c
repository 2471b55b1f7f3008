/*
 * The metrics of a merger: those of all inputs, in the order in which they are first seen, matched
 * by name.  A name with different units in two files means different things, which cannot be
 * summed.
 */
#include "model/merge_state.h"

#include "model/merge.h"

/* The column of a metric, made if it is new. */
static uint32_t column_at(struct merge *m, size_t input, struct str name, struct str unit)
{
	bool added;
	uint32_t column = *map_at(&m->column_of, str_table_intern(&m->words, name),
		str_table_intern(&m->words, unit), (uint32_t)m->columns.count, &added);

	if (added)
		vec_push(&m->columns, (struct merge_column){name, unit, input, 0});
	return column;
}

static struct str source_of(const struct merge *m, size_t input)
{
	const struct profile *p = m->inputs[input].profile;
	struct str source = profile_string(p, p->source);

	return source.size ? source : STR("another file");
}

/* Checks that no other input has given the name another unit. */
static struct error *check_unit(
	const struct merge *m, size_t input, struct str name, struct str unit)
{
	uint32_t word, known;

	if (!str_table_find(&m->words, name, &word))
		return NULL;
	if (str_table_find(&m->words, unit, &known) && map_get(&m->column_of, word, known, &known))
		return NULL;
	for (size_t i = 0; i < m->columns.count; i++) {
		const struct merge_column *c = &m->columns.data[i];

		if (c->first_input != input && str_equal(c->name, name))
			return error_new(ERROR_INPUT,
				"cannot add %.*s: its unit is '%.*s' in %.*s, and '%.*s' in %.*s",
				STR_ARG(name), STR_ARG(c->unit),
				STR_ARG(source_of(m, c->first_input)), STR_ARG(unit),
				STR_ARG(source_of(m, input)));
	}
	return NULL;
}

static struct error *plan_input(struct merge *m, size_t input)
{
	const struct profile *p = m->inputs[input].profile;
	uint32_t *column = ARENA_ARRAY(m->scratch, uint32_t, p->metric_count);

	for (size_t i = 0; i < p->metric_count; i++) {
		struct str name = profile_string(p, p->metrics[i].name);
		struct str unit = profile_string(p, p->metrics[i].unit);
		struct error *err = check_unit(m, input, name, unit);

		if (err)
			return err;
		column[i] = column_at(m, input, name, unit);
		m->columns.data[column[i]].input_count++;
	}
	m->inputs[input].column = column;
	return NULL;
}

static bool all_know_samples(const struct merge *m)
{
	for (size_t k = 0; k < m->input_count; k++)
		if (m->inputs[k].profile->row_samples == NULL)
			return false;
	return true;
}

static uint32_t find_samples_column(const struct merge *m)
{
	for (uint32_t i = 0; i < m->columns.count; i++)
		if (metric_counts_samples(m->columns.data[i].name, m->columns.data[i].unit))
			return i;
	return NO_ID;
}

static bool has_column(const struct merge_input *input, uint32_t column)
{
	for (size_t i = 0; i < input->profile->metric_count; i++)
		if (input->column[i] == column)
			return true;
	return false;
}

static void plan_samples_column(struct merge *m)
{
	bool wants = m->is_difference || str_equal(m->run_metric, STR("samples"));

	if (wants && all_know_samples(m))
		(void)column_at(m, 0, STR("samples"), STR("count"));
	m->samples_column = find_samples_column(m);
	if (m->samples_column == NO_ID)
		return;
	for (size_t k = 0; k < m->input_count; k++) {
		struct merge_input *input = &m->inputs[k];

		input->fills_samples =
			input->profile->row_samples && !has_column(input, m->samples_column);
		m->columns.data[m->samples_column].input_count += input->fills_samples;
	}
}

/* An input's total in a column. */
static int64_t total_of(const struct merge *m, size_t input, uint32_t column)
{
	const struct merge_input *in = &m->inputs[input];
	const struct profile *p = in->profile;
	int64_t total = 0;

	for (size_t i = 0; i < p->metric_count; i++)
		if (in->column[i] == column)
			return p->total[i];
	if (!in->fills_samples || column != m->samples_column)
		return 0;
	if (m->with_samples)
		return (int64_t)p->samples.count;
	for (size_t i = 0; i < p->row_count; i++)
		total += (int64_t)p->row_samples[i];
	return total;
}

static bool find_column(const struct merge *m, struct str name, uint32_t *column)
{
	for (uint32_t i = 0; i < m->columns.count; i++)
		if (str_equal(m->columns.data[i].name, name)) {
			*column = i;
			return true;
		}
	return false;
}

static const char *run_name(struct arena *arena, struct str metric, size_t k)
{
	return arena_printf(arena, "%.*s (run %zu)", STR_ARG(metric), k + 1);
}

bool profile_find_run(const struct profile *difference, struct str metric, size_t k, metric_id *run)
{
	struct arena *arena = arena_create();
	bool is_there = profile_find_metric(difference, str_from(run_name(arena, metric, k)), run);

	arena_destroy(arena);
	return is_there;
}

static void plan_runs(struct merge *m)
{
	uint32_t taken;

	m->first_run = NO_ID;
	if (m->run_count == 0 || !find_column(m, m->run_metric, &m->run_of) ||
		find_column(m, str_from(run_name(m->scratch, m->run_metric, 0)), &taken))
		return;
	m->first_run = (uint32_t)m->columns.count;
	for (size_t k = 0; k < m->run_count; k++) {
		uint32_t column = column_at(m, 0, str_from(run_name(m->scratch, m->run_metric, k)),
			m->columns.data[m->run_of].unit);

		m->columns.data[column].input_count = m->input_count;
	}
}

static struct error *plan_shares(struct merge *m)
{
	m->share_column = NO_ID;
	if (m->shared_metric.size == 0 || !find_column(m, m->shared_metric, &m->shared_column))
		return NULL;
	for (size_t k = 0; k < m->input_count; k++) {
		struct merge_input *in = &m->inputs[k];
		struct error *err = profile_needs_stacks(in->profile, "a share of the total");

		if (err)
			return err;
		in->whole = total_of(m, k, m->shared_column);
		if (in->whole <= 0)
			return error_new(ERROR_UNSUPPORTED,
				"the total of '%.*s' in %.*s is %s, so there are no shares of it",
				STR_ARG(m->shared_metric), STR_ARG(source_of(m, k)),
				in->whole ? "negative" : "zero");
	}
	m->share_column = column_at(m, 0,
		str_from(arena_printf(m->scratch, "%.*s (share)", STR_ARG(m->shared_metric))),
		SHARE_UNIT);
	m->columns.data[m->share_column].input_count = m->input_count;
	return NULL;
}

struct error *merge_plan_metrics(struct merge *m)
{
	for (size_t k = 0; k < m->input_count; k++) {
		struct error *err = plan_input(m, k);

		if (err)
			return err;
	}
	plan_samples_column(m);
	plan_runs(m);
	struct error *err = plan_shares(m);

	if (err)
		return err;
	m->sum = ARENA_ARRAY(m->scratch, int64_t, m->columns.count);
	m->row = ARENA_ARRAY(m->scratch, int64_t, DIFFERENCE_METRICS * m->columns.count);
	return NULL;
}

/* The names of an input's metrics, for the user to choose from. */
static const char *names_of(const struct merge *m, size_t input)
{
	const struct profile *p = m->inputs[input].profile;
	const char *list = "";

	for (size_t i = 0; i < p->metric_count; i++)
		list = arena_printf(m->scratch, "%s%s%.*s", list, i ? ", " : "",
			STR_ARG(profile_string(p, p->metrics[i].name)));
	return list;
}

/* If the metric is a side's default, also lists what it can be compared with. */
static void note_one_sided(struct merge *m, const struct merge_column *c)
{
	size_t side = c->first_input, other = 1 - side;
	const struct profile *p = m->inputs[side].profile;
	bool is_main = p->metric_count &&
		       str_equal(profile_string(p, p->metrics[p->default_metric.i].name), c->name);

	builder_note(m->to, NOTE_INFO, 1, "%.*s is in %s only, and counts as 0 in %s%s%s",
		STR_ARG(c->name), side == 0 ? "old" : "new", side == 0 ? "new" : "old",
		is_main ? ", which has: " : "", is_main ? names_of(m, other) : "");
}

static void note_missing(struct merge *m, const struct merge_column *c)
{
	if (c->input_count == m->input_count)
		return;
	if (m->is_difference)
		note_one_sided(m, c);
	else
		builder_note(m->to, NOTE_INFO, 1,
			"%.*s is in %zu of the %zu files only, and counts as 0 in the others",
			STR_ARG(c->name), c->input_count, m->input_count);
}

/* The first input with a metric of that name. */
static struct str source_with(const struct merge *m, struct str name)
{
	metric_id metric;

	for (size_t i = 0; i < m->input_count; i++)
		if (profile_find_metric(m->inputs[i].profile, name, &metric))
			return profile_string(m->inputs[i].profile, m->inputs[i].profile->source);
	return STR("a file");
}

static struct error *add_metric(struct merge *m, uint32_t column)
{
	static const char *const suffix[DIFFERENCE_METRICS] = {"", " (old)", " (new)"};
	const struct merge_column *c = &m->columns.data[column];
	uint32_t count = m->is_difference ? DIFFERENCE_METRICS : 1;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = arena_printf(m->scratch, "%.*s%s", STR_ARG(c->name), suffix[i]);

		if (builder_metric(m->to, str_from(name), c->unit).i != count * column + i)
			return error_new(ERROR_INPUT,
				"%.*s has a metric '%s', as a difference has; compare the files "
				"that it was made from",
				STR_ARG(source_with(m, str_from(name))), name);
	}
	note_missing(m, c);
	return NULL;
}

struct error *merge_add_metrics(struct merge *m)
{
	for (uint32_t i = 0; i < m->columns.count; i++) {
		struct error *err = add_metric(m, i);

		if (err)
			return err;
	}
	return NULL;
}

static void split_sum(struct merge *m, size_t input)
{
	for (size_t i = 0; i < m->columns.count; i++) {
		int64_t *row = &m->row[DIFFERENCE_METRICS * i];

		/* No profile contains INT64_MIN: no sum of negative weights exceeds 63 bits. */
		row[0] = input == 0 ? -m->sum[i] : m->sum[i];
		row[1] = input == 0 ? m->sum[i] : 0;
		row[2] = input == 0 ? 0 : m->sum[i];
	}
}

/*
 * The share of a weight.  The shares so far always sum to the rounded share of the weights so far,
 * so all shares sum to the whole.
 */
static int64_t take_share(struct merge_input *in, int64_t weight)
{
	in->seen += weight;
	__int128 twice = (__int128)in->seen * SHARE_WHOLE * 2;
	int64_t share = (int64_t)((twice + (twice < 0 ? -in->whole : in->whole)) /
				  (2 * (__int128)in->whole));
	int64_t taken = share - in->share;

	in->share = share;
	return taken;
}

const int64_t *merge_row(
	struct merge *m, size_t input, const int64_t *const *of, size_t i, uint64_t samples)
{
	struct merge_input *in = &m->inputs[input];

	memset(m->sum, 0, m->columns.count * sizeof(*m->sum));
	for (size_t k = 0; k < in->profile->metric_count; k++)
		m->sum[in->column[k]] = of[k][i];
	if (in->fills_samples)
		m->sum[m->samples_column] = (int64_t)samples;
	if (m->first_run != NO_ID)
		m->sum[m->first_run + input] = m->sum[m->run_of];
	if (m->share_column != NO_ID)
		m->sum[m->share_column] = take_share(in, m->sum[m->shared_column]);
	if (!m->is_difference)
		return m->sum;
	split_sum(m, input);
	return m->row;
}
