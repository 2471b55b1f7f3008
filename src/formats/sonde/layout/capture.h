#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_H

/*
 * The constants of capture files, shared by the writer (record/) and the reader (formats/sonde/).
 * man/sonde-capture.5 documents the bytes.  The enums' numbers are part of the format: never reuse
 * one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum capture_object_kind {
	CAPTURE_OBJECT_USER = 0,
	CAPTURE_OBJECT_KERNEL = 1,
	CAPTURE_OBJECT_JIT = 2,
	CAPTURE_OBJECT_UNKNOWN = 3,
	CAPTURE_OBJECT_TRUNCATED = 4, /* no code: "[truncated]" */
	CAPTURE_OBJECT_NONE = 5,      /* no object, for functions of an unknown object */
	/*
	 * "[zones]": its addresses are numbers of zones, from 1.  SYMBOLS have their names, files
	 * and lines.  Number 0 is the zone "[unknown]".
	 */
	CAPTURE_OBJECT_ZONE = 6,
	/*
	 * "[guessed]", also without code: callers outside a frame of it are guessed, as neither
	 * unwind rules nor the code determine them.
	 */
	CAPTURE_OBJECT_GUESSED = 7,
	/*
	 * CPU time without samples: "[lost]", "[kernel, not permitted]".  Its path is the name of
	 * its only frame.
	 */
	CAPTURE_OBJECT_UNSAMPLED = 8,
};

/* Facts about a recording; strings below 64, numbers from 64. */
enum capture_key {
	CAPTURE_COMMAND = 1, /* arguments, each followed by NUL */
	CAPTURE_HOST = 2,
	CAPTURE_KERNEL = 3,  /* uname -r */
	CAPTURE_ENGINE = 4,  /* "snapshot", "preload" (once "agent"), "exact" */
	CAPTURE_CLOCK = 5,   /* "virtual", "real", "both" */
	CAPTURE_VERSION = 6, /* of the recorder */
	CAPTURE_WHEN = 7,    /* WHEN patterns, each followed by NUL: reports apply them first */
	CAPTURE_START_UNIX_NS = 64,
	CAPTURE_START_MONOTONIC_NS = 65,
	CAPTURE_INTERVAL_NS = 66, /* between samples, as requested */
	CAPTURE_DURATION_NS = 67,
	CAPTURE_CPU_NS = 68,	  /* of everything recorded, as far as it could be sampled */
	CAPTURE_EXIT_STATUS = 69, /* as from wait */
	CAPTURE_CPU_COUNT = 70,
	CAPTURE_EXPECTED = 71, /* number of samples, if the rate changed while recording */
	/*
	 * The file is a written profile, not a recording.  The value is a sum of enum
	 * capture_profile_flag; it precedes the other facts.
	 */
	CAPTURE_PROFILE = 72,
	CAPTURE_DEFAULT_METRIC = 73,
	/* And the ten numbers after it: the known figures of a profile's statistics. */
	CAPTURE_STAT_FIRST = 80,
};

enum capture_profile_flag {
	CAPTURE_PROFILE_SAMPLES = 1, /* otherwise each row is the sum of a stack */
	CAPTURE_PROFILE_COUNTS = 2,  /* the last weight of a sum is its number of samples */
	CAPTURE_PROFILE_THREADS = 4, /* samples have threads */
	CAPTURE_PROFILE_TIMES = 8,   /* samples have times */
	CAPTURE_PROFILE_STACKS = 16, /* otherwise calls are known from ARCS only */
	CAPTURE_PROFILE_ZONES = 32,  /* samples have zones */
	CAPTURE_PROFILE_COSTS = 64,  /* ARCS have the costs of calls */
};

/*
 * Counters of problems.  Values are totals so far; the last one counts.
 *
 * To add one: give it a number at the end; set it in recorder_write_counters (record/recorder.c),
 * or at the end of the recording; add its sentence to counter_troubles in
 * formats/sonde/capture_trouble.c (for time: formats/sonde/capture_time.c), so that every report
 * has a note; its row to sonde-capture(5); and, if users should act on it, its part of the
 * recorder's last lines to cli/record_summary.c.
 */
enum capture_counter {
	CAPTURE_LOST_RING = 0,	      /* samples lost: the ring buffer was full */
	CAPTURE_LOST_THROTTLED = 1,   /* times that the kernel throttled sampling */
	CAPTURE_TRUNCATED_MEMORY = 2, /* stacks cut: memory could not be read */
	CAPTURE_TRUNCATED_RACE = 3,   /* stacks cut: the stack changed while being read */
	CAPTURE_TRUNCATED_RULE = 4,   /* stacks cut: no unwind rule */
	CAPTURE_TRUNCATED_CORRUPT = 5,
	CAPTURE_TRUNCATED_DEPTH = 6,
	CAPTURE_NO_USER_STACK = 7, /* samples without user registers, kernel frames only */
	CAPTURE_REUSE_CHECKED = 8,
	CAPTURE_REUSE_WRONG = 9,
	CAPTURE_LOST_SIDEBAND = 10,    /* map, fork, exec or exit events lost */
	CAPTURE_LEFT_OUT_THREADS = 11, /* of attached processes; not sampled */
	CAPTURE_ESTIMATED_BLOCKS = 12, /* times off the CPU shown at another stack of their
				          thread */
	CAPTURE_ESTIMATED_NS = 13,     /* their duration */
	CAPTURE_LOST_SWITCHES = 14,    /* context switches that were lost or out of order */
	CAPTURE_LOST_RESTS = 15, /* parts of stacks that the exact engine had no room to copy */
	CAPTURE_UNSAMPLED_KERNEL_NS = 16, /* CPU time in kernel code, if that is not sampled */
	CAPTURE_UNREACHED_NS = 17,	  /* CPU time of code without the preloaded library */
	CAPTURE_BROKEN_RECORDS = 18,	  /* invalid records of the preloaded library */
	CAPTURE_REFUSED_THREADS = 19,	  /* the preloaded library had no room for them */
	CAPTURE_LOST_TICKS = 20,       /* of programs with zones: overwritten before being read */
	CAPTURE_CUT_TICKS = 21,	       /* whose zones did not all fit into the program's ring */
	CAPTURE_UNKNOWN_ZONES = 22,    /* samples, and times off the CPU, with an unknown zone */
	CAPTURE_LOST_ZONE_EVENTS = 23, /* requested but overwritten */
	CAPTURE_BROKEN_ZONES = 24,     /* programs with invalid zones memory */
	CAPTURE_MERGED_THREADS = 25,   /* whose zones were added to those of the next thread in
				          the slot */
	CAPTURE_GUESSED_STACKS = 26,   /* stacks with guessed callers */
	CAPTURE_THINNED = 27, /* samples not walked; others of their thread represent them */
	/* And the sixteen after it: counted by programs for their zones, enum zonewire_trouble. */
	CAPTURE_ZONE_TROUBLE = 32,
	CAPTURE_ZONE_TROUBLE_LAST = 47,
	/* And the four after it: parts of UNREACHED_NS with a known cause, enum capture_stray. */
	CAPTURE_STRAY_NS = 48,
	CAPTURE_STRAY_NS_LAST = 52,
	CAPTURE_SEALED_THREADS = 53,  /* in which seccomp stopped the preloaded library */
	CAPTURE_BAD_JITDUMPS = 54,    /* skipped records of jitdumps */
	CAPTURE_LOST_WAKINGS = 55,    /* reports of wakeups, for the whole machine */
	CAPTURE_TRUNCATED_32BIT = 56, /* stacks cut: of 32-bit programs */
	CAPTURE_DENIED_PROGRAMS = 57, /* the kernel ended their sampling: set-uid ones */
	CAPTURE_DENIED_ALIVE = 58,    /* those of them that were seen to run on */
	CAPTURE_BAD_MAP_LINES = 59,   /* unreadable lines of perf maps */
	CAPTURE_OLD_MAPS = 60,	      /* perf maps older than their process: not believed */
	CAPTURE_OTHER_MAPS = 61,      /* perf maps of other users, or that are no regular files */
	CAPTURE_CUT_MAPS = 62,	      /* perf maps not read to the end, for lack of memory */
	CAPTURE_UNSURE_NAMES = 63,    /* frames of code that a perf map gave several names */
	CAPTURE_COUNTER_COUNT
};

/* Kinds of NOTES; others are numbered as in profiles. */
enum capture_note_kind { CAPTURE_NOTE_LOST = 0, CAPTURE_NOTE_INFO = 6 };

/* Maximum number of weights per sample. */
#define CAPTURE_METRIC_MAX 16
/*
 * Counters of metric n, if its weights are numbers of events: its lost samples, and the number of
 * events, which its weights should add up to.
 */
#define CAPTURE_METRIC_LOST(n)	  (256 + (n))
#define CAPTURE_METRIC_COUNTED(n) (512 + (n))
/* "Unknown", for ids of 32 bits. */
#define CAPTURE_NO_ID UINT32_MAX

/*
 * One of the frames at an address; strings are empty and lines 0 if unknown.  Aliases are other
 * names of the function's code, each NUL-terminated.
 */
struct capture_symbol_frame {
	struct str function, file, function_file;
	uint32_t line, function_line;
	bool is_inline;
	bool is_nameless;      /* function is not a name but the function's start */
	bool is_guessed_start; /* which was found in code: it may be wrong */
	struct str aliases;
};

#endif
