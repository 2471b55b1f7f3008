#ifndef SONDE_TESTS_PROPERTY_H
#define SONDE_TESTS_PROPERTY_H

/*
 * Properties that must hold of many random cases.  A case is made from its number, the seed, alone;
 * a failure names it, and SEED=number in the environment runs that one.
 *
 *	for (struct property_seeds p = property_seeds(500, 100); property_next(&p);)
 *		subject_init(&subject, property_seed); …
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The case that runs now. */
static uint64_t property_seed;

struct property_seeds {
	uint64_t next, last;
};

/*
 * How many cases to run, and how many under sanitizers, which take their time; SONDE_LONG runs four
 * times as many.
 */
static inline struct property_seeds property_seeds(uint64_t count, uint64_t count_sanitized)
{
	const char *chosen = getenv("SEED");
	struct property_seeds p = {1, getenv("SANITIZED") ? count_sanitized : count};

	if (getenv("SONDE_LONG"))
		p.last *= 4;
	if (chosen)
		p.next = p.last = strtoull(chosen, NULL, 10);
	return p;
}

/* Sets property_seed to the next case; false if there is none. */
static inline bool property_next(struct property_seeds *p)
{
	if (p->next > p->last)
		return false;
	property_seed = p->next++;
	return true;
}

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("SEED=%" PRIu64 ": line %d: %s", property_seed, __LINE__,         \
				#condition);                                                       \
	} while (0)

#endif
