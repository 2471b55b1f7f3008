/*
 * Ticks by time.  The profile has them sorted by process, stream and start, so those of a process
 * in one stream are a run, in which a time is found by binary search.
 */
#include "analysis/ticks.h"

#include "base/nearest.h"
#include "base/search.h"

static struct str tick_stream(const struct profile *p, size_t tick)
{
	return profile_string(p, p->ticks[tick].stream);
}

/* The end of the run that begins at a tick: of one process and stream. */
static uint32_t run_end(const struct profile *p, uint32_t first)
{
	const struct tick *run = &p->ticks[first];
	uint32_t end = first;

	while (end < p->tick_count && p->ticks[end].process.i == run->process.i &&
		p->ticks[end].stream.i == run->stream.i)
		end++;
	return end;
}

static struct error *no_ticks(const struct profile *p)
{
	return error_new(ERROR_UNSUPPORTED,
		"%.*s knows no ticks: the program has to call Prof_update once a frame, and be "
		"recorded with its zones",
		STR_ARG(profile_string(p, p->source)));
}

static struct error *no_stream(const struct profile *p, struct str stream)
{
	struct nearest_few near;
	struct strbuf rest = {0};

	nearest_few_init(&near, stream);
	for (uint32_t i = 0; i < p->tick_count; i = run_end(p, i))
		nearest_few_offer(&near, tick_stream(p, i));
	nearest_few_put(&near, &rest);
	if (rest.size == 0)
		strbuf_printf(&rest, "; it has '%.*s'", STR_ARG(tick_stream(p, 0)));
	struct error *err = error_new(ERROR_INPUT, "%.*s has no stream of ticks '%.*s'%.*s",
		STR_ARG(profile_string(p, p->source)), STR_ARG(stream), STR_ARG(strbuf_str(&rest)));
	strbuf_deinit(&rest);
	return err;
}

/* Whether a newly found run replaces the one that its process has. */
static bool is_better(const struct profile *p, uint32_t run, uint32_t before, struct str wanted)
{
	struct str name = tick_stream(p, run), other = tick_stream(p, before);

	if (wanted.data)
		return false;
	if (str_equal(other, TICK_STREAM_DEFAULT))
		return false;
	return str_equal(name, TICK_STREAM_DEFAULT) || str_compare(name, other) < 0;
}

struct error *tick_runs_init(struct tick_runs *runs, const struct profile *profile,
	struct str stream, struct arena *arena)
{
	uint32_t *first = ARENA_ARRAY(arena, uint32_t, profile->process_count);
	uint32_t *end = ARENA_ARRAY(arena, uint32_t, profile->process_count);
	size_t count = 0;

	if (profile->tick_count == 0)
		return no_ticks(profile);
	for (uint32_t i = 0, next; i < profile->tick_count; i = next) {
		uint32_t process = profile->ticks[i].process.i;

		next = run_end(profile, i);
		if (stream.data && !str_equal(tick_stream(profile, i), stream))
			continue;
		if (end[process] != 0 && !is_better(profile, i, first[process], stream))
			continue;
		count += (next - i) - (end[process] - first[process]);
		first[process] = i;
		end[process] = next;
	}
	if (count == 0)
		return no_stream(profile, stream);
	*runs = (struct tick_runs){profile, first, end, count, {0}};
	tick_threads_init(&runs->threads, profile, first, end, arena);
	return NULL;
}

/* For ticks that do not overlap. */
static uint32_t tick_at(const struct tick_runs *runs, process_id process, uint64_t time_ns)
{
	const struct tick *ticks = runs->profile->ticks;
	uint32_t first = runs->first[process.i], end = runs->end[process.i];
	uint32_t next = partition_point(i, first, end, ticks[i].start_ns < time_ns);

	return next > first && time_ns <= ticks[next - 1].end_ns ? next - 1 : NO_ID;
}

uint32_t tick_of_sample(const struct tick_runs *runs, size_t sample)
{
	const struct samples *samples = &runs->profile->samples;

	if (samples->thread == NULL || samples->time_ns == NULL)
		return NO_ID;
	process_id process = runs->profile->threads[samples->thread[sample].i].process;

	if (runs->threads.overlaps[process.i])
		return tick_threads_at(&runs->threads, runs->profile, samples->thread[sample],
			samples->time_ns[sample]);
	return tick_at(runs, process, samples->time_ns[sample]);
}
