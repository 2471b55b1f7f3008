#ifndef SONDE_FORMATS_PERFETTO_READER_H
#define SONDE_FORMATS_PERFETTO_READER_H

/*
 * Shared by the parts of the Perfetto reader; private to them.
 *
 * reader.c reads packets one by one; tracks.c stores the tracks, threads and processes, interned.c
 * stores interned data, and samples.c makes stacks of samples.  Slices, ticks and samples go into
 * the tables of the reader of Chrome's traces.
 */

#include "base/protobuf.h"
#include "base/row_table.h"
#include "formats/chrome/reader.h"
#include "formats/common/stack_budget.h"
#include "formats/perfetto/schema.h"

/* Kinds of interned data, each with its own ids. */
enum perfetto_kind {
	PERFETTO_EVENT_NAMES,
	PERFETTO_FUNCTION_NAMES,
	PERFETTO_BUILD_IDS,
	PERFETTO_MAPPING_PATHS,
	PERFETTO_SOURCE_PATHS,
	PERFETTO_MAPPINGS,
	PERFETTO_FRAMES,
	PERFETTO_CALLSTACKS,
	PERFETTO_TASKS,
	PERFETTO_COUNTERS,
	PERFETTO_INLINE_CALLSTACKS, /* scope 0, by offset */
	PERFETTO_SYMBOLS,	    /* scope: the build ID's string; by address */
	PERFETTO_KINDS,
};

/*
 * The position of an entry in the file; it is read when needed.  scope: changes when a sequence
 * clears its state.
 */
struct perfetto_entry {
	uint64_t iid, offset;
	uint32_t size; /* bytes */
	uint32_t scope;
	uint32_t made; /* index of the converted entry plus 1; 0: not converted yet */
};

/* A sequence of packets, written by one producer. */
struct perfetto_sequence {
	uint32_t scope; /* of its interned data */
	uint32_t default_clock;
	uint64_t default_track;
	struct proto_field timebase, counter; /* of PerfSample and of StackSample */
};

/* A clock, according to its last snapshot. */
struct perfetto_clock {
	int64_t at, reference; /* ns: on this clock, and on the trace's */
	int64_t unit, last;
	bool is_incremental;
};

struct perfetto_track {
	int64_t pid, tid;
	uint64_t parent;
	string_id name;
	struct chrome_tick tick; /* its open tick */
	bool is_thread, is_process, has_tick;
};

struct perfetto {
	struct chrome chrome; /* must be first: its hook casts from it */
	struct cursor file;
	VEC(struct perfetto_sequence) sequences;
	VEC(struct perfetto_clock) clocks;
	VEC(struct perfetto_track) tracks;
	struct map sequence_ids, clock_ids, track_ids;
	struct row_table interned[PERFETTO_KINDS];
	uint32_t last_scope;
	uint64_t entries_left, tracks_left, events_left; /* how many more the file may have */
	struct stack_budget stacks;
	struct proto_field weighed; /* the counter of samples' weights */
	uint64_t no_state, no_clock, too_many;
	uint64_t no_stack, not_walked, other_weights, records_lost, bad_stacks;
};

/* The fields of a packet; nested messages are not read yet. */
struct perfetto_packet {
	uint64_t timestamp, sequence, flags, clock;
	bool has_clock, has_timestamp;
	struct proto_field event, interned, defaults, descriptor, snapshot;
	struct proto_field tree, perf_sample, stack_sample, symbols;
};

/* ---- Tracks and tasks */

/*
 * The index of a track's or sequence's id in a table of `count` rows of `size` bytes.  True: it is
 * new, and the caller must add a row.  Ids beyond the limit share one row.
 */
bool perfetto_place_id(struct perfetto *f, struct map *places, uint64_t id, size_t count,
	size_t row_bytes, uint32_t *place);
uint32_t perfetto_track_at(struct perfetto *f, uint64_t uuid);
/* The thread that a track is shown as: its own, or an artificial one with the track's number. */
uint32_t perfetto_thread_of(struct perfetto *f, uint64_t uuid);
void perfetto_read_descriptor(struct perfetto *f, const struct proto_field *message);
/* Reads names of processes and threads from the kernel. */
void perfetto_read_tree(struct perfetto *f, const struct proto_field *message);

/* ---- What is interned */

/* Interns the entries of an InternedData. */
void perfetto_intern_all(struct perfetto *f, uint32_t scope, const struct proto_field *message);
/* Interns one entry; returns its number within its kind, or NO_ID: there are too many. */
uint32_t perfetto_intern(struct perfetto *f, enum perfetto_kind kind, uint32_t scope, uint64_t iid,
	const struct proto_field *message);
/* NULL: there is none. */
struct perfetto_entry *perfetto_entry(
	const struct perfetto *f, enum perfetto_kind kind, uint32_t scope, uint64_t iid);
struct cursor perfetto_entry_message(const struct perfetto *f, const struct perfetto_entry *e);
/* The text of an entry that is a string; empty if missing. */
string_id perfetto_text(struct perfetto *f, enum perfetto_kind kind, uint32_t scope, uint64_t iid);
/* Stores the positions of address descriptions in a ModuleSymbols. */
void perfetto_read_symbols(struct perfetto *f, const struct proto_field *message);

/* ---- Samples */

void perfetto_read_perf_sample(struct perfetto *f, const struct perfetto_sequence *s,
	const struct proto_field *message, int64_t time);
void perfetto_read_stack_sample(struct perfetto *f, const struct perfetto_sequence *s,
	const struct proto_field *message, int64_t time);
/* Names the metric of the samples, after reading all. */
void perfetto_name_weights(struct perfetto *f);
/* The stack of a sample, from data stored by the functions above. */
stack_id perfetto_stack_of(struct chrome *c, uint64_t frame);
void perfetto_note_samples(const struct perfetto *f);

#endif
