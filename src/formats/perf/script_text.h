#ifndef SONDE_FORMATS_PERF_SCRIPT_TEXT_H
#define SONDE_FORMATS_PERF_SCRIPT_TEXT_H

/*
 * Lines of the text of `perf script`: the first one of a sample, and frames.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * The first line of a sample in the text of `perf script`: who, when and what.  Which of it is
 * there is up to -F, and nothing says so.
 */

enum perf_head_kind {
	PERF_HEAD_NONE,	  /* the line is no such line */
	PERF_HEAD_SAMPLE, /* of a sample */
	PERF_HEAD_RECORD, /* of something else in the recording: a mapping, a fork, … */
};

/* Strings are parts of the line. */
struct perf_head {
	struct str who; /* comm, pid, tid and CPU as they stand; what to know a thread again by */
	struct str comm;
	int64_t pid, tid;  /* -1: unknown */
	int64_t cpu;	   /* the same */
	uint64_t time_ns;  /* UINT64_MAX: unknown */
	uint64_t period;   /* UINT64_MAX: unknown */
	struct str event;  /* empty: unknown */
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

/* A frame in the text of `perf script`: "ADDRESS NAME+0xOFFSET (LOAD OBJECT)". */

/* Strings are parts of the line. */
struct perf_frame {
	uint64_t address;
	struct str name;   /* without its offset; empty or "[unknown]": not known */
	struct str object; /* empty: unknown, or "[unknown]" */
	bool is_inline;
	struct str file; /* empty: unknown */
	uint32_t line;	 /* 0: unknown */
};

/* False if the line, without its end, is no frame. */
bool perf_frame_scan(struct str line, struct perf_frame *frame);
/*
 * What -F +srcline prints on a line of its own below a frame, "FILE:LINE" with two blanks before
 * it, added to the frame.  False if it is nothing of the kind.
 */
bool perf_frame_scan_place(struct str line, struct perf_frame *frame);

#endif
