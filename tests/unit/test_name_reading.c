/*
 * Which namespace a function is in, by names as demanglers of C++ and Rust write them.
 */

#include "analysis/name_reading.h"
#include "base/compiler.h"
#include "../unit.h"

static void expect(const char *const *names, const char *scope, bool is_in)
{
	for (size_t i = 0; names[i]; i++)
		if (name_is_in(str_from(names[i]), str_from(scope)) != is_in)
			fail_msg("%s: %s", scope, names[i]);
}

TEST(plumbing_is_in_std)
{
	static const char *const names[] = {"std::sort",
		"std::__cxx11::basic_string<char>::append(char const*)",
		"void std::__introsort_loop<int*, long>(int*, int*, long)",
		"std::enable_if<is_x<a, b>::value, void>::type std::__invoke_r<void>(mine::f&)",
		"decltype (f(0)) std::invoke<mine::f>(mine::f&)",
		"std::_Function_handler<void (), mine::f()::{lambda()#1}>::_M_invoke()",
		"bool std::operator==<char>(std::allocator<char> const&)",
		"std::function<void ()>::operator()() const",
		"__gnu_cxx::__normal_iterator<int*, std::vector<int> >::operator++()",
		"non-virtual thunk to std::basic_ostream<char>::~basic_ostream()",
		"std::rt::lang_start::{{closure}}", "<std::io::Error as core::fmt::Debug>::fmt",
		"<&std::path::Path as core::convert::AsRef>::as_ref", NULL};

	expect(names, "std", true);
	expect(names, "std::", true);
	expect(names, "mine", false);
}

TEST(what_only_mentions_std_is_not)
{
	static const char *const names[] = {"mine::sort", "std", "stdlib::f", "mystd::f",
		"mine::std::f", "std::vector<int> mine::make<int>(std::vector<int>)",
		"mine::f(std::vector<int> const&)", "void mine::g<std::less<int> >(std::less<int>)",
		"std::enable_if<true, int>::type mine::h<int>()",
		"mine::value::operator std::string() const",
		"bool mine::operator< <std::string>(mine::x)",
		"mine::f()::{lambda(std::string)#1}::operator()(std::string) const",
		"(anonymous namespace)::f(std::string)", "<mine::T as std::ops::Deref>::deref", "",
		NULL};

	expect(names, "std", false);
	expect(names, "__gnu_cxx", false);
}

TEST(namespaces_are_whole_ones)
{
	static const char *const names[] = {
		"boost::asio::detail::run()", "void boost::asio::post<mine::f>(mine::f)", NULL};

	expect(names, "boost", true);
	expect(names, "boost::asio", true);
	expect(names, "boost::as", false);
	expect(names, "asio", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plumbing_is_in_std),
		cmocka_unit_test(what_only_mentions_std_is_not),
		cmocka_unit_test(namespaces_are_whole_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
