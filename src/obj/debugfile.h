#ifndef SONDE_OBJ_DEBUGFILE_H
#define SONDE_OBJ_DEBUGFILE_H

/*
 * Separate debug files, where distributions put the information stripped from programs.  Found by
 * build ID, then by .gnu_debuglink; a part split off again (dwz) by .gnu_debugaltlink.  Nothing is
 * ever fetched over a network.
 */

#include "base/str.h"

struct objfile;

struct debugfile_places {
	struct str object_path; /* where the object is; what belongs to it may be beside it */
	struct str
		known_path; /* as the program knows it (in a container: its own); empty: the same */
	const char *debug_directory; /* "/usr/lib/debug" */
};

/*
 * The debug file of an object, opened, or NULL.  One that is there but belongs to another build is
 * not used: then *problem gets a sentence (owned by the caller).
 */
struct objfile *debugfile_open(
	struct objfile *object, const struct debugfile_places *places, char **problem);

/* The file that file's .gnu_debugaltlink names, opened, or NULL; places->object_path is file's. */
struct objfile *debugfile_open_alternate(
	struct objfile *file, const struct debugfile_places *places, char **problem);

/* The part of a path before its last '/', "." where there is none. */
struct str path_directory(struct str path);

#endif
