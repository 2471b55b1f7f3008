#ifndef SONDE_TESTS_RANDOM_PROFILE_H
#define SONDE_TESTS_RANDOM_PROFILE_H

/*
 * Random profiles for property tests: the same seed and shape give the same profile, on every
 * machine.
 */

#include "model/builder.h"

/* xorshift64*: small, and good enough to choose test cases. */
struct random {
	uint64_t state;
};

struct random random_from(uint64_t seed);
uint64_t random_next(struct random *r);
/* 0 … below - 1; below must not be 0. */
uint32_t random_below(struct random *r, uint32_t below);

struct random_shape {
	uint32_t functions;  /* distinct ones, at least 1; few and deep means much recursion */
	uint32_t objects;    /* distinct ones; 0: no function knows its load object */
	uint32_t stacks;     /* paths played in; some will be the same */
	uint32_t depth_max;  /* of a path, in frames */
	uint32_t metrics;    /* at least 1 */
	uint32_t weight_max; /* weights are 0 … this; a tenth of them is 0 */
	bool negative;	     /* weights may be negative, as in a delta */
	bool samples;	     /* samples with time and thread; else totals only */
	bool places;	     /* frames have file, line, address and may be inline */
	bool hostile;	     /* names hold control characters, quotes, ';', bad UTF-8 */
	bool notes;
	bool arcs;	/* calls between functions are counted */
	bool zones;	/* of profiles with samples: zones, ticks, zone rows in two metrics more */
	bool arc_costs; /* and what they cost was measured, by no rule */
	bool labels;	/* samples of profiles with samples have labels */
	bool when;	/* recorded with WHEN patterns */
	bool no_stacks; /* stacks are leaves alone, depth_max notwithstanding */
};

/* Functions f0 … in load objects /lib/o0.so …; many stacks share prefixes. */
extern const struct random_shape random_shape_small; /* 6 functions, 40 stacks, 8 deep */

/* Varies everything in a shape by the generator's whim. */
struct random_shape random_shape_any(struct random *r);

/* The caller's; profile_destroy frees it. */
must_use struct profile *random_profile(uint64_t seed, const struct random_shape *shape);

/*
 * The same, its paths played in in another order (by shuffle_seed): the same multiset of stacks, so
 * every analysis must give the same.
 */
must_use struct profile *random_profile_shuffled(
	uint64_t seed, uint64_t shuffle_seed, const struct random_shape *shape);

#endif
