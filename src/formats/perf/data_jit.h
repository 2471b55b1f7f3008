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
#include "formats/perf/data_maps.h"
#include "perfstream/jit.h"

struct perfmap;

struct perf_data_jit_code {
	int64_t pid;
	struct jitdump *dump; /* NULL: none */
	struct perfmap *map;  /* NULL: none */
	bool is_map_tried;
	struct perfstream_jit epochs;
	uint32_t walked; /* the epoch of the last walk */
};

struct perf_data_jit {
	const struct perf_data_file *file;
	struct demangler *demangler;
	struct perf_data_maps maps;
	struct map by_pid; /* to indexes in codes */
	VEC(struct perf_data_jit_code) codes;
};

void perf_data_jit_init(struct perf_data_jit *j, const struct perf_data_file *file);
void perf_data_jit_deinit(struct perf_data_jit *j);

/* The number of the code that the files of a process describe. */
uint32_t perf_data_jit_code(struct perf_data_jit *j, int64_t pid);
/* The process has mapped its jitdump, at that path. */
void perf_data_jit_dump(struct perf_data_jit *j, uint32_t code, struct str path);
/* The epoch of the code at a time; 0: the first, or the only one. */
uint32_t perf_data_jit_epoch(const struct perf_data_jit *j, uint32_t code, uint64_t time_ns);

struct perf_data_jit_place {
	struct str function, file; /* function: demangled; both live as long as j and arena */
	uint32_t line;		   /* 0: unknown */
};
/* The function at va at that time; false: unknown. */
bool perf_data_jit_find(struct perf_data_jit *j, uint32_t code, uint64_t va, uint64_t time_ns,
	struct arena *arena, struct perf_data_jit_place *place);
/* Copies the code there at that time (jitdump_code); false: unknown. */
bool perf_data_jit_bytes(const struct perf_data_jit *j, uint32_t code, uint64_t va,
	uint64_t time_ns, uint8_t *bytes, size_t size);
/* Finds its unwind rule (jit_rules_find); false: there is none. */
bool perf_data_jit_rule(struct perf_data_jit *j, uint32_t code, uint64_t va, uint64_t time_ns,
	struct cfi_rule *rule);
/* Whether a walk at that time is in another epoch than the previous walk. */
bool perf_data_jit_has_turned(struct perf_data_jit *j, uint32_t code, uint64_t time_ns);
/* Skipped records of jitdumps: unreadable, or out of room. */
uint64_t perf_data_jit_bad_records(const struct perf_data_jit *j);

#endif
