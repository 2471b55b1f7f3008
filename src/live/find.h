#ifndef SONDE_LIVE_FIND_H
#define SONDE_LIVE_FIND_H

/* All programs with zones on this machine that this user may inspect. */

#include "base/vec.h"
#include "live/attach.h"
#include "live/summary.h"

struct live_program {
	struct live_process process;
	enum live_state state;
	struct live_summary summary; /* zeros if it cannot be attached */
	struct error *problem;	     /* why not; NULL: it can be attached */
};
struct live_list {
	VEC(struct live_program) programs; /* by pid */
	size_t hidden;			   /* processes that this user may not inspect */
};

/*
 * For repeated lists: remembers which processes had no zones.  A repeated list costs little more
 * than one read per process, at most a tenth of the first list.
 */
struct live_finder;
must_use returns_owned struct live_finder *live_finder_create(void);
void live_finder_destroy(struct live_finder *finder);
/*
 * Lists the current programs.  A program that got zones just when it released as much memory can be
 * missing in up to 15 lists.  ERROR_SYSTEM without /proc.
 */
must_use struct error *live_finder_find(struct live_finder *finder, struct live_list *list);

/* The same, once. */
must_use struct error *live_list_find(struct live_list *list);
void live_list_deinit(struct live_list *list);

#endif
