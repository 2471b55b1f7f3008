/*
 * The runtime with threads, forks, fibers, signal handlers and objects that come and go: every
 * entry counted once, sums that close, nothing left open.
 */
#define Prof_ENABLED
#include <prof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit.h"
#include "../zones_seen.h"

Prof_Define(outer);
Prof_Define(inner);
Prof_Define(handled);

static struct zones_seen seen;

static void look(void)
{
	NEED(zones_seen_open(&seen));
}

static void work(int times)
{
	for (int i = 0; i < times; i++) {
		Prof_Region(outer)
		{
			Prof_Region(inner) Prof_End Prof_Counter(counted);
		}
		Prof_End
	}
}

static void *worker(void *times)
{
	Prof_thread_name("worker");
	work(*(int *)times);
	return NULL;
}

/* Several rounds, so that later threads take over the slots of earlier ones. */
static void run_threads(int rounds, int count, int times)
{
	pthread_t thread[64];

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++)
			NEED(!pthread_create(&thread[i], NULL, worker, &times));
		for (int i = 0; i < count; i++)
			pthread_join(thread[i], NULL);
	}
}

/* All times together are those of the roots, and no longer than the threads were. */
static void check_sums(uint64_t threads_at_once)
{
	uint64_t all = 0, now = zone_region_now(&seen.region);

	for (uint32_t i = 1; i < seen.reading.node_count; i++) {
		NEED(seen.reading.counts[i].self_ticks <= now - seen.region.header.start_ticks);
		all += seen.reading.counts[i].self_ticks;
	}
	NEED_EQUAL(all, zones_seen_total(&seen, ""));
	NEED(all <= (now - seen.region.header.start_ticks) * threads_at_once);
}

static void threads_body(void)
{
	struct zonewire_slot slot;

	run_threads(5, 8, 2000);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 80000);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 80000);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/counted"), 80000);
	NEED_EQUAL(zones_seen_entries(&seen, ""), 40);
	NEED(zone_region_slot_count(&seen.region) <= 8);
	for (uint32_t i = 0; i < zone_region_slot_count(&seen.region); i++) {
		NEED(zone_region_slot(&seen.region, i, &slot));
		NEED_EQUAL(slot.state, ZONEWIRE_SLOT_FREE);
		NEED(!strcmp(slot.name, "worker"));
	}
	for (uint32_t i = 1; i < seen.reading.node_count; i++)
		NEED(!seen.reading.is_open[i]);
	check_sums(8);
}

static void *leaves_open(void *unused)
{
	(void)unused;
	Prof_Region(outer) Prof_Region(inner) return NULL;
}

static void open_at_end_body(void)
{
	pthread_t thread;

	NEED(!pthread_create(&thread, NULL, leaves_open, NULL));
	pthread_join(thread, NULL);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 1);
	for (uint32_t i = 1; i < seen.reading.node_count; i++)
		NEED(!seen.reading.is_open[i]);
	check_sums(1);
}

static pthread_key_t late_key;

/* Runs after the runtime's own destructor, too. */
static void late(void *round)
{
	int left = *(int *)round;

	Prof_Region(inner) Prof_End if (left > 1)
	{
		*(int *)round = left - 1;
		pthread_setspecific(late_key, round);
	}
}

static void *ends_late(void *round)
{
	pthread_setspecific(late_key, round);
	Prof_Region(outer) Prof_End return NULL;
}

static void late_ends_body(void)
{
	pthread_t thread;
	int rounds;

	NEED(!pthread_key_create(&late_key, late));
	for (int i = 0; i < 50; i++) {
		rounds = 4;
		NEED(!pthread_create(&thread, NULL, ends_late, &rounds));
		pthread_join(thread, NULL);
	}
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 50);
	NEED_EQUAL(zones_seen_entries(&seen, "inner"), 200);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	check_sums(50);
}

/* As free is a zone of some, which the C library calls when all destructors have run. */
static void unheard_ends_body(void)
{
	pthread_t thread;
	int rounds;

	work(1);
	NEED(!pthread_key_create(&late_key, late));
	for (int i = 0; i < 50; i++) {
		rounds = 4;
		NEED(!pthread_create(&thread, NULL, ends_late, &rounds));
		pthread_join(thread, NULL);
	}
	Prof_update(1);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 51);
	NEED_EQUAL(zones_seen_entries(&seen, "inner"), 200);
	NEED(zone_region_slot_count(&seen.region) <= 3);
	for (uint32_t i = 1; i < seen.reading.node_count; i++)
		NEED(!seen.reading.is_open[i] || seen.reading.place[i].slot == 0);
}

/* More threads at once than there are slots: the others are skipped, and counted. */
static void *waits(void *barrier)
{
	work(1);
	pthread_barrier_wait(barrier);
	work(1);
	return NULL;
}

static void slots_full_body(void)
{
	enum { THREADS = 1040 };
	static pthread_t thread[THREADS];
	pthread_barrier_t barrier;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		NEED(!pthread_create(&thread[i], &attributes, waits, &barrier));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	look();
	NEED_EQUAL(zone_region_slot_count(&seen.region), 1024);
	NEED(zones_seen_trouble(&seen, ZONEWIRE_NO_SLOTS) >= THREADS - 1024);
	NEED(zones_seen_entries(&seen, "outer") >= 2 * 1024);
	NEED(zones_seen_entries(&seen, "outer") <= 2 * THREADS);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	zones_seen_close(&seen);
	run_threads(1, 1, 5);
}

/* ---- fork ---- */

static void forked_child(void)
{
	Prof_Region(inner) Prof_End look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 1);
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 0);
	NEED_EQUAL(seen.region.header.generation, 2);
	NEED_EQUAL(seen.region.header.pid, getpid());
	NEED(zones_seen_total(&seen, "outer") < 1000000000);
	zones_seen_close(&seen);
	Prof_End Prof_End run_threads(1, 4, 10);
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 40);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 1);
	check_sums(5);
	_exit(0);
}

static void fork__body(void)
{
	int status;
	pid_t child;

	run_threads(1, 4, 100);
	Prof_Region(outer) child = fork();
	if (!child)
		forked_child();
	NEED_EQUAL(waitpid(child, &status, 0), child);
	NEED_EQUAL(status, 0);
	Prof_End look();
	NEED_EQUAL(seen.region.header.generation, 1);
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 401);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 400);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
}

static bool is_over;
static int working;

static void *works_on(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&working, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		char name[] = "dynamic0";

		for (; name[7] <= '9'; name[7]++) {
			Prof_enter(Prof_zone(name, NULL, (uint32_t)rand() % 100));
			work(1);
			Prof_leave();
		}
	}
	return NULL;
}

/* Forks while other threads make zones, nodes and slots. */
static void fork_amid_body(void)
{
	pthread_t thread[3];
	int status;

	for (int i = 0; i < 3; i++)
		NEED(!pthread_create(&thread[i], NULL, works_on, NULL));
	/* A starting thread may hold an AddressSanitizer lock, which a child can never release. */
	while (__atomic_load_n(&working, __ATOMIC_ACQUIRE) < 3)
		sched_yield();
	for (int i = 0; i < 60; i++) {
		pid_t child;

		Prof_Region(outer) child = fork();
		if (!child) {
			work(3);
			Prof_End run_threads(1, 3, 3);
			look();
			NEED_EQUAL(zones_seen_entries(&seen, "outer/outer"), 3);
			NEED_EQUAL(zones_seen_entries(&seen, "outer"), 9);
			NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
			_exit(0);
		}
		Prof_End NEED_EQUAL(waitpid(child, &status, 0), child);
		NEED_EQUAL(status, 0);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* ---- fibers ---- */

static void *goes_on(void *fiber)
{
	Prof_fiber_switch(fiber);
	zones_seen_pass(8);
	Prof_End Prof_fiber_switch(NULL);
	return NULL;
}

static void fibers_body(void)
{
	Prof_Fiber *a, *b;
	pthread_t thread;
	struct zonewire_slot slot;

	zones_seen_drive_clock();
	a = Prof_fiber_create("a");
	b = Prof_fiber_create("b");
	Prof_Region(outer) Prof_fiber_switch(a);
	Prof_Region(inner) zones_seen_pass(1);
	Prof_fiber_switch(b);
	zones_seen_pass(2);
	Prof_fiber_switch(NULL);
	zones_seen_pass(4);
	Prof_End NEED(!pthread_create(&thread, NULL, goes_on, a));
	pthread_join(thread, NULL);
	look();
	NEED_EQUAL(zones_seen_self(&seen, "inner"), 1 + 8);
	NEED_EQUAL(zones_seen_self(&seen, "outer"), 4);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED(zone_region_slot(&seen.region, 0, &slot));
	NEED_EQUAL(slot.state, ZONEWIRE_SLOT_FIBER);
	NEED(!strcmp(slot.name, "a"));
	Prof_fiber_destroy(a);
	Prof_fiber_destroy(b);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled_times;

static void on_alarm(int number)
{
	(void)number;
	Prof_Region(handled) Prof_Region(inner)
		Prof_End Prof_End __atomic_fetch_add(&handled_times, 1, __ATOMIC_RELAXED);
}

static void storm_start(void)
{
	struct itimerval often = {{0, 50}, {0, 50}};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	action.sa_flags = SA_RESTART;
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
}

/* How many signals a storm has: one at each tick of the kernel's, 100 to 1,000 a second. */
static int storm_size(void)
{
	return getenv("SONDE_LONG") ? 2000 : 150;
}

static void storm_stop(void)
{
	struct itimerval never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_VIRTUAL, &never, NULL);
}

static void handlers_body(void)
{
	uint64_t rounds = 0, times, skipped;

	storm_start();
	while (handled_times < storm_size()) {
		work(100);
		rounds++;
	}
	storm_stop();
	look();
	skipped = zones_seen_trouble(&seen, ZONEWIRE_INTERRUPTED);
	times = zones_seen_entries_of(&seen, "handled");
	NEED(times <= (uint64_t)handled_times);
	/* Of a handler during an entry both are skipped, each counted. */
	NEED_EQUAL(times * 2 + skipped, (uint64_t)handled_times * 2);
	NEED_EQUAL(zones_seen_entries_of(&seen, "outer"), rounds * 100);
	NEED_EQUAL(zones_seen_entries_of(&seen, "inner"), rounds * 100 + times);
	NEED_EQUAL(zones_seen_entries_of(&seen, "counted"), rounds * 100);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_CLOCK_BACK), 0);
	check_sums(1);
}

static bool switching_ends;

static void *switch_over(void *unused)
{
	for (int i = 0; !__atomic_load_n(&switching_ends, __ATOMIC_RELAXED); i++) {
		Prof_set_enabled(i % 2);
		Prof_set_events(i / 2 % 2);
		for (volatile int wait = i % 64 * 32; wait > 0; wait--)
			;
	}
	return unused;
}

static void work_in_blocks(int times)
{
	for (int i = 0; i < times; i++) {
		Prof_Scope(outer);
		Prof_Region(inner)
		{
			Prof_Scope(inner);
		}
		Prof_End
	}
}

/* Zones go off and on while they are entered and left: what was begun is ended, no more. */
static void switched_body(void)
{
	pthread_t thread;

	work(1);
	Prof_Begin(base) storm_start();
	NEED(!pthread_create(&thread, NULL, switch_over, NULL));
	for (uint64_t rounds = 0; handled_times < storm_size(); rounds++) {
		rounds % 2 ? work(20) : work_in_blocks(20);
		NEED_EQUAL(Prof_stack->depth, 1);
		NEED_EQUAL(Prof_thread_.skipped, 0);
	}
	__atomic_store_n(&switching_ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	storm_stop();
	Prof_set_enabled(1);
	Prof_End work(2);
	NEED_EQUAL(Prof_thread_.mode & ~Prof_EVENTS_, 0);
	look();
	NEED(zones_seen_entries_of(&seen, "outer") > 2);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 0);
	/* The other thread has handlers, too. */
	check_sums(2);
}

static sigjmp_buf out;
static volatile sig_atomic_t may_jump;

static void on_alarm_jump(int number)
{
	(void)number;
	if (may_jump) {
		may_jump = 0;
		siglongjmp(out, 1);
	}
}

/* Handlers that are left by longjmp wherever they come, also during entries. */
static void handler_jumps_body(void)
{
	struct sigaction action;

	storm_start();
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm_jump;
	sigaction(SIGVTALRM, &action, NULL);
	for (volatile int i = 0; i < storm_size(); i++) {
		Prof_Mark mark = Prof_mark();

		if (!sigsetjmp(out, 1)) {
			may_jump = 1;
			for (;;)
				work(1);
		}
		Prof_return_to(mark);
		Prof_Region(handled) Prof_End
	}
	storm_stop();
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "handled"), (uint64_t)storm_size());
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	check_sums(1);
}

/* ---- objects that come and go ---- */

static void reopen_body(void)
{
	for (int i = 0; i < 20; i++) {
		void *module = dlopen(getenv("ZONES_MODULE"), RTLD_NOW | RTLD_LOCAL);
		void (*step)(int) = NULL;

		if (!module)
			zones_need_failed(__FILE__, __LINE__, dlerror());
		*(void **)&step = dlsym(module, "zones_module_step");
		NEED(step);
		Prof_Region(outer) step(5);
		Prof_End NEED(!dlclose(module));
	}
	look();
	NEED_EQUAL(zones_seen_entries(&seen, "outer/module_step"), 100);
	NEED_EQUAL(zone_region_zone_count(&seen.region), 4 + 2);
}

/* ---- events ---- */

static uint32_t step_wanted, step_done;

static void *steps(void *unused)
{
	uint32_t done = 0;

	(void)unused;
	for (;;) {
		while (__atomic_load_n(&step_wanted, __ATOMIC_ACQUIRE) == done)
			;
		if (__atomic_load_n(&step_wanted, __ATOMIC_RELAXED) == UINT32_MAX)
			return NULL;
		work(1);
		__atomic_store_n(&step_done, ++done, __ATOMIC_RELEASE);
	}
}

static void step(uint32_t number)
{
	__atomic_store_n(&step_wanted, number, __ATOMIC_RELEASE);
	while (__atomic_load_n(&step_done, __ATOMIC_ACQUIRE) != number)
		;
}

/* Switched on and off while a thread runs, for that thread, too. */
static void events_body(void)
{
	struct zone_event event[64];
	uint64_t position = 0, lost;
	pthread_t thread;
	size_t count;

	zones_seen_drive_clock();
	NEED(!pthread_create(&thread, NULL, steps, NULL));
	step(1);
	Prof_set_events(1);
	zones_seen_pass_quietly(10);
	step(2);
	Prof_set_events(0);
	step(3);
	look();
	count = zone_region_events(
		&seen.region, 0, &position, zone_region_now(&seen.region), event, 64, &lost);
	NEED_EQUAL(lost, 0);
	NEED_EQUAL(count, 4);
	NEED(!strcmp("inner", zones_seen_name(&seen, seen.reading.place[event[1].node].zone)));
	NEED_EQUAL(event[1].node, event[0].node + 1);
	NEED_EQUAL(event[2].node, event[0].node);
	NEED_EQUAL(seen.reading.place[event[3].node].depth, 0);
	NEED_EQUAL(event[0].ticks, 1010);
	__atomic_store_n(&step_wanted, UINT32_MAX, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* A ring keeps its newest. */
static void event_ring_body(void)
{
	struct zone_event event[512];
	uint64_t position = 0, lost, total = 0, last = 0;
	size_t count;

	Prof_set_events(1);
	work(100000);
	look();
	do {
		count = zone_region_events(&seen.region, 0, &position,
			zone_region_now(&seen.region), event, 512, &lost);
		for (size_t i = 0; i < count; i++) {
			NEED(event[i].ticks >= last);
			last = event[i].ticks;
		}
		total += count;
	} while (count);
	NEED(total > 60000 && total <= 65536);
	NEED_EQUAL(position, 100000 * 4 + 1);
}

#define CASE(name)                                                                                 \
	TEST(name)                                                                                 \
	{                                                                                          \
		assert_true(zones_apart(name##_body));                                             \
	}
CASE(threads)
CASE(open_at_end)
CASE(late_ends)
CASE(unheard_ends)
CASE(slots_full)
CASE(fork_)
CASE(fork_amid)
CASE(fibers)
CASE(handlers)
CASE(switched)
CASE(handler_jumps)
CASE(reopen)
CASE(events)
CASE(event_ring)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads),
		cmocka_unit_test(open_at_end),
		cmocka_unit_test(late_ends),
		cmocka_unit_test(unheard_ends),
		cmocka_unit_test(slots_full),
		cmocka_unit_test(fork_),
		cmocka_unit_test(fork_amid),
		cmocka_unit_test(fibers),
		cmocka_unit_test(handlers),
		cmocka_unit_test(switched),
		cmocka_unit_test(handler_jumps),
		cmocka_unit_test(reopen),
		cmocka_unit_test(events),
		cmocka_unit_test(event_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
