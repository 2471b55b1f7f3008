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
	size_t hidden; /* processes of which we may not see whether they have zones */
};

/* ERROR_SYSTEM where there is no /proc. */
must_use struct error *live_list_find(struct live_list *list);
void live_list_deinit(struct live_list *list);

#endif
