#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

/*
 * Records a launched program, running ones or the whole machine into a capture file.
 *
 * The recorder does not depend on symbols or terminals.  The caller passes a callback for progress.
 * When the target has ended, the caller gets the sampled addresses, resolves their names, and
 * finishes the file:
 *
 * 	recorder_create(&options, &recorder)   opens the file, nothing runs yet
 * 	recorder_run(recorder, &result)        runs the target to its end, or to a detach
 * 	recorder_object(recorder, …)           what to resolve; names go to capture_writer_symbol
 * 	recorder_finish(recorder, …)           closes the file
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/sonde/layout/capture.h"
#include "obj/tail_calls.h"
#include "record/file/capture_writer.h"
#include "record/options.h"
#include "record/zones/zones.h"

struct recorder;

/* The figures of one event other than time. */
struct recorder_counted {
	struct str name;
	uint64_t events;  /* number that happened; UINT64_MAX: unknown */
	uint64_t weight;  /* the part of them in samples */
	uint64_t samples; /* kept */
	uint64_t lost;	  /* samples */
};

struct recorder_result {
	const char *engine; /* "snapshot", "preload", "exact" */
	int wait_status;    /* of the command, as from wait4; 0: none; meaningless if detached */
	bool detached;	    /* a second Ctrl-C, a SIGTERM or the time limit left it running */
	int detach_signal;  /* which signal, 0: none */
	uint64_t duration_ns;
	uint64_t cpu_ns;   /* without off_ns; UINT64_MAX: unknown; also for expected */
	uint32_t left_out; /* threads of attached processes that could not be sampled */
	uint64_t interval_ns;
	uint64_t samples;
	uint64_t sampled_ns; /* the weight of the samples */
	uint64_t expected;   /* number of samples for the CPU time that could be sampled, at the
			        mean weight */
	uint64_t counters[CAPTURE_COUNTER_COUNT];
	uint64_t thinned;     /* samples dropped because the recorder fell behind; others represent
			       them */
	uint64_t walked;      /* stacks of samples and of waiting threads */
	uint64_t truncated;   /* truncated and guessed stacks among them */
	uint64_t threads;     /* total number that ran */
	size_t children_left; /* processes of the target that still run after its end */
	bool stopped;	      /* sampling stopped because the file could no longer be written */
	bool sampling_ended;  /* the kernel ended it before the target's end, at a set-uid exec */
	/* Programs that only root may sample, and the name of the first. */
	size_t denied;
	char denied_name[16];
	uint64_t kernel_cpu_ns; /* the part of cpu_ns in kernel code that could not be sampled */
	uint64_t off_ns;	/* the part of the duration left out by the delay and by commands */
	uint64_t late_ns;   /* how long after from_ns sampling began; nothing was sampled before */
	uint64_t keep_ns;   /* how much of the duration to keep; 0: all */
	bool kept_is_short; /* memory did not suffice for keep_ns */
	bool is_dump;	    /* the recording continues */
	uint64_t lost_cpu_ns;  /* the part of cpu_ns without samples for any other reason */
	double overhead;       /* share of the target's CPU time that the recording cost */
	uint32_t halvings;     /* of the rate, at the end */
	bool lowest_rate;      /* the rate cannot be lowered further */
	bool rate_changed;     /* for any reason: samples weigh their intervals */
	uint32_t rate_changes; /* made to keep to overhead_most */
	/* The part of cpu_ns used by programs that cannot be sampled, or opted out. */
	uint64_t unreached_cpu_ns;
	bool by_use;	    /* samples weigh the CPU time used, not the interval */
	bool is_machine;    /* the clocks were those of the CPUs from the start */
	bool is_attached;   /* to processes that were running already */
	bool kernel_frames; /* whether kernel frames could be recorded */
	struct recorder_counted counted[RECORDER_COUNTERS_MAX]; /* as many as requested */
	size_t counted_count;
	struct zones_result zones; /* programs 0: none */
};

must_use struct error *recorder_create(
	const struct recorder_options *options, struct recorder **recorder);
/*
 * If it fails, nothing was recorded: call recorder_abandon.  ERROR_SYSTEM: the command's exec
 * failed, with execve's errno (ENOENT and the like) as code.  ERROR_UNSUPPORTED: the machine does
 * not allow sampling; the message states what would allow it.
 */
must_use struct error *recorder_run(struct recorder *r, struct recorder_result *result);
/* Removes the capture file and frees the recorder. */
void recorder_abandon(struct recorder *r);

struct recorder_object {
	struct str path, open_path,
		build_id; /* open_path: /proc/PID/root/… or a path of a descriptor; may be empty */
	enum capture_object_kind kind;
	bool is_replaced;  /* it has no build ID, and its file has been written to meanwhile */
	int64_t pid;	   /* of the process that mapped it first; 0: unknown */
	uint64_t begin_ns; /* for code made at run time: when it was loaded; else 0 */
	const uint64_t *addresses; /* sampled obj_addrs, ascending, distinct; the recorder's */
	size_t address_count;
};
/*
 * The sampled load objects by their ids in the file; those without sampled addresses have count 0.
 */
size_t recorder_object_count(const struct recorder *r);
void recorder_object(struct recorder *r, uint32_t object, struct recorder_object *out);
/*
 * The pairs of an object's frames, one called directly from the other: *count of them, ascending;
 * the recorder's.
 */
const struct tail_pair *recorder_pairs(struct recorder *r, uint32_t object, size_t *count);
/* The name of code made at run time, at an address of such an object, from a perf map. */
bool recorder_generated_name(
	const struct recorder *r, uint32_t object, uint64_t va, struct str *name);
struct capture_writer *recorder_writer(struct recorder *r);

/* Finishes the capture file and frees the recorder. *size_bytes: of the file, also on failure. */
must_use struct error *recorder_finish(struct recorder *r, uint64_t *size_bytes);

#endif
