/*
 * WHEN: the examples of its definition, patterns in error, random patterns on random stacks against
 * a plain implementation, and that no pattern takes long or much memory.
 */
#include <stdlib.h>
#include <time.h>

#include "../random_profile.h"
#include "../slow/slow_when.h"
#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/when_pattern.h"
#include "base/alloc.h"

static struct when *compile(const char *pattern)
{
	struct when *when;
	struct error *err = when_compile(str_from(pattern), WHEN_OBJECTS, &when);

	if (err)
		fail_msg("%s: %s\n%s", pattern, err->message, err->detail);
	return when;
}

/* The parents of all stacks, each shown as it is. */
struct stacks {
	uint32_t *parent, *shown;
};

static struct stacks stacks_of(const struct profile *p)
{
	struct stacks s = {xcalloc(p->stack_count, sizeof(uint32_t)),
		xcalloc(p->stack_count, sizeof(uint32_t))};

	for (uint32_t i = 0; i < p->stack_count; i++) {
		s.parent[i] = profile_stack_parent(p, i);
		s.shown[i] = i;
	}
	s.parent[0] = NO_ID;
	return s;
}

static void stacks_free(struct stacks s)
{
	free(s.parent);
	free(s.shown);
}

static uint32_t depth_of(const uint32_t *parent, uint32_t stack)
{
	uint32_t depth = 0;

	for (; stack > 0; stack = parent[stack])
		depth++;
	return depth;
}

static uint32_t leaf_of(const struct profile *p)
{
	uint32_t leaf = 0;

	for (uint32_t i = 0; i < p->stack_count; i++)
		if (profile_samples(p, i) > 0)
			leaf = i;
	return leaf;
}

/* How many frames of the one stack are left; -1 unmatched, -2 spontaneous. */
static int charged(const struct profile *p, const char *pattern)
{
	struct when *when = compile(pattern);
	struct stacks s = stacks_of(p);

	when_apply(when, p, s.parent, s.shown);
	uint32_t shown = s.shown[leaf_of(p)];
	int result = shown == SHOWN_UNMATCHED	  ? -1
		     : shown == SHOWN_SPONTANEOUS ? -2
						  : (int)depth_of(s.parent, shown);

	stacks_free(s);
	when_destroy(when);
	return result;
}

static void expect(const char *stack, const char *pattern, int expected)
{
	char *line = xasprintf("%s 1", stack);
	struct profile *p = text_profile(line);
	int actual = charged(p, pattern);

	if (actual != expected)
		fail_msg("'%s' when '%s': %d, not %d", stack, pattern, actual, expected);
	profile_destroy(p);
	free(line);
}

TEST(test_ends)
{
	expect("main f g", ".g", 3);
	expect("main f g", ".f", -1);
	expect("main f g", ".f->*", 3);
	expect("main f g", ".f->.g", 3);
	expect("main f g", ".main->.g", -1);
	expect("main f g", ".main->*->.g", 3);
	expect("main f g", ".main->*->.f->*->.g", 3);
	expect("main f g", "*", 3);
	expect("main f g", ".a|.g", 3);
	expect("main f g", ".main->(.a|.f)->.g", 3);
	expect("main f g", "( .main -> . f\t|.x)->\n'g' ", -1);
	expect("main f g", "( .main -> . f\t|.x)->\n.'g' ", 3);
	expect("main f g", ".f->.g;", 3);
	expect("main f g", ".f->* ; ", 3);
	expect("main f g", "(.a|.g);", 3);
	expect("main f g;", ".'g;'", 3);
}

TEST(test_names)
{
	expect("a:Main libc.so.6:malloc", ".MALLOC", 2);
	expect("a:Main libc.so.6:malloc", ".'MALLOC'", -1);
	expect("a:Main libc.so.6:malloc", "'libc.so.6'.malloc", 2);
	expect("a:Main libc.so.6:malloc", "'LIBC.so.6'.malloc", -1);
	expect("a:Main libc.so.6:malloc", "A->'libc.so.6'", 2);
	expect("a:Main libc.so.6:malloc", "A.main->*", 2);
	expect("a:it's", "a.'it''s'", 1);
	expect("a:operator(new)", ".'operator(new)'", 1);
	expect("bare", "'[unknown]'.bare", 1);
	expect("bare", "'[Unknown]'", -1);
}

TEST(test_runs)
{
	expect("m:a m:b n:c", "m", -1);
	expect("m:a m:b n:c", "m->n", 3);
	expect("m:a m:b n:c", ":m->n", -2);
	expect("x:y m:a m:b n:c", ":m->n", 1);
	expect("x:y m:a m:b n:c", "m:->n", 3);
	expect("x:y m:a m:b n:c n:d n:e", "m->:n", 3);
	expect("x:y m:a m:b n:c n:d n:e", "m->n:", 6);
	/* Shortest: the first run takes one frame, and leaves the other two to the second. */
	expect("m:a m:b m:c", "m:->m", 1);
	expect("m:a m:b m:c", "m:->*", 1);
	expect("m:a m:b m:c", "m->.b:->*", 2);
}

TEST(test_colons)
{
	expect("main f g h", ".f:->*", 2);
	expect("main f g h", ":.f->*", 1);
	expect("main f g h", ":.f:->*", 1);
	expect("main f g h", ":.main->*", -2);
	expect("main f g h", ".main:->*", 1);
	expect("main f g h", ".f->.g:->.h:", 3);
	expect("main f g h", ".h:", 4);
	expect("main f g h", ":.h", 3);
	/* Those of alternatives that are not taken do nothing. */
	expect("main f g h", "(.x:|.f)->*", 4);
	expect("main f g h", "(.f|.f:)->*", 4);
	expect("main f g h", "(.f:|.f)->*", 2);
}

TEST(test_priorities)
{
	/* Outermost: what the inner f called is not charged to it. */
	expect("main f g f h", ".f:->*", 2);
	expect("main f g f h", ".f:->.h", 4);
	expect("main f g f h", "*->.f:->*", 2);
	/* A later choice, the left one, outranks where the thread begins. */
	expect("f f g", "(.x|.f:)->*->(.g|.h)", 1);
	expect("f f g f h", ".f:->(.h|.g->*)", 4);
	expect("f f g f h", ".f:->(.g->*|.h)", 2);
	expect("f x f y f", ".f:->*->(.y->*|*)", 1);
	/* The left alternative of the first choice outranks all of the second. */
	expect("f g g", "(.g:|.f:)->(.x|*)", 2);
}

TEST(test_empty_stack)
{
	static const char *const patterns[] = {"*", "*->*", ".x|*", ".x", ".x->*", "x", NULL};
	struct profile *p = text_profile("main 1\n");

	for (size_t i = 0; patterns[i]; i++) {
		struct stacks s = stacks_of(p);
		struct when *when = compile(patterns[i]);

		s.shown[1] = SHOWN_SPONTANEOUS;
		when_apply(when, p, s.parent, s.shown);
		/* Nothing ends at the empty stack itself. */
		assert_int_equal(s.shown[0], SHOWN_UNMATCHED);
		assert_int_equal(s.shown[1], i < 3 ? SHOWN_SPONTANEOUS : SHOWN_UNMATCHED);
		when_destroy(when);
		stacks_free(s);
	}
	profile_destroy(p);
}

static void expect_error(const char *pattern, const char *message, const char *detail)
{
	struct when *when;
	struct error *err = when_compile(str_from(pattern), WHEN_OBJECTS, &when);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_string_equal(err->message, message);
	assert_string_equal(err->detail, detail);
	error_destroy(err);
}

#define MISSING "a name, '*' or '(' is missing"
#define BEHIND	"nothing may follow the ';' at the end of a pattern"
#define QUOTING "names with other than letters, digits, '_' and '$' are quoted, as in 'libc.so.6'"

TEST(test_errors)
{
	expect_error("", MISSING, "\n^");
	expect_error("a -> -> b", MISSING, "a -> -> b\n     ^");
	expect_error("a|", MISSING, "a|\n  ^");
	expect_error("a->(b|)", MISSING, "a->(b|)\n      ^");
	expect_error("a->(b|c", "the '(' has no ')'", "a->(b|c\n   ^");
	expect_error("a)->b", "the ')' has no '('", "a)->b\n ^");
	expect_error("a.'b", "the quote has no end", "a.'b\n  ^");
	expect_error("'a''", "the quote has no end", "'a''\n^");
	expect_error("''", "the name is empty", "''\n^");
	expect_error("a.", "the name of a procedure is missing", "a.\n  ^");
	expect_error(":->a", "a name is missing", ":->a\n ^");
	expect_error("a b", "'->' or '|' is missing", "a b\n  ^");
	expect_error("(a):", "a ':' must be next to a name", "(a):\n   ^");
	expect_error("*:->a", "a ':' must be next to a name", "*:->a\n ^");
	expect_error("a->:(b)", "a ':' must be next to a name", "a->:(b)\n   ^");
	expect_error("libc.so.6", "one ':' or '.' too many; " QUOTING, "libc.so.6\n       ^");
	expect_error("std::sort", "one ':' or '.' too many; " QUOTING, "std::sort\n    ^");
	expect_error("ld-linux", "no part of a name; " QUOTING, "ld-linux\n  ^");
	expect_error("<a>", "no name begins so; " QUOTING, "<a>\n^");
	expect_error(";", MISSING, ";\n^");
	expect_error("a->;", MISSING, "a->;\n   ^");
	expect_error("a; b", BEHIND, "a; b\n   ^");
	expect_error("a;;", BEHIND, "a;;\n  ^");
	expect_error("(a;)", "the '(' has no ')'", "(a;)\n^");
}

/* What is shown of a pattern is fit to show, and the caret below the right place of that. */
TEST(test_errors_escape)
{
	expect_error("'\x1b' b", "'->' or '|' is missing", "'\\x1b' b\n       ^");
	expect_error("'\xc3\xa9' b", "'->' or '|' is missing", "'\xc3\xa9' b\n    ^");
}

/* A pattern that says `piece` count times. */
static char *repeated(const char *piece, size_t count, const char *last)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < count; i++)
		strbuf_add(&text, str_from(piece));
	strbuf_add(&text, str_from(last));
	return text.data;
}

TEST(test_bounds)
{
	char *names = repeated("a|", WHEN_NAMES_MAX, "a");
	char *nested = repeated("(", WHEN_NESTING_MAX, "a");
	struct when *when;
	struct error *err = when_compile(str_from(names), WHEN_OBJECTS, &when);

	assert_string_equal(err->message, "the pattern has more than 1000 names");
	error_destroy(err);
	err = when_compile(str_from(nested), WHEN_OBJECTS, &when);
	assert_string_equal(err->message, "parentheses are nested more than 100 deep");
	error_destroy(err);
	free(names);
	free(nested);
}

TEST(test_sources)
{
	struct builder *b = builder_create();
	struct profile *p;
	struct when *when;
	int64_t weight = 1;

	(void)builder_metric(b, STR("samples"), STR("count"));
	string_id file = builder_string(b, STR("/src/deep/Eval.c"));
	function_id f =
		builder_function(b, builder_string(b, STR("run")), (object_id){NO_ID}, file, 3);
	frame_id frame = builder_frame(b, f, file, 4, false, 0);
	builder_weight(b, builder_stack(b, (stack_id){0}, frame), &weight, 1);
	assert_null(builder_finish(b, &p));
	assert_null(when_compile(STR("'Eval.c'.run"), WHEN_SOURCES, &when));
	struct stacks s = stacks_of(p);
	when_apply(when, p, s.parent, s.shown);
	assert_int_equal(s.shown[1], 1);
	stacks_free(s);
	when_destroy(when);
	profile_destroy(p);
}

/* Appends a random pattern over modules m, n and procedures a, b. */
static void random_pattern(struct random *r, struct strbuf *out, int depth)
{
	uint32_t alternatives = random_below(r, 4) == 0 ? 2 : 1;

	for (uint32_t a = 0; a <= alternatives - 1; a++) {
		uint32_t primaries = 1 + random_below(r, 3);
		strbuf_add(out, str_from(a ? "|" : ""));
		for (uint32_t i = 0; i < primaries; i++) {
			uint32_t kind = random_below(r, 10);
			strbuf_add(out, str_from(i ? "->" : ""));
			if (kind < 3 && depth > 0) {
				strbuf_add_char(out, '(');
				random_pattern(r, out, depth - 1);
				strbuf_add(out, str_from("|"));
				random_pattern(r, out, depth - 1);
				strbuf_add_char(out, ')');
			} else if (kind < 5) {
				strbuf_add_char(out, '*');
			} else {
				strbuf_add(out, str_from(random_below(r, 4) ? "" : ":"));
				if (kind != 5)
					strbuf_add_char(out, random_below(r, 3) ? 'm' : 'n');
				if (kind < 8)
					strbuf_printf(out, ".%c", random_below(r, 3) ? 'a' : 'b');
				strbuf_add(out, str_from(random_below(r, 3) ? "" : ":"));
			}
		}
	}
}

enum { STACKS = 12, DEPTH = 9 };

static struct profile *random_stacks(struct random *r)
{
	struct strbuf text = {0};

	for (int i = 0; i < STACKS; i++) {
		uint32_t depth = random_below(r, DEPTH + 1);
		for (uint32_t k = 0; k < depth; k++)
			strbuf_printf(&text, "%c:%c ", random_below(r, 3) ? 'm' : 'n',
				random_below(r, 2) ? 'a' : 'b');
		strbuf_add(&text, STR("1\n"));
	}
	struct profile *p = text_profile(text.data);
	strbuf_deinit(&text);
	return p;
}

/* Frames of a function or none are hidden, and some stacks are shown as others, or dropped. */
static void random_filters(struct random *r, const struct profile *p, struct stacks *s)
{
	uint32_t hidden = random_below(r, 8);

	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t parent = profile_stack_parent(p, i);
		bool hides_parent =
			parent > 0 && p->frames[p->stack_frame[parent].i].function.i == hidden;
		bool hides = p->frames[p->stack_frame[i].i].function.i == hidden;

		s->parent[i] = hides_parent ? s->parent[parent] : parent;
		s->shown[i] = hides ? s->parent[i] : i;
		if (random_below(r, 10) == 0)
			s->shown[i] = random_below(r, 2) ? SHOWN_DROPPED : SHOWN_SPONTANEOUS;
		else if (random_below(r, 10) == 0)
			s->shown[i] = s->parent[i];
	}
}

static struct slow_frame frame_letters(const struct profile *p, uint32_t stack)
{
	const struct function *f = &p->functions[p->frames[p->stack_frame[stack].i].function.i];

	return (struct slow_frame){
		profile_module(p, f->object).data[0], profile_string(p, f->name).data[0]};
}

static uint32_t slow_shown(
	const struct profile *p, const uint32_t *parent, uint32_t shown, const char *pattern)
{
	struct slow_frame frames[DEPTH];
	bool spontaneous;

	if (shown == SHOWN_DROPPED || shown == SHOWN_UNMATCHED)
		return shown;
	uint32_t stack = SHOWN_IS_STACK(shown) ? shown : 0;
	uint32_t depth = depth_of(parent, stack), at = depth;
	for (uint32_t i = stack; i > 0; i = parent[i])
		frames[--at] = frame_letters(p, i);
	uint32_t left = slow_when(pattern, frames, depth, &spontaneous);
	if (left == SLOW_WHEN_UNMATCHED)
		return SHOWN_UNMATCHED;
	if (spontaneous || !SHOWN_IS_STACK(shown))
		return SHOWN_SPONTANEOUS;
	for (; depth > left; depth--)
		stack = parent[stack];
	return stack;
}

static size_t compare_with_slow(struct random *r, const char *pattern)
{
	struct profile *p = random_stacks(r);
	struct stacks s = stacks_of(p);
	struct when *when = compile(pattern);
	struct when_work work;
	size_t matched = 0;

	random_filters(r, p, &s);
	uint32_t *before = xcalloc(p->stack_count, sizeof(*before));
	memcpy(before, s.shown, p->stack_count * sizeof(*before));
	/* Half of them collect lists of choices as often as can be. */
	if (random_below(r, 2))
		when_apply(when, p, s.parent, s.shown);
	else
		when_apply_counted(when, p, s.parent, s.shown, 0, &work);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		bool has_nothing = SHOWN_IS_STACK(before[i]) && profile_row(p, i) == 0;
		uint32_t expected =
			has_nothing ? SHOWN_UNMATCHED : slow_shown(p, s.parent, before[i], pattern);

		matched += SHOWN_IS_STACK(expected);
		if (s.shown[i] != expected)
			fail_msg("%s: stack %u is %u, not %u", pattern, i, s.shown[i], expected);
	}
	free(before);
	when_destroy(when);
	stacks_free(s);
	profile_destroy(p);
	return matched;
}

TEST(test_as_defined)
{
	struct random r = random_from(17);
	size_t matched = 0, unusual = 0;
	int rounds = getenv("SONDE_LONG") ? 200000 : 6000;

	for (int round = 0; round < rounds; round++) {
		struct strbuf pattern = {0};

		random_pattern(&r, &pattern, 2);
		size_t threads = slow_when_threads(pattern.data);
		if (threads <= 300)
			matched += compare_with_slow(&r, pattern.data);
		unusual += threads > 4;
		strbuf_deinit(&pattern);
	}
	/* It would show little if hardly any matched, or had alternatives. */
	assert_true(matched > 20000);
	assert_true(unusual > 500);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_for(const struct profile *p, const char *pattern)
{
	struct when *when = compile(pattern);
	struct stacks s = stacks_of(p);
	double begin = cpu_seconds();

	when_apply(when, p, s.parent, s.shown);
	double seconds = cpu_seconds() - begin;
	stacks_free(s);
	when_destroy(when);
	return seconds;
}

static struct profile *recursion(uint32_t depth)
{
	static const char *const names[] = {"m", "m"};
	uint32_t *chain = xcalloc(depth, sizeof(*chain));
	struct profile *p;

	p = chain_profile(names, chain, depth, 1);
	free(chain);
	return p;
}

/*
 * Eight times the depth takes at most some thirty times as long, where a cost of depth squared
 * takes 64 times, and of the smallest there is little that could be measured wrongly.  Patterns of
 * 2^40 threads, and of stars and runs that can share the frames in as many ways.
 */
TEST(test_no_pattern_takes_long)
{
	static const char *const pieces[] = {
		"(*|*)->", "(.m|*)->", "*->.m->", "'[unknown]'->", "(*->(.m|*)|.m:)->"};
	struct profile *small = recursion(1 << 13), *large = recursion(1 << 16);

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		char *pattern = repeated(pieces[i], 40, ".x|.m");
		double least = seconds_for(small, pattern), most = seconds_for(large, pattern);

		print_message("%s 40 times: %.3f s, %.3f s\n", pieces[i], least, most);
		assert_true(most < least * 30 + 0.2);
		free(pattern);
	}
	profile_destroy(small);
	profile_destroy(large);
}

static struct when_work work_with(const struct profile *p, const char *pattern, size_t few_choices)
{
	struct when *when = compile(pattern);
	struct stacks s = stacks_of(p);
	struct when_work work;

	when_apply_counted(when, p, s.parent, s.shown, few_choices, &work);
	stacks_free(s);
	when_destroy(when);
	return work;
}

/* Collects lists of choices as often as can be. */
static struct when_work work_for(const struct profile *p, const char *pattern)
{
	return work_with(p, pattern, 0);
}

/* Stacks of a and b that say the same nowhere for long. */
static struct profile *letters(uint32_t stacks, uint32_t depth)
{
	struct random r = random_from(5);
	struct strbuf text = {0};

	for (uint32_t i = 0; i < stacks; i++) {
		for (uint32_t k = 0; k < depth; k++)
			strbuf_add(&text, random_below(&r, 2) ? STR("a ") : STR("b "));
		strbuf_add(&text, STR("1\n"));
	}
	struct profile *p = text_profile(text.data);
	strbuf_deinit(&text);
	return p;
}

/* A pattern that stands for 3^count threads, as many as possible alive everywhere. */
#define MANY_THREADS "(.a|.b|:.a->.b:)->"

static void expect_bounded(const char *what, struct when_work least, struct when_work most,
	size_t times_steps, size_t times_lists)
{
	print_message("%s: %zu, %zu steps; %zu, %zu lists; %zu, %zu ways\n", what, least.steps,
		most.steps, least.choices_max, most.choices_max, least.standing_max,
		most.standing_max);
	assert_true(least.steps > 10000);
	assert_true(most.steps < least.steps * times_steps * 3 / 2);
	assert_true(most.choices_max < least.choices_max * times_lists * 3 / 2);
}

/* Sixteen times the depth, or the stacks: as many times the steps, but no more lists of choices. */
TEST(test_work_grows_with_stacks)
{
	static const char *const ends[] = {".a|.b", "*", "*->.a->.b->.a->.b"};
	struct profile *p[] = {
		letters(1, 1000), letters(1, 16000), letters(10, 300), letters(160, 300)};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *pattern = repeated(MANY_THREADS, 40, ends[i]);
		struct when_work deep = work_for(p[1], pattern);

		expect_bounded("depth", work_for(p[0], pattern), deep, 16, 1);
		expect_bounded("stacks", work_for(p[2], pattern), work_for(p[3], pattern), 16, 1);
		assert_true(deep.standing_max < 200);
		free(pattern);
	}
	for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++)
		profile_destroy(p[i]);
}

/* Frames are free that are further from the leaf than the pattern is long. */
TEST(test_no_work_far_from_leaf)
{
	struct profile *small = letters(1, 300), *large = letters(1, 16000);
	char *pattern = repeated(MANY_THREADS, 40, ".a|.b");

	struct when_work least = work_with(small, pattern, 1 << 14);
	struct when_work most = work_with(large, pattern, 1 << 14);
	print_message("%zu, %zu steps\n", least.steps, most.steps);
	assert_true(least.steps > 10000);
	assert_true(most.steps < least.steps * 3 / 2);
	free(pattern);
	profile_destroy(small);
	profile_destroy(large);
}

/* Four times the pattern: comparisons that go through long lists make it sixteen times as much. */
TEST(test_work_grows_with_pattern)
{
	static const char *const pieces[] = {
		MANY_THREADS, "(*|*)->", "(.a|*)->", "(*->(.a|*)|.b:)->"};
	struct profile *p = letters(1, 3000);

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		char *few = repeated(pieces[i], 10, "*->.a"),
		     *more = repeated(pieces[i], 40, "*->.a"),
		     *many = repeated(pieces[i], 160, "*->.a");
		struct when_work least = work_for(p, few), between = work_for(p, more);

		expect_bounded(pieces[i], least, between, 16, 16);
		expect_bounded(pieces[i], between, work_for(p, many), 16, 16);
		free(few);
		free(more);
		free(many);
	}
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_colons),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_empty_stack),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_errors_escape),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_as_defined),
		cmocka_unit_test(test_no_pattern_takes_long),
		cmocka_unit_test(test_work_grows_with_stacks),
		cmocka_unit_test(test_no_work_far_from_leaf),
		cmocka_unit_test(test_work_grows_with_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
