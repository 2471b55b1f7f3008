#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

/*
 * Records a launched program, running ones or the whole machine into a capture file.
 *
 * The recorder knows nothing of symbols or terminals: the caller gives a callback for progress and,
 * when the target has ended, asks for the sampled addresses, names them, and finishes the file:
 *
 *	recorder_create(&options, &recorder)   opens the file, nothing runs yet
 *	recorder_run(recorder, &result)        runs the target to its end, or to a detach
 *	recorder_object(recorder, …)           what to name; capture_writer_symbol takes the names
 *	recorder_finish(recorder, …)           closes the file
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/sonde/layout/capture.h"
#include "record/file/capture_writer.h"
#include "record/events/perf_attr.h"
#include "record/target.h"

struct recorder;

struct recorder_progress {
	uint64_t samples, lost, elapsed_ns;
};

enum recorder_engine {
	RECORDER_ENGINE_AUTO, /* snapshot, which becomes exact if it may; or preload where it is
				 refused */
	RECORDER_ENGINE_SNAPSHOT,
	RECORDER_ENGINE_PRELOAD,
	RECORDER_ENGINE_EXACT, /* or snapshot, where it is not to be had */
};

/* Real time is CPU time, and all time off the CPU. */
enum recorder_clock {
	RECORDER_CLOCK_DEFAULT, /* both, but of the whole machine the virtual one */
	RECORDER_CLOCK_BOTH,	/* the same as the real one, but CPU time is shown first */
	RECORDER_CLOCK_VIRTUAL,
	RECORDER_CLOCK_REAL,
};

/* What is recorded of programs that measure themselves (prof.h). */
enum recorder_zones {
	RECORDER_ZONES_AUTO,
	RECORDER_ZONES_NONE,
	RECORDER_ZONES_EVENTS,	  /* each entering and leaving of a zone, too */
	RECORDER_ZONES_FUNCTIONS, /* functions compiled with -finstrument-functions are zones */
};

/* What came of it. */
struct zones_result {
	uint32_t programs;
	uint32_t zones;	    /* distinct ones, functions left out */
	uint32_t functions; /* that are zones */
	uint64_t ticks, lost_ticks;
	uint64_t unknown;     /* samples, and times off the CPU, whose zone is not known */
	uint64_t lost_events; /* that were to be stored */
};

/* Events beside time, so that with the clocks' there are CAPTURE_METRIC_MAX metrics. */
#define RECORDER_COUNTERS_MAX (CAPTURE_METRIC_MAX - 6)

/* How one of the events beside time went. */
struct recorder_counted {
	struct str name;
	uint64_t events;  /* that there were; UINT64_MAX: not known */
	uint64_t weight;  /* of them in samples */
	uint64_t samples; /* kept */
	uint64_t lost;	  /* samples */
};

struct recorder_result;

struct recorder_options {
	enum recorder_engine engine;
	enum target_kind kind; /* what is recorded: record/target.h */
	char *const *command;  /* NULL-terminated argv; NULL where others than it are recorded */
	const pid_t *pids;     /* [pid_count] to attach to */
	size_t pid_count;
	uint64_t delay_ns;    /* that is left out at first */
	uint64_t duration_ns; /* the recording ends after it, and the delay; 0: never */
	uint64_t keep_ns;     /* the last stretch of the recording that is kept; 0: all */
	uint64_t
		tick_over_ns; /* with keep_ns: a tick that takes as long asks for a dump; 0: none */
	struct str tick_stream; /* of that stream; data NULL: of any */
	const char *control;	/* path of a FIFO of commands (record/command_pipe.h); NULL: none */
	struct str when;      /* patterns for whoever reads the file, each ended by NUL; borrowed */
	const char *output;   /* path, "-" for standard output */
	uint64_t interval_ns; /* between samples of CPU time */
	double overhead_most; /* share of the target's CPU time that it may cost; 0: no matter */
	enum recorder_clock clock;
	bool wakers; /* record who wakes threads that wait, too: takes the real clock and rights */
	bool locks;  /* record which locks threads wait for, and who holds them, too */
	enum recorder_zones zones;
	const struct perf_counter *counters; /* [counter_count] events beside time; borrowed */
	size_t counter_count;		     /* at most RECORDER_COUNTERS_MAX */
	/* Called at most 10 times a second while the target runs; may be NULL. */
	void (*progress)(void *context, const struct recorder_progress *progress);
	void *progress_context;
	/* Called with a line that the user must know while the target runs; may be NULL. */
	void (*say)(const char *line);
	/*
	 * With keep_ns: called for each dump, in a process of its own that ends after it.  It names
	 * what was sampled, and finishes the file by capture_writer_finish.
	 */
	void (*dump)(void *context, struct recorder *recorder, struct recorder_result *result,
		const char *path);
	void *dump_context;
};

struct recorder_result {
	const char *engine; /* "snapshot", "preload", "exact" */
	int wait_status;    /* of the command, as from wait4; 0: none; meaningless if detached */
	bool detached;	    /* a second Ctrl-C, a SIGTERM, or its time's end let it go on alone */
	int detach_signal;  /* which signal, 0: none */
	uint64_t duration_ns;
	uint64_t cpu_ns;   /* without off_ns; UINT64_MAX: not known, and the same of expected */
	uint32_t left_out; /* threads of attached processes that could not be sampled */
	uint64_t interval_ns;
	uint64_t samples;
	uint64_t sampled_ns; /* what they weigh */
	uint64_t
		expected; /* of the CPU time that could be sampled, at the mean weight of samples */
	uint64_t counters[CAPTURE_COUNTER_COUNT];
	uint64_t thinned;     /* samples that others stand for, as the recorder fell behind */
	uint64_t walked;      /* stacks, of samples and of threads that wait */
	uint64_t truncated;   /* of these, not walked whole */
	uint64_t threads;     /* that ran, all told */
	size_t children_left; /* processes that the target started and that went on after it */
	bool stopped;	      /* sampling, as the file could not be written any more */
	bool sampling_ended;  /* the kernel ended it before the target's end: a set-uid exec */
	/* Programs that the kernel lets nobody sample who is not root, and the first's name. */
	size_t denied;
	char denied_name[16];
	uint64_t kernel_cpu_ns; /* the part of cpu_ns that could not be sampled: kernel code */
	uint64_t off_ns;	/* of the duration: left out by the delay and by commands */
	uint64_t keep_ns;	/* of the duration, about so much was to be kept; 0: all */
	bool kept_is_short;	/* there was no memory for it */
	bool is_dump;		/* the recording goes on */
	uint64_t lost_cpu_ns;	/* the part of it that is in no sample for any other reason */
	double overhead;	/* share of the target's CPU time that it cost in the end */
	uint32_t halvings;	/* of the rate, at the end */
	bool lowest_rate;	/* it goes no lower */
	bool rate_changed;	/* for whatever reason: samples weigh their intervals */
	uint32_t rate_changes;	/* that it took to keep to overhead_most */
	/* Of cpu_ns, used by programs that can't be sampled, or did not want to be. */
	uint64_t unreached_cpu_ns;
	bool by_use;	    /* samples weigh the CPU time that was used, not the interval */
	bool is_machine;    /* the clocks were the CPUs', from the start */
	bool is_attached;   /* to processes that ran before */
	bool kernel_frames; /* whether kernel frames could be recorded */
	struct recorder_counted counted[RECORDER_COUNTERS_MAX]; /* as many as asked for */
	size_t counted_count;
	struct zones_result zones; /* programs 0: there were none */
};

must_use struct error *recorder_create(
	const struct recorder_options *options, struct recorder **recorder);
/*
 * If it fails, nothing was recorded: call recorder_abandon.  ERROR_SYSTEM is a failed exec of the
 * command, its code execve's errno (ENOENT and the like); ERROR_UNSUPPORTED a machine that does not
 * allow sampling, with what would allow it.
 */
must_use struct error *recorder_run(struct recorder *r, struct recorder_result *result);
/* Removes the capture file and frees the recorder. */
void recorder_abandon(struct recorder *r);

struct recorder_object {
	struct str path, open_path,
		build_id; /* open_path: /proc/PID/root/… or fd path, may be empty */
	enum capture_object_kind kind;
	int64_t pid;		   /* of the process that mapped it first; 0: not known */
	uint64_t begin_ns;	   /* of code made at run time: since when it stood there; else 0 */
	const uint64_t *addresses; /* sampled obj_addrs, ascending, distinct; the recorder's */
	size_t address_count;
};
/* The sampled load objects by their ids in the file; those without addresses have count 0. */
size_t recorder_object_count(const struct recorder *r);
void recorder_object(struct recorder *r, uint32_t object, struct recorder_object *out);
struct capture_writer *recorder_writer(struct recorder *r);

/* Finishes the capture file and frees the recorder. *size_bytes: of the file, also on failure. */
must_use struct error *recorder_finish(struct recorder *r, uint64_t *size_bytes);

/* What this machine allows, for `sonde doctor` and for messages. */
struct recorder_ability {
	bool perf_open;	  /* perf_event_open for our own processes works */
	int perf_errno;	  /* if not */
	bool kernel;	  /* kernel frames too */
	bool system_wide; /* other users' processes and whole CPUs */
	int paranoid;	  /* kernel.perf_event_paranoid, INT_MIN: unknown */
	int mlock_kb;	  /* kernel.perf_event_mlock_kb */
	uint64_t memlock_bytes;
	bool hardware;	     /* a PMU with cycles */
	bool seccomp;	     /* a seccomp filter is on us */
	uint64_t ring_bytes; /* the largest ring buffer a CPU that mmap gave */
	int max_stack;	     /* kernel.perf_event_max_stack */
	int max_sample_rate;
	bool kallsyms;	   /* kernel addresses readable */
	bool remote_reads; /* process_vm_readv of a child works */
	bool any_process;  /* may look into all processes: CAP_SYS_PTRACE */
	bool is_root;	   /* which in a container lacks capabilities all the same */
	int ptrace_scope;  /* kernel.yama.ptrace_scope; 0 also where there is no Yama */
	bool preload;	   /* the library to preload where there are no perf events is there */
	/* Why the exact engine can't be had, "": it can. */
	char exact_refusal[256];
	/* Why who wakes threads can't be recorded, "": it can. */
	char waking_refusal[256];
};
void recorder_probe(struct recorder_ability *ability);
/* What lets a program sample in a container whose filter of system calls forbids it. */
extern const char recorder_container_cure[];

#endif
