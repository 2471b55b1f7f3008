/*
 * Profiles in text that pprof calls legacy: heap profiles of each kind, contention.  Figures are
 * those that `go tool pprof -raw` prints of the same text.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/alloc.h"
#include "formats/readers.h"

static const char maps[] = "\nMAPPED_LIBRARIES:\n"
			   "00400000-00500000 r-xp 00000000 08:01 17    /no/such/program\n"
			   "70001000-70003000 r-xp 00001000 08:01 18    /no/such/lib.so\n";

static struct profile *read_text(const char *text, const char *format)
{
	struct profile *p = NULL;
	char *whole = xasprintf("%s%s", text, maps);
	struct reader_input input = {
		.name = "x.heap", .data = (const uint8_t *)whole, .size = strlen(whole)};
	struct error *err = profile_read_bytes(&input, NULL, &p);

	if (err)
		fail_msg("%s", err->message);
	assert_string_equal(profile_string(p, p->format).data, format);
	free(whole);
	return p;
}

TEST(heap_of_gperftools)
{
	struct profile *p = read_text("heap profile:   3:  60 [  6: 905] @ heapprofile\n"
				      "  2:  48 [  4:  896] @ 0x400124 0x70001235\n"
				      "  1:  12 [  1:   12] @ 0x400124\n"
				      "\n# a comment\n"
				      "  0:   5 [  1:   12] @ 0x400124\n"
				      "nonsense\n"
				      "  -1: -3 [  0:    0] @ 0x400200\n",
		"heap-text");

	assert_string_equal(
		profile_string(p, p->metrics[p->default_metric.i].name).data, "inuse_space");
	expect_folded(p, "inuse_space",
		"[lib.so+0x1234];[program+0x400123] 48\n[program+0x400123] 12\n[program+0x4001ff] "
		"-3\n");
	expect_folded(
		p, "alloc_objects", "[lib.so+0x1234];[program+0x400123] 4\n[program+0x400123] 1\n");
	assert_true(has_note(p, "line"));
	/* pprof's labels: bytes of one object on average. */
	assert_int_equal(profile_label_count(p, p->samples.labels[0]), 1);
	profile_destroy(p);
}

TEST(heap_without_all)
{
	struct profile *p = read_text("heap profile:   1:  60 [  0: 0] @ growthz\n"
				      "  1:  60 [  1:  60] @ 0x400124\n",
		"heap-text");

	assert_int_equal(p->metric_count, 2);
	expect_folded(p, "space", "[program+0x400123] 60\n");
	profile_destroy(p);
}

/* 10 / (1 - e^(-400/10 / 1024)), cut off; of "heap/2048" the rate is half. */
TEST(heap_samples_are_scaled)
{
	static const char *const headers[] = {"heap profile: 10: 400 [0: 0] @ heap_v2/1024\n",
		"heap profile: 10: 400 [0: 0] @ heapz_v2/1024\n",
		"heap profile: 10: 400 [0: 0] @ heap/2048\n"};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		char *text = xasprintf("%s10: 400 [0: 0] @ 0x400124\n", headers[i]);
		struct profile *p = read_text(text, "heap-text");
		expect_folded(p, "objects", "[program+0x400123] 261\n");
		expect_folded(p, "space", "[program+0x400123] 10441\n");
		assert_true(has_note(p, "every 1024 bytes"));
		profile_destroy(p);
		free(text);
	}
}

TEST(heap_of_jemalloc)
{
	struct profile *p = read_text("heap_v2/1024\n"
				      "  t*: 11: 406 [0: 0]\n"
				      "  t0: 11: 406 [0: 0]\n"
				      "@ 0x400124 0x70001235\n"
				      "  t*: 10: 400 [0: 0]\n"
				      "  t0: 10: 400 [0: 0]\n"
				      "@ 0x400200\n"
				      "  t*: 1: 2000000 [0: 0]\n",
		"heap-text");

	expect_folded(
		p, "objects", "[lib.so+0x1234];[program+0x400123] 261\n[program+0x4001ff] 1\n");
	assert_false(has_note(p, "line"));
	profile_destroy(p);
}

TEST(contention)
{
	struct profile *p = read_text("--- contention:\n"
				      "cycles/second = 2000000000\n"
				      "sampling period = 100\n"
				      "ms since reset = 5\n"
				      "4001 2 @ 0x400124 0x70001235\n"
				      "7 1 @ 0x400200\n",
		"contention-text");

	assert_int_equal(p->stats.duration_ns, 5000000);
	expect_folded(p, "contentions",
		"[lib.so+0x1234];[program+0x400123] 200\n[program+0x4001ff] 100\n");
	expect_folded(
		p, "delay", "[lib.so+0x1234];[program+0x400123] 200050\n[program+0x4001ff] 350\n");
	profile_destroy(p);
	p = read_text("--- contentionz 1 ---\n4001 2 @ 0x400124\nx\n", "contention-text");
	expect_folded(p, "delay", "[program+0x400123] 4001\n");
	assert_true(has_note(p, "how many cycles"));
	profile_destroy(p);
}

TEST(refuses)
{
	static const char *const none[] = {"heap profile: 1\n", "heap_v2/\n", "heap_v2/5 6\n",
		"heap profile: 1: 2 [3: 4] @ other\n", "heap profile: 1: 2 [3: 4] @ heap_v2/x\n",
		"--- contentionz 1 ---\nformat = java\nresolution = ns\n", "--- other:\n"};

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		const uint8_t *data = (const uint8_t *)none[i];
		assert_int_equal(reader_heap_text.bid(data, strlen(none[i])), 0);
		assert_int_equal(reader_contention_text.bid(data, strlen(none[i])), 0);
	}
}

TEST(mostly_malformed_texts_are_refused)
{
	static const struct {
		const char *text, *from, *part;
	} rows[] = {
		{"heap profile: 1: 2 [1: 2] @ heapprofile\n1: 2 [1: 2] @ 0x1\nx\n\n1: y @ 2\n",
			"heap-text",
			"line 3 is malformed, as are 2 of its 3 lines: not a heap profile"},
		{"heap_v2/5\n@ 0x1\nt*: 1: 2 [0: 0]\nt*: x\nt*: 1\nt*: 1:\n", "heap-text",
			"line 4 is malformed, as are 3 of its 5 lines: not a heap profile"},
		{"--- contention:\nsampling period=1\n4 2 @ 0x1\n4 @ 2\n-4 2 @ 0x1\n",
			"contention-text",
			"line 4 is malformed, as are 2 of its 3 lines: not a contention profile"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile *p = NULL;

		expect_refusal_of(try_profile(str_from(rows[i].text), "test.txt", rows[i].from, &p),
			ERROR_INPUT, rows[i].part);
		assert_null(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_of_gperftools),
		cmocka_unit_test(heap_without_all),
		cmocka_unit_test(heap_samples_are_scaled),
		cmocka_unit_test(heap_of_jemalloc),
		cmocka_unit_test(contention),
		cmocka_unit_test(refuses),
		cmocka_unit_test(mostly_malformed_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
