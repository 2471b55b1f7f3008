/*
 * When looks at a thread are due: of one that only runs, or waits for a CPU, hardly ever so that
 * the recorder wakes for them; soon again after a sleep.
 */
#include "record/engines/preload/preload_offcpu.h"
#include "../unit.h"

#include <stdlib.h>

#define MS	UINT64_C(1000000)
#define US	UINT64_C(1000)
#define RECORDS 200
/* There is none, so nothing is known of its waits. */
#define NO_TID INT32_MAX

/* It writes a record after so long, in which it ran so long. */
static void run(struct preload_life *life, uint64_t time_ns, uint64_t ran_ns)
{
	struct preload_record head = {
		.time_ns = life->at_ns + time_ns, .cpu_ns = life->cpu_ns + ran_ns};

	preload_looks_ran(life, NO_TID, &head, 0, MS);
	assert_true(life->due_ns == head.time_ns + MS + MS / 2);
	assert_true(life->look_by_ns >= life->due_ns);
}

static uint64_t pause_ns(const struct preload_life *life)
{
	return life->look_by_ns - life->at_ns;
}

static struct preload_life runner(struct preload_looks *looks)
{
	struct preload_life life;

	preload_looks_begin(looks, &life, NO_TID, NO_TID, MS, 0);
	for (size_t i = 0; i < RECORDS; i++)
		run(&life, MS, MS - 10 * US);
	return life;
}

TEST(test_nobody_wakes_for_one_that_runs)
{
	struct preload_looks looks = {0};
	struct preload_life life = runner(&looks);

	assert_true(pause_ns(&life) == 10 * MS);
}

TEST(test_a_sleep_is_followed_closely)
{
	struct preload_looks looks = {0};
	struct preload_life life = runner(&looks);

	run(&life, 5 * MS, MS);
	assert_true(pause_ns(&life) == MS + MS / 2);
	/* For a while, as another one may come. */
	for (size_t i = 0; i < 10; i++)
		run(&life, MS, MS);
	assert_true(pause_ns(&life) < 2 * MS);
}

TEST(test_a_wait_that_a_look_saw_is_no_sleep)
{
	struct preload_looks looks = {0};
	struct preload_life life = runner(&looks);

	preload_life_runs(&life, life.at_ns + 3 * MS);
	run(&life, 5 * MS, MS);
	assert_true(pause_ns(&life) == 10 * MS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_wakes_for_one_that_runs),
		cmocka_unit_test(test_a_sleep_is_followed_closely),
		cmocka_unit_test(test_a_wait_that_a_look_saw_is_no_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
