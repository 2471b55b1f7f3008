#ifndef SONDE_MODEL_PROFILE_H
#define SONDE_MODEL_PROFILE_H

/*
 * A profile: what every reader builds and every analysis reads.  It is a multiset of (stack,
 * weights), kept as one prefix tree of frames with weights, and beside it the samples with time and
 * thread where the source has them.
 *
 * A profile is built through model/builder.h, checked and then frozen: nothing writes to it after.
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
	 * __libc_malloc. Not a part of what the function is; who asks for one of them means it.
	 */
	string_id aliases;
};

/* A stack frame: a place in a function.  An inlined call is a frame of its own. */
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
 * How often one function called another, where the source counted it (gmon.out does).  Arcs may
 * stand beside stacks or, where the source knows no stacks, in their place.  What the source
 * measured along each is in the profile's arc_cost.
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
 * What the source says of samples beside their stacks: of pprof its labels, of OTLP attributes and
 * links.  A set may have several labels of one key.
 */
struct label {
	string_id key;
	string_id text; /* empty: the number is the value */
	int64_t number;
	string_id unit; /* of the number; empty: none */
};

/*
 * A set of labels: this one and those of `rest`, rest < own index, whose labels have lower ids than
 * this one.  So sets share what they have in common, and what is to be known of all sets is found
 * in one pass over them, each after its rest.  Of set 0: NO_ID.
 */
struct label_set {
	label_set_id rest;
	label_id label;
};

/*
 * Columns of equal length.  Empty if the source has totals only, no samples.
 *
 * Zones are stretches of a program that it has marked itself (prof.h), and a stack of zones is a
 * stack like others: each zone is a function (name, file, line) of the load object ZONE_OBJECT, of
 * kind OBJECT_ZONE, or an ordinary function where the zone is one; the root is the zone "_global".
 * What a program says of its zones are samples, too, zone rows: one for each thread, zone stack and
 * tick in which anything was done there, with its own zone stack as stack and as zone, the end of
 * the tick as time, and weights in ZONE_TIME and ZONE_ENTRIES alone.  They are 0 samples each, so a
 * source of them has the metric "samples".
 */
struct samples {
	size_t count;
	stack_id *stack;
	thread_id *thread; /* NULL: not known */
	uint64_t *time_ns; /* since the profile's start; NULL: not known */
	/*
	 * The zone stack each was taken in; stack 0: in no zone, the stack of the one frame
	 * "[unknown]" of ZONE_OBJECT: not known of this one.  NULL: not known of any.
	 */
	stack_id *zone;
	label_set_id *labels; /* NULL: no sample has any */
	int64_t **weight;     /* [metric][sample] */
};

#define ZONE_OBJECT  "[zones]"
#define ZONE_TIME    "zone-time"    /* the metric, in ns: in the zone and not in those below it */
#define ZONE_ENTRIES "zone-entries" /* the metric, a count: how often the zone was entered */

/*
 * A tick, or frame of time: a stretch that a program has marked, of a stream of them ("frame",
 * "audio").  What has a time in (start_ns, end_ns] is of it.
 */
struct tick {
	process_id process;
	string_id stream;
	uint64_t number; /* in its stream, from 0 */
	uint64_t start_ns, end_ns;
};

/*
 * Columns of equal length: from that time on the thread is at that zone stack (0: it is in none any
 * more, or nobody knows).  By thread, and of each by time.
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
	NOTE_BAD_RECORD, /* parts of the input that could not be read and were passed over */
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
 * Whether the count stands before the text, "8 samples were lost …".  The others' is that of what
 * the text lists, or one.
 */
bool note_shows_count(const struct note *note);

/* UINT64_MAX: not known. */
struct profile_stats {
	uint64_t counted;  /* samples in the profile */
	uint64_t expected; /* by the clock */
	uint64_t lost;
	uint64_t foreign;  /* samples whose leaf belongs to no known function */
	uint64_t critical; /* samples whose stack could not be walked whole */
	uint64_t excluded; /* by WHEN */
	uint64_t duration_ns;
	uint64_t cpu_ns;	    /* that the target used */
	uint64_t interval_ns;	    /* between samples, as achieved */
	uint64_t interval_asked_ns; /* the same as it was asked for */
};

/* The figures of struct profile_stats by name, for whoever treats all alike. */
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
	 * The stack tree: [stack] its frame, of the empty stack, which is stack 0, NO_ID.  Parents
	 * come before their children and stand by run; profile_stack_parent looks them up.
	 */
	const frame_id *stack_frame;
	size_t stack_count; /* at least 1 */
	struct tree_runs runs;
	/* Deepest stack, in frames; and those of all stacks that have a row of weights. */
	uint32_t depth_max;
	uint64_t depth_sum;
	/*
	 * False: the source tells in which functions time was spent and not who had called them.
	 * Then no stack has more than one frame, and that frame's callers are known from the arcs
	 * alone.
	 */
	bool has_stacks;
	const struct arc *arcs; /* one for each pair of functions, in the order of first sight */
	size_t arc_count;
	/*
	 * [metric][arc]: what all these calls cost, from call to return: the callee's own weight
	 * and that of all it called.  In a recursion a stretch counts once for each call that is
	 * under way, so these do not add up there (analysis/measured.h).  NULL: not measured.
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
	 * What ends at a stack stands by row, as most stacks are only passed: the stacks that have
	 * one, whose rows are 1, 2 … in their order; row 0 is all zero.  See profile_row.
	 */
	struct rank_set weighted;
	size_t row_count; /* at least 1 */
	/* [metric][row]: the weight of the stacks that end here; the sum over samples if any. */
	const int64_t *const *row_weight;
	/*
	 * [row]: how many samples ended here; NULL: not known.  A sample counts as much as it
	 * weighs in the metric "samples", of unit "count", or 1 where there is none.
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
	 * WHEN patterns that its recording was asked for, each ended by NUL; empty: none.  Samples
	 * that they do not match may be at the empty stack.  Whoever shows the profile applies
	 * them, before all else.
	 */
	string_id when;
	uint64_t start_unix_ns; /* 0: not known */
};

/* Frees the profile and all in it; NULL is fine. */
void profile_destroy(struct profile *p);

/* NULL if the profile tells which threads its samples were taken in, else an ERROR_UNSUPPORTED. */
must_use struct error *profile_needs_threads(const struct profile *p);
/* NULL if it tells which zones they were taken in, else the same. */
must_use struct error *profile_needs_zones(const struct profile *p);

/* NULL if it tells when they were taken, else the same. */
must_use struct error *profile_needs_times(const struct profile *p);

/* Whether it is the metric that says how many samples a sample counts as. */
bool metric_counts_samples(struct str name, struct str unit);
/* How many, by its weight in that metric; NULL: there is no such metric. */
static inline uint64_t sample_count(const int64_t *weight)
{
	if (weight == NULL)
		return 1;
	return *weight > 0 ? (uint64_t)*weight : 0;
}

/*
 * NULL if there are labels of that key (or no weight that could have any); else ERROR_UNSUPPORTED
 * where samples have no labels, ERROR_INPUT where they have others.
 */
must_use struct error *profile_needs_label(const struct profile *p, struct str key);
/* Whether nothing in it weighs anything. */
bool profile_is_empty(const struct profile *p);

static inline struct str profile_string(const struct profile *p, string_id id)
{
	return p->strings[id.i];
}
/* What a stack was called from; of the empty stack: itself. */
static inline uint32_t profile_stack_parent(const struct profile *p, uint32_t stack)
{
	return tree_runs_parent(&p->runs, stack);
}
static inline stack_id profile_parent(const struct profile *p, stack_id stack)
{
	return (stack_id){profile_stack_parent(p, stack.i)};
}
/* The row of what ends at a stack; 0: nothing does. */
static inline uint32_t profile_row(const struct profile *p, uint32_t stack)
{
	return rank_set_has(&p->weighted, stack) ? 1 + rank_set_below(&p->weighted, stack) : 0;
}
/* What ends at a stack, in one metric; and how many samples, where that is known. */
static inline int64_t profile_weight(const struct profile *p, size_t metric, uint32_t stack)
{
	return p->row_weight[metric][profile_row(p, stack)];
}
static inline uint64_t profile_samples(const struct profile *p, uint32_t stack)
{
	return p->row_samples[profile_row(p, stack)];
}
/* Base name of a load object's path; empty for NO_ID. */
struct str profile_module(const struct profile *p, object_id id);
/* How many labels are in a set; profile_label_ids writes as many, in the order of their ids. */
size_t profile_label_count(const struct profile *p, label_set_id set);
void profile_label_ids(const struct profile *p, label_set_id set, label_id *labels);
/* A label's value as it is shown: its text, or "4096", or "4096 bytes"; it lives as long as b. */
struct str profile_label_value(const struct profile *p, label_id label, struct strbuf *b);
/* The metric of that name; false if there is none. */
bool profile_find_metric(const struct profile *p, struct str name, metric_id *id);

/*
 * NULL if the profile has stacks, else an ERROR_UNSUPPORTED that says that what the user asked for
 * ("--view tree") needs them.
 */
must_use struct error *profile_needs_stacks(const struct profile *p, const char *what);

/*
 * Whether every invariant holds: ids in range, parent < child, no frame twice under one parent, one
 * weight per metric and sample, sum of exclusive = sum of weights = total, no sum of weights of
 * one sign, calls or their costs beyond 63 bits, one arc per pair, no deep stack where there are no
 * stacks, label sets in their order and each once, ticks and zone events in their order. NULL if
 * so, else an ERROR_INPUT that names the first broken one.  Runs after every read and in every fuzz
 * run.
 */
must_use struct error *profile_check(const struct profile *p);

#endif
