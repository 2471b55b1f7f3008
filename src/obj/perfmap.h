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
 * Opens the map of a process: in the /tmp that the process sees, under the number that it knows
 * itself by (containers), else in ours.  Not followed: links; not read: what is no regular file, or
 * belongs to neither root, nor us, nor the process's user.  ERROR_SYSTEM with ENOENT if none is
 * there.
 */
must_use struct error *perfmap_open(int64_t pid, struct perfmap **map);
/* A file by its path, with the same checks; uid: whose it may be besides root's and ours. */
must_use struct error *perfmap_open_file(const char *path, uint32_t uid, struct perfmap **map);
/* The same from bytes, which must outlive it. */
must_use returns_owned struct perfmap *perfmap_parse(struct str bytes);
void perfmap_close(struct perfmap *map);

/* Lines that could not be read and were passed over. */
size_t perfmap_bad_lines(const struct perfmap *map);
size_t perfmap_count(const struct perfmap *map);
/* The function at va; where lines overlap, the later one. True and *name set if there is one. */
bool perfmap_find(const struct perfmap *map, uint64_t va, struct str *name);

#endif
