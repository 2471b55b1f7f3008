#ifndef SONDE_AGENT_SHARED_H
#define SONDE_AGENT_SHARED_H

/*
 * The memory that the preloaded library and the recorder share: a memfd of the recorder's, whose
 * path /proc/PID/fd/N the target's environment tells.  It is sparse: what nobody touches costs
 * nothing.
 *
 *	struct agent_header, struct agent_slot [AGENT_SLOTS], then data [AGENT_SLOTS]
 *
 * A slot is one thread's: the thread alone writes records to it, the recorder alone takes them out,
 * so that neither ever waits for the other, and a thread that is killed amid a record harms nobody.
 * A record lies anywhere in the slot's data; `places` says where, as a ring.  Each side keeps its
 * own account and believes of this memory only what it has checked.
 */

#include <stdatomic.h>
#include <stdint.h>

#define AGENT_MAGIC    UINT64_C(0x31746e6567617364) /* "dsagent1", little-endian */
#define AGENT_VARIABLE "SONDE_AGENT"

#define AGENT_SLOTS	 4096
#define AGENT_RECORDS	 64 /* of a slot at a time; a power of two */
#define AGENT_DATA_BYTES ((uint64_t)8 << 20)
#define AGENT_SLOTS_OFF	 4096
#define AGENT_DATA_OFF	 (AGENT_SLOTS_OFF + AGENT_SLOTS * sizeof(struct agent_slot))
#define AGENT_FILE_BYTES (AGENT_DATA_OFF + AGENT_SLOTS * AGENT_DATA_BYTES)

/* si_code of the recorder's signals; no system call or timer gives it.  si_value: when, in ns. */
#define AGENT_SI_CODE (-0x536f)

struct agent_header {
	uint64_t magic;
	_Atomic uint64_t interval_ns; /* between samples, by now */
	int32_t recorder_pid;
	_Atomic uint32_t stop;	       /* no more samples */
	_Atomic uint64_t heartbeat_ns; /* CLOCK_MONOTONIC, by the recorder while it lives */
	_Atomic uint32_t slots_used;   /* no slot from here on was ever taken */
	_Atomic uint32_t refused;      /* threads that found no slot */
	/* Bit n: the recorder has something to take out of slot n. */
	_Atomic uint64_t fresh[AGENT_SLOTS / 64];
};

/*
 * A run of frames of the thread's last stack, by a few of them: where the return address stands,
 * that address, and the print (unwind/print.h) of the three words above it.  While these are as
 * they were, the recorder knows the stack outside of them; to see that for itself it needs memory
 * up to need_va.
 */
#define AGENT_MARKS	 16
#define AGENT_MARK_SLOTS 16
struct agent_mark {
	uint64_t need_va;
	uint64_t slot_va[AGENT_MARK_SLOTS];
	uint64_t pc[AGENT_MARK_SLOTS], print[AGENT_MARK_SLOTS];
};

/* What the recorder tells a thread, at the beginning of its slot's data. */
struct agent_marks {
	_Atomic uint32_t version;	      /* odd while the recorder writes */
	uint32_t count;			      /* 0: the next sample is wanted whole */
	struct agent_mark marks[AGENT_MARKS]; /* innermost first */
};
#define AGENT_MARKS_BYTES 8192u

struct agent_place {
	uint32_t offset, size; /* in the slot's data */
};

struct agent_slot {
	_Alignas(64) _Atomic uint32_t
		owner;	       /* tid, set by the thread; 0: free, set by the recorder */
	_Atomic int32_t pid;   /* the owner's; 0: send it no signals */
	_Atomic uint32_t head; /* records written, ever; the thread's */
	_Atomic uint32_t tail; /* records taken out, ever; the recorder's */
	_Atomic uint32_t lost; /* samples not written, as there was no room; the thread's */
	struct agent_place places[AGENT_RECORDS];
};

enum agent_record_type {
	AGENT_START = 1,  /* a thread has a slot: struct agent_start follows */
	AGENT_SAMPLE = 2, /* struct agent_sample, then the stack's bytes from sp on */
	AGENT_NAME = 3,	  /* the thread's name, 16 bytes */
	/* Lines of /proc/self/maps, those of code only. */
	AGENT_MAPS_ADDED = 4, /* perhaps more than before */
	AGENT_MAPS_ALL = 5,   /* and no others */
	AGENT_USED = 6,	      /* nothing but how much CPU time was used until now */
	AGENT_END = 7,	      /* the same, and the thread ends */
};

struct agent_record {
	uint32_t type, size; /* size: with what follows */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;     /* that the thread has used, since its start */
};

enum agent_start_kind {
	AGENT_START_EXEC = 1, /* a program's first thread, by its constructor */
	AGENT_START_FORK = 2,
	AGENT_START_THREAD = 3,
};

struct agent_start {
	uint32_t kind;
	int32_t pid, tid, parent_pid; /* in the recorder's pid namespace */
	char name[16];
};

/* In the order of DWARF's numbers: rax rdx rcx rbx rsi rdi rbp rsp r8-r15, then rip. */
#define AGENT_REGS 17

struct agent_sample {
	uint64_t took_ns; /* the writing of the thread's sample before this one */
	uint64_t regs[AGENT_REGS];
};

_Static_assert(sizeof(struct agent_header) <= AGENT_SLOTS_OFF, "the header has one page");
_Static_assert(sizeof(struct agent_marks) <= AGENT_MARKS_BYTES, "marks have their room");
_Static_assert(AGENT_DATA_OFF % 4096 == 0, "data begins on a page");

#endif
