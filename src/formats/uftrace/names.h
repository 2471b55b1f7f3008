#ifndef SONDE_FORMATS_UFTRACE_NAMES_H
#define SONDE_FORMATS_UFTRACE_NAMES_H

/*
 * Names for uftrace's addresses: finds the object in a session's map (sid-ID.map), then the symbol
 * (in OBJECT.sym, or without it, in the object itself).
 */

#include "base/folder.h"
#include "model/builder.h"
#include "formats/uftrace/tasks.h"

struct uftrace_names;

/* Borrows all three.  ERROR_INPUT if a session's map is missing, as in uftrace. */
must_use struct error *uftrace_names_create(const struct folder *folder, struct builder *builder,
	const struct uftrace_tasks *tasks, struct uftrace_names **names);
void uftrace_names_destroy(struct uftrace_names *names);

/* The function at an address of a session (NO_ID: of none), as a frame. */
frame_id uftrace_names_frame(struct uftrace_names *names, uint32_t session, uint64_t addr);
/* Adds a note about unnamed addresses. */
void uftrace_names_note(const struct uftrace_names *names);

#endif
