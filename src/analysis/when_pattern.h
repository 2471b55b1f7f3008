#ifndef SONDE_ANALYSIS_WHEN_PATTERN_H
#define SONDE_ANALYSIS_WHEN_PATTERN_H

/*
 * A compiled WHEN pattern: its steps in the order of its text, which is an order in which a matcher
 * that goes through them once has, at each step, been at all that can come before it.
 */

#include "analysis/when.h"
#include "base/vec.h"

enum when_step_kind {
	WHEN_GROUP,	  /* alternatives begin: '(', or the pattern itself */
	WHEN_ALTERNATIVE, /* one of them begins */
	WHEN_GROUP_END,
	/* Those that take frames, each with a number of its own, its position. */
	WHEN_STAR,  /* zero or more frames */
	WHEN_FRAME, /* one frame of the procedure */
	WHEN_RUN,   /* one or more frames of the module */
};

/* data NULL: any name. */
struct when_name {
	struct str text;
	bool exact; /* else in any case */
};

struct when_step {
	enum when_step_kind kind;
	uint32_t number; /* of an alternative: in its group; of what takes frames: its position */
	struct when_name module, procedure;
	bool charges_caller; /* ":x" */
	bool charges_own;    /* "x:" */
};

struct when {
	struct arena *arena;
	enum when_modules modules;
	VEC(struct when_step) steps;
	uint32_t position_count;
	uint32_t nesting_max; /* groups that are open at once */
};

/*
 * Which positions each function of the profile fits: bit p % 64 of word p / 64 of fits[function],
 * *word_count words each.  The caller's, freed with free().
 */
must_use returns_owned uint64_t *when_fits(
	const struct when *when, const struct profile *profile, size_t *word_count);

#endif
