#ifndef SONDE_MODEL_PROFILE_H
#define SONDE_MODEL_PROFILE_H

/*
 * A profile: what every reader builds and every analysis reads.  It is a multiset of (stack,
 * weights), kept as one prefix tree of frames with weights, along with the samples and their times
 * and threads if the source has them.
 *
 * A profile is built through model/builder.h, checked and then frozen: nothing writes to it later.
 * Everything in it lives in its arena.  Index 0 of strings is the empty string; stack 0 is the
 * empty stack.  The other tables begin with their first real row.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/tree_runs.h"

enum object_kind {
	OBJECT_USER,	/* an ELF file or the vdso */
	OBJECT_KERNEL,	/* the kernel or one of its modules */
	OBJECT_JIT,	/* code that a program made at run time */
	OBJECT_UNKNOWN, /* executable memory that belongs to no file, or nothing at all */
	OBJECT_ZONE,	/* no code: its functions are zones (see struct samples) */
	OBJECT_KIND_COUNT
};
/* "user", "kernel", "jit", "unknown", "zone". */
extern const char *const object_kind_names[OBJECT_KIND_COUNT + 1]; /* NULL at the end */

/* A load object. */
struct object {
	string_id path;	    /* as the program saw it; the base name is what is shown as "module" */
	string_id build_id; /* lower-case hex, empty if not known */
	enum object_kind kind;
};

struct function {
	string_id name;	  /* whole, demangled */
	object_id object; /* NO_ID: not known */
	string_id file;	  /* where it is defined; empty: not known */
	uint32_t line;	  /* of its definition; 0: not known */
	/*
	 * Other names of the same code, each ended by NUL (str_take_item): of malloc,
	 * __libc_malloc.  Not part of the function's identity; asking for one of them means this
	 * function.
	 */
	string_id aliases;
};

/* A stack frame: a place in a function.  Each inlined call has its own frame. */
struct frame {
	function_id function;
	string_id file;	   /* of the place; empty: not known */
	uint32_t line;	   /* of the place; 0: not known */
	bool is_inline;	   /* its code is part of the next outer frame's code */
	uint64_t obj_addr; /* address in the load object's own numbering; 0: not known */
};

/* A node of the stack tree in the making; parent < own index. */
struct stack {
	stack_id parent;
	frame_id frame; /* of stack 0: NO_ID */
};

/*
 * How often one function called another, where the source counted it (gmon.out does).  A profile
 * may have arcs along with stacks or, if the source knows no stacks, instead of them.  What the
 * source measured along each is in the profile's arc_cost.
 */
struct arc {
	function_id caller; /* NO_ID: not known, "spontaneous" */
	function_id callee;
	uint64_t calls;
};

struct metric {
	string_id name; /* "cpu-time", "samples", "cycles" */
	string_id unit; /* "ns", "count", "bytes" */
};

struct process {
	int64_t pid;
	uint64_t start_ns;
	string_id name;
};

struct thread {
	int64_t tid;
	process_id process;
	string_id name;
	uint64_t start_ns;
};

/*
 * What the source records about samples besides their stacks: pprof's labels, OTLP's attributes and
 * links.  A set may have several labels with the same key.
 */
struct label {
	string_id key;
	string_id text; /* empty: the number is the value */
	int64_t number;
	string_id unit; /* of the number; empty: none */
};

/*
 * A set of labels: `label` and those of `rest`, rest < own index, whose labels have lower ids than
 * `label`.  So sets share their common labels, and one pass computes a property of all sets, each
 * after its rest.  The label of set 0 is NO_ID.
 */
struct label_set {
	label_set_id rest;
	label_id label;
};

/*
 * Columns of equal length.  Empty if the source has totals only, no samples.
 *
 * Zones are regions of a program that it has marked itself (prof.h), and a zone stack is a stack
 * like others: each zone is a function (name, file, line) of the load object ZONE_OBJECT, of kind
 * OBJECT_ZONE, or an ordinary function if the zone is one; the root is the zone "_global".  What a
 * program records about its zones is also kept as samples, zone rows: one for each thread, zone
 * stack and tick with any activity, with its zone stack as both stack and zone, the end of the tick
 * as time, and weights in ZONE_TIME and ZONE_ENTRIES only.  Each counts as 0 samples, so a source
 * of zone rows has the metric "samples".
 */
struct samples {
	size_t count;
	stack_id *stack;
	thread_id *thread; /* NULL: not known */
	uint64_t *time_ns; /* since the profile's start; NULL: not known */
	/*
	 * The zone stack each sample was taken in.  Stack 0: in no zone; the stack of the single
	 * frame "[unknown]" of ZONE_OBJECT: not known for this sample.  NULL: not known for any.
	 */
	stack_id *zone;
	label_set_id *labels; /* NULL: no sample has any */
	int64_t **weight;     /* [metric][sample] */
};

#define ZONE_OBJECT  "[zones]"
#define ZONE_TIME    "zone-time"    /* the metric, in ns: in the zone but not in those below it */
#define ZONE_ENTRIES "zone-entries" /* the metric, a count: how often the zone was entered */

/*
 * A tick, or frame of time: a period that a program has marked, in a stream of them ("frame",
 * "audio").  Whatever has a time in (start_ns, end_ns] belongs to it.
 */
struct tick {
	process_id process;
	string_id stream;
	uint64_t number; /* in its stream, from 0 */
	uint64_t start_ns, end_ns;
	thread_id thread; /* that ended it; NO_ID: not known */
};

/*
 * Columns of equal length: from that time on the thread is at that zone stack (0: no longer in any
 * zone, or not known).  By thread, then by time.
 */
struct zone_events {
	size_t count;
	thread_id *thread;
	uint64_t *time_ns;
	stack_id *stack;
};

enum note_kind {
	NOTE_LOST,	 /* samples that were taken and not kept */
	NOTE_TRUNCATED,	 /* stacks not walked to their root */
	NOTE_NO_SYMBOLS, /* load objects without symbols */
	NOTE_BAD_RECORD, /* parts of the input that could not be read and were skipped */
	NOTE_INCOMPLETE, /* the recording was cut off */
	NOTE_GUESSED,	 /* figures that are estimates */
	NOTE_INFO,
	NOTE_KIND_COUNT
};
/* "lost", "truncated", "no-symbols", "bad-record", "incomplete", "guessed", "info". */
extern const char *const note_kind_names[NOTE_KIND_COUNT + 1]; /* NULL at the end */

/* What is lost, truncated or guessed; every view shows them. */
struct note {
	enum note_kind kind;
	uint64_t count;
	string_id text; /* a whole sentence without full stop */
};
/*
 * Whether the count is shown before the text, "8 samples were lost …".  In other notes it counts
 * what the text lists, or is one.
 */
bool note_shows_count(const struct note *note);
/* Whether something was lost, truncated or left out: reports always show such notes. */
bool note_is_of_loss(const struct note *note);

/* UINT64_MAX: not known. */
struct profile_stats {
	uint64_t counted;  /* samples in the profile */
	uint64_t expected; /* by the clock */
	uint64_t lost;
	uint64_t foreign;  /* samples whose leaf belongs to no known function */
	uint64_t critical; /* samples whose stack is truncated, or has guessed callers */
	uint64_t excluded; /* by WHEN */
	uint64_t duration_ns;
	uint64_t cpu_ns;	    /* that the target used */
	uint64_t interval_ns;	    /* between samples, as achieved */
	uint64_t interval_asked_ns; /* the same as it was asked for */
	uint64_t guessed;	    /* the critical ones that have guessed callers */
};

/* The figures of struct profile_stats by name, for code that treats all alike. */
struct stat_field {
	const char *name; /* as in JSON; NULL at the end */
	size_t offset;	  /* of an uint64_t in struct profile_stats */
};
extern const struct stat_field stat_fields[];

struct profile {
	struct arena *arena;

	const struct str *strings; /* NUL-terminated */
	size_t string_count;
	const struct object *objects;
	size_t object_count;
	const struct function *functions;
	size_t function_count;
	const struct frame *frames;
	size_t frame_count;
	/*
	 * The stack tree: [stack] its frame; NO_ID for stack 0, the empty stack.  Parents come
	 * before their children and are stored by run; profile_stack_parent looks them up.
	 */
	const frame_id *stack_frame;
	size_t stack_count; /* at least 1 */
	struct tree_runs runs;
	/*
	 * Depth of the deepest stack, in frames; and the sum over all stacks with a row of weights.
	 */
	uint32_t depth_max;
	uint64_t depth_sum;
	/*
	 * False: the source reports in which functions time was spent, but not who called them.
	 * Then no stack has more than one frame, and only the arcs give that frame's callers.
	 */
	bool has_stacks;
	const struct arc *arcs; /* one for each pair of functions, in the order of first sight */
	size_t arc_count;
	/*
	 * [metric][arc]: what all these calls cost, from call to return: the callee's own weight
	 * and that of all it called.  In a recursion the same cost counts once for each active
	 * call, so costs do not add up there (analysis/measured.h).  NULL: not measured.
	 */
	const int64_t *const *arc_cost;
	const struct metric *metrics;
	size_t metric_count; /* at least 1 */
	metric_id default_metric;
	const struct process *processes;
	size_t process_count;
	const struct thread *threads;
	size_t thread_count;
	struct samples samples;
	const struct label *labels;
	size_t label_count;
	const struct label_set *label_sets;
	size_t label_set_count;	  /* at least 1 */
	const struct tick *ticks; /* by process, stream (as numbers), start and number */
	size_t tick_count;
	struct zone_events zone_events;
	/*
	 * The stacks that have a row of weights: 1, 2 … in the order of the stacks; row 0 is all
	 * zero.  Most stacks have no row, because nothing ends at them.  See profile_row.
	 */
	struct rank_set weighted;
	size_t row_count; /* at least 1 */
	/* [metric][row]: the weight that ends at the stack; the sum over its samples, if any. */
	const int64_t *const *row_weight;
	/*
	 * [row]: how many samples ended here; NULL: not known.  A sample counts as its weight in
	 * the metric "samples", of unit "count", or as 1 if there is none.
	 */
	const uint64_t *row_samples;
	/* [metric] */
	const int64_t *total;
	const struct note *notes;
	size_t note_count;
	struct profile_stats stats;

	string_id source;  /* the file it was read from */
	string_id format;  /* of that file: "sonde", "folded", … */
	string_id command; /* that was profiled */
	string_id host;
	/*
	 * WHEN patterns that the recording was made with, each ended by NUL; empty: none.  Samples
	 * that they do not match may be at the empty stack.  Every view applies them before all
	 * other filters.
	 */
	string_id when;
	uint64_t start_unix_ns; /* 0: not known */
};

/* Frees the profile and everything in it; NULL is allowed. */
void profile_destroy(struct profile *p);

/* NULL if the profile knows which threads its samples were taken in, else an ERROR_UNSUPPORTED. */
must_use struct error *profile_needs_threads(const struct profile *p);
/* NULL if it knows which zones they were taken in, else an ERROR_UNSUPPORTED. */
must_use struct error *profile_needs_zones(const struct profile *p);

/* NULL if it knows when they were taken, else an ERROR_UNSUPPORTED. */
must_use struct error *profile_needs_times(const struct profile *p);

/* Whether this is the metric that gives how many samples a sample counts as. */
bool metric_counts_samples(struct str name, struct str unit);
/* [sample] The weights in that metric; NULL: there is no such metric, or no samples. */
const int64_t *profile_sample_counts(const struct profile *p);
/* That number, from the sample's weight in that metric; NULL: there is no such metric. */
static inline uint64_t sample_count(const int64_t *weight)
{
	if (weight == NULL)
		return 1;
	return *weight > 0 ? (uint64_t)*weight : 0;
}

/*
 * NULL if there are labels of that key (or no weight that could have any); else ERROR_UNSUPPORTED
 * if samples have no labels, ERROR_INPUT if they have others.
 */
must_use struct error *profile_needs_label(const struct profile *p, struct str key);
/* Whether all its weights are zero. */
bool profile_is_empty(const struct profile *p);

static inline struct str profile_string(const struct profile *p, string_id id)
{
	return p->strings[id.i];
}
/* The stack that a stack was called from; the empty stack for itself. */
static inline uint32_t profile_stack_parent(const struct profile *p, uint32_t stack)
{
	return tree_runs_parent(&p->runs, stack);
}
static inline stack_id profile_parent(const struct profile *p, stack_id stack)
{
	return (stack_id){profile_stack_parent(p, stack.i)};
}
/* A stack's row of weights; 0: nothing ends at it. */
static inline uint32_t profile_row(const struct profile *p, uint32_t stack)
{
	return rank_set_has(&p->weighted, stack) ? 1 + rank_set_below(&p->weighted, stack) : 0;
}
/* The weight that ends at a stack, in one metric; and how many samples do, if that is known. */
static inline int64_t profile_weight(const struct profile *p, size_t metric, uint32_t stack)
{
	return p->row_weight[metric][profile_row(p, stack)];
}
static inline uint64_t profile_samples(const struct profile *p, uint32_t stack)
{
	return p->row_samples[profile_row(p, stack)];
}
/* Adds the note's text to out, after its count if that is shown. */
void profile_note_text(const struct profile *p, const struct note *note, struct strbuf *out);
/* Base name of a load object's path; empty for NO_ID. */
struct str profile_module(const struct profile *p, object_id id);
/* How many labels are in a set; profile_label_ids writes as many, in the order of their ids. */
size_t profile_label_count(const struct profile *p, label_set_id set);
void profile_label_ids(const struct profile *p, label_set_id set, label_id *labels);
/* A label's value as shown: its text, or "4096", or "4096 bytes"; lives as long as b. */
struct str profile_label_value(const struct profile *p, label_id label, struct strbuf *b);
/* The metric of that name; false if there is none. */
bool profile_find_metric(const struct profile *p, struct str name, metric_id *id);

/*
 * NULL if the profile has stacks, else an ERROR_UNSUPPORTED: `what`, as the user asked for it
 * ("--view tree"), needs them.
 */
must_use struct error *profile_needs_stacks(const struct profile *p, const char *what);

/*
 * Whether every invariant holds: ids in range, parent < child, no frame twice under one parent, one
 * weight per metric and sample, sum of exclusive = sum of weights = total, no sum of weights of one
 * sign, calls or their costs beyond 63 bits, one arc per pair, no stack of several frames without
 * has_stacks, label sets in order and each once, ticks and zone events in order.  Returns NULL if
 * so, else an ERROR_INPUT that names the first broken one.  Runs after every read and in every fuzz
 * run.
 */
must_use struct error *profile_check(const struct profile *p);

#endif
