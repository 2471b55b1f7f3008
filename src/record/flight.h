#ifndef SONDE_RECORD_FLIGHT_H
#define SONDE_RECORD_FLIGHT_H

/*
 * The flight recorder, `sonde record --keep TIME`: only the last stretch of a recording is kept,
 * and written at its end, or meanwhile to a file of its own, when that is asked for (a dump).
 *
 * The recorder notes its figures at some dozen moments in a stretch, and the stretch begins with
 * one of them: so losses and CPU time are those of the stretch alone.
 *
 * A dump is made by a child process, in which the recording ends: the recorder goes on meanwhile.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "record/recorder.h"

struct recorder;

/* The figures so far, at that time. */
struct flight_moment {
	uint64_t time_ns;
	struct recorder_result result;
};

struct flight {
	uint64_t keep_ns;		   /* 0: all is kept, and the calls below do nothing */
	uint64_t next_ns;		   /* when to note the next moment */
	VEC(struct flight_moment) moments; /* the stretch begins with the first */
	bool is_short;			   /* there was no memory for more of it */
	bool is_asked;			   /* a dump */
	uint32_t dumps;
	VEC(pid_t) children; /* that are making dumps */
	uint64_t slow_ticks; /* as many had been slow at the last dump for it */
	uint64_t slow_dump_ns;
};

/* As much may wait; in memory the queue takes up to twice as much. */
#define FLIGHT_BYTES_MAX ((size_t)128 << 20)

/* The recording begins. */
void flight_begin(struct recorder *r);
/* Forgets what is too old, and makes the dumps that are due; at least every 100 ms. */
void flight_look(struct recorder *r, uint64_t now_ns);
/* result, which was summed up for the whole recording, becomes that of what is kept. */
void flight_end(struct recorder *r, struct recorder_result *result);
/* When all is written: stacks of what was forgotten are not to stay, and need no names. */
void flight_keep_nodes(struct recorder *r);
/* Waits for dumps that are being made. */
void flight_deinit(struct flight *f);

#endif
