/*
 * Ids of entities: fixed forever, different for whatever makes two entities two, read back.
 */

#include "analysis/entity_id.h"
#include "../unit.h"

static const struct entity eval = {.name = {"eval", 4},
	.module = {"lisp", 4},
	.file = {"/src/eval.c", 11},
	.line = 95,
	.occurrence = 1};

static void assert_id(const struct entity *e, const char *expected)
{
	struct strbuf id = {0};
	uint64_t number;

	entity_id_put(&id, e);
	assert_string_equal(id.data, expected);
	assert_true(entity_id_parse(strbuf_str(&id), &number));
	assert_true(number == entity_id(e));
	strbuf_deinit(&id);
}

/* People keep ids in notes and scripts. */
TEST(test_ids_are_fixed)
{
	assert_id(&eval, "@9a901c5d4e");
	assert_id(&(struct entity){.name = STR("main"), .occurrence = 1}, "@279d3b5679");
}

TEST(test_each_part_counts)
{
	struct entity others[] = {eval, eval, eval, eval, eval, eval, eval};

	others[0].name = STR("eva");
	others[1].module = (struct str){0};
	others[2].file = STR("/src/eval.h");
	others[3].line = 96;
	others[4].address = 1;
	others[5].occurrence = 2;
	/* What moves from one part to the next is no longer the same. */
	others[6].name = STR("evallisp");
	others[6].module = (struct str){0};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_true(entity_id(&others[i]) != entity_id(&eval));
}

TEST(test_only_ids_are_read)
{
	static const char *const others[] = {"", "@", "3f29ac01d7", "@3f29ac01d", "@3f29ac01d77",
		"@3F29AC01D7", "@3f29ac01dg", "#3f29ac01d7"};
	uint64_t id = 7;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(entity_id_parse(str_from(others[i]), &id));
	assert_true(id == 7);
	assert_true(entity_id_parse(STR("@3f29ac01d7"), &id));
	assert_true(id == 0x3f29ac01d7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_are_fixed),
		cmocka_unit_test(test_each_part_counts),
		cmocka_unit_test(test_only_ids_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
