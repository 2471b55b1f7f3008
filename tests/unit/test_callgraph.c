/*
 * The call graph by hand: gprof's worked figure, and what is not obvious.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../slow/text_callgraph.h"
#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/callgraph.h"
#include "base/alloc.h"

static uint32_t entity_of(const struct entity_tree *tree, const char *name)
{
	for (uint32_t i = 0; i < tree->entity_count; i++)
		if (str_equal(tree->entities[i].name, str_from(name)))
			return i;
	fail_msg("no entity %s", name);
	return NO_ID;
}

struct by_hand {
	struct profile *profile;
	struct arena *arena;
	struct entity_tree *tree;
	struct callgraph *graph;
	struct strbuf text;
};

static void by_hand_init(struct by_hand *h, const char *lines)
{
	*h = (struct by_hand){.profile = text_profile(lines), .arena = arena_create()};
	h->tree = entity_tree_of(h->profile, LEVEL_FUNCTION, (metric_id){0}, h->arena);
}

static void by_hand_analyse(struct by_hand *h, const struct entity_arc *counted, size_t count)
{
	h->graph = callgraph_analyse(h->tree, counted, count, 0, h->arena);
}

static void by_hand_deinit(struct by_hand *h)
{
	strbuf_deinit(&h->text);
	arena_destroy(h->arena);
	profile_destroy(h->profile);
}

#define check_text(h, i, expected)                                                                 \
	assert_string_equal(text_callgraph_entry((h)->graph, i, &(h)->text), expected)

/* gprof's manual, "The Call Graph" and "How mutually recursive functions are described". */
TEST(test_worked_figure)
{
	struct by_hand h;
	static const char *const arcs[][2] = {
		{"start", "main"}, {"main", "a"}, {"a", "b"}, {"b", "a"}, {"a", "c"}, {"b", "c"}};
	static const uint64_t calls[] = {1, 1, 3, 2, 3, 3};
	struct entity_arc counted[6];

	/* c takes no time and is known from calls alone; a stack of weight 0 names it. */
	by_hand_init(&h, "start main 16\nstart main a 75\nstart main a b 60\n"
			 "start main a b a b 42\nstart main a c 0\n");
	for (size_t i = 0; i < 6; i++)
		counted[i] = (struct entity_arc){
			entity_of(h.tree, arcs[i][0]), entity_of(h.tree, arcs[i][1]), calls[i]};
	by_hand_analyse(&h, counted, 6);
	assert_int_equal(h.graph->entry_count, 6);
	check_text(&h, 0, "start:0/193 < *:0/193 | > main:16/177(1/1)");
	check_text(&h, 1, "main:16/177(1+0) < start:16/177(1/1) | > a<1>:177/0(1/1)");
	check_text(&h, 2,
		"<1>:177/0(1+5) < main:177/0(1/1) | b<1>:102/0(3) a<1>:75/0(2)"
		" > c:0/0(6/6)");
	check_text(&h, 3, "b<1>:102/0(0+0) < a<1>(3) | > c:0/0(3/6) a<1>(2)");
	check_text(&h, 4, "a<1>:75/0(1+0) < main:177/0(1/1) b<1>(2) | > c:0/0(3/6) b<1>(3)");
	check_text(&h, 5, "c:0/0(6+0) < a<1>:0/0(3/6) b<1>:0/0(3/6) | >");
	by_hand_deinit(&h);
}

/* Direct recursion alone is no cycle; its calls are inside the function and no line. */
TEST(test_direct_recursion)
{
	struct by_hand h;

	by_hand_init(&h, "main r 1\nmain r r 2\nmain r r s 4\n");
	struct entity_arc counted[] = {
		{entity_of(h.tree, "main"), entity_of(h.tree, "r"), 3},
		{entity_of(h.tree, "r"), entity_of(h.tree, "r"), 5},
	};
	by_hand_analyse(&h, counted, 2);
	assert_int_equal(h.graph->cycle_count, 0);
	check_text(&h, 0, "main:0/7 < *:0/7 | > r:3/4(3/3)");
	check_text(&h, 1, "r:3/4(3+5) < main:3/4(3/3) | > s:4/0");
	check_text(&h, 2, "s:4/0 < r:4/0 | >");
	by_hand_deinit(&h);
}

/* Two cycles, one calling the other; entry and exit members differ. */
TEST(test_two_cycles)
{
	struct by_hand h;

	by_hand_init(&h, "m a b a 1\nm b 2\nm a b x y x 4\nm b a y x y l 8\ny 16\n");
	by_hand_analyse(&h, NULL, 0);
	assert_int_equal(h.graph->cycle_count, 2);
	check_text(&h, 0, "<1>:20/8 < *:16/0 a<2>:0/8 b<2>:4/0 | y<1>:16/8 x<1>:4/0 > l:8/0");
	check_text(&h, 1, "y<1>:16/8 < *:16/0 a<2>:0/8 x<1> | > l:8/0 x<1>");
	check_text(&h, 2, "m:0/15 < *:0/15 | > b<2>:2/8 a<2>:1/4");
	check_text(&h, 3, "<2>:3/12 < m:3/12 | a<2>:1/8 b<2>:2/4 > y<1>:0/8 x<1>:4/0");
	check_text(&h, 4, "a<2>:1/8 < m:1/4 b<2> | > y<1>:0/8 b<2>");
	check_text(&h, 5, "l:8/0 < y<1>:8/0 | >");
	check_text(&h, 6, "b<2>:2/4 < m:2/8 a<2> | > x<1>:4/0 a<2>");
	check_text(&h, 7, "x<1>:4/0 < b<2>:4/0 y<1> | > y<1>");
	by_hand_deinit(&h);
}

/* As deep as stacks may be, and the cycle is the whole of it. */
TEST(test_deep)
{
	enum { DEPTH = 65536 };
	static const char *const names[] = {"a", "b", "c"};
	uint32_t *chain = xcalloc(DEPTH, sizeof(*chain));
	struct arena *arena = arena_create();

	for (uint32_t i = 0; i < DEPTH; i++)
		chain[i] = i % 3;
	struct profile *p = chain_profile(names, chain, DEPTH, 7);
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, (metric_id){0}, arena);
	struct callgraph *g = callgraph_analyse(tree, NULL, 0, 0, arena);
	assert_int_equal(g->entry_count, 4);
	assert_int_equal(g->entries[0].self, 7);
	assert_int_equal(g->entries[0].entity, NO_ID);
	free(chain);
	arena_destroy(arena);
	profile_destroy(p);
}

/* A chain of 65,536 functions: no search may go as deep on the machine's stack. */
TEST(test_long_chain)
{
	enum { DEPTH = 65536 };
	const char **list = xcalloc(DEPTH, sizeof(*list));
	uint32_t *chain = xcalloc(DEPTH, sizeof(*chain));
	struct arena *arena = arena_create();

	for (uint32_t i = 0; i < DEPTH; i++) {
		list[i] = arena_printf(arena, "f%" PRIu32, i);
		chain[i] = i;
	}
	struct profile *p = chain_profile(list, chain, DEPTH, 7);
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, (metric_id){0}, arena);
	struct callgraph *g = callgraph_analyse(tree, NULL, 0, 0, arena);
	assert_int_equal(g->entry_count, DEPTH);
	assert_int_equal(g->cycle_count, 0);
	/* All weigh the same: callers come first. */
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_true(str_equal(g->entities[g->entries[i].entity].name, str_from(list[i])));
	free(list);
	free(chain);
	arena_destroy(arena);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_figure),
		cmocka_unit_test(test_direct_recursion),
		cmocka_unit_test(test_two_cycles),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_long_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
