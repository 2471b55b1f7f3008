#ifndef SONDE_OBJ_DEBUGFILE_H
#define SONDE_OBJ_DEBUGFILE_H

/*
 * Separate debug files, where distributions put the information stripped from programs.  Found by
 * build ID, then by .gnu_debuglink; a part split off again (dwz) by .gnu_debugaltlink.  Where the
 * caller knows more places, these are asked last.
 */

#include "base/str.h"

struct objfile;

struct debugfile_places {
	struct str object_path; /* where the object is; its other files may be next to it */
	struct str
		known_path; /* the path the program sees (in a container: its own); empty: same */
	const char *debug_directory; /* "/usr/lib/debug" */
	/*
	 * The path of a debug file with that build ID, which is freed; NULL: there is none.  Asked
	 * if no other place has the file.  The function NULL: there are no more places.
	 */
	char *(*find)(void *context, struct str build_id);
	void *find_context;
};

/*
 * "DIRECTORY/.build-id/xx/yyyySUFFIX", where distributions and debuggers put the files of build ID
 * xxyyyy, which has at least 6 digits.  To be freed.
 */
char *debugfile_build_id_path(const char *directory, struct str id, const char *suffix);

/*
 * Opens the debug file of an object; NULL if there is none.  A debug file of another build is not
 * used; *problem is then set to a sentence (owned by the caller).
 */
struct objfile *debugfile_open(
	struct objfile *object, const struct debugfile_places *places, char **problem);

/*
 * Opens the file that file's .gnu_debugaltlink names, or NULL; places->object_path is file's path.
 */
struct objfile *debugfile_open_alternate(
	struct objfile *file, const struct debugfile_places *places, char **problem);

/* The part of a path before its last '/'; "." if there is none. */
struct str path_directory(struct str path);

#endif
