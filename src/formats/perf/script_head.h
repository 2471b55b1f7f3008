#ifndef SONDE_FORMATS_PERF_SCRIPT_HEAD_H
#define SONDE_FORMATS_PERF_SCRIPT_HEAD_H

/*
 * The first line of a sample in the text of `perf script`: who, when and what.  Which of it is
 * there is up to -F, and nothing says so.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum perf_head_kind {
	PERF_HEAD_NONE,	  /* the line is no such line */
	PERF_HEAD_SAMPLE, /* of a sample */
	PERF_HEAD_RECORD, /* of something else in the recording: a mapping, a fork, … */
};

/* Strings are parts of the line. */
struct perf_head {
	struct str who; /* comm, pid, tid and CPU as they stand; what to know a thread again by */
	struct str comm;
	int64_t pid, tid;  /* -1: not told */
	int64_t cpu;	   /* the same */
	uint64_t time_ns;  /* UINT64_MAX: not told */
	uint64_t period;   /* UINT64_MAX: not told */
	struct str event;  /* empty: not told */
	struct str record; /* of a PERF_HEAD_RECORD: what begins with PERF_RECORD_ */
	struct str rest;   /* what follows on the line */
};

/*
 * Surely one: it has a time, or an event behind a process id.  who is set, its parts are
 * left to perf_head_who.
 */
enum perf_head_kind perf_head_scan(struct str line, struct perf_head *head);
/* What may be one, if the lines around say so: a comm, or a comm and an event, alone. */
bool perf_head_scan_weak(struct str line, struct perf_head *head);
/* Takes who apart: comm, pid, tid and CPU. */
void perf_head_who(struct perf_head *head);

#endif
