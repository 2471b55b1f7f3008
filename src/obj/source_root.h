#ifndef SONDE_OBJ_SOURCE_ROOT_H
#define SONDE_OBJ_SOURCE_ROOT_H

/*
 * A folder that bounds which files may be opened on behalf of a profile.  Profiles are untrusted:
 * one that names /etc/shadow as a function's source must not make a server send it.
 *
 * Files are opened by descriptor, one folder of their path at a time, starting at the root.
 * Symbolic links are refused in every step, and so are "..", devices, fifos and sockets.  So there
 * is no moment at which a path that was checked can become another one.
 */

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct source_root;

/* path may be a link.  ERROR_USAGE if it is not a folder. */
must_use struct error *source_root_open(const char *path, struct source_root **root);
void source_root_close(struct source_root *root);
/* The folder's descriptor. */
int source_root_fd(const struct source_root *root);
/* Its absolute path, without links. */
struct str source_root_path(const struct source_root *root);

/*
 * Opens a regular file for reading, by the path that a profile has: below the root if it begins
 * with the root's path; else by the suffixes of the path that have at least one folder, the longest
 * first (/build/app/src/eval.c as build/app/src/eval.c, app/src/eval.c or src/eval.c).
 * -1: there is none.  *shown: where it was found, in the arena.
 */
must_use int source_root_find(
	const struct source_root *root, struct str path, struct arena *arena, struct str *shown);

#endif
