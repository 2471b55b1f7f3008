/*
 * What a recording costs: bytes a sample in the finished file, time to finish and to read it.  The
 * call graph is of a compiler's kind: 8,000 functions, stacks 40 deep, 9 nodes that were never seen
 * before in every sample.  Times are printed, and not insisted on: the machine may be busy.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "../capture_files.h"
#include "../unit.h"

static const struct random_capture_options compiler = {
	.seed = 1,
	.functions = 8000,
	.depth = 40,
	.turnover = 9,
	.threads = 1,
	.objects = 10,
	.interval_ns = 1000000,
	.jitter_ns = 8000,
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double measure(const struct random_capture_options *options, size_t samples)
{
	char *path = capture_file_path("size.prof");
	struct random_capture r;
	struct capture_writer *w;
	uint64_t size;

	random_capture_init(&r, options);
	assert_null(capture_writer_create(path, &w));
	random_capture_begin(&r, w);
	random_capture_run(&r, w, samples);
	double start = now_s();
	assert_null(capture_writer_finish(w, &size));
	double finished = now_s();
	struct profile *p = capture_read_file(path);
	double read = now_s();
	double bytes = (double)size / (double)samples;
	print_message("# %zu samples in %u threads, %zu stack nodes: %.1f bytes a sample, finished "
		      "in %.0f ms, read in %.0f ms\n",
		samples, options->threads, r.nodes.count - 1, bytes, 1e3 * (finished - start),
		1e3 * (read - finished));
	assert_int_equal(p->samples.count, samples);
	profile_destroy(p);
	random_capture_deinit(&r);
	free(path);
	return bytes;
}

TEST(test_compiler)
{
	assert_true(measure(&compiler, 5000) <= 20);
	assert_true(measure(&compiler, 20000) <= 14);
}

TEST(test_threads)
{
	struct random_capture_options o = compiler;

	o.threads = 8;
	assert_true(measure(&o, 20000) <= 16);
}

/* A million samples of a program whose stacks have all been seen early on. */
TEST(test_million)
{
	struct random_capture_options o = compiler;

	o.functions = 20;
	o.turnover = 1;
	assert_true(measure(&o, 1000000) <= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compiler),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_million),
	};

	return cmocka_run_group_tests_name("capture_size", tests, NULL, NULL);
}
