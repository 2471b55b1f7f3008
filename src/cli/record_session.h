#ifndef SONDE_CLI_RECORD_SESSION_H
#define SONDE_CLI_RECORD_SESSION_H

/*
 * One recording from start to end, for `sonde record` and `sonde run`: runs the target, resolves
 * names, finishes the file, and prints a summary.
 *
 *	record_session_run(&request, &outcome);
 *	if (outcome.recorded) … show the file …
 *	return record_session_exit(&outcome);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/events/event_list.h"
#include "record/recorder.h"

#define RECORD_OUTPUT_DEFAULT "sonde.prof"
/*
 * 1,003 samples per second of CPU time; odd, to avoid running in step with periodic events of 1 ms.
 */
#define RECORD_INTERVAL_DEFAULT UINT64_C(997001)
/* The maximum rate of the kernel's clocks. */
#define RECORD_INTERVAL_MIN UINT64_C(10000)

#define RECORD_PIDS_MAX 64

struct record_request {
	char *const *command;	     /* NULL-terminated; NULL: only other processes are recorded */
	pid_t pids[RECORD_PIDS_MAX]; /* to attach to */
	size_t pid_count;
	bool by_name;		/* some were given by name */
	bool everybody;		/* the whole machine */
	uint64_t delay_ns;	/* left out at the start */
	uint64_t duration_ns;	/* 0: until the target ends */
	const char *control;	/* path of a FIFO for commands; NULL: none */
	uint64_t keep_ns;	/* only this last part is kept; 0: all */
	uint64_t tick_over_ns;	/* 0: none */
	struct str tick_stream; /* data NULL: any */
	const char *output;
	uint64_t interval_ns; /* at least RECORD_INTERVAL_MIN */
	enum recorder_engine engine;
	double overhead_most; /* share of the target's CPU time; 0: no limit */
	enum recorder_clock clock;
	bool wakers; /* also record who wakes threads */
	bool locks;  /* also record which locks they wait for */
	enum recorder_zones zones;
	bool tail_calls;	  /* restore callers that left no frame */
	bool no_symbols;	  /* of programs and libraries; others cannot be named later */
	struct event_list events; /* counted in addition to time */
	struct strbuf when;	  /* patterns, each NUL-terminated */
	bool lists_events;	  /* print the possible events instead of recording */
	bool quiet;		  /* no progress and no summary; problems are still reported */
	bool hint;		  /* end with the next command to type */
	/*
	 * Called for each file that is finished, also a dump, in the process that wrote it; path
	 * NULL: it failed.  NULL: nobody wants to know.
	 */
	void (*written)(void *data, const char *path);
	void *written_data;
};

/* Frees memory allocated for options. */
void record_request_deinit(struct record_request *request);

struct record_outcome {
	bool recorded;	  /* the file exists and is complete */
	int status;	  /* to exit with */
	int raise_signal; /* 0, or the signal that ended the target, or ended the recording */
};

void record_session_run(const struct record_request *request, struct record_outcome *outcome);
/*
 * Ends this process with the same signal as the target, if there was one; else returns the exit
 * status.
 */
int record_session_exit(const struct record_outcome *outcome);

#endif
