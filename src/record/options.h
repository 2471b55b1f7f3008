#ifndef SONDE_RECORD_OPTIONS_H
#define SONDE_RECORD_OPTIONS_H

/* The options of a recorder: what to record, and how. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "formats/sonde/layout/capture.h"
#include "record/events/perf_attr.h"
#include "record/target.h"

struct recorder;
struct recorder_result;

struct recorder_progress {
	uint64_t samples, lost, elapsed_ns;
	uint64_t ring_bytes; /* of all rings with the kernel */
};

enum recorder_engine {
	RECORDER_ENGINE_AUTO, /* snapshot, upgraded to exact if allowed; or preload if perf
			         events are refused */
	RECORDER_ENGINE_SNAPSHOT,
	RECORDER_ENGINE_PRELOAD,
	RECORDER_ENGINE_EXACT, /* falls back to snapshot if not available */
};

/* Real time is CPU time and all time off the CPU. */
enum recorder_clock {
	RECORDER_CLOCK_DEFAULT, /* both; for the whole machine, the virtual one */
	RECORDER_CLOCK_BOTH,	/* like the real one, but CPU time is shown first */
	RECORDER_CLOCK_VIRTUAL,
	RECORDER_CLOCK_REAL,
};

/* What to record about programs with zones (prof.h). */
enum recorder_zones {
	RECORDER_ZONES_AUTO,
	RECORDER_ZONES_NONE,
	RECORDER_ZONES_EVENTS,	  /* also each entry to and exit from a zone */
	RECORDER_ZONES_FUNCTIONS, /* functions compiled with -finstrument-functions are zones */
};

/*
 * The maximum number of events other than time: together with the metrics of time,
 * CAPTURE_METRIC_MAX.
 */
#define RECORDER_COUNTERS_MAX (CAPTURE_METRIC_MAX - 6)

struct recorder_options {
	enum recorder_engine engine;
	enum target_kind kind; /* what is recorded: target.h */
	char *const *command;  /* NULL-terminated argv; NULL: none is launched */
	const pid_t *pids;     /* [pid_count] to attach to */
	size_t pid_count;
	uint64_t delay_ns;    /* left out at the start */
	uint64_t duration_ns; /* the recording ends after it and the delay; 0: never */
	/*
	 * CLOCK_MONOTONIC: samples from from_ns until before until_ns, in place of delay and
	 * duration; recordings that follow each other so have each sample once.  The engine opens
	 * at once, so call recorder_run a little before.  0: from the start, or to the end.
	 * Another process may set *until_ns to another time to come; NULL: 0.
	 */
	uint64_t from_ns;
	const uint64_t *until_ns;
	uint64_t keep_ns;	/* only the last part of the recording is kept; 0: all */
	uint64_t tick_over_ns;	/* with keep_ns: a tick of this length requests a dump; 0: none */
	struct str tick_stream; /* only ticks of that stream; data NULL: of any */
	const char *control;	/* path of a FIFO for commands (control.h); NULL: none */
	struct str when;      /* patterns for readers of the file, each NUL-terminated; borrowed */
	const char *output;   /* path, "-" for standard output */
	uint64_t interval_ns; /* between samples of CPU time */
	double overhead_most; /* maximum cost, as a share of the target's CPU time; 0: no limit */
	enum recorder_clock clock;
	bool wakers;   /* also record who wakes threads: needs the real clock and privileges */
	bool locks;    /* also record which locks threads wait for, and who holds them */
	bool services; /* labels are service, unit, container and command, in place of CPU and
			  control group (processes/service.h) */
	/*
	 * For recordings that never end, at a low rate: look at rings this rarely, with small
	 * rings.  That saves most of the recorder's time and memory, but stacks
	 * deeper than the copies are read later, and files of short programs may be gone.  0: as
	 * often as is best for the recording.
	 */
	uint64_t patience_ns;
	enum recorder_zones zones;
	const struct perf_counter *counters; /* [counter_count] events other than time; borrowed */
	size_t counter_count;		     /* at most RECORDER_COUNTERS_MAX */
	/* Called at most 10 times a second while the target runs; may be NULL. */
	void (*progress)(void *context, const struct recorder_progress *progress);
	void *progress_context;
	/* Called with a message for the user while the target runs; may be NULL. */
	void (*say)(const char *line);
	/*
	 * With keep_ns: called for each dump, in a child process that ends after it.  It resolves
	 * the names of what was sampled, and finishes the file with capture_writer_finish.
	 */
	void (*dump)(void *context, struct recorder *recorder, struct recorder_result *result,
		const char *path);
	void *dump_context;
};

#endif
