#ifndef SONDE_AGENT_SEGMENT_H
#define SONDE_AGENT_SEGMENT_H

/*
 * One segment: a recording of the whole machine between two instants, by a process of its own.  The
 * process of the next segment opens its events a little before this one ends; samples belong to the
 * segment in which they were taken, so none is lost or there twice.  All memory of a segment goes
 * with its process: over days, the agent has no more than after two segments.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/settings.h"
#include "agent/ledger.h"
#include "agent/spool.h"
#include "base/clock.h"
#include "base/error.h"

struct capture_writer;
struct recorder;

/*
 * What is sampled is in the file so much later at most, unless the machine is too busy; a kill
 * leaves out what is not.
 */
#define SEGMENT_DELAY_NS (SECOND_NS / 8 * 3)

/*
 * Resolves names (cli/record_names.h), which the room cannot do itself.  Returns how many programs
 * and libraries were left out, as the names of each would take more than memory_max.
 */
typedef size_t segment_names_fn(struct recorder *recorder, bool later, uint64_t memory_max);

struct segment_hooks {
	segment_names_fn *names;
	void (*say)(const char *line); /* a message for the user */
};

/* Whether a segment may resolve names. */
enum segment_grant {
	SEGMENT_WAITS,
	SEGMENT_NAMES,	 /* it may */
	SEGMENT_NAMELESS /* it must do without */
};

/* In memory that both processes share. */
struct segment_shared {
	uint64_t until_ns; /* set by the parent, to a time at least a second to come */
	/*
	 * Set by the parent when the child has written all but names: what those of one program may
	 * take, and then whether they may be resolved.
	 */
	uint64_t object_memory_max;
	enum segment_grant grant;
	/* Set by the child: */
	uint64_t ring_bytes;
	uint64_t samples, lost, truncated, late_ns;
	uint64_t unwritten;  /* samples for which there was no room in the file */
	uint64_t seen_ns;    /* samples up to then are in the file, or are counted */
	uint64_t peak_bytes; /* of its memory, so far */
	bool is_sampling;    /* samples are being taken, or were */
	bool has_ended;	     /* sampling is over, names follow */
	bool is_whole;	     /* the file is, even if the process ends now */
	bool has_names;	     /* and has those that could be resolved */
	bool is_empty;	     /* it was stopped before sampling began: there is no file */
	bool is_full;	     /* nothing more could be written to the file */
	char problem[256];
};

struct segment {
	pid_t pid; /* 0: none */
	char *name;
	uint32_t number;  /* in the name */
	uint64_t from_ns; /* CLOCK_MONOTONIC */
	uint64_t begun_ns;
	uint64_t waits_since_ns; /* for memory for its names; 0: not yet */
	uint64_t limit_bytes;	 /* of its mapped memory (memory.h) */
	uint64_t mapped_bytes;	 /* while it took samples, when last seen; 0: never */
	uint32_t halvings;
	struct segment_shared *shared;
};

/* How it is recorded, and remarks for the file's notes. */
struct segment_news {
	uint64_t lost
		[LEDGER_LOSSES]; /* since the last segment that told, or that an agent started */
	uint32_t halvings;	 /* of the rate */
	bool leaves_names;	 /* by the budget */
};

/*
 * Starts the process of a segment in the spool from from_ns until until_ns, with that limit of its
 * memory.  The parent gets a SIGCHLD when it is whole, in the spool's folder for temporary files,
 * or has failed.  Names are written to a copy, which then replaces the file.
 */
must_use struct error *segment_start(struct segment *s, struct spool *spool,
	const struct agent_settings *settings, uint64_t from_ns, uint64_t until_ns,
	const struct segment_news *news, uint64_t limit_bytes, const struct segment_hooks *hooks);
/* Writes the news as notes of the segment's file; counts add up over segments. */
void segment_write_news(struct capture_writer *w, const struct segment_news *news);
/* The name of that copy, to be freed. */
char *segment_named(const char *name);
/* Ends the sampling now. */
void segment_stop(const struct segment *s);
/* Ends it at another time, at least a second to come. */
void segment_end_at(const struct segment *s, uint64_t until_ns);
/* The process is gone: frees everything, and zeroes it. */
void segment_deinit(struct segment *s);

#endif
