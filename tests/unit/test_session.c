/*
 * A session that is asked question after question answers each as a fresh one would, byte for byte;
 * a question that is refused changes nothing.
 */
#include <inttypes.h>
#include <stdio.h>

#include <string.h>

#include "../random_profile.h"
#include "../scratch.h"
#include "../unit.h"
#include "../writer_text.h"
#include "session/comparison.h"
#include "session/session.h"

enum { PUTS_MAX = 8 };

/* Options as a request has them: names and values; "" for flags. */
struct asked {
	const char *put[PUTS_MAX][2];
};

static const struct asked good[] = {
	{{{NULL}}},
	{{{"view", "tree"}}},
	{{{"view", "tree"}, {"collapse", "none"}, {"format", "json"}}},
	{{{"view", "functions"}, {"view", "callers"}}},
	{{{"view", "graph"}, {"format", "csv"}}},
	{{{"view", "tree"}, {"limit", "4"}}},
	{{{"view", "callers"}, {"focus", "f1"}}},
	{{{"view", "tree"}, {"focus", "f1"}}},
	{{{"view", "tree"}, {"focus", "f1"}, {"spread", ""}}},
	{{{"view", "tree"}, {"focus", "f1"}, {"invert", ""}}},
	{{{"view", "graph"}, {"ignore", "f1"}}},
	{{{"format", "svg"}}},
	{{{"format", "dot"}}},
	{{{"format", "folded"}, {"modules", ""}}},
	{{{"level", "module"}}},
	{{{"level", "line"}, {"sort", "inclusive"}}},
	{{{"focus", "f[12]"}, {"hide", "f0"}}},
	{{{"ignore", "f3"}, {"view", "tree"}, {"invert", ""}}},
	{{{"roots", "thread"}}},
	{{{"roots", "process"}, {"view", "tree"}}},
	{{{"metric", "all"}, {"format", "json"}}},
	{{{"limit", "3"}, {"percent", "raw"}}},
	{{{"spread", ""}, {"columns", "name,inclusive"}, {"format", "csv"}}},
	{{{"when", ":.f1->*"}}},
	{{{"same", "f[0-3]=few"}, {"view", "tree"}, {"order", "first"}}},
	{{{"view", "stats"}}},
};

static const struct {
	struct asked asked;
	const char *error; /* how it begins */
} bad[] = {
	{{{{"veiw", "tree"}}}, "veiw: unknown option; did you mean 'view'?"},
	{{{{"view", "trees"}}}, "view: invalid value 'trees': expected one of functions, "},
	{{{{"limit", "-1"}}}, "limit: '-1' is not a whole number"},
	{{{{"spread", "yes"}}}, "spread: takes no value"},
	{{{{"view", ""}}}, "view: expects a value"},
	{{{{"focus", "("}}}, "--focus: "},
	{{{{"view", "functions"}, {"collapse", "full"}}}, "--collapse is for --view tree"},
	{{{{"metric", "no-such"}}}, "--metric: the file has no 'no-such'"},
	{{{{"sort", "inclusve"}}}, "--sort: view functions has no column 'inclusve'; did you mean"},
};

static struct error *put_all(struct question *question, const struct asked *asked)
{
	struct error *err = NULL;

	for (size_t i = 0; i < PUTS_MAX && asked->put[i][0] && !err; i++)
		err = question_put(
			question, asked->put[i][0], asked->put[i][1][0] ? asked->put[i][1] : NULL);
	return err ? err : question_settle(question);
}

/* The whole answer of one of the two, drawn; the caller's.  Or an error. */
static struct error *ask_either(struct session *session, struct comparison *comparison,
	const struct asked *asked, struct strbuf *text)
{
	static const struct text_style style = {.width = 100, .utf8 = true};
	struct question question = question_default();
	struct answer *answer = NULL;
	struct sink sink;

	question.is_difference = comparison != NULL;
	struct error *err = put_all(&question, asked);

	if (!err)
		err = comparison ? comparison_ask(comparison, &question, &answer)
				 : session_ask(session, &question, &answer);
	if (!err) {
		sink_init_memory(&sink);
		answer_draw(answer, &style, &sink);
		*text = sink.text;
	}
	answer_destroy(answer);
	question_deinit(&question);
	return err;
}

static struct error *ask(struct session *session, const struct asked *asked, struct strbuf *text)
{
	return ask_either(session, NULL, asked, text);
}

static struct session *open_dump(const struct strbuf *dump)
{
	struct reader_input input = {
		.name = "dump", .data = (const uint8_t *)dump->data, .size = dump->size};
	struct session *session;

	assert_null(session_open_bytes(&input, NULL, &session));
	return session;
}

static struct strbuf random_dump(uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_any(&r);

	shape.samples = shape.places = true;
	shape.objects = 3;
	shape.no_stacks = shape.negative = false;
	struct profile *profile = random_profile(seed, &shape);
	struct strbuf dump = writer_text(&writer_dump, profile, &(struct writer_options){0});

	profile_destroy(profile);
	return dump;
}

/* The same answer, or the same refusal. */
static void expect_same(
	struct session *session, const struct strbuf *dump, const struct asked *asked)
{
	struct session *fresh = open_dump(dump);
	struct strbuf text = {0}, expected = {0};
	struct error *err = ask(session, asked, &text),
		     *expected_err = ask(fresh, asked, &expected);

	assert_int_equal(err == NULL, expected_err == NULL);
	if (err)
		assert_string_equal(err->message, expected_err->message);
	else
		assert_true(str_equal(strbuf_str(&text), strbuf_str(&expected)));
	error_destroy(err);
	error_destroy(expected_err);
	strbuf_deinit(&text);
	strbuf_deinit(&expected);
	session_close(fresh);
}

TEST(asked_often)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct strbuf dump = random_dump(seed);
		struct session *session = open_dump(&dump);
		struct random r = random_from(seed);

		for (size_t i = 0; i < 2 * sizeof(good) / sizeof(good[0]); i++)
			expect_same(session, &dump,
				&good[random_below(&r, sizeof(good) / sizeof(good[0]))]);
		session_close(session);
		strbuf_deinit(&dump);
	}
}

/* A random time within the run, from before to after it. */
static void some_part(struct random *r, const struct profile *p, char *text, size_t size)
{
	uint64_t last = p->samples.count ? p->samples.time_ns[p->samples.count - 1] + 2 : 1;
	uint64_t from = random_next(r) % last, to = from + 1 + random_next(r) % last;

	(void)snprintf(text, size, "%" PRIu64 "ns:%" PRIu64 "ns", from, to);
}

/* Questions that differ in the part of the run that they are about share a tree. */
TEST(asked_of_parts)
{
	static const char *const levels[] = {"function", "module", "line"};
	static const char *const views[] = {"tree", "tree", "tree", "callers", "graph"};
	static const char *const beside[] = {"callers", "graph", "functions"};

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct strbuf dump = random_dump(seed);
		struct session *session = open_dump(&dump);
		struct random r = random_from(seed);

		for (int i = 0; i < 24; i++) {
			const char *view = views[random_below(&r, 5)];
			const char *level = levels[random_below(&r, 8) ? 0 : random_below(&r, 3)];
			char part[64], limit[16];
			struct asked asked = {
				{{"format", "json"}, {"view", view}, {"level", level}}};
			size_t count = 3;

			(void)snprintf(limit, sizeof(limit), "%u", random_below(&r, 30));
			asked.put[count][0] = "limit";
			asked.put[count++][1] = limit;
			if (random_below(&r, 8) == 0) {
				/* Views of one question share a tree. */
				asked.put[0][1] = "text";
				asked.put[count][0] = "view";
				asked.put[count++][1] = beside[random_below(&r, 3)];
			}
			if (strcmp(view, "tree") == 0) {
				asked.put[count][0] = "collapse";
				asked.put[count++][1] =
					collapse_names[random_below(&r, COLLAPSE_COUNT)];
			}
			if (random_below(&r, 6)) {
				some_part(&r, session_profile(session), part, sizeof(part));
				asked.put[count][0] = "time";
				asked.put[count++][1] = part;
			}
			if (random_below(&r, 4) == 0) {
				asked.put[count][0] = random_below(&r, 2) ? "focus" : "hide";
				asked.put[count++][1] = "f[12]";
			}
			expect_same(session, &dump, &asked);
		}
		session_close(session);
		strbuf_deinit(&dump);
	}
}

/* Of a profile that has all they ask for, questions get answers, each another. */
TEST(every_question_is_answered)
{
	struct strbuf dump = random_dump(3);
	struct session *session = open_dump(&dump);
	size_t answered = 0;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct strbuf text = {0};
		struct error *err = ask(session, &good[i], &text);

		answered += err == NULL && text.size > 0;
		error_destroy(err);
		strbuf_deinit(&text);
	}
	assert_in_range(
		answered, sizeof(good) / sizeof(good[0]) - 2, sizeof(good) / sizeof(good[0]));
	session_close(session);
	strbuf_deinit(&dump);
}

TEST(refused)
{
	struct strbuf dump = random_dump(3);
	struct session *session = open_dump(&dump);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct strbuf text = {0};
		struct error *err = ask(session, &bad[i].asked, &text);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		if (strncmp(err->message, bad[i].error, strlen(bad[i].error)) != 0)
			fail_msg("'%s' does not begin with '%s'", err->message, bad[i].error);
		error_destroy(err);
		expect_same(session, &dump, &good[i]);
	}
	session_close(session);
	strbuf_deinit(&dump);
}

static struct comparison *open_comparison(const char *old_path, const char *new_path)
{
	struct comparison_sides sides = {.old_side = {{old_path}, 1}, .new_side = {{new_path}, 1}};
	struct question question = question_default();
	struct comparison *comparison = NULL;

	question.is_difference = true;
	assert_null(question_settle(&question));
	assert_null(comparison_open(&sides, &question, &comparison));
	question_deinit(&question);
	return comparison;
}

/* Two sides that are asked often answer as fresh ones would, and refuse what one recording has. */
TEST(compared_often)
{
	static const struct asked questions[] = {{{{NULL}}}, {{{"view", "tree"}}},
		{{{"view", "graph"}, {"format", "csv"}}}, {{{"view", "stats"}}},
		{{{"focus", "f[12]"}, {"view", "callers"}}}, {{{"format", "json"}}}};
	char *folder = scratch_create();
	struct strbuf paths[2] = {{0}, {0}};

	for (uint64_t k = 0; k < 2; k++) {
		struct strbuf dump = random_dump(3 + k);

		strbuf_printf(&paths[k], "%s/%d.dump", folder, (int)k);
		FILE *file = fopen(paths[k].data, "w");

		assert_non_null(file);
		assert_int_equal(fwrite(dump.data, 1, dump.size, file), dump.size);
		fclose(file);
		strbuf_deinit(&dump);
	}
	struct comparison *often = open_comparison(paths[0].data, paths[1].data);

	for (size_t i = 0; i < 2 * sizeof(questions) / sizeof(questions[0]); i++) {
		const struct asked *asked =
			&questions[i * 5 % (sizeof(questions) / sizeof(questions[0]))];
		struct comparison *fresh = open_comparison(paths[0].data, paths[1].data);
		struct strbuf text = {0}, expected = {0};
		struct error *err = ask_either(NULL, often, asked, &text),
			     *expected_err = ask_either(NULL, fresh, asked, &expected);

		assert_int_equal(err != NULL, asked == &questions[3]);
		assert_int_equal(expected_err != NULL, asked == &questions[3]);
		assert_true(str_equal(strbuf_str(&text), strbuf_str(&expected)));
		error_destroy(err);
		error_destroy(expected_err);
		strbuf_deinit(&text);
		strbuf_deinit(&expected);
		comparison_close(fresh);
	}
	comparison_close(often);
	strbuf_deinit(&paths[0]);
	strbuf_deinit(&paths[1]);
	scratch_destroy(folder);
}

/* A question may be changed and settled again. */
TEST(asked_again)
{
	static const struct asked both = {{{"focus", "f1"}, {"format", "json"}, {"view", "tree"}}};
	struct strbuf dump = random_dump(3), expected = {0};
	struct session *session = open_dump(&dump);
	struct question question = question_default();
	struct answer *answer;
	struct sink sink;

	assert_null(question_put(&question, "focus", "f1"));
	assert_null(question_settle(&question));
	assert_null(session_ask(session, &question, &answer));
	answer_destroy(answer);
	assert_null(question_put(&question, "format", "json"));
	assert_null(question_put(&question, "view", "tree"));
	assert_null(question_settle(&question));
	assert_null(session_ask(session, &question, &answer));
	sink_init_memory(&sink);
	answer_draw(answer, &(struct text_style){0}, &sink);
	assert_null(ask(session, &both, &expected));
	assert_true(str_equal(strbuf_str(&sink.text), strbuf_str(&expected)));
	strbuf_deinit(&expected);
	strbuf_deinit(&sink.text);
	answer_destroy(answer);
	question_deinit(&question);
	session_close(session);
	strbuf_deinit(&dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked_often),
		cmocka_unit_test(asked_of_parts),
		cmocka_unit_test(every_question_is_answered),
		cmocka_unit_test(refused),
		cmocka_unit_test(compared_often),
		cmocka_unit_test(asked_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
