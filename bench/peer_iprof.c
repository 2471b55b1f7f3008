/*
 * IProf 0.2's own zones, for zones_bench: its sources (bench/peers.sh) as they are, with the clock
 * that they lack for this system, and names that are not sonde's.
 */
#include <stdint.h>

#define Prof_INC_PROF_WIN32_H
#define WIN32
typedef int64_t Prof_Int64;

static inline void Prof_get_timestamp(Prof_Int64 *ticks)
{
	*ticks = (Prof_Int64)__builtin_ia32_rdtsc();
}

#define Prof_ENABLED
#define Prof_stack	 iprof_stack
#define Prof_dummy	 iprof_dummy
#define Prof_StackAppend iprof_StackAppend

#include "prof_gather.c"

#include "zones_bench.h"

/* Its upper half; only the list of zones is needed. */
Prof_Zone *Prof_zones[512];

void Prof_init_highlevel(void)
{
}

static Prof_Define(plain);
static Prof_Define(callee);

static void run_iprof(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_Region(plain) KEEP();
		Prof_End
	}
}

static __attribute__((noinline)) void recurse(int depth)
{
	Prof_Begin(recurse) if (depth > 1) recurse(depth - 1);
	KEEP();
	Prof_End
}

static void run_iprof_recursion(int pairs)
{
	for (int i = 0; i < pairs; i += 8)
		recurse(8);
}

static __attribute__((noinline)) void called(void)
{
	Prof_Region(callee) KEEP();
	Prof_End
}

static void run_iprof_alternating(int pairs)
{
	for (int i = 0; i < pairs; i += 4) {
		{
			Prof_Begin(caller_a) called();
			Prof_End
		}
		{
			Prof_Begin(caller_b) called();
			Prof_End
		}
	}
}

const struct variant peer_iprof[] = {
	{"iprof", run_iprof, 0, 0, 0},
	{"iprof-recursion", run_iprof_recursion, 0, 0, 0},
	{"iprof-alternate", run_iprof_alternating, 0, 0, 0},
	{0, 0, 0, 0, 0},
};
