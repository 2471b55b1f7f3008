#ifndef SONDE_RECORD_ENGINES_PERF_URGENCY_H
#define SONDE_RECORD_ENGINES_PERF_URGENCY_H

/*
 * Makes our threads get a CPU soon on a busy machine.  Call these after the target was started,
 * which must not inherit the settings.
 */

/*
 * For a thread that needs a CPU rarely and briefly, but then immediately.  It becomes a real-time
 * thread if allowed, and otherwise requests short slices.
 */
void urgency_raise_keeper(void);
/* The calling thread requests short slices (Linux 6.12), which the scheduler grants sooner. */
void urgency_shorten_slice(void);

#endif
