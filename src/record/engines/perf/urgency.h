#ifndef SONDE_RECORD_ENGINES_PERF_URGENCY_H
#define SONDE_RECORD_ENGINES_PERF_URGENCY_H

/*
 * How soon our threads get a CPU on a busy machine.  Set after the target was started, which must
 * inherit none of it.
 */

/*
 * The calling thread needs the CPU seldom and briefly, but then at once: it becomes a real-time
 * thread where that is allowed, and otherwise asks for short slices.
 */
void urgency_raise_keeper(void);
/* The calling thread asks for short slices (Linux 6.12), which the scheduler gives sooner. */
void urgency_shorten_slice(void);

#endif
