#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_STRAYS_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_STRAYS_H

/*
 * Threads of the target that the preloaded library does not sample, how much CPU time they use, and
 * why: as far as a look at them, now and then while they live, has shown it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_stray.h"
#include "record/engines/preload/preload_memory.h"
#include "record/processes/proc.h"

/* What is known of a thread that has a slot. */
struct preload_told {
	pid_t pid;
	uint64_t used_ns; /* by its last record */
	bool is_sealed;	  /* and it said that it writes no more */
};

struct preload_strays {
	pid_t root; /* the target's first process */
	const struct preload_memory *memory;
	bool (*told)(void *context, pid_t tid, struct preload_told *told); /* false: no slot */
	void *context;
	uint64_t due_ns;	     /* the next look */
	task_vec tasks;		     /* as found by the last search of /proc, ... */
	uint64_t last_tid;	     /* ... before which this was the latest thread of all */
	uint64_t ns[CAPTURE_STRAYS]; /* found so far */
	struct map tids;	     /* to places in counted_ns */
	VEC(uint64_t) counted_ns;    /* of the CPU time of each stray */
};

/* told is asked for each thread at each look. */
void preload_strays_init(struct preload_strays *s, pid_t root, const struct preload_memory *memory,
	bool (*told)(void *context, pid_t tid, struct preload_told *told), void *context);
/* A zeroed one is fine. */
void preload_strays_deinit(struct preload_strays *s);
/* Looks at all threads, unless it was done a short time ago. */
void preload_strays_look(struct preload_strays *s, uint64_t now_ns);

#endif
