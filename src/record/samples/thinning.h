#ifndef SONDE_RECORD_SAMPLES_THINNING_H
#define SONDE_RECORD_SAMPLES_THINNING_H

/*
 * What happens while samples come faster than they can be walked: the more of the backlog is in
 * use, the fewer samples of a thread are walked, and each of these also weighs what those before it
 * would have weighed.  So sums stay exact, and nothing is lost as long as that is enough.
 */

#include <stdbool.h>
#include <stdint.h>

struct thinning {
	uint64_t dropped; /* samples that others stand for */
};

/* Of a thread; zeroed at first. */
struct thinned {
	uint64_t carried_ns; /* what the samples dropped since the last one that was kept weigh */
	uint32_t carried;    /* how many these are */
	/* The last one that was kept. */
	bool has_kept;
	uint32_t node, cpu;
	uint64_t time_ns;
};

/* Whether a sample is dropped, with that part of the backlog in use; it is counted then. */
bool thinning_drops(struct thinning *t, struct thinned *thread, double level, uint64_t period_ns);
/* What the next sample weighs besides its own period. */
uint64_t thinned_take(struct thinned *thread);
/* A sample was kept. */
void thinned_keep(struct thinned *thread, uint32_t node, uint32_t cpu, uint64_t time_ns);

#endif
