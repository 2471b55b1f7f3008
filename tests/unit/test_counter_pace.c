/*
 * The choice of a period for events at rates that are known.
 */

#include "base/clock.h"
#include "base/compiler.h"
#include "record/events/counter_pace.h"
#include "../unit.h"

#define START_NS (100 * SECOND_NS)

/* Events at a steady rate from *now_ns on, for so long; the samples there were. */
static uint64_t run(struct counter_pace *p, uint64_t *now_ns, double rate_hz, uint64_t length_ns)
{
	uint64_t end_ns = *now_ns + length_ns, samples = 0, look_ns = *now_ns;
	uint64_t apart_ns = (uint64_t)((double)SECOND_NS / rate_hz);
	uint64_t left = counter_gear_period(p->gear);

	for (; *now_ns < end_ns; *now_ns += apart_ns) {
		if (*now_ns >= look_ns + SECOND_NS / 10) {
			look_ns = *now_ns;
			(void)counter_pace_look(p, look_ns);
		}
		if (--left > 0)
			continue;
		samples++;
		(void)counter_pace_sample(p, *now_ns);
		left = counter_gear_period(p->gear);
	}
	return samples;
}

TEST(periods_grow)
{
	assert_int_equal(counter_gear_period(0), 1);
	for (uint32_t gear = 1; gear < COUNTER_GEARS; gear++)
		assert_true(counter_gear_period(gear) > counter_gear_period(gear - 1));
}

/* Within a factor of what is wanted, at every rate that the gears can do. */
TEST(steady_rates_have_one_gear)
{
	static const double rates[] = {
		3, 50, 900, 1900, 2500, 10000, 60000, 130000, 500000, 900000};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct counter_pace p = {.frequency_hz = 1000};
		uint64_t now_ns = START_NS;

		(void)run(&p, &now_ns, rates[i], SECOND_NS);
		uint32_t gear = p.gear;
		uint64_t samples = run(&p, &now_ns, rates[i], SECOND_NS);

		assert_int_equal(p.gear, gear);
		assert_true(samples <= 2100);
		assert_true(samples >= 120 || p.gear == 0);
	}
}

/* A storm that comes all at once takes few samples before it is thinned out. */
TEST(storms_are_met_at_once)
{
	struct counter_pace p = {.frequency_hz = 1000};
	uint64_t now_ns = START_NS;
	uint64_t samples = 0;

	for (int i = 0; i < 100 && p.gear + 1 < COUNTER_GEARS; i++, now_ns += 1000, samples++)
		(void)counter_pace_sample(&p, now_ns);
	assert_int_equal(p.gear, COUNTER_GEARS - 1);
	assert_true(samples < 20);
}

TEST(quiet_comes_down_again)
{
	struct counter_pace p = {.frequency_hz = 1000};
	uint64_t now_ns = START_NS;

	(void)run(&p, &now_ns, 800000, SECOND_NS / 10);
	assert_int_equal(p.gear, COUNTER_GEARS - 1);
	(void)run(&p, &now_ns, 20, 2 * SECOND_NS);
	assert_int_equal(p.gear, 0);
}

/* Also where nothing at all happens, and so no sample comes. */
TEST(silence_comes_down_again)
{
	struct counter_pace p = {.frequency_hz = 1000};
	uint64_t now_ns = START_NS;

	(void)run(&p, &now_ns, 800000, SECOND_NS / 10);
	for (int i = 0; i < 10; i++)
		(void)counter_pace_look(&p, now_ns += SECOND_NS / 10);
	assert_int_equal(p.gear, 0);
}

/* A fixed period, and times that go back, as they may between CPUs. */
TEST(odd_input_is_harmless)
{
	struct counter_pace fixed = {0}, back = {.frequency_hz = 1000};

	for (uint64_t i = 0; i < 1000; i++) {
		assert_false(counter_pace_sample(&fixed, START_NS + i));
		(void)counter_pace_sample(&back, START_NS - i * 1000000);
	}
	assert_int_equal(fixed.gear, 0);
	assert_false(counter_pace_look(&fixed, START_NS + SECOND_NS));
	assert_true(back.gear < COUNTER_GEARS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_grow),
		cmocka_unit_test(steady_rates_have_one_gear),
		cmocka_unit_test(storms_are_met_at_once),
		cmocka_unit_test(quiet_comes_down_again),
		cmocka_unit_test(silence_comes_down_again),
		cmocka_unit_test(odd_input_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
