/*
 * A program that does to zones all that programs do, at once: threads that come and go, recursion,
 * frames, streams, events switched on and off, forks, objects opened and closed, signals at any
 * moment, longjmp; and that ends in one of several ways.  It counts for itself and compares
 * with what the runtime has counted: the same numbers, sums that close, no time below zero.
 *
 *	zones_torture SEED [MODULE]
 *
 * Prints "ok" and ends with 0; with the seed's way to end, "abort" and the like, by that.
 */
#define Prof_ENABLED
#include <prof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../zones_seen.h"

enum { THREADS = 6, LIVES = 2, FORKS = 3, HANDLER_ZONES = 2 };

Prof_Define(shared);

/* How often each zone was entered in this process. */
static atomic_ullong rec_a, rec_b, shared_times, jumped, dynamic, handler_runs;

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* ---- what is done ---- */

static void go_b(int depth);

/* Mutual recursion. */
static void go_a(int depth)
{
	Prof_Begin(rec_a) rec_a++;
	if (depth > 0)
		go_b(depth - 1);
	Prof_End
}

static void go_b(int depth)
{
	Prof_Block(rec_b);
	rec_b++;
	if (depth > 0)
		go_a(depth - 1);
	if (depth > 3)
		go_a(1);
}

static void go_jump(void)
{
	jmp_buf here;
	Prof_Mark mark = Prof_mark();

	if (!setjmp(here)) {
		Prof_Begin(jumped) jumped++;
		longjmp(here, 1);
	}
	Prof_return_to(mark);
}

static void go_dynamic(unsigned which)
{
	char name[] = "dynamic00";

	name[7] = (char)('0' + which % 10);
	name[8] = (char)('0' + which / 10 % 10);
	Prof_enter(Prof_zone(name, "torture", 0));
	dynamic++;
	Prof_leave();
}

static void go(unsigned *seed, int rounds)
{
	while (rounds--) {
		Prof_Region(shared) shared_times++;
		switch (next(seed) % 4) {
		case 0:
			go_a((int)(next(seed) % 12));
			break;
		case 1:
			go_jump();
			break;
		case 2:
			go_dynamic(next(seed));
			break;
		default:
			Prof_update_stream("torture");
			Prof_number(rounds);
			Prof_text("round");
			break;
		}
		Prof_End
	}
}

static void *live(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;

	Prof_thread_name(seed % 2 ? "odd" : "even");
	go(&seed, 300);
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
	Prof_Begin(handler) Prof_Begin(handler_inside) handler_runs++;
	Prof_End Prof_End
}

static void storm(bool is_on)
{
	struct itimerval often = {{0, is_on ? 200 : 0}, {0, is_on ? 200 : 0}};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
}

static void load_module(const char *path, unsigned *seed)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*step)(int) = NULL;

	NEED(module);
	*(void **)&step = dlsym(module, "zones_module_step");
	NEED(step);
	step((int)(next(seed) % 5));
	dlclose(module);
}

/* ---- what came of it ---- */

static void check(const char *who)
{
	struct zones_seen seen;
	uint64_t all = 0, handled, skipped, times, life;

	NEED(zones_seen_open(&seen));
	life = zone_region_now(&seen.region) - seen.region.header.start_ticks;
	for (uint32_t i = 1; i < seen.reading.node_count; i++) {
		NEED(seen.reading.counts[i].self_ticks <= life);
		all += seen.reading.counts[i].self_ticks;
	}
	NEED_EQUAL(all, zones_seen_total(&seen, ""));
	NEED(all / life <= 2 * THREADS);
	times = zones_seen_entries_of(&seen, "handler");
	handled = zones_seen_entries_of(&seen, "handler_inside");
	skipped = zones_seen_trouble(&seen, ZONEWIRE_INTERRUPTED);
	NEED_EQUAL(times + handled + skipped, HANDLER_ZONES * handler_runs);
	NEED_EQUAL(zones_seen_entries_of(&seen, "rec_a"), rec_a);
	NEED_EQUAL(zones_seen_entries_of(&seen, "rec_b"), rec_b);
	NEED_EQUAL(zones_seen_entries_of(&seen, "shared"), shared_times);
	NEED_EQUAL(zones_seen_entries_of(&seen, "jumped"), jumped);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_CLOCK_BACK), 0);
	times = 0;
	for (int i = 0; i < 100; i++) {
		char name[] = {'d', 'y', 'n', 'a', 'm', 'i', 'c', (char)('0' + i % 10),
			(char)('0' + i / 10), '\0'};

		times += zones_seen_entries_of(&seen, name);
	}
	NEED_EQUAL(times, dynamic);
	zones_seen_close(&seen);
	(void)who;
}

static void run_threads(unsigned *seed)
{
	pthread_t thread[THREADS];

	for (int life = 0; life < LIVES; life++) {
		for (int i = 0; i < THREADS; i++)
			NEED(!pthread_create(
				&thread[i], NULL, live, (void *)(uintptr_t)next(seed)));
		for (int frame = 0; frame < 10; frame++) {
			Prof_update(1);
			Prof_set_events((int)(next(seed) % 2));
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
}

/* A child counts from nothing. */
static void forked(unsigned seed)
{
	rec_a = rec_b = shared_times = jumped = dynamic = handler_runs = 0;
	storm(true);
	go(&seed, 50);
	run_threads(&seed);
	storm(false);
	check("child");
	_exit(0);
}

static void fork_some(unsigned *seed)
{
	pid_t child[FORKS];
	int status;

	for (int i = 0; i < FORKS; i++) {
		/* In the child none may come before it has set its counts back. */
		storm(false);
		child[i] = fork();
		NEED(child[i] >= 0);
		if (!child[i])
			forked(next(seed));
		storm(true);
	}
	for (int i = 0; i < FORKS; i++) {
		NEED_EQUAL(waitpid(child[i], &status, 0), child[i]);
		NEED_EQUAL(status, 0);
	}
}

/* Until the process ends, whatever that does to its thread. */
static void *keeps_on(void *keep)
{
	while (keep) {
		Prof_Region(shared) Prof_End
	}
	return NULL;
}

/* With a thread inside its zones, and zones open. */
static int end(unsigned how)
{
	pthread_t thread;

	NEED(!pthread_create(&thread, NULL, keeps_on, &thread));
	Prof_Region(shared) printf("ok\n");
	fflush(stdout);
	switch (how % 5) {
	case 0:
		exit(0);
	case 1:
		_exit(0);
	case 2:
		abort();
	case 3:
		raise(SIGKILL);
		break;
	default:
		break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1, first = seed;

	alarm(300);
	storm(true);
	go(&seed, 100);
	fork_some(&seed);
	if (argc > 2)
		load_module(argv[2], &seed);
	run_threads(&seed);
	if (argc > 2)
		load_module(argv[2], &seed);
	storm(false);
	check("parent");
	return end(first);
}
