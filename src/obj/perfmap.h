#ifndef SONDE_OBJ_PERFMAP_H
#define SONDE_OBJ_PERFMAP_H

/*
 * Perf maps: /tmp/perf-PID.map, where programs that generate code at run time (node, the JVM,
 * Python) list their functions: lines of "START SIZE NAME", both numbers hexadecimal.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct perfmap;

/*
 * Opens the map of a process: in the /tmp that the process sees, under its own number for itself
 * (containers), else in ours.  Does not follow links; reads only regular files that belong to root,
 * to us or to the process's user.  ERROR_SYSTEM with ENOENT if there is none.
 */
must_use struct error *perfmap_open(int64_t pid, struct perfmap **map);
/* Opens a file by its path, with the same checks; uid: its permitted owner besides root and us. */
must_use struct error *perfmap_open_file(const char *path, uint32_t uid, struct perfmap **map);
/* The same for bytes, which must outlive the map. */
must_use returns_owned struct perfmap *perfmap_parse(struct str bytes);
void perfmap_close(struct perfmap *map);

/* The number of invalid lines, which were skipped. */
size_t perfmap_bad_lines(const struct perfmap *map);
size_t perfmap_count(const struct perfmap *map);
/* The function at va; if lines overlap, the later one.  True and sets *name if there is one. */
bool perfmap_find(const struct perfmap *map, uint64_t va, struct str *name);

#endif
