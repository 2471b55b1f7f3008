/*
 * How the BPF program comes to the events.  Either it is loaded first, as nothing but it will do;
 * or the events sample without it until it has been loaded beside, and it joins them.
 *
 * The kernel runs the program at the events that it is given to, and at what is inherited from them
 * afterwards; a thread that was made before would go on without.  So all events are opened anew,
 * with the program and smaller copies of the stack, on each thread that lives; when all have them,
 * the old ones stop as these start, and no time is sampled twice.  Where threads are made so
 * quickly, or are so many, that this can't be had, events on the CPUs take their place.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "record/engines/perf/engine_perf_state.h"

#define RESTS_BYTES ((size_t)16 << 20)
/* Between a new thread's inheriting its events and the report of its fork so much may go by. */
#define FORK_NS (SECOND_NS / 1000)
/* The program's files, and what loading takes: with fewer to be had they are the recorder's. */
#define FILES_MIN 256
/* From so many events on those on the CPUs are quicker to be had. */
#define EVENTS_MAX 2048
/* So often threads may be made while events are being opened. */
#define ROUNDS_MAX 8

static const struct exact_options exact_options = {
	.dump_bytes = EXACT_DUMP_BYTES, .ring_bytes = RESTS_BYTES};

static void poll_for(struct engine_perf *e, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (e->exact_poll_fd < 0)
		e->exact_poll_fd = epoll_create1(EPOLL_CLOEXEC);
	(void)epoll_ctl(e->exact_poll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void use(struct engine_perf *e, struct exact *exact)
{
	e->exact = e->recording->snapshot.exact = exact;
	e->engine.ops = &engine_perf_exact_ops;
	poll_for(e, exact_fd(exact));
}

static void drop(struct engine_perf *e)
{
	exact_close(e->exact);
	e->exact = e->recording->snapshot.exact = NULL;
	e->engine.ops = &engine_perf_ops;
}

/* ---- at once ---- */

/* The rest is as without it; err says why. */
void engine_perf_exact_give_up(struct engine_perf *e, struct error *err)
{
	char line[320];

	snprintf(line, sizeof(line), "no exact stacks, sampling as with --engine snapshot: %s",
		err->message);
	if (e->options->say)
		e->options->say(line);
	error_destroy(err);
	drop(e);
}

void engine_perf_exact_open(struct engine_perf *e)
{
	struct exact *exact;
	struct error *err = exact_open(&exact_options, &exact);

	if (err)
		engine_perf_exact_give_up(e, err);
	else
		use(e, exact);
}

/* ---- beside ---- */

static bool has_files(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= FILES_MIN;
}

void engine_perf_exact_begin(struct engine_perf *e)
{
	if (exact_lacks() || !has_files())
		return;
	e->loader = exact_loader_start(&exact_options);
	if (e->loader)
		poll_for(e, exact_loader_fd(e->loader));
}

static void know_process(void *context, struct thread *thread)
{
	exact_know(context, thread->pid);
}

void engine_perf_exact_widened(struct engine_perf *e)
{
	if (!e->exact || e->everybody)
		return;
	process_table_each_thread(e->recording->processes, know_process, e->exact);
	exact_only_known(e->exact);
}

/* ---- joining ---- */

struct join {
	struct engine_perf *e;
	struct perf_event_set fresh;
	struct map tids;   /* of the threads that have fresh events, or are gone */
	uint64_t begin_ns; /* nobody had any */
	uint64_t end_ns;   /* all who lived then have */
	int code;
	bool is_mixed; /* somebody may have inherited some */
};

static bool is_added(const struct join *j, const struct thread *thread)
{
	uint32_t ignored;

	return map_get(&j->tids, (uint64_t)thread->tid, 0, &ignored);
}

static void add_thread(void *context, struct thread *thread)
{
	struct join *j = context;

	if (j->code || thread->start_ns >= j->begin_ns || is_added(j, thread))
		return;
	if (j->fresh.events.count >= EVENTS_MAX)
		j->code = EMFILE;
	else
		j->code = perf_event_set_add(&j->fresh, (pid_t)thread->tid);
	if (j->code == ESRCH)
		j->code = 0;
	map_put(&j->tids, (uint64_t)thread->tid, 0, 0);
}

static void look_for_mixed(void *context, struct thread *thread)
{
	struct join *j = context;

	j->is_mixed |= thread->start_ns >= j->begin_ns && thread->start_ns <= j->end_ns;
}

/* Until all forks that began before now have been reported. */
static void await_forks(struct engine_perf *e)
{
	const struct timespec pause = {.tv_nsec = (long)FORK_NS};

	nanosleep(&pause, NULL);
	engine_perf_drain(e);
}

/* Whoever made a thread that is found late may have made others, too. */
static void add_threads(struct join *j)
{
	size_t before;

	j->begin_ns = clock_monotonic_ns();
	do {
		before = j->tids.count;
		j->is_mixed = false;
		process_table_each_thread(j->e->recording->processes, add_thread, j);
		j->end_ns = clock_monotonic_ns() + FORK_NS;
		await_forks(j->e);
		process_table_each_thread(j->e->recording->processes, look_for_mixed, j);
	} while (j->tids.count > before && !j->is_mixed && !j->code);
}

/* Opens events on all threads; those made from now on inherit all of them. */
static bool open_on_threads(struct join *j)
{
	bool all_have_them;

	perf_event_set_renew(&j->e->events, j->e->exact, EXACT_DUMP_BYTES, &j->fresh);
	add_threads(j);
	all_have_them = !j->code && !j->is_mixed && j->e->recording->lost_sideband == 0;
	map_deinit(&j->tids);
	if (!all_have_them)
		perf_event_set_cancel(&j->fresh);
	return all_have_them;
}

static bool open_on_cpus(struct join *j)
{
	perf_event_set_renew(&j->e->events, j->e->exact, EXACT_DUMP_BYTES, &j->fresh);
	j->code = perf_event_set_add(&j->fresh, -1);
	if (j->code)
		perf_event_set_cancel(&j->fresh);
	return j->code == 0;
}

static bool open_fresh(struct join *j)
{
	bool is_open = false;

	for (int i = 0; i < ROUNDS_MAX && !is_open && !j->code && !j->e->events.is_wide; i++)
		is_open = open_on_threads(j);
	return is_open || open_on_cpus(j);
}

static void join(struct engine_perf *e)
{
	struct join j = {.e = e};
	bool is_open;

	e->is_joining = true;
	is_open = open_fresh(&j);
	e->is_joining = false;
	if (!is_open) {
		drop(e);
		return;
	}
	if (j.fresh.is_wide)
		engine_perf_exact_widened(e);
	if (e->keeper)
		keeper_serve(e->keeper, e->exact);
	perf_event_set_replace(&e->events, &j.fresh);
	engine_perf_drain(e);
	perf_event_set_drop_old(&e->events);
	if (!e->events.is_wide)
		short_lives_forgive(&e->lives, &e->events, &e->tally, e->options->interval_ns);
}

/* That the kernel refuses it is for `sonde doctor` to say: nobody has asked for it. */
static void take_loaded(struct engine_perf *e)
{
	struct error *err = NULL;

	if (!e->loader || !exact_loader_take(e->loader, &e->ready, &err))
		return;
	exact_loader_leave(e->loader);
	e->loader = NULL;
	error_destroy(err);
}

/*
 * Whether a stack went on beyond what the kernel had copied of it.  Where none does, events that
 * threads have inherited are better: the kernel swaps them as a whole at a switch, and fresh ones
 * of each thread one by one, which costs a program that switches all the time a third of its
 * samples.
 */
static bool is_needed(const struct snapshot *s)
{
	return s->memory.read_count > 0 || s->counters[CAPTURE_TRUNCATED_MEMORY] > 0;
}

bool engine_perf_exact_is_due(const struct engine_perf *e)
{
	return (e->ready || (e->loader && exact_loader_is_done(e->loader))) &&
	       is_needed(&e->recording->snapshot) && !perf_event_set_is_stopped(&e->events);
}

void engine_perf_exact_look(struct engine_perf *e)
{
	take_loaded(e);
	if (!e->ready || !engine_perf_exact_is_due(e))
		return;
	use(e, e->ready);
	e->ready = NULL;
	join(e);
}

void engine_perf_exact_close(struct engine_perf *e)
{
	exact_loader_leave(e->loader);
	exact_close(e->ready);
	e->recording->snapshot.exact = NULL;
	exact_close(e->exact);
	if (e->exact_poll_fd >= 0)
		close(e->exact_poll_fd);
}
