#ifndef SONDE_LIVE_FIND_H
#define SONDE_LIVE_FIND_H

/*
 * All programs with zones on this machine that we may see.
 */

#include "base/vec.h"
#include "live/attach.h"
#include "live/summary.h"

struct live_program {
	struct live_process process;
	enum live_state state;
	struct live_summary summary; /* zeros where it can't be attached */
	struct error *problem;	     /* why it can't; NULL: it can */
};
struct live_list {
	VEC(struct live_program) programs; /* by pid */
	size_t hidden;			   /* processes that we have no right to inspect */
};

/*
 * For who lists them again and again: knows who had no zones, and costs then little more than a
 * read for each process, a tenth or less of what listing costs at first.
 */
struct live_finder;
must_use returns_owned struct live_finder *live_finder_create(void);
void live_finder_destroy(struct live_finder *finder);
/*
 * The programs there are now.  One that got its zones just when it gave back as much memory may be
 * missing in some lists, 15 at most.  ERROR_SYSTEM where there is no /proc.
 */
must_use struct error *live_finder_find(struct live_finder *finder, struct live_list *list);

/* The same, once. */
must_use struct error *live_list_find(struct live_list *list);
void live_list_deinit(struct live_list *list);

#endif
