#ifndef SONDE_ANALYSIS_CERTIFICATE_H
#define SONDE_ANALYSIS_CERTIFICATE_H

/*
 * Whether a recording is evidence: what was lost, cut or does not add up, by what it says of itself
 * (struct profile_stats), against bounds that stand here.  semantics.md section 4 has them in
 * words.
 */

#include "base/arena.h"
#include "model/profile.h"

/* Beyond these parts it is none. */
#define CERTIFICATE_LOST_MAX	0.05 /* of the samples that were due: lost, or that never came */
#define CERTIFICATE_CUT_MAX	0.05 /* of the samples: not walked whole, or guessed */
#define CERTIFICATE_ACCOUNT_MAX 0.02 /* of the CPU time by the system: more or less in samples */
/* Nor with fewer samples: then the other parts are chance. */
#define CERTIFICATE_SAMPLES_MIN 100

enum certificate_flaw {
	CERTIFICATE_LOST,
	CERTIFICATE_CUT,
	CERTIFICATE_ACCOUNT,
	CERTIFICATE_FEW,
	CERTIFICATE_FLAWS
};

struct certificate {
	bool is_known; /* false: its source does not tell; it has no flaws then */
	bool has[CERTIFICATE_FLAWS];
	double part[CERTIFICATE_FLAWS]; /* what the bound is of; CERTIFICATE_FEW: samples */
};

struct certificate certificate_of(const struct profile *p);
bool certificate_is_fit(const struct certificate *c);
/*
 * What is wrong and what cures it, the first flaw and how many more: "11.9% of its samples are
 * missing: record on a quiet machine, or at a lower rate (-F)".  NULL where it is fit.
 */
const char *certificate_text(const struct certificate *c, struct arena *arena);

#endif
