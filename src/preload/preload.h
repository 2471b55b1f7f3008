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

/* The function of that name behind ours. */
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
	bool has_keys;		       /* memory may be shut by protection keys */
	struct preload_header *header; /* the shared memory */
	uint32_t slot_count;	       /* that it has room for; 0: threads are sampled no more */
	bool in_pieces;		       /* each thread maps its own data */
	_Atomic int32_t pieces_left;   /* that may be mapped */
	char path[64];		       /* where the recorder said that the memory is */
	int32_t global_pid;	       /* as the recorder does */
};
extern struct preload_process preload_process;

/* A thread; all zero until it is registered. */
struct preload_thread {
	bool active;	    /* has a lane */
	bool sealed;	    /* by seccomp: we make no system call in it any more */
	bool held;	    /* our signal is blocked in it, in truth */
	bool was_active;    /* before that */
	volatile bool busy; /* a record is being made */
	int tid;	    /* as the process sees it */
	struct preload_lane lane;
	uint64_t stack_low_va, stack_high_va; /* may be copied as memory; 0, 0: not known */
	/* timer.c: the kernel's ids of the timer and of the one that tells that it runs again */
	int timer, tick;
	bool has_timer, has_tick;
	bool rests;			   /* only the second one is set */
	int armed_cpu;			   /* where the timer is */
	uint64_t period_ns;		   /* of the timer */
	uint64_t looked_ns, looked_cpu_ns; /* time and CPU time at the last signal */
	uint64_t due_cpu_ns;		   /* the next sample */
	uint64_t slept;			   /* how often, when last asked */
	uint64_t random;
	uint64_t checked_ns;	     /* when the recorder was last found to live */
	struct preload_thread *next; /* of those that have slots */
	char name[16];
	volatile unsigned cuts; /* system calls that our signal ended early, so far */
	unsigned samples;
	uint64_t took_ns; /* by the last one */
};
extern __thread struct preload_thread preload_self __attribute__((tls_model("initial-exec")));

/* CLOCK_MONOTONIC outside of all time namespaces, as the recorder has it. */
uint64_t preload_now_ns(void);
uint64_t preload_cpu_ns(void);

/* ---- preload.c ---- */

/*
 * Where address space is limited, only the data of threads that live is mapped, and less of it than
 * there is: of a lane that was just taken.  False: no more may be mapped.
 */
#define PRELOAD_PIECE_BYTES ((uint64_t)512 << 10)
bool preload_piece_map(struct preload_lane *lane);
void preload_piece_unmap(struct preload_lane *lane);

/* ---- time.c ---- */

/* Learns by how much this process's time namespace shifts its clock. */
void preload_time_begin(void);

/* ---- sleeps.c ---- */

/* A wait that our signal may end early. */
struct preload_wait {
	uint64_t end_ns; /* UINT64_MAX: none */
	unsigned cuts;	 /* of the thread, before it */
};

/* It begins; timeout_ns below 0: it waits for ever. */
struct preload_wait preload_wait_begin(int64_t timeout_ns);
/* Whether it has failed, with EINTR, because of our signal: it is to be made again. */
bool preload_wait_again(struct preload_wait *wait, bool was_interrupted);
/* What is left of it, also in milliseconds, rounded up. */
struct timespec preload_wait_left(const struct preload_wait *wait);
int preload_wait_left_ms(const struct preload_wait *wait);
int64_t preload_ms_to_ns(int ms);
int64_t preload_time_to_ns(const struct timespec *time); /* NULL: below 0 */

/* ---- thread.c ---- */

/* Registers the calling thread, if there is a slot. */
void preload_thread_begin(uint32_t kind, int32_t parent_pid, uint64_t low_va, uint64_t high_va);
/* The child of a fork has its parent's thread; it becomes one of its own. */
void preload_thread_forked(int32_t parent_pid);
/* Nothing of ours happens any more in the calling thread, or in any of the process. */
void preload_thread_seal(void);
void preload_thread_seal_all(void);
/* The calling thread was not sealed after all. */
void preload_thread_unseal(void);
/* Puts a record that tells only the CPU time used until now. */
void preload_thread_account(struct preload_thread *t, uint32_t type);

/*
 * The calling thread, to write records by hand: no signal disturbs until preload_leave.  NULL: it
 * has no lane, or is writing one already.
 */
struct preload_thread *preload_enter(void);
void preload_leave(struct preload_thread *t);
/* A record of size bytes behind its head, which is filled in; NULL: no room. */
void *preload_record_begin(struct preload_thread *t, uint32_t type, size_t size);
void preload_record_end(struct preload_thread *t, size_t size);

/* ---- timer.c ---- */

/* Makes the calling thread's timer, whose first signal comes within an interval. */
void preload_timer_begin(struct preload_thread *t);
/* Deletes what it has.  In handlers too. */
void preload_timer_end(struct preload_thread *t);
/*
 * Its signal came at that time and CPU time, in a system call or not: whether that is a sample.  If
 * not the timer is set anew.
 */
bool preload_timer_is_due(
	struct preload_thread *t, uint64_t now_ns, uint64_t cpu_ns, bool is_in_call);
/* The sample was taken; or it could not be, and is to be tried again soon. */
void preload_timer_sampled(struct preload_thread *t, uint64_t cpu_ns);
void preload_timer_again(struct preload_thread *t);
/* The calling thread, which rests, runs again. */
void preload_timer_wake(void);

/* ---- sample.c ---- */

/* Handles one of our signals in the thread that it interrupted. */
void preload_sample(void *context);

/* ---- marks.c ---- */

/*
 * How much of the stack [sp, end) the recorder needs: up to the innermost mark that is as it was,
 * or all of it.
 */
uint64_t preload_marks_needed(const struct preload_thread *t, uint64_t sp, uint64_t end_va);

/* ---- maps.c ---- */

/* Tells the recorder what code is mapped, as a record of that type. */
void preload_maps_tell(struct preload_thread *t, uint32_t type);
/* Reports it if the code at va is not among what was reported last. */
void preload_maps_notice(struct preload_thread *t, uint64_t va);

/* ---- lock.c ---- */

/* A thread of this process has that slot, or has it no more. */
void preload_lock_note(uint32_t slot, bool is_own);

/* ---- signals.c ---- */

/* Begins to take our signal; the program keeps believing that it is its own. */
void preload_signals_begin(void);
/* Makes our signal arrive in the calling thread, though the program may have blocked it. */
void preload_signals_thread(bool blocked_by_parent);
/* Whether the program has blocked our signal in the calling thread. */
bool preload_signals_blocked(void);
/* Blocks our signal in the calling thread in truth, or lets it come again. */
void preload_signals_hold(bool hold);
/* Gives the signal back to the program, and never takes it again. */
void preload_signals_end(void);

/* ---- seccomp.c ---- */

/* Seccomp filters that hold for the calling thread. */
uint32_t preload_seccomp_filters(void);
/*
 * Before a system call of the program that may forbid it others: whether it does so, and sampling
 * has been ended where it will hold.  Then what it returned, -1 if it failed.
 */
bool preload_seccomp_before(long number, const long arguments[6]);
void preload_seccomp_after(bool was_harmful, long got);

#endif
