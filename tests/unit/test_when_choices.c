/*
 * Lists of choices against lists written out: which is left of which, before and after collections,
 * of lists that are longer than labels reach.
 */
#include <stdlib.h>
#include <string.h>

#include "../property.h"
#include "../random_profile.h"
#include "../unit.h"
#include "analysis/when_choices.h"

enum { LISTS = 40, LENGTH = 120 };

struct written {
	uint32_t list;
	uint32_t length;
	uint16_t choice[LENGTH];
};

/* After the same list there are always as many. */
static uint32_t alternatives_after(const struct written *w)
{
	uint32_t sum = w->length;

	for (uint32_t i = 0; i < w->length; i++)
		sum = sum * 7 + w->choice[i];
	return sum % 50 == 0 ? 700 : 2 + sum % 3;
}

static void add(struct choices *c, struct random *r, struct written *w)
{
	uint32_t alternatives = alternatives_after(w);
	/* Mostly the same, so that many lists are alike for long. */
	uint32_t choice = random_below(r, 4) ? 1 : random_below(r, alternatives);

	if (w->length == LENGTH) {
		*w = (struct written){.list = CHOICES_NONE};
	} else {
		w->list = choices_add(c, w->list, alternatives) + choice;
		w->choice[w->length++] = (uint16_t)choice;
	}
}

static void expect_order(struct choices *c, const struct written *a, const struct written *b)
{
	uint32_t i = 0;

	while (i < a->length && i < b->length && a->choice[i] == b->choice[i])
		i++;
	if (i == a->length && i == b->length) {
		assert_int_equal(a->list, b->list);
		assert_int_equal(choices_compare(c, a->list, b->list), 0);
	} else if (i < a->length && i < b->length) {
		int order = choices_compare(c, a->list, b->list);

		assert_true(a->choice[i] < b->choice[i] ? order < 0 : order > 0);
	}
}

static void expect_leftmost(const struct choices *c, const struct written *w)
{
	bool is_leftmost = true;

	for (uint32_t i = 0; i < w->length; i++)
		is_leftmost &= w->choice[i] == 0;
	assert_int_equal(choices_are_leftmost(c, w->list), is_leftmost);
}

static void collect(struct choices *c, struct written *lists)
{
	choices_mark_begin(c);
	for (size_t i = 0; i < LISTS; i++)
		choices_mark(c, lists[i].list);
	choices_collect(c);
	for (size_t i = 0; i < LISTS; i++)
		lists[i].list = choices_moved(c, lists[i].list);
}

static void run(uint64_t seed)
{
	struct random r = random_from(seed);
	struct written lists[LISTS] = {0};
	struct choices c;

	choices_init(&c, CHOICES_FEW);
	for (int step = 0; step < 4000; step++) {
		struct written *w = &lists[random_below(&r, LISTS)];
		const struct written *other = &lists[random_below(&r, LISTS)];

		if (random_below(&r, 20) == 0)
			*w = *other;
		else
			add(&c, &r, w);
		expect_order(&c, w, other);
		expect_leftmost(&c, w);
		if (random_below(&r, 500) == 0)
			collect(&c, lists);
	}
	for (size_t i = 0; i < LISTS; i++)
		for (size_t k = 0; k < LISTS; k++)
			expect_order(&c, &lists[i], &lists[k]);
	choices_deinit(&c);
}

TEST(test_as_written_out)
{
	for (struct property_seeds p = property_seeds(60, 10); property_next(&p);)
		run(property_seed);
}

/* Nobody has a list: none is left but the empty one, and the next begins as the first did. */
TEST(test_collects_all)
{
	struct choices c;
	uint32_t list = CHOICES_NONE;

	choices_init(&c, CHOICES_FEW);
	for (int i = 0; i < 100000; i++) {
		list = choices_add(&c, list, 2) + 1;
		if (choices_are_many(&c)) {
			choices_mark_begin(&c);
			choices_collect(&c);
			assert_int_equal(c.lists.count, 1);
			list = CHOICES_NONE;
		}
	}
	assert_true(c.lists_max < 20000);
	choices_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_written_out),
		cmocka_unit_test(test_collects_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
