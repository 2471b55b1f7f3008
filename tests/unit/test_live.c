/* Memory of zones found, attached, copied and saved: made by hand, in this process and in children.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit.h"
#include "../zone_region.h"
#include "live/attach.h"
#include "live/find.h"
#include "zonereport/follow.h"
#include "zonereport/report.h"

/* One thread in "outer" for 1,000 ticks by now, "inner" below it for 400, twice. */
static void make(struct zone_maker *m)
{
	zone_maker_init(m, 16, 64, 8, 4096);
	m->header->pid = getpid();
	snprintf(m->header->program, sizeof(m->header->program), "by-hand");
	uint32_t slot = zone_maker_slot(m, "main", 1);
	zone_maker_enter(m, slot, zone_maker_zone(m, "outer", "a.c", 1));
	zone_maker_pass(m, 200);
	zone_maker_spend(m, slot, zone_maker_zone(m, "inner", "a.c", 2), 400);
	zone_maker_spend(m, slot, zone_maker_zone(m, "inner", "a.c", 2), 400);
}

/* A memfd with that memory; sealed, as the runtime's is, or not. */
static int memfd_of(struct zone_maker *m, bool is_sealed)
{
	int fd = memfd_create(ZONEWIRE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(
		write(fd, m->data, m->header->region_bytes), (ssize_t)m->header->region_bytes);
	if (is_sealed)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}

/* Self ticks of the zone of that name, over all nodes. */
static uint64_t self_of(const struct zone_region *region, const char *name)
{
	struct zone_reader *reader = zone_reader_create();
	struct zone_reading reading;
	uint64_t self = 0;

	assert_true(zone_reader_read(reader, region, &reading));
	for (uint32_t i = 1; i < reading.node_count; i++) {
		struct zonewire_zone zone;
		char text[64];
		assert_true(zone_region_zone(region, reading.place[i].zone, &zone));
		zone_region_string(region, zone.name, text, sizeof(text));
		if (strcmp(text, name) == 0)
			self += reading.counts[i].self_ticks;
	}
	zone_reader_destroy(reader);
	return self;
}

static void assert_is_by_hand(const struct live *live)
{
	assert_string_equal(live->memory.region.header.program, "by-hand");
	assert_int_equal(self_of(&live->memory.region, "inner"), 800);
	assert_int_equal(self_of(&live->memory.region, "outer"), 200);
}

static void test_attaches(bool is_sealed)
{
	struct zone_maker m;
	struct live *live;

	make(&m);
	int fd = memfd_of(&m, is_sealed);
	assert_null(live_attach(getpid(), &live));
	assert_int_equal(live->memory.is_copy, !is_sealed);
	assert_int_equal(live_look(live), LIVE_RUNNING);
	assert_false(live_is_replaced(live));
	assert_is_by_hand(live);
	live_destroy(live);
	close(fd);
	zone_maker_deinit(&m);
}

TEST(test_sealed)
{
	test_attaches(true);
}

TEST(test_not_sealed)
{
	test_attaches(false);
}

/* The file gets shorter under what would be a mapping. */
TEST(test_truncated_later)
{
	struct zone_maker m;
	struct live *live;

	make(&m);
	int fd = memfd_of(&m, false);
	assert_null(live_attach(getpid(), &live));
	assert_int_equal(ftruncate(fd, 5000), 0);
	assert_int_equal(live_look(live), LIVE_RUNNING);
	assert_is_by_hand(live);
	live_destroy(live);
	close(fd);
	zone_maker_deinit(&m);
}

TEST(test_found)
{
	struct zone_maker m;
	struct live_list list;
	bool found = false;

	make(&m);
	int fd = memfd_of(&m, true);
	assert_null(live_list_find(&list));
	for (size_t i = 0; i < list.programs.count; i++) {
		const struct live_program *p = &list.programs.data[i];
		if (p->process.pid != getpid())
			continue;
		found = true;
		assert_null(p->problem);
		assert_string_equal(p->summary.program, "by-hand");
		assert_int_equal(p->summary.zones, 2);
		assert_int_equal(p->summary.threads, 1);
	}
	assert_true(found);
	live_list_deinit(&list);
	close(fd);
	zone_maker_deinit(&m);
}

static void assert_fails(struct error *err, enum error_kind kind, const char *text)
{
	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	if (strstr(err->message, text) == NULL)
		fail_msg("'%s' is not in: %s", text, err->message);
	error_destroy(err);
}

TEST(test_no_zones)
{
	struct live *live;

	assert_fails(live_attach(getpid(), &live), ERROR_INPUT, "has no zones: link it with");
	assert_fails(live_attach(0, &live), ERROR_INPUT, "no such process: 0");
	assert_fails(live_attach(0x7fffffff, &live), ERROR_INPUT, "no such process");
}

/* A child that has its parent's descriptor and nothing of its own. */
TEST(test_inherited)
{
	struct zone_maker m;
	struct live *live;

	make(&m);
	int fd = memfd_of(&m, true);
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_fails(live_attach(child, &live), ERROR_INPUT, "only those it has inherited");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
	zone_maker_deinit(&m);
}

/* A child with memory of its own that is mapped; it closes the descriptor if asked to. */
static pid_t start_child(bool closes)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		struct zone_maker m;
		make(&m);
		int fd = memfd_of(&m, true);
		void *mapped = mmap(
			NULL, m.header->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (closes)
			close(fd);
		if (mapped == MAP_FAILED || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

TEST(test_closed_descriptor)
{
	struct live *live;
	pid_t child = start_child(true);

	struct error *err = live_attach(child, &live);
	if (err && err->kind == ERROR_UNSUPPORTED) {
		/* Memory of others may be read by root alone (kernel.yama.ptrace_scope). */
		error_destroy(err);
	} else {
		assert_null(err);
		assert_true(live->memory.is_copy);
		assert_is_by_hand(live);
		kill(child, SIGSTOP);
		waitpid(child, NULL, WUNTRACED);
		assert_int_equal(live_look(live), LIVE_STOPPED);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		assert_int_equal(live_look(live), LIVE_ENDED);
		assert_is_by_hand(live);
		live_destroy(live);
		return;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST(test_killed)
{
	struct live *live;
	pid_t child = start_child(false);

	assert_null(live_attach(child, &live));
	assert_false(live->memory.is_copy);
	kill(child, SIGKILL);
	/* Not yet waited for. */
	siginfo_t info;
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	const uint8_t *data = live->memory.region.data;
	assert_int_equal(live_look(live), LIVE_ENDED);
	assert_ptr_equal(live->memory.region.data, data);
	assert_is_by_hand(live);
	assert_int_equal(zone_region_header(&live->memory.region).is_saved, 1);
	live_destroy(live);
	waitpid(child, NULL, 0);
}

/* ---- a program that does its worst ---- */

/* Writes anything anywhere into the parts of its memory that are used, header included. */
static void scribble(uint8_t *data, size_t bytes)
{
	uint64_t state = 88172645463325252u;

	for (;;) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		uint64_t at = state % (bytes / 4) * 4;
		/* Most of it small, as counts and numbers are. */
		uint32_t word = (uint32_t)(state >> (state & 1 ? 32 : 58));
		/* The magic number stays, else there would be nothing to look at. */
		if (at >= 8)
			memcpy(data + at, &word, sizeof(word));
	}
}

static void look_at_scribbled(struct live *live)
{
	struct zone_query query = ZONE_QUERY_INIT;
	struct zone_follow *follow = zone_follow_create(&live->memory.region);
	struct live_summary summary;

	for (int i = 0; i < 200; i++) {
		(void)zone_follow_look(follow);
		query.mode = (enum zone_mode)(i % ZONE_MODES);
		query.focus = (uint32_t)i % 8;
		struct zone_report *report =
			zone_report_create(zone_follow_history(follow), &query);
		assert_non_null(report);
		zone_report_destroy(report);
		live_summarize(live, &(struct live_past){0}, &summary);
		assert_int_equal(live_look(live), LIVE_RUNNING);
	}
	zone_follow_destroy(follow);
}

static void save_scribbled(struct live *live)
{
	int fd = memfd_create("saved", MFD_CLOEXEC);

	for (int i = 0; i < 20; i++)
		error_destroy(live_save(live, (struct zone_namer){0}, fd, "saved"));
	close(fd);
}

TEST(test_scribbled)
{
	struct zone_maker m;
	struct live *live;

	make(&m);
	for (int round = 0; round < 8; round++) {
		int fd = memfd_of(&m, round % 2 == 0);
		uint8_t *data = mmap(
			NULL, m.header->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(data, MAP_FAILED);
		assert_null(live_attach(getpid(), &live));
		pid_t child = fork();
		if (child == 0)
			scribble(data, round < 4 ? 65536 : m.header->region_bytes);
		look_at_scribbled(live);
		save_scribbled(live);
		live_destroy(live);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		/* As it was left. */
		struct error *err = live_attach(getpid(), &live);
		if (err == NULL)
			live_destroy(live);
		error_destroy(err);
		munmap(data, m.header->region_bytes);
		close(fd);
	}
	zone_maker_deinit(&m);
}

/* ---- files ---- */

static int scratch_file(char *path)
{
	strcpy(path, "/tmp/test_live_XXXXXX");
	int fd = mkostemp(path, O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

TEST(test_saved)
{
	struct zone_maker m;
	struct live *live, *again;
	char path[64];

	make(&m);
	int fd = memfd_of(&m, true), file = scratch_file(path);
	assert_null(live_attach(getpid(), &live));
	assert_null(live_save(live, (struct zone_namer){0}, file, path));
	assert_null(live_open_file(path, &again));
	assert_int_equal(live_look(again), LIVE_SAVED);
	assert_is_by_hand(again);
	assert_int_equal(zone_region_now(&again->memory.region), m.header->now_ticks);
	live_destroy(again);
	live_destroy(live);
	close(file);
	unlink(path);
	close(fd);
	zone_maker_deinit(&m);
}

/* A program's own file; when the program ended is unknown. */
TEST(test_file_of_a_killed_program)
{
	struct zone_maker m;
	struct live *live;
	char path[64];

	make(&m);
	int file = scratch_file(path);
	uint64_t last = m.header->now_ticks;
	m.header->clock = ZONEWIRE_CLOCK_CPU;
	m.header->now_ticks = 0;
	assert_int_equal(
		write(file, m.data, m.header->region_bytes), (ssize_t)m.header->region_bytes);
	assert_null(live_open_file(path, &live));
	/* Inner has ended last; "outer" had 200 ticks of its own, which are not proved. */
	uint64_t now = zone_region_now(&live->memory.region);
	assert_int_equal(now, last - 200);
	assert_int_equal(self_of(&live->memory.region, "inner"), 800);
	live_destroy(live);
	close(file);
	unlink(path);
	zone_maker_deinit(&m);
}

TEST(test_bad_files)
{
	struct zone_maker m;
	struct live *live;
	char path[64];

	assert_fails(live_open_file("/nonexistent", &live), ERROR_SYSTEM, "/nonexistent");
	assert_fails(live_open_file("/tmp", &live), ERROR_INPUT, "is not a file");
	int file = scratch_file(path);
	assert_fails(live_open_file(path, &live), ERROR_INPUT, "too short");
	make(&m);
	assert_int_equal(write(file, m.data, 4096), 4096);
	assert_fails(live_open_file(path, &live), ERROR_INPUT, "truncated");
	/* More than there is memory for, in a file without blocks. */
	m.header->region_bytes = UINT64_C(1) << 40;
	assert_int_equal(pwrite(file, m.data, 4096, 0), 4096);
	assert_int_equal(ftruncate(file, (off_t)1 << 41), 0);
	assert_fails(live_open_file(path, &live), ERROR_INPUT, "larger than");
	close(file);
	unlink(path);
	zone_maker_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_zones),
		cmocka_unit_test(test_sealed),
		cmocka_unit_test(test_not_sealed),
		cmocka_unit_test(test_truncated_later),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_closed_descriptor),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_scribbled),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_file_of_a_killed_program),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
