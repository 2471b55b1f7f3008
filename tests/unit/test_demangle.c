/* Names for people, and names made to make a demangler explode. */
#include <stdio.h>

#include "obj/demangle.h"
#include "../unit.h"

static void check(const char *mangled, const char *expected)
{
	struct demangler *d = demangler_create();
	struct str name = demangle(d, str_from(mangled));

	assert_int_equal(name.size, strlen(expected));
	assert_memory_equal(name.data, expected, name.size);
	demangler_destroy(d);
}

TEST(cpp)
{
	check("_Z3fooi", "foo(int)");
	check("_ZN3FooC2Ev", "Foo::Foo()");
	check("_ZNSt6vectorIiSaIiEE9push_backEOi",
		"std::vector<int, std::allocator<int> >::push_back(int&&)");
	check("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const");
	check("_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar()");
	check("_Z3fooi.constprop.0", "foo(int) [clone .constprop.0]");
}

TEST(rust)
{
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	check("_ZN4test4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		"test::main::{{closure}}");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

TEST(d)
{
	check("_D4test3fooFiZv", "test.foo(int)");
}

TEST(others_stay)
{
	check("main", "main");
	check("", "");
	check("_", "_");
	check("_Z", "_Z");
	check("_Zebra", "_Zebra");
	check("_Read_file", "_Read_file");
	check("_Data", "_Data");
	check("main.main", "main.main");
	check("a;b c\x1b[31m", "a;b c\x1b[31m");
}

TEST(results_are_remembered)
{
	struct demangler *demangler = demangler_create();

	struct str first = demangle(demangler, STR("_Z3fooi"));
	for (int i = 0; i < 100; i++) {
		char name[32];
		snprintf(name, sizeof(name), "_Z4f%03di", i);
		demangle(demangler, str_from(name));
	}
	assert_ptr_equal(demangle(demangler, STR("_Z3fooi")).data, first.data);
	demangler_destroy(demangler);
}

/* Each type is a pair of the one before: k letters print as 2^k. */
TEST(doubling_is_cut)
{
	struct demangler *demangler = demangler_create();
	struct strbuf name = {0};

	strbuf_add(&name, STR("_Z1f1XI1A1AE"));
	strbuf_add(&name, STR("S_IS1_S1_E"));
	for (int i = 2; i < 30; i++) {
		const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		strbuf_printf(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
	}
	struct str result = demangle(demangler, strbuf_str(&name));
	assert_true(result.size <= DEMANGLE_OUTPUT_MAX + 3);
	strbuf_deinit(&name);
	demangler_destroy(demangler);
}

TEST(length_is_no_danger)
{
	static const char *const parts[] = {
		"P", "S_", "N1a", "I", "1a", "_", "R", "Q", "DpT_", "K"};
	static const char *const starts[] = {"_Z1f", "_RNv", "_D1a", "_ZN", "_RI", "_Z1fDp"};
	struct demangler *demangler = demangler_create();

	for (size_t s = 0; s < ARRAY_SIZE(starts); s++) {
		for (size_t p = 0; p < ARRAY_SIZE(parts); p++) {
			struct strbuf name = {0};
			strbuf_add(&name, str_from(starts[s]));
			while (name.size < DEMANGLE_INPUT_MAX + 1000)
				strbuf_add(&name, str_from(parts[p]));
			struct str result = demangle(demangler, strbuf_str(&name));
			assert_true(result.size <= DEMANGLE_OUTPUT_MAX + 3);
			strbuf_deinit(&name);
		}
	}
	demangler_destroy(demangler);
}

TEST(nul_ends_no_name)
{
	struct demangler *demangler = demangler_create();
	struct str name = demangle(demangler, (struct str){"_Z3fooi\0x", 9});

	assert_int_equal(name.size, 9);
	demangler_destroy(demangler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp),
		cmocka_unit_test(rust),
		cmocka_unit_test(d),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(results_are_remembered),
		cmocka_unit_test(doubling_is_cut),
		cmocka_unit_test(length_is_no_danger),
		cmocka_unit_test(nul_ends_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
