#ifndef SONDE_PRELOAD_SHARED_H
#define SONDE_PRELOAD_SHARED_H

/*
 * The memory shared by the preloaded library and the recorder: a memfd of the recorder, whose path
 * /proc/PID/fd/N is in the target's environment.  It is sparse: untouched parts cost nothing.
 *
 *	struct preload_header, struct preload_slot [PRELOAD_SLOTS], then data [PRELOAD_SLOTS]
 *
 * Each slot belongs to one thread: only the thread writes records to it, and only the recorder
 * removes them.  So neither ever waits for the other, and a thread that is killed in the middle of
 * a record does no harm.  A slot's data begins with marks and with places, a ring of the positions
 * of records; each record can be anywhere behind these.  Each side tracks its own state, and trusts
 * only what it has checked in this memory.
 */

#include <stdatomic.h>
#include <stdint.h>

#define PRELOAD_MAGIC	 UINT64_C(0x316c7065646e6f73) /* "sondepl1", little-endian */
#define PRELOAD_VARIABLE "SONDE_PRELOAD"

/* If such a file is not possible: a System V segment, whose number follows this prefix. */
#define PRELOAD_SEGMENT "shm:"

#define PRELOAD_SLOTS 4096
/*
 * How many records may wait in a slot, a power of two; and the room for them.  On a busy machine
 * the recorder may get no CPU for 0.1 s, and a sample of a deep stack has some 100 KB.
 */
#define PRELOAD_RECORDS	   256
#define PRELOAD_DATA_BYTES ((uint64_t)16 << 20)
#define PRELOAD_SLOTS_OFF  4096
#define PRELOAD_DATA_OFF   (PRELOAD_SLOTS_OFF + PRELOAD_SLOTS * sizeof(struct preload_slot))
#define PRELOAD_FILE_BYTES (PRELOAD_DATA_OFF + PRELOAD_SLOTS * PRELOAD_DATA_BYTES)

struct preload_header {
	uint64_t magic;
	_Atomic uint64_t interval_ns; /* current time between samples */
	int32_t recorder_pid;
	_Atomic uint32_t stop;	       /* no more samples */
	_Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC, updated by the recorder while it lives */
	_Atomic uint32_t slots_used;   /* slots from here on were never taken */
	_Atomic uint32_t refused;      /* threads without a slot */
	_Atomic uint32_t sealed;       /* threads abandoned because of seccomp */
	uint32_t filters;	       /* seccomp filters of the recorder itself */
	/*
	 * Not 0: the library is dormant.  Threads have slots but no timers.  A thread that is woken
	 * gets its signals from perf events with descriptors of at least this number.
	 */
	uint32_t clock_fd_least;
	/* Bit n: slot n has new records. */
	_Atomic uint64_t fresh[PRELOAD_SLOTS / 64];
};

/*
 * A run of frames of the thread's last stack, represented by some of them: the position of the
 * return address, its value, and the print (unwind/print.h) of the three words above it.  While
 * these are unchanged, the recorder knows the stack outside them; to recognize it, it needs memory
 * up to need_va.
 */
#define PRELOAD_MARKS	   16
#define PRELOAD_MARK_SLOTS 16
struct preload_mark {
	uint64_t need_va;
	uint64_t slot_va[PRELOAD_MARK_SLOTS];
	uint64_t pc[PRELOAD_MARK_SLOTS], print[PRELOAD_MARK_SLOTS];
};

/* From the recorder to a thread, at the beginning of its slot's data. */
struct preload_marks {
	_Atomic uint32_t version;		  /* odd while the recorder writes */
	uint32_t count;				  /* 0: the next sample should be whole */
	uint64_t sample_ns;			  /* the sample of the marks, as in last_ns */
	_Atomic uint64_t last_ns;		  /* the thread's: the time of its last sample */
	struct preload_mark marks[PRELOAD_MARKS]; /* innermost first */
};
#define PRELOAD_MARKS_BYTES 8192u

struct preload_place {
	uint32_t offset, size; /* in the slot's data */
};
#define PRELOAD_PLACES_OFF  PRELOAD_MARKS_BYTES
#define PRELOAD_RECORDS_OFF (PRELOAD_PLACES_OFF + PRELOAD_RECORDS * sizeof(struct preload_place))

struct preload_slot {
	_Alignas(64) _Atomic uint32_t
		owner;	       /* tid, set by the thread; 0: free, set by the recorder */
	_Atomic int32_t pid;   /* the owner's; 0: do not send it signals */
	_Atomic uint32_t head; /* number of records written; the thread's */
	_Atomic uint32_t tail; /* number of records removed; the recorder's */
	_Atomic uint32_t lost; /* samples without room; the thread's */
	/* The thread keeps Go's g this far below its control block; 0: unknown; the recorder's. */
	_Atomic uint32_t go_below;
};

enum preload_record_type {
	PRELOAD_START = 1,  /* a thread has a slot: struct preload_start follows */
	PRELOAD_SAMPLE = 2, /* struct preload_sample, then the stack's bytes from sp on, then
			       other parts of memory: struct preload_part and its bytes, each */
	PRELOAD_NAME = 3,   /* the thread's name, 16 bytes */
	/* Lines of /proc/self/maps, for code only. */
	PRELOAD_MAPS_ADDED = 4, /* may be new */
	PRELOAD_MAPS_ALL = 5,	/* complete: no others exist */
	PRELOAD_USED = 6,	/* only the CPU time used so far */
	PRELOAD_END = 7,	/* like PRELOAD_USED; the thread ends */
	PRELOAD_SEALED = 8,	/* like PRELOAD_USED; it writes no more, because it may make no
				   system calls */
};

struct preload_record {
	uint32_t type, size; /* size: including what follows */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;     /* used by the thread since its start */
};

enum preload_start_kind {
	PRELOAD_START_EXEC = 1, /* a program's first thread, from its constructor */
	PRELOAD_START_FORK = 2,
	PRELOAD_START_THREAD = 3,
};

struct preload_start {
	uint32_t kind;
	int32_t pid, tid, parent_pid; /* in the recorder's pid namespace */
	char name[16];
};

/* In the order of DWARF's numbers: rax rdx rcx rbx rsi rdi rbp rsp r8-r15, then rip. */
#define PRELOAD_REGS 17

struct preload_sample {
	uint64_t took_ns; /* duration of writing the thread's previous sample */
	uint32_t cpu;	  /* UINT32_MAX: unknown */
	uint32_t stack_bytes;
	uint64_t regs[PRELOAD_REGS];
};

struct preload_part {
	uint64_t va, bytes;
};
#define PRELOAD_PARTS 4 /* at most */

_Static_assert(sizeof(struct preload_header) <= PRELOAD_SLOTS_OFF, "the header has one page");
_Static_assert(sizeof(struct preload_slot) % 64 == 0, "slots share no cache line");
_Static_assert(sizeof(struct preload_marks) <= PRELOAD_MARKS_BYTES, "marks have their room");
_Static_assert(PRELOAD_DATA_OFF % 4096 == 0, "data begins on a page");

#endif
