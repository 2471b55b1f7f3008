/*
 * Pairs of entities have one number each, whether they are in a set or a hash table; a set's follow
 * the order that was asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "../property.h"
#include "../random_profile.h"
#include "../unit.h"
#include "analysis/entity_pairs.h"

#define ENTITIES 40u
#define WIDTH	 (ENTITIES + 1)

/* A random caller, perhaps none, and a random callee. */
static struct entity_pair random_pair(struct random *r)
{
	return (struct entity_pair){
		.caller = random_below(r, WIDTH) - 1, .callee = random_below(r, ENTITIES)};
}

/* Random places for all entities and none. */
static void shuffle(struct random *r, uint32_t *order)
{
	for (uint32_t i = 0; i < WIDTH; i++) {
		uint32_t other = random_below(r, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

static bool is_wanted(const bool *chosen, struct entity_pair pair)
{
	return chosen == NULL || chosen[pair.callee] ||
	       (pair.caller != NO_ID && chosen[pair.caller]);
}

/* Marks random pairs, and checks each of them. */
static void check_pairs(struct random *r, size_t node_count, const uint32_t *order,
	const bool *chosen, bool is_ordered)
{
	struct entity_pairs pairs = {0};
	struct entity_pair marked[300];
	bool seen[WIDTH][ENTITIES] = {0};
	size_t count = random_below(r, 300), different = 0;

	entity_pairs_expect(&pairs, ENTITIES, order, chosen, node_count);
	assert_int_equal(pairs.bits != NULL, node_count > 0);
	for (size_t i = 0; i < count; i++) {
		do
			marked[i] = random_pair(r);
		while (!is_wanted(chosen, marked[i]));
		entity_pairs_mark(&pairs, marked[i].caller, marked[i].callee);
		different += !seen[marked[i].caller + 1][marked[i].callee];
		seen[marked[i].caller + 1][marked[i].callee] = true;
	}
	entity_pairs_close(&pairs);
	assert_int_equal(entity_pairs_count(&pairs), different);
	for (size_t i = 0; i < count; i++) {
		uint32_t number = entity_pairs_at(&pairs, marked[i].caller, marked[i].callee);

		entity_pairs_warm(&pairs, marked[i].caller, marked[i].callee);
		assert_true(number < different);
		assert_memory_equal(
			entity_pairs_pair(&pairs, number), &marked[i], sizeof(marked[i]));
		if (node_count)
			assert_int_equal(
				entity_pairs_peek(&pairs, marked[i].caller, marked[i].callee),
				number);
	}
	for (uint32_t i = 1; i < different && is_ordered; i++) {
		const struct entity_pair *a = entity_pairs_pair(&pairs, i - 1), *b = a + 1;
		uint32_t from = order[a->caller + 1], to = order[b->caller + 1];

		assert_true(
			from < to || (from == to && order[a->callee + 1] < order[b->callee + 1]));
	}
	entity_pairs_deinit(&pairs);
}

static void check_round(struct random *r)
{
	uint32_t order[WIDTH];
	bool chosen[ENTITIES] = {0};

	shuffle(r, order);
	for (size_t i = 0; i < 3; i++)
		chosen[random_below(r, ENTITIES)] = true;
	check_pairs(r, 0, order, NULL, false);
	check_pairs(r, 1000, order, NULL, true);
	check_pairs(r, 1000, NULL, NULL, false);
	check_pairs(r, 1000, order, chosen, false);
}

TEST(test_pairs_have_one_number)
{
	for (struct property_seeds p = property_seeds(200, 50); property_next(&p);) {
		struct random r = random_from(property_seed);

		check_round(&r);
	}
}

/* A profile with many functions and few stacks must not pay for pairs that it cannot have. */
TEST(test_set_is_bounded)
{
	struct entity_pairs pairs = {0};

	entity_pairs_expect(&pairs, 100000, NULL, NULL, 1000000);
	assert_null(pairs.bits);
	entity_pairs_expect(&pairs, 5000, NULL, NULL, 1000000);
	assert_non_null(pairs.bits);
	entity_pairs_deinit(&pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_have_one_number),
		cmocka_unit_test(test_set_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
