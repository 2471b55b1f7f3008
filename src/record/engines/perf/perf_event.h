#ifndef SONDE_RECORD_ENGINES_PERF_PERF_EVENT_H
#define SONDE_RECORD_ENGINES_PERF_PERF_EVENT_H

/*
 * The perf events of one recording and the rings that they write to.
 *
 * There are several clocks, and one of them runs at a time: a larger copy of the stack in a sample
 * costs the target more.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture.h"
#include "record/engines/exact/exact.h"
#include "record/engines/perf/ring.h"
#include "record/events/perf_attr.h"

/* ---- rings ---- */

/*
 * Each CPU has rings for samples, for tracking records (maps, names, forks and exits), for
 * switches, for the stacks at switches and for wakings, so that a flood of one kind does not
 * displace the others.  A ring belongs to an event of our own that does nothing else; but the ring
 * of wakings belongs to the event on the CPU that reports all wakings there.  The events on the
 * recorded tasks, inherited by every thread and process that these create, write to the ring of
 * their CPU.  So tasks come and go, and the rings stay.
 */

struct perf_event_set;

enum perf_stream {
	PERF_STREAM_SAMPLES,
	PERF_STREAM_TRACK,
	PERF_STREAM_SWITCHES,
	PERF_STREAM_SWITCH_STACKS,
	PERF_STREAM_COUNTERS,
	PERF_STREAM_WAKINGS,
	PERF_STREAM_COUNT
};

struct perf_event_cpu {
	int number;
	int anchor_fd[PERF_STREAM_COUNT]; /* the rings' events; -1: no such stream */
	struct ring ring[PERF_STREAM_COUNT];
	/* For switches: the last task that left this CPU, and when. */
	int64_t left_tid;
	uint64_t left_ns;
};

/* The CPU of a ring. */
struct perf_event_cpu *perf_event_set_cpu(struct perf_event_set *set, const struct ring *ring);
/* The stream of a ring. */
enum perf_stream perf_event_set_stream(const struct perf_event_set *set, const struct ring *ring);

/* ---- events ---- */

struct waking_format;

/* The purpose of an event. */
enum perf_role {
	PERF_ROLE_CLOCK, /* index: which */
	PERF_ROLE_TRACK,
	PERF_ROLE_SWITCH,	/* reports tasks that leave their CPU or return */
	PERF_ROLE_SWITCH_STACK, /* samples them when they leave; index: of the rate */
	PERF_ROLE_COUNTER,	/* index: of the set's gears */
};

struct perf_source {
	enum perf_role role;
	uint32_t index;
	uint32_t rank; /* number of the call that opened events on its task */
};

struct perf_event {
	struct perf_source source;
	int cpu_number;
	pid_t task; /* -1: all tasks */
	int fd;
	uint64_t id; /* in the records; also in those of events that inherited it */
};

/* One of the events that a counter consists of. */
struct perf_gear {
	uint32_t counter; /* its index in the spec */
	uint32_t gear;
	uint64_t period; /* 0: samples have their own */
};

#define PERF_CLOCK_MAX 13
#define PERF_NO_CLOCK  UINT32_MAX

/* What differs between clocks of one rate.  There may be only the first. */
enum perf_clock_kind {
	PERF_CLOCK_LARGE,
	PERF_CLOCK_SMALL, /* copies less of the stack */
	PERF_CLOCK_EAGER, /* copies as much, and wakes the recorder at each sample */
	PERF_CLOCK_KINDS
};

/* A patient recorder's ring has room for the samples of this much time. */
#define PERF_PATIENT_TIME_NS UINT64_C(400000000)

/* What to open. */
struct perf_event_spec {
	uint64_t interval_ns;	   /* between samples of CPU time */
	uint32_t halvings;	   /* also open clocks of half, a quarter … of that rate */
	size_t ring_bytes_most;	   /* for samples, per CPU; 0: as many as are useful */
	bool quick;		   /* also open one with eight times the rate, for short threads */
	bool is_patient;	   /* rings are rarely drained (options.h), and hold few samples */
	bool eager;		   /* also open clocks that wake the recorder at each sample */
	uint32_t stack_bytes_most; /* of user stack in a sample; 0: maximum */
	bool switches;		   /* report context switches */
	bool switch_stacks;	   /* also sample at switches, if granted */
	const struct waking_format *waking;  /* report wakings; NULL: do not */
	const struct perf_counter *counters; /* [counter_count] */
	size_t counter_count;
	struct exact *exact; /* the program to run at each sample; NULL: none */
};

/* The counts of one counter. */
struct perf_counted {
	uint64_t events; /* number that happened */
	uint64_t lost;	 /* lost samples */
};

struct perf_event_counts {
	uint64_t cpu_ns; /* of all processes, including living ones; meaningless if wide */
	uint64_t lost;	 /* samples without room, except stacks at switches; 0 also if not
			    reported */
	struct perf_counted counters[CAPTURE_METRIC_MAX];
};

struct perf_event_set {
	struct perf_event_spec spec;
	struct perf_grant grant;
	struct backlog backlog;			  /* records moved out of the rings */
	VEC(struct perf_event_cpu) cpus;	  /* the CPUs that are online */
	VEC(struct perf_event) events;		  /* on the recorded tasks */
	struct perf_clock clocks[PERF_CLOCK_MAX]; /* one for each rate and kind */
	uint32_t clock_count;
	uint32_t kind_count;		    /* of each rate */
	uint32_t kind_at[PERF_CLOCK_KINDS]; /* among those of its rate; 0: missing, or the large */
	uint32_t quick;			    /* index of the quick one; PERF_NO_CLOCK: none */
	uint32_t chosen;		    /* by perf_event_set_choose */
	uint32_t clock;			    /* the one that runs */
	uint32_t rank;			    /* of the last task */
	size_t old;			    /* the number of first events that will be dropped */
	struct perf_event_counts before;    /* of closed events */
	uint32_t stack_rates; /* number of rates at which stacks at switches can be sampled */
	uint32_t thinning;    /* the current rate; 0: each switch */
	VEC(struct perf_gear) gears;	      /* of all counters */
	uint32_t gear_of[CAPTURE_METRIC_MAX]; /* [counter]: the gear that runs */
	bool is_wide;	 /* clocks are on CPUs, not tasks: all processes are sampled */
	bool tracks_all; /* trackers are on CPUs, too */
	/*
	 * The lock is held while events are added, removed, enabled or disabled.  Only the
	 * recorder's thread does that, except for perf_event_set_stop.
	 */
	pthread_mutex_t lock;
	bool is_stopped; /* no event samples */
	bool is_held;	 /* new events report nothing yet */
};

/*
 * Opens the rings, and all events on `first`: a child that has not called exec yet (on_exec:
 * sampling begins with its exec, tracking immediately), a task, 0 for ourselves, or -1 for all
 * tasks.  Without on_exec, sampling begins with perf_event_set_go_on.
 */
must_use struct error *perf_event_set_open(
	struct perf_event_set *set, const struct perf_event_spec *spec, pid_t first, bool on_exec);
/*
 * Opens only the rings, for a set to which perf_event_set_add adds events; sampling begins with
 * perf_event_set_go_on. tried_on: the task used to probe the kernel's grants, 0 for ourselves, -1
 * for all tasks.
 */
must_use struct error *perf_event_set_prepare(
	struct perf_event_set *set, const struct perf_event_spec *spec, pid_t tried_on);
/*
 * Plans only one size of copy, because there are many tasks; call it before the first event is
 * opened.
 */
void perf_event_set_slim(struct perf_event_set *set);
/* A zeroed set is allowed. */
void perf_event_set_close(struct perf_event_set *set);
/*
 * Opens the events on one more task, or with -1 for all tasks on each CPU, enabled like the others.
 * 0, or an errno, with none of them left open: ESRCH, the task is gone; EMFILE, too many.
 */
int perf_event_set_add(struct perf_event_set *set, pid_t task);
/* How many descriptors a task needs. */
size_t perf_event_set_task_fds(const struct perf_event_set *set);

/* The source of the event with that id in its records, or NULL. */
const struct perf_source *perf_event_set_find(const struct perf_event_set *set, uint64_t id);

/*
 * Moves all events from tasks to the CPUs.  Then a new thread has no clock of its own, which would
 * first have to run for a whole interval, and a fork copies no events.  It needs privileges, and
 * the caller must skip samples of other processes.  False: not allowed, nothing has changed.
 */
bool perf_event_set_widen(struct perf_event_set *set);
/*
 * Renewing: begins a set for the same rings, at the same rate, with smaller copies of the stack and
 * with the program.  Its events are disabled until perf_event_set_replace puts it in the place of
 * the old set, or it is cancelled.
 */
void perf_event_set_renew(const struct perf_event_set *set, struct exact *exact,
	uint32_t stack_bytes, struct perf_event_set *fresh);
/*
 * The fresh events start as the old ones stop.  Records of the old ones can be distinguished until
 * perf_event_set_drop_old.
 */
void perf_event_set_replace(struct perf_event_set *set, struct perf_event_set *fresh);
void perf_event_set_drop_old(struct perf_event_set *set);
void perf_event_set_cancel(struct perf_event_set *fresh);
/*
 * Runs another clock: with the rate halved this many times, at most as in the spec, and of this
 * kind.  If that is missing, the one with the large copy of the stack is used.
 */
void perf_event_set_choose(
	struct perf_event_set *set, uint32_t halvings, enum perf_clock_kind kind);
/*
 * Runs the quick clock instead, or the chosen one again.  False: there is no quick clock, or clocks
 * are wide.
 */
bool perf_event_set_quicken(struct perf_event_set *set, bool quick);
/* The size of the small copy; 0: there is none. */
uint32_t perf_event_set_small_bytes(const struct perf_event_set *set);
/* Whether there are eager clocks, and whether one of them runs. */
bool perf_event_set_has_eager(const struct perf_event_set *set);
bool perf_event_set_is_eager(const struct perf_event_set *set);

/* The size of all rings. */
uint64_t perf_event_set_ring_bytes(const struct perf_event_set *set);

/* Whether stacks at switches are sampled. */
bool perf_event_set_has_switch_stacks(const struct perf_event_set *set);
/*
 * Chooses how many stacks at switches are sampled, by the rates of stacks and of switches: if these
 * are very high, not each switch.
 */
void perf_event_set_thin(struct perf_event_set *set, double stacks_hz, double switches_hz);

/* Reads each event, which interrupts running threads. */
struct perf_event_counts perf_event_set_counts(const struct perf_event_set *set);
/*
 * The gear of a sample in a ring of counters, by the event id in it, or NULL.  The kernel gives
 * samples of two software events of one kind the id of the first, so a counter of context switches
 * may have that of the stacks at switches.  It then belongs to the running gear.
 */
const struct perf_gear *perf_event_set_gear(
	const struct perf_event_set *set, const struct perf_source *source);
/* Runs another gear of the counter. */
void perf_event_set_shift(struct perf_event_set *set, uint32_t counter, uint32_t gear);
/*
 * Whether the kernel has removed all clocks from their tasks: the tasks are gone, or have more
 * privileges now.
 */
bool perf_event_set_hung_up(const struct perf_event_set *set);
/* Stops the sampling, from any thread, or lets it continue. */
void perf_event_set_stop(struct perf_event_set *set);
bool perf_event_set_is_stopped(const struct perf_event_set *set);
void perf_event_set_go_on(struct perf_event_set *set);

#endif
