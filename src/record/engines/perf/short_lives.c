/*
 * Many samples missing, and no more than the threads so far explain, is how short-lived threads are
 * recognized. The quick clock goes when threads are few again; what became wide stays so.
 */
#include "record/engines/perf/short_lives.h"

/* So many samples missing, and such a part of all, make the CPUs' clocks worth their price. */
#define MISSING_MIN  12
#define MISSING_PART 50
/* So many threads from one look to the next are many; so many looks with fewer are calm. */
#define QUICK_THREADS 4
#define QUICK_CALM    10

static uint64_t threads_so_far(const struct perf_tally *tally)
{
	return process_table_thread_total(tally->recording->processes);
}

/*
 * What threads explain that may have been short: two samples each.  Those that sampling has met are
 * not, and must not explain what is missing as ticks come late on a busy machine.
 */
static uint64_t explained(const struct short_lives *s, const struct perf_tally *tally)
{
	return 2 * (threads_so_far(tally) - s->old);
}

void short_lives_begin(struct short_lives *s, const struct perf_tally *tally)
{
	s->old = s->threads = threads_so_far(tally);
}

static bool are_short(
	const struct short_lives *s, struct perf_tally *tally, uint64_t due, uint64_t interval_ns)
{
	uint64_t found =
		tally->recording->sampled_ns / interval_ns + perf_tally_lost(tally) + s->forgiven;

	if (found + MISSING_MIN > due || found > due - due / MISSING_PART)
		return false;
	return due - found <= explained(s, tally);
}

static void help(struct short_lives *s, struct perf_event_set *events)
{
	if (!s->widen_refused)
		s->widen_refused = !perf_event_set_widen(events);
	if (s->widen_refused)
		s->is_quick = perf_event_set_quicken(events, true);
}

static void end_when_calm(struct short_lives *s, struct perf_event_set *events, uint64_t threads)
{
	s->calm = threads - s->threads > QUICK_THREADS ? 0 : s->calm + 1;
	s->threads = threads;
	if (!s->is_quick || s->calm < QUICK_CALM)
		return;
	perf_event_set_quicken(events, false);
	s->is_quick = false;
}

uint64_t short_lives_due(const struct short_lives *s, const struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns)
{
	/* Reading the clocks interrupts the target, so it is not done for the usual few threads. */
	if (events->is_wide || s->is_quick || explained(s, tally) < MISSING_MIN)
		return 0;
	return perf_tally_counts(tally).cpu_ns / interval_ns;
}

void short_lives_forgive(struct short_lives *s, const struct perf_event_set *events,
	const struct perf_tally *tally, uint64_t interval_ns)
{
	struct perf_event_counts counts = perf_event_set_counts(events);
	uint64_t due = counts.cpu_ns / interval_ns;
	uint64_t found = tally->recording->sampled_ns / interval_ns + counts.lost;

	s->forgiven = due > found ? due - found : 0;
}

void short_lives_watch(struct short_lives *s, struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns, uint64_t due)
{
	if (due > 0 && are_short(s, tally, due, interval_ns))
		help(s, events);
	end_when_calm(s, events, threads_so_far(tally));
}
