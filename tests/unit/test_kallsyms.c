/* Kernel symbols out of text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "obj/kallsyms.h"

static const struct str sample = STR("ffffffff81000000 T _stext\n"
				     "ffffffff81000000 T startup_64\n"
				     "ffffffff81000100 t do_one\n"
				     "ffffffff81000180 d some_data\n"
				     "ffffffff81000200 W do_two\n"
				     "not a line\n"
				     "ffffffffc0100000 t ext_fn\t[ext4]\n"
				     "ffffffffc0100040 t ext_last\t[ext4]");

static void check(const struct kallsyms *k, uint64_t va, const char *name, const char *module)
{
	struct kernel_symbol s;

	assert_true(kallsyms_find(k, va, &s));
	assert_true(str_equal(s.name, str_from(name)));
	assert_true(str_equal(s.module, str_from(module)));
	assert_true(va >= s.low_va && va < s.high_va);
}

static void functions_reach_to_the_next(void **state)
{
	struct kallsyms *k = kallsyms_parse(sample);
	struct kernel_symbol s;

	(void)state;
	assert_false(kallsyms_are_hidden(k));
	assert_false(kallsyms_find(k, 0xffffffff80ffffff, &s));
	check(k, 0xffffffff81000000, "startup_64", "[kernel]");
	check(k, 0xffffffff810000ff, "startup_64", "[kernel]");
	check(k, 0xffffffff81000190, "do_one", "[kernel]");
	check(k, 0xffffffff81000200, "do_two", "[kernel]");
	check(k, 0xffffffffc0100001, "ext_fn", "[ext4]");
	check(k, 0xffffffffc0100041, "ext_last", "[ext4]");
	kallsyms_close(k);
}

static void what_is_far_behind_is_unknown(void **state)
{
	struct kallsyms *k = kallsyms_parse(sample);
	struct kernel_symbol s;

	(void)state;
	assert_false(kallsyms_find(k, 0xffffffff90000000, &s));
	assert_false(kallsyms_find(k, UINT64_MAX, &s));
	kallsyms_close(k);
}

static void zero_addresses_are_hidden_ones(void **state)
{
	struct kallsyms *k =
		kallsyms_parse(STR("0000000000000000 T _stext\n0000000000000000 T do_one\n"));
	struct kernel_symbol s;

	(void)state;
	assert_true(kallsyms_are_hidden(k));
	assert_false(kallsyms_find(k, 0, &s));
	kallsyms_close(k);
}

static void nothing_is_not_hidden(void **state)
{
	struct kallsyms *k = kallsyms_parse(STR(""));

	(void)state;
	assert_false(kallsyms_are_hidden(k));
	assert_int_equal(kallsyms_count(k), 0);
	kallsyms_close(k);
}

static void data_alone_is_nothing(void **state)
{
	struct kallsyms *k = kallsyms_parse(STR("ffffffff81000180 d some_data\n"));
	struct kernel_symbol s;

	(void)state;
	assert_false(kallsyms_are_hidden(k));
	assert_false(kallsyms_find(k, 0xffffffff81000180, &s));
	kallsyms_close(k);
}

static void every_cut_is_read(void **state)
{
	struct kernel_symbol s;

	(void)state;
	for (size_t size = 0; size <= sample.size; size++) {
		struct kallsyms *k = kallsyms_parse((struct str){sample.data, size});
		kallsyms_find(k, 0xffffffff81000190, &s);
		kallsyms_close(k);
	}
}

static void this_kernel_is_read(void **state)
{
	struct kallsyms *k;
	struct error *err = kallsyms_open(NULL, &k);

	(void)state;
	if (err) {
		error_destroy(err);
		skip();
	}
	assert_true(kallsyms_are_hidden(k) || kallsyms_count(k) > 1000);
	kallsyms_close(k);
}

static void a_missing_file_is_an_error(void **state)
{
	struct kallsyms *k = NULL;
	struct error *err = kallsyms_open("/nonexistent/kallsyms", &k);

	(void)state;
	assert_non_null(err);
	assert_null(k);
	error_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_reach_to_the_next),
		cmocka_unit_test(what_is_far_behind_is_unknown),
		cmocka_unit_test(zero_addresses_are_hidden_ones),
		cmocka_unit_test(nothing_is_not_hidden),
		cmocka_unit_test(data_alone_is_nothing),
		cmocka_unit_test(every_cut_is_read),
		cmocka_unit_test(this_kernel_is_read),
		cmocka_unit_test(a_missing_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
