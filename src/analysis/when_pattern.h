#ifndef SONDE_ANALYSIS_WHEN_PATTERN_H
#define SONDE_ANALYSIS_WHEN_PATTERN_H

/*
 * A compiled WHEN pattern: its steps in the order of its text. A matcher that goes through them
 * once has visited, at each step, all steps that can come before it.
 */

#include <assert.h>

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

#define WHEN_CALLER 1 /* ":x" */
#define WHEN_OWN    2 /* "x:" */

/* data NULL: any name. */
struct when_name {
	struct str text;
	bool exact; /* else in any case */
};

struct when_step {
	uint8_t kind;	 /* enum when_step_kind */
	uint8_t charges; /* WHEN_CALLER, WHEN_OWN, or both */
	uint16_t number; /* of an alternative: in its group; of what takes frames: its position */
	/* Of a group. */
	uint16_t first_position, last; /* those in it, without `last`; there is one at least */
	uint16_t alternatives;
	bool is_passable; /* without a frame */
	uint32_t behind;  /* the step behind its end */
};

static_assert(WHEN_NAMES_MAX <= UINT16_MAX, "positions and alternatives are numbered in 16 bits");

/* Which frames a position takes; a star: any. */
struct when_names {
	struct when_name module, procedure; /* of a module's run without a procedure */
};

struct when {
	struct arena *arena;
	enum when_modules modules;
	VEC(struct when_step) steps;
	VEC(struct when_names) positions;
	uint32_t nesting_max; /* groups that are open at once */
};

/*
 * Which positions each function of the profile fits: bit p % 64 of word p / 64 of fits[function],
 * when_word_count words each.  The caller's, freed with free().
 */
must_use returns_owned uint64_t *when_fits(const struct when *when, const struct profile *profile);

static inline size_t when_word_count(const struct when *when)
{
	return (when->positions.count + 63) / 64;
}

/* For tests: what when_apply did, and from how many lists of choices on it collects them. */
struct when_work {
	size_t steps;	     /* of the pattern, of lists compared and collected, and ways kept */
	size_t choices_max;  /* lists of choices at once */
	size_t standing_max; /* ways at once */
};
void when_apply_counted(const struct when *when, const struct profile *profile,
	const uint32_t *parent, uint32_t *shown, size_t few_choices, struct when_work *work);

#endif
