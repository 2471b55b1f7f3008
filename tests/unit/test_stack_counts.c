/*
 * Stacks with counts, as bpftrace, bcc and DTrace print them.  Texts are made by hand after what
 * the tools print.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"

/* By content. */
static struct profile *read_text(const char *text)
{
	struct profile *p = NULL;
	struct error *err = try_profile(str_from(text), "test.txt", NULL, &p);

	if (err)
		fail_msg("%s", err->message);
	assert_string_equal(profile_string(p, p->format).data, "stack-counts");
	return p;
}

/* The stacks of one metric, as folded text with load objects. */
static void expect_metric(const struct profile *p, const char *metric, const char *wanted)
{
	struct writer_options options = {.with_modules = true};

	for (uint32_t i = 0; i < p->metric_count; i++)
		if (strcmp(profile_string(p, p->metrics[i].name).data, metric) == 0)
			options.metric.i = i;
	assert_string_equal(profile_string(p, p->metrics[options.metric.i].name).data, metric);
	char *got = writer_text(&writer_folded, p, &options).data;
	assert_string_equal(got, wanted);
	free(got);
}

static void expect_stacks(const char *text, const char *wanted)
{
	struct profile *p = read_text(text);

	expect_metric(p, "samples", wanted);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

static void expect_thread(
	const struct profile *p, size_t sample, const char *name, int64_t pid, int64_t tid)
{
	const struct thread *t = &p->threads[p->samples.thread[sample].i];

	assert_string_equal(profile_string(p, t->name).data, name);
	assert_int_equal(p->processes[t->process.i].pid, pid);
	assert_int_equal(t->tid, tid);
}

TEST(bpftrace)
{
	expect_stacks("Attaching 1 probe...\n^C\n\n@[\n    work+12\n    main+3\n]: 7\n"
		      "@[\n    operator new(unsigned long)+1\n    0x401000\n    add\n]: 3\n"
		      "@[\n]: 2\n",
		"main;work 7\nadd;0x401000;operator new(unsigned long) 3\n[no stack] 2\n");
	/* As perf prints frames. */
	expect_stacks("@[\n\tffffffff81000010 k+0x10 ([kernel.kallsyms])\n"
		      "\t55d0 a b(int)+0x4 (/bin/x)\n]: 4\n",
		"x`a b(int);[kernel.kallsyms]`k 4\n");
}

TEST(bpftrace_keys)
{
	struct profile *p = read_text("@[\n    k2+0\n    k1+5\n, \n    u2+1\n    u1+2\n, a, b]: 3\n"
				      "@[41, 42, sh, \n    k2+0\n]: 4\n"
				      "@[\n    k2+0\n, \n]: 5\n");

	expect_metric(p, "samples", "u1;u2;k1;k2 3\nk2 9\n");
	expect_thread(p, 0, "a", -1, -1);
	expect_thread(p, 1, "sh", 41, 42);
	expect_thread(p, 2, "[unknown]", -1, -1);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* Each map is a metric; maps without stacks are none. */
TEST(bpftrace_maps)
{
	struct profile *p = read_text("@bytes[\n    f+1\n]: count 2, average 50, total 100\n"
				      "@calls[\n    f+1\n]: -2\n@start[12]: 99\n@last: 5\n");

	assert_int_equal(p->metric_count, 2);
	expect_metric(p, "bytes", "f 100\n");
	expect_metric(p, "calls", "f -2\n");
	assert_int_equal(p->note_count, 1);
	assert_int_equal(p->notes[0].kind, NOTE_INFO);
	assert_int_equal(p->notes[0].count, 2);
	profile_destroy(p);
}

TEST(bcc)
{
	struct profile *p = read_text(
		"Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n"
		"^C\n    b'k2'\n    k1_[k]\n    --\n    read+0x12 [libc.so.6]\n    main\n"
		"    -                my app (42)\n        3\n\n"
		"    -                swapper/0 (0)\n        4\n\n");

	expect_metric(p, "samples", "main;libc.so.6`read;k1_[k];k2 3\n[no stack] 4\n");
	expect_thread(p, 0, "my app", 42, 42);
	expect_thread(p, 1, "swapper/0", 0, 0);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);

	p = read_text("Tracing off-CPU time (us) of all threads by user + kernel stack... Hit "
		      "Ctrl-C to end.\n    schedule\n    main\n    -                sh (7)\n"
		      "        500\n\n");
	expect_metric(p, "offcpu-time", "main;schedule 500000\n");
	assert_string_equal(profile_string(p, p->metrics[0].unit).data, "ns");
	profile_destroy(p);

	p = read_text("Tracing 1 functions for \"ip_output\"... Hit Ctrl-C to end.\n"
		      "  ip_output\n  send [libc.so.6]\n    dd [9036]\n    12\n\n");
	expect_metric(p, "samples", "libc.so.6`send;ip_output 12\n");
	expect_thread(p, 0, "dd", 9036, 9036);
	profile_destroy(p);
}

TEST(dtrace)
{
	expect_stacks("\n              libc.so.6`read+0x1\n              a.out`main+0x2\n"
		      "                5\n\n\n              0x7fff1234\n"
		      "              a.out`main+0x2\n               12\n",
		"a.out`main;libc.so.6`read 5\na.out`main;0x7fff1234 12\n");
	/* Kernel and user stack. */
	expect_stacks("\n\n              unix`mutex_enter+0x10\n\n              a.out`main+0x2\n"
		      "                5\n",
		"a.out`main;unix`mutex_enter 5\n");

	struct profile *p =
		read_text("dtrace: description 'profile-997 ' matched 1 probe\n"
			  "CPU     ID                    FUNCTION:NAME\n  0  79535   :tick-10s\n\n"
			  "  bash          \n              a.out`main+0x2\n                5\n\n"
			  "     1234\n              a.out`main+0x2\n                6\n\n"
			  "              a.out`main+0x2\n  ksh             7\n\n");
	expect_metric(p, "samples", "a.out`main 18\n");
	expect_thread(p, 0, "bash", -1, -1);
	expect_thread(p, 1, "", 1234, 1234);
	expect_thread(p, 2, "ksh", -1, -1);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* A count that is missing, or too large, must not be taken from the next stack. */
TEST(counts_that_are_missing)
{
	struct profile *p = read_text("    f\n    18446744073709551616\n\n    g\n    -5\n\n"
				      "    h\n    6\n\n    i\n    1 |@@ 7\n\n    j\n    8\n");

	expect_metric(p, "samples", "g -5\nh 6\nj 8\n");
	expect_note(p, NOTE_BAD_RECORD, 2, "lines 2, 11");
	profile_destroy(p);
	p = read_text("    f\n@[\n    g\n]: 5\n");
	expect_metric(p, "samples", "g 5\n");
	expect_note(p, NOTE_BAD_RECORD, 1, "its count is missing");
	profile_destroy(p);
}

/* Histograms are no counts, whatever their lines look like. */
TEST(histograms_are_left_out)
{
	struct profile *p = read_text(
		"@us[\n    f+1\n    main+2\n]: \n[0]                    3 |@@@@@    |\n"
		"[4, 8)                 2 |@@@      |\n[1K, 2K)               9 |@@@@@@@@@|\n"
		"(..., 0)               1 |@        |\n\n"
		"@us[\n    g+1\n, bash]:\n[8, 16)  7 |@@|\n\n@all: \n[1]  5 |@@|\n"
		"@by[bash]: \n[1]  5 |@@|\n@n[\n    f+1\n]: 4\n");

	expect_metric(p, "n", "f 4\n");
	assert_int_equal(p->metric_count, 1);
	expect_note(p, NOTE_LOST, 2, "histograms");
	expect_note(p, NOTE_INFO, 2, "without stacks");
	assert_int_equal(p->note_count, 2);
	profile_destroy(p);
	p = read_text(
		"              libc.so.1`read+0x15\n              a.out`main+0x2\n\n"
		"           value  ------------- Distribution ------------- count    \n"
		"            < 0 |                                         0        \n"
		"            512 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@            12       \n"
		"         >= 1000 |                                        0        \n\n"
		"              a.out`g+0x1\n              a.out`main+0x2\n             6\n\n");
	expect_metric(p, "samples", "a.out`main;a.out`g 6\n");
	expect_note(p, NOTE_LOST, 1, "histogram");
	assert_int_equal(p->note_count, 1);
	profile_destroy(p);
	p = read_profile(
		STR("    f+0x1\n    5\n\n"
		    "     usecs               : count     distribution\n"
		    "         0 -> 1          : 8        |*****     |\n"
		    "         2 -> 3          : 9        |******    |\n\n    g+0x1\n    7\n"),
		"test.txt", "stack-counts");
	expect_metric(p, "samples", "f 5\ng 7\n");
	profile_destroy(p);
}

TEST(damage)
{
	struct profile *p = read_text("@[\n    f+1\n]: 1\n@[\n    g+1\n]: x\n@[\n    h+1\nodd\n"
				      "@[\n    f+1\n]: 2\n@[\n    cut\n");

	expect_metric(p, "samples", "f 3\n");
	assert_int_equal(p->note_count, 2);
	assert_int_equal(p->notes[0].kind, NOTE_INCOMPLETE);
	assert_int_equal(p->notes[1].kind, NOTE_BAD_RECORD);
	assert_int_equal(p->notes[1].count, 2);
	profile_destroy(p);

	static const struct {
		const char *text, *from, *part;
	} cases[] = {
		{"@[a]: 1\n@b: 2\n", "stack-counts", "contains no stack with a count"},
		{"@[\n    f+1\n]: 1\nx\nx\nx\nx\n", NULL, "line 4 is malformed, as are 4 of its 7"},
		{"@[\n    f+1\n]: 9223372036854775808\n", "stack-counts", "contains no stack"},
		/* Other texts with numbers below names. */
		{"{\n  \"a\": [\n    1,\n    2\n  ]\n}\n", NULL, "not folded stacks"},
		{"a\n  b\n  5\n", NULL, "not folded stacks"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error *err =
			try_profile(str_from(cases[i].text), "test.txt", cases[i].from, &p);
		assert_non_null(err);
		expect_refusal(err, cases[i].part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bpftrace),
		cmocka_unit_test(bpftrace_keys),
		cmocka_unit_test(bpftrace_maps),
		cmocka_unit_test(bcc),
		cmocka_unit_test(dtrace),
		cmocka_unit_test(counts_that_are_missing),
		cmocka_unit_test(histograms_are_left_out),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
