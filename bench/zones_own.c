/*
 * The zones that zones_bench measures, each way of marking them; linked to it, and as a shared
 * object that it loads.
 */
#define Prof_ENABLED
#include <prof.h>

#include "zones_bench.h"

enum { DEPTH = 8 };

static Prof_Define(bench_plain);
static Prof_Define(bench_callee);

static void run_plain(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_Region(bench_plain) KEEP();
		Prof_End
	}
}

static void run_block(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_Scope(bench_plain);
		KEEP();
	}
}

static __attribute__((noinline)) void recurse(int depth)
{
	Prof_Begin(recurse) if (depth > 1) recurse(depth - 1);
	KEEP();
	Prof_End
}

static void run_recursion(int pairs)
{
	for (int i = 0; i < pairs; i += DEPTH)
		recurse(DEPTH);
}

static __attribute__((noinline)) void callee(void)
{
	Prof_Region(bench_callee) KEEP();
	Prof_End
}

/* Four pairs a round: two callers, each calls the same zone. */
static void run_alternating(int pairs)
{
	for (int i = 0; i < pairs; i += 4) {
		{
			Prof_Begin(caller_a) callee();
			Prof_End
		}
		{
			Prof_Begin(caller_b) callee();
			Prof_End
		}
	}
}

static void run_call(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_enter(&Prof_region_bench_plain);
		KEEP();
		Prof_leave();
	}
}

static void run_count(int pairs)
{
	for (int i = 0; i < pairs; i++)
		Prof_count(&Prof_region_bench_plain);
}

static void set_off(int on)
{
	Prof_set_enabled(!on);
}

const struct variant zones_variants[] = {
	{"plain", run_plain, NULL, 1.10, 0},
	{"block", run_block, NULL, 1.10, 0},
	{"events", run_plain, Prof_set_events, 1.15, 0},
	{"events-block", run_block, Prof_set_events, 1.15, 0},
	{"recursion", run_recursion, NULL, 1.20, 0},
	{"alternating", run_alternating, NULL, 1.20, 0},
	{"call", run_call, NULL, 1.25, 0},
	{"off", run_plain, set_off, -0.5, 0},
	{"off-block", run_block, set_off, -0.5, 0},
	{"count", run_count, NULL, 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
