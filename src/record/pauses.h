#ifndef SONDE_RECORD_PAUSES_H
#define SONDE_RECORD_PAUSES_H

/*
 * When samples are wanted, and when not: a recording's delay, and the commands that it gets later.
 * Samples go on being taken, and processes being followed, all the while; what is left out is left
 * out when it is taken out of the rings, by its time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Zeroed at first: on for ever. */
struct pauses {
	VEC(uint64_t) changes; /* times, ascending: off from the first, on from the second, … */
};

void pauses_deinit(struct pauses *p);
/* From that time on; what was to be later is forgotten. */
void pauses_set(struct pauses *p, uint64_t time_ns, bool off);
/* Before until_ns all is left out, from begin_ns on, which is before all changes. */
void pauses_leave_out(struct pauses *p, uint64_t begin_ns, uint64_t until_ns);
bool pauses_is_off(const struct pauses *p, uint64_t time_ns);
/* How much of from_ns ≤ t < to_ns is wanted; *first_ns: the first of it, where there is any. */
uint64_t pauses_on_ns(const struct pauses *p, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns);

#endif
