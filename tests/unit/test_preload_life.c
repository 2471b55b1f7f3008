/*
 * A thread's life out of looks and records: whatever is seen of it, running, blocked and preempted
 * add up to it; and what is given to each block comes near to what it was.
 */
#include "record/engines/preload/preload_offcpu.h"
#include "../unit.h"

#include <stdlib.h>

#define NODES 8
#define MS    UINT64_C(1000000)

struct sums {
	struct preload_lives lives;
	uint64_t blocked_ns[NODES], preempted_ns[NODES], unknown_ns;
	uint64_t last_ns;
};

static void take(void *context, struct preload_life *life, const struct offcpu_interval *interval)
{
	struct sums *s = context;

	assert_true(life->is_on);
	assert_true(interval->begin_ns <= interval->end_ns);
	assert_true(interval->blocked_ns + interval->preempted_ns > 0);
	if (interval->node == OFFCPU_NO_NODE) {
		s->unknown_ns += interval->blocked_ns + interval->preempted_ns;
		return;
	}
	assert_true(interval->node < NODES);
	s->blocked_ns[interval->node] += interval->blocked_ns;
	s->preempted_ns[interval->node] += interval->preempted_ns;
}

static struct sums sums_of_none(void)
{
	return (struct sums){.lives.interval = take};
}

static uint64_t total(const struct sums *s)
{
	uint64_t ns = s->unknown_ns;

	for (int i = 0; i < NODES; i++)
		ns += s->blocked_ns[i] + s->preempted_ns[i];
	return ns;
}

/* A thread whose every state is known. */
struct truth {
	uint64_t now_ns;
	struct proc_sched sched;
	uint64_t blocked_ns[NODES], preempted_ns;
};

static void works(struct truth *t, uint64_t ns)
{
	t->now_ns += ns;
	t->sched.ran_ns += ns;
}

static void waits(struct truth *t, uint64_t ns)
{
	t->now_ns += ns;
	t->sched.waited_ns += ns;
	t->sched.turns++;
	t->preempted_ns += ns;
}

static uint64_t random_to(uint32_t *seed, uint64_t most)
{
	*seed = *seed * 1103515245u + 12345;
	return (uint64_t)(*seed >> 8) % most;
}

/* Sleeps, and is looked at every millisecond from some time on, now and then never. */
static void sleeps(struct truth *t, struct preload_life *life, struct sums *s, uint32_t *seed,
	uint32_t node, uint64_t ns)
{
	uint64_t end_ns = t->now_ns + ns;
	bool was_seen = false;

	t->now_ns += random_to(seed, MS);
	for (; t->now_ns < end_ns; t->now_ns += MS) {
		if (was_seen)
			preload_life_sleeps_on(&s->lives, life, t->now_ns);
		else
			preload_life_slept(&s->lives, life, t->now_ns, &t->sched, node);
		was_seen = true;
	}
	t->now_ns = end_ns;
	t->blocked_ns[node] += ns;
	t->sched.turns++;
}

static void one_step(
	struct truth *t, struct preload_life *life, struct sums *s, uint32_t *seed, uint32_t node)
{
	switch (random_to(seed, 4)) {
	case 0:
		sleeps(t, life, s, seed, node, random_to(seed, 30 * MS));
		break;
	case 1:
		works(t, random_to(seed, MS));
		waits(t, random_to(seed, 4 * MS));
		works(t, random_to(seed, MS));
		break;
	case 2:
		works(t, random_to(seed, 2 * MS));
		preload_life_ran(life, t->now_ns, t->sched.ran_ns, 0);
		break;
	default:
		works(t, random_to(seed, MS / 4));
		if (random_to(seed, 2))
			preload_life_runs(life, t->now_ns);
		preload_life_waited(&s->lives, life, t->now_ns, t->sched.waited_ns);
		break;
	}
}

TEST(test_life_is_running_blocked_and_preempted)
{
	for (uint32_t seed = 1; seed <= 300; seed++) {
		uint32_t random = seed;
		uint64_t begin_ns = 5000 + seed, begin_cpu_ns = seed * 77;
		struct truth t = {.now_ns = begin_ns, .sched = {begin_cpu_ns, seed, seed}};
		struct sums s = sums_of_none();
		struct preload_life life;

		s.lives.context = &s;
		preload_life_begin(&life, t.now_ns, t.sched.ran_ns, &t.sched);
		for (int i = 0; i < 200; i++)
			one_step(&t, &life, &s, &random,
				1 + (uint32_t)random_to(&random, NODES - 1));
		if (seed % 2)
			preload_life_ran(&life, t.now_ns, t.sched.ran_ns, OFFCPU_NO_NODE);
		uint64_t cpu_ns = life.cpu_ns - begin_cpu_ns;

		preload_life_end(&s.lives, &life, t.now_ns);
		assert_false(life.is_on);
		assert_int_equal(total(&s) + cpu_ns, life.at_ns - begin_ns);
		if (seed % 2)
			assert_int_equal(life.at_ns, t.now_ns);
	}
}

/* Two sleeps in turn, with hardly any work between them: no record lies between. */
TEST(test_looks_find_each_its_part)
{
	struct truth t = {.now_ns = 1, .sched = {0, 0, 1}};
	struct sums s = sums_of_none();
	struct preload_life life;
	uint32_t seed = 7;

	s.lives.context = &s;
	preload_life_begin(&life, t.now_ns, 0, &t.sched);
	for (int i = 0; i < 400; i++) {
		works(&t, MS / 100);
		sleeps(&t, &life, &s, &seed, 1, 5 * MS);
		works(&t, MS / 100);
		sleeps(&t, &life, &s, &seed, 2, 15 * MS);
	}
	preload_life_end(&s.lives, &life, t.now_ns);
	for (uint32_t node = 1; node <= 2; node++) {
		double part = (double)s.blocked_ns[node] / (double)t.blocked_ns[node];

		assert_true(part > 0.98 && part < 1.02);
	}
	assert_int_equal(s.lives.estimated, 0);
}

TEST(test_waits_for_a_cpu_are_told_apart)
{
	struct truth t = {.now_ns = 1, .sched = {0, 0, 1}};
	struct sums s = sums_of_none();
	struct preload_life life;
	uint32_t seed = 7;

	s.lives.context = &s;
	preload_life_begin(&life, t.now_ns, 0, &t.sched);
	for (int i = 0; i < 100; i++) {
		works(&t, MS);
		preload_life_ran(&life, t.now_ns, t.sched.ran_ns, 3);
		waits(&t, 4 * MS);
		works(&t, MS);
		preload_life_ran(&life, t.now_ns, t.sched.ran_ns, 3);
		sleeps(&t, &life, &s, &seed, 1, 5 * MS);
	}
	preload_life_end(&s.lives, &life, t.now_ns);
	assert_int_equal(s.preempted_ns[3], t.preempted_ns);
	assert_int_equal(s.blocked_ns[3], 0);
	assert_int_equal(s.blocked_ns[1], t.blocked_ns[1]);
	assert_true(s.lives.estimated_ns == t.preempted_ns);
}

TEST(test_a_thread_that_is_never_seen_to_run)
{
	struct truth t = {.now_ns = 1, .sched = {20, 0, 1}};
	struct sums s = sums_of_none();
	struct preload_life life;
	uint32_t seed = 7;

	s.lives.context = &s;
	preload_life_begin(&life, t.now_ns, 20, &t.sched);
	sleeps(&t, &life, &s, &seed, 4, 10000 * MS);
	/* It has been handed out in parts, but for the last. */
	assert_true(total(&s) >= 9000 * MS - MS);
	preload_life_end(&s.lives, &life, t.now_ns);
	assert_int_equal(s.blocked_ns[4], 10000 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_is_running_blocked_and_preempted),
		cmocka_unit_test(test_looks_find_each_its_part),
		cmocka_unit_test(test_waits_for_a_cpu_are_told_apart),
		cmocka_unit_test(test_a_thread_that_is_never_seen_to_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
