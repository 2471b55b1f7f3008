#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_H

/*
 * The exact engine's addition to perf events: a BPF program that runs at each sample, in the
 * interrupted thread, and copies the part of its stack that the sample itself will not include.
 *
 * 	exact_open(&options, &exact)
 * 	exact_attach(exact, fd)                each event that samples, before it is inherited
 * 	exact_rest(exact, &sample, &rest)      for a sample, before its walk
 * 	exact_learn(exact, …)                  after it
 * 	exact_release(exact, horizon_ns)       after each round of samples
 * 	exact_close(exact)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/engines/exact/exact_layout.h"
#include "record/events/perf_record.h"
#include "unwind/walk.h"

/*
 * The part of a sample's stack that was copied in addition to its dump, at the moment of the
 * sample: pieces of memory that stay unchanged as long as their owner states.
 */

struct stack_piece {
	const uint8_t *bytes;
	uint64_t low_va;
	uint64_t size_bytes;
};

/* Why a rest ends where it does. */
enum stack_rest_end {
	STACK_REST_WHOLE,   /* at the end of the stack, as far as it is known */
	STACK_REST_MARKED,  /* where the stack is assumed to equal the previous sample's */
	STACK_REST_LIMITED, /* at a limit of bytes */
};

struct stack_rest {
	VEC(struct stack_piece) pieces; /* ascending; gaps could not be read */
	VEC(struct stack_piece) others; /* of the stack that the sample's leads to, in any order */
	uint64_t low_va, high_va;	/* the range to copy */
	enum stack_rest_end end;
	bool is_wanted; /* a whole stack was requested */
};

struct exact;

struct exact_options {
	uint32_t dump_bytes; /* of stack in each sample; newer kernels report it themselves */
	size_t ring_bytes;   /* of the ring for rests, a power of two; halved while it is refused */
	bool is_plain;	     /* use the program for kernels before 6.2, for tests */
};

/* What the machine lacks for it (static text); NULL: nothing that a cheap check can find. */
const char *exact_lacks(void);

/*
 * Loads the program, which takes some 50 ms.  ERROR_UNSUPPORTED with the cause in one line if this
 * build, the kernel or our privileges do not allow it.
 */
must_use struct error *exact_open(const struct exact_options *options, struct exact **exact);
/* NULL is allowed. */
void exact_close(struct exact *x);
/* Lets a perf event run the program. 0, or an errno. */
int exact_attach(struct exact *x, int perf_fd);
/* Readable when much has been copied.  The sooner it is processed, the less is copied next. */
int exact_fd(const struct exact *x);
/* The size of the granted ring. */
size_t exact_ring_bytes(const struct exact *x);

/*
 * Sets *rest to what was copied for a sample, without pieces if nothing was.  Valid until the next
 * call or exact_release.  The caller frees the lists with vec_deinit.
 */
void exact_rest(struct exact *x, const struct perf_sample *sample, struct stack_rest *rest);
/*
 * Learns from a sample's walk, to copy less or more next time.  history: the thread's, including
 * this stack if it was complete.  is_short: the walk lacked memory.
 */
void exact_learn(struct exact *x, const struct perf_sample *sample, const struct stack_rest *rest,
	const struct unwind_history *history, bool is_short);
/* May be called from any thread: makes room if needed while the recorder is busy. */
void exact_keep(struct exact *x);
/* Releases all rests returned by exact_rest, and those before horizon_ns. */
void exact_release(struct exact *x, uint64_t horizon_ns);

/*
 * From now on the events also sample other processes, so only rests of processes passed to
 * exact_know are copied.
 */
void exact_only_known(struct exact *x);
void exact_know(struct exact *x, int64_t pid);
/* The process keeps Go's g that many bytes below a thread's control block. */
void exact_learn_go(struct exact *x, int64_t pid, uint32_t below);

/* The program's counts on all CPUs. */
struct exact_counts exact_counts(const struct exact *x);

#endif
