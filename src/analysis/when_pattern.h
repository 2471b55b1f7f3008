#ifndef SONDE_ANALYSIS_WHEN_PATTERN_H
#define SONDE_ANALYSIS_WHEN_PATTERN_H

/*
 * A compiled WHEN pattern: its steps in the order of its text.  A matcher that visits them once in
 * order has visited, at each step, all steps that can precede it.
 */

#include <assert.h>

#include "analysis/when.h"
#include "base/vec.h"

enum when_step_kind {
	WHEN_GROUP,	  /* alternatives begin: '(', or the pattern itself */
	WHEN_ALTERNATIVE, /* one of them begins */
	WHEN_GROUP_END,
	/* Steps that take frames; each has its own number, its position. */
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
	uint16_t number; /* of an alternative: in its group; if it takes frames: its position */
	/* For a group. */
	uint16_t first_position, last; /* those in it, excluding `last`; at least one */
	uint16_t alternatives;
	bool is_passable; /* can match zero frames */
	uint32_t behind;  /* the step after its end */
};

static_assert(WHEN_NAMES_MAX <= UINT16_MAX, "positions and alternatives are numbered in 16 bits");

/* Which frames a position takes; a star: any. */
struct when_names {
	struct when_name module, procedure; /* a module's run has no procedure */
};

struct when {
	struct arena *arena;
	enum when_modules modules;
	VEC(struct when_step) steps;
	VEC(struct when_names) positions;
	uint32_t nesting_max; /* most groups open at once */
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

/* For tests: what when_apply did, and at how many lists of choices it collects them. */
struct when_work {
	size_t steps;	     /* of the pattern, lists compared and collected, ways kept */
	size_t choices_max;  /* lists of choices at once */
	size_t standing_max; /* ways at once */
};
void when_apply_counted(const struct when *when, const struct profile *profile,
	const uint32_t *parent, uint32_t *shown, size_t few_choices, struct when_work *work);

#endif
