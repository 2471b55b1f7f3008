#ifndef SONDE_FORMATS_SONDE_LAYOUT_ZONEWIRE_H
#define SONDE_FORMATS_SONDE_LAYOUT_ZONEWIRE_H

/*
 * The memory of a program's zones: what the runtime (src/zones) writes and readers in this and in
 * other processes read while it does (src/zonereport/region.h), and, saved, a file.
 * man/sonde-zones.5 documents it.
 *
 *	header | slots | zones | notes | strings | tick ring | nodes | event rings
 *
 * It is a memfd called "sonde-zones", of a fixed size and sparse, that nobody but its program can
 * write: sealed against growing, shrinking and new writable mappings.  Each word has one writer at
 * a time.  All numbers are the machine's own; "ticks" without more are those of the clock.
 *
 * Counters are never cleared: who wants to know what happened in a while subtracts.  What a node or
 * zone *is* never changes once it is published (by the count of its table), so a number of a node
 * means the same for ever.  A tree belongs to a slot; a thread that ends leaves its slot and tree
 * to the next one, which goes on counting from there.
 *
 * Nothing here depends on more than stdint.h.
 */

#include <stdint.h>

#define ZONEWIRE_MAGIC	  UINT64_C(0x31656e6f7a646e73) /* "sndzone1", little-endian */
#define ZONEWIRE_VERSION  1
#define ZONEWIRE_NAME	  "sonde-zones" /* of the memfd */
#define ZONEWIRE_VARIABLE "SONDE_ZONES" /* of the environment; man/sonde-zones.7 */

enum {
	ZONEWIRE_HEADER_BYTES = 4096,
	ZONEWIRE_DEPTH_MAX = 65536,
	ZONEWIRE_EVENT_NODE_BITS = 20, /* of an event, and so the most nodes there can be */
	ZONEWIRE_STREAMS = 16,
	ZONEWIRE_TEXT_BYTES = 40,
};

/* Ids of zones that are always there. */
enum {
	ZONEWIRE_ZONE_NONE = 0,	  /* of no zone */
	ZONEWIRE_ZONE_GLOBAL = 1, /* "_global": a thread's root */
	ZONEWIRE_ZONE_OTHER = 2,  /* "...other": zones for which there was no room */
	ZONEWIRE_ZONE_UPDATE = 3, /* "prof_update": gathering */
};

enum zonewire_clock {
	ZONEWIRE_CLOCK_CPU,	  /* rdtsc, cntvct_el0 */
	ZONEWIRE_CLOCK_MONOTONIC, /* clock_gettime(CLOCK_MONOTONIC_RAW), in ns */
	ZONEWIRE_CLOCK_CALLED,	  /* a function of the program's: now_ticks tells */
};

/* A table: where it begins in the memory, how large a row is, and how many there are. */
struct zonewire_table {
	uint64_t offset;
	uint32_t row_bytes;
	uint32_t capacity;
	uint32_t count; /* rows before this one are good; written after them */
	uint32_t reserved;
};

enum zonewire_trouble {
	ZONEWIRE_MISSING_END, /* a zone was left by another's end, or by Prof_update */
	ZONEWIRE_EXTRA_END,   /* an end where no zone was open, or another's */
	/*
	 * Of these two, and of those without a slot, the outermost are counted: what is entered
	 * below them is not measured, too.
	 */
	ZONEWIRE_TOO_DEEP, /* entries deeper than ZONEWIRE_DEPTH_MAX, not measured */
	ZONEWIRE_NO_NODES, /* entries for which there was no node, not measured */
	/* Times there was no row for a zone, "...other" then; of those named by text each time. */
	ZONEWIRE_NO_ZONES,
	ZONEWIRE_NO_SLOTS,     /* entries by threads without a slot, not measured */
	ZONEWIRE_NO_RING,      /* threads for which there was no event ring */
	ZONEWIRE_INTERRUPTED,  /* entries by signal handlers in the middle of another, not measured
				*/
	ZONEWIRE_TICK_TOO_BIG, /* ticks that did not fit into the ring as a whole */
	ZONEWIRE_CLOCK_BACK,   /* times that the clock went back */
	ZONEWIRE_NO_STREAMS,   /* ends of ticks of streams for which there was no row */
	ZONEWIRE_UNTOLD_CHILD, /* child processes without a fork handler's call, not measured */
	ZONEWIRE_TROUBLES = 16
};

enum zonewire_saved {
	ZONEWIRE_NOT_SAVED, /* the program's own, or what it left when it was killed */
	ZONEWIRE_SAVED,
	/* It had not told when it ended: now_ticks is the last moment that its memory proves. */
	ZONEWIRE_SAVED_AFTER,
};

struct zonewire_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* of this struct, as its writer knows it */
	uint64_t region_bytes;
	uint32_t clock; /* enum zonewire_clock */
	int32_t pid;	/* as the program sees itself */
	/* ns = (ticks - start_ticks) * clock_mult >> clock_shift, in 128 bits. */
	uint64_t clock_mult;
	uint32_t clock_shift;
	uint32_t generation; /* 1, and one more in each child after fork */
	uint64_t start_ticks;
	uint64_t start_unix_ns;
	uint64_t start_monotonic_ns;	 /* CLOCK_MONOTONIC at start_ticks */
	uint64_t start_monotonic_raw_ns; /* CLOCK_MONOTONIC_RAW at start_ticks */
	/*
	 * The last tick that the program itself knows of: of the clock ZONEWIRE_CLOCK_CALLED the
	 * present, and of saved memory the time when it was saved.
	 */
	uint64_t now_ticks;
	uint32_t is_saved; /* enum zonewire_saved: not 0: a file, nothing runs any more */
	uint32_t is_off;   /* zones are switched off at the moment */
	char program[64];  /* the base name of its executable, NUL-terminated */
	struct zonewire_table slots, zones, notes, nodes;
	uint64_t strings_offset, strings_bytes, strings_used;
	uint64_t ring_offset, ring_bytes; /* of ticks */
	/*
	 * Bytes ever put into the ring of ticks, and where the oldest record begins that is still
	 * whole.  The writer moves the tail first, then writes, then moves the head.
	 */
	uint64_t ring_head, ring_tail;
	uint32_t stream_count;
	uint32_t is_frozen; /* no more ticks are recorded … */
	uint64_t frozen_by; /* … since this one (ring position), that took too long */
	struct {
		char name[24];	/* of stream 0 "frame" */
		uint64_t ticks; /* ended so far */
		uint64_t last_end_ticks;
	} stream[ZONEWIRE_STREAMS];
	uint64_t trouble[ZONEWIRE_TROUBLES]; /* enum zonewire_trouble */
	/* The last missing or extra end: the zone that was open, and the one that was ended. */
	uint32_t trouble_open, trouble_ended;
	/* When it returned from main, or called exit; 0: it has not. */
	uint64_t exit_ticks;
};

/* A thread, or a fiber: whoever has a stack of zones of its own. */
enum zonewire_slot_state {
	ZONEWIRE_SLOT_FREE, /* nobody's at the moment: the sum of those who had it */
	ZONEWIRE_SLOT_THREAD,
	ZONEWIRE_SLOT_FIBER,
};
struct zonewire_slot {
	uint32_t state;
	uint32_t generation;   /* odd while it changes hands; retry */
	int32_t tid;	       /* as the program sees it */
	uint32_t root;	       /* number of its root node; 0: none yet */
	uint64_t start_ticks;  /* of the thread */
	uint32_t thread_count; /* that have had it, this one included */
	uint32_t reserved;
	char name[32];		/* given by the program; empty: ask the kernel */
	uint64_t events_offset; /* of its ring, uint64_t [event_count]; 0: none */
	uint64_t event_count;	/* a power of two */
	uint64_t reserved2[6];
	uint64_t event_head;	   /* events ever written; alone on its cache line */
	uint64_t private_words[2]; /* the program's */
	uint64_t reserved3[5];
};

struct zonewire_zone {
	uint64_t code;	     /* address, of zones that are functions; else 0 */
	uint32_t name, file; /* offsets in strings, each NUL-terminated; file 0: not known */
	uint32_t line;
	uint32_t flags;
	/* Offset in strings, in saved memory: the path of the load object that has `code`; 0: none.
	 */
	uint32_t module;
	uint32_t reserved;
};

/* One zone stack of one slot: 56 bytes that are shared, then what is the program's own. */
struct zonewire_node {
	/* Time inside, in ticks; negative while open: + now is then the time so far. */
	int64_t ticks;
	uint64_t entries;
	uint32_t zone;
	uint32_t parent; /* number; less than its own but for roots, whose own it is */
	uint32_t slot;
	uint32_t depth;
	uint32_t number;
	uint32_t recursion;
	uint32_t first_child, next_sibling;
	uint32_t skipped;
	uint32_t note;		   /* row of notes; 0: none */
	uint64_t private_words[9]; /* pointers of the program's */
};

/* What a program has said of a node: texts and numbers (Prof_Text, Prof_Number). */
struct zonewire_note {
	uint32_t node;
	uint32_t generation; /* odd while it changes; retry */
	uint64_t count;	     /* of numbers */
	double sum, min, max, last;
	char text[ZONEWIRE_TEXT_BYTES]; /* the last one */
};

/*
 * An event: the tick of the clock in the upper 44 bits (modulo 2^44), and the number of the node
 * that the thread is at from then on; 0: it has ended.  Event n lies at n modulo event_count; those
 * before event_head - event_count + 1 may be overwritten any moment.
 */
static inline uint32_t zonewire_event_node(uint64_t event)
{
	return (uint32_t)(event & ((UINT32_C(1) << ZONEWIRE_EVENT_NODE_BITS) - 1));
}
/* The tick of an event that is not later than `not_after` and less than 2^44 ticks before it. */
static inline uint64_t zonewire_event_ticks(uint64_t event, uint64_t not_after)
{
	uint64_t mask = (UINT64_C(1) << 44) - 1;

	return not_after - ((not_after - (event >> ZONEWIRE_EVENT_NODE_BITS)) & mask);
}

/*
 * A record of the ring of ticks: one tick of one stream, and all nodes that did anything in it.
 * Records are of a size that 8 divides and never go over the ring's end: there a record of
 * ZONEWIRE_TICK_PAD fills what is left.
 */
#define ZONEWIRE_TICK_PAD UINT32_MAX
struct zonewire_tick {
	uint32_t bytes; /* of the whole record */
	uint32_t stream;
	uint64_t number; /* in its stream, from 0 */
	uint64_t start_ticks, end_ticks;
	uint32_t slot; /* whose thread ended it; in a history also ZONEWIRE_SLOT_NOBODY */
	uint32_t delta_count;
	uint32_t flags; /* enum zonewire_tick_flag */
	uint32_t reserved;
	/* struct zonewire_delta [delta_count] follows */
};
/* Of ticks that no thread ended, but who looks. */
#define ZONEWIRE_SLOT_NOBODY UINT32_MAX
enum zonewire_tick_flag {
	ZONEWIRE_TICK_CUT = 1,	     /* not all nodes had room */
	ZONEWIRE_TICK_OWN = 2,	     /* of the ending thread alone */
	ZONEWIRE_TICK_AFTER_GAP = 4, /* the one before was paused or frozen away */
};
struct zonewire_delta {
	uint32_t node;
	uint32_t entries;
	uint64_t self_ticks; /* spent in the node and not below it */
};

#endif
