/*
 * heaptrack's files, by hand: docs/formats/heaptrack.md, line by line.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../unit.h"

static struct error *try_read(const char *text, struct profile **p)
{
	return try_profile(str_from(text), "test.heaptrack", NULL, p);
}

static struct profile *read_text(const char *text)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, &p);

	if (err)
		fail_msg("%s", err->message);
	assert_string_equal(profile_string(p, p->format).data, "heaptrack");
	return p;
}

static void expect_error(const char *text, enum error_kind kind, const char *part)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, &p);

	expect_refusal_of(err, kind, part);
}

/* main (line 10) calls f, into which g is inlined; operator new below main. */
#define TABLES3                                                                                    \
	"v 10400 3\nX ./prog x\nI 1000 10\n"                                                       \
	"s 8 /opt/pro\ns 4 main\ns 3 a.c\ns 1 f\ns 1 g\ns 1b operator new(unsigned long)\n"        \
	"i 1000 1 2 3 a\ni 1010 1 5 3 5 4 3 b\ni 1020 1 6\ni 1030 1\n"                             \
	"t 1 0\nt 2 1\nt 3 1\nt 4 1\n"                                                             \
	"a 10 2\na 100 3\na 1 4\n"

TEST(metrics)
{
	struct profile *p = read_text(TABLES3 "c 5\n+ 0\n+ 0\n+ 1\nc a\n- 1\n- 0\n+ 2\n- 2\n"
					      "c 14\n+ 1\n- 1\n");

	/* 0x10 twice and 0x100 are the most at once; 0x10 is left. */
	expect_folded(p, "allocations", "main 2\nmain;f;g 2\nmain;0x1030 1\n");
	expect_folded(p, "temporary", "main 2\nmain;0x1030 1\n");
	expect_folded(p, "leaked", "main;f;g 16\n");
	expect_folded(p, "peak", "main 256\nmain;f;g 32\n");
	assert_int_equal(p->default_metric.i, 3);
	assert_string_equal(profile_string(p, p->command).data, "./prog x");
	assert_int_equal(p->stats.duration_ns, 20000000);
	assert_true(has_note_of(p, NOTE_INFO, "0.005 s after the start: 288 bytes"));
	assert_int_equal(p->note_count, 1);
	profile_destroy(p);
}

TEST(inlined_frames)
{
	struct profile *p = read_text(TABLES3 "+ 0\n");
	unsigned int inlined = 0;

	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *f = &p->frames[i];
		const char *name = profile_string(p, p->functions[f->function.i].name).data;
		inlined += f->is_inline;
		if (strcmp(name, "g") == 0)
			assert_true(f->is_inline && f->line == 5);
		if (strcmp(name, "f") == 0)
			assert_true(!f->is_inline && f->line == 11);
	}
	assert_int_equal(inlined, 1);
	profile_destroy(p);
}

/* The two before have strings to the end of the line, and the first had another version. */
TEST(older_versions)
{
	struct profile *p =
		read_text("v 10200\ns /opt/prog\ns main (x)\ni 1 1 2\nt 1 0\na f 1\n+ 0\n");

	expect_folded(p, "peak", "main (x) 15\n");
	profile_destroy(p);
	p = read_text("v 10100 2\ns /opt/prog\ns main\ni 1 1 2\nt 1 0\na f 1\n+ 0\n");
	expect_folded(p, "leaked", "main 15\n");
	profile_destroy(p);
}

TEST(suppressions)
{
	struct profile *p = read_text("v 10400 3\nS leak:^ma*n$\nS leak:nothing\n"
				      "s 4 main\ns 5 mains\ns e tzset_internal\n"
				      "i 1 0 1 0 0\ni 2 0 2 0 0\ni 3 0 3 0 0\n"
				      "t 1 0\nt 2 0\nt 3 2\na 1 1\na 2 2\na 4 3\n+ 0\n+ 1\n+ 2\n");

	expect_folded(p, "leaked", "mains 2\n");
	expect_folded(p, "peak", "main 1\nmains 2\nmains;tzset_internal 4\n");
	assert_true(has_note_of(p, NOTE_INFO, "5 bytes of leaks are not shown"));
	profile_destroy(p);
}

TEST(bad_lines)
{
	struct profile *p =
		read_text("v 10400 3\ns 4 main\ni 1 0 1\nt 1 0\nt 9 9\na 1 1\na zz\n+ 0\n"
			  "+ 77\n- 0\n- 0\nnonsense\nc 5\nc 4\n+ 0");

	expect_folded(p, "allocations", "main 2\n");
	assert_true(has_note_of(p, NOTE_BAD_RECORD, "lines 5, 7, 9, 11, 12, 14"));
	assert_true(has_note_of(p, NOTE_INCOMPLETE, "cut off"));
	profile_destroy(p);
}

TEST(refusals)
{
	expect_error("v 10900 4\nX prog\n+ 0\n", ERROR_UNSUPPORTED, "version 4");
	expect_error("v 10400 3\nx 4 prog\nm 1 -\n", ERROR_UNSUPPORTED, "heaptrack --interpret");
	expect_error("v 10400 3\nX prog\n", ERROR_INPUT, "no allocation");
	expect_error("v 10400 3\nX prog\na 7fffffffffffffff 0\n+ 0\n+ 0\n+ 0\n", ERROR_INPUT,
		"exceeds 64 bits");
	expect_error("v 10400 3\nX prog\na 1 0\n+ 0\nq\nthis\nis\nnothing\nof it\n", ERROR_INPUT,
		"line 5 is malformed, as are 5 of its 9 lines: not a recording of heaptrack");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics),
		cmocka_unit_test(inlined_frames),
		cmocka_unit_test(older_versions),
		cmocka_unit_test(suppressions),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(refusals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
