#ifndef SONDE_FORMATS_PERF_SCRIPT_FRAME_H
#define SONDE_FORMATS_PERF_SCRIPT_FRAME_H

/* A frame in the text of `perf script`: "ADDRESS NAME+0xOFFSET (LOAD OBJECT)". */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Strings are parts of the line. */
struct perf_frame {
	uint64_t address;
	struct str name;   /* without its offset; empty or "[unknown]": not known */
	struct str object; /* empty: not told, or "[unknown]" */
	bool is_inline;
	struct str file; /* empty: not told */
	uint32_t line;	 /* 0: not told */
};

/* False if the line, without its end, is no frame. */
bool perf_frame_scan(struct str line, struct perf_frame *frame);
/*
 * What -F +srcline prints on a line of its own below a frame, "FILE:LINE" with two blanks before
 * it, added to the frame.  False if it is nothing of the kind.
 */
bool perf_frame_scan_place(struct str line, struct perf_frame *frame);

#endif
