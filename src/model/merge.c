/*
 * Several profiles as one.  Each is imported into the same builder, which interns equal rows as
 * one; then its weights are added, sample by sample or stack by stack.  So the cost is that of
 * reading all inputs once.
 *
 * A difference is a merger in which every weight goes into two of three metrics: into M, negated
 * for the old side, and unchanged into its side's "M (old)" or "M (new)".
 */
#include "model/merge.h"

#include "model/match.h"
#include "model/merge_state.h"

static bool is_empty(const struct profile *p)
{
	for (size_t i = 0; i < p->row_count; i++) {
		if (p->row_samples && p->row_samples[i])
			return false;
		for (size_t k = 0; k < p->metric_count; k++)
			if (p->row_weight[k][i])
				return false;
	}
	return true;
}

/* Keeps the properties that all non-empty inputs have. */
static void plan_samples(struct merge *m)
{
	m->with_samples = m->with_threads = m->with_times = m->with_zones = true;
	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		if (p->samples.count == 0 && is_empty(p))
			continue;
		m->with_samples &= p->samples.count > 0;
		m->with_threads &= p->samples.thread != NULL;
		m->with_times &= p->samples.time_ns != NULL;
		m->with_zones &= p->samples.zone != NULL;
	}
}

/* Costs of calls are known for the whole if they are known for all calls. */
static void plan_arc_costs(struct merge *m)
{
	bool all = true, any = false;

	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		all &= p->arc_cost != NULL || (p->arc_count == 0 && is_empty(p));
		any |= p->arc_cost != NULL;
	}
	m->with_arc_costs = all && any;
}

static void add_samples(struct merge *m, size_t input)
{
	struct import *im = &m->inputs[input].import;
	const struct samples *s = &im->from->samples;
	const int64_t *const *weight = (const int64_t *const *)s->weight;

	for (size_t i = 0; i < s->count; i++) {
		builder_sample(m->to, im->stacks[s->stack[i].i],
			m->with_threads ? im->threads[s->thread[i].i] : (thread_id){NO_ID},
			m->with_times ? import_time(im, s->time_ns[i]) : UINT64_MAX,
			merge_row(m, input, weight, i, 1));
		if (m->with_zones)
			builder_sample_zone(m->to, im->stacks[s->zone[i].i]);
		builder_sample_labels(m->to, import_sample_labels(im, i));
	}
}

/* In a difference, the samples are the new side's. */
static uint64_t samples_to_count(const struct merge *m, size_t input, uint64_t samples)
{
	return m->is_difference && input == 0 && samples != UINT64_MAX ? 0 : samples;
}

static void add_totals(struct merge *m, size_t input)
{
	const struct import *im = &m->inputs[input].import;
	const struct profile *p = im->from;

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t row = profile_row(p, i);
		uint64_t samples = p->row_samples ? p->row_samples[row] : UINT64_MAX;

		/* Even an empty input says whether samples are known. */
		if (row == 0 && i > 0)
			continue;
		builder_weight(m->to, im->stacks[i],
			merge_row(m, input, p->row_weight, row, samples),
			samples_to_count(m, input, samples));
	}
}

/* Adds calls with their costs; in a difference, only the costs. */
static void add_arcs(struct merge *m, size_t input)
{
	const struct import *im = &m->inputs[input].import;
	const struct profile *p = im->from;

	if (m->is_difference && !m->with_arc_costs)
		return;
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];
		function_id caller = a->caller.i == NO_ID ? a->caller : im->functions[a->caller.i];
		function_id callee = im->functions[a->callee.i];

		if (m->with_arc_costs)
			(void)builder_arc_cost(m->to, caller, callee,
				m->is_difference ? 0 : a->calls,
				merge_row(m, input, p->arc_cost, i, 0));
		else
			builder_arc(m->to, caller, callee, a->calls);
	}
}

/* In a difference, a function that both sides have is one row. */
static void match_sides(struct merge *m)
{
	struct import_function *as_old, *as_new;

	const struct profile *old_profile = m->inputs[0].profile;
	const struct profile *new_profile = m->inputs[1].profile;

	m->objects_as = (struct import_objects){
		old_profile, new_profile, match_objects(old_profile, new_profile, m->scratch)};
	match_functions(old_profile, new_profile, m->objects_as.as, m->scratch, &as_old, &as_new);
	m->inputs[0].functions_as = as_old;
	m->inputs[1].functions_as = as_new;
}

static void add_input(struct merge *m, size_t input)
{
	struct import *im = &m->inputs[input].import;
	uint64_t start_ns = merge_start_unix_ns(m);

	import_init(im, im->from, m->to, m->scratch);
	im->functions_as = m->inputs[input].functions_as;
	im->objects_as = m->is_difference ? &m->objects_as : NULL;
	if (start_ns)
		im->shift_ns = im->from->start_unix_ns - start_ns;
	import_frames(im);
	import_stacks(im);
	add_arcs(m, input);
	if (m->with_threads)
		import_threads(im);
	if (m->with_samples) {
		import_labels(im);
		add_samples(m, input);
	} else {
		add_totals(m, input);
	}
	if (merge_has_ticks(m)) {
		import_ticks(im);
		import_zone_events(im);
	}
}

static void merge_init(struct merge *m, const struct profile *const *profiles, size_t count)
{
	m->scratch = arena_create();
	m->input_count = count;
	m->inputs = ARENA_ARRAY(m->scratch, struct merge_input, count);
	for (size_t k = 0; k < count; k++) {
		m->inputs[k].profile = profiles[k];
		m->inputs[k].import.from = profiles[k];
	}
	str_table_init(&m->words, m->scratch);
	plan_samples(m);
	plan_arc_costs(m);
}

static void merge_deinit(struct merge *m)
{
	vec_deinit(&m->columns);
	map_deinit(&m->column_of);
	str_table_deinit(&m->words);
	arena_destroy(m->scratch);
}

/* Samples that one profile leaves out would be in the other. */
static struct error *check_when(const struct merge *m)
{
	const struct profile *first = m->inputs[0].profile;

	for (size_t k = 1; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		if (!str_equal(profile_string(p, p->when), profile_string(first, first->when)))
			return error_new(ERROR_UNSUPPORTED,
				"%.*s and %.*s were recorded with different --when: they cannot be "
				"put together",
				STR_ARG(profile_string(first, first->source)),
				STR_ARG(profile_string(p, p->source)));
	}
	return NULL;
}

/* Whether its metrics are those of a difference, as in difffolded.pl's output. */
static bool is_of_changes(const struct profile *p)
{
	struct strbuf old = {0};
	metric_id metric;

	strbuf_add(&old, profile_string(p, p->metrics[0].name));
	strbuf_add(&old, STR(" (old)"));
	bool has_old = profile_find_metric(p, strbuf_str(&old), &metric);

	strbuf_deinit(&old);
	return has_old;
}

/* Changes and counts have the same name, and their sum would be neither. */
static struct error *check_changes(const struct merge *m)
{
	const struct profile *first = m->inputs[0].profile;

	for (size_t k = 1; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;
		const struct profile *changes = is_of_changes(p) ? p : first;
		const struct profile *counts = changes == p ? first : p;

		if (is_of_changes(p) != is_of_changes(first))
			return error_new(ERROR_UNSUPPORTED,
				"%.*s is a difference and %.*s is none: they cannot be put "
				"together",
				STR_ARG(profile_string(changes, changes->source)),
				STR_ARG(profile_string(counts, counts->source)));
	}
	return NULL;
}

/* Profiles with stacks and without: the data that one lacks would make the sum wrong. */
static struct error *check_stacks(const struct merge *m)
{
	const struct profile *first = m->inputs[0].profile;

	for (size_t k = 1; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;
		const struct profile *with = p->has_stacks ? p : first;
		const struct profile *without = p->has_stacks ? first : p;

		if (p->has_stacks != first->has_stacks)
			return error_new(ERROR_UNSUPPORTED,
				"%.*s has call stacks and %.*s has none: they cannot be put "
				"together",
				STR_ARG(profile_string(with, with->source)),
				STR_ARG(profile_string(without, without->source)));
	}
	return NULL;
}

static struct error *merge_run(struct merge *m, struct profile **merged)
{
	struct error *err = check_stacks(m);

	if (err == NULL)
		err = check_when(m);
	if (err == NULL)
		err = check_changes(m);
	if (err == NULL)
		err = merge_plan_metrics(m);
	if (err)
		return err;
	m->to = builder_create();
	err = merge_add_metrics(m);
	if (err) {
		builder_destroy(m->to);
		return err;
	}
	if (m->is_difference)
		match_sides(m);
	for (size_t k = 0; k < m->input_count; k++)
		add_input(m, k);
	merge_add_header(m);
	return builder_finish(m->to, merged);
}

struct error *profile_merge(
	const struct profile *const *profiles, size_t count, struct profile **merged)
{
	struct merge m = {.is_difference = false};

	merge_init(&m, profiles, count);
	struct error *err = merge_run(&m, merged);

	merge_deinit(&m);
	return err;
}

struct error *profile_merge_runs(const struct profile *const *profiles, size_t count,
	struct str metric, size_t runs, struct profile **merged)
{
	struct merge m = {.run_metric = metric, .run_count = runs};

	merge_init(&m, profiles, count);
	struct error *err = merge_run(&m, merged);

	merge_deinit(&m);
	return err;
}

struct error *profile_difference(const struct profile *old_profile,
	const struct profile *new_profile, struct profile **difference)
{
	return profile_difference_of_shares(old_profile, new_profile, STR(""), difference);
}

struct error *profile_difference_of_shares(const struct profile *old_profile,
	const struct profile *new_profile, struct str metric, struct profile **difference)
{
	const struct profile *const profiles[] = {old_profile, new_profile};
	struct merge m = {.is_difference = true, .shared_metric = metric};

	merge_init(&m, profiles, 2);
	struct error *err = merge_run(&m, difference);

	merge_deinit(&m);
	return err;
}
