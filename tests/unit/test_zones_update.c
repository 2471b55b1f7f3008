/*
 * Frames of time by the runtime itself, with a clock that the test drives: the manual's example
 * through the API, pause, freezing, streams, reports, the graph, fork.
 *
 * The runtime's memory is the process's, so each case runs in a child of its own.
 */
#define Prof_ENABLED
#include <prof.h>
#include <prof_internal.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t now = 1000;

static uint64_t driven_clock(void)
{
	return now;
}

/* One tick is a microsecond. */
static void pass_us(uint64_t us)
{
	now += us;
}

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Runs in a child with the driven clock; what it finds wrong is its exit status. */
static void run_alone(void (*run)(void))
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		Prof_set_clock(driven_clock, 1e6);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static const Prof_Report_Record *record_of(const Prof_Report *report, const char *name)
{
	for (int i = 0; i < report->num_record; i++)
		if (strcmp(report->record[i].name, name) == 0)
			return &report->record[i];
	return NULL;
}

static int is_near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

static int is_row(const Prof_Report *report, const char *name, double a, double b, double count)
{
	const Prof_Report_Record *record = record_of(report, name);

	return record && record->value_flag == 7 && is_near(record->values[0], a) &&
	       is_near(record->values[1], b) && is_near(record->values[2], count);
}

/* ---- the manual's example ---- */

static void child1(uint64_t us)
{
	Prof_Begin(child1) pass_us(us);
	Prof_End
}

static void child2(uint64_t us)
{
	Prof_Begin(child2) pass_us(us);
	Prof_End
}

static void my_routine(int times, uint64_t self, uint64_t us1, uint64_t us2)
{
	for (int i = 0; i < times; i++) {
		Prof_Begin(my_routine) if (i == 0)
		{
			pass_us(self);
			child1(us1);
			child2(us2);
		}
		Prof_End
	}
}

static void run_manual(void)
{
	{
		Prof_Begin(parent1) my_routine(3, 750, 500, 1000);
		Prof_End
	}
	{
		Prof_Begin(parent2) my_routine(7, 1000, 1000, 1500);
		Prof_End
	}
	Prof_update(1);
}

static void check_manual(void)
{
	Prof_Report *report;
	int row;

	run_manual();
	Prof_set_report_mode(Prof_HIERARCHICAL_TIME);
	report = Prof_create_report();
	must(strcmp(report->header[1], "hier") == 0 && !report->header[4] && !report->title[1]);
	must(is_row(report, "my_routine", 5.75, 1.75, 10));
	must(is_row(report, "_global", 5.75, 0, 1));
	for (row = 0; strcmp(report->record[row].name, "my_routine") != 0; row++)
		;
	must(strcmp(((Prof_Zone *)report->record[row].zone)->name, "my_routine") == 0);
	Prof_free_report(report);

	Prof_set_cursor(row);
	Prof_select();
	must(Prof_get_report_mode() == Prof_CALL_GRAPH);
	must(Prof_Last_Mode() == Prof_HIERARCHICAL_TIME);
	report = Prof_create_report();
	must(report->num_record == 5 && report->hilight == 2);
	must(strcmp(report->title[0], "5.750 ms/frame (fps: 173.91)  call graph - current frame") ==
		0);
	must(report->record[2].prefix == '-' && report->record[2].indent == 0);
	must(report->record[0].prefix == '+' && report->record[0].indent == 3);
	must(is_row(report, "my_routine", 1.75, 5.75, 10));
	must(is_row(report, "parent1", 0.75, 2.25, 3));
	must(is_row(report, "parent2", 1, 3.5, 7));
	must(is_row(report, "child1", 1.5, 1.5, 2));
	must(is_row(report, "child2", 2.5, 2.5, 2));
	Prof_free_report(report);
	Prof_select_parent();
	report = Prof_create_report();
	must(strcmp(report->record[report->hilight].name, "parent2") == 0);
	Prof_free_report(report);
}

/* ---- frames ---- */

static Prof_Define(work);

static void work(uint64_t us)
{
	Prof_Region(work) pass_us(us);
	Prof_End
}

static void expect_work(double self, double count)
{
	Prof_Report *report = Prof_create_report();

	must(is_row(report, "work", self, self, count));
	Prof_free_report(report);
}

static void check_pause(void)
{
	Prof_set_smoothing(0);
	work(1000);
	Prof_update(1);
	expect_work(1, 1);
	work(5000);
	Prof_update(0);
	expect_work(1, 1);
	work(2000);
	Prof_update(1);
	expect_work(2, 1);
	Prof_move_frame(-1);
	expect_work(1, 1);
	Prof_move_frame(-10);
	expect_work(1, 1);
	Prof_set_frame(0);
	expect_work(2, 1);
}

static void check_freeze(void)
{
	Prof_set_smoothing(0);
	Prof_freeze_over(16);
	for (int i = 1; i <= 3; i++) {
		work(1000);
		Prof_update(1);
		must(!Prof_get_frozen());
	}
	work(20000);
	Prof_update(1);
	must(Prof_get_frozen());
	work(3000);
	Prof_update(1);
	expect_work(20, 1);
	Prof_set_frame(1);
	expect_work(1, 1);
	Prof_set_frame(0);
	Prof_set_frozen(0);
	must(!Prof_get_frozen());
	work(4000);
	Prof_update(1);
	expect_work(4, 1);
}

/* A zone that is open over the end of a frame is parted there. */
static void check_open(void)
{
	Prof_set_smoothing(0);
	{
		Prof_Region(work) pass_us(300);
		Prof_update(1);
		expect_work(0.3, 1);
		pass_us(500);
		Prof_End
	}
	Prof_update(1);
	expect_work(0.5, 0);
}

/* ---- other threads ---- */

static pthread_barrier_t barrier;

static void *worker(void *unused)
{
	(void)unused;
	{
		Prof_Region(work) pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		Prof_End
	}
	return NULL;
}

static void check_threads(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	Prof_set_smoothing(0);
	must(pthread_create(&thread, NULL, worker, NULL) == 0);
	pthread_barrier_wait(&barrier);
	pass_us(700);
	work(300);
	Prof_update(1);
	/* The other's is open: 1 ms so far. */
	expect_work(1.3, 2);
	pass_us(200);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	Prof_update(1);
	expect_work(0.2, 0);
}

/* ---- the graph ---- */

struct graph_seen {
	int calls, cursor;
	float sum;
};

static void see_graph(int id, int x0, int x1, float *values, void *data)
{
	struct graph_seen *seen = data;

	if (id == 0) {
		must(x0 == x1);
		seen->cursor = x0;
		return;
	}
	must(x0 == 6 && x1 == 10);
	seen->calls++;
	for (int i = 0; i < x1 - x0; i++)
		seen->sum += values[i];
}

static void check_graph(void)
{
	struct graph_seen seen = {.cursor = -1};

	for (int i = 0; i < 4; i++) {
		work(1000);
		Prof_update(1);
	}
	Prof_graph(10, see_graph, &seen);
	/* _global, work, prof_update; 4 ms in all */
	must(seen.calls == 3 && seen.sum > 0.00399f && seen.sum < 0.00401f && seen.cursor == -1);
	Prof_set_frame(2);
	Prof_graph(10, see_graph, &seen);
	must(seen.cursor == 7);
}

/* ---- fork ---- */

static void check_fork(void)
{
	pid_t pid;
	int status = 0;

	Prof_set_smoothing(0);
	work(1000);
	Prof_update(1);
	work(9000);
	pid = fork();
	if (pid == 0) {
		work(2000);
		Prof_update(1);
		expect_work(2, 1);
		Prof_set_frame(1);
		expect_work(2, 1);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	must(status == 0);
	work(1000);
	Prof_update(1);
	expect_work(10, 2);
}

static void check_nothing(void)
{
	Prof_Report *report = Prof_create_report();

	must(report && report->num_record == 0 && report->hilight == -1 && report->title[0]);
	Prof_free_report(report);
	Prof_select();
	Prof_select_parent();
	Prof_move_cursor(3);
	Prof_set_frame(7);
	Prof_set_smoothing(99);
	must(Prof_get_smoothing() == 2);
	Prof_set_smoothing(-1);
	must(Prof_get_smoothing() == 0);
	Prof_update(1);
	report = Prof_create_report();
	must(report->num_record == 2);
	Prof_free_report(report);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		run_alone(check_##name);                                                           \
	}
CASE(manual)
CASE(pause)
CASE(freeze)
CASE(open)
CASE(threads)
CASE(graph)
CASE(fork)
CASE(nothing)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_freeze),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
