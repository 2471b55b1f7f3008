#ifndef SONDE_RECORD_SAMPLES_OFFCPU_H
#define SONDE_RECORD_SAMPLES_OFFCPU_H

/*
 * Time that threads spend off the CPU, from the kernel's records of context switches: blocked (it
 * waits for something), woken (what it waited for has come, and it waits for a CPU) or preempted
 * (it could run on, but another thread runs).  Where wakings are not reported, a block ends when
 * the thread runs again.
 *
 * Each thread's life is divided into running and these states, without gaps or overlaps, even if
 * records are lost.  If two records contradict each other, the time between them belongs to the
 * state that the first one began, and the contradiction is counted.
 *
 * 	offcpu_init(&o, &hooks, wakers);
 * 	offcpu_begin(&o, &thread->off, time_ns, OFFCPU_PREEMPTED);	a fork
 * 	offcpu_in(…), offcpu_stack(…), offcpu_out(…), offcpu_wake(…), offcpu_sample(…)
 * 		in the order of their times
 * 	offcpu_tick(&o, now_ns);
 * 		now and then; all but the latest records must have been given
 * 	offcpu_end(&o, &thread->off, time_ns);	its exit, or the recording's end
 *
 * No call allocates.  Each is O(1), and the tick is O(1) for each thread that it handles.
 */

#include <stdbool.h>
#include <stdint.h>

#define OFFCPU_NO_NODE UINT32_MAX

enum offcpu_state {
	OFFCPU_UNSEEN,	/* not begun */
	OFFCPU_EXISTED, /* it existed when the recording began; its first record will show what
			   it did */
	OFFCPU_RUNNING,
	/* Off the CPU; these must come last. */
	OFFCPU_BLOCKED,
	OFFCPU_WOKEN,
	OFFCPU_PREEMPTED, /* also: new, and has not run yet */
	OFFCPU_STATE_COUNT
};
#define OFFCPU_OFF_COUNT (OFFCPU_STATE_COUNT - OFFCPU_BLOCKED)
/* No waker, lock or holder; these are the caller's numbers. */
#define OFFCPU_NOBODY UINT32_MAX

/* The output: one block, or several short ones at one stack in close succession. */
struct offcpu_interval {
	uint64_t begin_ns, end_ns; /* from the first block's beginning to the last one's end */
	uint64_t blocked_ns, woken_ns, preempted_ns;
	uint64_t blocks;       /* 0: the next part of a continuing block */
	uint32_t node;	       /* of the stack tree; OFFCPU_NO_NODE: no known stack of the thread */
	uint32_t waker;	       /* who ended the block, or OFFCPU_NOBODY */
	uint32_t lock, holder; /* what it waited for, and its holder; or OFFCPU_NOBODY */
	bool estimated;	       /* the stack is another one of the thread, close in time */
};

struct offcpu_link {
	struct offcpu_link *before, *after; /* NULL: in no list */
};

struct offcpu_known_stack {
	uint64_t time_ns;
	uint32_t node;
	uint32_t lock; /* the lock waited for at this stack */
	bool is_there;
};

/* Zeroed at first; begins with offcpu_begin, or with the first record of the thread. */
struct offcpu_thread {
	struct offcpu_link link;
	uint64_t listed_ns;
	enum offcpu_state state;
	uint64_t since_ns;		 /* start of the part of the state not output yet */
	struct offcpu_known_stack own;	 /* of the current block, or the one about to begin */
	uint64_t outside_ns;		 /* when it was read, if from outside; else 0 */
	struct offcpu_known_stack block; /* the last known stack of waiting */
	struct offcpu_known_stack run; /* the last known stack of running, or of being preempted */
	bool is_sampled;	       /* run is from the clock, and the thread has not waited
				          since */
	bool is_borrowed;	       /* own is a copy of run */
	uint32_t waker;		       /* of the current block, once it is woken */
	uint32_t holder;	       /* of its lock */
	uint64_t holder_ns;	       /* when that was read */
	/* By state, from OFFCPU_BLOCKED on: merged short blocks; 0 blocks: none. */
	struct offcpu_interval open[OFFCPU_OFF_COUNT];
};

struct offcpu_hooks {
	void (*interval)(void *context, struct offcpu_thread *thread,
		const struct offcpu_interval *interval);
	/*
	 * The thread has been waiting for some time, and its stack is unknown.  If it can be read,
	 * call offcpu_outside_stack.  False: not now, ask again.  NULL: never ask.
	 */
	bool (*read_stack)(void *context, struct offcpu_thread *thread);
	void *context;
};

struct offcpu_counts {
	uint64_t running_ns, blocked_ns, woken_ns, preempted_ns;
	uint64_t blocks;
	uint64_t estimated, estimated_ns; /* blocks attributed to another stack */
	uint64_t missing;		  /* records that must have been lost */
	uint64_t misplaced;		  /* records older than the previous one */
};

struct offcpu {
	struct offcpu_hooks hooks;
	uint64_t part_ns;	       /* a long block is output in parts of this length */
	struct offcpu_link young, old; /* threads off the CPU, oldest entry first */
	struct offcpu_counts counts;
};

/*
 * wakers: offcpu_wake will report who ends blocks.  Parts that are output before a block ends have
 * no waker, so parts are long then.
 */
void offcpu_init(struct offcpu *o, const struct offcpu_hooks *hooks, bool wakers);

/* A thread's life begins, in that state.  Call it once. */
void offcpu_begin(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, enum offcpu_state state);
/* It is switched out.  preempted: it could continue. */
void offcpu_out(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, bool preempted);
/*
 * Right after offcpu_stack or offcpu_outside_stack: at that stack it waits for this lock, which the
 * holder had at read_ns.
 */
void offcpu_lock(struct offcpu *o, struct offcpu_thread *t, uint32_t lock, uint32_t holder,
	uint64_t read_ns);
/* That waker ends its block.  Ignored if it is not blocked. */
void offcpu_wake(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t waker);
/* It is switched in. */
void offcpu_in(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/* The stack with which it is about to be switched out. */
void offcpu_stack(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node);
/*
 * The same for a thread that will be preempted in its own code.  That can happen anywhere, like the
 * clock's ticks, so the clock's last stack represents it.  False: that is too old, or the thread
 * has waited since; call offcpu_stack.
 */
bool offcpu_borrow_stack(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/*
 * The stack of a thread off the CPU, read from outside up to time_ns.  It is used unless the thread
 * turns out to have been switched in before.
 */
void offcpu_outside_stack(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node);
/* The clock found it running at that stack. */
void offcpu_sample(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node);
/* It runs, as it calls exec.  It may be another thread under this id from now on. */
void offcpu_run(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/* Its life, or the recording, ends.  It may be freed afterwards. */
void offcpu_end(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/*
 * Requests the stacks of threads that have been off the CPU for long.  Outputs merged blocks, and
 * the parts so far of long blocks, so that an interrupted recording loses little.
 */
void offcpu_tick(struct offcpu *o, uint64_t now_ns);

#endif
