/*
 * callgrind files: what the format's manual has an example of, each way to write a line, damage,
 * what other writers do; and profiles that are written and read again.
 */

#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "analysis/functions.h"
#include "formats/readers.h"
#include "formats/writers.h"

static struct error *try_read(const char *text, struct profile **p)
{
	struct reader_input input = {
		.name = "test.out", .data = (const uint8_t *)text, .size = strlen(text)};

	return profile_read_bytes(&input, NULL, p);
}

static struct strbuf dump_of(const struct profile *p)
{
	struct writer_options options = {.metric = p->default_metric};

	return writer_text(&writer_dump, p, &options);
}

/* Lines that have much behind them may be read in another way, and become the same. */
static void check_in_a_long_file(const char *text, const struct profile *p)
{
	struct strbuf all = {0}, dump = dump_of(p);
	struct profile *q = NULL;

	strbuf_add(&all, str_from(text));
	for (int i = 0; i < 400; i++)
		strbuf_add(&all, STR("# nothing\n"));
	struct error *err = try_read(all.data, &q);
	if (err)
		fail_msg("%s", err->message);
	struct strbuf again = dump_of(q);
	assert_string_equal(again.data, dump.data);
	strbuf_deinit(&all);
	strbuf_deinit(&dump);
	strbuf_deinit(&again);
	profile_destroy(q);
}

static struct profile *read_text(const char *text)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, &p);

	if (err)
		fail_msg("%s", err->message);
	if (strlen(text) < 4096 && text[strlen(text) - 1] == '\n')
		check_in_a_long_file(text, p);
	return p;
}

static bool has_note(const struct profile *p, enum note_kind kind, const char *part)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind &&
			strstr(profile_string(p, p->notes[i].text).data, part))
			return true;
	return false;
}

static bool is_named(const struct profile *p, function_id f, const char *name)
{
	return f.i != NO_ID && str_equal(profile_string(p, p->functions[f.i].name), str_from(name));
}

/* The exclusive weight of a function, all of that name. */
static int64_t own(const struct profile *p, const char *name, size_t metric)
{
	int64_t sum = 0;

	for (uint32_t i = 1; i < p->stack_count; i++)
		if (is_named(p, p->frames[p->stack_frame[i].i].function, name))
			sum += profile_weight(p, metric, i);
	return sum;
}

static int64_t cost(const struct profile *p, const char *from, const char *to, uint64_t calls)
{
	for (size_t i = 0; i < p->arc_count; i++)
		if (is_named(p, p->arcs[i].caller, from) && is_named(p, p->arcs[i].callee, to)) {
			assert_int_equal(p->arcs[i].calls, calls);
			return p->arc_cost[0][i];
		}
	fail_msg("no call from %s to %s", from, to);
	return 0;
}

static void check_example(const char *text)
{
	struct profile *p = read_text(text);

	assert_false(p->has_stacks);
	assert_int_equal(p->total[0], 820);
	assert_int_equal(p->note_count, 0);
	assert_int_equal(own(p, "main", 0), 20);
	assert_int_equal(own(p, "func1", 0), 100);
	assert_int_equal(own(p, "func2", 0), 700);
	assert_int_equal(cost(p, "main", "func1", 1), 400);
	assert_int_equal(cost(p, "main", "func2", 3), 400);
	assert_int_equal(cost(p, "func1", "func2", 2), 300);
	profile_destroy(p);
}

/* The same costs, written in each of the ways that there are. */
TEST(the_manuals_example)
{
	check_example("events: Instructions\n\nfl=file1.c\nfn=main\n16 20\ncfn=func1\n"
		      "calls=1 50\n16 400\ncfi=file2.c\ncfn=func2\ncalls=3 20\n16 400\n\n"
		      "fn=func1\n51 100\ncfi=file2.c\ncfn=func2\ncalls=2 20\n51 300\n\n"
		      "fl=file2.c\nfn=func2\n20 700\n");
	check_example("events: Instructions\nfl=(1) file1.c\nfn=(1) main\n16 20\n"
		      "cfn=(2) func1\ncalls=1 50\n16 400\ncfi=(2) file2.c\ncfn=(3) func2\n"
		      "calls=3 20\n16 400\nfn=(2)\n51 100\ncfi=(2)\ncfn=(3)\ncalls=2 20\n"
		      "51 300\nfl=(2)\nfn=(3)\n20 700\n");
	check_example("# callgrind format\r\nversion: 1\r\npositions: line\r\n"
		      "events: Instructions\r\nsummary: 820\r\nfl=(1) file1.c\r\n"
		      "fn=(1) main\r\n+16 20\r\ncfn=(2) func1\r\ncalls=1 +34\r\n* 400\r\n"
		      "cfl=(2) file2.c\r\ncfn=(3) func2\r\ncalls=3 20\r\n* 400\r\njump=3 20\r\n"
		      "*\r\nfn=(2)\r\n+35 100\r\ncfi=(2)\r\ncfn=(3)\r\ncalls=2 20\r\n* 300\r\n"
		      "fl=(2)\r\nfn=(3)\r\n-31 700\r\ntotals: 820\r\n");
}

TEST(places_are_where_code_was_inlined)
{
	struct profile *p = read_text(
		"positions: instr line\nevents: Ir Dr\nob=(1) /bin/a\nfl=(1) a.c\nfn=(1) f\n"
		"0x10 3 1 1\nfi=(2) b.h\n+4 7 2\nfe=(1)\n+0x4 4 3\nfn=(2) g\n0x20 9 4\n");

	assert_int_equal(p->metric_count, 2);
	assert_int_equal(p->total[0], 10);
	assert_int_equal(p->total[1], 1);
	assert_int_equal(p->frame_count, 4);
	assert_true(str_equal(profile_string(p, p->frames[1].file), STR("b.h")));
	assert_int_equal(p->frames[1].obj_addr, 0x14);
	assert_int_equal(p->frames[1].line, 7);
	assert_true(str_equal(profile_string(p, p->frames[2].file), STR("a.c")));
	assert_int_equal(p->frames[2].obj_addr, 0x18);
	assert_true(str_equal(profile_string(p, p->functions[1].file), STR("a.c")));
	assert_true(str_equal(profile_module(p, p->functions[1].object), STR("a")));
	profile_destroy(p);
}

#define PLACES 400

/* Lines of costs in any order; sum[function][file][line] of them, one for each line. */
static void random_places(struct random *r, struct strbuf *text, int64_t sum[3][2][PLACES])
{
	uint32_t function = 0, file = 0, line = 0;

	strbuf_add(text, STR("events: A\n"));
	for (int i = 0; i < PLACES; i++) {
		if (i == 0 || random_below(r, 12) == 0) {
			function = (uint32_t)random_below(r, 3);
			file = 0;
			strbuf_printf(text, "fl=file0\nfn=f%u\n", function);
		}
		if (random_below(r, 8) == 0) {
			file = (uint32_t)random_below(r, 2);
			strbuf_printf(text, "fi=file%u\n", file);
		}
		line = random_below(r, 6) ? line + 1 : (uint32_t)random_below(r, PLACES);
		line %= PLACES;
		strbuf_printf(text, "%u %d\n", line, i + 1);
		sum[function][file][line] += i + 1;
	}
}

/* Takes what the profile's places have off the sums; each place is there once. */
static void take_places(const struct profile *p, int64_t sum[3][2][PLACES])
{
	for (uint32_t i = 1; i < p->stack_count; i++) {
		const struct frame *f = &p->frames[p->stack_frame[i].i];
		struct str name = profile_string(p, p->functions[f->function.i].name);
		struct str file = profile_string(p, f->file);
		int64_t *left = &sum[name.data[1] - '0'][file.data[4] - '0'][f->line];

		assert_true(*left > 0);
		assert_int_equal(profile_weight(p, 0, i), *left);
		*left = 0;
	}
}

TEST(places_are_found_in_any_order)
{
	static int64_t sum[3][2][PLACES];

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct random r = random_from(seed);
		struct strbuf text = {0};

		memset(sum, 0, sizeof(sum));
		random_places(&r, &text, sum);
		struct profile *p = read_text(text.data);
		take_places(p, sum);
		for (size_t i = 0; i < sizeof(sum) / sizeof(int64_t); i++)
			assert_int_equal((&sum[0][0][0])[i], 0);
		profile_destroy(p);
		strbuf_deinit(&text);
	}
}

TEST(ids_are_of_three_spaces)
{
	struct profile *p = read_text("events: Ir\nob=(1) /lib/o\nfl=(1) file\nfn=(1) f\n1 1\n"
				      "cob=(2) ???\ncfi=(2) ???\ncfn=(2) ???\ncalls=1 1\n1 5\n"
				      "cfn=(1)\ncalls=2 1\n1 6\nfn=(9)\n1 1\n");

	assert_int_equal(cost(p, "f", "[unknown]", 1), 5);
	/* The callee's object and file are the caller's again. */
	assert_int_equal(cost(p, "f", "f", 2), 6);
	assert_true(has_note(p, NOTE_BAD_RECORD, "no earlier line defines"));
	profile_destroy(p);
}

/* What lines are put together from, those that are ordinary several times. */
static const char *const positions[] = {"1", "12", "+3", "+1", "+1", "-2", "*", "*", "0x10", "0xg",
	"+0x4", "99999999", "12345678901", "18446744073709551615", "+", "-", "", "x"};
static const char *const numbers[] = {" 1", " 5", " 70", " 12345678", " 123456789", " 0",
	" 0000000123456789", " 00000000012345678", "  3", "\t4", " +2", " -1", " *", " 1.5",
	" 0x1f", " x", "5", ""};
static const char *const ends[] = {"\n", "\n", "\n", "\n", "\n", " \n", "\r\n", "x\n"};
static const char *const others[] = {"fn=(1) f\n", "fn=(1)\n", "fn=(2)\n", "fn=(2) g\n",
	"cfn=(1)\n", "cfn=(2)\n", "cfn=(77)\n", "cfn=(2) h\n", "cfn=(2)\r\n", "cfn=(2\n",
	"fi=(3)\n", "fi=(3) a.h\n", "fe=(1)\n", "fl=(1) a.c\n", "cob=(1)\n", "ob=(1) lib\n",
	"cfi=x\n", "fx=(1)\n", "f=(1)\n", "=(1)\n", "calls=3 20\n", "calls=3 20\n", "calls=1 0 \n",
	"calls=7\n", "calls=1 +3 0x4\n", "calls= 4 4\n", "calls=x\n", "calls=12345678901234567 1\n",
	"jump=1 2\n", "\n", "# x\n", "positions: line\n", "positions: instr line\n",
	"events: A B\n", "events: B\n", "part: 2\n", "totals: 5 6\n"};

#define ANY(r, list) ((list)[random_below((r), ARRAY_SIZE(list))])

TEST(every_kind_of_line_is_read_alike)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct random r = random_from(seed);
		struct strbuf text = {0};

		strbuf_add(&text, STR("events: A B C\nfl=(1) a\nfn=(1) f\n1 1\n"));
		while (text.size < 1500) {
			if (random_below(&r, 3) == 0) {
				strbuf_add(&text, str_from(ANY(&r, others)));
				continue;
			}
			strbuf_add(&text, str_from(ANY(&r, positions)));
			for (size_t i = random_below(&r, 5); i > 0; i--)
				strbuf_add(&text, str_from(ANY(&r, numbers)));
			strbuf_add(&text, str_from(ANY(&r, ends)));
		}
		/* Most lines must be good. */
		for (int i = 0; i < 300; i++)
			strbuf_add(&text, STR("1 1\n"));
		/* read_text reads it in both ways, and compares. */
		profile_destroy(read_text(text.data));
		strbuf_deinit(&text);
	}
}

TEST(mostly_malformed_texts_are_refused)
{
	struct profile *p = read_text("events: Ir\nfn=f\n1 5\n1 x\n2 y\n3 z\n");
	struct profile *none = NULL;

	assert_int_equal(p->total[0], 5);
	assert_true(has_note(p, NOTE_BAD_RECORD, "lines 4, 5, 6"));
	profile_destroy(p);
	expect_refusal_of(try_read("events: Ir\nfn=f\n1 5\n1 x\n2 y\n3 z\nodd\n", &none),
		ERROR_INPUT, "line 4 is malformed, as are 4 of its 7 lines: not a callgrind file");
	assert_null(none);
}

TEST(units_and_formulas_make_metrics)
{
	struct profile *p =
		read_text("creator: xdebug 3\nevent: Both = Time_ + 2\n"
			  "event: CEst = Ir + 10 L1m : Estimation\nevent: sysTime : (elapsed us)\n"
			  "events: Ir L1m Time_(10ns) sysTime\nfn=f\n1 5 2 3 4\n2 1 0 -2\n");

	assert_int_equal(p->metric_count, 5);
	assert_true(str_equal(profile_string(p, p->metrics[2].name), STR("Time")));
	assert_true(str_equal(profile_string(p, p->metrics[2].unit), STR("ns")));
	assert_int_equal(p->total[2], 10);
	assert_int_equal(p->total[3], 4000);
	assert_int_equal(p->total[4], 26);
	assert_true(has_note(p, NOTE_BAD_RECORD, "a formula of an event"));
	profile_destroy(p);
}

TEST(parts_are_summed_and_checked)
{
	struct profile *p = read_text("version: 1\npart: 1\nthread: 1\nevents: Ir\nsummary: 3\n"
				      "fn=f\n1 3\ntotals: 3\npart: 1\nthread: 2\nevents: Ir\n"
				      "summary: 5\nfn=f\n1 4\ntotals: 5\n");

	assert_int_equal(p->total[0], 7);
	assert_true(has_note(p, NOTE_INFO, "all parts and threads"));
	assert_true(has_note(p, NOTE_INFO, "a total in the file differs"));
	profile_destroy(p);
}

TEST(functions_without_names_have_modules)
{
	struct profile *p =
		read_text("events: Ir\nob=(1) /lib/a.so\nfn=(1) 0x0000000000001050\n1 2\n"
			  "cob=(2) /lib/b.so\ncfn=(2) 0x0000000000000000'2\ncalls=1 1\n"
			  "1 5\ncob=(3) ???\ncfn=(3) 0x0000000004838030\ncalls=2 1\n1 6\n"
			  "cfn=(4) 0x1050\ncalls=3 1\n1 7\ncfn=(1)\ncalls=4 1\n1 8\n");

	assert_int_equal(own(p, "[a.so+0x1050]", 0), 2);
	assert_int_equal(cost(p, "[a.so+0x1050]", "[b.so+0x0]'2", 1), 5);
	/* An address in no load object, and what is no address, but somebody's name. */
	assert_int_equal(cost(p, "[a.so+0x1050]", "0x0000000004838030", 2), 6);
	assert_int_equal(cost(p, "[a.so+0x1050]", "0x1050", 3), 7);
	assert_int_equal(cost(p, "[a.so+0x1050]", "[a.so+0x1050]", 4), 8);
	profile_destroy(p);
}

/* Of calls that cost more than all there is. */
TEST(what_is_above_the_total_is_counted)
{
	struct profile *p = read_text("events: Ir\nfn=f\n1 10\ncfn=g\ncalls=1 1\n1 30\n"
				      "fn=g\n1 10\n");
	struct arena *arena = arena_create();
	const struct functions *f =
		functions_analyse(entity_tree_of(p, LEVEL_FUNCTION, (metric_id){0}, arena), arena);

	assert_int_equal(f->count, 2);
	assert_int_equal(f->above_count, 1);
	arena_destroy(arena);
	profile_destroy(p);
}

TEST(pprofs_weights_are_no_calls)
{
	struct profile *p = read_text("positions: instr line\nevents: cpu(ms)\nob=(1) x\n"
				      "fl=(1) a.go\nfn=(1) f\n0x10 7 30\ncfn=(2) g\n"
				      "calls=4 0x20 9\n* * 4\n");

	assert_int_equal(p->total[0], 30000000);
	assert_int_equal(cost(p, "f", "g", 0), 4000000);
	profile_destroy(p);
}

TEST(bad_lines_are_told)
{
	struct profile *p = read_text("events: Ir\nfn=f\n1 5\n1 x\n1 5 6\nwhat\n+ 1\ncalls=\n"
				      "-2 1\ncalls=1 1\nfn=g\n1 1.5\n2 1\ncalls=1 1");

	assert_int_equal(p->total[0], 8);
	assert_true(has_note(p, NOTE_BAD_RECORD, "skipped: lines 4, 5, 6, 7, 8, 9, 11"));
	assert_true(has_note(p, NOTE_GUESSED, "fraction"));
	assert_true(has_note(p, NOTE_INCOMPLETE, "ends within a line"));
	profile_destroy(p);
}

TEST(files_of_nothing_are_errors)
{
	static const char *const files[][2] = {
		{"# callgrind format\nfn=f\n1 1\n", "no 'events:' line"},
		{"events: Ir\nfn=f\nx\n", "no valid cost line (the first malformed line is 3)"},
		{"events: Ir\nfn=f\n1 9223372036854775807\n1 1\n", "exceeds 64 bits"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct profile *p = NULL;
		struct error *err = try_read(files[i][0], &p);

		assert_non_null(err);
		assert_non_null(strstr(err->message, "test.out: "));
		if (strstr(err->message, files[i][1]) == NULL)
			fail_msg("%s", err->message);
		error_destroy(err);
	}
}

/* Lines with a new place each, of as little text as can be. */
TEST(memory_is_bounded)
{
	const size_t lines = (size_t)1 << 20;
	struct strbuf text = {0};

	strbuf_add(&text, STR("events: Ir\nfn=f\n"));
	for (size_t i = 0; i < lines; i++)
		strbuf_add(&text, STR("+1 1\n"));
	struct profile *p = read_text(text.data);
	assert_int_equal(p->total[0], lines);
	assert_true(p->stack_count < lines / 4);
	assert_true(has_note(p, NOTE_BAD_RECORD, "are added to their functions"));
	profile_destroy(p);
	strbuf_deinit(&text);
}

/* ---- written and read again ---- */

static struct profile *again(const struct profile *p)
{
	struct writer_options options = {.metric = p->default_metric};
	struct strbuf text = writer_text(&writer_callgrind, p, &options);
	struct profile *q = NULL;

	struct reader_input input = {
		.name = "again", .data = (const uint8_t *)text.data, .size = text.size};
	struct error *err = profile_read_bytes(&input, "callgrind", &q);
	if (err)
		fail_msg("%s", err->message);
	strbuf_deinit(&text);
	return q;
}

/* Inclusive weights of functions that are bounds of nothing are what they were. */
static void check_functions(const struct profile *p, const struct profile *q)
{
	struct arena *arena = arena_create();
	struct functions *a = functions_analyse(
		entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena), arena);
	struct functions *b =
		functions_analyse(entity_tree_of(q, LEVEL_FUNCTION, (metric_id){0}, arena), arena);

	for (size_t i = 0; i < b->count; i++) {
		const struct entity *e = &b->tree->entities[b->rows[i].entity];
		bool found = false;

		for (size_t k = 0; k < a->count && !found; k++) {
			const struct entity *other = &a->tree->entities[a->rows[k].entity];

			if (!str_equal(e->name, other->name))
				continue;
			found = true;
			assert_int_equal(b->rows[i].exclusive, a->rows[k].exclusive);
			if (b->rows[i].is_bound)
				assert_true(b->rows[i].inclusive >= a->rows[k].inclusive);
			else
				assert_int_equal(b->rows[i].inclusive, a->rows[k].inclusive);
		}
		assert_true(found || str_equal(e->name, STR("[unknown]")));
	}
	arena_destroy(arena);
}

TEST(profiles_come_back)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);

		shape.negative = shape.hostile = shape.zones = false;
		/* So that no two functions share a name. */
		shape.functions = 1 + shape.functions % 6;
		struct profile *p = random_profile(seed, &shape), *q = again(p);

		assert_int_equal(q->metric_count, p->metric_count);
		assert_int_equal(q->total[0], p->total[p->default_metric.i]);
		check_functions(p, q);
		profile_destroy(p);
		profile_destroy(q);
	}
}

TEST(costs_come_back)
{
	struct profile *p =
		read_text("positions: instr line\nevents: Ir Dr\nob=/bin/a\nfl=a.c\nfn=f\n"
			  "0x10 3 1 1\ncob=/lib/l\ncfi=l.c\ncfn=g\ncalls=3 0x4 9\n"
			  "0x14 4 40 2\nob=/lib/l\nfl=l.c\nfn=g\nfi=l.h\n0x4 9 40 2\n");
	struct profile *q = again(p);

	assert_int_equal(q->total[1], p->total[1]);
	assert_int_equal(cost(q, "f", "g", 3), 40);
	assert_int_equal(q->frames[0].obj_addr, 0x10);
	assert_true(str_equal(profile_string(q, q->frames[1].file), STR("l.h")));
	profile_destroy(p);
	profile_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manuals_example),
		cmocka_unit_test(places_are_where_code_was_inlined),
		cmocka_unit_test(places_are_found_in_any_order),
		cmocka_unit_test(ids_are_of_three_spaces),
		cmocka_unit_test(every_kind_of_line_is_read_alike),
		cmocka_unit_test(mostly_malformed_texts_are_refused),
		cmocka_unit_test(units_and_formulas_make_metrics),
		cmocka_unit_test(parts_are_summed_and_checked),
		cmocka_unit_test(functions_without_names_have_modules),
		cmocka_unit_test(what_is_above_the_total_is_counted),
		cmocka_unit_test(pprofs_weights_are_no_calls),
		cmocka_unit_test(bad_lines_are_told),
		cmocka_unit_test(files_of_nothing_are_errors),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(profiles_come_back),
		cmocka_unit_test(costs_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
