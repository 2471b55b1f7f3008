/*
 * The runtime under what programs do to themselves: threads that are cancelled, forks while another
 * thread ends a frame, threads that cannot be made or are too many, displays left by longjmp,
 * machines that sleep, and clocks that the kernel does not trust.
 *
 * Some functions of libc stand here in place of its own, so that they can be slow, lie and be
 * counted.
 */
#define Prof_ENABLED
#include <prof.h>
#include <prof_internal.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit.h"
#include "../zones_seen.h"

Prof_Define(outer);
Prof_Define(inner);

static struct zones_seen seen;

static void work(int times)
{
	for (int i = 0; i < times; i++) {
		Prof_Region(outer) Prof_Region(inner) Prof_End Prof_End
	}
}

/* ---- libc's, as this machine has it or as a test wants it ---- */

static uint64_t raw_taken_off;	  /* ns that the raw clock did not run */
static int monotonic_delays;	  /* how many readings of it come late */
static const char *clock_source;  /* what the kernel says its clock is; NULL: the truth */
static int clock_source_cancels;  /* to open that is a point of cancellation, as it may be */
static void (*home_begins)(void); /* called before a page is marked as cleared in children */

static uint64_t ns_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, now);
	uint64_t ns = ns_of(*now);

	if (clock == CLOCK_MONOTONIC_RAW && raw_taken_off) {
		now->tv_sec = (time_t)((ns - raw_taken_off) / 1000000000);
		now->tv_nsec = (long)((ns - raw_taken_off) % 1000000000);
	}
	if (clock == CLOCK_MONOTONIC && monotonic_delays > 0) {
		monotonic_delays--;
		usleep(20000);
	}
	return result;
}

static bool is_clock_source(const char *path)
{
	return strstr(path, "current_clocksource") != NULL;
}

int open(const char *path, int flags, ...)
{
	unsigned mode = 0;
	va_list more;

	va_start(more, flags);
	if (flags & O_CREAT)
		mode = va_arg(more, unsigned);
	va_end(more);
	if (is_clock_source(path) && clock_source_cancels)
		pthread_testcancel();
	if (is_clock_source(path) && clock_source) {
		int fd = (int)syscall(SYS_memfd_create, "clocksource", 1);

		NEED(write(fd, clock_source, strlen(clock_source)) > 0);
		NEED(lseek(fd, 0, SEEK_SET) == 0);
		return fd;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int madvise(void *start, size_t bytes, int advice)
{
	enum { WIPE_ON_FORK = 18 };

	if (advice == WIPE_ON_FORK && home_begins)
		home_begins();
	return (int)syscall(SYS_madvise, start, bytes, advice);
}

/* ---- threads ---- */

static void *cancelled(void *unused)
{
	(void)unused;
	NEED(!pthread_cancel(pthread_self()));
	work(1);
	pthread_testcancel();
	NEED(false && "the thread goes on");
	return NULL;
}

/* It is to end, and enters the program's first zone before it gets to it. */
static void cancel_body(void)
{
	pthread_t thread;
	void *result;

	clock_source_cancels = 1;
	NEED(!pthread_create(&thread, NULL, cancelled, NULL));
	NEED(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	work(5);
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 6);
}

static void *works(void *times)
{
	work(*(int *)times);
	return NULL;
}

static pthread_t other_thread;

static void start_other(void)
{
	static int times = 3;

	NEED(!pthread_create(&other_thread, NULL, works, &times));
	usleep(50000);
}

/* Another thread enters its first zone while the memory is made: it is not a forked child's. */
static void first_at_once_body(void)
{
	Prof_home_[0] = 0; /* as in a process that no fork made */
	home_begins = start_other;
	work(2);
	NEED(!pthread_join(other_thread, NULL));
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 5);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_UNTOLD_CHILD), 0);
}

/* No more processes, and so no more threads: what there is goes on. */
static void no_threads_body(void)
{
	struct rlimit none = {0, 0};
	pthread_t thread;
	int times = 3, error;

	/* The limit is none for root. */
	if (geteuid() == 0)
		NEED(!syscall(SYS_setresgid, 65534, 65534, 65534) &&
			!syscall(SYS_setresuid, 65534, 65534, 65534));
	NEED(!setrlimit(RLIMIT_NPROC, &none));
	Prof_Region(outer) error = pthread_create(&thread, NULL, works, &times);
	NEED_EQUAL(error, EAGAIN);
	NEED(fork() < 0);
	Prof_Region(inner) Prof_End Prof_End work(3);
	Prof_update(1);
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 4);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 4);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 0);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(now);
}

static pthread_barrier_t all_there, all_done;

static void *waits(void *unused)
{
	work(1);
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_done);
	return unused;
}

/* A thread for which there is no slot enters and leaves, and does not look for one each time. */
static void *works_without_slot(void *ns)
{
	enum { TIMES = 20000 };
	uint64_t start = now_ns();

	work(TIMES);
	*(uint64_t *)ns = (now_ns() - start) / TIMES;
	return NULL;
}

static void *works_at_last(void *unused)
{
	time_t end = time(NULL) + 5;

	(void)unused;
	while (!Prof_thread_.slot && time(NULL) < end)
		work(1);
	NEED(Prof_thread_.slot);
	return NULL;
}

static void too_many_body(void)
{
	enum { THREADS = 900 };
	static pthread_t others[THREADS];
	Prof_Fiber *fiber = Prof_fiber_create("fiber");
	pthread_attr_t attributes;
	pthread_t thread;
	uint64_t ns = 0;

	for (int i = THREADS + 1; i < 1024; i++)
		NEED(Prof_fiber_create("other"));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	pthread_barrier_init(&all_done, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		NEED(!pthread_create(&others[i], &attributes, waits, NULL));
	pthread_barrier_wait(&all_there);
	NEED(!pthread_create(&thread, NULL, works_without_slot, &ns));
	pthread_join(thread, NULL);
	if (ns > 50000)
		fprintf(stderr, "# %llu ns for two zones\n", (unsigned long long)ns);
	NEED(ns <= 50000);
	/* As soon as there is one again it is found. */
	NEED(!pthread_create(&thread, NULL, works_at_last, NULL));
	Prof_fiber_destroy(fiber);
	pthread_join(thread, NULL);
	pthread_barrier_wait(&all_done);
	for (int i = 0; i < THREADS; i++)
		pthread_join(others[i], NULL);
}

/* ---- forks ---- */

static volatile int updates_go_on = 1;

static void *updates(void *unused)
{
	(void)unused;
	while (updates_go_on) {
		Prof_update(1);
		Prof_update_stream("stream");
	}
	return NULL;
}

/* Whatever the other threads just do, the child has its frames. */
static void fork_amid_update_body(void)
{
	pthread_t thread[3];
	int status;

	work(1);
	for (int i = 0; i < 3; i++)
		NEED(!pthread_create(&thread[i], NULL, updates, NULL));
	for (int i = 0, forks = getenv("SONDE_LONG") ? 3000 : 300; i < forks; i++) {
		pid_t child = fork();

		if (!child) {
			alarm(5);
			Prof_update(1);
			Prof_update_stream("stream");
			_exit(0);
		}
		NEED(child > 0 && waitpid(child, &status, 0) == child);
		NEED_EQUAL(status, 0);
	}
	updates_go_on = 0;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

extern pid_t _Fork(void) __attribute__((weak));

static pid_t clone_untold(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

enum child_start {
	CHILD_LEAVES,
	CHILD_ENTERS,
	CHILD_LEAVES_BLOCK,
	CHILD_COUNTS,
	CHILD_ASKS,
	CHILD_STARTS
};

/* By whatever it comes to zones first, all by stacks that its parent knows and has at hand. */
static void be_untold(enum child_start start)
{
	alarm(10);
	switch (start) {
	case CHILD_LEAVES:
		Prof_leave();
		break;
	case CHILD_ENTERS:
		Prof_enter(&Prof_region_outer);
		Prof_leave();
		break;
	case CHILD_LEAVES_BLOCK:
		break; /* its caller's */
	case CHILD_COUNTS:
		Prof_count(&Prof_region_inner);
		break;
	case CHILD_ASKS:
		Prof_update(1);
		break;
	case CHILD_STARTS:
		break;
	}
	for (int i = 0; i < 1000; i++) {
		Prof_Begin(child_s_own) work(1);
		Prof_Count(child_s_too);
		Prof_End
	}
	Prof_leave();
	Prof_leave();
	Prof_text("text");
	Prof_thread_name("name");
	Prof_set_enabled(0);
	work(1);
	Prof_set_enabled(1);
	Prof_set_events(1);
	Prof_update(1);
	work(1);
	_exit(0);
}

static pid_t start_untold(pid_t (*make)(void), enum child_start start)
{
	Prof_Scope(outer);
	pid_t child = make();

	if (child)
		return child;
	if (start == CHILD_LEAVES_BLOCK)
		return 0;
	be_untold(start);
	return 0;
}

/* What the parent has is what the parent did, and how many of them there were. */
static void untold_children(pid_t (*make)(void))
{
	uint64_t outer_entries = 0;
	int status;

	for (int i = 0; i < 10; i++)
		work(1);
	for (int start = CHILD_LEAVES; start <= CHILD_STARTS; start++) {
		pid_t child;

		Prof_enter(&Prof_region_outer);
		child = start_untold(make, (enum child_start)start);
		if (!child)
			be_untold((enum child_start)start);
		NEED(child > 0 && waitpid(child, &status, 0) == child);
		NEED_EQUAL(status, 0);
		Prof_leave();
		work(1);
		outer_entries++;
	}
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 10 + 2 * outer_entries);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/outer"), outer_entries);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 10 + outer_entries);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_MISSING_END), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_INTERRUPTED), 0);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_UNTOLD_CHILD), CHILD_STARTS + 1);
	NEED(!zone_region_header(&seen.region).is_off);
}

static void untold_clones_body(void)
{
	untold_children(clone_untold);
}

static void untold_clones_with_events_body(void)
{
	Prof_set_events(1);
	untold_children(clone_untold);
}

static void untold_forks_body(void)
{
	untold_children(_Fork);
}

/*
 * A child that knows of its fork measures for itself, so its own child, which does not know, is not
 * its parent's either.
 */
static void untold_child_of_a_fork_body(void)
{
	pid_t child;
	int status;

	work(1);
	child = fork();
	if (!child) {
		untold_children(clone_untold);
		_exit(0);
	}
	NEED(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	NEED(zones_seen_open(&seen));
	NEED_EQUAL(zones_seen_entries(&seen, "outer"), 1);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_UNTOLD_CHILD), 0);
}

/* In a child without memory of its own nothing of its parent's is touched. */
static void fork_without_memory_body(void)
{
	Prof_Fiber *fiber = Prof_fiber_create("fiber"), *other = Prof_fiber_create("other");
	struct rlimit none = {0, 0};
	int status;
	pid_t child;

	Prof_fiber_switch(fiber);
	work(1);
	Prof_fiber_switch(NULL);
	child = fork();
	NEED(child >= 0);
	if (!child) {
		_exit(0);
	}
	NEED(waitpid(child, &status, 0) == child && status == 0);
	NEED(!setrlimit(RLIMIT_AS, &none));
	child = fork();
	if (!child) {
		work(1);
		Prof_fiber_switch(fiber);
		work(1);
		Prof_update(1);
		Prof_update_stream("stream");
		Prof_text("text");
		Prof_thread_name("name");
		Prof_set_events(1);
		Prof_fiber_switch(NULL);
		Prof_fiber_destroy(fiber);
		Prof_fiber_destroy(other);
		_exit(0);
	}
	NEED(waitpid(child, &status, 0) == child);
	NEED_EQUAL(status, 0);
}

/* ---- displays ---- */

static jmp_buf out;

static void leaves(int id, int x0, int x1, float *values, void *data)
{
	(void)id, (void)x0, (void)x1, (void)values, (void)data;
	longjmp(out, 1);
}

static void asks(int id, int x0, int x1, float *values, void *data)
{
	Prof_Report *report = Prof_create_report();

	(void)id, (void)x0, (void)x1, (void)values;
	*(int *)data += report != NULL;
	Prof_free_report(report);
}

static void *update_once(void *unused)
{
	Prof_update(1);
	return unused;
}

/* Who draws may leave by an exception or longjmp, and may ask for more. */
static void graph_body(void)
{
	volatile int left = 0;
	pthread_t thread;
	int reports = 0;

	for (int i = 0; i < 3; i++) {
		work(10);
		Prof_update(1);
	}
	if (!setjmp(out))
		Prof_graph(10, leaves, NULL);
	else
		left = 1;
	NEED(left);
	NEED(!pthread_create(&thread, NULL, update_once, NULL));
	pthread_join(thread, NULL);
	Prof_graph(10, asks, &reports);
	NEED(reports > 0);
}

/* ---- clocks ---- */

static const struct zonewire_header *header(void)
{
	return (const void *)seen.region.data;
}

/* A zone that was never entered before: the runtime then looks at its clock. */
static void enter_new(int number)
{
	char name[32];

	snprintf(name, sizeof(name), "new %d", number);
	Prof_enter(Prof_zone(name, NULL, 0));
	Prof_leave();
}

/*
 * While a machine sleeps the processor's counter may go on, which CLOCK_MONOTONIC_RAW does not: a
 * rate taken from the whole of the program's life would then be wrong for all of it.
 */
static void suspend_body(void)
{
	uint64_t before, after;

	enter_new(0);
	NEED(zones_seen_open(&seen));
	if (header()->clock != ZONEWIRE_CLOCK_CPU)
		return;
	before = header()->clock_mult;
	usleep(40000);
	raw_taken_off = 30 * 1000 * 1000;
	enter_new(1);
	after = header()->clock_mult;
	NEED(after > before - before / 200 && after < before + before / 200);
}

/* Samples and zones meet on CLOCK_MONOTONIC. */
static void start_body(void)
{
	struct timespec raw, monotonic;
	int64_t offset, start_offset;

	monotonic_delays = 1;
	enter_new(0);
	NEED(zones_seen_open(&seen));
	clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	offset = (int64_t)(ns_of(monotonic) - ns_of(raw));
	start_offset = (int64_t)(header()->start_monotonic_ns - header()->start_monotonic_raw_ns);
	NEED(offset - start_offset < 15000000 && start_offset - offset < 15000000);
}

/* The kernel distrusts the processor's counter: the clock is its own, in ns. */
static void distrusted_body(void)
{
	uint64_t start, self, took;

	clock_source = "hpet\n";
	start = now_ns();
	Prof_Region(outer) usleep(20000);
	Prof_End took = now_ns() - start;
	NEED(zones_seen_open(&seen));
#if defined(__x86_64__)
	NEED_EQUAL(header()->clock, ZONEWIRE_CLOCK_MONOTONIC);
#endif
	self = zone_region_duration_ns(&seen.region, zones_seen_self(&seen, "outer"));
	NEED(self >= 19 * 1000 * 1000 && self <= took);
	work(1000);
	Prof_leave(); /* an extra end */
	zones_seen_look(&seen);
	NEED_EQUAL(zones_seen_entries(&seen, "outer/inner"), 1000);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_EXTRA_END), 1);
	NEED_EQUAL(zones_seen_trouble(&seen, ZONEWIRE_CLOCK_BACK), 0);
}

/* ---- notes ---- */

static volatile int notes_go_on = 1;

static void *notes(void *text)
{
	const char *texts = text;

	while (notes_go_on) {
		Prof_Region(outer) Prof_text(texts);
		Prof_text(texts + 40);
		Prof_End
	}
	return NULL;
}

/* What is read while it changes is one text or the other, never half of each. */
static void torn_note_body(void)
{
	static char texts[80];
	struct zonewire_note note;
	pthread_t thread;
	int others = 0;

	memset(texts, 'a', 39);
	memset(texts + 40, 'b', 39);
	work(1);
	NEED(zones_seen_open(&seen));
	NEED(!pthread_create(&thread, NULL, notes, texts));
	while (!zone_region_note(&seen.region, 1, &note) || !note.text[0])
		usleep(1000);
	/* On a busy machine it takes a while until the other thread gets a CPU. */
	for (int i = 0; i < 3000000 || others == 0; i++) {
		if (i >= 3000000)
			usleep(10);
		NEED(zone_region_note(&seen.region, 1, &note));
		if (note.generation % 2)
			continue; /* said to be half done */
		others += note.text[0] == 'b';
		NEED(note.text[0] == note.text[38]);
	}
	notes_go_on = 0;
	pthread_join(thread, NULL);
}

#define CASE(name)                                                                                 \
	TEST(name)                                                                                 \
	{                                                                                          \
		assert_true(zones_apart(name##_body));                                             \
	}
CASE(cancel)
CASE(first_at_once)
CASE(no_threads)
CASE(too_many)
CASE(fork_without_memory)
CASE(graph)
CASE(suspend)
CASE(start)
CASE(distrusted)
CASE(torn_note)

CASE(untold_clones)
CASE(untold_clones_with_events)
CASE(untold_child_of_a_fork)

TEST(untold_forks)
{
	if (!_Fork)
		skip(); /* glibc before 2.34 */
	assert_true(zones_apart(untold_forks_body));
}

TEST(fork_amid_update)
{
#ifdef __SANITIZE_ADDRESS__
	/* When a process forks, that sanitizer's malloc may be locked by another thread for ever.
	 */
	skip();
#endif
	assert_true(zones_apart(fork_amid_update_body));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cancel),
		cmocka_unit_test(first_at_once),
		cmocka_unit_test(no_threads),
		cmocka_unit_test(too_many),
		cmocka_unit_test(fork_amid_update),
		cmocka_unit_test(fork_without_memory),
		cmocka_unit_test(untold_clones),
		cmocka_unit_test(untold_clones_with_events),
		cmocka_unit_test(untold_forks),
		cmocka_unit_test(untold_child_of_a_fork),
		cmocka_unit_test(graph),
		cmocka_unit_test(suspend),
		cmocka_unit_test(start),
		cmocka_unit_test(distrusted),
		cmocka_unit_test(torn_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
