#ifndef SONDE_UNWIND_GO_LAYOUT_H
#define SONDE_UNWIND_GO_LAYOUT_H

/*
 * The layout of the Go runtime's structures that lead from one of a thread's stacks to the other,
 * and which part of the other one a sample needs (go_stack.h).  Without other includes, because a
 * BPF program and the preloaded library use it as well.
 *
 * Nothing of it is certain: whoever uses it verifies that the g, its m and the m's g0 refer to each
 * other.
 */

#include <stdint.h>

/*
 * The pointer to the thread's current g is this far below its control block, unless Go is in a
 * shared library.
 */
#define GO_G_BELOW 8u
/* This much is needed of either stack. */
#define GO_STACK_BYTES ((uint64_t)32 << 10)
/*
 * The goroutine's innermost frame is searched in this much below its place.  Frames of functions
 * that call the runtime are smaller, mostly less than 200 bytes.
 */
#define GO_FRAME_BYTES ((uint64_t)4096)

/* The beginning of struct g. */
struct go_g {
	uint64_t low_va, high_va; /* of its stack */
	uint64_t others[4], m;
	uint64_t sched_sp, sched_pc;
};

/* m.g0, m.curg, and where that is without the field gobuf.ret; how much of an m includes both. */
enum { GO_M_G0 = 0, GO_M_CURG = 0xc0, GO_M_CURG_NEW = 0xb8, GO_M_BYTES = GO_M_CURG + 8 };

static inline int go_stack_has(const struct go_g *g, uint64_t va)
{
	return va >= g->low_va && va < g->high_va;
}

/*
 * Where a walk comes to the stack of goroutine g.  What is further in is on the thread's own stack,
 * where bp may still be the goroutine's.
 */
static inline uint64_t go_place(const struct go_g *g, uint64_t bp)
{
	uint64_t low = g->sched_sp;
	int has_bp = go_stack_has(g, bp);

	if (!go_stack_has(g, low))
		low = has_bp ? bp : g->high_va;
	else if (has_bp && bp < low)
		low = bp;
	return (low & ~(uint64_t)7) - GO_FRAME_BYTES;
}

#endif
