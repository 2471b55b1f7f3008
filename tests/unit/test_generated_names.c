/*
 * Perf maps as the recorder follows them.  The processes are numbers that no process has, so their
 * maps are looked for in /tmp, as those of processes that have ended.
 */
#include "record/processes/generated_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "record/processes/object_table.h"
#include "record/processes/process_table.h"

enum { PARENT, CHILD, PROCESSES };

struct fixture {
	char path[64], maps[PROCESSES][64];
	int64_t pids[PROCESSES];
	uint32_t object; /* of the parent's code */
	struct capture_writer *writer;
	struct object_table *objects;
	struct process_table *processes;
	struct generated_names names;
};

static struct object_origin anonymous(const struct fixture *f, size_t process)
{
	return (struct object_origin){.pid = f->pids[process], .path = STR("")};
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	snprintf(f->path, sizeof(f->path), "test_generated_names.%d.prof", (int)getpid());
	assert_null(capture_writer_create(f->path, &f->writer));
	f->objects = object_table_create(f->writer);
	f->processes = process_table_create(f->writer, f->objects, clock_monotonic_ns());
	generated_names_init(&f->names, f->objects, f->processes);
	for (size_t i = 0; i < PROCESSES; i++) {
		f->pids[i] = 10000000 + (int64_t)getpid() * PROCESSES + (int64_t)i;
		snprintf(f->maps[i], sizeof(f->maps[i]), "/tmp/perf-%lld.map",
			(long long)f->pids[i]);
	}
	process_table_fork(f->processes, f->pids[PARENT], 1, f->pids[PARENT], clock_monotonic_ns());
	struct object_origin origin = anonymous(f, PARENT);

	f->object = object_table_mapped(f->objects, &origin);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < PROCESSES; i++)
		unlink(f->maps[i]);
	generated_names_deinit(&f->names);
	process_table_destroy(f->processes);
	object_table_destroy(f->objects);
	capture_writer_abandon(f->writer);
	free(f);
	return 0;
}

static void write_map(const struct fixture *f, size_t process, const char *how, const char *lines)
{
	FILE *file = fopen(f->maps[process], how);

	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
	/* Looks are 5 ms apart, and files' times are as coarse. */
	usleep(12000);
}

/* A sample in code of the process that is in the parent's object. */
static uint32_t sample(struct fixture *f, size_t process, uint64_t va, uint64_t time_ns)
{
	const struct process *p = process_table_find_late(f->processes, f->pids[process]);

	assert_non_null(p);
	return generated_names_object(&f->names, p, f->object, va, time_ns);
}

static uint32_t sample_now(struct fixture *f, size_t process, uint64_t va)
{
	return sample(f, process, va, clock_monotonic_ns());
}

static void check(struct fixture *f, uint32_t object, uint64_t va, const char *expected)
{
	struct str name = STR("");

	generated_names_finish(&f->names);
	assert_int_equal(generated_names_find(&f->names, object, va, &name), expected != NULL);
	assert_true(str_equal(name, str_from(expected)));
}

static void check_counts(const struct fixture *f, uint64_t old, uint64_t other)
{
	struct generated_counts counts = generated_names_counts(&f->names);

	assert_int_equal(counts.old_maps, old);
	assert_int_equal(counts.other_maps, other);
	assert_int_equal(counts.cut_maps, 0);
	assert_int_equal(counts.bad_lines, 0);
}

static void an_address_is_divided_by_time(void **state)
{
	struct fixture *f = *state;

	write_map(f, PARENT, "w", "1000 10 old\n2000 10 other\n");
	uint32_t before = sample_now(f, PARENT, 0x1000), other = sample_now(f, PARENT, 0x2000);
	uint64_t before_ns = clock_monotonic_ns();
	usleep(12000);
	write_map(f, PARENT, "a", "1000 10 new\n");
	/* The recorder lags: this sample is older than what it reads now. */
	uint32_t late = sample(f, PARENT, 0x1008, before_ns);
	uint32_t after = sample_now(f, PARENT, 0x1000);

	assert_int_equal(before, f->object);
	assert_int_equal(other, f->object);
	assert_int_not_equal(before, after);
	assert_int_equal(sample_now(f, PARENT, 0x1000), after);
	check(f, before, 0x1000, "old");
	check(f, late, 0x1008, "old");
	check(f, other, 0x2000, "other");
	check(f, after, 0x1000, "new");
	check_counts(f, 0, 0);
}

static void a_name_that_comes_late_is_that_of_earlier_samples(void **state)
{
	struct fixture *f = *state;
	uint32_t early = sample_now(f, PARENT, 0x1000), never = sample_now(f, PARENT, 0x2000);

	write_map(f, PARENT, "w", "1000 10 late\n3000 10 x\n");
	uint32_t later = sample_now(f, PARENT, 0x1000);

	assert_int_equal(early, later);
	check(f, early, 0x1000, "late");
	check(f, never, 0x2000, NULL);
}

/* As the JVM writes its map when it ends. */
static void a_map_that_is_written_at_the_end_is_read(void **state)
{
	struct fixture *f = *state;
	uint32_t object = sample_now(f, PARENT, 0x1000);

	write_map(f, PARENT, "w", "1000 10 ended");
	process_table_exit(f->processes, f->pids[PARENT], f->pids[PARENT], clock_monotonic_ns());
	unlink(f->maps[PARENT]);
	check(f, object, 0x1000, "ended");
}

static void names_outlive_their_file(void **state)
{
	struct fixture *f = *state;

	write_map(f, PARENT, "w", "1000 10 kept\n2000 10 not sampled\n");
	uint32_t object = sample_now(f, PARENT, 0x1000);

	unlink(f->maps[PARENT]);
	check(f, object, 0x1000, "kept");
	process_table_exit(f->processes, f->pids[PARENT], f->pids[PARENT], clock_monotonic_ns());
	check(f, object, 0x1000, "kept");
	check(f, object, 0x3000, NULL);
}

static void set_time(const struct fixture *f, int64_t age_s)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age_s;
	times[1] = times[0];
	assert_int_equal(utimensat(0, f->maps[PARENT], times, 0), 0);
}

static void an_older_map_is_not_believed(void **state)
{
	struct fixture *f = *state;

	write_map(f, PARENT, "w", "1000 10 stale\n");
	set_time(f, (int64_t)2 * 24 * 3600);
	uint32_t object = sample_now(f, PARENT, 0x1000);

	check(f, object, 0x1000, NULL);
	check_counts(f, 1, 0);
	set_time(f, INT64_C(1) << 40);
	usleep(6000);
	(void)sample_now(f, PARENT, 0x1000);
	check(f, object, 0x1000, NULL);
	check_counts(f, 1, 0);
	/* Now the process writes its own. */
	write_map(f, PARENT, "w", "1000 10 own\n");
	assert_int_equal(sample_now(f, PARENT, 0x1000), object);
	check(f, object, 0x1000, "own");
	check_counts(f, 0, 0);
}

/* Of a process that writes no map, those of others in its place; none is waited for. */
static void planted_files_are_not_believed(void **state)
{
	struct fixture *f = *state;

	write_map(f, CHILD, "w", "1000 10 planted\n");
	assert_int_equal(symlink(f->maps[CHILD], f->maps[PARENT]), 0);
	uint32_t object = sample_now(f, PARENT, 0x1000);

	check(f, object, 0x1000, NULL);
	check_counts(f, 0, 1);
	unlink(f->maps[PARENT]);
	assert_int_equal(mkfifo(f->maps[PARENT], 0666), 0);
	usleep(6000);
	(void)sample_now(f, PARENT, 0x1000);
	check(f, object, 0x1000, NULL);
	check_counts(f, 0, 1);
}

static void a_file_of_another_user_is_not_believed(void **state)
{
	struct fixture *f = *state;

	write_map(f, PARENT, "w", "1000 10 planted\n");
	if (chown(f->maps[PARENT], 12345, 12345) != 0)
		skip(); /* only root can try this */
	check(f, sample_now(f, PARENT, 0x1000), 0x1000, NULL);
	check_counts(f, 0, 1);
}

/* What was read stays, whether the file is cut, written over or replaced. */
static void a_map_may_be_written_anew(void **state)
{
	static const char *const ways[] = {"1000 10 b\n", "1000 10 another map, and longer\n"};
	struct fixture *f = *state;
	uint32_t objects[4];

	write_map(f, PARENT, "w", "1000 10 a\n2000 10 gone\n");
	objects[0] = sample_now(f, PARENT, 0x1000);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		write_map(f, PARENT, "w", ways[i]);
		objects[i + 1] = sample_now(f, PARENT, 0x1000);
	}
	unlink(f->maps[PARENT]);
	write_map(f, PARENT, "w", "1000 10 replaced\n");
	objects[3] = sample_now(f, PARENT, 0x1000);
	check(f, objects[0], 0x1000, "a");
	check(f, objects[1], 0x1000, "b");
	check(f, objects[2], 0x1000, "another map, and longer");
	check(f, objects[3], 0x1000, "replaced");
	check(f, f->object, 0x2000, "gone");
	check_counts(f, 0, 0);
}

static void a_child_has_its_parents_names_until_it_has_its_own(void **state)
{
	struct fixture *f = *state;

	write_map(f, PARENT, "w", "1000 10 inherited\n2000 10 both\n");
	process_table_fork(f->processes, f->pids[CHILD], f->pids[PARENT], f->pids[CHILD],
		clock_monotonic_ns());
	uint32_t inherited = sample_now(f, CHILD, 0x1000), unknown = sample_now(f, CHILD, 0x3000);

	write_map(f, CHILD, "w", "2000 10 own\n3000 10 new\n");
	uint32_t own = sample_now(f, CHILD, 0x2000);

	check(f, inherited, 0x1000, "inherited");
	check(f, unknown, 0x3000, "new");
	check(f, own, 0x2000, "own");
	check(f, sample_now(f, PARENT, 0x2000), 0x2000, "both");
	check(f, sample_now(f, CHILD, 0x1000), 0x1000, "inherited");
	/* The parent's names stay until the child needs them no more. */
	process_table_exit(f->processes, f->pids[PARENT], f->pids[PARENT], clock_monotonic_ns());
	process_table_exit(f->processes, f->pids[CHILD], f->pids[CHILD], clock_monotonic_ns());
	check(f, inherited, 0x1000, "inherited");
	check(f, unknown, 0x3000, "new");
}

/* Both are older than the recording: their maps say what is the parent's. */
static void a_child_that_was_forked_before_has_its_parents_names(void **state)
{
	struct fixture *f = *state;
	int until[2];

	snprintf(f->maps[PARENT], sizeof(f->maps[PARENT]), "/tmp/perf-%d.map", (int)getpid());
	write_map(f, PARENT, "w", "1000 10 inherited\n");
	assert_int_equal(pipe(until), 0);
	pid_t child = fork();
	if (child == 0) {
		char byte;
		close(until[1]);
		_exit(read(until[0], &byte, 1) != 0);
	}
	f->pids[CHILD] = child;
	close(until[0]);
	process_table_expect_old(f->processes);
	process_table_adopt(f->processes, getpid(), getpid(), clock_monotonic_ns());
	process_table_adopt(f->processes, child, child, clock_monotonic_ns());
	struct object_origin origin = anonymous(f, CHILD);

	f->object = object_table_mapped(f->objects, &origin);
	check(f, sample_now(f, CHILD, 0x1000), 0x1000, "inherited");
	close(until[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void a_program_that_is_run_in_its_place_has_names_of_its_own(void **state)
{
	struct fixture *f = *state;

	write_map(f, PARENT, "w", "1000 10 first program\n");
	uint32_t first = sample_now(f, PARENT, 0x1000);

	usleep(40000);
	process_table_comm(f->processes, f->pids[PARENT], f->pids[PARENT], true, STR("second"),
		clock_monotonic_ns());
	/* Until it has a map, that of the first program is not its own. */
	uint32_t second = sample_now(f, PARENT, 0x1000);

	check(f, second, 0x1000, NULL);
	check_counts(f, 1, 0);
	write_map(f, PARENT, "w", "1000 10 second program\n");
	assert_int_equal(sample_now(f, PARENT, 0x1000), second);
	check(f, first, 0x1000, "first program");
	check(f, second, 0x1000, "second program");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(an_address_is_divided_by_time),
		CASE(a_name_that_comes_late_is_that_of_earlier_samples),
		CASE(a_map_that_is_written_at_the_end_is_read),
		CASE(names_outlive_their_file),
		CASE(an_older_map_is_not_believed),
		CASE(planted_files_are_not_believed),
		CASE(a_file_of_another_user_is_not_believed),
		CASE(a_map_may_be_written_anew),
		CASE(a_child_has_its_parents_names_until_it_has_its_own),
		CASE(a_child_that_was_forked_before_has_its_parents_names),
		CASE(a_program_that_is_run_in_its_place_has_names_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
