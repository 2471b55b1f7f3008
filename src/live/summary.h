#ifndef SONDE_LIVE_SUMMARY_H
#define SONDE_LIVE_SUMMARY_H

/* A one-line summary of a program with zones. */

#include "live/attach.h"

struct live_summary {
	char program[64];   /* base name of its executable; raw bytes */
	uint32_t zones;	    /* entered so far, without the runtime's own */
	uint32_t threads;   /* with zones now, without fibers */
	uint64_t frames;    /* ticks of the stream "frame" ended so far */
	double frame_ms;    /* mean of up to the last 128; 0: none */
	uint64_t uptime_ns; /* since its first zone */
};

/* The last frames seen of a program, so that the next call reads only newer ones. */
enum { LIVE_FRAMES = 128 };
struct live_past {
	uint64_t device, inode; /* of their memory */
	uint64_t position;	/* in its ring */
	uint64_t count;		/* ever seen */
	uint64_t frame_ticks[LIVE_FRAMES];
};

/* past: zeros at first, then unchanged from the last call. */
void live_summarize(const struct live *live, struct live_past *past, struct live_summary *summary);

#endif
