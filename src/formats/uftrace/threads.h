#ifndef SONDE_FORMATS_UFTRACE_THREADS_H
#define SONDE_FORMATS_UFTRACE_THREADS_H

/*
 * Threads of a uftrace folder played: records and switches become stacks with time and calls.
 */

#include "base/folder.h"
#include "model/builder.h"
#include "formats/uftrace/names.h"
#include "formats/uftrace/switches.h"
#include "formats/uftrace/tasks.h"

struct uftrace_play {
	const struct folder *folder;
	struct builder *builder;
	const struct uftrace_tasks *tasks;
	const struct uftrace_switches *switches;
	struct uftrace_names *names;
	uint32_t max_stack;  /* deepest that was recorded; depths are told modulo 1024 */
	uint64_t start_ns;   /* of the profile */
	uint64_t end_ns;     /* out: of the last record of all */
	uint64_t records;    /* out: how many there were */
	uint64_t lost;	     /* out */
	uint64_t unfinished; /* out: calls that had not returned */
};

/* Plays every TID.dat of the folder. */
must_use struct error *uftrace_threads_play(struct uftrace_play *play);

#endif
