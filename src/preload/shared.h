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
 * a record does no harm.  A record can be anywhere in the slot's data; `places` is a ring of their
 * positions.  Each side tracks its own state, and trusts only what it has checked in this memory.
 */

#include <stdatomic.h>
#include <stdint.h>

#define PRELOAD_MAGIC	 UINT64_C(0x316c7065646e6f73) /* "sondepl1", little-endian */
#define PRELOAD_VARIABLE "SONDE_PRELOAD"

/* Where there may be no such file: a segment of System V's, with its number behind this. */
#define PRELOAD_SEGMENT "shm:"

#define PRELOAD_SLOTS	   4096
#define PRELOAD_RECORDS	   64 /* of a slot at a time; a power of two */
#define PRELOAD_DATA_BYTES ((uint64_t)8 << 20)
#define PRELOAD_SLOTS_OFF  4096
#define PRELOAD_DATA_OFF   (PRELOAD_SLOTS_OFF + PRELOAD_SLOTS * sizeof(struct preload_slot))
#define PRELOAD_FILE_BYTES (PRELOAD_DATA_OFF + PRELOAD_SLOTS * PRELOAD_DATA_BYTES)

struct preload_header {
	uint64_t magic;
	_Atomic uint64_t interval_ns; /* between samples, by now */
	int32_t recorder_pid;
	_Atomic uint32_t stop;	       /* no more samples */
	_Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC, by the recorder while it lives */
	_Atomic uint32_t slots_used;   /* no slot from here on was ever taken */
	_Atomic uint32_t refused;      /* threads that found no slot */
	_Atomic uint32_t sealed;       /* threads that are left alone, as seccomp holds for them */
	uint32_t filters;	       /* of seccomp, that the recorder lives under itself */
	/*
	 * Not 0: the library lies dormant.  Threads have slots and no timers; a thread that is
	 * woken gets its signals from perf events whose descriptors have these numbers or more.
	 */
	uint32_t clock_fd_least;
	/* Bit n: the recorder has something to take out of slot n. */
	_Atomic uint64_t fresh[PRELOAD_SLOTS / 64];
};

/*
 * A run of frames of the thread's last stack, by a few of them: where the return address stands,
 * that address, and the print (unwind/print.h) of the three words above it.  While these are as
 * they were, the recorder knows the stack outside of them; to see that for itself it needs memory
 * up to need_va.
 */
#define PRELOAD_MARKS	   16
#define PRELOAD_MARK_SLOTS 16
struct preload_mark {
	uint64_t need_va;
	uint64_t slot_va[PRELOAD_MARK_SLOTS];
	uint64_t pc[PRELOAD_MARK_SLOTS], print[PRELOAD_MARK_SLOTS];
};

/* What the recorder tells a thread, at the beginning of its slot's data. */
struct preload_marks {
	_Atomic uint32_t version;		  /* odd while the recorder writes */
	uint32_t count;				  /* 0: the next sample is wanted whole */
	struct preload_mark marks[PRELOAD_MARKS]; /* innermost first */
};
#define PRELOAD_MARKS_BYTES 8192u

struct preload_place {
	uint32_t offset, size; /* in the slot's data */
};

struct preload_slot {
	_Alignas(64) _Atomic uint32_t
		owner;	       /* tid, set by the thread; 0: free, set by the recorder */
	_Atomic int32_t pid;   /* the owner's; 0: send it no signals */
	_Atomic uint32_t head; /* records written, ever; the thread's */
	_Atomic uint32_t tail; /* records taken out, ever; the recorder's */
	_Atomic uint32_t lost; /* samples not written, as there was no room; the thread's */
	struct preload_place places[PRELOAD_RECORDS];
};

enum preload_record_type {
	PRELOAD_START = 1,  /* a thread has a slot: struct preload_start follows */
	PRELOAD_SAMPLE = 2, /* struct preload_sample, then the stack's bytes from sp on */
	PRELOAD_NAME = 3,   /* the thread's name, 16 bytes */
	/* Lines of /proc/self/maps, those of code only. */
	PRELOAD_MAPS_ADDED = 4, /* perhaps more than before */
	PRELOAD_MAPS_ALL = 5,	/* and no others */
	PRELOAD_USED = 6,	/* nothing but how much CPU time was used until now */
	PRELOAD_END = 7,	/* the same, and the thread ends */
	PRELOAD_SEALED = 8,	/* the same, and it writes no more: it may make no system calls */
};

struct preload_record {
	uint32_t type, size; /* size: with what follows */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;     /* that the thread has used, since its start */
};

enum preload_start_kind {
	PRELOAD_START_EXEC = 1, /* a program's first thread, by its constructor */
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
	uint64_t took_ns; /* the writing of the thread's sample before this one */
	uint32_t cpu;	  /* UINT32_MAX: not known */
	uint32_t unused;
	uint64_t regs[PRELOAD_REGS];
};

_Static_assert(sizeof(struct preload_header) <= PRELOAD_SLOTS_OFF, "the header has one page");
_Static_assert(sizeof(struct preload_marks) <= PRELOAD_MARKS_BYTES, "marks have their room");
_Static_assert(PRELOAD_DATA_OFF % 4096 == 0, "data begins on a page");

#endif
