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
/* 1,003 samples a second of CPU time: odd, so as not to fall in step with what happens each ms. */
#define RECORD_INTERVAL_DEFAULT UINT64_C(997001)
/* The kernel's clocks go no faster. */
#define RECORD_INTERVAL_MIN UINT64_C(10000)

#define RECORD_PIDS_MAX 64

struct record_request {
	char *const *command;	     /* NULL-terminated; NULL: only others are recorded */
	pid_t pids[RECORD_PIDS_MAX]; /* to attach to */
	size_t pid_count;
	bool by_name;		/* some of them were given by name */
	bool everybody;		/* the whole machine */
	uint64_t delay_ns;	/* left out at first */
	uint64_t duration_ns;	/* 0: to the target's end */
	const char *control;	/* path of a FIFO of commands; NULL: none */
	uint64_t keep_ns;	/* the last stretch, which is kept; 0: all */
	uint64_t tick_over_ns;	/* 0: none */
	struct str tick_stream; /* data NULL: any */
	const char *output;
	uint64_t interval_ns; /* RECORD_INTERVAL_MIN at least */
	enum recorder_engine engine;
	double overhead_most; /* share of the target's CPU time; 0: no limit */
	enum recorder_clock clock;
	bool wakers; /* record who wakes threads, too */
	bool locks;  /* and which locks they wait for */
	enum recorder_zones zones;
	struct event_list events; /* counted beside time */
	struct strbuf when;	  /* patterns, each ended by NUL */
	bool lists_events;	  /* in place of a recording, print what events there are */
	bool quiet; /* no progress and no last lines; what went wrong is said all the same */
	bool hint;  /* end with the next command to type */
};

/* Frees what options have allocated. */
void record_request_deinit(struct record_request *request);

struct record_outcome {
	bool recorded;	  /* the file is there and whole */
	int status;	  /* to exit with */
	int raise_signal; /* 0, or the signal that ended the target, or ended the recording */
};

void record_session_run(const struct record_request *request, struct record_outcome *outcome);
/* Ends us by the same signal as the target, if by one; else returns the exit status. */
int record_session_exit(const struct record_outcome *outcome);

#endif
