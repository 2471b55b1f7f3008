#ifndef SONDE_INTAKE_PYROSCOPE_NAME_H
#define SONDE_INTAKE_PYROSCOPE_NAME_H

/* How Pyroscope's clients describe a profile: a name with labels, or labels alone, and times. */

#include "intake/intake.h"

#define PYROSCOPE_LABELS_MAX 128

/* All texts are borrowed from those it was read from. */
struct pyroscope_name {
	struct str app; /* before the labels */
	struct intake_label labels[PYROSCOPE_LABELS_MAX];
	size_t label_count;
};

/* Reads "app{key=value,…}".  Returns NULL, or what is wrong, a literal. */
const char *pyroscope_name_read(struct str text, struct pyroscope_name *name);
/*
 * Adds a label.  Returns NULL, or what is wrong with it, a literal.  Leaves out labels that are too
 * long, and those that begin with "__", which concern Pyroscope's own storage.
 */
const char *pyroscope_name_add(struct pyroscope_name *name, struct intake_label label);
/*
 * Moves the service (label service_name, else the app) and the host (hostname, host, host_name,
 * host.name) from the labels to an origin, which borrows the other labels from *name.
 */
struct intake_origin pyroscope_name_origin(struct pyroscope_name *name, const char *protocol);
/*
 * Removes the last part of the app's name if it is the kind of the profile, as old clients send it
 * ("app.cpu"), and returns it; size 0: there is none.
 */
struct str pyroscope_name_take_kind(struct pyroscope_name *name);
/* ns since 1970, from up to 10 digits (s), 13 (ms), 16 (µs) or 19 (ns); 0: anything else. */
uint64_t pyroscope_time_ns(const char *text);

#endif
