#ifndef SONDE_OBJ_JITDUMP_H
#define SONDE_OBJ_JITDUMP_H

/*
 * Jitdump files (jit-PID.dump), in which programs that generate code at run time record the address
 * and time of each function: later code may replace earlier code.
 *
 * Source: the kernel's tools/perf/Documentation/jitdump-specification.txt.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Whether a path is a jitdump's.  Its writer maps it only to show where it is. */
bool jitdump_is_path(struct str path);

/* ---- record by record, while the file is being written ---- */

struct jitdump_reader {
	/* Copies the bytes at that offset; false if they are not all there. */
	bool (*read)(void *context, uint64_t offset, void *bytes, size_t size);
	void *context;
	uint64_t offset;      /* of the next record; 0: the header has not been read yet */
	bool is_swapped;      /* the file has the other byte order */
	bool has_times;	      /* its times are CLOCK_MONOTONIC */
	bool is_bad;	      /* it is not a jitdump, or damaged from here on */
	uint64_t bad_records; /* skipped records: they are inconsistent */
};

enum jitdump_kind {
	JITDUMP_LOAD = 0,  /* [low, low + size) now contains a function */
	JITDUMP_MOVE = 1,  /* what was at old_low is now at low */
	JITDUMP_LINES = 2, /* lines of the next function loaded at low; size: how many */
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING = 4, /* unwind information of the next function loaded */
	JITDUMP_OTHER = 5,
};

struct jitdump_record {
	enum jitdump_kind kind;
	uint64_t time_ns; /* 0 if the file has no times */
	uint64_t low, old_low, size;
	uint64_t record_off;
	/*
	 * LOAD: the NUL-terminated name, and code; LINES: entries; UNWINDING: .eh_frame, without
	 * the .eh_frame_hdr that follows it.
	 */
	uint64_t body_off, body_size;
};

/* Reads the next record, if it is complete by now. */
bool jitdump_next(struct jitdump_reader *reader, struct jitdump_record *record);

/* ---- as a whole ---- */

struct jitdump;
must_use struct error *jitdump_open(const char *path, struct jitdump **dump);
/* The same from bytes, which must outlive it. */
must_use returns_owned struct jitdump *jitdump_parse(struct str bytes);
void jitdump_close(struct jitdump *dump);

/* The number of functions that were loaded or moved. */
size_t jitdump_count(const struct jitdump *dump);
/* Whether the file ends within a record, or is damaged from some point on. */
bool jitdump_is_cut(const struct jitdump *dump);

struct jitdump_place {
	struct str function, file; /* in the arena; file is empty if unknown */
	uint32_t line;		   /* 0: unknown */
};
/* What was at va at that time or, if nothing was, soonest after it. */
bool jitdump_find(struct jitdump *dump, uint64_t va, uint64_t time_ns, struct arena *arena,
	struct jitdump_place *place);
/*
 * Copies the code that was in [va, va + size), at most 64 bytes, at that time.  Bytes outside any
 * function become int3 instructions.  False: there was no function at all.
 */
bool jitdump_code(struct jitdump *dump, uint64_t va, uint64_t time_ns, uint8_t *bytes, size_t size);

#endif
