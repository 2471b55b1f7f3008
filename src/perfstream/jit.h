#ifndef SONDE_PERFSTREAM_JIT_H
#define SONDE_PERFSTREAM_JIT_H

/*
 * Code that a process generates at run time, from its jitdump: its epochs and its unwind rules.  A
 * new epoch begins when code replaces other code; within one epoch, an address has one meaning.
 * The dump may still be growing: it is read as far as it goes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/jit_rules.h"
#include "obj/jitdump.h"

struct perfstream_jit {
	int fd; /* of the dump; -1: none, or no longer needed */
	struct jitdump_reader reader;
	struct map blocks;	/* blocks that have code */
	VEC(uint64_t) begin_ns; /* of all epochs except the first, ascending */
	uint64_t gap_ns;	/* the minimum time between two epochs */
	struct jit_rules rules;
	uint64_t turns; /* how often code with unwind rules replaced other code */
};

/* Initializes one without a dump. */
void perfstream_jit_init(struct perfstream_jit *jit);
void perfstream_jit_deinit(struct perfstream_jit *jit);

/*
 * Opens the dump at a path, without reading it yet; jit must not have one.  False: it cannot be
 * opened. gap_ns: the minimum time between epochs; earlier ones are merged.
 */
bool perfstream_jit_open(struct perfstream_jit *jit, const char *path, uint64_t gap_ns);
/* Continues reading, at most this many records. */
void perfstream_jit_read(struct perfstream_jit *jit, size_t most);
/* Ends reading, and frees everything needed only for that. */
void perfstream_jit_finish(struct perfstream_jit *jit);

/* The number of the epoch that contains a time; 0: the first. */
size_t perfstream_jit_epoch(const struct perfstream_jit *jit, uint64_t time_ns);
/* The beginning of an epoch; the first one begins at 0. */
uint64_t perfstream_jit_begin_ns(const struct perfstream_jit *jit, size_t epoch);

/* The unwind rule at va at that time; see jit_rules_find. */
bool perfstream_jit_rule(
	struct perfstream_jit *jit, uint64_t va, uint64_t time_ns, struct cfi_rule *rule);
/* The number of records skipped in the dump: unreadable, or without room. */
uint64_t perfstream_jit_bad_records(const struct perfstream_jit *jit);

#endif
