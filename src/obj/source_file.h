#ifndef SONDE_OBJ_SOURCE_FILE_H
#define SONDE_OBJ_SOURCE_FILE_H

/*
 * Source files as debug information names them, found on this machine and read as lines.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "obj/source_root.h"

/* Where sources are now: in a path that begins with OLD, NEW replaces OLD. */
struct source_rule {
	struct str old_prefix, new_prefix;
};
struct source_map {
	VEC(struct source_rule) rules;
};

/* Adds "OLD=NEW", which is borrowed; ERROR_USAGE if rule does not have that form. */
must_use struct error *source_map_add(struct source_map *map, const char *rule);
void source_map_deinit(struct source_map *map);
/* The path after applying the first matching rule, or unchanged.  OLD matches whole components. */
struct str source_map_apply(const struct source_map *map, struct str path, struct arena *arena);

struct source_file {
	struct str path;	 /* where it was found; empty: nowhere */
	const struct str *lines; /* [line_count], line 1 first, without their ends */
	size_t line_count;
	uint64_t changed_unix_ns; /* when it was last written; 0: unknown */
	const char *problem;	  /* why there are no lines, a sentence; NULL: there are */
};

/* Larger files are not read: nobody reads such a source. */
#define SOURCE_FILE_BYTES_MAX ((uint64_t)64 << 20)

/*
 * Finds and reads the file at that path, with the map's rules applied.  If it is missing, tries the
 * suffixes of its path in the current folder, the longest first, that have at least one folder
 * (/build/app/src/eval.c as app/src/eval.c or src/eval.c).  With a root, only files below that
 * folder are found, as source_root_find finds them.  Everything lives in the arena.
 */
struct source_file source_file_read(struct str path, const struct source_map *map,
	const struct source_root *root, struct arena *arena);
/* Reads the file at `opened`, which is a copy of the one at `path`; its age is unknown. */
struct source_file source_file_read_at(const char *opened, struct str path, struct arena *arena);

#endif
