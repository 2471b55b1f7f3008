#ifndef SONDE_RECORD_ENGINES_PERF_CLOCK_CHOICE_H
#define SONDE_RECORD_ENGINES_PERF_CLOCK_CHOICE_H

/*
 * Which of the clocks runs: how much of the stack a sample copies, and how often samples are taken.
 *
 * A copy costs the target some 0.2 us a KB, so the small one is used where it is enough: suffix
 * reuse makes it so for deep stacks that hardly change.  What it does not hold must be read from
 * the live process, which may come too late; so after very few of these the large copy is taken
 * again, and each time it takes longer until the small one is tried once more.
 */

#include <stdbool.h>
#include <stdint.h>

struct clock_choice {
	bool small;		/* what is to be used now */
	uint32_t walks, beyond; /* since that was looked at: all, and those that needed more */
	uint32_t patience;	/* walks with the large copy before the small one is tried */
};

void clock_choice_init(struct clock_choice *c);
/* A stack was walked; beyond: the small copy does not, or would not, hold what it took. */
void clock_choice_walked(struct clock_choice *c, bool beyond);

#endif
