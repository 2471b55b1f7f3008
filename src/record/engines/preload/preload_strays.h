#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_STRAYS_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_STRAYS_H

/*
 * Threads of the target that the preloaded library does not sample: how much CPU time they use, and
 * why they are not sampled, as far as occasional checks can show.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_stray.h"
#include "record/engines/preload/preload_memory.h"
#include "record/processes/proc.h"

/* Data about a thread that has a slot. */
struct preload_told {
	pid_t pid;
	uint64_t used_ns; /* by its last record */
	bool is_sealed;	  /* it has reported that it stops writing */
};

struct preload_strays {
	pid_t root; /* the target's first process */
	const struct preload_memory *memory;
	bool (*told)(void *context, pid_t tid, struct preload_told *told); /* false: no slot */
	void *context;
	uint64_t due_ns;	     /* the next check */
	task_vec tasks;		     /* as found by the last search of /proc, ... */
	uint64_t last_tid;	     /* ... the newest thread of the system before that */
	uint64_t ns[CAPTURE_STRAYS]; /* CPU time found so far */
	struct map tids;	     /* to indexes in counted_ns */
	VEC(uint64_t) counted_ns;    /* CPU time of each stray counted so far */
};

/* told is called for each thread at each check. */
void preload_strays_init(struct preload_strays *s, pid_t root, const struct preload_memory *memory,
	bool (*told)(void *context, pid_t tid, struct preload_told *told), void *context);
/* A zeroed one is allowed. */
void preload_strays_deinit(struct preload_strays *s);
/* Checks all threads, unless that was done recently. */
void preload_strays_look(struct preload_strays *s, uint64_t now_ns);

#endif
