/*
 * Filters by properties of samples: thread, time, zone and tick.  Each keeps or drops whole
 * samples, however their stacks are shown.
 */
#include "analysis/selection_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ticks.h"
#include "base/alloc.h"
#include "base/nearest.h"

/* Whether an id of a filter means the thread or process of that number and name. */
static bool id_means(struct str id, int64_t number, struct str name)
{
	char text[24];
	int size = snprintf(text, sizeof(text), "%" PRId64, number);

	return str_equal(id, (struct str){text, (size_t)size}) || str_equal(id, name);
}

static bool thread_is_meant(const struct profile *p, const struct filter *f, uint32_t i, size_t id)
{
	const struct thread *t = &p->threads[i];
	const struct process *process = &p->processes[t->process.i];

	if (f->kind == FILTER_THREAD)
		return id_means(f->ids.data[id], t->tid, profile_string(p, t->name));
	return id_means(f->ids.data[id], process->pid, profile_string(p, process->name));
}

/*
 * How many of a profile's threads or processes an error lists if none is similar to the one wanted.
 */
#define LISTED_MAX 8

/* "name (number)" of the existing ones, each once. */
static void list_meant(const struct profile *p, enum filter_kind kind, struct strbuf *out)
{
	size_t count = kind == FILTER_THREAD ? p->thread_count : p->process_count;

	strbuf_add(out, STR("; it has "));
	for (size_t i = 0; i < count && i < LISTED_MAX; i++) {
		bool is_thread = kind == FILTER_THREAD;
		string_id name = is_thread ? p->threads[i].name : p->processes[i].name;
		int64_t number = is_thread ? p->threads[i].tid : p->processes[i].pid;

		strbuf_add(out, i ? STR(", ") : STR(""));
		strbuf_printf(out, "%.*s (%" PRId64 ")", STR_ARG(profile_string(p, name)), number);
	}
	if (count > LISTED_MAX)
		strbuf_printf(out, " and %zu more", count - LISTED_MAX);
}

/* No such thread or process: lists similar names, else the existing ones. */
static struct error *nobody_meant(const struct profile *p, enum filter_kind kind, struct str id)
{
	size_t count = kind == FILTER_THREAD ? p->thread_count : p->process_count;
	struct strbuf rest = {0};
	struct nearest_few near;

	nearest_few_init(&near, id);
	for (size_t i = 0; i < count; i++)
		nearest_few_offer(&near,
			profile_string(p,
				kind == FILTER_THREAD ? p->threads[i].name : p->processes[i].name));
	nearest_few_put(&near, &rest);
	if (rest.size == 0 && count > 0)
		list_meant(p, kind, &rest);
	struct error *err = error_new(ERROR_INPUT, "%.*s has no %s '%.*s'%.*s",
		STR_ARG(profile_string(p, p->source)), kind == FILTER_THREAD ? "thread" : "process",
		STR_ARG(id), STR_ARG(strbuf_str(&rest)));
	strbuf_deinit(&rest);
	return err;
}

/* [thread]: whether the filter keeps it. */
static struct error *threads_kept(
	const struct profile *p, const struct filter *f, bool *thread_kept)
{
	for (size_t id = 0; id < f->ids.count; id++) {
		bool found = false;

		for (uint32_t i = 0; i < p->thread_count; i++)
			if (thread_is_meant(p, f, i, id))
				found = thread_kept[i] = true;
		if (!found)
			return nobody_meant(p, f->kind, f->ids.data[id]);
	}
	return NULL;
}

void selecting_keep_all_samples(struct selecting *s)
{
	if (s->sample_kept)
		return;
	s->sample_kept = ARENA_ARRAY(s->arena, bool, s->profile->samples.count);
	memset(s->sample_kept, true, s->profile->samples.count);
}

static void all_ticks_kept(struct selecting *s)
{
	if (s->tick_kept)
		return;
	s->tick_kept = ARENA_ARRAY(s->arena, bool, s->profile->tick_count);
	memset(s->tick_kept, true, s->profile->tick_count);
}

/* Of the processes that have such a thread. */
static void keep_ticks_of_threads(struct selecting *s, const bool *thread_kept)
{
	const struct profile *p = s->profile;
	bool *process_kept = ARENA_ARRAY(s->arena, bool, p->process_count);

	all_ticks_kept(s);
	for (size_t i = 0; i < p->thread_count; i++)
		process_kept[p->threads[i].process.i] |= thread_kept[i];
	for (size_t i = 0; i < p->tick_count; i++)
		s->tick_kept[i] &= process_kept[p->ticks[i].process.i];
}

struct error *selecting_keep_threads(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	struct error *err = profile_needs_threads(p);

	if (err)
		return err;
	bool *kept = ARENA_ARRAY(s->arena, bool, p->thread_count);
	err = threads_kept(p, f, kept);
	if (err)
		return err;
	selecting_keep_all_samples(s);
	for (size_t i = 0; i < p->samples.count; i++)
		s->sample_kept[i] &= kept[p->samples.thread[i].i];
	keep_ticks_of_threads(s, kept);
	return NULL;
}

struct error *selecting_keep_times(struct selecting *s, const struct filter *f)
{
	const struct samples *samples = &s->profile->samples;

	struct error *err = profile_needs_times(s->profile);

	if (err)
		return err;
	selecting_keep_all_samples(s);
	for (size_t i = 0; i < samples->count; i++)
		s->sample_kept[i] &=
			samples->time_ns[i] >= f->from_ns && samples->time_ns[i] < f->to_ns;
	all_ticks_kept(s);
	for (size_t i = 0; i < s->profile->tick_count; i++) {
		const struct tick *tick = &s->profile->ticks[i];

		s->tick_kept[i] &= tick->end_ns >= f->from_ns && tick->end_ns < f->to_ns;
	}
	return NULL;
}

/* Samples taken in a zone whose stack, apart from hidden frames, contains such a name. */
struct error *selecting_keep_zones(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	struct error *err = profile_needs_zones(p);

	if (err)
		return err;
	bool *matches = name_pattern_matches(f->names, p, s->arena);
	bool *holds = xcalloc(p->stack_count, sizeof(*holds));

	for (uint32_t i = 1; i < p->stack_count; i++)
		holds[i] = holds[selecting_parent(s, i)] || matches[selecting_function(p, i).i];
	selecting_keep_all_samples(s);
	for (size_t i = 0; i < p->samples.count; i++) {
		uint32_t zone = p->samples.zone[i].i;

		s->sample_kept[i] &= holds[s->standing ? s->standing[zone] : zone];
	}
	free(holds);
	return NULL;
}

/* Whether a tick's number is at or after a bound; negative bounds count from the end. */
static bool number_is_from(int64_t number, int64_t bound, int64_t end)
{
	if (bound == INT64_MIN || bound == INT64_MAX)
		return bound == INT64_MIN;
	return number >= (bound < 0 ? bound + end : bound);
}

static bool tick_is_wanted(const struct filter *f, const struct tick *tick, const struct tick *last)
{
	uint64_t took_ns = tick->end_ns - tick->start_ns;
	int64_t number = (int64_t)tick->number, end = (int64_t)last->number + 1;

	if (f->kind == FILTER_TICK)
		return number_is_from(number, f->ticks.from, end) &&
		       !number_is_from(number, f->ticks.to, end);
	return (took_ns >= f->ticks.duration_ns) == (f->kind == FILTER_TICK_OVER);
}

static void keep_samples_of_ticks(
	struct selecting *s, const struct tick_runs *runs, const bool *wanted)
{
	const struct profile *p = s->profile;

	s->outside = ARENA_ARRAY(s->arena, int64_t, p->metric_count);
	selecting_keep_all_samples(s);
	for (size_t i = 0; i < p->samples.count; i++) {
		uint32_t tick = tick_of_sample(runs, i);

		if (tick == NO_ID && s->sample_kept[i] &&
			selecting_shown(s, p->samples.stack[i].i) != SHOWN_DROPPED)
			for (size_t m = 0; m < p->metric_count; m++)
				s->outside[m] += p->samples.weight[m][i];
		s->sample_kept[i] &= tick != NO_ID && wanted[tick];
	}
}

struct error *selecting_keep_ticks(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	bool *wanted = ARENA_ARRAY(s->arena, bool, p->tick_count);
	struct tick_runs runs;
	struct error *err = tick_runs_init(&runs, p, f->ticks.stream, s->arena);

	if (err)
		return err;
	all_ticks_kept(s);
	for (uint32_t process = 0; process < p->process_count; process++)
		for (uint32_t i = runs.first[process]; i < runs.end[process]; i++) {
			wanted[i] =
				tick_is_wanted(f, &p->ticks[i], &p->ticks[runs.end[process] - 1]);
			s->tick_kept[i] &= wanted[i];
		}
	s->tick_stream = f->ticks.stream;
	keep_samples_of_ticks(s, &runs, wanted);
	return NULL;
}

/* The weights of the samples that are kept. */
void selecting_sum_samples(struct selecting *s)
{
	const struct profile *p = s->profile;
	int64_t **weight = ARENA_ARRAY(s->arena, int64_t *, p->metric_count);
	uint64_t *samples = ARENA_ARRAY(s->arena, uint64_t, p->row_count);
	uint32_t *first = ARENA_ARRAY(s->arena, uint32_t, p->row_count);
	const int64_t *counting = profile_sample_counts(p);

	for (size_t m = 0; m < p->metric_count; m++)
		weight[m] = ARENA_ARRAY(s->arena, int64_t, p->row_count);
	memset(first, 0xff, p->row_count * sizeof(*first)); /* NO_ID */
	for (uint32_t i = 0; i < p->samples.count; i++) {
		if (!s->sample_kept[i])
			continue;
		uint32_t row = profile_row(p, p->samples.stack[i].i);

		for (size_t m = 0; m < p->metric_count; m++)
			weight[m][row] += p->samples.weight[m][i];
		if (first[row] == NO_ID)
			first[row] = i;
		samples[row] += sample_count(counting ? &counting[i] : NULL);
	}
	s->row_weight = (const int64_t *const *)weight;
	s->row_samples = samples;
	s->row_first = first;
}

struct selection *selection_without(
	const struct selection *selection, const bool *dropped, struct arena *arena)
{
	const struct profile *p = selection->profile;
	struct selection *out = ARENA_NEW(arena, struct selection);
	struct selecting s = {.profile = p,
		.arena = arena,
		.sample_kept = ARENA_ARRAY(arena, bool, p->samples.count)};
	int64_t *total = ARENA_ARRAY(arena, int64_t, p->metric_count);

	for (size_t m = 0; m < p->metric_count; m++)
		total[m] = selection->total[m];
	for (size_t i = 0; i < p->samples.count; i++) {
		bool was_kept = selection->sample_kept == NULL || selection->sample_kept[i];

		s.sample_kept[i] = was_kept && !dropped[i];
		if (!was_kept || s.sample_kept[i] ||
			selection_shown(selection, p->samples.stack[i].i) == SHOWN_DROPPED)
			continue;
		for (size_t m = 0; m < p->metric_count; m++)
			total[m] -= p->samples.weight[m][i];
	}
	selecting_sum_samples(&s);
	*out = *selection;
	out->sample_kept = s.sample_kept;
	out->row_weight = s.row_weight;
	out->row_samples = s.row_samples;
	out->row_first = s.row_first;
	out->total = total;
	return out;
}
