/*
 * What samples weigh: a clock that is fast or slow, what was lost, an account that is asked before
 * its samples are taken.
 */
#include "record/samples/weights.h"
#include "../unit.h"

#define INTERVAL_NS 1000000
#define SECOND_NS   UINT64_C(1000000000)
/* Samples between looks. */
#define LOOK 100

struct run {
	struct weights weights;
	struct weights_account account;
	uint64_t time_ns, sum_ns;
	uint64_t late; /* samples that are in a ring when the account is asked; 0: 20 */
};

/*
 * So many samples; each is accounted so much.  Every 100 the account is asked; lost_each: every how
 * many samples one is lost.
 */
static void run(struct run *r, int count, uint64_t accounted_ns, int lost_each)
{
	uint64_t late_ns = (r->late ? r->late : 20) * accounted_ns, lost = 0;

	weights_init(&r->weights, INTERVAL_NS, false);
	for (int i = 1; i <= count; i++) {
		r->time_ns += accounted_ns;
		if (lost_each > 0 && i % lost_each == 0)
			lost++;
		else
			r->sum_ns +=
				weights_take(&r->weights, &r->account, r->time_ns, INTERVAL_NS);
		if (i % LOOK != 0)
			continue;
		weights_ask(&r->account, r->time_ns + late_ns, r->time_ns + late_ns);
		weights_look(&r->weights, r->time_ns, lost);
	}
}

static void assert_near(uint64_t sum_ns, uint64_t truth_ns, double share)
{
	double off = (double)sum_ns / (double)truth_ns - 1;

	if (off > share || off < -share)
		fail_msg("%.4f of %.4f s", (double)sum_ns / 1e9, (double)truth_ns / 1e9);
}

TEST(test_a_clock_that_is_right)
{
	struct run r = {0};

	run(&r, 5000, INTERVAL_NS, 0);
	assert_near(r.sum_ns, 5 * SECOND_NS, 0.001);
}

TEST(test_a_clock_that_is_fast)
{
	struct run r = {0};

	run(&r, 5000, 985000, 0);
	assert_near(r.sum_ns, 4925000000, 0.002);
}

TEST(test_a_clock_that_is_late)
{
	struct run r = {0};

	run(&r, 5000, 1100000, 0);
	assert_near(r.sum_ns, 5500000000, 0.005);
}

/* Every tenth is lost, and nobody makes up for it. */
TEST(test_what_is_lost_stays_lost)
{
	struct run r = {0};

	run(&r, 5000, INTERVAL_NS, 10);
	assert_near(r.sum_ns, 4500000000, 0.005);
}

/* Twice as much is accounted as was clocked: that is no clock's fault. */
TEST(test_what_is_far_off_is_not_made_up_for)
{
	struct run r = {0};

	run(&r, 5000, 2 * INTERVAL_NS, 0);
	assert_true(r.sum_ns <= 7 * SECOND_NS);
}

TEST(test_exact_periods_stay_as_they_are)
{
	struct weights w;
	struct weights_account a = {0};

	weights_init(&w, INTERVAL_NS, true);
	weights_ask(&a, 1, 5 * SECOND_NS);
	weights_look(&w, 1, 3);
	assert_int_equal(weights_take(&w, &a, 10, 123457), 123457);
}

/* Where kernel code can't be sampled: events and accounts are compared, and weights follow. */
TEST(test_clocks_compared)
{
	struct weights w;
	struct weights_account a = {0};

	weights_init(&w, INTERVAL_NS, false);
	weights_compare(&w, 980000000, SECOND_NS);
	weights_look(&w, SECOND_NS, 0);
	uint64_t sum_ns = 0;

	for (int i = 0; i < 1000; i++)
		sum_ns += weights_take(&w, &a, (uint64_t)i, INTERVAL_NS);
	assert_near(sum_ns, 980000000, 0.0001);
}

/* The account is asked again before the samples are there that it was asked for. */
TEST(test_samples_that_wait_for_long)
{
	struct run r = {.late = 350};

	run(&r, 20000, 900000, 0);
	assert_near(r.sum_ns, UINT64_C(20000) * 900000, 0.005);
}

/* A recorder that is held up takes most samples when all is over, and their sum is known. */
TEST(test_samples_left_at_the_end)
{
	struct weights w;
	struct weights_account a = {0};
	uint64_t sum_ns = 0;

	weights_init(&w, INTERVAL_NS, false);
	for (uint64_t i = 0; i < 2000; i++) {
		if (i == 500)
			weights_end(&w, 1900 * INTERVAL_NS, 2100 * (uint64_t)INTERVAL_NS, 100);
		sum_ns += weights_take(&w, &a, i, INTERVAL_NS);
	}
	/* What was lost stays so. */
	assert_near(sum_ns, 1900 * INTERVAL_NS / 21 * UINT64_C(20), 0.001);
}

/*
 * The recorder waits for its output while the host takes the CPU away; then the program goes on for
 * 0.3 s.
 */
TEST(test_a_debt_from_a_wait)
{
	struct weights w;
	struct weights_account a = {0};
	uint64_t sum_ns = 0, ran_ns = 0, time_ns = 0;

	weights_init(&w, INTERVAL_NS, false);
	for (uint64_t i = 1; i <= 1500; i++) {
		bool is_waiting = i > 100 && i <= 1200;

		time_ns += INTERVAL_NS;
		ran_ns += is_waiting ? INTERVAL_NS * 95 / 100 : INTERVAL_NS;
		sum_ns += weights_take(&w, &a, time_ns, INTERVAL_NS);
		if (is_waiting && i < 1200)
			continue;
		if (i % LOOK == 0) {
			weights_ask(&a, time_ns, ran_ns);
			weights_look(&w, time_ns, 0);
		}
	}
	assert_near(sum_ns, ran_ns, 0.005);
}

/* Checks are always late, on a machine that is too busy: each pays what is owed, and no more. */
TEST(test_late_checks)
{
	struct weights w;
	struct weights_account a = {0};
	uint64_t sum_ns = 0, ran_ns = 0, time_ns = 0;

	weights_init(&w, INTERVAL_NS, false);
	for (uint64_t i = 1; i <= 9000; i++) {
		time_ns += INTERVAL_NS;
		ran_ns += i / 900 % 2 ? INTERVAL_NS * 94 / 100 : INTERVAL_NS;
		sum_ns += weights_take(&w, &a, time_ns, INTERVAL_NS);
		if (i % 600 == 0) {
			weights_ask(&a, time_ns, ran_ns);
			weights_look(&w, time_ns, 0);
		}
		/* What two checks do not know yet. */
		if (sum_ns > ran_ns + 80 * INTERVAL_NS || sum_ns + 80 * INTERVAL_NS < ran_ns)
			fail_msg("%.4f of %.4f s", (double)sum_ns / 1e9, (double)ran_ns / 1e9);
	}
}

/* A few samples must not make up for ticks that never came. */
TEST(test_few_left_at_the_end)
{
	struct weights w;
	struct weights_account a = {0};
	uint64_t sum_ns = 0;

	weights_init(&w, INTERVAL_NS, false);
	for (uint64_t i = 0; i < 2000; i++) {
		if (i == 1950)
			weights_end(
				&w, 2100 * (uint64_t)INTERVAL_NS, 2100 * (uint64_t)INTERVAL_NS, 0);
		sum_ns += weights_take(&w, &a, i, INTERVAL_NS);
	}
	assert_near(sum_ns, 2 * SECOND_NS, 0.0001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_clock_that_is_right),
		cmocka_unit_test(test_a_clock_that_is_fast),
		cmocka_unit_test(test_a_clock_that_is_late),
		cmocka_unit_test(test_what_is_lost_stays_lost),
		cmocka_unit_test(test_what_is_far_off_is_not_made_up_for),
		cmocka_unit_test(test_exact_periods_stay_as_they_are),
		cmocka_unit_test(test_clocks_compared),
		cmocka_unit_test(test_samples_that_wait_for_long),
		cmocka_unit_test(test_samples_left_at_the_end),
		cmocka_unit_test(test_a_debt_from_a_wait),
		cmocka_unit_test(test_late_checks),
		cmocka_unit_test(test_few_left_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
