#ifndef SONDE_PERFSTREAM_JIT_H
#define SONDE_PERFSTREAM_JIT_H

/*
 * Code that a process makes at run time, as its jitdump tells of it: where code took the place of
 * other code a new epoch begins, within which an address means one thing; and the unwind rules of
 * the code.  The dump may still be being written: it is read as far as it is there.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/jit_rules.h"
#include "obj/jitdump.h"

struct perfstream_jit {
	int fd; /* of the dump; -1: there is none, or it is no more needed */
	struct jitdump_reader reader;
	struct map blocks;	/* that have code */
	VEC(uint64_t) begin_ns; /* of epochs but the first, ascending */
	uint64_t gap_ns;	/* between two of them at least */
	struct jit_rules rules;
	uint64_t turns; /* how often code with unwind rules took the place of other code */
};

/* One without a dump. */
void perfstream_jit_init(struct perfstream_jit *jit);
void perfstream_jit_deinit(struct perfstream_jit *jit);

/*
 * Opens the dump at a path, of which nothing is read yet; jit must be without one.  False: it can't
 * be opened.  gap_ns: of epochs that would begin sooner after another only one does.
 */
bool perfstream_jit_open(struct perfstream_jit *jit, const char *path, uint64_t gap_ns);
/* Reads on, so many records at most. */
void perfstream_jit_read(struct perfstream_jit *jit, size_t most);
/* Nothing more will be read: frees what was needed for that alone. */
void perfstream_jit_finish(struct perfstream_jit *jit);

/* The number of the epoch that a time is in; 0: the first. */
size_t perfstream_jit_epoch(const struct perfstream_jit *jit, uint64_t time_ns);
/* When an epoch began; the first one at 0. */
uint64_t perfstream_jit_begin_ns(const struct perfstream_jit *jit, size_t epoch);

/* The unwind rule at va, at that time; see jit_rules_find. */
bool perfstream_jit_rule(
	struct perfstream_jit *jit, uint64_t va, uint64_t time_ns, struct cfi_rule *rule);
/* What was passed over in the dump: it can't be read, or there is no room for it. */
uint64_t perfstream_jit_bad_records(const struct perfstream_jit *jit);

#endif
