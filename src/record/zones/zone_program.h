#ifndef SONDE_RECORD_ZONES_ZONE_PROGRAM_H
#define SONDE_RECORD_ZONES_ZONE_PROGRAM_H

/*
 * One program with zones while it is recorded: its memory of zones, mapped, which stays ours when
 * the program is gone; and what its slots and nodes are in the file.
 *
 * A process that calls exec has other memory after it, and is two programs here.
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
 * A program's zones have a clock, samples have CLOCK_MONOTONIC.  The clocks are read together now
 * and then: which tick of the one was at which nanosecond of the other.
 *
 * The kernel offers its own conversion of the processor's clock (cap_user_time_zero) only for its
 * own clock, and samples are taken by another.  So both clocks are read each time that rings are
 * emptied, and times between two readings are interpolated.  They are exact to what it takes to
 * read the clock, some tens of nanoseconds, whatever else corrects the one or the other.
 */

enum { ZONE_CLOCK_PAIRS = 64 };

struct zone_clock_pair {
	uint64_t ticks, time_ns;
};

struct zone_clock {
	const struct zone_region *region;		/* the program's; stays as long */
	struct zone_clock_pair pairs[ZONE_CLOCK_PAIRS]; /* ascending */
	uint32_t count;
};

/* Begins with what the program itself says of its start. */
void zone_clock_init(struct zone_clock *c, const struct zone_region *region);
/* Reads both clocks, if that was not done in the last few milliseconds. */
void zone_clock_look(struct zone_clock *c);
uint64_t zone_clock_time_ns(const struct zone_clock *c, uint64_t ticks);
uint64_t zone_clock_ticks(const struct zone_clock *c, uint64_t time_ns);

/* ---- names ---- */

/*
 * Zones as frames of a capture file: each zone (name, file, line) is an address, from 1, of the one
 * load object that is not code.  Names are written as soon as a zone is seen, so that a recording
 * whose recorder was killed has them.
 */

struct zone_names {
	struct capture_writer *writer;
	struct object_table *objects;
	struct arena *arena;
	struct str_table words;
	struct map numbers;   /* (name and file, line) → number */
	uint32_t count;	      /* zones so far */
	struct map functions; /* (object, its address): those that are zones */
	uint32_t function_count;
	uint32_t object; /* UINT32_MAX: none yet */
	bool has_unknown;
};

void zone_names_init(
	struct zone_names *n, struct capture_writer *writer, struct object_table *objects);
void zone_names_deinit(struct zone_names *n);
/* The zone's number in the object; file may be empty. */
uint32_t zone_names_number(struct zone_names *n, struct str name, struct str file, uint32_t line);
/* Counts a function that is a zone, by its load object and the address in that, once. */
void zone_names_function(struct zone_names *n, uint32_t object, uint64_t address);
/* The number of the zone that stands for those that are not known: 0. */
uint32_t zone_names_unknown(struct zone_names *n);
/* The load object of zones. */
uint32_t zone_names_object(struct zone_names *n);

/* ---- thread IDs ---- */

/*
 * In a pid namespace of its own (a container) a program's thread IDs differ from ours.
 */

struct zone_tids {
	int64_t pid;
	bool is_same; /* both are one */
	struct map inner_of, outer_of;
};

/* inner_pid: what the program calls itself. */
void zone_tids_init(struct zone_tids *t, int64_t pid, int64_t inner_pid);
void zone_tids_deinit(struct zone_tids *t);
/* Asks /proc for all threads that live, where that is needed. */
void zone_tids_learn(struct zone_tids *t);
/* The program's own id of a thread, and ours of one of its; 0: not known. */
int64_t zone_tids_inner(const struct zone_tids *t, int64_t tid);
int64_t zone_tids_outer(const struct zone_tids *t, int64_t inner_tid);

/* ---- programs ---- */

/* A slot: a thread or fiber, or whoever had it last. */
struct zone_thread {
	int64_t tid;		/* as the program sees it; 0: not looked at yet */
	uint32_t thread_count;	/* that have had the slot */
	uint32_t number;	/* of the thread in the file; CAPTURE_NO_ID: not known yet */
	uint32_t number_before; /* of the one that had the slot before */
	uint32_t state;		/* enum zonewire_slot_state */
	uint64_t start_ticks;
	char name[32];		 /* that the program gave it; empty: none */
	bool is_named;		 /* in the file, so */
	uint64_t event_position; /* of events that are stored */
	/* When rows were made last: how many had had the slot, and whether one had it then. */
	uint32_t rows_count;
	bool rows_taken;
};

/* What was put into rows of a node so far. */
struct zone_given {
	uint64_t ticks, entries, time_ns;
};

/* What the records of a stream's ticks have come to: counters at the end of its last tick. */
struct zone_sums {
	uint64_t ticks, entries;
};
struct zone_stream {
	bool is_settled;	    /* the sums are counters; else they are to be found out */
	VEC(struct zone_sums) sums; /* [node] */
	uint64_t next_number;	    /* of the tick that should come */
	bool has_lost;		    /* some have been written over since then */
	uint64_t end_ticks, end_ns; /* of the last one */
};

/* A zone in stacks: of the object "[zones]", or a function of a load object. */
struct zone_frame {
	uint32_t object;
	uint64_t obj_addr;
};

struct zone_program {
	int64_t pid;
	uint32_t process; /* number in the file; CAPTURE_NO_ID: not known yet */
	uint32_t older; /* what the process was before an exec, the caller's; CAPTURE_NO_ID: none */
	bool is_whole;	/* seen from its first zone on */
	int fd;		/* of the memory; -1: none */
	int pidfd;	/* -1: none */
	struct live_memory memory;
	struct zone_reader *reader;
	struct zone_reading reading; /* the last; node_count 0: none */
	struct zone_clock clock;
	uint64_t begin_ns;		 /* CLOCK_MONOTONIC: of the recording of it */
	uint64_t ended_ns;		 /* when it ended or called exec; 0: it has not */
	bool has_execed;		 /* its memory is another program's now */
	bool is_closed;			 /* all that was in it is in the file */
	VEC(struct zone_thread) threads; /* [slot] */
	bool has_fibers;
	uint64_t merged_threads; /* whose zones went, at least in part, to others' */
	struct map slot_of_tid;	 /* by the program's own ids */
	struct zone_tids tids;
	VEC(uint32_t) stacks; /* [node]: node of the stack tree; 0: not known yet */
	/* [zone]: where it is; object UINT32_MAX: not known yet */
	VEC(struct zone_frame) frames;
	/* record/zone_rows: */
	VEC(struct zone_given) given; /* [node] */
	struct zone_stream streams[ZONEWIRE_STREAMS];
	uint64_t ring_position;
	uint64_t row_ns; /* when a tick ended last, or the rest was put into rows */
};

/* What programs have in common. */
struct zone_context {
	struct recording *recording;
	struct zone_names names;
	struct {
		uint64_t ticks, cut_ticks, lost_ticks, unknown, lost_events, broken, merged_threads;
		uint64_t trouble[ZONEWIRE_TROUBLES]; /* of programs that are closed */
		uint32_t programs;
	} counts;
};

/*
 * Takes over memory and fd.  is_whole: the program has just entered its first zone; else what it
 * has done before is left out.  NULL: no memory.
 */
struct zone_program *zone_program_create(
	int64_t pid, struct live_memory *memory, int fd, bool is_whole);
void zone_program_destroy(struct zone_program *p);

/* Looks at all counters; false: no memory. */
bool zone_program_read(struct zone_program *p);
/* Looks who has which slot. */
void zone_program_look_at_slots(struct zone_program *p);
/* The slot of a thread by our id of it, or UINT32_MAX. */
uint32_t zone_program_slot(struct zone_program *p, int64_t tid);
/* The thread of a slot in the file, which is written if need be. */
uint32_t zone_program_thread(struct zone_program *p, struct zone_context *c, uint32_t slot);
/* The node of the stack tree for one of the program's; 0: it is none. */
uint32_t zone_program_stack(struct zone_program *p, struct zone_context *c, uint32_t node);
/* The node that stands for a zone that is not known. */
uint32_t zone_unknown_stack(struct zone_context *c);
/* The process's number in the file; false: nobody knows of it yet. */
bool zone_program_has_process(struct zone_program *p, struct zone_context *c);

#endif
