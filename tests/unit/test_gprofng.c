/*
 * Experiments of gprofng, by hand: docs/formats/gprofng.md, line by line.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../trace_files.h"
#include "../unit.h"
#include "formats/gprofng/xml_scan.h"

static struct error *try_folder(struct strbuf *bytes, struct profile **p)
{
	char *folder = folder_files_create(strbuf_str(bytes));
	struct error *err = profile_read(folder, NULL, p);

	folder_files_remove(folder);
	strbuf_deinit(bytes);
	return err;
}

static void expect_error(struct strbuf *bytes, enum error_kind kind, const char *part)
{
	struct profile *p = NULL;
	struct error *err = try_folder(bytes, &p);

	expect_refusal_of(err, kind, part);
}

TEST(packets)
{
	struct strbuf bytes = {0};
	struct profile *p = NULL;

	trace_files_gprofng(&bytes);
	struct error *err = try_folder(&bytes, &p);
	if (err)
		fail_msg("%s", err->message);
	expect_folded(p, "Total CPU Time",
		"[a&b+0x1100];[a&b+0x1200];[a&b+0x1300] 3000000\n"
		"[a&b+0x1100];[a&b+0x1200];[a&b+0x1300];ticks 3000000\n"
		"[a&b+0x1300] 1000000\n[unknown] 1000000\n");
	expect_folded(p, "samples",
		"[a&b+0x1100];[a&b+0x1200];[a&b+0x1300] 2\n"
		"[a&b+0x1100];[a&b+0x1200];[a&b+0x1300];ticks 1\n[a&b+0x1300] 1\n[unknown] 1\n");
	expect_folded(p, "Bytes Allocated", "[a&b+0x1100];[a&b+0x1200];[a&b+0x1300] 180\n");
	expect_folded(p, "Allocations", "[a&b+0x1100];[a&b+0x1200];[a&b+0x1300] 3\n");
	expect_folded(p, "Bytes Leaked", "[a&b+0x1100];[a&b+0x1200];[a&b+0x1300] 70\n");
	expect_folded(p, "Leaks", "[a&b+0x1100];[a&b+0x1200];[a&b+0x1300] 1\n");
	assert_string_equal(
		profile_string(p, p->metrics[p->default_metric.i].name).data, "Total CPU Time");
	assert_int_equal(p->stats.counted, 5);
	assert_int_equal(p->stats.interval_ns, 1000000);
	assert_int_equal(p->stats.duration_ns, 500000000);
	assert_int_equal(p->start_unix_ns, 100000000000);
	assert_string_equal(profile_string(p, p->command).data, "./a b");
	assert_string_equal(profile_string(p, p->host).data, "box");
	assert_int_equal(p->process_count, 2);
	assert_int_equal(p->processes[1].pid, 78);
	assert_string_equal(profile_string(p, p->processes[1].name).data, "a");
	assert_int_equal(p->thread_count, 2);
	profile_destroy(p);
}

TEST(refusals)
{
	struct strbuf bytes = {0};

	trace_files_gprofng(&bytes);
	memcpy(memmem(bytes.data, bytes.size, "12.4", 4), "10.1", 4);
	expect_error(&bytes, ERROR_UNSUPPORTED, "version 10.1");
	folder_files_add(&bytes, "log.xml");
	strbuf_add(&bytes, STR("<experiment version=\"12.4\">\n"));
	expect_error(&bytes, ERROR_INPUT, "no packets");
}

/* Runs that link to themselves, and to what is not there. */
TEST(circular_runs)
{
	struct strbuf bytes = {0};
	struct profile *p = NULL;

	trace_files_gprofng(&bytes);
	char *link = memmem(bytes.data, bytes.size, "\x04\x81\0\0\0\0\0\0\xc9", 9);
	assert_non_null(link);
	link[8] = (char)202;
	struct error *err = try_folder(&bytes, &p);
	if (err)
		fail_msg("%s", err->message);
	assert_true(p->note_count > 0);
	profile_destroy(p);
}

TEST(xml)
{
	struct str text = STR("<?xml?><!-- < --><a one='1' two=\"&lt;&#65;&#x42;&quot;&bad;\">in"
			      "</a><b x=\"0x1F\" y='+0x10' s=\"1.5\"/>< c=\"\">");
	struct xml_scan scan = {.rest = text};
	struct xml_element e;
	struct strbuf value = {0};

	assert_true(xml_scan_next(&scan, &e));
	assert_true(str_equal(e.name, STR("a")) && str_equal(e.text, STR("in")));
	assert_true(xml_attribute(&e, "two", &value));
	assert_string_equal(value.data, "<AB\"&bad;");
	assert_false(xml_attribute(&e, "three", &value));
	assert_int_equal(xml_number(&e, "one", 9), 1);
	assert_true(xml_scan_next(&scan, &e) && str_equal(e.name, STR("/a")) == false);
	assert_int_equal(xml_number(&e, "x", 0), 31);
	assert_int_equal(xml_number(&e, "y", 0), 16);
	assert_int_equal(xml_number(&e, "z", 7), 7);
	assert_int_equal(xml_seconds(&e, "s", 0), 1500000000);
	assert_false(xml_scan_next(&scan, &e));
	strbuf_deinit(&value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets),
		cmocka_unit_test(refusals),
		cmocka_unit_test(circular_runs),
		cmocka_unit_test(xml),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
