#ifndef SONDE_PRELOAD_PRELOAD_H
#define SONDE_PRELOAD_PRELOAD_H

/*
 * The preloaded library: declarations shared by its parts.
 *
 * It samples the program that it is loaded into.  On a signal, from each thread's timer or from the
 * recorder, the thread stores its registers and a copy of its stack; the recorder does everything
 * else.  The program must not notice, so nothing here allocates memory or takes locks, and all
 * writing happens between preload_enter and preload_leave, during which the signal does nothing.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "preload/lane.h"

/* The next function with that name after ours. */
#define PRELOAD_REAL(name, type)                                                                   \
	static type *real_##name(void)                                                             \
	{                                                                                          \
		static _Atomic(type *) found;                                                      \
		type *f = found;                                                                   \
                                                                                                   \
		if (!f)                                                                            \
			found = f = (type *)dlsym(RTLD_NEXT, #name);                               \
		return f;                                                                          \
	}

#define preload_exported __attribute__((visibility("default")))

/* This process. */
struct preload_process {
	bool on;		       /* the recorder was found */
	bool has_keys;		       /* protection keys may block access to memory */
	struct preload_header *header; /* the shared memory */
	uint32_t slot_count;	       /* number of slots in it; 0: threads are no longer sampled */
	bool in_pieces;		       /* each thread maps its own data */
	_Atomic int32_t pieces_left;   /* number that may be mapped */
	char path[64];		       /* where the memory is, from the recorder */
	int32_t global_pid;	       /* in the recorder's namespace */
};
extern struct preload_process preload_process;

/* What a thread knows about the marks in its slot (shared.h); zero for a new slot. */
struct preload_marked {
	uint32_t version; /* of the marks that `gone` is for */
	uint32_t gone;	  /* this many of them, the innermost, were not intact in each sample */
	uint64_t last_ns; /* the time of the last sample */
};

/* A thread; all zero until it is registered. */
struct preload_thread {
	bool active;	    /* has a lane */
	bool sealed;	    /* by seccomp: no more system calls by the library in it */
	bool held;	    /* our signal is really blocked in it */
	bool was_active;    /* the state before that */
	volatile bool busy; /* a record is being written */
	int tid;	    /* in the process's namespace */
	struct preload_lane lane;
	struct preload_marked marked;
	uint64_t stack_low_va, stack_high_va; /* can be copied directly; 0, 0: unknown */
	/*
	 * timer.c: the kernel's ids of the timer, and of the one that shows that the thread runs
	 * again
	 */
	int timer, tick;
	bool has_timer, has_tick;
	bool rests;			   /* only the second timer is set */
	int armed_cpu;			   /* the timer's CPU */
	uint64_t period_ns;		   /* of the timer */
	uint64_t looked_ns, looked_cpu_ns; /* time and CPU time at the last signal */
	uint64_t due_cpu_ns;		   /* the next sample */
	uint64_t slept;			   /* the count, when last read */
	uint64_t random;
	uint64_t checked_ns;	     /* when the recorder was last known to be alive */
	struct preload_thread *next; /* among those that have slots */
	char name[16];
	volatile unsigned cuts; /* number of system calls that our signal ended early */
	unsigned samples;
	uint64_t took_ns; /* for the last one */
};
extern __thread struct preload_thread preload_self __attribute__((tls_model("initial-exec")));

/* CLOCK_MONOTONIC outside all time namespaces, as in the recorder. */
uint64_t preload_now_ns(void);
uint64_t preload_cpu_ns(void);

/* ---- preload.c ---- */

/*
 * If address space is limited, only the data of living threads is mapped, and less of it.  Call it
 * for a newly taken lane.  False: no more may be mapped.
 */
#define PRELOAD_PIECE_BYTES ((uint64_t)512 << 10)
bool preload_piece_map(struct preload_lane *lane);
void preload_piece_unmap(struct preload_lane *lane);

/* ---- time.c ---- */

/* Finds the shift of the clock in this process's time namespace. */
void preload_time_begin(void);

/* ---- sleeps.c ---- */

/* A wait that our signal may end early. */
struct preload_wait {
	uint64_t end_ns; /* UINT64_MAX: none */
	unsigned cuts;	 /* the thread's, before it */
};

/* Begins a wait; timeout_ns below 0: without a timeout. */
struct preload_wait preload_wait_begin(int64_t timeout_ns);
/* Whether it failed with EINTR because of our signal, and must be repeated. */
bool preload_wait_again(struct preload_wait *wait, bool was_interrupted);
/* The remaining time; also in milliseconds, rounded up. */
struct timespec preload_wait_left(const struct preload_wait *wait);
int preload_wait_left_ms(const struct preload_wait *wait);
int64_t preload_ms_to_ns(int ms);
int64_t preload_time_to_ns(const struct timespec *time); /* NULL: below 0 */

/* ---- thread.c ---- */

/* Registers the calling thread, if there is a slot. */
void preload_thread_begin(uint32_t kind, int32_t parent_pid, uint64_t low_va, uint64_t high_va);
/* In the child of a fork, changes the parent's thread to one of its own. */
void preload_thread_forked(int32_t parent_pid);
/* Stops all activity of the library in the calling thread, or in all threads of the process. */
void preload_thread_seal(void);
void preload_thread_seal_all(void);
/* Undoes it, as the calling thread was not sealed after all. */
void preload_thread_unseal(void);
/* Writes a record with only the CPU time used so far. */
void preload_thread_account(struct preload_thread *t, uint32_t type);

/*
 * The calling thread, to write records directly; our signal does nothing until preload_leave.
 * NULL: it has no lane, or is already writing.
 */
struct preload_thread *preload_enter(void);
void preload_leave(struct preload_thread *t);
/* Begins a record with size bytes after its head, which is filled in; NULL: no room. */
void *preload_record_begin(struct preload_thread *t, uint32_t type, size_t size);
void preload_record_end(struct preload_thread *t, size_t size);

/* ---- timer.c ---- */

/* Creates the calling thread's timer, whose first signal comes within an interval. */
void preload_timer_begin(struct preload_thread *t);
/* Deletes its timers.  Safe in handlers. */
void preload_timer_end(struct preload_thread *t);
/*
 * Its signal came at that time and CPU time, in a system call or not.  Returns whether to take a
 * sample; if not, sets the timer again.
 */
bool preload_timer_is_due(
	struct preload_thread *t, uint64_t now_ns, uint64_t cpu_ns, bool is_in_call);
/* The sample was taken; or it was not possible, and must be retried soon. */
void preload_timer_sampled(struct preload_thread *t, uint64_t cpu_ns);
void preload_timer_again(struct preload_thread *t);
/* The calling thread runs again after its timer was disabled. */
void preload_timer_wake(void);

/* ---- sample.c ---- */

/* Handles one of our signals in the interrupted thread. */
void preload_sample(void *context);

/* ---- other_stack.c ---- */

/*
 * The parts of memory that lead from the thread's stack to the one that it was left for, and that
 * one.  sp, bp: of the interrupted function.  Returns how many there are; 0: no other stack.
 */
size_t preload_other_stack(const struct preload_thread *t, uint64_t sp, uint64_t bp,
	struct preload_part parts[PRELOAD_PARTS]);

/* ---- marks.c ---- */

/*
 * How much of the stack [sp, end) the recorder needs: up to the innermost unchanged mark, or all of
 * it.  Call it for each sample, also for one on another stack, with sp = end_va: what the thread
 * has left since the sample of the marks is no longer known.
 */
uint64_t preload_marks_needed(struct preload_thread *t, uint64_t sp, uint64_t end_va);
/* Call it for each sample with room for a record, before the record ends. */
void preload_marks_sampled(struct preload_thread *t, uint64_t time_ns);

/* ---- maps.c ---- */

/* Reports the mapped code, as a record of that type. */
void preload_maps_tell(struct preload_thread *t, uint32_t type);
/* Reports mapped code if the code at va was not reported. */
void preload_maps_notice(struct preload_thread *t, uint64_t va);

/* ---- lock.c ---- */

/* A thread of this process has taken or returned that slot. */
void preload_lock_note(uint32_t slot, bool is_own);

/* ---- signals.c ---- */

/* Begins to receive our signal; the program still seems to own it. */
void preload_signals_begin(void);
/* Makes our signal arrive in the calling thread, even if the program has blocked it. */
void preload_signals_thread(bool blocked_by_parent);
/* Whether the program has blocked our signal in the calling thread. */
bool preload_signals_blocked(void);
/* Really blocks or unblocks our signal in the calling thread. */
void preload_signals_hold(bool hold);
/* Returns the signal to the program for good. */
void preload_signals_end(void);

/* ---- seccomp.c ---- */

/* The number of seccomp filters of the calling thread. */
uint32_t preload_seccomp_filters(void);
/*
 * Call it before a system call of the program that may restrict others: whether it does, in which
 * case sampling has ended where it will apply.  Afterwards, pass the call's result, -1 if it
 * failed.
 */
bool preload_seccomp_before(long number, const long arguments[6]);
void preload_seccomp_after(bool was_harmful, long got);

#endif
