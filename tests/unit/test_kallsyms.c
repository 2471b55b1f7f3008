/* Kernel symbols out of text. */
#include <string.h>

#include "obj/kallsyms.h"
#include "../unit.h"

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

TEST(functions_reach_to_the_next)
{
	struct kallsyms *k = kallsyms_parse(sample);
	struct kernel_symbol s;

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

TEST(what_is_far_behind_is_unknown)
{
	struct kallsyms *k = kallsyms_parse(sample);
	struct kernel_symbol s;

	assert_false(kallsyms_find(k, 0xffffffff90000000, &s));
	assert_false(kallsyms_find(k, UINT64_MAX, &s));
	kallsyms_close(k);
}

/* What was packed answers as before, wherever it is asked. */
TEST(packed_is_the_same)
{
	struct kallsyms *k = kallsyms_parse(sample), *again = kallsyms_unpack(kallsyms_packed(k));

	assert_non_null(again);
	assert_int_equal(kallsyms_count(again), kallsyms_count(k));
	for (uint64_t i = 0; i < 0x1000; i++) {
		uint64_t va = (i % 2 ? 0xffffffff80ffff00 : 0xffffffffc00fff00) + i / 2;
		struct kernel_symbol a = {0}, b = {0};

		assert_int_equal(kallsyms_find(k, va, &a), kallsyms_find(again, va, &b));
		assert_true(str_equal(a.name, b.name) && str_equal(a.module, b.module));
		assert_true(a.high_va == b.high_va && a.is_bounded == b.is_bounded);
	}
	kallsyms_close(k);
	kallsyms_close(again);
}

TEST(only_the_next_of_the_same_module_bounds)
{
	struct kallsyms *k = kallsyms_parse(sample);
	struct kernel_symbol s;

	assert_true(kallsyms_find(k, 0xffffffff81000100, &s) && s.is_bounded);
	assert_true(kallsyms_find(k, 0xffffffff81000200, &s) && !s.is_bounded);
	assert_true(kallsyms_find(k, 0xffffffffc0100000, &s) && s.is_bounded);
	assert_true(kallsyms_find(k, 0xffffffffc0100040, &s) && !s.is_bounded);
	kallsyms_close(k);
}

/* Every cut and every changed byte is refused or harmless. */
TEST(damaged_packs_do_no_harm)
{
	struct kallsyms *k = kallsyms_parse(sample);
	struct str packed = kallsyms_packed(k);
	char bytes[512];
	struct kernel_symbol s;

	assert_true(packed.size <= sizeof(bytes));
	for (size_t size = 0; size < packed.size; size++) {
		struct kallsyms *cut = kallsyms_unpack((struct str){packed.data, size});
		assert_null(cut);
	}
	for (size_t i = 0; i < packed.size * 8; i++) {
		memcpy(bytes, packed.data, packed.size);
		bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
		struct kallsyms *other = kallsyms_unpack((struct str){bytes, packed.size});
		if (!other)
			continue;
		for (uint64_t va = 0xffffffff81000000; va < 0xffffffff81000300; va += 16)
			kallsyms_find(other, va, &s);
		kallsyms_close(other);
	}
	kallsyms_close(k);
}

TEST(zero_addresses_are_hidden_ones)
{
	struct kallsyms *k =
		kallsyms_parse(STR("0000000000000000 T _stext\n0000000000000000 T do_one\n"));
	struct kernel_symbol s;

	assert_true(kallsyms_are_hidden(k));
	assert_false(kallsyms_find(k, 0, &s));
	kallsyms_close(k);
}

TEST(nothing_is_not_hidden)
{
	struct kallsyms *k = kallsyms_parse(STR(""));

	assert_false(kallsyms_are_hidden(k));
	assert_int_equal(kallsyms_count(k), 0);
	kallsyms_close(k);
}

TEST(data_alone_is_nothing)
{
	struct kallsyms *k = kallsyms_parse(STR("ffffffff81000180 d some_data\n"));
	struct kernel_symbol s;

	assert_false(kallsyms_are_hidden(k));
	assert_false(kallsyms_find(k, 0xffffffff81000180, &s));
	kallsyms_close(k);
}

TEST(every_cut_is_read)
{
	struct kernel_symbol s;

	for (size_t size = 0; size <= sample.size; size++) {
		struct kallsyms *k = kallsyms_parse((struct str){sample.data, size});
		kallsyms_find(k, 0xffffffff81000190, &s);
		kallsyms_close(k);
	}
}

TEST(this_kernel_is_read)
{
	struct kallsyms *k;
	struct error *err = kallsyms_open(NULL, &k);

	if (err) {
		error_destroy(err);
		skip();
	}
	assert_true(kallsyms_are_hidden(k) || kallsyms_count(k) > 1000);
	kallsyms_close(k);
}

TEST(a_missing_file_is_an_error)
{
	struct kallsyms *k = NULL;
	struct error *err = kallsyms_open("/nonexistent/kallsyms", &k);

	assert_non_null(err);
	assert_null(k);
	error_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_reach_to_the_next),
		cmocka_unit_test(what_is_far_behind_is_unknown),
		cmocka_unit_test(packed_is_the_same),
		cmocka_unit_test(only_the_next_of_the_same_module_bounds),
		cmocka_unit_test(damaged_packs_do_no_harm),
		cmocka_unit_test(zero_addresses_are_hidden_ones),
		cmocka_unit_test(nothing_is_not_hidden),
		cmocka_unit_test(data_alone_is_nothing),
		cmocka_unit_test(every_cut_is_read),
		cmocka_unit_test(this_kernel_is_read),
		cmocka_unit_test(a_missing_file_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
