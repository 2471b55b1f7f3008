#ifndef SONDE_STORE_FIT_H
#define SONDE_STORE_FIT_H

/*
 * Which recordings of a store can be added up.  Most can.  Some differ in what their weights mean:
 * one counts "cpu-time" where all others measure it in ns, or was recorded with --when, or has no
 * call stacks.  Their sum would mean nothing, so the largest part that goes together is chosen, and
 * the rest is named in notes.
 *
 *	fit_init(&fit);
 *	fit_add(&fit, &shape, service, host, true);	for each recording
 *	if (fit.is_mixed)
 *		fit_choose(&fit);
 *	fit_has(&fit, &shape)				for each again
 *	fit_note(&fit, builder);
 *	fit_deinit(&fit);
 *
 * The cost is linear in what is added; the choice, in the distinct shapes, which are few.
 */

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/common_notes.h"
#include "model/profile.h"

/* What decides whether a recording fits.  Texts are borrowed. */
struct fit_shape {
	struct str when;		 /* as in struct profile */
	bool has_stacks, is_change;	 /* is_change: it is the difference of two profiles */
	const struct str *names, *units; /* [metric_count] of its metrics */
	size_t metric_count;
};

/* Recordings of one shape. */
struct fit_group {
	struct fit_shape shape;
	struct str key;
	uint64_t count;
	bool is_usual; /* each metric has the unit that most recordings have */
	bool is_chosen;
};

/* Those of one shape, service and host. */
struct fit_owner {
	uint32_t group;
	struct str service, host;
	uint64_t count;
};

/* A metric of the sum. */
struct fit_unit {
	struct str name, unit;
	bool is_disputed; /* some recording has another unit */
};

struct fit {
	struct arena *arena;
	struct str_table keys, owner_keys, names;
	VEC(struct fit_group) groups; /* [key] */
	VEC(struct fit_owner) owners; /* [owner key] */
	bool is_mixed;		      /* not all can be added up */
	struct str_table words;	      /* names and units */
	struct map unit_of;	      /* the first unit of each name, by words */
	/* After fit_choose. */
	VEC(struct fit_unit) units;    /* [name] of chosen groups; unit.data NULL: none has it */
	const struct fit_group *first; /* the largest; what all chosen ones have in common */
};

void fit_init(struct fit *f);
void fit_deinit(struct fit *f);
/* service: empty if it has several.  is_new: false for another part of a recording. */
void fit_add(struct fit *f, const struct fit_shape *shape, struct str service, struct str host,
	bool is_new);
/*
 * Chooses what most recordings have: call stacks or not, the pattern of --when, the unit of each
 * metric.  Of equally many, a unit other than "count" and no pattern; the order in which they were
 * added does not matter.  Nothing can be added afterwards.
 */
void fit_choose(struct fit *f);
/* After fit_choose.  False also for a shape that was never added. */
bool fit_has(const struct fit *f, const struct fit_shape *shape);
/* Names what is left out and why: the service and the host of each, up to a limit. */
void fit_note(const struct fit *f, struct common_notes *notes);

/* The shape of a profile; names and units are in the arena. */
struct fit_shape fit_shape_of(const struct profile *p, struct arena *arena);
/* Whether metrics are those of a difference: "M", "M (old)", … */
bool fit_is_change(const struct str *names, size_t count);

#endif
