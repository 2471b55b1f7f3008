/*
 * Files of every version that ever was are read for ever.  tests/fixtures/capture-v1.prof was
 * written by this program, as `test_capture_fixture --write FILE`, when version 1 was made; it is
 * never written again, only compared with what the same recording is now.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../capture_files.h"
#include "../unit.h"
#include "base/alloc.h"

static const struct random_capture_options version_1 = {
	.seed = 20,
	.functions = 30,
	.depth = 8,
	.turnover = 3,
	.threads = 2,
	.objects = 3,
	.interval_ns = 997000,
	.jitter_ns = 20000,
};

enum { VERSION_1_SAMPLES = 400 };

static void record(struct random_capture *r, const char *path)
{
	struct capture_writer *w;
	struct error *err = capture_writer_create(path, &w);

	if (err) {
		fprintf(stderr, "%s\n", err->message);
		exit(1);
	}
	random_capture_begin(r, w);
	capture_writer_string(w, CAPTURE_KERNEL, STR("6.1.0"));
	capture_writer_string(w, CAPTURE_ENGINE, STR("snapshot"));
	capture_writer_string(w, CAPTURE_CLOCK, STR("virtual"));
	capture_writer_string(w, CAPTURE_VERSION, STR("0.1.0"));
	capture_writer_number(w, CAPTURE_START_UNIX_NS, 1700000000000000000);
	capture_writer_mapping(w, 0, 5000, 0x400000, 0x600000, 0x3ff000, 0);
	random_capture_run(r, w, VERSION_1_SAMPLES);
	capture_writer_number(w, CAPTURE_DURATION_NS, 401000000);
	capture_writer_number(w, CAPTURE_CPU_NS, 400000000);
	capture_writer_counter(w, CAPTURE_LOST_RING, 2);
	random_capture_symbols(r, w);
	err = capture_writer_finish(w, NULL);
	if (err) {
		fprintf(stderr, "%s\n", err->message);
		exit(1);
	}
}

static void expect_version_1(struct random_capture *r, const struct profile *p)
{
	capture_expect_equal(r, p, VERSION_1_SAMPLES, true);
	assert_string_equal(p->strings[p->command.i].data, "./prog -x");
	assert_string_equal(p->strings[p->host.i].data, "nowhere");
	assert_string_equal(p->strings[p->processes[0].name.i].data, "prog");
	assert_string_equal(p->strings[p->objects[0].build_id.i].data, "0123456789abcdef");
	assert_int_equal(p->start_unix_ns, 1700000000000000000);
	assert_int_equal(p->stats.lost, 2);
	assert_int_equal(p->stats.cpu_ns, 400000000);
	assert_int_equal(p->stats.interval_ns, 1000000);
	assert_int_equal(p->stats.expected, 401);
	assert_int_equal(p->note_count, 1);
}

TEST(test_version_1)
{
	const char *root = getenv("SOURCE_ROOT");
	char *path = xasprintf("%s/tests/fixtures/capture-v1.prof", root ? root : ".");
	char *now = capture_file_path("now.prof");
	struct random_capture r;

	random_capture_init(&r, &version_1);
	record(&r, now);
	struct profile *p = capture_read_file(now);
	expect_version_1(&r, p);
	profile_destroy(p);
	p = capture_read_file(path);
	expect_version_1(&r, p);
	profile_destroy(p);
	random_capture_deinit(&r);
	free(now);
	free(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_1),
	};

	if (argc == 3 && strcmp(argv[1], "--write") == 0) {
		struct random_capture r;
		random_capture_init(&r, &version_1);
		record(&r, argv[2]);
		random_capture_deinit(&r);
		return 0;
	}
	return cmocka_run_group_tests_name("capture_fixture", tests, NULL, NULL);
}
