#ifndef SONDE_OBJ_SOURCE_PATH_H
#define SONDE_OBJ_SOURCE_PATH_H

/* Paths of source files: in pieces, as in debug information, and joined, as people write them. */

#include "base/arena.h"
#include "base/str.h"

/*
 * compilation_directory / directory / name; the last absolute one begins the path, empty ones are
 * ignored.  Removes ".", empty components and "a/..", so that a header which two units reach by
 * different paths is one file.  (If `a` was a symbolic link, the result is not the file that the
 * compiler read; only that machine could tell.)  A ".." that leads out of the whole path stays.
 * The result is in the arena.
 */
struct str source_path_join(struct arena *arena, struct str compilation_directory,
	struct str directory, struct str name);

#endif
