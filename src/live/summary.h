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

void live_summarize(const struct live *live, struct live_summary *summary);

#endif
