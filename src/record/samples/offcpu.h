#ifndef SONDE_RECORD_SAMPLES_OFFCPU_H
#define SONDE_RECORD_SAMPLES_OFFCPU_H

/*
 * Time that threads spend off the CPU, out of the kernel's records of who was switched in and out:
 * blocked (it waits for something), woken (what it waited for is there, and it waits for a CPU) or
 * preempted (it could run on, and another one does).  Where wakings are not reported, a block ends
 * when the thread runs again.
 *
 * Each thread's life is cut into running and these without gaps or overlaps, whatever records are
 * lost: where two that are known contradict each other, the span between them belongs to what the
 * first one said, and the contradiction is counted.
 *
 *	offcpu_init(&o, &hooks, wakers);
 *	offcpu_begin(&o, &thread->off, time_ns, OFFCPU_PREEMPTED);	a fork
 *	offcpu_in(…), offcpu_stack(…), offcpu_out(…), offcpu_wake(…), offcpu_sample(…)
 *		in the order of their times
 *	offcpu_tick(&o, now_ns);
 *		now and then; all records but the latest must have been given
 *	offcpu_end(&o, &thread->off, time_ns);	its exit, or the recording's end
 *
 * No call allocates, and each is O(1) but the tick, which is O(1) for each thread that it handles.
 */

#include <stdbool.h>
#include <stdint.h>

#define OFFCPU_NO_NODE UINT32_MAX

enum offcpu_state {
	OFFCPU_UNSEEN,	/* not begun */
	OFFCPU_EXISTED, /* when the recording began; its first record will tell what it did */
	OFFCPU_RUNNING,
	/* Off the CPU: the last ones. */
	OFFCPU_BLOCKED,
	OFFCPU_WOKEN,
	OFFCPU_PREEMPTED, /* or made, and not run yet */
	OFFCPU_STATE_COUNT
};
#define OFFCPU_OFF_COUNT (OFFCPU_STATE_COUNT - OFFCPU_BLOCKED)
/* Of wakers, locks and holders, which are numbers of the caller's. */
#define OFFCPU_NOBODY UINT32_MAX

/*
 * What is to be written: one block, or several short ones of one stack that follow each other
 * closely.
 */
struct offcpu_interval {
	uint64_t begin_ns, end_ns; /* from the first block's beginning to the last one's end */
	uint64_t blocked_ns, woken_ns, preempted_ns;
	uint64_t blocks; /* 0: the next part of a block that goes on */
	uint32_t node;	 /* of the stack tree; OFFCPU_NO_NODE: no stack of the thread is known */
	uint32_t waker;	 /* who ended the block, or OFFCPU_NOBODY */
	uint32_t lock, holder; /* what it waited for, and who had it; likewise */
	bool estimated;	       /* the stack is another one of the thread's, near in time */
};

struct offcpu_link {
	struct offcpu_link *before, *after; /* NULL: in no list */
};

struct offcpu_known_stack {
	uint64_t time_ns;
	uint32_t node;
	uint32_t lock; /* that is waited for with it */
	bool is_there;
};

/* To be zero at first; begins with offcpu_begin, or with whatever is first told of the thread. */
struct offcpu_thread {
	struct offcpu_link link;
	uint64_t listed_ns;
	enum offcpu_state state;
	uint64_t since_ns; /* in the state, as far as not handed out yet */
	struct offcpu_known_stack
		own;	     /* of the block at hand, or of the one that is about to begin */
	uint64_t outside_ns; /* when it had been read, if from outside; else 0 */
	struct offcpu_known_stack block; /* the last that is known of waiting */
	struct offcpu_known_stack
		run;	    /* the last that is known of running, or of being preempted */
	bool is_sampled;    /* run is what the clock saw, and it has not waited since */
	bool is_borrowed;   /* own is a copy of run */
	uint32_t waker;	    /* of the block at hand, once it is woken */
	uint32_t holder;    /* of its lock, */
	uint64_t holder_ns; /* and when that was read */
	/* By state, from OFFCPU_BLOCKED on: short blocks, put together; 0 blocks: none. */
	struct offcpu_interval open[OFFCPU_OFF_COUNT];
};

struct offcpu_hooks {
	void (*interval)(void *context, struct offcpu_thread *thread,
		const struct offcpu_interval *interval);
	/*
	 * The thread waits, has done so for some time, and its stack is not known: if it can be
	 * read, call offcpu_outside_stack.  False: not now, ask again.  NULL: never.
	 */
	bool (*read_stack)(void *context, struct offcpu_thread *thread);
	void *context;
};

struct offcpu_counts {
	uint64_t running_ns, blocked_ns, woken_ns, preempted_ns;
	uint64_t blocks;
	uint64_t estimated, estimated_ns; /* blocks whose stack is another one */
	uint64_t missing;		  /* records that must have been lost */
	uint64_t misplaced; /* records that came with a time before that of the record before */
};

struct offcpu {
	struct offcpu_hooks hooks;
	uint64_t part_ns;	       /* a block that goes on is handed out in parts of this */
	struct offcpu_link young, old; /* threads off the CPU, by when they came in */
	struct offcpu_counts counts;
};

/*
 * wakers: offcpu_wake will tell who ends blocks.  What is handed out of a block before it ends has
 * none, so parts are then long.
 */
void offcpu_init(struct offcpu *o, const struct offcpu_hooks *hooks, bool wakers);

/* A thread's life begins, in that state; once. */
void offcpu_begin(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, enum offcpu_state state);
/* It is switched out; preempted: it could go on. */
void offcpu_out(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, bool preempted);
/*
 * Right after offcpu_stack or offcpu_outside_stack: with that stack it waits for this lock, which
 * the holder had when that was read.
 */
void offcpu_lock(struct offcpu *o, struct offcpu_thread *t, uint32_t lock, uint32_t holder,
	uint64_t read_ns);
/* What it was blocked for is there, by that waker; of one that is not blocked it means nothing.
 */
void offcpu_wake(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t waker);
/* It is switched in. */
void offcpu_in(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/* The stack with which it is about to be switched out. */
void offcpu_stack(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node);
/*
 * The same of a thread that will be preempted in code of its own, which happens anywhere as the
 * clock's ticks do: the stack that the clock saw last will do.  False: it is too old, or the thread
 * has waited since; offcpu_stack has to be called.
 */
bool offcpu_borrow_stack(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/*
 * The stack of a thread off the CPU, read from outside up to time_ns: believed unless it turns out
 * that the thread was switched in before.
 */
void offcpu_outside_stack(
	struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node);
/* The clock found it running with that stack. */
void offcpu_sample(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns, uint32_t node);
/* It is known to run, as it calls exec: it may stand for another thread from now on. */
void offcpu_run(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/* Its life, or the recording, ends; it may be freed then. */
void offcpu_end(struct offcpu *o, struct offcpu_thread *t, uint64_t time_ns);
/*
 * Asks for the stacks of threads that have been off the CPU for long, and hands out what has been
 * put together, and the parts so far of blocks that go on and on, so that a recording that is cut
 * off lacks little.
 */
void offcpu_tick(struct offcpu *o, uint64_t now_ns);

#endif
