#ifndef SONDE_LIVE_SUMMARY_H
#define SONDE_LIVE_SUMMARY_H

/* What there is to say of a program with zones in one line. */

#include "live/attach.h"

struct live_summary {
	char program[64];   /* base name of its executable; raw bytes */
	uint32_t zones;	    /* that were entered, without the runtime's own */
	uint32_t threads;   /* that have zones now, fibers not counted */
	uint64_t frames;    /* ticks of the stream "frame" ended so far */
	double frame_ms;    /* mean of the last ones, up to 128; 0: none */
	uint64_t uptime_ns; /* since its first zone */
};

/* The last frames that were seen of a program, so that the next look reads just those since. */
enum { LIVE_FRAMES = 128 };
struct live_past {
	uint64_t device, inode; /* of the memory that they are of */
	uint64_t position;	/* in its ring */
	uint64_t count;		/* ever seen */
	uint64_t frame_ticks[LIVE_FRAMES];
};

/* past: zeros at first, then what it was at the last call. */
void live_summarize(const struct live *live, struct live_past *past, struct live_summary *summary);

#endif
