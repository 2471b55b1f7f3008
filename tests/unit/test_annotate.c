/*
 * One function's figures by line and by instruction: the set semantics under recursion, inlined
 * calls, several metrics, against a plain slow implementation; and functions found by name.
 *
 * SEED=number in the environment runs one random profile alone.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/slow_annotate.h"
#include "../unit.h"
#include "analysis/entity_tree.h"
#include "analysis/functions.h"
#include "analysis/function_find.h"
#include "base/alloc.h"

#define ROUNDS		 600
#define ROUNDS_SANITIZED 150

static struct stack_weights weights_of(const struct profile *p)
{
	metric_id *metrics = ARENA_ARRAY(p->arena, metric_id, p->metric_count);

	for (uint32_t m = 0; m < p->metric_count; m++)
		metrics[m].i = m;
	return stack_weights_of(selection_all(p, p->arena), metrics, p->metric_count, p->arena);
}

static bool same(struct annotate_figures x, struct annotate_figures y)
{
	return x.exclusive == y.exclusive && x.inclusive == y.inclusive;
}

/* ---- random profiles ---- */

/* Instructions of 1 … 16 bytes over the addresses that random profiles have, with gaps. */
static size_t random_code(struct random *r, struct annotate_code *code, size_t most)
{
	uint64_t at = 0x1000u * (1 + random_below(r, 4)) - random_below(r, 16);
	size_t count = 0;

	while (count < most) {
		uint32_t size = 1 + random_below(r, 16);

		code[count++] = (struct annotate_code){at, size};
		at += size + (random_below(r, 8) == 0 ? random_below(r, 64) : 0);
	}
	return count;
}

static void check_metric(const struct profile *p, const struct annotation *a,
	const struct annotate_code *code, size_t code_count, metric_id metric)
{
	int64_t lines = 0, addresses = 0;

	for (size_t i = 0; i < a->place_count; i++) {
		check(same(a->place_figures[i], slow_annotate_place(p, a, i, metric)));
		lines += a->places[i].depth == 0 ? a->place_figures[i].exclusive : 0;
	}
	check(lines == a->own.exclusive);
	for (size_t i = 0; i < a->address_count; i++) {
		uint64_t low = a->addresses[i];
		size_t at = annotate_code_at(code, code_count, low);
		uint64_t high = at < code_count ? low + code[at].size : low + 1;

		check(at == code_count || code[at].obj_addr == low);
		check(i == 0 || a->addresses[i - 1] < low);
		check(same(a->address_figures[i], slow_annotate_address(p, a, low, high, metric)));
		addresses += a->address_figures[i].exclusive;
	}
	/* Frames without address are at none. */
	addresses += slow_annotate_address(p, a, 0, 1, metric).exclusive;
	check(addresses == a->code.exclusive);
}

/* Where no weight is negative, nothing is above the function's own inclusive figure. */
static void check_bounds(const struct annotation *a)
{
	check(a->own.inclusive <= a->total);
	check(a->own.exclusive <= a->own.inclusive);
	check(a->code.inclusive <= a->own.inclusive);
	check(a->inlined_inclusive <= a->own.inclusive);
	for (size_t i = 0; i < a->place_count; i++) {
		check(a->place_figures[i].exclusive <= a->place_figures[i].inclusive);
		check(a->place_figures[i].inclusive <= a->own.inclusive);
	}
	for (size_t i = 0; i < a->address_count; i++)
		check(a->address_figures[i].inclusive <= a->code.inclusive);
}

/* By parents, where annotate.c goes by order: no line weighs more than the hottest. */
static void check_hottest(const struct annotation *a)
{
	int64_t *sums = xcalloc(a->place_count + 1, sizeof(*sums)), most = 0;
	struct annotate_hottest hottest;
	bool is_there = annotate_find_hottest(a, &hottest);

	for (uint32_t i = 0; i < a->place_count; i++) {
		uint32_t line = i;

		while (a->places[line].parent != NO_ID)
			line = a->places[line].parent;
		sums[line] += a->place_figures[i].exclusive;
	}
	for (uint32_t i = 0; i < a->place_count; i++)
		if (a->places[i].depth == 0 && a->places[i].line != 0 && sums[i] > most)
			most = sums[i];
	check(is_there == (most > 0));
	if (is_there) {
		check(hottest.exclusive == most && sums[hottest.place] == most);
		check(a->places[hottest.place].line != 0);
		check(hottest.inlined == NO_ID || a->places[hottest.inlined].depth > 0);
	}
	free(sums);
}

/* Parents before children, lines of one file in order. */
static void check_order(const struct annotation *a)
{
	for (uint32_t i = 0; i < a->place_count; i++) {
		const struct annotate_place *x = &a->places[i];

		check(x->parent == NO_ID
				? x->depth == 0
				: x->parent < i && x->depth == a->places[x->parent].depth + 1);
		check(i == 0 || x->depth <= a->places[i - 1].depth + 1);
	}
}

/* What the functions view says of it. */
static void check_own(const struct profile *p, const struct annotation *a, struct arena *arena)
{
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, (metric_id){0}, arena);
	struct functions *f = functions_analyse(tree, arena);
	struct str name = profile_string(p, p->functions[a->function.i].name);
	size_t named = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct entity *e = &tree->entities[f->rows[i].entity];

		if (!str_equal(e->name, name))
			continue;
		named++;
		if (f->rows[i].exclusive == a->own.exclusive &&
			f->rows[i].inclusive == a->own.inclusive)
			return;
	}
	check(named == 0 || named > 1);
}

/* Where to look for instructions is where an annotation without any is. */
static void check_addresses(const struct profile *p, const struct stack_weights *w,
	function_id function, struct arena *arena)
{
	const struct annotation *a = annotate(p, w, function, NULL, 0, arena);
	uint64_t *addresses;
	size_t count = annotate_addresses(p, w, function, &addresses, arena);

	check(count == a->address_count);
	for (size_t i = 0; i < count; i++)
		check(addresses[i] == a->addresses[i]);
}

static void test_random(uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_small;
	struct arena *arena = arena_create();
	struct annotate_code code[64];

	shape.functions = 1 + random_below(&r, 5);
	shape.depth_max = 1 + random_below(&r, 14);
	shape.metrics = 1 + random_below(&r, 3);
	shape.negative = random_below(&r, 3) == 0;
	shape.places = random_below(&r, 8) != 0;
	struct profile *p = random_profile(seed, &shape);
	size_t count = random_below(&r, 2) ? random_code(&r, code, ARRAY_SIZE(code)) : 0;
	struct stack_weights w = weights_of(p);

	for (uint32_t f = 0; f < p->function_count; f++) {
		const struct annotation *a = annotate(p, &w, (function_id){f}, code, count, arena);

		check(a->other_count + 1 == p->metric_count);
		check_addresses(p, &w, a->function, arena);
		check_order(a);
		check_hottest(a);
		check_own(p, a, arena);
		check_metric(p, a, code, count, (metric_id){0});
		for (uint32_t m = 1; m < p->metric_count; m++)
			check_metric(p, a->others[m - 1], code, count, (metric_id){m});
		if (!shape.negative)
			check_bounds(a);
	}
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(agrees_with_the_definition)
{
	for (struct property_seeds p = property_seeds(ROUNDS, ROUNDS_SANITIZED); property_next(&p);)
		test_random(property_seed);
}

/* ---- by hand ---- */

struct hand {
	struct builder *builder;
	struct arena *arena;
	stack_id at; /* the stack built last */
};

static void hand_init(struct hand *h)
{
	*h = (struct hand){.builder = builder_create(), .arena = arena_create()};
	builder_metric(h->builder, STR("samples"), STR("count"));
}

static void push(struct hand *h, const char *name, uint32_t line, uint64_t addr, bool is_inline)
{
	struct builder *b = h->builder;
	string_id file = builder_string(b, STR("a.c"));
	object_id object = builder_object(b, STR("/bin/a"), STR("ab"), OBJECT_USER);
	function_id function =
		builder_function(b, builder_string(b, str_from(name)), object, file, 1);

	h->at = builder_stack(b, h->at, builder_frame(b, function, file, line, is_inline, addr));
}

static void weigh(struct hand *h, int64_t weight)
{
	builder_weight(h->builder, h->at, &weight, UINT64_MAX);
	h->at = (stack_id){0};
}

static struct profile *hand_profile(struct hand *h)
{
	struct profile *p;
	struct error *err = builder_finish(h->builder, &p);

	assert_null(err);
	return p;
}

static function_id find_one(const struct profile *p, const char *name, struct arena *arena)
{
	struct stack_weights w = weights_of(p);
	struct function_matches m = function_find(p, &w, str_from(name), arena);

	assert_int_equal(m.count, 1);
	return m.items[0].function;
}

/*
 * A stack that holds one line of f ten times counts once there: other tools show 1000 % (pprof's
 * issue 707).  The leaf is at the call's own instruction, whose bytes begin before the address that
 * the callers stand at.
 */
TEST(recursion_counts_once)
{
	static const struct annotate_code code[] = {{0x10, 4}, {0x14, 5}, {0x19, 1}};
	struct hand h;

	hand_init(&h);
	for (int i = 0; i < 10; i++)
		push(&h, "f", 7, 0x18, false);
	push(&h, "f", 7, 0x14, false);
	weigh(&h, 100);
	push(&h, "f", 5, 0x10, false);
	weigh(&h, 50);
	struct profile *p = hand_profile(&h);
	struct stack_weights w = weights_of(p);
	struct annotation *a =
		annotate(p, &w, find_one(p, "f", h.arena), code, ARRAY_SIZE(code), h.arena);

	assert_int_equal(a->total, 150);
	assert_int_equal(a->place_count, 2);
	assert_int_equal(a->places[1].line, 7);
	assert_true(same(a->place_figures[1], (struct annotate_figures){100, 100}));
	assert_int_equal(a->address_count, 2);
	assert_int_equal(a->addresses[1], 0x14);
	assert_true(same(a->address_figures[1], (struct annotate_figures){100, 100}));
	profile_destroy(p);
	arena_destroy(h.arena);
}

/* f calls g at line 7, inlined; g's own time stands below that line, and at f's instructions. */
TEST(inlined_calls_stand_below_their_line)
{
	struct hand h;

	hand_init(&h);
	push(&h, "f", 7, 0x20, false);
	push(&h, "g", 30, 0x20, true);
	weigh(&h, 6);
	push(&h, "f", 7, 0x24, false);
	push(&h, "g", 31, 0x24, true);
	push(&h, "h", 40, 0x24, true);
	weigh(&h, 3);
	push(&h, "f", 8, 0x28, false);
	weigh(&h, 1);
	struct profile *p = hand_profile(&h);
	struct stack_weights w = weights_of(p);
	struct annotation *a = annotate(p, &w, find_one(p, "f", h.arena), NULL, 0, h.arena);

	assert_int_equal(a->place_count, 5);
	assert_true(same(a->place_figures[0], (struct annotate_figures){0, 9}));
	assert_int_equal(a->places[1].line, 30);
	assert_true(same(a->place_figures[1], (struct annotate_figures){6, 6}));
	assert_int_equal(a->places[3].line, 40);
	assert_int_equal(a->places[3].depth, 2);
	assert_int_equal(a->places[4].line, 8);
	assert_true(same(a->own, (struct annotate_figures){1, 10}));
	assert_true(same(a->code, (struct annotate_figures){10, 10}));
	assert_true(same(a->address_figures[1], (struct annotate_figures){3, 3}));
	struct annotate_hottest hottest;

	assert_true(annotate_find_hottest(a, &hottest));
	assert_int_equal(hottest.place, 0);
	assert_int_equal(hottest.exclusive, 9);
	assert_int_equal(a->places[hottest.inlined].line, 30);
	assert_int_equal(hottest.inlined_exclusive, 6);
	/* g has no code of its own here, but lines. */
	a = annotate(p, &w, find_one(p, "g", h.arena), NULL, 0, h.arena);
	assert_int_equal(a->address_count, 0);
	assert_int_equal(a->place_count, 3);
	assert_int_equal(a->inlined_inclusive, 9);
	profile_destroy(p);
	arena_destroy(h.arena);
}

/* ---- names ---- */

static void expect_found(
	const struct profile *p, const char *wanted, const char *first, size_t count)
{
	struct arena *arena = arena_create();
	struct stack_weights w = weights_of(p);
	struct function_matches m = function_find(p, &w, str_from(wanted), arena);

	assert_int_equal(m.count, count);
	if (count) {
		struct str name = profile_string(p, p->functions[m.items[0].function.i].name);

		assert_true(str_equal(name, str_from(first)));
	} else {
		assert_true(str_equal(m.nearest, str_from(first)));
	}
	arena_destroy(arena);
}

TEST(names_are_read_as_loosely_as_need_be)
{
	static const char *const names[] = {"parse", "json::parse(int)", "json::parse(char*)",
		"(anonymous namespace)::walk(json::node)", "void list<int>::push<char>(int&&)",
		"apply(json::parse)"};
	struct hand h;

	hand_init(&h);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		push(&h, names[i], 1, 0, false);
		weigh(&h, (int64_t)i + 1);
	}
	struct profile *p = hand_profile(&h);

	expect_found(p, "parse", "parse", 1);
	expect_found(p, "a`parse", "parse", 1);
	expect_found(p, "a.c`parse", "parse", 1);
	expect_found(p, "b`parse", "parse", 0);
	expect_found(p, "json::parse", "json::parse(char*)", 2);
	expect_found(p, "json::parse(int)", "json::parse(int)", 1);
	expect_found(p, "walk", "(anonymous namespace)::walk(json::node)", 1);
	expect_found(p, "push", "void list<int>::push<char>(int&&)", 1);
	expect_found(p, "node", "", 0);
	expect_found(p, "prase", "parse", 0);
	profile_destroy(p);
	arena_destroy(h.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_definition),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inlined_calls_stand_below_their_line),
		cmocka_unit_test(names_are_read_as_loosely_as_need_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
