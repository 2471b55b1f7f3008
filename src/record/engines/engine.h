#ifndef SONDE_RECORD_ENGINES_ENGINE_H
#define SONDE_RECORD_ENGINES_ENGINE_H

/*
 * An engine is a source of samples.  It samples the target's threads, takes their registers and a
 * piece of their stacks, and passes them to a struct recording.  Stacks are walked, named and
 * written in the same way for all engines.
 *
 * An engine is one file that ends in its table of calls; engine_open chooses.
 *
 * To add one: write a folder with engine_NAME.c, which ends in its engine_ops and a function that
 * opens it.  It passes samples to recording_take_clock and the like, reports processes and their
 * mappings to the process table, and counts in `counts` whatever it cannot keep.  Add it to enum
 * recorder_engine (options.h), to engine_open with the message for a refusal, to the choices of
 * --engine (cli/record_options.c), and to sonde-record(1) and sonde-capture(5), which list its
 * name.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_stray.h"
#include "record/budget.h"
#include "record/options.h"
#include "record/recording.h"
#include "record/target.h"

typedef VEC(struct pollfd) pollfd_vec;

struct engine_counts {
	uint64_t cpu_ns;     /* of the target, from the engine's own clocks; UINT64_MAX: unknown */
	uint64_t asked_ns;   /* when the clocks were read, possibly some time ago */
	uint64_t lost;	     /* samples */
	uint64_t lost_rests; /* rests of stacks that could not be copied with their samples */
	uint64_t thinned;    /* samples dropped because the recorder fell behind; others represent
			     them */
	uint64_t stolen_ns;  /* the cost to the target, at the setup's price */
	uint64_t ring_bytes; /* of the rings with the kernel; 0: none */
	bool rate_changed;   /* at some time, for any reason */
	bool kernel;	     /* kernel code is sampled */
	bool by_use; /* samples weigh the CPU time used, not the interval; their sum is cpu_ns */
	uint64_t broken_records;	   /* invalid records of the preloaded library */
	uint32_t refused_threads;	   /* threads for which it had no room */
	uint32_t sealed_threads;	   /* threads that it had to leave because of seccomp */
	uint64_t stray_ns[CAPTURE_STRAYS]; /* CPU time found in threads without the library */
	uint32_t left_out;		   /* threads of attached processes that are not sampled */
	/* For events other than time. */
	struct {
		uint64_t events; /* that happened; UINT64_MAX: unknown */
		uint64_t lost;	 /* samples of them */
	} counters[CAPTURE_METRIC_MAX];
};

struct engine;

struct engine_ops {
	const char *name; /* "snapshot" */
	/* Adds the descriptors that become readable when there is work. */
	void (*poll_fds)(struct engine *e, pollfd_vec *fds);
	/*
	 * Takes all samples and reports available now, or those that can be taken before the time
	 * of stop_at.
	 */
	void (*drain)(struct engine *e);
	/*
	 * Stop sampling at that time, by clock_monotonic_ns, however busy the recorder is.  NULL:
	 * calling stop is enough.
	 */
	void (*stop_at)(struct engine *e, uint64_t time_ns);
	/* How long the next drain may be delayed if no descriptor becomes readable. */
	uint64_t (*wait_ns)(struct engine *e);
	/* Called every tenth of a second, for checks and upkeep. */
	void (*watch)(struct engine *e);
	/* Sets the sampling rate to the requested one, halved this many times. */
	void (*slow_down)(struct engine *e, uint32_t halvings);
	void (*stop)(struct engine *e);
	/* Call it while the target lives, and after its end. */
	void (*counts)(struct engine *e, struct engine_counts *counts);
	/* Whether the kernel ended the sampling while the target was still running, at alive_ns. */
	bool (*has_ended)(struct engine *e, uint64_t alive_ns);
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	bool has_real_clock; /* it records time off the CPU */
};

/* How often the rate can be halved if the overhead is limited. */
#define ENGINE_HALVINGS 3

struct preload_wake;

struct engine_setup {
	const struct recorder_options *options;
	struct recording *recording;
	struct target *target;
	struct budget_price price; /* of a sample; zero: unknown */
	struct preload_wake *wake; /* the library, dormant in the target; NULL: without it */
};

/*
 * Starts the target, held before its exec if it is launched, and opens an engine on it.  On failure
 * the target is gone; ERROR_UNSUPPORTED states what would allow it.
 */
must_use struct error *engine_open(const struct engine_setup *setup, struct engine **engine);

/* The engines.  engine_perf_open needs a started target; on success it owns setup->wake. */
must_use struct error *engine_perf_open(const struct engine_setup *setup, struct engine **engine);
/* engine_preload_open starts the target, with a modified environment. */
must_use struct error *engine_preload_open(
	const struct engine_setup *setup, struct engine **engine);

#endif
