#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LOOKS_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LOOKS_H

/*
 * Looks from outside at threads that carry the preloaded library and have written nothing of late:
 * the real clock of the preload engine.  A sleeping thread is left alone, and its stack read while
 * it sleeps.
 */

#include <sys/types.h>

#include "preload/shared.h"
#include "record/engines/preload/preload_life.h"
#include "record/switches/blocked_stack.h"
#include "record/recording.h"

struct preload_looks {
	struct recording *recording;
	struct preload_lives lives;
	struct blocked_stack reader;
	pid_t pid, tid; /* whose life is being told */
	double looks_left, reads_left;
	uint64_t granted_ns;
};

/* What a look has found. */
enum preload_found {
	PRELOAD_FOUND_NOTHING, /* new */
	PRELOAD_FOUND_STACK, /* and walked it, as *sample: the thread's last stack is another now */
	PRELOAD_FOUND_GONE,
};

/* Whether the system tells what looks need. */
bool preload_looks_are_possible(void);
/* The struct must stay where it is. */
void preload_looks_init(struct preload_looks *l, struct recording *recording);
/* A zeroed one is fine. */
void preload_looks_deinit(struct preload_looks *l);

/* To be called before a number of looks: whether there may be any now. */
bool preload_looks_grant(struct preload_looks *l, uint64_t now_ns);

/* The thread's first record. */
void preload_looks_begin(struct preload_looks *l, struct preload_life *life, pid_t pid, pid_t tid,
	uint64_t time_ns, uint64_t cpu_ns);
/* It has written that record, with that stack or OFFCPU_NO_NODE; the next is due in interval_ns. */
void preload_looks_ran(struct preload_life *life, pid_t tid, const struct preload_record *head,
	uint32_t node, uint64_t interval_ns);
/* A look, if life->due_ns has come. */
enum preload_found preload_looks_look(struct preload_looks *l, struct preload_life *life, pid_t pid,
	pid_t tid, uint64_t now_ns, struct perf_sample *sample);
/* The thread's end, or the recording's. */
void preload_looks_end(
	struct preload_looks *l, struct preload_life *life, pid_t pid, pid_t tid, uint64_t time_ns);

#endif
