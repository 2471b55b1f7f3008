#ifndef SONDE_RECORD_ZONES_ZONE_PROGRAM_H
#define SONDE_RECORD_ZONES_ZONE_PROGRAM_H

/*
 * One program with zones while it is recorded: its zones memory, mapped, which remains when the
 * program is gone; and the threads and stacks of its slots and nodes in the file.
 *
 * A process that calls exec has different memory afterwards, and is two programs here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "live/memory.h"
#include "record/processes/object_table.h"
#include "record/recording.h"
#include "zonereport/region.h"

/* ---- clocks ---- */

/*
 * Zones use their program's clock, samples CLOCK_MONOTONIC.  Both clocks are read together from
 * time to time, to relate ticks to nanoseconds.
 *
 * The kernel offers its own conversion of the processor's clock (cap_user_time_zero) only for its
 * own clock, and samples are taken by another.  So both clocks are read each time that rings are
 * emptied, and times between two readings are interpolated.  They are exact to the time it takes to
 * read the clock, tens of nanoseconds, even if either clock is adjusted.
 */

enum { ZONE_CLOCK_PAIRS = 64 };

struct zone_clock_pair {
	uint64_t ticks, time_ns;
};

struct zone_clock {
	const struct zone_region *region;		/* the program's; lives as long as it */
	struct zone_clock_pair pairs[ZONE_CLOCK_PAIRS]; /* ascending */
	uint32_t count;
};

/* Starts with the program's own data about its start. */
void zone_clock_init(struct zone_clock *c, const struct zone_region *region);
/* Reads both clocks, unless that was done in the last few milliseconds. */
void zone_clock_look(struct zone_clock *c);
uint64_t zone_clock_time_ns(const struct zone_clock *c, uint64_t ticks);
uint64_t zone_clock_ticks(const struct zone_clock *c, uint64_t time_ns);

/* ---- names ---- */

/*
 * Zones as frames of a capture file: each zone (name, file, line) is an address, from 1, in a
 * single load object that is not code.  A name is written as soon as a zone is seen, so that a
 * recording whose recorder was killed has it.
 */

struct zone_names {
	struct capture_writer *writer;
	struct object_table *objects;
	struct arena *arena;
	struct str_table words;
	struct map numbers;   /* (name and file, line) → number */
	uint32_t count;	      /* zones so far */
	struct map functions; /* (object, address) of functions that are zones */
	uint32_t function_count;
	uint32_t object; /* UINT32_MAX: none yet */
	bool has_unknown;
};

void zone_names_init(
	struct zone_names *n, struct capture_writer *writer, struct object_table *objects);
void zone_names_deinit(struct zone_names *n);
/* The zone's number in the object; file may be empty. */
uint32_t zone_names_number(struct zone_names *n, struct str name, struct str file, uint32_t line);
/* Counts a function that is a zone once, by its load object and address there. */
void zone_names_function(struct zone_names *n, uint32_t object, uint64_t address);
/* The number that represents unknown zones: 0. */
uint32_t zone_names_unknown(struct zone_names *n);
/* The load object of zones. */
uint32_t zone_names_object(struct zone_names *n);

/* ---- thread IDs ---- */

/* In its own pid namespace (a container), a program's thread IDs differ from ours. */

struct zone_tids {
	int64_t pid;
	bool is_same; /* the program's ids are ours */
	struct map inner_of, outer_of;
};

/* inner_pid: the program's own pid. */
void zone_tids_init(struct zone_tids *t, int64_t pid, int64_t inner_pid);
void zone_tids_deinit(struct zone_tids *t);
/* Reads the ids of all living threads from /proc, if needed. */
void zone_tids_learn(struct zone_tids *t);
/* From our id of a thread to the program's own, and back; 0: unknown. */
int64_t zone_tids_inner(const struct zone_tids *t, int64_t tid);
int64_t zone_tids_outer(const struct zone_tids *t, int64_t inner_tid);

/* ---- programs ---- */

/* A slot: its thread or fiber, or the last one that used it. */
struct zone_thread {
	int64_t tid;		/* in the program's own pid namespace; 0: not read yet */
	uint32_t thread_count;	/* how many have used the slot */
	uint32_t number;	/* of the thread in the file; CAPTURE_NO_ID: unknown yet */
	uint32_t number_before; /* of the slot's previous thread */
	uint32_t state;		/* enum zonewire_slot_state */
	uint64_t start_ticks;
	char name[32];		 /* set by the program; empty: none */
	bool is_named;		 /* the file has that name */
	uint64_t event_position; /* of stored events */
	/* At the last rows: how many had used the slot, and whether it was in use. */
	uint32_t rows_count;
	bool rows_taken;
};

/* A node's figures written in rows so far. */
struct zone_given {
	uint64_t ticks, entries, time_ns;
};

/* The sums of a stream's tick records: counters at the end of its last tick. */
struct zone_sums {
	uint64_t ticks, entries;
};
struct zone_stream {
	bool is_settled;	    /* the sums equal the counters; otherwise they must be
				       computed */
	VEC(struct zone_sums) sums; /* [node] */
	uint64_t next_number;	    /* of the expected tick */
	bool has_lost;		    /* ticks since then were overwritten */
	uint64_t end_ticks, end_ns; /* of the last one */
};

/* A zone's frame: in the object "[zones]", or a function of a load object. */
struct zone_frame {
	uint32_t object;
	uint64_t obj_addr;
};

struct zone_program {
	int64_t pid;
	uint32_t process; /* number in the file; CAPTURE_NO_ID: unknown yet */
	uint32_t older;	  /* the process before an exec, by the caller's number; CAPTURE_NO_ID:
			   none */
	bool is_whole;	  /* recorded from its first zone on */
	int fd;		  /* of the memory; -1: none */
	int pidfd;	  /* -1: none */
	struct live_memory memory;
	struct zone_reader *reader;
	struct zone_reading reading; /* the last one; node_count 0: none */
	struct zone_clock clock;
	uint64_t begin_ns;		 /* CLOCK_MONOTONIC: of its recording */
	uint64_t ended_ns;		 /* when it ended or called exec; 0: not yet */
	bool has_execed;		 /* the process now runs another program */
	bool is_closed;			 /* all its contents are in the file */
	VEC(struct zone_thread) threads; /* [slot] */
	bool has_fibers;
	uint64_t merged_threads; /* threads whose zones may have been added to others' */
	struct map slot_of_tid;	 /* by the program's own ids */
	struct zone_tids tids;
	VEC(uint32_t) stacks; /* [node] node of the stack tree; 0: unknown yet */
	/* [zone] object UINT32_MAX: unknown yet */
	VEC(struct zone_frame) frames;
	/* For zone_rows.c: */
	VEC(struct zone_given) given; /* [node] */
	struct zone_stream streams[ZONEWIRE_STREAMS];
	uint64_t ring_position;
	uint64_t row_ns; /* when the last tick ended, or the rest was written in rows */
};

/* Shared by all programs. */
struct zone_context {
	struct recording *recording;
	struct zone_names names;
	struct {
		uint64_t ticks, cut_ticks, lost_ticks, unknown, lost_events, broken, merged_threads;
		uint64_t trouble[ZONEWIRE_TROUBLES]; /* of closed programs */
		uint32_t programs;
	} counts;
};

/*
 * Takes ownership of memory and fd.  is_whole: the program has just entered its first zone;
 * otherwise its earlier zones are left out.  NULL: out of memory.
 */
struct zone_program *zone_program_create(
	int64_t pid, struct live_memory *memory, int fd, bool is_whole);
void zone_program_destroy(struct zone_program *p);

/* Reads all counters; false: out of memory. */
bool zone_program_read(struct zone_program *p);
/* Reads which thread uses which slot. */
void zone_program_look_at_slots(struct zone_program *p);
/* The slot of a thread, by our id, or UINT32_MAX. */
uint32_t zone_program_slot(struct zone_program *p, int64_t tid);
/* The number in the file of a slot's thread, which is written if needed. */
uint32_t zone_program_thread(struct zone_program *p, struct zone_context *c, uint32_t slot);
/* The node of the stack tree for a node of the program; 0: invalid. */
uint32_t zone_program_stack(struct zone_program *p, struct zone_context *c, uint32_t node);
/* The node for an unknown zone. */
uint32_t zone_unknown_stack(struct zone_context *c);
/* Sets the process's number in the file; false: it is unknown yet. */
bool zone_program_has_process(struct zone_program *p, struct zone_context *c);

#endif
