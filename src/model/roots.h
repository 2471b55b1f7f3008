#ifndef SONDE_MODEL_ROOTS_H
#define SONDE_MODEL_ROOTS_H

#include "model/profile.h"

enum profile_roots {
	ROOTS_NONE,
	ROOTS_PROCESS,
	ROOTS_THREAD, /* within its process */
	ROOTS_LABEL,
	ROOTS_COUNT
};
/* "none", "process", "thread", "label:"; a key follows the last. */
extern const char *const roots_names[ROOTS_COUNT + 1]; /* NULL at the end */

/*
 * What processes and threads are called: "NAME (KIND ID)", without a name "(KIND ID)".  Rows of
 * time that no thread has, such as "[lost]", have the id 0 and their name alone.  In the arena.
 */
must_use struct str task_name(struct str name, const char *kind, int64_t id, struct arena *arena);

/*
 * A profile like p in which each stack begins with a frame for the process that it was sampled in,
 * "NAME (PID)", and one for the thread, "NAME (thread TID)", as task_name; these have no load
 * object.  So do its zone stacks.  The caller owns the result; p stays.
 * ERROR_UNSUPPORTED if p does not know which threads were sampled.
 */
must_use struct error *profile_with_roots(
	const struct profile *p, enum profile_roots roots, struct profile **rooted);

/*
 * The same with a frame for each sample's label of that key, "KEY=VALUE"; if it has several,
 * "KEY=VALUE,VALUE", and if it has none, "[no KEY]".  Errors are those of profile_needs_label.
 */
must_use struct error *profile_with_label_roots(
	const struct profile *p, struct str key, struct profile **rooted);

#endif
