#ifndef SONDE_BASE_ABBREVIATION_H
#define SONDE_BASE_ABBREVIATION_H

/*
 * Which of several names a text means: the one that it is; else the one that it is in another
 * case; else the only one that begins with it, in any case.
 *
 *	struct abbreviation a;
 *	abbreviation_init(&a, STR("cyc"));
 *	abbreviation_offer(&a, STR("cycles"));
 *	abbreviation_offer(&a, STR("context-switches"));
 *	abbreviation_found(&a) is true, and a.names is "cycles"
 *	abbreviation_deinit(&a);
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct abbreviation {
	struct str text;
	int fit;	     /* how well the names fit; 0: there is none */
	size_t count;	     /* names that fit so well */
	struct strbuf names; /* those, with ", " between them, in the order offered */
};

/* text is borrowed until the last offer.  An empty one begins no name. */
void abbreviation_init(struct abbreviation *a, struct str text);
void abbreviation_deinit(struct abbreviation *a);
/* Whether the name fits better than all before.  A name that is offered twice counts twice. */
bool abbreviation_offer(struct abbreviation *a, struct str name);

/* Whether one name is meant. */
static inline bool abbreviation_found(const struct abbreviation *a)
{
	return a->count == 1;
}

/* Whether it may be any of several. */
static inline bool abbreviation_is_ambiguous(const struct abbreviation *a)
{
	return a->count > 1;
}

#endif
