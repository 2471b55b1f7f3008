#ifndef SONDE_OBJ_SOURCE_PATH_H
#define SONDE_OBJ_SOURCE_PATH_H

/* Paths of source files: in pieces, as in debug information, and joined, as people write them. */

#include "base/arena.h"
#include "base/str.h"

/*
 * compilation_directory / directory / name, where the last absolute one begins the path; empty ones
 * count for nothing.  "." and empty components go, and "a/.." goes too, so that a header which two
 * units reach on different ways is one file.  (Where `a` was a symbolic link this names another
 * place than the compiler read; the machine that knew is gone.)  A ".." that leads out of the whole
 * path stays.  The result is in the arena.
 */
struct str source_path_join(struct arena *arena, struct str compilation_directory,
	struct str directory, struct str name);

#endif
