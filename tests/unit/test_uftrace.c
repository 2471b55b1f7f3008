/*
 * Folders of uftrace, by hand: docs/formats/uftrace.md, line by line.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../trace_files.h"
#include "../unit.h"
#include "base/alloc.h"

static const uint64_t t0 = 1000000000;

static struct error *try_folder(struct str bytes, const char *file, struct profile **p)
{
	char *folder = folder_files_create(bytes);
	char *path = file ? xasprintf("%s/%s", folder, file) : xstrdup(folder);
	struct error *err = profile_read(path, NULL, p);

	free(path);
	folder_files_remove(folder);
	return err;
}

static struct profile *read_folder(struct strbuf *bytes, const char *file)
{
	struct profile *p = NULL;
	struct error *err = try_folder(strbuf_str(bytes), file, &p);

	if (err)
		fail_msg("%s", err->message);
	strbuf_deinit(bytes);
	return p;
}

static void expect_error(struct strbuf *bytes, enum error_kind kind, const char *part)
{
	struct profile *p = NULL;
	struct error *err = try_folder(strbuf_str(bytes), NULL, &p);

	expect_refusal_of(err, kind, part);
	strbuf_deinit(bytes);
}

static uint64_t calls_of(const struct profile *p, const char *caller, const char *callee)
{
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];
		const char *from = a->caller.i == NO_ID
					   ? ""
					   : profile_string(p, p->functions[a->caller.i].name).data;
		if (strcmp(from, caller) == 0 &&
			strcmp(profile_string(p, p->functions[a->callee.i].name).data, callee) == 0)
			return a->calls;
	}
	return 0;
}

static const struct note *find_note(const struct profile *p, enum note_kind kind)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind)
			return &p->notes[i];
	return NULL;
}

/* Recursion: main calls a, which calls itself, and b. */
TEST(plain_calls)
{
	struct strbuf bytes = {0};

	trace_files_uftrace(&bytes, 1024);
	folder_files_add(&bytes, "10.dat");
	trace_files_record(&bytes, t0 + 100, 0, 0, TRACE_MAIN, false);
	trace_files_record(&bytes, t0 + 110, 0, 1, TRACE_A, false);
	trace_files_record(&bytes, t0 + 125, 0, 2, TRACE_A, false);
	trace_files_record(&bytes, t0 + 130, 0, 3, TRACE_B, false);
	trace_files_record(&bytes, t0 + 137, 1, 3, TRACE_B, false);
	trace_files_record(&bytes, t0 + 150, 1, 2, TRACE_A, false);
	trace_files_record(&bytes, t0 + 160, 1, 1, TRACE_A, false);
	trace_files_record(&bytes, t0 + 200, 1, 0, TRACE_MAIN, false);
	struct profile *p = read_folder(&bytes, NULL);
	expect_folded(p, "time", "main 50\nmain;a 25\nmain;a;a 18\nmain;a;a;b::b() 7\n");
	expect_folded(p, "calls", "main 1\nmain;a 1\nmain;a;a 1\nmain;a;a;b::b() 1\n");
	assert_int_equal(calls_of(p, "", "main"), 1);
	assert_int_equal(calls_of(p, "main", "a"), 1);
	assert_int_equal(calls_of(p, "a", "a"), 1);
	assert_int_equal(calls_of(p, "a", "b::b()"), 1);
	assert_string_equal(profile_string(p, p->metrics[p->default_metric.i].name).data, "time");
	assert_string_equal(profile_string(p, p->command).data, "uftrace record prog 1");
	assert_string_equal(profile_string(p, p->host).data, "box");
	assert_int_equal(p->stats.duration_ns, 10000);
	assert_int_equal(p->stats.cpu_ns, 3000);
	assert_int_equal(p->stats.counted, 0);
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->processes[0].pid, 10);
	assert_string_equal(profile_string(p, p->processes[0].name).data, "prog");
	assert_int_equal(p->samples.time_ns[0], 110);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* Arguments behind records, lost records, a forked child, time off the CPU. */
TEST(everything)
{
	struct strbuf bytes = {0};

	trace_files_uftrace_whole(&bytes);
	struct profile *p = read_folder(&bytes, "info");
	/*
	 * main 10 + 250 - 30 + 100, and 20 in the child; b 100, and none in the child; a 40 in
	 * main, none in the child, 0 in the thread whose time was lost.
	 */
	expect_folded(p, "time", "main 350\nmain;a 40\nmain;linux:schedule 30\nmain;b::b() 100\n");
	assert_int_equal(calls_of(p, "main", "a"), 2);
	assert_int_equal(calls_of(p, "main", "b::b()"), 1);
	assert_int_equal(p->thread_count, 3);
	assert_int_equal(p->process_count, 2);
	assert_int_equal(p->stats.lost, 3);
	assert_int_equal(find_note(p, NOTE_LOST)->count, 3);
	assert_int_equal(find_note(p, NOTE_INFO)->count, 2);
	profile_destroy(p);
}

/* Frames left by longjmp: the next record is not as deep. */
TEST(left_without_exit)
{
	struct strbuf bytes = {0};

	trace_files_uftrace(&bytes, 0);
	folder_files_add(&bytes, "10.dat");
	trace_files_record(&bytes, t0 + 100, 0, 0, TRACE_MAIN, false);
	trace_files_record(&bytes, t0 + 110, 0, 1, TRACE_A, false);
	trace_files_record(&bytes, t0 + 120, 0, 2, TRACE_A, false);
	trace_files_record(&bytes, t0 + 130, 0, 1, TRACE_B, false);
	trace_files_record(&bytes, t0 + 140, 1, 0, TRACE_MAIN, false);
	struct profile *p = read_folder(&bytes, NULL);
	expect_folded(p, "time", "main 10\nmain;a 10\nmain;a;a 10\nmain;b::b() 10\n");
	profile_destroy(p);
}

/* Depths are recorded modulo 1024 where more were recorded. */
TEST(deeper_than_1024)
{
	struct strbuf bytes = {0};

	trace_files_uftrace(&bytes, 4096);
	folder_files_add(&bytes, "10.dat");
	for (unsigned int i = 0; i < 3000; i++)
		trace_files_record(&bytes, t0 + i, 0, i, TRACE_A, false);
	for (unsigned int i = 3000; i > 0; i--)
		trace_files_record(&bytes, t0 + 6000 - i, 1, i - 1, TRACE_A, false);
	struct profile *p = read_folder(&bytes, NULL);
	assert_int_equal(p->depth_max, 3000);
	assert_int_equal(p->total[p->default_metric.i], 5999);
	assert_int_equal(calls_of(p, "a", "a"), 2999);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(unknown_addresses)
{
	struct strbuf bytes = {0};

	trace_files_uftrace(&bytes, 0);
	folder_files_add(&bytes, "10.dat");
	trace_files_record(&bytes, t0 + 100, 0, 0, 0x10010, false);
	trace_files_record(&bytes, t0 + 110, 0, 1, 0x90000, false);
	trace_files_record(&bytes, t0 + 130, 1, 1, 0x90000, false);
	struct profile *p = read_folder(&bytes, NULL);
	expect_folded(p, "time", "[prog+0x10] 10\n[prog+0x10];[0x90000] 20\n");
	assert_int_equal(find_note(p, NOTE_NO_SYMBOLS)->count, 2);
	profile_destroy(p);
}

TEST(cut_off_and_bad)
{
	struct strbuf bytes = {0};

	trace_files_uftrace(&bytes, 0);
	folder_files_add(&bytes, "10.dat");
	trace_files_record(&bytes, t0 + 100, 0, 0, TRACE_MAIN, false);
	trace_files_record(&bytes, t0 + 110, 1, 0, TRACE_MAIN, false);
	strbuf_add(&bytes, STR("half"));
	struct profile *p = read_folder(&bytes, NULL);
	expect_folded(p, "time", "main 10\n");
	assert_non_null(strstr(profile_string(p, find_note(p, NOTE_INCOMPLETE)->text).data,
		"10.dat is read up to offset 0x20"));
	profile_destroy(p);
}

TEST(refusals)
{
	struct strbuf bytes = {0};

	trace_files_uftrace(&bytes, 0);
	expect_error(&bytes, ERROR_INPUT, "no records of calls");

	trace_files_uftrace(&bytes, 0);
	memcpy(memmem(bytes.data, bytes.size, "sid-00aa", 8), "sid-00bb", 8);
	expect_error(&bytes, ERROR_INPUT, "'sid-00aa.map' is missing");

	trace_files_uftrace(&bytes, 0);
	((char *)memmem(bytes.data, bytes.size, "Ftrace!", 7))[8] = 5;
	expect_error(&bytes, ERROR_UNSUPPORTED, "version 5");

	trace_files_uftrace(&bytes, 0);
	((char *)memmem(bytes.data, bytes.size, "Ftrace!", 7))[14] = 2;
	expect_error(&bytes, ERROR_UNSUPPORTED, "byte order");
}

/* A session's id, which is a part of a file's name, leads nowhere; nor does a link. */
TEST(names_stay_inside)
{
	struct strbuf bytes = {0};
	struct profile *p = NULL;

	trace_files_uftrace(&bytes, 0);
	memcpy(memmem(bytes.data, bytes.size, "sid=00aa", 8), "sid=/../", 8);
	expect_error(&bytes, ERROR_INPUT, "is missing");

	trace_files_uftrace_whole(&bytes);
	char *folder = folder_files_create(strbuf_str(&bytes));
	char *file = xasprintf("%s/10.dat", folder), *link_to = xasprintf("%s/11.dat", folder);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink(link_to, file), 0);
	struct error *err = profile_read(folder, NULL, &p);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "is a link"));
	error_destroy(err);
	free(file);
	free(link_to);
	folder_files_remove(folder);
	strbuf_deinit(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_calls),
		cmocka_unit_test(everything),
		cmocka_unit_test(left_without_exit),
		cmocka_unit_test(deeper_than_1024),
		cmocka_unit_test(unknown_addresses),
		cmocka_unit_test(cut_off_and_bad),
		cmocka_unit_test(refusals),
		cmocka_unit_test(names_stay_inside),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
