#ifndef SONDE_OBJ_PERFMAP_H
#define SONDE_OBJ_PERFMAP_H

/*
 * Perf maps: /tmp/perf-PID.map, where programs that generate code at run time (node, the JVM,
 * Python) list their functions: lines of "START SIZE NAME", both numbers hexadecimal.  A line of
 * size 0 reaches to the next function.
 *
 * A map grows while its program runs, so it can be read in pieces: each has a time, and what is
 * found is what had been written by the time that perfmap_advance sets.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"

struct perfmap;

/*
 * Opens a map for reading; its size and times are in *st.  Does not follow links, and never waits
 * for a pipe.  Refuses everything but regular files that belong to root, to us or to the user uid.
 * ERROR_SYSTEM with ENOENT if there is none.
 */
must_use struct error *perfmap_open_fd(
	int folder, const char *name, uint32_t uid, int *fd, struct stat *st);

/* Reads a whole map by its path; checks as above. */
must_use struct error *perfmap_open_file(const char *path, uint32_t uid, struct perfmap **map);
/* The same for bytes. */
must_use returns_owned struct perfmap *perfmap_parse(struct str bytes);
/* A map without lines. */
must_use returns_owned struct perfmap *perfmap_create(void);
void perfmap_close(struct perfmap *map);

/*
 * The map's next bytes, written at some time until until_ns.  They are found from from_ns on: times
 * do not descend; a line may be in two pieces.
 */
void perfmap_add(struct perfmap *map, struct str bytes, uint64_t from_ns, uint64_t until_ns);
/* No byte follows: the last line needs no newline. */
void perfmap_end(struct perfmap *map, uint64_t time_ns);
/* The file begins again.  What was read stays; lines that it begins with again are skipped. */
void perfmap_rewind(struct perfmap *map);
/* From now on the lines written until then are found. */
void perfmap_advance(struct perfmap *map, uint64_t time_ns);

/* The number of invalid lines, which were skipped. */
size_t perfmap_bad_lines(const struct perfmap *map);
/* The number of lines that were read. */
size_t perfmap_count(const struct perfmap *map);
/* The memory that it takes, about. */
uint64_t perfmap_memory(const struct perfmap *map);

#define PERFMAP_NONE UINT32_MAX
/* The line of the function at va, counted from 0: the last written one; or PERFMAP_NONE. */
uint32_t perfmap_find_line(const struct perfmap *map, uint64_t va);
/*
 * Whether the code of the line was perhaps another's at that time: one piece has both, and was
 * written later.
 */
bool perfmap_is_unsure(const struct perfmap *map, uint32_t line, uint64_t time_ns);
struct str perfmap_name(const struct perfmap *map, uint32_t line);
/* True and sets *name if there is a function at va. */
bool perfmap_find(const struct perfmap *map, uint64_t va, struct str *name);

#endif
