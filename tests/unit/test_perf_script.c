/*
 * The text of perf script: each thing that a line may hold, and the way back.  Texts are made by
 * hand after what perf prints.
 */
#include <stdlib.h>

#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/alloc.h"
#include "formats/perf/dso.h"
#include "formats/perf/script_text.h"

static struct error *try_read(struct str text, const char *from, struct profile **p)
{
	return try_profile(text, "test.txt", from, p);
}

/* By content. */
static struct profile *read_text(struct str text)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, NULL, &p);

	if (err)
		fail_msg("%s", err->message);
	assert_string_equal(profile_string(p, p->format).data, "perf-script");
	return p;
}

static char *write_as(const struct profile *p, const struct writer *writer)
{
	struct writer_options options = {.metric = p->default_metric, .with_modules = true};

	return writer_text(writer, p, &options).data;
}

/* Its stacks, as folded text with load objects. */
static void expect_stacks(struct str text, const char *wanted)
{
	struct profile *p = read_text(text);
	char *got = write_as(p, &writer_folded);

	assert_string_equal(got, wanted);
	free(got);
	profile_destroy(p);
}

static void expect_name(const struct profile *p, string_id id, const char *wanted)
{
	assert_string_equal(profile_string(p, id).data, wanted);
}

TEST(heads)
{
	static const struct {
		const char *line, *comm;
		int64_t pid, tid;
		uint64_t time_ns, period;
		const char *event, *rest;
	} cases[] = {
		{"java 25607 4794564.109216: cycles: ", "java", -1, 25607, 4794564109216000,
			UINT64_MAX, "cycles", ""},
		{"V8 Worker 7 24636/25607 [000] 94564.109216: 100 cycles:u:", "V8 Worker 7", 24636,
			25607, 94564109216000, 100, "cycles:u", ""},
		{"a  41/42 [001] 5.000000007:  250000 sched:sched_switch: prev=1 ==> b", "a", 41,
			42, 5000000007, 250000, "sched:sched_switch", "prev=1 ==> b"},
		{"  swapper     0 [003] U 1.000001: cpu-clock:  12 f (x)", "swapper", -1, 0,
			1000001000, UINT64_MAX, "cpu-clock", "12 f (x)"},
		{":-1 -1 1.000001: ev:", ":-1", -1, -1, 1000001000, UINT64_MAX, "ev", ""},
		{"kworker/0:1 12 1.500000: 7 ev:", "kworker/0:1", -1, 12, 1500000000, 7, "ev", ""},
		{"java 19983 cycles:", "java", -1, 19983, UINT64_MAX, UINT64_MAX, "cycles", ""},
		{"a 1 1.000001: 9223372036854775807 ev:", "a", -1, 1, 1000001000, INT64_MAX, "ev",
			""},
		{"java 19983 5 cycles:", "java", -1, 19983, UINT64_MAX, 5, "cycles", ""},
		{"a 1/2 [007] cycles:", "a", 1, 2, UINT64_MAX, UINT64_MAX, "cycles", ""},
		{"a: b 9 1.000001: 3 ev: ", "a: b", -1, 9, 1000001000, 3, "ev", ""},
		{"comm 1.000001: ", "comm", -1, -1, 1000001000, UINT64_MAX, "", ""},
		{"1.000001: 9 ev:", "", -1, -1, 1000001000, 9, "ev", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perf_head head;

		if (perf_head_scan(str_from(cases[i].line), &head) != PERF_HEAD_SAMPLE)
			fail_msg("%s", cases[i].line);
		perf_head_who(&head);
		assert_true(str_equal(head.comm, str_from(cases[i].comm)));
		assert_int_equal(head.pid, cases[i].pid);
		assert_int_equal(head.tid, cases[i].tid);
		assert_true(head.time_ns == cases[i].time_ns);
		assert_true(head.period == cases[i].period);
		assert_true(str_equal(head.event, str_from(cases[i].event)));
		assert_true(str_equal(head.rest, str_from(cases[i].rest)));
	}
}

TEST(no_heads)
{
	static const char *const lines[] = {"", "java", "java 12", "a b: c", "\t 12 f (x)",
		"12.5: ", "note: this is prose", "99999999999999999999 x: "};
	struct perf_head head;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (perf_head_scan(str_from(lines[i]), &head) != PERF_HEAD_NONE)
			fail_msg("%s", lines[i]);
	assert_int_equal(perf_head_scan(STR("a 1 1.000001: PERF_RECORD_LOST lost 3"), &head),
		PERF_HEAD_RECORD);
	assert_true(str_equal(head.record, STR("PERF_RECORD_LOST lost 3")));
	assert_int_equal(
		perf_head_scan(STR("a 1 PERF_RECORD_COMM: b:1/1"), &head), PERF_HEAD_RECORD);
}

TEST(frames)
{
	static const struct {
		const char *line;
		uint64_t address;
		const char *name, *object;
		bool is_inline;
	} cases[] = {
		{"\t    1174 leaf+0x14 (/usr/bin/app)", 0x1174, "leaf", "/usr/bin/app", false},
		{"1190 a::b(int, char (*)(c)) const+0x4 (/a b/lib (1).so (deleted))", 0x1190,
			"a::b(int, char (*)(c)) const", "/a b/lib (1).so (deleted)", false},
		{"  1190 twice+0x4 (inlined)", 0x1190, "twice", "", true},
		{"\tffffffffb8e011a0 [unknown] ([kernel.kallsyms])\r", 0xffffffffb8e011a0,
			"[unknown]", "[kernel.kallsyms]", false},
		{"\t 0 [unknown] ([unknown])", 0, "[unknown]", "", false},
		{"\t 7f00 f", 0x7f00, "f", "", false},
		{"\t 7f00", 0x7f00, "", "", false},
		{"\t 7f00 operator+ (/a)", 0x7f00, "operator+", "/a", false},
		{"\t 7f00 f+0x1 (/a+0x7f00)", 0x7f00, "f", "/a", false},
		{"\t 13a8 RegExp:[(] (/tmp/perf-7.map)", 0x13a8, "RegExp:[(]", "/tmp/perf-7.map",
			false},
		{"\t 13a8 unmatched) ) (/a)", 0x13a8, "unmatched) )", "/a", false},
		{"\t 13a8 f (/a)b)", 0x13a8, "f", "/a)b", false},
		{"\t 13a8  (/a)", 0x13a8, "", "/a", false},
		/* Blanks before the parentheses of arguments; and no load object, with -F. */
		{"\t 12c2 run<void (&)(int), int>(void (&)(int), int&&)+0x1 (inlined)", 0x12c2,
			"run<void (&)(int), int>(void (&)(int), int&&)", "", true},
		{"\t 12c2 run(void (&)(int))", 0x12c2, "run(void (&)(int))", "", false},
		{"\t 12c2 f(int) (.isra.0) (inlined)", 0x12c2, "f(int) (.isra.0)", "", true},
		{"\t 12c2 f (/usr/bin/app) (inlined)", 0x12c2, "f", "/usr/bin/app", true},
		{"\t 13a8 (anonymous namespace)::f (/a)", 0x13a8, "(anonymous namespace)::f", "/a",
			false},
	};
	struct perf_frame frame;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!perf_frame_scan(str_from(cases[i].line), &frame))
			fail_msg("%s", cases[i].line);
		assert_true(frame.address == cases[i].address);
		if (!str_equal(frame.name, str_from(cases[i].name)) ||
			!str_equal(frame.object, str_from(cases[i].object)))
			fail_msg("%s: '%.*s' '%.*s'", cases[i].line, STR_ARG(frame.name),
				STR_ARG(frame.object));
		assert_int_equal(frame.is_inline, cases[i].is_inline);
	}
	assert_false(perf_frame_scan(STR("\t name (/a)"), &frame));
	assert_false(perf_frame_scan(STR("\t 12345678123456781 f (/a)"), &frame));
	assert_false(perf_frame_scan(STR("\t 7f00 insn: 48 89"), &frame));
	assert_false(perf_frame_scan(STR("  "), &frame));
}

TEST(object_kinds)
{
	assert_int_equal(perf_dso_kind(STR("[kernel.kallsyms]")), OBJECT_KERNEL);
	assert_int_equal(perf_dso_kind(STR("[nf_conntrack]")), OBJECT_KERNEL);
	assert_int_equal(perf_dso_kind(STR("/lib/modules/6/build/vmlinux")), OBJECT_KERNEL);
	assert_int_equal(perf_dso_kind(STR("/lib/modules/6/ext4.ko.xz")), OBJECT_KERNEL);
	assert_int_equal(perf_dso_kind(STR("[vdso]")), OBJECT_USER);
	assert_int_equal(perf_dso_kind(STR("/usr/bin/app")), OBJECT_USER);
	assert_int_equal(perf_dso_kind(STR("//anon")), OBJECT_UNKNOWN);
	assert_int_equal(perf_dso_kind(STR("[heap]")), OBJECT_UNKNOWN);
	assert_int_equal(perf_dso_kind(STR("/tmp/perf-12.map")), OBJECT_JIT);
	assert_int_equal(perf_dso_kind(STR("/x/jitted-12-3.so")), OBJECT_JIT);
}

TEST(a_whole_text)
{
	struct profile *p = read_text(STR("# ========\n# hostname : box\n"
					  "# cmdline : /usr/bin/perf record -g -- ./app x \n#\n"
					  "app  41/41  [001] 12.000001:     250000 cpu-clock:u: \n"
					  "\t  1174 leaf+0x14 (/usr/bin/app)\n"
					  "\t  1190 twice+0x4 (inlined)\n"
					  "\t  1190 main+0x20 (/usr/bin/app)\n\n"
					  "app  41/42  [001] 12.000251:     500000 cpu-clock:u: \n"
					  "\t  1174 leaf+0x14 (/usr/bin/app)\n\n"));

	assert_int_equal(p->metric_count, 2);
	expect_name(p, p->metrics[0].name, "samples");
	expect_name(p, p->metrics[1].name, "cpu-clock:u");
	expect_name(p, p->metrics[1].unit, "ns");
	assert_int_equal(p->default_metric.i, 1);
	assert_int_equal(p->total[0], 2);
	assert_int_equal(p->total[1], 750000);
	assert_int_equal(p->stats.counted, 2);
	expect_name(p, p->host, "box");
	expect_name(p, p->command, "./app x");
	assert_int_equal(p->samples.count, 2);
	assert_int_equal(p->samples.time_ns[0], 0);
	assert_int_equal(p->samples.time_ns[1], 250000);
	assert_int_equal(p->process_count, 1);
	assert_int_equal(p->processes[0].pid, 41);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[p->samples.thread[1].i].tid, 42);
	/* main, twice in it, leaf: the caller's address is the call's, and its own name's. */
	stack_id leaf = p->samples.stack[0], twice = profile_parent(p, leaf);
	const struct frame *f = &p->frames[p->stack_frame[twice.i].i];
	assert_true(f->is_inline);
	assert_int_equal(f->obj_addr, 0x118f);
	assert_true(str_equal(profile_module(p, p->functions[f->function.i].object), STR("app")));
	assert_int_equal(p->frames[p->stack_frame[leaf.i].i].obj_addr, 0x1174);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* A thread is one on whatever CPU; -1: the sample has no label. */
TEST(cpus_are_labels)
{
	struct profile *p = read_text(STR("a b 41/42 [001] 1.000001: ev:\n\t 20 f (/a)\n\n"
					  "a b 41/42 [012] U 1.000002: ev:\n\t 20 f (/a)\n\n"
					  "a b 41/42 1.000003: ev:\n\t 20 f (/a)\n\n"
					  "a b 41/42 [001] 1.000004: ev:\n\t 20 f (/a)\n\n"));
	static const int cpus[] = {1, 12, -1, 1};

	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->process_count, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
		label_set_id set = p->samples.labels[i];
		label_id label;

		assert_int_equal(profile_label_count(p, set), cpus[i] >= 0);
		if (cpus[i] < 0)
			continue;
		profile_label_ids(p, set, &label);
		expect_name(p, p->labels[label.i].key, "cpu");
		expect_name(p, p->labels[label.i].text, cpus[i] == 1 ? "1" : "12");
	}
	profile_destroy(p);
}

TEST(inlined_leaf_is_at_its_address)
{
	struct profile *p = read_text(STR("a 1 1.000001: ev:\n\t 20 in+0x1 (inlined)\n"
					  "\t 20 out+0x1 (/a)\n\t 30 main (/a)\n\n"));

	assert_int_equal(p->frames[p->stack_frame[p->samples.stack[0].i].i].obj_addr, 0x20);
	char *got = write_as(p, &writer_folded);
	assert_string_equal(got, "a`main;a`out;a`in 1\n");
	free(got);
	profile_destroy(p);
}

/* A stack that was cut above an inlined function says nothing of others that have the same line. */
TEST(inlined_into_nothing)
{
	static const char cut[] = "a 1 1.000001: ev:\n\t 20 leaf (/a)\n\t 30 in (inlined)\n\n",
			  whole[] = "a 1 1.000002: ev:\n\t 20 leaf (/a)\n\t 30 in (inlined)\n"
				    "\t 30 main (/a)\n\n";

	for (int cut_first = 0; cut_first < 2; cut_first++) {
		struct strbuf text = {0};

		strbuf_printf(&text, "%s%s", cut_first ? cut : whole, cut_first ? whole : cut);
		struct profile *p = read_text(strbuf_str(&text));

		for (uint32_t i = 1; i < p->stack_count; i++) {
			const struct frame *frame = &p->frames[p->stack_frame[i].i];
			string_id name = p->functions[frame->function.i].name;

			assert_int_equal(frame->is_inline,
				profile_stack_parent(p, i) &&
					str_equal(profile_string(p, name), STR("in")));
		}
		assert_int_equal(p->stack_count, 1 + 3 + 2);
		profile_destroy(p);
		strbuf_deinit(&text);
	}
}

TEST(events_are_metrics)
{
	struct profile *p = read_text(STR("a 1 1.000001: 10 cycles: \n\t 1 f (/a)\n\n"
					  "a 1 1.000002: 7 instructions:u: \n\t 1 f (/a)\n\n"
					  "a 1 1.000003: 20 cycles: \n\t 2 g (/a)\n\n"));

	assert_int_equal(p->metric_count, 3);
	assert_int_equal(p->total[0], 3);
	assert_int_equal(p->total[1], 30);
	assert_int_equal(p->total[2], 7);
	expect_name(p, p->metrics[1].name, "cycles");
	expect_name(p, p->metrics[1].unit, "count");
	expect_name(p, p->metrics[2].name, "instructions:u");
	assert_int_equal(p->default_metric.i, 1);
	assert_int_equal(p->stats.counted, 3);
	profile_destroy(p);
}

TEST(too_large_periods_are_told)
{
	struct profile *p =
		read_text(STR("a 1 1.000001: 9223372036854775808 cycles: \n\t 20 f (/a)\n\n"
			      "a 1 1.000002: 98765432109876543210987 cycles: \n\t 20 f (/a)\n\n"
			      "a 1 1.000003: 5 cycles: \n\t 20 f (/a)\n"));
	assert_int_equal(p->note_count, 1);
	assert_int_equal(p->notes[0].kind, NOTE_BAD_RECORD);
	assert_int_equal(p->notes[0].count, 2);
	assert_int_equal(p->total[0], 3);
	assert_int_equal(p->total[1], 5);
	profile_destroy(p);
}

TEST(samples_without_periods)
{
	struct profile *p = read_text(STR("java 5 cycles:\n7f f (/a)\n7e g (/a)\n\n"
					  "java 5 cycles:\n7f f (/a)\n\n"));

	assert_int_equal(p->metric_count, 1);
	expect_name(p, p->metrics[0].name, "samples");
	assert_int_equal(p->total[0], 2);
	assert_null(p->samples.time_ns);
	assert_int_equal(p->thread_count, 1);
	/* Its process is known by its name alone. */
	assert_int_equal(p->processes[0].pid, -1);
	expect_name(p, p->processes[0].name, "java");
	profile_destroy(p);
}

TEST(fields_of_any_choice)
{
	/* -F ip,sym,dso; -F comm,ip,sym; no call chains; tracepoints. */
	expect_stacks(STR("\n\t 1274 f (/a)\n\t 1294 g (/a)\n\n\n\t 1274 f (/a)\n\n"),
		"a`g;a`f 1\na`f 1\n");
	expect_stacks(STR("work \n\t 1274 f\n\nwork \n\t 1274 f\n\t 99 g\n\n"), "f 1\ng;f 1\n");
	expect_stacks(STR("            a 42 [002]  5.223456789:  7 ev:  55d0 f+0x1 (/a)\n"
			  "            a 42 [002]  5.223456790:  8 ev:  55d0 g+0x1 (/a)\n"),
		"a`f 7\na`g 8\n");
	expect_stacks(STR("a 7 1.000001: sched:sched_switch: prev=a ==> next=b\n"
			  "\t 9 __schedule ([kernel.kallsyms])\n\n"
			  "a 7 1.000002: sched:sched_switch: prev=b ==> next=c\n\n"),
		"[kernel.kallsyms]`__schedule 1\n[no stack] 1\n");
}

/* Branches: the code that branched; the target is not kept. */
TEST(branches)
{
	expect_stacks(
		STR("a  9/9 [001] 5.000001: PERF_RECORD_MMAP2 9/9: [0x40(0x1) @ 0 08:01 1 0]: "
		    "r-xp /usr/bin/a\n"
		    "a  9/9 [001] 5.000002:   1   branches:uH:   call              "
		    "           401130 main+0x10 (/usr/bin/a) =>           401100 f+0x0 "
		    "(/usr/bin/a)\n"
		    "a  9/9 [001] 5.000003:   1   branches:uH:   return            "
		    "           401110 f+0x10 (/usr/bin/a) =>           401135 main+0x15 "
		    "(/usr/bin/a)\n"
		    "a  9/9 [001] 5.000004:   1   branches:uH:   tr strt           "
		    "                0 [unknown] ([unknown]) =>           401135 main+0x15 (/b c)\n"
		    "a  9/9 [001] 5.000005:   1   branches:uH:   jcc (x)           "
		    " ffffffff81000110 k (x) ([kernel.kallsyms]) => ffffffff81000120 k (x) "
		    "([kernel.kallsyms])\n"),
		"a`main 1\na`f 1\n[unknown] 1\n[kernel.kallsyms]`k (x) 1\n");
	/* Squeezed blanks; an indented name; cycles, instructions, branch records; no symbols. */
	expect_stacks(STR("a 9 5.000001: 1 br: call 401130 main (/a) => 401100 f (/a)\n"
			  "a 9 5.000002: 1 br: call add 401130 main (/a) => 401100 f (/a)\n"
			  "a 9 5.000003: 1 br: 401130 main (/a) => 401100 f (/a)  IPC: 1.50 (6/4)\n"
			  "a 9 5.000004: 1 br: 401130 main (/a)  insn: 74 ea\n"
			  "a 9 5.000005: 1 br: 401130 main (/a) f+0x1/g+0x0/P/-/-/0 "
			  "0x1/0x2/M/-/-/7\n"
			  "a 9 5.000006: 1 br: 401130 => 401100\n"
			  "a 9 5.000007: 1 br: => 401100 f (/a)\n"),
		"a`main 5\n[unknown] 1\n[no stack] 1\n");
	/* Below a call chain. */
	struct profile *p = read_text(STR("a 9 5.000001: 1 br: \n\t   401130 g (/a)\n"
					  "\t   401150 main (/a)\n =>    401100 f (/a)\n"
					  "a 9 5.000002: 1 br: \n\t   401130 g => h (/a)\n"));
	char *got = write_as(p, &writer_folded);

	assert_string_equal(got, "a`main;a`g 1\na`g => h 1\n");
	assert_int_equal(p->note_count, 0);
	free(got);
	profile_destroy(p);
}

/* The address that was accessed stands before that of the code, with a name or without. */
TEST(accessed_addresses)
{
	expect_stacks(
		STR("a 9 5.000001: 1 page-faults:     7ffe00001000 [stack] ([stack])           "
		    "401130 main+0x10 (/usr/bin/a)\n"
		    "a 9 5.000002: 1 page-faults:           601000 [unknown] (//anon) "
		    "ffffffff81000110 k ([kernel.kallsyms])\n"
		    "a 9 5.000003: 1 page-faults:     7ffe00001000            401130 main "
		    "(/usr/bin/a)\n"
		    "a 9 5.000004: 1 page-faults: 401130 add (/usr/bin/a)\n"),
		"a`main 2\n[kernel.kallsyms]`k 1\na`add 1\n");
	expect_stacks(
		STR("a 9 5.000001: 1 page-faults:     601000 [unknown] (//anon)\n"
		    "\t          401130 f (/a)\n\t          401150 main (/a)\n\n"
		    "a 9 5.000002: 1 page-faults: NR 1 (1, 7f, 5)            401170 w (/a)\n"),
		"a`main;a`f 1\na`w 1\n");
}

/* Frames without a first line are samples only where no sample has one. */
TEST(frames_outside_samples)
{
	static const char *const texts[] = {
		"a 1 1.000001: 5 ev:\n\t 20 f (/a)\n\n\t 30 g (/a)\n\n"
		"a 1 1.000002: 5 ev:\n\t 20 f (/a)\n\n",
		"\t 30 g (/a)\n\na 1 1.000001: 5 ev:\n\t 20 f (/a)\n\n"
		"a 1 1.000002: 5 ev:\n\t 20 f (/a)\n\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct profile *p = read_text(str_from(texts[i]));
		char *got = write_as(p, &writer_folded);

		assert_string_equal(got, "a`f 10\n");
		assert_int_equal(p->samples.count, 2);
		assert_non_null(p->samples.time_ns);
		assert_int_equal(p->note_count, 1);
		assert_int_equal(p->notes[0].kind, NOTE_BAD_RECORD);
		free(got);
		profile_destroy(p);
	}
}

TEST(places_below_frames)
{
	struct profile *p = read_text(STR("a 1 1.000001: ev:\n\t 20 f+0x1 (/a)\n  lib.c:12\n"
					  "\t 30 in\n  in.h:3 (inlined)\n\t 30 main (/a)\n"
					  "  main.c:7 (discriminator 2)\n\n"
					  "a 1 1.000002: ev:\n\t 20 f+0x1 (/a)\n  a[20]\n\n"));

	stack_id f = p->samples.stack[0], in = profile_parent(p, f);
	const struct frame *frame = &p->frames[p->stack_frame[f.i].i];
	expect_name(p, frame->file, "lib.c");
	assert_int_equal(frame->line, 12);
	frame = &p->frames[p->stack_frame[in.i].i];
	expect_name(p, frame->file, "in.h");
	assert_true(frame->is_inline);
	frame = &p->frames[p->stack_frame[profile_stack_parent(p, in.i)].i];
	expect_name(p, frame->file, "main.c");
	assert_int_equal(frame->line, 7);
	frame = &p->frames[p->stack_frame[p->samples.stack[1].i].i];
	assert_int_equal(frame->line, 0);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(names_of_programs)
{
	expect_stacks(STR("a 1 1.000001: ev:\n\t 20 _ZN1a1bEv+0x1 (/a)\n"
			  "\t 30 Lfoo;::bar->Lfoo;::baz (/tmp/perf-1.map)\n"
			  "\t 40 X::operator-> (/a)\n\t 50 net/http.(*Client).Do (/go)\n\n"),
		"go`net/http.(*Client).Do;a`X::operator->;perf-1.map`Lfoo\\x3b::bar;"
		"perf-1.map`Lfoo\\x3b::baz;a`a::b() 1\n");
}

TEST(what_is_no_sample)
{
	struct profile *p = read_text(STR("a 1 1.000001: PERF_RECORD_MMAP2 1/1: [0x1]: r-xp /a\n"
					  "a 1 1.000001: ev:\n\t 20 f (/a)\n\t  48 insn: 1\n"
					  "  what is this\n\n"
					  "a 1 1.000002: PERF_RECORD_LOST lost 5\nnonsense\n"));

	assert_int_equal(p->stats.counted, 1);
	assert_int_equal(p->stats.lost, 5);
	assert_int_equal(p->note_count, 3);
	assert_int_equal(p->notes[0].kind, NOTE_BAD_RECORD);
	expect_name(p, p->notes[0].text, "a line is malformed and skipped: line 8");
	assert_int_equal(p->notes[1].kind, NOTE_INFO);
	assert_int_equal(p->notes[2].kind, NOTE_LOST);
	assert_int_equal(p->notes[2].count, 5);
	profile_destroy(p);
}

TEST(ends_of_lines_and_files)
{
	expect_stacks(STR("a 1 1.000001: 5 ev: \r\n\t 20 f (/a)\r\n\t 30 g (/a)\r\n\r\n"
			  "a 1 1.000002: 6 ev: \r\n\t 20 f (/a)\r\n"),
		"a`g;a`f 5\na`f 6\n");
	expect_stacks(STR("a 1 1.000001: 5 ev: \n\t 20 f (/a)"), "a`f 5\n");
	/* No empty line between samples. */
	expect_stacks(
		STR("a 1 1.000001: 5 ev: \n\t 20 f (/a)\na 1 1.000002: 6 ev: \n\t 20 f (/a)\n"),
		"a`f 11\n");
}

/* What `uniq -c` prints begins with a number and a name as well, but not in an address's place. */
TEST(counted_lines_are_not_frames)
{
	static const char *const others[] = {
		"      3 main\n     12 worker\n    140 parse line\n",
		"1234567 names\n12345678 more names\n",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct profile *p = NULL;
		struct error *err = try_read(str_from(others[i]), NULL, &p);

		assert_non_null(err);
		error_destroy(err);
	}
	/* Addresses without a letter, of frames without a sample's first line. */
	profile_destroy(read_text(STR("          401136 main\n          401020 start\n")));
	profile_destroy(read_text(STR("\t          401136 main (/bin/x)\n")));
	profile_destroy(read_text(STR("    401136 main (/bin/x)\n")));
}

TEST(no_sample_is_an_error)
{
	struct profile *p = NULL;

	struct error *err = try_read(STR("bad\nworse\n"), "perf-script", &p);
	assert_non_null(strstr(err->message, "test.txt: no sample of perf script"));
	assert_non_null(strstr(err->message, "line 1 is the first"));
	error_destroy(err);
	err = try_read(STR("\n\n"), "perf-script", &p);
	assert_int_equal(err->kind, ERROR_INPUT);
	error_destroy(err);
	err = try_read(STR("a 1 1.0001: 1 ev:\n\t 20 f (/a)\n"), "folded", &p);
	assert_non_null(err);
	error_destroy(err);
}

TEST(renamed_threads_are_two)
{
	struct profile *p = read_text(STR("perf-exec 7/7 1.000001: ev:\n\t 1 f (/a)\n\n"
					  "app 7/7 1.000002: ev:\n\t 1 f (/a)\n\n"
					  "worker 7/8 1.000003: ev:\n\t 1 f (/a)\n\n"));

	assert_int_equal(p->process_count, 1);
	expect_name(p, p->processes[0].name, "app");
	assert_int_equal(p->thread_count, 3);
	profile_destroy(p);
}

TEST(written_for_other_tools)
{
	struct profile *p = read_text(STR("V8 Worker 7 41/42 1.000001: 9 cycles:u:\n"
					  "\t 20 in+0x1 (inlined)\n\t 20 operator+ (/a b)\n"
					  "\t 30 main (/a)\n\n"));

	char *got = write_as(p, &writer_perf_script);
	assert_string_equal(got,
		"V8 Worker_7      41/42          0.000000000:          9 cycles:u: \n"
		"\t              20 in (inlined)\n"
		"\t              20 operator++0x0 (/a\\x20b)\n"
		"\t              30 main (/a)\n\n");
	free(got);
	profile_destroy(p);
}

TEST(differences_are_refused)
{
	struct profile *p = NULL;
	struct strbuf out = {0};

	assert_null(try_read(STR("a 5\nb -2\n"), "folded", &p));
	struct writer_options options = {.metric = p->default_metric};
	struct error *err = writer_try(&writer_perf_script, p, &options, &out);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_destroy(err);
	strbuf_deinit(&out);
	profile_destroy(p);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of folded text in order; the text is cut to pieces, the caller frees the array. */
static char **sort_lines(char *text, size_t *count)
{
	char **lines = xcalloc(strlen(text) + 1, sizeof(*lines));

	*count = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		lines[(*count)++] = line;
	qsort(lines, *count, sizeof(*lines), compare_lines);
	return lines;
}

static void expect_same_stacks(const struct profile *a, const struct profile *b)
{
	struct writer_options options = {.metric = a->default_metric};
	char *text = writer_text(&writer_folded, a, &options).data;
	options.metric = b->default_metric;
	char *other = writer_text(&writer_folded, b, &options).data;
	size_t count, other_count;
	char **lines = sort_lines(text, &count), **others = sort_lines(other, &other_count);

	assert_int_equal(count, other_count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(lines[i], others[i]);
	free(lines);
	free(others);
	free(text);
	free(other);
}

/* The same text again, but for times, which begin with the first sample's. */
static void expect_same_text(const struct profile *p)
{
	struct profile *again = NULL;
	char *text = write_as(p, &writer_perf_script);

	assert_null(try_read(str_from(text), "perf-script", &again));
	char *other = write_as(again, &writer_perf_script);
	assert_string_equal(text, other);
	free(other);
	free(text);
	profile_destroy(again);
}

TEST(write_and_read_again)
{
	struct random r = random_from(7);

	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct random_shape shape = random_shape_any(&r);
		struct profile *again = NULL;

		shape.negative = false;
		struct profile *p = random_profile(seed, &shape);
		char *text = write_as(p, &writer_perf_script);
		if (text && text[0]) {
			assert_null(try_read(str_from(text), "perf-script", &again));
			assert_int_equal(again->note_count, 0);
			assert_int_equal(again->total[again->default_metric.i],
				p->total[p->default_metric.i]);
			if (!shape.hostile)
				expect_same_stacks(p, again);
			expect_same_text(again);
			profile_destroy(again);
		}
		free(text);
		profile_destroy(p);
	}
}

/*
 * A random text with much that comes again, in one of two ways of writing the same: those of the
 * second kind are never known again whole.
 */
static char *repeating_text(uint64_t seed, bool is_plain)
{
	static const char *const lines[] = {"\t 20 f+0x1 (/a)", "\t 30 g (/b)", "\t 38 h (inlined)",
		"\t 40 [unknown] ([unknown])", "\t 50 x->y (/tmp/perf-1.map)", "\tno frame", "\t ",
		"  a.c:7", "\t 60 k:1 (/a)", "# hostname : h", "nonsense", "b 7", "k: 2",
		"a 1 2.000001: PERF_RECORD_LOST lost 5", "\t 20 f+0x1 (/a)", "\t 30 g (/b)"};
	static const char *const whos[] = {"a 1/1 [000]", "  b c 1/2 [001]", "k:1 3", "d 4 2.5: 3",
		"e: 1 5", "[unknown]       0", ""};
	static const char *const tails[] = {" 250 ev: ", " 7 ev:", " 8 other:u: ", " ev: ", " 9: ",
		"", " 250 ev:  20 f (/a)", " 99999999999999999999 ev:", " PERF_RECORD_EXIT(1)"};
	const char *end = is_plain ? "\n" : "\r\n";
	struct random r = random_from(seed);
	uint32_t often = 1 + random_below(&r, 4);
	struct strbuf text = {0};

	for (uint32_t samples = random_below(&r, 120); samples--;) {
		uint32_t who = random_below(&r, ARRAY_SIZE(whos));
		uint32_t tail = random_below(&r, random_below(&r, often) ? 2 : ARRAY_SIZE(tails));
		bool is_fine = random_below(&r, 3) == 0;

		strbuf_printf(&text, is_fine ? "%s %u.%09u:%s%s%s" : "%s %u.%06u:%s%s%s", whos[who],
			random_below(&r, 50), random_below(&r, 1000000),
			is_plain || tails[tail][0] == '\0' ? "" : "\t", tails[tail], end);
		for (uint32_t depth = random_below(&r, 4); depth--;)
			strbuf_printf(&text, "%s%s",
				lines[random_below(
					&r, random_below(&r, often) ? 3 : ARRAY_SIZE(lines))],
				end);
		if (random_below(&r, 8))
			strbuf_printf(&text, "%s", end);
	}
	strbuf_printf(&text, "a 1 3.000001: 1 ev:%s\t 70 last (/a)%s%s", end, end, end);
	return text.data;
}

TEST(what_comes_again_is_the_same)
{
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct profile *p = NULL, *other = NULL;
		char *plain = repeating_text(seed, true), *slow = repeating_text(seed, false);

		assert_null(try_read(str_from(plain), "perf-script", &p));
		assert_null(try_read(str_from(slow), "perf-script", &other));
		char *dump = write_as(p, &writer_dump), *other_dump = write_as(other, &writer_dump);
		assert_string_equal(dump, other_dump);
		free(dump);
		free(other_dump);
		free(plain);
		free(slow);
		profile_destroy(p);
		profile_destroy(other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),
		cmocka_unit_test(no_heads),
		cmocka_unit_test(frames),
		cmocka_unit_test(object_kinds),
		cmocka_unit_test(a_whole_text),
		cmocka_unit_test(cpus_are_labels),
		cmocka_unit_test(inlined_leaf_is_at_its_address),
		cmocka_unit_test(inlined_into_nothing),
		cmocka_unit_test(events_are_metrics),
		cmocka_unit_test(too_large_periods_are_told),
		cmocka_unit_test(samples_without_periods),
		cmocka_unit_test(fields_of_any_choice),
		cmocka_unit_test(branches),
		cmocka_unit_test(accessed_addresses),
		cmocka_unit_test(frames_outside_samples),
		cmocka_unit_test(places_below_frames),
		cmocka_unit_test(names_of_programs),
		cmocka_unit_test(what_is_no_sample),
		cmocka_unit_test(ends_of_lines_and_files),
		cmocka_unit_test(counted_lines_are_not_frames),
		cmocka_unit_test(no_sample_is_an_error),
		cmocka_unit_test(renamed_threads_are_two),
		cmocka_unit_test(written_for_other_tools),
		cmocka_unit_test(differences_are_refused),
		cmocka_unit_test(write_and_read_again),
		cmocka_unit_test(what_comes_again_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
