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
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"
#include "../zones_seen.h"

static void pass_us(uint64_t us)
{
	zones_seen_pass(us * 1000);
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
	NEED(strcmp(report->header[1], "hier") == 0 && !report->header[4] && !report->title[1]);
	NEED(is_row(report, "my_routine", 5.75, 1.75, 10));
	NEED(is_row(report, "_global", 5.75, 0, 1));
	for (row = 0; strcmp(report->record[row].name, "my_routine") != 0; row++)
		;
	NEED(strcmp(((Prof_Zone *)report->record[row].zone)->name, "my_routine") == 0);
	Prof_free_report(report);

	Prof_set_cursor(row);
	Prof_select();
	NEED(Prof_get_report_mode() == Prof_CALL_GRAPH);
	report = Prof_create_report();
	NEED(report->num_record == 5 && report->hilight == 2);
	NEED(strcmp(report->title[0], "5.750 ms/frame (fps: 173.91)  call graph - current frame") ==
		0);
	NEED(report->record[2].prefix == '-' && report->record[2].indent == 0);
	NEED(report->record[0].prefix == '+' && report->record[0].indent == 3);
	NEED(is_row(report, "my_routine", 1.75, 5.75, 10));
	NEED(is_row(report, "parent1", 0.75, 2.25, 3));
	NEED(is_row(report, "parent2", 1, 3.5, 7));
	NEED(is_row(report, "child1", 1.5, 1.5, 2));
	NEED(is_row(report, "child2", 2.5, 2.5, 2));
	Prof_free_report(report);
	Prof_select_parent();
	report = Prof_create_report();
	NEED(strcmp(report->record[report->hilight].name, "parent2") == 0);
	Prof_free_report(report);
}

static void check_text(void)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	NEED(file && Prof_report_write(file));
	run_manual();
	Prof_set_report_mode(Prof_SORT_NAME);
	NEED(Prof_report_write(file));
	NEED(fclose(file) == 0);
	NEED(strstr(text, "5.750 ms/frame (fps: 173.91)  sort name - current frame\n"
			  " zone                                self       hier      count\n"
			  "+_global                            0.000      5.750      1.000\n"
			  " child1                             1.500      1.500      2.000\n"));
	free(text);
	file = fopen("/dev/full", "w");
	NEED(file && setvbuf(file, NULL, _IONBF, 0) == 0 && !Prof_report_write(file));
	fclose(file);
	NEED(!Prof_report_writefile("/dev/full"));
	NEED(!Prof_report_writefile("/dev/null/none"));
	NEED(Prof_report_writefile("/dev/null"));
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

	NEED(is_row(report, "work", self, self, count));
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
		NEED(!Prof_get_frozen());
	}
	work(20000);
	Prof_update(1);
	NEED(Prof_get_frozen());
	work(3000);
	Prof_update(1);
	expect_work(20, 1);
	Prof_set_frame(1);
	expect_work(1, 1);
	Prof_set_frame(0);
	Prof_set_frozen(0);
	NEED(!Prof_get_frozen());
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
	NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
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
		NEED(x0 == x1);
		seen->cursor = x0;
		return;
	}
	NEED(x0 == 6 && x1 == 10);
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
	NEED(seen.calls == 3 && seen.sum > 0.00399f && seen.sum < 0.00401f && seen.cursor == -1);
	Prof_set_frame(2);
	Prof_graph(10, see_graph, &seen);
	NEED(seen.cursor == 7);
}

/* ---- the ring: what other programs see ---- */

/* The ticks that the ring holds of that stream, the last `capacity` of them. */
struct ring_ticks {
	struct zonewire_tick head[8];
	uint64_t work_ticks[8]; /* of zone "work" */
	uint32_t work_entries[8];
	int count;
};

static void add_work(
	struct ring_ticks *ticks, const struct zones_seen *seen, const struct zone_tick *tick)
{
	int n = ticks->count;

	for (uint32_t i = 0; i < tick->head.delta_count; i++) {
		const struct zonewire_delta *delta = &tick->delta[i];

		if (seen->reading.place[delta->node].zone != Prof_region_work.id)
			continue;
		ticks->work_ticks[n] += delta->self_ticks;
		ticks->work_entries[n] += delta->entries;
	}
	ticks->head[n] = tick->head;
	ticks->count++;
}

static struct ring_ticks ring_ticks(uint32_t stream)
{
	struct ring_ticks ticks = {.count = 0};
	struct zones_seen seen;
	struct zone_tick tick;
	uint64_t position = 0, lost;

	NEED(zones_seen_open(&seen));
	while (zone_reader_next_tick(seen.reader, &seen.region, &position, &tick, &lost)) {
		NEED(lost == 0 && ticks.count < 8);
		if (tick.head.stream == stream)
			add_work(&ticks, &seen, &tick);
	}
	zones_seen_close(&seen);
	return ticks;
}

static struct zonewire_header header(void)
{
	struct zones_seen seen;
	struct zonewire_header header;

	NEED(zones_seen_open(&seen));
	header = zone_region_header(&seen.region);
	zones_seen_close(&seen);
	return header;
}

static void expect_tick(
	const struct ring_ticks *ticks, int n, uint64_t us, uint64_t work_us, uint32_t entries)
{
	NEED(ticks->head[n].number == (uint64_t)n);
	NEED(ticks->head[n].end_ticks - ticks->head[n].start_ticks == us * 1000);
	NEED(ticks->work_ticks[n] == work_us * 1000 && ticks->work_entries[n] == entries);
}

static void check_ring(void)
{
	struct ring_ticks ticks;

	work(1000);
	Prof_update(1);
	work(500);
	Prof_update(0);
	work(10);
	pass_us(20);
	Prof_update(1);
	ticks = ring_ticks(0);
	NEED(ticks.count == 2 && header().stream[0].ticks == 2);
	expect_tick(&ticks, 0, 1000, 1000, 1);
	expect_tick(&ticks, 1, 30, 10, 1);
	NEED(ticks.head[0].flags == 0 && ticks.head[1].flags == ZONEWIRE_TICK_AFTER_GAP);
}

/* Two levels, a thread that is followed by another in its slot, two streams that do not mix. */
static void *audio_thread(void *unused)
{
	(void)unused;
	{
		Prof_Begin(mix) work(100);
		work(100);
		pass_us(50);
		Prof_End
	}
	Prof_update_stream("audio");
	work(70);
	Prof_update_stream("audio");
	work(1);
	Prof_update_stream("other");
	work(5);
	return NULL;
}

static void run_thread(void *(*run)(void *))
{
	pthread_t thread;

	NEED(pthread_create(&thread, NULL, run, NULL) == 0);
	NEED(pthread_join(thread, NULL) == 0);
}

static void check_streams(void)
{
	struct ring_ticks ticks;

	work(10000);
	run_thread(audio_thread);
	work(300);
	run_thread(audio_thread);
	NEED(header().stream_count == 3);
	NEED(strcmp(header().stream[1].name, "audio") == 0);
	ticks = ring_ticks(1);
	NEED(ticks.count == 4);
	for (int i = 0; i < 4; i += 2) {
		expect_tick(&ticks, i, 250, 200, 2);
		expect_tick(&ticks, i + 1, 70, 70, 1);
		NEED(ticks.head[i].flags == ZONEWIRE_TICK_OWN);
	}
	ticks = ring_ticks(2);
	NEED(ticks.count == 2);
	expect_tick(&ticks, 0, 321, 271, 4);
	expect_tick(&ticks, 1, 321, 271, 4);
}

static void check_too_many_streams(void)
{
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "stream %d", i);
		work(1);
		Prof_update_stream(name);
	}
	NEED(header().stream_count == ZONEWIRE_STREAMS);
	NEED(header().trouble[ZONEWIRE_NO_STREAMS] == 5);
}

/* ---- everything at once ---- */

enum { BUSY_THREADS = 4, BUSY_ROUNDS = 300000, BUSY_FRAMES = 3000 };
static int busy_done;

static void *busy_thread(void *stream)
{
	for (int i = 0; i < BUSY_ROUNDS; i++) {
		Prof_Begin(outer) work(0);
		if (i % 3 == 0)
			work(0);
		Prof_End if (i % 3000 == 0) Prof_update_stream(stream);
	}
	__atomic_fetch_add(&busy_done, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Ends frames and looks at them, while another thread does, too. */
static void *showing_thread(void *unused)
{
	(void)unused;
	for (int i = 0; __atomic_load_n(&busy_done, __ATOMIC_RELAXED) < BUSY_THREADS; i++) {
		Prof_Report *report;

		if (i < BUSY_FRAMES) /* all of them have room in the ring */
			Prof_update(1);
		Prof_set_report_mode((Prof_Report_Mode)(i % 5));
		Prof_set_recursion((Prof_Recursion)(i % 2));
		Prof_set_frame(i % 4);
		Prof_move_cursor(i % 7 - 3);
		Prof_select();
		report = Prof_create_report();
		NEED(report);
		for (int row = 0; row < report->num_record; row++)
			NEED(report->record[row].values[0] >= 0 &&
				report->record[row].values[1] >= 0);
		Prof_free_report(report);
	}
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *data)
{
	NEED(pthread_create(thread, NULL, run, data) == 0);
}

/* With the machine's clock: no entry is in no frame, or in two. */
static void check_busy(void)
{
	pthread_t busy[BUSY_THREADS], showing[2];
	struct zones_seen seen;
	struct zone_tick tick;
	uint64_t position = 0, lost, entries = 0, number = 0;

	for (int i = 0; i < BUSY_THREADS; i++)
		start(&busy[i], busy_thread, i % 2 ? "odd" : "even");
	for (int i = 0; i < 2; i++)
		start(&showing[i], showing_thread, NULL);
	for (int i = 0; i < BUSY_THREADS; i++)
		pthread_join(busy[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(showing[i], NULL);
	Prof_update(1);
	NEED(zones_seen_open(&seen));
	while (zone_reader_next_tick(seen.reader, &seen.region, &position, &tick, &lost)) {
		NEED(lost == 0);
		if (tick.head.stream != 0)
			continue;
		NEED_EQUAL(tick.head.number, number);
		number++;
		for (uint32_t i = 0; i < tick.head.delta_count; i++)
			if (seen.reading.place[tick.delta[i].node].zone == Prof_region_work.id)
				entries += tick.delta[i].entries;
	}
	zones_seen_close(&seen);
	NEED_EQUAL(entries, BUSY_THREADS * (BUSY_ROUNDS + (BUSY_ROUNDS + 2) / 3));
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
	NEED(status == 0);
	work(1000);
	Prof_update(1);
	expect_work(10, 2);
}

static void check_nothing(void)
{
	Prof_Report *report = Prof_create_report();

	NEED(report && report->num_record == 0 && report->hilight == -1 && report->title[0]);
	Prof_free_report(report);
	Prof_select();
	Prof_select_parent();
	Prof_move_cursor(3);
	Prof_set_frame(7);
	Prof_set_smoothing(99);
	NEED(Prof_get_smoothing() == 2);
	Prof_set_smoothing(-1);
	NEED(Prof_get_smoothing() == 0);
	Prof_update(1);
	report = Prof_create_report();
	NEED(report->num_record == 2);
	Prof_free_report(report);
}

#define CASE(name)                                                                                 \
	static void apart_##name(void)                                                             \
	{                                                                                          \
		zones_seen_drive_clock();                                                          \
		check_##name();                                                                    \
	}                                                                                          \
	TEST(test_##name)                                                                          \
	{                                                                                          \
		assert_true(zones_apart(apart_##name));                                            \
	}
CASE(manual)
CASE(text)
CASE(pause)
CASE(freeze)
CASE(open)
CASE(threads)
CASE(graph)
CASE(ring)
CASE(streams)
CASE(too_many_streams)
CASE(fork)
CASE(nothing)

TEST(test_busy)
{
	assert_true(zones_apart(check_busy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manual),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_freeze),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_too_many_streams),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
