/*
 * Which of several names an abbreviation means.
 */
#include "base/abbreviation.h"

#include "../unit.h"

/* What text means of the names, with spaces between them; several have ", " between them. */
static void check(const char *text, const char *names, const char *meant)
{
	struct str rest = str_from(names), best = {0};
	struct abbreviation a;

	abbreviation_init(&a, str_from(text));
	while (rest.size) {
		const char *space = memchr(rest.data, ' ', rest.size);
		size_t size = space ? (size_t)(space - rest.data) : rest.size;
		struct str name = {rest.data, size};

		if (abbreviation_offer(&a, name))
			best = name;
		rest = (struct str){
			rest.data + size + (space != NULL), rest.size - size - (space != NULL)};
	}
	assert_true(str_equal(strbuf_str(&a.names), str_from(meant)));
	assert_int_equal(abbreviation_is_ambiguous(&a), strchr(meant, ',') != NULL);
	assert_int_equal(abbreviation_found(&a), *meant && !strchr(meant, ','));
	if (abbreviation_found(&a))
		assert_true(str_equal(best, str_from(meant)));
	abbreviation_deinit(&a);
}

TEST(the_name_itself_comes_first)
{
	check("cycles", "cycles-idle Cycles cycles CYCLES", "cycles");
	check("cycles", "cycles cycles-idle", "cycles");
	check("CYCLES", "cycles cycles-idle", "cycles");
	check("CYCLES", "cycles-idle cycles", "cycles");
	check("cYcLeS", "cycles-idle cycles CYCLES", "cycles, CYCLES");
}

TEST(beginnings_in_any_case)
{
	check("cy", "cs cycles", "cycles");
	check("CY", "cs cycles", "cycles");
	check("c", "cs cycles bus", "cs, cycles");
	check("x", "cs cycles", "");
	check("cycles-", "cycles", "");
	check("", "cs cycles", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_name_itself_comes_first),
		cmocka_unit_test(beginnings_in_any_case),
	};

	return cmocka_run_group_tests_name("abbreviation", tests, NULL, NULL);
}
