/*
 * The process is a fork of the agent without an exec: it has the settings and the rights already.
 * It dies with the agent, so that a kill -9 leaves no process behind.
 */
#include "agent/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/rights.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/memory.h"
#include "record/recorder.h"

/*
 * How rarely rings are looked at: a ring holds the samples of several such times.  A process that
 * is killed leaves out what came in two of them.
 */
#define PATIENCE_NS    (SECOND_NS / 8)
#define NAMES_NICENESS 0
#define NS_PER_MS      1000000u
/* How often a segment looks whether it may resolve names. */
#define GRANT_LOOK_NS 20000000
/* While memory is short, programs whose tables take at most this are named. */
#define SMALL_OBJECT_BYTES ((uint64_t)1 << 20)
#define PAUSED		   "the agent's budget was used up, or the machine was too busy"
#define DOWN		   "no agent ran, as it was stopped or killed"
#define EARLY		   "earlier segments ended early, or could not begin"
#define CURE		   "; sonde symbolize adds them, in a store sonde push --symbols"

char *segment_named(const char *name)
{
	return xasprintf("%s.named", name);
}

/* ---- the child ---- */

static void tell(void *context, const struct recorder_progress *progress)
{
	struct segment_shared *shared = context;

	shared->ring_bytes = progress->ring_bytes;
	shared->samples = progress->samples;
	shared->lost = progress->lost;
	/* What came since the rings were last drained is not there yet. */
	shared->seen_ns = clock_monotonic_ns() - SEGMENT_DELAY_NS;
	shared->is_sampling = true;
}

static void note(struct capture_writer *w, uint64_t count, const char *text)
{
	capture_writer_note(w, CAPTURE_NOTE_INFO, count, str_from(text));
}

/* A loss; readers show the count before `several`. */
static void note_lost(
	struct capture_writer *w, uint64_t count, const char *one, const char *several)
{
	if (count > 0)
		capture_writer_note(
			w, CAPTURE_NOTE_LOST, count, str_from(count > 1 ? several : one));
}

/* A time without samples.  A count, so that those of many segments add up. */
static void note_time(
	struct capture_writer *w, uint64_t time_ns, const char *one, const char *several)
{
	note_lost(w, (time_ns + NS_PER_MS - 1) / NS_PER_MS, one, several);
}

void segment_write_news(struct capture_writer *w, const struct segment_news *news)
{
	char text[200];

	note_time(w, news->lost[LEDGER_PAUSED_NS], "a millisecond was not sampled: " PAUSED,
		"milliseconds were not sampled: " PAUSED);
	note_time(w, news->lost[LEDGER_DOWN_NS], "a millisecond was not sampled: " DOWN,
		"milliseconds were not sampled: " DOWN);
	note_time(w, news->lost[LEDGER_EARLY_NS], "a millisecond was not sampled: " EARLY,
		"milliseconds were not sampled: " EARLY);
	if (news->halvings > 0) {
		snprintf(text, sizeof(text),
			"the agent sampled at 1/%u of its rate, to keep to its budget",
			1u << news->halvings);
		note(w, 1, text);
	}
	if (news->leaves_names)
		note(w, 1,
			"the agent named small programs only, as its memory (--memory-max) was "
			"used up: others have no names" CURE);
	note_lost(w, news->lost[LEDGER_DROPPED],
		"an older segment was dropped from the spool since the last one",
		"older segments were dropped from the spool since the last one");
	note_lost(w, news->lost[LEDGER_BROKEN], "the process of an earlier segment ended early",
		"processes of earlier segments ended early");
}

static void write_names(struct recorder *recorder, const struct segment_shared *shared,
	bool no_symbols, bool is_short, const struct segment_hooks *hooks)
{
	uint64_t most = shared->object_memory_max;

	if (is_short && most > SMALL_OBJECT_BYTES)
		most = SMALL_OBJECT_BYTES;
	size_t left = hooks->names(recorder, no_symbols, most);

	if (left > 0)
		note(recorder_writer(recorder), left,
			"programs or libraries have no names, which would take much of the agent's "
			"memory (--memory-max)" CURE);
}

/* Waits until the agent has decided whether there is memory for names; false: there is none. */
static bool await_memory(const struct segment_shared *shared)
{
	const struct timespec pause = {.tv_nsec = GRANT_LOOK_NS};
	enum segment_grant grant;

	while ((grant = __atomic_load_n(&shared->grant, __ATOMIC_ACQUIRE)) == SEGMENT_WAITS)
		nanosleep(&pause, NULL);
	return grant == SEGMENT_NAMES;
}

/* If memory is refused, the agent says what that means. */
static void be_silent(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nowhere >= 0)
		(void)dup2(nowhere, STDERR_FILENO);
}

/* Replaces the file, which is whole, by one with names as well. */
static struct error *add_names(struct recorder *recorder, const char *named, const char *path,
	struct segment_shared *shared, bool no_symbols, bool is_short,
	const struct segment_hooks *hooks)
{
	if (!await_memory(shared)) {
		recorder_abandon(recorder);
		return NULL;
	}
	/* Names can wait; samples could not. */
	(void)setpriority(PRIO_PROCESS, 0, NAMES_NICENESS);
	be_silent();
	write_names(recorder, shared, no_symbols, is_short, hooks);
	struct error *err = recorder_finish(recorder, NULL);

	shared->peak_bytes = memory_own_peak();
	if (!err && rename(named, path) != 0)
		err = error_system(errno, "cannot rename %s", named);
	shared->has_names = !err;
	return err;
}

static void finish(struct recorder *recorder, const struct recorder_result *result,
	const char *path, struct segment_shared *shared, const struct segment_news *news,
	bool no_symbols, const struct segment_hooks *hooks)
{
	char *named = segment_named(path);
	bool is_whole;

	shared->samples = result->samples;
	shared->lost = result->counters[CAPTURE_LOST_RING];
	shared->truncated = result->truncated;
	shared->late_ns = result->late_ns;
	shared->has_ended = true;
	/* Sampling stops when the file cannot be written. */
	shared->seen_ns = result->stopped ? clock_monotonic_ns() : UINT64_MAX;
	if (result->duration_ns == 0) {
		shared->is_empty = true;
		recorder_abandon(recorder);
		_exit(0);
	}
	struct capture_writer *writer = recorder_writer(recorder);
	struct error *err = capture_writer_secure(writer, named,
		STR("the agent left all names out, as its memory (--memory-max) was used up" CURE),
		&is_whole);

	if (!is_whole) {
		shared->is_full = err && (err->code == ENOSPC || err->code == EDQUOT);
		shared->unwritten = capture_writer_dropped(writer);
		shared->samples -= shared->unwritten;
	}
	shared->peak_bytes = memory_own_peak();
	shared->is_whole = is_whole;
	if (!err)
		err = add_names(
			recorder, named, path, shared, no_symbols, news->leaves_names, hooks);
	if (err)
		snprintf(shared->problem, sizeof(shared->problem), "%s", err->message);
	_exit(err ? 1 : 0);
}

/* Does not return. */
static void record(const struct recorder_options *options, struct segment_shared *shared,
	const struct segment_news *news, bool no_symbols, const struct segment_hooks *hooks)
{
	struct recorder_result result;
	struct recorder *recorder;
	struct error *err = recorder_create(options, &recorder);

	if (!err) {
		err = recorder_run(recorder, &result);
		if (err)
			recorder_abandon(recorder);
	}
	if (err) {
		snprintf(shared->problem, sizeof(shared->problem), "%s", err->message);
		_exit(1);
	}
	segment_write_news(recorder_writer(recorder), news);
	finish(recorder, &result, options->output, shared, news, no_symbols, hooks);
}

/* ---- the parent ---- */

static struct recorder_options options_of(const struct agent_settings *settings,
	struct segment_shared *shared, const char *path, uint64_t from_ns, uint32_t halvings,
	void (*say)(const char *line))
{
	return (struct recorder_options){
		.engine = RECORDER_ENGINE_SNAPSHOT,
		.kind = TARGET_MACHINE,
		.from_ns = from_ns,
		.until_ns = &shared->until_ns,
		.output = path,
		/* Odd, so that it is not in step with a program. */
		.interval_ns = settings->interval_ns << halvings | 1,
		.clock = settings->real ? RECORDER_CLOCK_BOTH : RECORDER_CLOCK_VIRTUAL,
		.services = true,
		.patience_ns = PATIENCE_NS,
		.zones = RECORDER_ZONES_NONE,
		.progress = tell,
		.progress_context = shared,
		.say = say,
	};
}

struct error *segment_start(struct segment *s, struct spool *spool,
	const struct agent_settings *settings, uint64_t from_ns, uint64_t until_ns,
	const struct segment_news *news, uint64_t limit_bytes, const struct segment_hooks *hooks)
{
	uint64_t now_ns = clock_monotonic_ns(), ahead_ns = from_ns > now_ns ? from_ns - now_ns : 0;
	pid_t parent = getpid();
	struct segment_shared *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return error_system(errno, "cannot map memory for a segment");
	shared->until_ns = until_ns;
	*s = (struct segment){.number = spool->next,
		.name = spool_new_name(spool, clock_unix_ns() + ahead_ns),
		.from_ns = from_ns,
		.begun_ns = now_ns,
		.halvings = news->halvings,
		.limit_bytes = limit_bytes,
		.shared = shared};
	struct recorder_options options =
		options_of(settings, shared, s->name, from_ns, news->halvings, hooks->say);

	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		signal(SIGHUP, SIG_IGN);
		prctl(PR_SET_NAME, "sonde-agent");
		spool_leave_lock(spool);
		/* Names of files are names in there from now on. */
		struct error *err = rights_drop_starting();

		if (err || fchdir(spool->temporary_fd) != 0)
			_exit(1);
		memory_small_stacks();
		(void)memory_limit(0, limit_bytes);
		record(&options, shared, news, settings->no_symbols, hooks);
	}
	int code = errno;

	if (s->pid > 0)
		return NULL;
	segment_deinit(s);
	return error_system(code, "cannot start a process for a segment");
}

void segment_stop(const struct segment *s)
{
	if (s->pid > 0 && !s->shared->has_ended)
		kill(s->pid, SIGTERM);
}

void segment_end_at(const struct segment *s, uint64_t until_ns)
{
	__atomic_store_n(&s->shared->until_ns, until_ns, __ATOMIC_RELAXED);
}

void segment_deinit(struct segment *s)
{
	free(s->name);
	if (s->shared)
		munmap(s->shared, sizeof(*s->shared));
	*s = (struct segment){0};
}
