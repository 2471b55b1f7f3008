#ifndef SONDE_ANALYSIS_CERTIFICATE_H
#define SONDE_ANALYSIS_CERTIFICATE_H

/*
 * Whether a recording is evidence: what it says was lost, was cut or does not add up (struct
 * profile_stats), compared with the bounds below.  semantics.md section 4 explains them.
 */

#include "base/arena.h"
#include "model/profile.h"

/* Beyond these fractions a recording is not evidence. */
#define CERTIFICATE_LOST_MAX	0.05 /* of the samples that were due: lost, or that never came */
#define CERTIFICATE_CUT_MAX	0.05 /* of the samples: truncated, or guessed */
#define CERTIFICATE_ACCOUNT_MAX 0.02 /* of the system's CPU time: more or less in samples */
/* Nor with fewer samples: then the other fractions are chance. */
#define CERTIFICATE_SAMPLES_MIN 100

enum certificate_flaw {
	CERTIFICATE_LOST,
	CERTIFICATE_CUT,
	CERTIFICATE_ACCOUNT,
	CERTIFICATE_FEW,
	CERTIFICATE_FLAWS
};

struct certificate {
	bool is_known; /* false: the source does not say; then it has no flaws */
	bool has[CERTIFICATE_FLAWS];
	double part[CERTIFICATE_FLAWS]; /* compared with the bound; CERTIFICATE_FEW: samples */
	double guessed;			/* of CERTIFICATE_CUT's part: stacks with guessed callers */
};

struct certificate certificate_of(const struct profile *p);
bool certificate_is_fit(const struct certificate *c);
/*
 * The first flaw and its remedy, and how many more there are: "11.9% of its samples are missing:
 * record on a quiet machine, or at a lower rate (-F)".  NULL if it is fit.
 */
const char *certificate_text(const struct certificate *c, struct arena *arena);

#endif
