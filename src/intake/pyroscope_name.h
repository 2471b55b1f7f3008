#ifndef SONDE_INTAKE_PYROSCOPE_NAME_H
#define SONDE_INTAKE_PYROSCOPE_NAME_H

/* What Pyroscope's clients say about a profile: a name with labels, or labels alone, and times. */

#include "intake/intake.h"

#define PYROSCOPE_LABELS_MAX 128

/* All borrowed from the texts it was read from. */
struct pyroscope_name {
	struct str app; /* before the labels */
	struct intake_label labels[PYROSCOPE_LABELS_MAX];
	size_t label_count;
};

/* Reads "app{key=value,…}"; NULL, or what is wrong. */
const char *pyroscope_name_read(struct str text, struct pyroscope_name *name);
/*
 * Adds a label; NULL, or what is wrong with it.  Left out are labels that are too long, and those
 * whose names begin with "__", which are about Pyroscope's own storage.
 */
const char *pyroscope_name_add(struct pyroscope_name *name, struct intake_label label);
/*
 * Takes the service (label service_name, else the app) and the host (hostname, host, host_name,
 * host.name) out of the labels, into an origin that borrows the rest.
 */
struct intake_origin pyroscope_name_origin(struct pyroscope_name *name, const char *protocol);
/*
 * Takes an old client's last part of the app's name off, which is the kind of the profile
 * ("app.cpu"); size 0: it has none.
 */
struct str pyroscope_name_take_kind(struct pyroscope_name *name);
/* Seconds, or more digits for ms, µs and ns, since 1970; 0: something else. */
uint64_t pyroscope_time_ns(const char *text);

#endif
