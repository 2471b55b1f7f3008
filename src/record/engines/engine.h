#ifndef SONDE_RECORD_ENGINES_ENGINE_H
#define SONDE_RECORD_ENGINES_ENGINE_H

/*
 * An engine: where samples come from.  It finds the target's threads their time, takes their
 * registers and a piece of their stacks, and feeds a struct recording; how stacks are walked, named
 * and written is the same for all.
 *
 * An engine is one file that ends in its table of calls; engine_open chooses.
 *
 * To add one: write engine_NAME.c, which ends in its engine_ops and a function that opens it.  It
 * hands samples to recording_take_clock and its like, what happens to processes and their code to
 * the process table, and counts in `counts` whatever it can't keep.  Add it to enum recorder_engine
 * (recorder.h), to engine_open with what is said where it is refused, to the choices of --engine
 * (cli/record_options.c), and to sonde-record(1) and sonde-capture(5), where its name is a fact.
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
	uint64_t cpu_ns; /* that the target used, by the engine's own clocks; UINT64_MAX: unknown */
	uint64_t asked_ns;   /* when they were asked for it: perhaps some time ago */
	uint64_t lost;	     /* samples */
	uint64_t lost_rests; /* of stacks, that could not be copied with their samples */
	uint64_t thinned;    /* samples that others of their thread stand for, as it fell behind */
	uint64_t stolen_ns;  /* that sampling took from the target, by the setup's price */
	bool rate_changed;   /* at some time, for whatever reason */
	bool kernel;	     /* whether code in the kernel is sampled */
	bool by_use; /* samples weigh the CPU time that was used, not the interval; cpu_ns in all */
	uint64_t broken_records;	   /* of the preloaded library, that were none */
	uint32_t refused_threads;	   /* that it had no room for */
	uint32_t sealed_threads;	   /* that it had to leave, as seccomp holds for them */
	uint64_t stray_ns[CAPTURE_STRAYS]; /* that went by where it was not, if that was seen */
	uint32_t left_out;		   /* threads of attached processes that are not sampled */
	/* Of the events beside time. */
	struct {
		uint64_t events; /* that there were; UINT64_MAX: not known */
		uint64_t lost;	 /* samples of them */
	} counters[CAPTURE_METRIC_MAX];
};

struct engine;

struct engine_ops {
	const char *name; /* "snapshot" */
	/* Adds the descriptors that become readable when there is work. */
	void (*poll_fds)(struct engine *e, pollfd_vec *fds);
	/* Takes all that there is now, or what can be taken until the time of stop_at. */
	void (*drain)(struct engine *e);
	/*
	 * No sample is to be taken after that time, by clock_monotonic_ns, however busy we are.
	 * NULL: it is enough to call stop then.
	 */
	void (*stop_at)(struct engine *e, uint64_t time_ns);
	/* How long it may be until the next drain, if no descriptor tells. */
	uint64_t (*wait_ns)(struct engine *e);
	/* Called every tenth of a second: looks whether things are as they should be. */
	void (*watch)(struct engine *e);
	/* Takes samples at the rate that was asked for, halved so many times. */
	void (*slow_down)(struct engine *e, uint32_t halvings);
	void (*stop)(struct engine *e);
	/* While the target lives, and after its end. */
	void (*counts)(struct engine *e, struct engine_counts *counts);
	/* Whether the kernel had ended the sampling of a target that went on at that time. */
	bool (*has_ended)(struct engine *e, uint64_t alive_ns);
	void (*close)(struct engine *e);
};

struct engine {
	const struct engine_ops *ops;
	bool has_real_clock; /* it tells of time off the CPU */
};

/* How often the rate can be halved, if there is a limit to the overhead. */
#define ENGINE_HALVINGS 3

struct preload_wake;

struct engine_setup {
	const struct recorder_options *options;
	struct recording *recording;
	struct target *target;
	struct budget_price price; /* of a sample; zero: not known */
	struct preload_wake *wake; /* the library, dormant in the target; NULL: it is not there */
};

/*
 * Starts the target, held before its first instruction if it is launched, and opens an engine on
 * it. On failure the target is gone: ERROR_UNSUPPORTED with what would allow it.
 */
must_use struct error *engine_open(const struct engine_setup *setup, struct engine **engine);

/* The engines.  The target has been started (wake is the engine's, if that opens), */
must_use struct error *engine_perf_open(const struct engine_setup *setup, struct engine **engine);
/* or is started, with an environment of its own. */
must_use struct error *engine_preload_open(
	const struct engine_setup *setup, struct engine **engine);

#endif
