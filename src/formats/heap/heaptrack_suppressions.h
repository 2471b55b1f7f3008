#ifndef SONDE_FORMATS_HEAP_HEAPTRACK_SUPPRESSIONS_H
#define SONDE_FORMATS_HEAP_HEAPTRACK_SUPPRESSIONS_H

/*
 * Leaks that heaptrack does not tell of.
 */

#include "base/str.h"

/* Patterns of leaks that nobody wants to hear of. */
struct heaptrack_suppressions {
	struct str *data; /* borrowed */
	size_t count, capacity;
	size_t over; /* patterns beyond those that are looked at */
};

/* Those that heaptrack itself knows. */
void heaptrack_suppressions_init(struct heaptrack_suppressions *s);
void heaptrack_suppressions_deinit(struct heaptrack_suppressions *s);
/* One of the file's own: "leak:PATTERN". */
void heaptrack_suppressions_add(struct heaptrack_suppressions *s, struct str line);
/* Whether any pattern matches the name of a function, file or module. */
bool heaptrack_suppressions_match(const struct heaptrack_suppressions *s, struct str name);

#endif
