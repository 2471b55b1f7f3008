#ifndef SONDE_RECORD_AGENT_LOOKS_H
#define SONDE_RECORD_AGENT_LOOKS_H

/*
 * Looks from outside at threads that carry the preloaded library and have written nothing of late:
 * the real clock of the agent engine.  A sleeping thread is left alone, and its stack read while it
 * sleeps.
 */

#include <sys/types.h>

#include "record/agent_life.h"
#include "record/blocked_stack.h"
#include "record/recording.h"

struct agent_looks {
	struct recording *recording;
	struct agent_lives lives;
	struct blocked_stack reader;
	pid_t pid, tid; /* whose life is being told */
	double looks_left, reads_left;
	uint64_t granted_ns;
};

/* What a look has found. */
enum agent_found {
	AGENT_FOUND_NOTHING, /* new */
	AGENT_FOUND_STACK,   /* and walked it, as *sample: the thread's last stack is another now */
	AGENT_FOUND_GONE,
};

/* Whether the system tells what looks need. */
bool agent_looks_are_possible(void);
/* The struct must stay where it is. */
void agent_looks_init(struct agent_looks *l, struct recording *recording);
/* A zeroed one is fine. */
void agent_looks_deinit(struct agent_looks *l);

/* To be called before a number of looks: whether there may be any now. */
bool agent_looks_grant(struct agent_looks *l, uint64_t now_ns);

/* The thread's first record. */
void agent_looks_begin(struct agent_looks *l, struct agent_life *life, pid_t pid, pid_t tid,
	uint64_t time_ns, uint64_t cpu_ns);
/* It has written a record with that stack, or OFFCPU_NO_NODE; the next one is due in interval_ns.
 */
void agent_looks_ran(struct agent_life *life, uint64_t time_ns, uint64_t cpu_ns, uint32_t node,
	uint64_t interval_ns);
/* A look, if life->due_ns has come. */
enum agent_found agent_looks_look(struct agent_looks *l, struct agent_life *life, pid_t pid,
	pid_t tid, uint64_t now_ns, struct perf_sample *sample);
/* The thread's end, or the recording's. */
void agent_looks_end(
	struct agent_looks *l, struct agent_life *life, pid_t pid, pid_t tid, uint64_t time_ns);

#endif
