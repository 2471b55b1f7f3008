#ifndef SONDE_FORMATS_CHROME_READER_H
#define SONDE_FORMATS_CHROME_READER_H

/*
 * Shared by the parts of the reader of Chrome traces; private to them and to the Perfetto reader.
 *
 * reader.c reads the file, event by event, into these tables.  pairs.c finds the ends of slices
 * that have separate ones, and lanes for asynchronous ones.  Then slices.c and samples.c make
 * stacks.
 */

#include "base/json_reader.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/readers.h"
#include "formats/common/importer.h"

/* Tracks of ticks in sonde's own files have higher numbers than this. */
#define CHROME_TICK_TRACK (INT64_C(1) << 30)

/* In place of a duration: a beginning, later on one without an end; an end. */
enum { CHROME_BEGIN = -1, CHROME_END = -2 };

/* Times are within ± this, so that their differences fit. */
#define CHROME_TIME_MAX (INT64_MAX / 2)

/*
 * What stands for a pid or tid that is a text: this plus the text's string_id.  Also for the tid of
 * an asynchronous lane: CHROME_LANE plus its number.  Numbers in the file are above
 * CHROME_NUMBER_MIN.
 */
#define CHROME_TEXT	  INT64_MIN
#define CHROME_LANE	  (INT64_MIN + (INT64_C(1) << 40))
#define CHROME_NUMBER_MIN (INT64_MIN / 2)

enum chrome_fault {
	CHROME_BAD_EVENT,  /* without a time, a kind or an id that it must have */
	CHROME_BAD_END,	   /* without an open slice */
	CHROME_STILL_OPEN, /* a slice without an end */
	CHROME_OVERLAP,	   /* a slice that outlasts one in which it began */
	CHROME_CUT,	   /* one of too many such slices */
	CHROME_BAD_LINK,   /* to a missing frame, or to itself */
	CHROME_TOO_LARGE,  /* a time or count beyond 64 bits */
	CHROME_OTHER,	   /* an event of an unsupported kind */
	CHROME_FAULT_COUNT
};

/* A slice, or the beginning or end of one. */
struct chrome_event {
	int64_t ts, dur; /* ns */
	string_id name;	 /* 0: ends the innermost slice */
	uint32_t thread;
};

struct chrome_thread {
	int64_t tid;
	uint32_t process;
	string_id name;
	uint32_t event_count;
	bool is_used;  /* it has a name, an event or a sample */
	bool is_async; /* not a thread, but the slices of one id, until they are in lanes */
	bool has_samples;
	thread_id id;
	size_t changes, change_count; /* its zone changes: the first, and their number */
};

struct chrome_process {
	int64_t pid;
	string_id name;
	process_id id;
};

struct chrome_tick {
	int64_t ts, dur;
	uint64_t number;
	string_id stream;
	uint32_t process;
};

struct chrome_sample {
	int64_t ts;
	uint64_t frame; /* UINT64_MAX: none */
	int64_t weight; /* if the file has it */
	uint32_t thread;
};

/* From this time on, the thread is in this zone. */
struct chrome_change {
	int64_t ts;
	stack_id stack;
};

/* One of `stackFrames`. */
struct chrome_frame {
	uint64_t parent; /* UINT64_MAX: none */
	string_id name, category;
	stack_id stack;
	uint8_t state; /* 0: no stack yet, 1: being made, 2: it has one */
};

/* A node of V8's call tree. */
struct v8_node {
	uint64_t parent; /* its id; UINT64_MAX: none */
	string_id name, file;
	uint32_t line;
	int64_t hits; /* samples in the node itself, if the profile says so */
	stack_id stack;
	uint8_t state; /* as above */
	uint8_t kind;
};

/* V8's profile of a thread, in any of its forms. */
struct v8_profile {
	uint64_t key;
	uint32_t thread;
	int64_t start, end; /* ns; the end is 0 if unknown */
	/* The same if they are in seconds, as in old profiles, which have a `head`. */
	int64_t start_of_old, end_of_old;
	bool is_old;
	bool has_times; /* samples have times instead of deltas */
	VEC(struct v8_node) nodes;
	VEC(uint32_t) open;    /* nodes of a `head` being read, outermost first */
	struct map ids;	       /* of nodes */
	VEC(uint32_t) samples; /* ids */
	VEC(int64_t) deltas;   /* ns; or the times of samples */
};

struct chrome {
	const struct reader_input *input;
	struct builder *builder;
	struct json_reader json;
	VEC(struct chrome_event) events;
	/*
	 * [event], once they are in pairs: 0, or for a beginning with a separate end: 1 + the one
	 * that it is in, or itself.
	 */
	uint32_t *outer;
	VEC(struct chrome_thread) threads;
	VEC(struct chrome_process) processes;
	VEC(struct chrome_tick) ticks;
	VEC(struct chrome_sample) samples;
	VEC(struct chrome_frame) frames;
	VEC(struct v8_profile) v8;
	struct map thread_ids, process_ids, frame_ids, v8_ids, async_ids;
	size_t lane_count;
	uint32_t last_thread; /* the last one looked up: most events are of the same thread as
			         the one before */
	int64_t last_pid, last_tid;
	bool is_ours;
	bool are_hits;		/* the only V8 profile has counts by node, and no samples */
	bool has_weights;	/* samples have their own weights */
	string_id metric, unit; /* of these weights */
	/* Returns the stack of a sample's frame; NULL: frames are in `stackFrames`. */
	stack_id (*stack_of)(struct chrome *c, uint64_t frame);
	uint64_t start_unix_ns;
	int64_t base;	/* the time, in the file, that is 0 in the profile */
	size_t weights; /* number of metrics, and their indexes; SIZE_MAX: none */
	size_t samples_metric, time_metric, zone_metric;
	int64_t weight[4];
	VEC(struct chrome_change) changes; /* of threads with samples, thread by thread */
	struct fault faults[CHROME_FAULT_COUNT];
};

/* The thread with that process and number. */
uint32_t chrome_thread_at(struct chrome *c, int64_t pid, int64_t tid);
uint32_t chrome_process_at(struct chrome *c, int64_t pid);
/* Reads the object `stackFrames`, which comes next. */
void chrome_read_frames(struct chrome *c);
/* A reference to a frame: a number, or text. */
bool chrome_frame_id(struct json_reader *r, uint64_t *id);

/* The profile with that key; a new one has no thread yet. */
struct v8_profile *chrome_v8_at(struct chrome *c, uint64_t key, uint32_t thread);
/* Reads a member of a .cpuprofile, of `cpuProfile`, or of `data` in events; true if it was one. */
bool chrome_v8_member(
	struct chrome *c, struct v8_profile *v, struct json_reader *r, struct str key);
/* How many samples its nodes count; 0: none, or the profile does not say it. */
int64_t chrome_v8_hits(const struct v8_profile *v);
/* How long it took, if its samples are only counted; 0: unknown. */
int64_t chrome_v8_duration(const struct v8_profile *v);
void chrome_v8_deinit(struct v8_profile *v);

/* Builds the profile; also used by the Perfetto reader. */
must_use struct error *chrome_build(struct chrome *c);
void chrome_deinit(struct chrome *c);
/*
 * Gives each beginning the duration until its end, and asynchronous slices threads.  A beginning
 * without an end stays one; ends stay, and mean nothing any more.
 */
void chrome_pair_slices(struct chrome *c);
/*
 * Groups the numbers of the events by thread, in the file's order.  *ends: where each thread's end.
 * Both are the caller's to free.
 */
uint32_t *chrome_group_events(const struct chrome *c, uint32_t **ends);
/* Adds the slices to the builder. */
void chrome_add_slices(struct chrome *c);
void chrome_add_samples(struct chrome *c);
void chrome_add_v8(struct chrome *c);

static inline uint64_t chrome_time(const struct chrome *c, int64_t ts)
{
	return ts > c->base ? (uint64_t)ts - (uint64_t)c->base : 0;
}

#endif
