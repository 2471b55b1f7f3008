#ifndef SONDE_FORMATS_SONDE_LAYOUT_ZONEWIRE_H
#define SONDE_FORMATS_SONDE_LAYOUT_ZONEWIRE_H

/*
 * The memory of a program's zones.  The runtime (src/zones) writes it, while readers in this and in
 * other processes read it (src/zonereport/region.h).  It can also be saved as a file.
 * man/sonde-zones.5 documents it.
 *
 * 	header | slots | zones | notes | strings | tick ring | nodes | event rings
 *
 * It is a sparse memfd of fixed size, named "sonde-zones".  Only its program can write it: it is
 * sealed against growing, shrinking and new writable mappings.  Each word has one writer at a time.
 * All numbers are in native byte order; "ticks" are those of the clock unless stated otherwise.
 *
 * Counters are never cleared: to measure a period, subtract.  The identity of a node or zone never
 * changes after it is published (by the count of its table), so node numbers remain valid for ever.
 * A tree belongs to a slot.  A thread that ends leaves its slot and tree to a later one, which
 * continues its counters.
 *
 * This header depends only on stdint.h.
 */

#include <stdint.h>

#define ZONEWIRE_MAGIC	  UINT64_C(0x31656e6f7a646e73) /* "sndzone1", little-endian */
#define ZONEWIRE_VERSION  1
#define ZONEWIRE_NAME	  "sonde-zones" /* of the memfd */
#define ZONEWIRE_VARIABLE "SONDE_ZONES" /* environment variable; man/sonde-zones.7 */

enum {
	ZONEWIRE_HEADER_BYTES = 4096,
	ZONEWIRE_DEPTH_MAX = 65536,
	ZONEWIRE_EVENT_NODE_BITS = 20, /* of an event; so the maximum number of nodes is 2^20 */
	ZONEWIRE_STREAMS = 16,
	ZONEWIRE_TEXT_BYTES = 40,
};

/* Ids of zones that always exist. */
enum {
	ZONEWIRE_ZONE_NONE = 0,	  /* no zone */
	ZONEWIRE_ZONE_GLOBAL = 1, /* "_global": the root of each thread */
	ZONEWIRE_ZONE_OTHER = 2,  /* "...other": zones without room in the table */
	ZONEWIRE_ZONE_UPDATE = 3, /* "prof_update": collecting figures */
};

enum zonewire_clock {
	ZONEWIRE_CLOCK_CPU,	  /* rdtsc, cntvct_el0 */
	ZONEWIRE_CLOCK_MONOTONIC, /* clock_gettime(CLOCK_MONOTONIC_RAW), in ns */
	ZONEWIRE_CLOCK_CALLED,	  /* a function of the program: now_ticks has its last result */
};

/* A table: its offset in the memory, the size of a row, and the number of rows. */
struct zonewire_table {
	uint64_t offset;
	uint32_t row_bytes;
	uint32_t capacity;
	uint32_t count; /* rows below this are valid; set after writing them */
	uint32_t reserved;
};

enum zonewire_trouble {
	ZONEWIRE_MISSING_END, /* another zone's end, or Prof_update, left the zone */
	ZONEWIRE_EXTRA_END,   /* an end, while no zone or another one was open */
	/*
	 * For these two, and for entries without a slot, only the outermost entries are counted,
	 * and entries inside them are not measured either.
	 */
	ZONEWIRE_TOO_DEEP, /* entries deeper than ZONEWIRE_DEPTH_MAX, not measured */
	ZONEWIRE_NO_NODES, /* entries without a free node, not measured */
	/*
	 * How often the table of zones was full, which gives "...other"; for zones named by text,
	 * counted each time.
	 */
	ZONEWIRE_NO_ZONES,
	ZONEWIRE_NO_SLOTS,     /* entries of threads without a slot, not measured */
	ZONEWIRE_NO_RING,      /* threads without an event ring */
	ZONEWIRE_INTERRUPTED,  /* entries by signal handlers during another entry, not measured */
	ZONEWIRE_TICK_TOO_BIG, /* ticks that did not fit into the ring completely */
	ZONEWIRE_CLOCK_BACK,   /* how often the clock went back */
	ZONEWIRE_NO_STREAMS,   /* ends of ticks of streams without a row */
	ZONEWIRE_UNTOLD_CHILD, /* child processes whose fork handler was not called, not measured */
	ZONEWIRE_TROUBLES = 16
};

enum zonewire_saved {
	ZONEWIRE_NOT_SAVED, /* a running program's memory, or what it left when killed */
	ZONEWIRE_SAVED,
	/*
	 * The program ended without writing its last time: now_ticks is the last time found in its
	 * memory.
	 */
	ZONEWIRE_SAVED_AFTER,
};

struct zonewire_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* size of this struct in the writer's version */
	uint64_t region_bytes;
	uint32_t clock; /* enum zonewire_clock */
	int32_t pid;	/* in the program's own pid namespace */
	/* ns = (ticks - start_ticks) * clock_mult >> clock_shift, in 128 bits. */
	uint64_t clock_mult;
	uint32_t clock_shift;
	uint32_t generation; /* 1, incremented in each child after fork */
	uint64_t start_ticks;
	uint64_t start_unix_ns;
	uint64_t start_monotonic_ns;	 /* CLOCK_MONOTONIC at start_ticks */
	uint64_t start_monotonic_raw_ns; /* CLOCK_MONOTONIC_RAW at start_ticks */
	/*
	 * The last time known to the program: with ZONEWIRE_CLOCK_CALLED, the present; in saved
	 * memory, the time of saving.
	 */
	uint64_t now_ticks;
	uint32_t is_saved; /* enum zonewire_saved; not 0: a file, the program has ended */
	uint32_t is_off;   /* zones are currently disabled */
	char program[64];  /* base name of its executable, NUL-terminated */
	struct zonewire_table slots, zones, notes, nodes;
	uint64_t strings_offset, strings_bytes, strings_used;
	uint64_t ring_offset, ring_bytes; /* of ticks */
	/*
	 * Bytes ever written to the ring of ticks, and the offset of its oldest complete record.
	 * The writer moves the tail first, then writes, then moves the head.
	 */
	uint64_t ring_head, ring_tail;
	uint32_t stream_count;
	uint32_t is_frozen; /* ticks are no longer recorded … */
	uint64_t frozen_by; /* … since this one (ring position), which took too long */
	struct {
		char name[24];	/* "frame" for stream 0 */
		uint64_t ticks; /* number ended so far */
		uint64_t last_end_ticks;
	} stream[ZONEWIRE_STREAMS];
	uint64_t trouble[ZONEWIRE_TROUBLES]; /* enum zonewire_trouble */
	/* The last missing or extra end: the open zone, and the one that was ended. */
	uint32_t trouble_open, trouble_ended;
	/* When it returned from main or called exit; 0: not yet. */
	uint64_t exit_ticks;
};

/* A thread or a fiber: anything with a stack of zones. */
enum zonewire_slot_state {
	ZONEWIRE_SLOT_FREE, /* currently unused; has the sums of its former users */
	ZONEWIRE_SLOT_THREAD,
	ZONEWIRE_SLOT_FIBER,
};
struct zonewire_slot {
	uint32_t state;
	uint32_t generation;   /* odd while the slot changes hands; then retry */
	int32_t tid;	       /* in the program's own pid namespace */
	uint32_t root;	       /* number of its root node; 0: none yet */
	uint64_t start_ticks;  /* of the thread */
	uint32_t thread_count; /* number of threads that have used it, including this one */
	uint32_t reserved;
	char name[32];		/* set by the program; empty: use the kernel's */
	uint64_t events_offset; /* of its ring, uint64_t [event_count]; 0: none */
	uint64_t event_count;	/* a power of two */
	uint64_t reserved2[6];
	uint64_t event_head;	   /* number of events ever written; alone on its cache line */
	uint64_t private_words[2]; /* used by the program only */
	uint64_t reserved3[5];
};

struct zonewire_zone {
	uint64_t code;	     /* address, for zones that are functions; else 0 */
	uint32_t name, file; /* offsets in strings, NUL-terminated; file 0: unknown */
	uint32_t line;
	uint32_t flags;
	/*
	 * In saved memory: offset in strings of the path of the load object that contains `code`;
	 * 0: none.
	 */
	uint32_t module;
	uint32_t reserved;
};

/* One zone stack of one slot: 56 shared bytes, then the program's private part. */
struct zonewire_node {
	/*
	 * Time inside, in ticks; negative while open: adding the present time gives the time so
	 * far.
	 */
	int64_t ticks;
	uint64_t entries;
	uint32_t zone;
	uint32_t parent; /* number; less than the node's own, but a root's is its own */
	uint32_t slot;
	uint32_t depth;
	uint32_t number;
	uint32_t recursion;
	uint32_t first_child, next_sibling;
	uint32_t skipped;
	uint32_t note;		   /* row of notes; 0: none */
	uint64_t private_words[9]; /* pointers used by the program only */
};

/* Texts and numbers that a program has attached to a node (Prof_text, Prof_number). */
struct zonewire_note {
	uint32_t node;
	uint32_t generation; /* odd while it changes; then retry */
	uint64_t count;	     /* number of numbers */
	double sum, min, max, last;
	char text[ZONEWIRE_TEXT_BYTES]; /* the last one */
};

/*
 * An event: the clock tick in the upper 44 bits (modulo 2^44), and the number of the thread's node
 * from then on; 0: the thread has ended.  Event n is at n modulo event_count; those before
 * event_head - event_count + 1 may be overwritten at any moment.
 */
static inline uint32_t zonewire_event_node(uint64_t event)
{
	return (uint32_t)(event & ((UINT32_C(1) << ZONEWIRE_EVENT_NODE_BITS) - 1));
}
/* The event's tick: the latest with these bits that is not after `not_after`. */
static inline uint64_t zonewire_event_ticks(uint64_t event, uint64_t not_after)
{
	uint64_t mask = (UINT64_C(1) << 44) - 1;

	return not_after - ((not_after - (event >> ZONEWIRE_EVENT_NODE_BITS)) & mask);
}

/*
 * A record in the ring of ticks: one tick of one stream, and all nodes with activity in it.  The
 * size of records is a multiple of 8.  They do not wrap at the ring's end: a record of
 * ZONEWIRE_TICK_PAD fills the rest.
 */
#define ZONEWIRE_TICK_PAD UINT32_MAX
struct zonewire_tick {
	uint32_t bytes; /* size of the whole record */
	uint32_t stream;
	uint64_t number; /* in its stream, from 0 */
	uint64_t start_ticks, end_ticks;
	uint32_t slot; /* of the thread that ended it; in a history also ZONEWIRE_SLOT_NOBODY */
	uint32_t delta_count;
	uint32_t flags; /* enum zonewire_tick_flag */
	uint32_t reserved;
	/* struct zonewire_delta [delta_count] follows */
};
/* For ticks that were ended by an observer, not by a thread. */
#define ZONEWIRE_SLOT_NOBODY UINT32_MAX
enum zonewire_tick_flag {
	ZONEWIRE_TICK_CUT = 1,	     /* there was no room for all nodes */
	ZONEWIRE_TICK_OWN = 2,	     /* of the ending thread only */
	ZONEWIRE_TICK_AFTER_GAP = 4, /* the previous one was skipped, because recording was
				        paused or frozen */
};
struct zonewire_delta {
	uint32_t node;
	uint32_t entries;
	uint64_t self_ticks; /* in the node itself */
};

#endif
