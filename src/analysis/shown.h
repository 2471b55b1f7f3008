#ifndef SONDE_ANALYSIS_SHOWN_H
#define SONDE_ANALYSIS_SHOWN_H

/*
 * What a stack becomes under filters: the stack that its samples are shown at (itself or an
 * ancestor), or one of these values.
 */

#include "model/ids.h"

/* Filtered out: its samples are in no view and not in the total. */
#define SHOWN_DROPPED NO_ID
/* Not matched by WHEN: in no view, but in the total. */
#define SHOWN_UNMATCHED (NO_ID - 1)
/* Charged by WHEN to the caller of the program's entry, which has none: "<spontaneous>". */
#define SHOWN_SPONTANEOUS (NO_ID - 2)

/* Whether the value is one of a profile's stacks. */
#define SHOWN_IS_STACK(shown) ((shown) < SHOWN_SPONTANEOUS)

#endif
