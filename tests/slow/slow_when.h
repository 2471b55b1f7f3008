#ifndef SONDE_TESTS_SLOW_SLOW_WHEN_H
#define SONDE_TESTS_SLOW_SLOW_WHEN_H

/*
 * WHEN word by word: the pattern's threads are written out in a list, and of each, in turn, every
 * alignment is tried, the best first.  Takes exponential time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame, or what a pattern asks of one; names are single letters, 0: any. */
struct slow_frame {
	char module, procedure;
};

/* As long as no frame's index. */
#define SLOW_WHEN_UNMATCHED UINT32_MAX

/*
 * How many of the `depth` frames, root first, are left of a stack: all above and with the charged
 * one.  Patterns have no blanks and no quotes.  *spontaneous: ":x" at the root.
 */
uint32_t slow_when(
	const char *pattern, const struct slow_frame *stack, uint32_t depth, bool *spontaneous);
/* How many threads the pattern has. */
size_t slow_when_threads(const char *pattern);

#endif
