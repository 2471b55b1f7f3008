#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_LAYOUT_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_LAYOUT_H

/*
 * Data shared by the BPF program of the exact engine and the recorder: the program's settings, the
 * pieces of stacks in its ring, and its table of threads.  Compiled by both compilers.
 */

#include <stdint.h>

enum {
	EXACT_PAGE = 4096,
	/* Bytes of stack in a record of the ring; both are whole pages. */
	EXACT_LONG = 32768,
	EXACT_SHORT = 4096,
};

/* The program's constants. */
struct exact_settings {
	uint32_t dump_bytes;   /* of stack in each sample, if the kernel does not report it */
	uint32_t wake_bytes;   /* wake the recorder when the ring has that much */
	uint64_t main_bytes;   /* maximum to copy of a main thread's stack */
	uint64_t thread_bytes; /* of another stack, for a thread without an entry */
	uint64_t mapped_bytes; /* the same, for a stack that ends somewhere in a mapping */
};

/* Why a rest ends where it does. */
enum exact_end {
	EXACT_END_STACK, /* at the end of the stack, as far as it is known */
	EXACT_END_MARK,	 /* at an intact mark */
	EXACT_END_LIMIT, /* at the limit of bytes */
};

/* A piece of the rest of one sample's stack, [va, va + size), and the record's size bytes. */
struct exact_piece {
	uint64_t time_ns; /* of the sample; in old kernels, of the copy shortly before it */
	uint64_t sp;	  /* of the sample */
	uint64_t va;
	uint64_t low_va, high_va; /* of the rest: everything that should be copied */
	uint32_t tid;		  /* of the sample */
	uint32_t size;
	uint32_t end;	    /* enum exact_end */
	uint32_t is_wanted; /* the whole rest was requested; see exact_thread */
	uint32_t is_other;  /* of another stack than the sample's, or of what leads to it */
	uint32_t unused;
};

enum { EXACT_MARKS = 16, EXACT_MARK_SLOTS = 16 };

/*
 * A run of frames of a thread's last stack, represented by some of them: the position of the return
 * address, its value, and the print (unwind/print.h) of the three words above it.  While these are
 * unchanged, the stack outside them is assumed to be unchanged, as in suffix reuse.  To recognise
 * it, the walker needs memory up to need_va.
 */
struct exact_mark {
	uint64_t need_va;
	uint64_t slot_va[EXACT_MARK_SLOTS]; /* ascending */
	uint64_t pc[EXACT_MARK_SLOTS], print[EXACT_MARK_SLOTS];
};

/* A thread: data from the recorder for the program, and data of the program. */
struct exact_thread {
	uint64_t version;     /* odd while the recorder writes; then do not read */
	uint64_t limit_bytes; /* for a stack that is not the main thread's; main_bytes: unknown */
	uint64_t marks_ns;    /* the sample of the marks, as in last_ns */
	uint32_t tid;	      /* 0: free */
	uint32_t mark_count;
	uint32_t wanted; /* incremented to request that the next sample be whole, regardless of
			    marks */
	uint32_t given;	 /* by the program: the value of wanted at the last whole sample */
	/* By the program: the time of the last sample, and the marks_ns that gone is for. */
	uint64_t last_ns, judged_ns;
	uint64_t gone; /* this many marks, the innermost, were not intact in each sample since */
	struct exact_mark marks[EXACT_MARKS]; /* innermost first */
};

/* A thread is in one of EXACT_PROBES entries from exact_hash(tid) on, wrapping at the end. */
enum { EXACT_THREAD_BITS = 9, EXACT_THREADS = 1 << EXACT_THREAD_BITS, EXACT_PROBES = 8 };

static inline uint32_t exact_hash(uint32_t tid)
{
	return tid * 2654435769u >> (32 - EXACT_THREAD_BITS);
}

/*
 * The processes whose stacks are wanted, if the events also sample others: a bit for each, by the
 * lower bits of its pid.  Several processes may share a bit, which occasionally costs a copy.
 */
enum { EXACT_PROCESSES = 1 << 16, EXACT_GO_PROCESSES = 256 };

struct exact_processes {
	uint64_t is_on; /* 0: all processes are wanted */
	uint64_t bits[EXACT_PROCESSES / 64];
	/*
	 * Where a process keeps Go's g, in bytes below a thread's control block, if it is not the
	 * usual place: by the lower bits of its pid.  Of several processes, the last one counts.
	 */
	struct exact_go {
		uint32_t pid, below;
	} go[EXACT_GO_PROCESSES];
};

/* Counts by the program, per CPU. */
struct exact_counts {
	uint64_t samples;   /* samples for which it ran */
	uint64_t rests;	    /* samples for which it copied a rest */
	uint64_t bytes;	    /* bytes of stack copied */
	uint64_t marked;    /* samples with an intact mark, with or without a rest */
	uint64_t limited;   /* rests that ended at the limit of bytes */
	uint64_t lost;	    /* rests that did not fit into the ring completely */
	uint64_t absent;    /* pages that were not in memory */
	uint64_t looked_up; /* mappings */
};

#endif
