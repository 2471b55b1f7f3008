#ifndef SONDE_RECORD_ENGINES_PERF_URGENCY_H
#define SONDE_RECORD_ENGINES_PERF_URGENCY_H

/*
 * How soon our threads get a CPU on a busy machine.  Call it after the target was started, which
 * must not inherit it.
 */

/*
 * The calling thread needs a CPU rarely and briefly, but then at once.  It becomes a real-time
 * thread if that is allowed, and otherwise asks for short slices.
 */
void urgency_raise_keeper(void);
/* The calling thread asks for short slices (Linux 6.12), which the scheduler gives sooner. */
void urgency_shorten_slice(void);

#endif
