#ifndef SONDE_MODEL_ANONYMOUS_H
#define SONDE_MODEL_ANONYMOUS_H

#include "model/profile.h"

/*
 * A profile for others, with the figures of `from` and without its names.  Functions are f1, f2 …,
 * load objects m1 …, source files s1 …, and streams of ticks t1 …, numbered in an order that random
 * numbers choose: no one can compute a name from them, or check a guess.  Names in brackets, such
 * as [kernel] and [unknown], stay, and so do the metrics, the zone "_global" and the stream
 * "frame".  Gone are: names of processes and threads, the command, host and time, the source's
 * name, build-ids, addresses, aliases, labels, WHEN patterns and what notes say beyond their kind.
 * A note lists this.
 *
 * `from` must outlive the result; both are destroyed.
 */
returns_owned struct profile *profile_anonymous(const struct profile *from);

#endif
