#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_H

/*
 * The capture file's vocabulary, shared by its writer (record/) and its reader (readers/).
 * man/sonde-capture.5 documents the bytes.  Numbers of enums are the file's: never reuse one.
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
	CAPTURE_OBJECT_NONE = 5,      /* no object: of functions whose object is not known */
	/*
	 * "[zones]": its addresses are numbers of zones, from 1; SYMBOLS have their names, files
	 * and lines.  Number 0 is the zone "[unknown]".
	 */
	CAPTURE_OBJECT_ZONE = 6,
	/*
	 * "[guessed]", no code either: the callers outside of a frame of it are a guess, made where
	 * neither unwind rules nor the code tell who called.
	 */
	CAPTURE_OBJECT_GUESSED = 7,
	/*
	 * CPU time that is in no sample: "[lost]", "[kernel, not permitted]".  Its path is the name
	 * of its only frame.
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
	CAPTURE_INTERVAL_NS = 66, /* between samples, as asked */
	CAPTURE_DURATION_NS = 67,
	CAPTURE_CPU_NS = 68,	  /* used by what was recorded, as far as it could be sampled */
	CAPTURE_EXIT_STATUS = 69, /* as from wait */
	CAPTURE_CPU_COUNT = 70,
	CAPTURE_EXPECTED = 71, /* samples, where the rate changed while recording */
	/*
	 * The file is no recording: a profile was written to it.  Its value is a sum of enum
	 * capture_profile_flag; it stands before the other facts.
	 */
	CAPTURE_PROFILE = 72,
	CAPTURE_DEFAULT_METRIC = 73,
	/* And the eight numbers after it: the figures of a profile's statistics that are known. */
	CAPTURE_STAT_FIRST = 80,
};

enum capture_profile_flag {
	CAPTURE_PROFILE_SAMPLES = 1, /* else each row is the sum of a stack */
	CAPTURE_PROFILE_COUNTS = 2,  /* the last weight of such a sum is its number of samples */
	CAPTURE_PROFILE_THREADS = 4, /* samples have threads, */
	CAPTURE_PROFILE_TIMES = 8,   /* and times */
	CAPTURE_PROFILE_STACKS = 16, /* else who called whom is known from ARCS alone */
	CAPTURE_PROFILE_ZONES = 32,  /* the zones of samples are known */
	CAPTURE_PROFILE_COSTS = 64,  /* ARCS tell what the calls cost */
};

/*
 * Counters of what went wrong; totals so far, the last value holds.
 *
 * To add one: a number at the end; set it in record/recorder.c's write_counters, or at the end of
 * the recording; give it its sentence in formats/sonde/reader.c's counter_troubles (of time:
 * formats/sonde/capture_time.c), so that every report has a note of it, its row in
 * sonde-capture(5), and its part of the recorder's last lines in cli/record_summary.c, if one
 * should act on it.
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
	CAPTURE_LEFT_OUT_THREADS = 11, /* of attached processes, and not sampled */
	CAPTURE_ESTIMATED_BLOCKS = 12, /* times off the CPU with another stack of their thread */
	CAPTURE_ESTIMATED_NS = 13,     /* how long these were */
	CAPTURE_LOST_SWITCHES = 14,    /* switches of threads that were lost or out of order */
	CAPTURE_LOST_RESTS = 15, /* rests of stacks that the exact engine had no room to copy */
	CAPTURE_UNSAMPLED_KERNEL_NS = 16, /* CPU time in kernel code, where that is not sampled */
	CAPTURE_UNREACHED_NS = 17,	  /* CPU time where the preloaded library was not loaded */
	CAPTURE_BROKEN_RECORDS = 18,	  /* of the preloaded library, that were none */
	CAPTURE_REFUSED_THREADS = 19,	  /* that the preloaded library had no room for */
	CAPTURE_LOST_TICKS = 20,    /* of programs with zones: overwritten before they were read */
	CAPTURE_CUT_TICKS = 21,	    /* whose zones did not all fit into the program's ring */
	CAPTURE_UNKNOWN_ZONES = 22, /* samples, and times off the CPU, whose zone is not known */
	CAPTURE_LOST_ZONE_EVENTS = 23, /* that were asked for, and overwritten */
	CAPTURE_BROKEN_ZONES = 24,     /* programs whose memory of zones was not good */
	CAPTURE_MERGED_THREADS = 25,   /* whose zones went to the next in their place */
	CAPTURE_GUESSED_STACKS = 26,   /* stacks with callers that are a guess */
	CAPTURE_THINNED = 27, /* samples not walked, for which others of their thread stand */
	/* And the sixteen after it: what programs counted of their zones, enum zonewire_trouble. */
	CAPTURE_ZONE_TROUBLE = 32,
	CAPTURE_ZONE_TROUBLE_LAST = 47,
	/* And the four after it: parts of UNREACHED_NS whose cause was seen, enum capture_stray. */
	CAPTURE_STRAY_NS = 48,
	CAPTURE_STRAY_NS_LAST = 52,
	CAPTURE_SEALED_THREADS = 53, /* where the preloaded library had to stop, by seccomp */
	CAPTURE_BAD_JITDUMPS = 54,   /* records of jitdumps that were passed over */
	CAPTURE_LOST_WAKINGS = 55,   /* reports of who woke whom, of the whole machine */
	CAPTURE_COUNTER_COUNT
};

/* Kinds of NOTES, as those of profiles are numbered. */
enum capture_note_kind { CAPTURE_NOTE_INFO = 6 };

/* Weights a sample can have. */
#define CAPTURE_METRIC_MAX 16
/*
 * Counters of metric n, whose weights are numbers of events: its samples that were lost, and the
 * events that there were, to which its weights should come.
 */
#define CAPTURE_METRIC_LOST(n)	  (256 + (n))
#define CAPTURE_METRIC_COUNTED(n) (512 + (n))
/* "Not known" among ids of 32 bits. */
#define CAPTURE_NO_ID UINT32_MAX

/*
 * One frame of those at an address; strings empty and lines 0 where not known.  Aliases are other
 * names of the function's code, each ended by NUL.
 */
struct capture_symbol_frame {
	struct str function, file, function_file;
	uint32_t line, function_line;
	bool is_inline;
	bool is_nameless; /* function is no name, but tells where the function begins */
	struct str aliases;
};

#endif
