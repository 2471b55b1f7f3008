#ifndef PROF_GATHER_H
#define PROF_GATHER_H

/*
 * For programs that include the header behind IProf's prof.h, or use what its platform header
 * defined: the clock, and C's linkage by a macro.
 */

#include "prof.h"

#ifdef __cplusplus
#define Prof_C	      "C"
#define Prof_extern_C extern "C"
#else
#define Prof_C
#define Prof_extern_C
#endif

typedef int64_t Prof_Int64;

/* The tick of the processor's clock. */
Prof_INLINE_ void Prof_get_timestamp(Prof_Int64 *ticks)
{
	*ticks = (Prof_Int64)Prof_ticks_();
}

#endif
