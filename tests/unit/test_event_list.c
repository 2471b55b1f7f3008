/*
 * Lists of events as they are typed, and the table of their names.
 */
#include <string.h>

#include <linux/perf_event.h>

#include "base/compiler.h"
#include "record/events/event_list.h"
#include "../unit.h"

/* The list of that text, which must be good. */
static struct event_list list_of(const char *text)
{
	struct event_list list = {0};
	struct error *err = event_list_add(&list, text);

	if (err)
		fail_msg("'%s': %s", text, err->message);
	return list;
}

static void assert_spec(const char *text, const char *name, uint32_t type, uint64_t config)
{
	struct event_list list = list_of(text);

	assert_int_equal(list.specs.count, 1);
	assert_string_equal(list.specs.data[0].name.data, name);
	assert_int_equal(list.specs.data[0].type, type);
	assert_int_equal(list.specs.data[0].config, config);
	assert_true(str_equal(list.specs.data[0].unit, STR("count")));
	event_list_deinit(&list);
}

TEST(names_mean_what_perf_means)
{
	assert_spec("page-faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	assert_spec("faults", "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	assert_spec("cs", "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	assert_spec(
		"migrations", "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
	assert_spec("cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	assert_spec("CPU-Cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	assert_spec("branch-instructions", "branches", PERF_TYPE_HARDWARE,
		PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	/* perf_event_open(2): cache | operation << 8 | result << 16. */
	assert_spec("L1-dcache-loads", "L1-dcache-loads", PERF_TYPE_HW_CACHE, 0);
	assert_spec("L1-dcache-load-misses", "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000);
	assert_spec("LLC-store-misses", "LLC-store-misses", PERF_TYPE_HW_CACHE, 0x10102);
	assert_spec("LLC-prefetches", "LLC-prefetches", PERF_TYPE_HW_CACHE, 0x00202);
	assert_spec("iTLB-load-misses", "iTLB-load-misses", PERF_TYPE_HW_CACHE, 0x10004);
	assert_spec("branch-loads", "branch-loads", PERF_TYPE_HW_CACHE, 5);
	assert_spec("node-load-misses", "node-load-misses", PERF_TYPE_HW_CACHE, 0x10006);
	assert_spec("r1a8", "r1a8", PERF_TYPE_RAW, 0x1a8);
	assert_spec("rFFFFFFFFFFFFFFFF", "rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX);
}

TEST(sampling_is_read)
{
	static const struct {
		const char *text;
		uint64_t period, frequency_hz;
	} rows[] = {
		{"cycles", 0, EVENT_FREQUENCY_DEFAULT},
		{"cycles:period=1000003", 1000003, 0},
		{"cycles:freq=99", 0, 99},
		{"cycles:freq=99:period=7", 7, 0}, /* the last one holds */
		{"page-faults:period=1", 1, 0},
		{"r3c:freq=4000", 0, 4000},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list list = list_of(rows[i].text);

		assert_int_equal(list.specs.data[0].period, rows[i].period);
		assert_int_equal(list.specs.data[0].frequency_hz, rows[i].frequency_hz);
		event_list_deinit(&list);
	}
}

/* What perf calls so counts first, then a number, then what begins so. */
TEST(names_are_cut_short)
{
	struct event_list list = list_of("page,CYC:period=3,Mig,idle-cycles-f,ref,ref-");
	static const char *const names[] = {"page-faults", "cycles", "cpu-migrations",
		"stalled-cycles-frontend", "ref", "ref-cycles"};

	assert_int_equal(list.specs.count, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(list.specs.data[i].name.data, names[i]);
	assert_int_equal(list.specs.data[1].period, 3);
	event_list_deinit(&list);
}

TEST(lists_keep_their_order)
{
	struct event_list list = list_of("page-faults,cs:period=3,cycles");
	struct error *err = event_list_add(&list, "migrations");

	assert_null(err);
	err = event_list_add(&list, "faults"); /* again, the same: no harm */
	assert_null(err);
	assert_int_equal(list.specs.count, 4);
	assert_string_equal(list.specs.data[1].name.data, "context-switches");
	assert_int_equal(list.specs.data[1].period, 3);
	assert_true(list.specs.data[1].in_kernel);
	assert_false(list.specs.data[0].in_kernel);
	assert_string_equal(list.specs.data[3].name.data, "cpu-migrations");
	event_list_deinit(&list);
}

TEST(errors_say_what_is_wrong)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"page-fualts", "did you mean 'page-faults'"},
		{"instrutions", "did you mean 'instructions'"},
		{"L1-dcache-load-mises", "did you mean 'L1-dcache-load-misses'"},
		{"zzzzzzzz", "-e list shows them all"},
		{"task-clock", "time is always recorded"},
		{"cpu-time", "time is always recorded"},
		{"task", "time is always recorded"},
		{"blocked:u", "write 'blocked'"},
		{"cyc:u", "write 'cyc'"},
		{"cs,branch-l", "it may be branch-loads, branch-load-misses"},
		{"cpu-c,cs", "ambiguous event 'cpu-c': it may be cpu-cycles, cpu-clock"},
		{"b", "ambiguous event 'b'"},
		{"", "no name"},
		{"cycles,", "no name"},
		{",cycles", "no name"},
		{"cycles:period=0", "period is a number from 1, not '0'"},
		{"cycles:period=1x", "not '1x'"},
		{"cycles:period=", "not ''"},
		{"cycles:freq=99999999999999999999", "not '99999999999999999999'"},
		{"cycles:freq=-1", "not '-1'"},
		{"cycles:foo=1", "unknown setting 'foo'"},
		{"cycles:period=1:u", "unknown setting 'u'"},
		{"rzz", "no event is called 'rzz'"},
		{"r10000000000000000", "no event is called"},
		{"cs,context-switches:period=2", "there twice"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_list list = {0};
		struct error *err = event_list_add(&list, rows[i].text);

		if (err == NULL)
			fail_msg("'%s' was taken", rows[i].text);
		assert_int_equal(err->kind, ERROR_USAGE);
		if (strstr(err->message, rows[i].message) == NULL)
			fail_msg("'%s': %s", rows[i].text, err->message);
		error_destroy(err);
		event_list_deinit(&list);
	}
}

TEST(tracepoints_are_never_paths)
{
	static const char *const texts[] = {
		"sched:no_such_tracepoint_at_all", "../x:y", "a/b:c", ":x", "x:", "a:b:c", "..:.."};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct event_list list = {0};
		struct error *err = event_list_add(&list, texts[i]);

		assert_non_null(err);
		error_destroy(err);
		event_list_deinit(&list);
	}
}

/* Every name finds itself, and no two are the same. */
TEST(the_table_agrees_with_itself)
{
	size_t count = event_name_count();

	assert_true(count > 40);
	for (size_t i = 0; i < count; i++) {
		struct event_name event = event_name_at(i);

		assert_spec(event.name, event.name, event.type, event.config);
		for (size_t k = 0; k < i; k++) {
			struct event_name other = event_name_at(k);

			assert_true(other.type != event.type || other.config != event.config);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_mean_what_perf_means),
		cmocka_unit_test(sampling_is_read),
		cmocka_unit_test(names_are_cut_short),
		cmocka_unit_test(lists_keep_their_order),
		cmocka_unit_test(errors_say_what_is_wrong),
		cmocka_unit_test(tracepoints_are_never_paths),
		cmocka_unit_test(the_table_agrees_with_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
