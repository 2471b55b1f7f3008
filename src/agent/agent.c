/*
 * One loop, woken by signals and each second.
 *
 * The process of the next segment starts a little before the current one ends, as it must open its
 * events and rings by then.  When the rate changes, sampling pauses, or settings change, the
 * current segment ends a second from now instead.
 *
 * The cost of all processes is added up: of living ones by their CPU clocks, of ended ones by what
 * wait4 reports.
 */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/allowance.h"
#include "agent/metrics.h"
#include "agent/receiver.h"
#include "agent/rights.h"
#include "agent/salvage.h"
#include "agent/sender.h"
#include "agent/shares.h"
#include "agent/spool.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "record/target.h"
#include "store/store.h"

/* How long before its start the process of a segment is made; at most half a segment. */
#define LEAD_NS (2 * SECOND_NS)
/* A change takes effect so much later; every process notices within a quarter of it. */
#define CUT_NS SECOND_NS
/* From a decision to sample until it begins, when nothing samples. */
#define FIRST_NS (SECOND_NS / 10)
#define LOOK_NS	 SECOND_NS
/* After a recording failed to start. */
#define RETRY_NS (10 * SECOND_NS)
/* The next segment does not start soon, so what is kept for it can be lent. */
#define NEXT_IS_FAR_NS (10 * SECOND_NS)
/* What a segment may still take while it waits for memory for its names, and how long it does. */
#define WAITING_BYTES ((uint64_t)1 << 20)
#define WAITING_NS    (30 * SECOND_NS)
/* The tables of one program may take half of the memory for names; less, after a refusal. */
#define OBJECT_HALVINGS 1
#define REFUSALS_MAX	3
/* What segments need on the disk, at least: two like the last one. */
#define ROOM_BYTES ((uint64_t)256 << 10)
/* One samples, one is about to, and others resolve names. */
#define SEGMENTS_MAX 8

struct agent {
	struct agent_settings settings;
	struct agent_hooks hooks;
	struct spool spool;
	struct sender sender;
	struct allowance allowance;
	struct segment segments[SEGMENTS_MAX];
	struct agent_metrics metrics;
	struct receiver receiver;
	char host[sizeof(((struct utsname *)NULL)->nodename)];
	int signal_fd;
	uint64_t last_until_ns;	      /* until then something samples, or did */
	uint64_t retry_ns;	      /* no segment is started before */
	uint64_t look_ns, metrics_ns; /* when to do these next */
	uint64_t send_ns;	      /* and send, with nothing saved */
	uint64_t ended_cpu_ns;	      /* of processes that have ended */
	bool ended_early;	      /* the segment before that instant did, or failed */
	uint64_t counted_ns;	      /* what did not sample before is counted */
	uint64_t room_bytes;	      /* that segments need on the disk */
	struct shares shares;	      /* of memory */
	uint64_t tight_ns;	      /* when one was last about to have no more memory */
	uint32_t refusals;	      /* of memory for names, since settings were read */
	bool is_refused;	      /* memory for samples was, since the last look */
	bool is_sampling;	      /* some segment has begun to */
	bool is_ending;
	struct error *failure; /* the first recording's */
};

static void say(const struct agent *a, const char *format, ...) printf_like(2, 3);
static void say(const struct agent *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *line = xvasprintf(format, args);

	va_end(args);
	a->hooks.segment.say(line);
	free(line);
}

/* ---- cost ---- */

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_usec * 1000;
}

static uint64_t usage_ns(const struct rusage *usage)
{
	return timeval_ns(usage->ru_utime) + timeval_ns(usage->ru_stime);
}

static uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static bool has_segments(const struct agent *a)
{
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		if (a->segments[i].pid)
			return true;
	return false;
}

static bool takes_samples(const struct segment *s)
{
	return s->pid && s->shared->is_sampling && !s->shared->has_ended;
}

/* The segment whose names are being resolved, or NULL. */
static struct segment *being_named(struct agent *a)
{
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		if (a->segments[i].pid && a->segments[i].shared->grant == SEGMENT_NAMES)
			return &a->segments[i];
	return NULL;
}

static struct memory_use measure_process(struct agent_metrics *m, pid_t pid)
{
	struct memory_use use = memory_of(pid);

	m->own_cpu_ns += process_cpu_ns(pid);
	m->memory_bytes += use.resident_bytes;
	return use;
}

static void measure_segment(struct agent *a, struct segment *s)
{
	struct memory_use use = measure_process(&a->metrics, s->pid);

	if (takes_samples(s)) {
		s->mapped_bytes = use.mapped_bytes;
		shares_add_sampler(&a->shares, use);
	} else if (s->shared->has_ended) {
		shares_add(&a->shares, use, s->limit_bytes);
	} else {
		shares_add_starting(&a->shares, use, s->limit_bytes);
	}
	if (s->shared->has_ended)
		return;
	a->metrics.memory_bytes += s->shared->ring_bytes;
	shares_add_rings(&a->shares, s->shared->ring_bytes);
}

/* Adds up what all processes have used, and what memory they have and may take. */
static void measure(struct agent *a)
{
	struct agent_metrics *m = &a->metrics;

	m->own_cpu_ns = a->ended_cpu_ns;
	m->memory_bytes = 0;
	shares_begin(&a->shares, a->allowance.memory_most);
	shares_add(&a->shares, measure_process(m, getpid()), 0);
	if (a->sender.child)
		shares_add(&a->shares, measure_process(m, a->sender.child), a->sender.limit_bytes);
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		if (a->segments[i].pid)
			measure_segment(a, &a->segments[i]);
	shares_end(&a->shares, being_named(a));
	if (m->memory_bytes > m->memory_peak)
		m->memory_peak = m->memory_bytes;
}

/*
 * Names take memory for a moment, which may fall between two looks.  What others have now may not
 * be what they had then, but all together never had more than they may.
 */
static void measure_peak(struct agent *a, const struct segment_shared *ended)
{
	struct agent_metrics *m = &a->metrics;

	measure(a);
	uint64_t peak_bytes = m->memory_bytes + ended->peak_bytes;

	if (peak_bytes > a->allowance.memory_most)
		peak_bytes = a->allowance.memory_most;
	if (peak_bytes > m->memory_peak)
		m->memory_peak = peak_bytes;
}

/* ---- memory that may be taken ---- */

static void limit_segment(struct segment *s, uint64_t more_bytes)
{
	s->limit_bytes = memory_of(s->pid).mapped_bytes + more_bytes;
	(void)memory_limit(s->pid, s->limit_bytes);
}

/* Those that measure has counted: another may begin to take samples at any time. */
static void limit_samplers(struct agent *a)
{
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		if (takes_samples(&a->segments[i]) && a->segments[i].mapped_bytes > 0)
			limit_segment(&a->segments[i], shares_of_sampler(&a->shares));
}

/* The limit of a segment that is about to begin. */
static uint64_t limit_of_next(struct agent *a)
{
	measure(a);
	uint64_t more_bytes = shares_take_for_next(&a->shares, !has_segments(a));

	limit_samplers(a);
	return memory_of(getpid()).mapped_bytes + more_bytes;
}

/* The oldest segment that has all but names, or NULL. */
static struct segment *next_to_name(struct agent *a)
{
	struct segment *next = NULL;

	for (size_t i = 0; i < SEGMENTS_MAX; i++) {
		struct segment *s = &a->segments[i];

		if (s->pid && s->shared->is_whole && s->shared->grant == SEGMENT_WAITS &&
			(!next || s->from_ns < next->from_ns))
			next = s;
	}
	return next;
}

static void grant(struct segment *s, enum segment_grant value)
{
	__atomic_store_n(&s->shared->grant, value, __ATOMIC_RELEASE);
}

/* Whether a segment waits no longer for memory for its names. */
static bool gives_up(const struct agent *a, const struct segment *s, uint64_t now_ns)
{
	uint64_t half_ns = a->settings.every_ns / 2;

	return a->is_ending || a->allowance.is_paused ||
	       now_ns >= s->waits_since_ns + (half_ns < WAITING_NS ? half_ns : WAITING_NS);
}

/* Lets one segment at a time resolve its names, once there is memory, or do without. */
static void grant_names(struct agent *a, uint64_t now_ns)
{
	struct segment *next = next_to_name(a);

	if (!next)
		return;
	if (next->waits_since_ns == 0) {
		next->waits_since_ns = now_ns;
		shares_learn(&a->shares, next->mapped_bytes);
		limit_segment(next, WAITING_BYTES);
	}
	if (being_named(a))
		return;
	measure(a);
	uint64_t bytes =
		shares_take_for_names(&a->shares, a->last_until_ns > now_ns + NEXT_IS_FAR_NS);

	if (bytes > 0) {
		limit_samplers(a);
		limit_segment(next, bytes);
		next->shared->object_memory_max = bytes >> (OBJECT_HALVINGS + a->refusals);
		grant(next, SEGMENT_NAMES);
	} else if (gives_up(a, next, now_ns)) {
		grant(next, SEGMENT_NAMELESS);
	}
}

/*
 * Whether a segment is about to have no more memory for samples.  Names that are being resolved go
 * first: the file is whole without them.
 */
static bool is_tight(struct agent *a)
{
	struct segment *named = being_named(a);

	if (!shares_are_tight(&a->shares))
		return false;
	if (named)
		kill(named->pid, SIGKILL);
	return !named;
}

/* ---- metrics ---- */

static void write_metrics(struct agent *a, uint64_t now_ns)
{
	struct agent_metrics *m = &a->metrics;

	a->metrics_ns = now_ns + a->settings.every_ns;
	measure(a);
	m->rate_hz = a->allowance.is_paused
			     ? 0
			     : 1e9 / (double)(a->settings.interval_ns << a->allowance.halvings);
	m->cpu_share = a->allowance.share;
	m->memory_most = a->allowance.memory_most;
	m->is_paused = a->allowance.is_paused;
	m->has_names = !a->settings.no_symbols && !a->allowance.leaves_names;
	m->halvings = a->allowance.halvings_total;
	m->pauses = a->allowance.pauses_total;
	m->segments_sent = a->sender.sent;
	m->sent_bytes = a->sender.sent_bytes;
	m->store_errors = a->sender.errors;
	m->sender = &a->sender;
	m->spool = &a->spool;
	memcpy(m->gone, a->spool.ledger.state.total, sizeof(m->gone));
	m->spool_bytes = a->spool.bytes;
	m->spool_segments = a->spool.entries.count;
	if (a->receiver.folder_fd >= 0 && a->settings.listen)
		error_destroy(agent_metrics_write(m, a->receiver.folder_fd, RECEIVER_METRICS));
	if (!a->settings.metrics)
		return;
	struct error *err = agent_metrics_write(m, AT_FDCWD, a->settings.metrics);

	if (err)
		say(a, "metrics: %s", err->message);
	error_destroy(err);
}

/* ---- segments begin ---- */

static struct segment *free_place(struct agent *a)
{
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		if (a->segments[i].pid == 0)
			return &a->segments[i];
	return NULL;
}

static struct ledger_instant instant_at(uint64_t monotonic_ns)
{
	uint64_t now_ns = clock_monotonic_ns();

	return (struct ledger_instant){monotonic_ns, clock_unix_ns() + monotonic_ns - now_ns};
}

/* Counts the time without samples before a segment, and why there were none. */
static void count_gap(struct agent *a, uint64_t from_ns)
{
	struct ledger *l = &a->spool.ledger;
	const struct ledger_instant from = instant_at(from_ns);
	bool is_first = a->last_until_ns == 0;
	enum ledger_loss why = is_first		? LEDGER_DOWN_NS
			       : a->ended_early ? LEDGER_EARLY_NS
						: LEDGER_PAUSED_NS;
	uint64_t gap_ns = is_first		       ? ledger_gap_ns(l, from)
			  : from_ns > a->last_until_ns ? from_ns - a->last_until_ns
						       : 0;

	a->ended_early = false;
	/* It follows another one, and begins later: until then, that one's samples count. */
	if (gap_ns == 0 && !is_first)
		return;
	/* Together: a kill in between would count it twice. */
	l->state.until = from;
	if (gap_ns > 0)
		ledger_lose(l, why, gap_ns);
	else
		ledger_save(l);
	a->counted_ns = from_ns;
}

/* If the agent is killed now, what came up to then is kept or counted. */
static void mark_until(struct agent *a, uint64_t now_ns, uint64_t delay_ns)
{
	uint64_t until_ns = now_ns - delay_ns;

	if (a->last_until_ns == 0)
		return;
	if (until_ns > a->last_until_ns)
		until_ns = a->last_until_ns;
	if (until_ns < a->counted_ns)
		until_ns = a->counted_ns;
	ledger_set_until(&a->spool.ledger, instant_at(until_ns));
}

static void begin_segment(struct agent *a, struct segment *s, uint64_t from_ns)
{
	struct segment_news news = {
		.halvings = a->allowance.halvings,
		.leaves_names = a->allowance.leaves_names,
	};
	uint32_t number = a->spool.next;

	count_gap(a, from_ns);
	ledger_give(&a->spool.ledger, number, news.lost);
	struct error *err = segment_start(s, &a->spool, &a->settings, from_ns,
		from_ns + a->settings.every_ns, &news, limit_of_next(a), &a->hooks.segment);

	if (err) {
		say(a, "%s; trying again in %d s", err->message, (int)(RETRY_NS / SECOND_NS));
		error_destroy(err);
		ledger_not_told(&a->spool.ledger, number);
		a->retry_ns = clock_monotonic_ns() + RETRY_NS;
		a->last_until_ns = from_ns;
		a->ended_early = true;
		return;
	}
	a->last_until_ns = from_ns + a->settings.every_ns;
	measure(a);
}

static uint64_t lead_ns(const struct agent *a)
{
	return a->settings.every_ns / 2 < LEAD_NS ? a->settings.every_ns / 2 : LEAD_NS;
}

/*
 * Whether the next segment must wait, with a gap in the samples, until another has ended.  A single
 * one begins with however little memory there is.
 */
static bool is_without_room(struct agent *a)
{
	const struct segment *named = being_named(a);

	if (!has_segments(a))
		return false;
	measure(a);
	if (shares_have_room(&a->shares))
		return false;
	/* Names have what was kept for this. */
	if (named && a->shares.lent_bytes > 0)
		kill(named->pid, SIGKILL);
	return true;
}

static void plan(struct agent *a, uint64_t now_ns)
{
	struct segment *s = free_place(a);

	if (a->is_ending || a->allowance.is_paused || !s || now_ns < a->retry_ns ||
		now_ns + lead_ns(a) < a->last_until_ns || is_without_room(a))
		return;
	begin_segment(a, s, a->last_until_ns > now_ns ? a->last_until_ns : now_ns + FIRST_NS);
}

/* Ends all sampling at one instant, which the next segment may begin at. */
static void cut(struct agent *a, uint64_t now_ns)
{
	uint64_t at_ns = now_ns + CUT_NS;

	if (a->last_until_ns <= at_ns)
		return;
	for (size_t i = 0; i < SEGMENTS_MAX; i++) {
		struct segment *s = &a->segments[i];

		if (s->pid == 0 || s->shared->until_ns <= at_ns)
			continue;
		if (s->from_ns >= at_ns)
			segment_stop(s);
		else
			segment_end_at(s, at_ns);
	}
	a->last_until_ns = at_ns;
}

/* ---- segments end ---- */

/* The rest of a segment's time counts as lost.  If it was the last one, another may begin. */
static void count_early_end(struct agent *a, const struct segment *s)
{
	uint64_t now_ns = clock_monotonic_ns(), until_ns = s->shared->until_ns;
	uint64_t seen_ns = s->shared->is_sampling ? s->shared->seen_ns : s->from_ns;

	if (seen_ns > now_ns)
		seen_ns = now_ns;
	if (seen_ns < s->from_ns)
		seen_ns = s->from_ns;
	if (seen_ns >= until_ns)
		return;
	if (a->last_until_ns > until_ns) {
		ledger_lose(&a->spool.ledger, LEDGER_EARLY_NS, until_ns - seen_ns);
		return;
	}
	a->last_until_ns = seen_ns;
	a->ended_early = true;
}

/* A whole file without a place in the spool is lost. */
static bool keep_segment(struct agent *a, const struct segment *s)
{
	uint64_t before = a->spool.bytes;
	struct error *err = spool_take(&a->spool, s->name);

	if (err) {
		say(a, "%s", err->message);
		error_destroy(err);
		spool_drop_draft(&a->spool, s->name);
		return false;
	}
	uint64_t bytes = a->spool.bytes - before;

	a->metrics.segment_bytes += bytes;
	a->room_bytes = 2 * bytes > ROOM_BYTES ? 2 * bytes : ROOM_BYTES;
	return true;
}

static void recover(struct agent *a, const struct segment *s)
{
	ledger_not_told(&a->spool.ledger, s->number);
	ledger_lose(&a->spool.ledger, LEDGER_BROKEN, 1);
	ledger_lose(&a->spool.ledger, LEDGER_UNWRITTEN, s->shared->unwritten);
	count_early_end(a, s);
	/* Up to its last chunk the file is whole. */
	if (s->shared->samples > 0)
		(void)keep_segment(a, s);
	else
		unlinkat(a->spool.temporary_fd, s->name, 0);
	/* Not each second for a reason that lasts; room for the next one can be made. */
	if (s->shared->is_full && spool_drop_oldest(&a->spool))
		return;
	if (s->from_ns + RETRY_NS > a->retry_ns)
		a->retry_ns = s->from_ns + RETRY_NS;
}

static void tell_failure(struct agent *a, const struct segment *s, int status)
{
	const char *problem = s->shared->problem;

	if (WIFSIGNALED(status))
		say(a,
			"a segment's process was killed by signal %d (%s); its samples up to then "
			"are kept",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (memory_was_refused(status))
		say(a, "a segment ended early, as it took too much of the agent's memory");
	else if (problem[0] && (s->shared->is_sampling || a->is_sampling))
		say(a, "%s", problem);
	if (s->shared->is_sampling)
		return;
	/* It may be for a reason that lasts: without rights there is nothing to wait for. */
	if (!a->is_sampling && !a->failure && !memory_was_refused(status) && !WIFSIGNALED(status))
		a->failure = error_new(ERROR_UNSUPPORTED, "%s",
			problem[0] ? problem : "the recording could not begin");
	a->retry_ns = clock_monotonic_ns() + RETRY_NS;
}

static void limit_spool(struct agent *a)
{
	uint64_t now_s = clock_unix_ns() / SECOND_NS, keep_s = a->settings.keep_ns / SECOND_NS;

	spool_limit(&a->spool, a->settings.spool_bytes,
		a->settings.keep_ns > 0 ? (int64_t)(now_s - keep_s) : INT64_MIN);
	spool_make_room(&a->spool, a->room_bytes);
}

/* The process of a segment ended before its names were written. */
static void leave_names(struct agent *a, const struct segment *s, int status)
{
	char *named = segment_named(s->name);

	a->metrics.segments_nameless++;
	unlinkat(a->spool.temporary_fd, named, 0);
	free(named);
	if (memory_was_refused(status)) {
		a->refusals++;
		say(a, "names of a segment were left out: they took too much of the agent's "
		       "memory");
	} else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
		say(a, "names of a segment were left out: its process was killed by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else if (s->shared->problem[0]) {
		say(a, "names of a segment were left out: %s", s->shared->problem);
	}
}

static void take_segment(struct agent *a, struct segment *s, int status)
{
	struct agent_metrics *m = &a->metrics;
	const struct segment_shared *shared = s->shared;

	m->samples += shared->samples;
	m->lost += shared->lost;
	m->truncated += shared->truncated;
	m->late_ns += shared->late_ns;
	a->is_sampling |= shared->is_sampling;
	measure_peak(a, shared);
	if (shared->is_whole && !shared->has_names)
		leave_names(a, s, status);
	if (shared->is_whole || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
		if (shared->is_empty || !keep_segment(a, s)) {
			ledger_not_told(&a->spool.ledger, s->number);
		} else {
			ledger_told(&a->spool.ledger, s->number);
			m->segments++;
		}
	} else {
		a->is_refused |= memory_was_refused(status);
		if (memory_was_refused(status))
			shares_learn_refusal(&a->shares, s->limit_bytes);
		tell_failure(a, s, status);
		recover(a, s);
	}
	segment_deinit(s);
	limit_spool(a);
	write_metrics(a, clock_monotonic_ns());
}

static void reap(struct agent *a, int flags)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, flags, &usage)) > 0) {
		a->ended_cpu_ns += usage_ns(&usage);
		if (receiver_ended(&a->receiver, pid, clock_monotonic_ns()))
			continue;
		if (pid == a->sender.child)
			sender_ended(&a->sender, &a->spool, status, clock_monotonic_ns());
		for (size_t i = 0; i < SEGMENTS_MAX; i++)
			if (a->segments[i].pid == pid)
				take_segment(a, &a->segments[i], status);
	}
}

/* ---- the budget ---- */

/* What the processes have, and more than they may if they would have taken more. */
static uint64_t memory_wanted(struct agent *a, uint64_t now_ns)
{
	uint64_t most = a->allowance.memory_most, bytes = a->metrics.memory_bytes;
	bool is_over = a->refusals >= REFUSALS_MAX;

	if (is_over)
		a->refusals = 0;
	if (is_tight(a)) {
		/* A new segment begins with less; if that is soon tight again, it does not help. */
		is_over |= a->tight_ns && now_ns < a->tight_ns + a->settings.every_ns;
		a->tight_ns = now_ns;
		cut(a, now_ns);
	}
	if (a->is_refused)
		bytes = 2 * most + 1;
	else if (is_over && bytes <= most)
		bytes = most + 1;
	a->is_refused = false;
	return bytes;
}

static void watch_cost(struct agent *a, uint64_t now_ns)
{
	struct allowance *w = &a->allowance;

	measure(a);
	limit_samplers(a);
	uint64_t memory_bytes = memory_wanted(a, now_ns);
	enum allowance_change change =
		allowance_look(w, now_ns, a->metrics.own_cpu_ns, memory_bytes);

	switch (change) {
	case ALLOWANCE_SAME:
		return;
	case ALLOWANCE_RATE:
		say(a, "%.3g samples a second of CPU time from now on, by the budget",
			1e9 / (double)(a->settings.interval_ns << w->halvings));
		break;
	case ALLOWANCE_NAMES:
		say(a,
			"names are left to 'sonde symbolize' from now on, as memory is short: %.1f "
			"MiB",
			(double)a->metrics.memory_bytes / (1 << 20));
		break;
	case ALLOWANCE_PAUSE:
		say(a,
			"sampling pauses, by the budget: %.1f MiB of memory, %.3f s of CPU time so "
			"far",
			(double)a->metrics.memory_bytes / (1 << 20),
			(double)a->metrics.own_cpu_ns / 1e9);
		break;
	case ALLOWANCE_RESUME:
		say(a, "sampling goes on, with %.3g samples a second of CPU time",
			1e9 / (double)(a->settings.interval_ns << w->halvings));
		break;
	}
	cut(a, now_ns);
}

/* ---- settings ---- */

static double cpu_share(const struct agent_settings *settings)
{
	return settings->cpu_share > 0
		       ? settings->cpu_share
		       : allowance_cpu_share((uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static uint64_t memory_limit_of(const struct agent_settings *settings)
{
	return settings->memory_bytes > 0
		       ? settings->memory_bytes
		       : allowance_memory_bytes((uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The folder in which segments are written. */
static const char *spool_of(const struct agent_settings *settings)
{
	if (settings->spool)
		return settings->spool;
	return sender_is_url(settings->store) ? AGENT_SPOOL_DEFAULT : settings->store;
}

static struct error *read_again(struct agent *a, struct agent_settings *settings)
{
	struct error *err = a->hooks.reload(a->hooks.context, settings);

	if (err)
		return err;
	if (!is_same_text(settings->store, a->settings.store) ||
		!is_same_text(spool_of(settings), spool_of(&a->settings)) ||
		!is_same_text(settings->listen, a->settings.listen) ||
		!is_same_text(settings->token, a->settings.token))
		return error_new(ERROR_USAGE,
			"a new store, spool, address or token needs a restart of the agent");
	return NULL;
}

/* Where the next segment is sent, and as whom. */
static struct sender_target target_of(const struct agent *a)
{
	const struct agent_settings *s = &a->settings;
	const char *spool = spool_of(s);

	return (struct sender_target){.store = strcmp(spool, s->store) == 0 ? NULL : s->store,
		.spool = spool,
		.host = s->host ? s->host : a->host,
		.access = {.credentials = s->credentials, .ca_file = s->ca_file}};
}

static void reload(struct agent *a, uint64_t now_ns)
{
	struct agent_settings settings;
	struct error *err = read_again(a, &settings);

	if (err) {
		say(a, "settings stay as they were: %s", err->message);
		error_destroy(err);
		return;
	}
	bool is_other = settings.interval_ns != a->settings.interval_ns ||
			settings.real != a->settings.real ||
			settings.every_ns != a->settings.every_ns ||
			settings.no_symbols != a->settings.no_symbols;

	a->settings = settings;
	const struct sender_target target = target_of(a);

	sender_set_target(&a->sender, &target);
	allowance_set(&a->allowance, cpu_share(&settings), memory_limit_of(&settings));
	a->refusals = 0;
	say(a, "settings were read again");
	if (is_other)
		cut(a, now_ns);
}

/* ---- sending ---- */

/*
 * After an outage segments are sent one after the other.  When no CPU time is saved for that, twice
 * as often as they are made.
 */
static void send_waiting(struct agent *a, uint64_t now_ns)
{
	if (a->allowance.saved_ns < 0 && now_ns < a->send_ns)
		return;
	if (a->sender.child || a->spool.entries.count == 0)
		return;
	measure(a);
	sender_look(&a->sender, &a->spool, now_ns, a->shares.free_bytes);
	if (a->sender.child == 0)
		return;
	a->send_ns = now_ns + a->settings.every_ns / 2;
	measure(a);
	limit_samplers(a);
}

/* ---- the loop ---- */

static void end(struct agent *a)
{
	uint64_t now_ns = clock_monotonic_ns();

	a->is_ending = true;
	/* All sampling ends here. */
	if (a->last_until_ns > 0 && a->last_until_ns < now_ns)
		count_gap(a, now_ns);
	if (a->last_until_ns > 0)
		a->last_until_ns = now_ns;
	mark_until(a, now_ns, 0);
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		segment_stop(&a->segments[i]);
}

static void take_signals(struct agent *a, uint64_t now_ns)
{
	struct signalfd_siginfo info;

	while (read(a->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGHUP)
			reload(a, now_ns);
		else if (info.ssi_signo != SIGCHLD)
			end(a);
}

static void run(struct agent *a)
{
	struct pollfd polled = {.fd = a->signal_fd, .events = POLLIN};

	while (!a->failure && (!a->is_ending || has_segments(a))) {
		uint64_t now_ns = clock_monotonic_ns();

		plan(a, now_ns);
		if (now_ns >= a->look_ns) {
			a->look_ns = now_ns + LOOK_NS;
			watch_cost(a, now_ns);
			mark_until(a, now_ns, SEGMENT_DELAY_NS);
			receiver_look(&a->receiver, &a->spool, now_ns);
			/* Others go on sending while sampling pauses. */
			limit_spool(a);
		}
		grant_names(a, now_ns);
		send_waiting(a, now_ns);
		if (now_ns >= a->metrics_ns)
			write_metrics(a, now_ns);
		(void)poll(&polled, 1, (int)(LOOK_NS / 4000000));
		take_signals(a, clock_monotonic_ns());
		reap(a, WNOHANG);
	}
}

static struct error *take_signal_fd(struct agent *a, sigset_t *before)
{
	sigset_t taken;

	sigemptyset(&taken);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGCHLD);
	a->signal_fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (a->signal_fd < 0)
		return error_system(errno, "signalfd");
	sigprocmask(SIG_BLOCK, &taken, before);
	return NULL;
}

/* The folders of processes of less rights, while we may share them. */
static struct error *open_parts(struct agent *a)
{
	int sent = -1;
	struct error *err = receiver_open(&a->receiver, &a->spool);

	if (!err)
		err = spool_part(&a->spool, ".sent", a->receiver.group, &sent);
	if (sent >= 0)
		close(sent);
	return err;
}

static void salvage(struct agent *a)
{
	struct salvage found;
	const uint64_t memory_bytes = memory_limit_of(&a->settings) / 2;

	salvage_drafts(&a->spool, memory_bytes, &found);
	a->metrics.segments_salvaged = found.kept;
	a->metrics.segments_nameless += found.nameless;
	if (found.kept > 0)
		say(a, "kept %llu unfinished segment%s of an agent that was killed",
			(unsigned long long)found.kept, found.kept == 1 ? "" : "s");
	if (found.unreadable > 0)
		say(a, "dropped %llu unreadable segment%s of an agent that was killed",
			(unsigned long long)found.unreadable, found.unreadable == 1 ? "" : "s");
}

static struct error *open_all(struct agent *a, sigset_t *before)
{
	const char *spool = spool_of(&a->settings);
	bool sends = strcmp(spool, a->settings.store) != 0;
	struct error *err = sends ? sender_check(a->settings.store) : NULL;
	struct utsname host;

	if (!err)
		err = spool_open(&a->spool, spool);
	if (!err)
		err = open_parts(a);
	/* While we may: the recorders inherit it. */
	launch_raise_ourselves();
	if (!err)
		err = rights_drop();
	if (!err)
		err = take_signal_fd(a, before);
	if (err)
		return err;
	if (uname(&host) != 0)
		host.nodename[0] = '\0';
	snprintf(a->host, sizeof(a->host), "%s", host.nodename);
	const struct sender_target target = target_of(a);

	sender_init(&a->sender, &target, a->settings.every_ns, a->hooks.segment.say);
	a->sender.group = a->receiver.group;
	salvage(a);
	const struct receiver_options receiver = {.address = a->settings.listen,
		.token_file = a->settings.token,
		.keep_ns = a->settings.keep_ns,
		.say = a->hooks.segment.say};

	return receiver_start(&a->receiver, &receiver, &a->spool);
}

static void close_all(struct agent *a)
{
	sender_stop(&a->sender);
	for (size_t i = 0; i < SEGMENTS_MAX; i++)
		if (a->segments[i].pid)
			kill(a->segments[i].pid, SIGKILL);
	receiver_stop(&a->receiver, &a->spool);
	reap(a, 0);
	sender_deinit(&a->sender);
	spool_close(&a->spool);
	if (a->signal_fd >= 0)
		close(a->signal_fd);
}

/* What works, but may not be what the user wants: a network of one's own can be safe. */
static void warn(const struct agent *a)
{
	if (!memory_can_limit())
		say(a, "memory is watched, but the system refuses to limit it (prlimit)");
	const struct clickhouse_options access = target_of(a).access;
	struct store *store = NULL;
	struct error *err = store_open(a->settings.store, &access, &store);
	char *warning = err ? NULL : store_warning(store);

	if (warning)
		say(a, "%s", warning);
	free(warning);
	error_destroy(err);
	store_close(store);
}

struct error *agent_run(const struct agent_settings *settings, const struct agent_hooks *hooks)
{
	struct agent a = {.settings = *settings, .hooks = *hooks, .signal_fd = -1};
	sigset_t before;
	struct error *err;

	alloc_spare();
	a.spool = SPOOL_NONE;
	a.receiver = RECEIVER_NONE;
	a.room_bytes = ROOM_BYTES;
	a.metrics.start_unix_ns = clock_unix_ns();
	prctl(PR_SET_NAME, "sonde-agent");
	err = open_all(&a, &before);
	if (!err) {
		measure(&a);
		allowance_init(&a.allowance, cpu_share(settings), memory_limit_of(settings),
			clock_monotonic_ns(), a.metrics.own_cpu_ns);
		say(&a,
			"sampling all processes, segments go to %s; at most %.3g %% of a CPU and "
			"%.0f MiB",
			a.settings.store, 100 * a.allowance.share,
			(double)a.allowance.memory_most / (1 << 20));
		warn(&a);
		run(&a);
		err = a.failure;
		if (!err)
			write_metrics(&a, clock_monotonic_ns());
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	close_all(&a);
	return err;
}
