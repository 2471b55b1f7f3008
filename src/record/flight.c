/*
 * The flight recorder.  What comes waits in memory (record/recent.h); this decides how long, and
 * what the figures of the recorder, which count from its start, are for what is kept.
 *
 * That a dump is a fork has the recorder wait for no file and no name, and a dump is what the
 * recording would be if it ended now.  The child has one thread: it calls no engine.
 */
#include "record/flight.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/recorder_state.h"

/* Moments in the length of what is kept, but not more often than every half second. */
#define MOMENTS	    32
#define STEP_NS_MIN (SECOND_NS / 2)
/* A program whose ticks are all slow must not fill the disk. */
#define SLOW_DUMPS_MAX 100

/* ---- moments ---- */

static void note_moment(struct recorder *r, uint64_t now_ns)
{
	struct flight_moment m = {.time_ns = now_ns};

	r->end_ns = now_ns;
	recorder_sum_up(r, &m.result);
	vec_push(&r->flight.moments, m);
}

static uint64_t step_ns(const struct flight *f)
{
	uint64_t step = f->keep_ns / MOMENTS;

	return step > STEP_NS_MIN ? step : STEP_NS_MIN;
}

static void drop_moment(struct flight *f)
{
	f->moments.count--;
	memmove(f->moments.data, f->moments.data + 1, f->moments.count * sizeof(*f->moments.data));
}

/* Forgets what is too old, or too much. */
static void forget(struct recorder *r, uint64_t now_ns)
{
	struct flight *f = &r->flight;

	while (f->moments.count > 1 && f->moments.data[1].time_ns + f->keep_ns <= now_ns)
		drop_moment(f);
	recording_forget(&r->recording, f->moments.data[0].time_ns);
	while (recent_size(&r->recording.recent) > FLIGHT_BYTES_MAX) {
		if (f->moments.count == 1)
			note_moment(r, now_ns);
		drop_moment(f);
		f->is_short = true;
		recording_forget(&r->recording, f->moments.data[0].time_ns);
	}
}

void flight_begin(struct recorder *r)
{
	r->flight.keep_ns = r->options.keep_ns;
	if (r->flight.keep_ns == 0)
		return;
	r->recording.keeps = true;
	r->recording.slow_ns = r->options.tick_over_ns;
	r->recording.slow_stream = r->options.tick_stream;
	vec_push(&r->flight.moments, (struct flight_moment){.time_ns = r->recording.start_ns});
}

/* ---- the figures of what is kept ---- */

/* Counters of samples and the like; the others are of the target, and hold as they are. */
static const enum capture_counter counters_of_samples[] = {CAPTURE_LOST_RING,
	CAPTURE_LOST_THROTTLED, CAPTURE_TRUNCATED_MEMORY, CAPTURE_TRUNCATED_RACE,
	CAPTURE_TRUNCATED_RULE, CAPTURE_TRUNCATED_CORRUPT, CAPTURE_TRUNCATED_DEPTH,
	CAPTURE_NO_USER_STACK, CAPTURE_ESTIMATED_BLOCKS, CAPTURE_ESTIMATED_NS,
	CAPTURE_LOST_SWITCHES, CAPTURE_LOST_WAKINGS, CAPTURE_LOST_RESTS, CAPTURE_LOST_TICKS,
	CAPTURE_CUT_TICKS, CAPTURE_UNKNOWN_ZONES, CAPTURE_GUESSED_STACKS, CAPTURE_THINNED};

static void subtract(uint64_t *from, uint64_t value)
{
	*from -= value < *from ? value : *from;
}

/* What is UINT64_MAX is not known. */
static void subtract_known(uint64_t *from, uint64_t value)
{
	if (*from != UINT64_MAX && value != UINT64_MAX)
		subtract(from, value);
}

static void since_events(struct recorder *r, struct recorder_result *now)
{
	const struct recording *recording = &r->recording;

	for (size_t i = 0; i < now->counted_count; i++) {
		struct recorder_counted *c = &now->counted[i];
		const struct recorder_counted *base = &r->flight.moments.data[0].result.counted[i];

		subtract_known(&c->events, base->events);
		subtract(&c->lost, base->lost);
		c->samples = recording->counter_samples[i];
		c->weight = recording->counter_weight[i];
		capture_writer_metric_counts(
			r->writer, recording->metrics.counters + (uint32_t)i, c->lost, c->events);
	}
}

static void since(struct recorder *r, struct recorder_result *now)
{
	const struct recorder_result *base = &r->flight.moments.data[0].result;
	uint64_t first_ns;

	for (size_t i = 0; i < ARRAY_SIZE(counters_of_samples); i++) {
		enum capture_counter counter = counters_of_samples[i];

		subtract(&now->counters[counter], base->counters[counter]);
		capture_writer_counter(r->writer, counter, now->counters[counter]);
	}
	/* Beyond the samples, those that are missing. */
	subtract_known(&now->expected, now->samples);
	if (base->expected != UINT64_MAX)
		subtract_known(&now->expected,
			base->expected > base->samples ? base->expected - base->samples : 0);
	now->samples = r->recording.samples;
	now->sampled_ns = r->recording.sampled_ns;
	if (now->expected != UINT64_MAX)
		now->expected += now->samples;
	subtract_known(&now->cpu_ns, base->cpu_ns);
	subtract(&now->kernel_cpu_ns, base->kernel_cpu_ns);
	subtract(&now->lost_cpu_ns, base->lost_cpu_ns);
	subtract(&now->unreached_cpu_ns, base->unreached_cpu_ns);
	subtract(&now->thinned, base->thinned);
	subtract(&now->walked, base->walked);
	subtract(&now->truncated, base->truncated);
	subtract(&now->zones.ticks, base->zones.ticks);
	subtract(&now->zones.lost_ticks, base->zones.lost_ticks);
	subtract(&now->zones.unknown, base->zones.unknown);
	now->off_ns = now->duration_ns - pauses_on_ns(&r->recording.pauses, r->recording.start_ns,
						 r->end_ns, &first_ns);
	since_events(r, now);
}

/* The moments' own account of CPU time is without pauses, and so is the whole's: so is this. */
void flight_end(struct recorder *r, struct recorder_result *result)
{
	uint64_t from_ns;

	if (r->flight.keep_ns == 0)
		return;
	from_ns = r->flight.moments.data[0].time_ns;
	result->keep_ns = r->flight.keep_ns;
	result->kept_is_short = r->flight.is_short;
	recording_write_recent(&r->recording, from_ns);
	if (from_ns > r->recording.start_ns)
		pauses_leave_out(&r->recording.pauses, r->recording.start_ns, from_ns);
	since(r, result);
}

void flight_keep_nodes(struct recorder *r)
{
	const struct recording *recording = &r->recording;
	const struct stack_tree *tree = &recording->snapshot.tree;

	if (recording->wanted == NULL)
		return;
	uint8_t *fates = stack_tree_fates(tree, recording->wanted, recording->wanted_count);

	if (capture_writer_keep_nodes(r->writer, fates, tree->nodes.count))
		r->fates = fates;
	else
		free(fates);
}

/* ---- dumps ---- */

/* "app.prof" becomes "app.1.prof", or whatever number is free; the caller's. */
static char *dump_path(struct recorder *r)
{
	struct str output = str_from(r->options.output);
	struct str end = str_ends_with(output, STR(".prof")) ? STR(".prof") : STR("");
	char *path;

	do {
		path = xasprintf("%.*s.%u%.*s", (int)(output.size - end.size), output.data,
			++r->flight.dumps, STR_ARG(end));
		if (access(path, F_OK) != 0 && errno == ENOENT)
			return path;
		free(path);
	} while (r->flight.dumps < UINT32_MAX);
	return NULL;
}

static void say(const struct recorder *r, const char *line)
{
	if (r->options.say)
		r->options.say(line);
}

/* In the child: signals that end the recorder are for the recorder. */
static void make_dump(struct recorder *r, const char *path, struct recorder_result *result)
{
	struct error *err;

	(void)setpriority(PRIO_PROCESS, 0, 10);
	err = capture_writer_divert(r->writer, path);
	if (err) {
		say(r, err->message);
		_exit(1);
	}
	recorder_settle(r, result);
	r->options.dump(r->options.dump_context, r, result, path);
	_exit(0);
}

static void dump(struct recorder *r)
{
	struct recorder_result result;

	if (strcmp(r->options.output, "-") == 0 || r->stopped) {
		say(r, "dump: the recording does not go to a file, so a dump has no name");
		return;
	}
	char *path = dump_path(r);
	if (path == NULL)
		return;
	recorder_drain(r);
	r->end_ns = clock_monotonic_ns();
	recorder_write_counters(r);
	recorder_sum_up(r, &result);
	result.detached = false; /* as it goes on */
	result.is_dump = true;
	capture_writer_write(r->writer);
	pid_t pid = fork();
	if (pid == 0)
		make_dump(r, path, &result);
	if (pid > 0)
		vec_push(&r->flight.children, pid);
	else
		say(r, "dump: no process can be made for it");
	free(path);
}

/* One for all slow ticks in the time that a dump covers. */
static bool slow_tick_is_due(struct recorder *r, uint64_t now_ns)
{
	struct flight *f = &r->flight;

	if (r->recording.slow_ticks == f->slow_ticks)
		return false;
	if (f->slow_dump_ns && now_ns - f->slow_dump_ns < f->keep_ns)
		return false;
	f->slow_ticks = r->recording.slow_ticks;
	f->slow_dump_ns = now_ns;
	return f->dumps < SLOW_DUMPS_MAX;
}

static void reap(struct flight *f, int flags)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->children.count; i++) {
		pid_t done;

		do
			done = waitpid(f->children.data[i], NULL, flags);
		while (done < 0 && errno == EINTR);
		if (done == 0)
			f->children.data[kept++] = f->children.data[i];
	}
	f->children.count = kept;
}

void flight_look(struct recorder *r, uint64_t now_ns)
{
	struct flight *f = &r->flight;

	if (f->keep_ns == 0)
		return;
	if (now_ns >= f->next_ns) {
		f->next_ns = now_ns + step_ns(f);
		note_moment(r, now_ns);
	}
	forget(r, now_ns);
	reap(f, WNOHANG);
	if (f->is_asked || slow_tick_is_due(r, now_ns))
		dump(r);
	f->is_asked = false;
}

void flight_deinit(struct flight *f)
{
	reap(f, 0);
	vec_deinit(&f->children);
	vec_deinit(&f->moments);
}
