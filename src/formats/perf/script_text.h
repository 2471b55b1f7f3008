#ifndef SONDE_FORMATS_PERF_SCRIPT_TEXT_H
#define SONDE_FORMATS_PERF_SCRIPT_TEXT_H

/*
 * Lines of the text of `perf script`: the first one of a sample, and frames.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * The first line of a sample: who, when and what.  Its fields depend on -F, and the text does not
 * list them.
 */

enum perf_head_kind {
	PERF_HEAD_NONE,	  /* not a first line */
	PERF_HEAD_SAMPLE, /* of a sample */
	PERF_HEAD_RECORD, /* of another event in the recording: a mapping, a fork, … */
};

/* Strings point into the line. */
struct perf_head {
	struct str who; /* comm, pid, tid and CPU, unparsed; identifies the thread */
	struct str comm;
	int64_t pid, tid;  /* -1: unknown */
	int64_t cpu;	   /* the same */
	uint64_t time_ns;  /* UINT64_MAX: unknown */
	uint64_t period;   /* UINT64_MAX: unknown */
	struct str event;  /* empty: unknown */
	struct str record; /* of a PERF_HEAD_RECORD: the text from PERF_RECORD_ on */
	struct str rest;   /* the rest of the line */
};

/*
 * Recognizes a certain first line: it has a time, or an event after a process id.  Sets who, but
 * not its parts: see perf_head_who.
 */
enum perf_head_kind perf_head_scan(struct str line, struct perf_head *head);
/*
 * Recognizes a possible first line, which depends on the lines around it: a comm, or a comm and an
 * event.
 */
bool perf_head_scan_weak(struct str line, struct perf_head *head);
/* Parses who: comm, pid, tid and CPU. */
void perf_head_who(struct perf_head *head);

/*
 * The frame in the rest of a first line, without call chains: that of the sampled instruction,
 * which flags, a traced event's fields or an accessed address may precede, and the target of a
 * branch, branch records or an instruction follow.  Empty: none.
 */
struct str perf_head_frame(struct str rest);
/* Whether a line is the target of a branch alone, below its call chain: "=> ADDRESS NAME (…)". */
bool perf_is_target(struct str line);

/* A frame in the text of `perf script`: "ADDRESS NAME+0xOFFSET (LOAD OBJECT)". */

/* Strings point into the line. */
struct perf_frame {
	uint64_t address;
	struct str name;   /* without its offset; empty or "[unknown]": unknown */
	struct str object; /* empty: unknown, or "[unknown]" */
	bool is_inline;
	struct str file; /* empty: unknown */
	uint32_t line;	 /* 0: unknown */
};

/* line: without its newline.  False if it is not a frame. */
bool perf_frame_scan(struct str line, struct perf_frame *frame);
/*
 * Adds to the frame what -F +srcline prints on a separate line below it, "FILE:LINE" after two
 * blanks.  False if the line is something else.
 */
bool perf_frame_scan_place(struct str line, struct perf_frame *frame);

#endif
