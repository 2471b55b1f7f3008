#ifndef SONDE_FORMATS_PERF_DATA_JIT_H
#define SONDE_FORMATS_PERF_DATA_JIT_H

/*
 * Code that programs generated at run time, from their own files: jitdumps (jit-PID.dump), which
 * have the times of code, and perf maps (perf-PID.map), which do not.  Both are searched next to
 * the perf.data file first, then where the program wrote them.
 *
 * When code replaces other code, a new epoch of its process begins; within one epoch, an address
 * has one meaning.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "formats/perf/data_file.h"
#include "perfstream/jit.h"

struct perfmap;

struct perf_data_jit_code {
	int64_t pid;
	struct jitdump *dump; /* NULL: none */
	struct perfmap *map;  /* NULL: none */
	bool is_map_tried;
	struct perfstream_jit epochs;
	uint32_t walked; /* the epoch that was walked in last */
};

struct perf_data_jit {
	const struct perf_data_file *file;
	struct demangler *demangler;
	struct map by_pid; /* to places in codes */
	VEC(struct perf_data_jit_code) codes;
};

void perf_data_jit_init(struct perf_data_jit *j, const struct perf_data_file *file);
void perf_data_jit_deinit(struct perf_data_jit *j);

/* The number of the code that the files of that process describe. */
uint32_t perf_data_jit_code(struct perf_data_jit *j, int64_t pid);
/* The process has mapped its jitdump at that path. */
void perf_data_jit_dump(struct perf_data_jit *j, uint32_t code, struct str path);
/* Which epoch of the code that time is in; 0: the first, or the only one. */
uint32_t perf_data_jit_epoch(const struct perf_data_jit *j, uint32_t code, uint64_t time_ns);

struct perf_data_jit_place {
	struct str function, file; /* function: demangled; both last as long as j and arena */
	uint32_t line;		   /* 0: not known */
};
/* What was at va at that time; false: it is not known. */
bool perf_data_jit_find(struct perf_data_jit *j, uint32_t code, uint64_t va, uint64_t time_ns,
	struct arena *arena, struct perf_data_jit_place *place);
/* The code that stood there at that time (jitdump_code); false: it is not known. */
bool perf_data_jit_bytes(const struct perf_data_jit *j, uint32_t code, uint64_t va,
	uint64_t time_ns, uint8_t *bytes, size_t size);
/* The unwind rule for it (jit_rules_find); false: there is none. */
bool perf_data_jit_rule(struct perf_data_jit *j, uint32_t code, uint64_t va, uint64_t time_ns,
	struct cfi_rule *rule);
/* Whether a walk at that time is in another epoch than the one before. */
bool perf_data_jit_has_turned(struct perf_data_jit *j, uint32_t code, uint64_t time_ns);
/* What was passed over in jitdumps: it can't be read, or there is no room for it. */
uint64_t perf_data_jit_bad_records(const struct perf_data_jit *j);

#endif
