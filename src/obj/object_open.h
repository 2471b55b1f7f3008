#ifndef SONDE_OBJ_OBJECT_OPEN_H
#define SONDE_OBJ_OBJECT_OPEN_H

#include "base/error.h"
#include "base/str.h"

struct objfile;

/*
 * Opens the load object that ran: the file at open_path, or sonde's own vdso if path is "[vdso]".
 * path: as the program saw it, for messages. build_id: lower-case hex; ERROR_INPUT if the file has
 * a different one, because it is a different build; empty: unknown, not compared.  Other failures
 * are those of objfile_open.
 */
must_use struct error *object_open(
	struct str path, struct str open_path, struct str build_id, struct objfile **file);
/* Whether that fails because the file has a different build ID. */
bool object_is_other_build(struct str path, struct str open_path, struct str build_id);

#endif
