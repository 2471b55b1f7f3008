#ifndef SONDE_MODEL_BUILDER_H
#define SONDE_MODEL_BUILDER_H

/*
 * Builds a profile.  Legal order of calls: builder_create; all metrics; then anything in any order,
 * each id only after the call that returned it; finally builder_finish (or builder_destroy).
 *
 * Every function that adds to a table interns: the same contents give the same id.
 */

#include "model/profile.h"

struct builder;

must_use returns_owned struct builder *builder_create(void);
/* Discards what was built; NULL is allowed. */
void builder_destroy(struct builder *b);

/*
 * Most of the memory that an input takes is bounded by its size (model/budget.h): this raises the
 * bound for that many more bytes of unpacked input.  If it is never called, there is no bound.
 * Where there is no room for a new row, a row named "[left out]" replaces it, or its parent if it
 * is a stack, and a note counts these cases; zone events are dropped.
 */
void builder_answer_for(struct builder *b, uint64_t input_bytes);
/*
 * For readers that themselves keep much data, in proportion to the input: takes that much room from
 * the builder's bound.  builder_has_room: whether there is that much left.
 */
void builder_charge(struct builder *b, uint64_t bytes);
bool builder_has_room(const struct builder *b, uint64_t bytes);

metric_id builder_metric(struct builder *b, struct str name, struct str unit);
string_id builder_string(struct builder *b, struct str s);
/* The bytes of an interned string. */
struct str builder_string_bytes(const struct builder *b, string_id id);
object_id builder_object(
	struct builder *b, struct str path, struct str build_id, enum object_kind kind);
/* object.i may be NO_ID. */
function_id builder_function(
	struct builder *b, string_id name, object_id object, string_id file, uint32_t line);
/*
 * The same for a function with other names, each ended by NUL; the first call that gives any
 * counts.
 */
function_id builder_function_called(struct builder *b, string_id name, struct str aliases,
	object_id object, string_id file, uint32_t line);
frame_id builder_frame(struct builder *b, function_id function, string_id file, uint32_t line,
	bool is_inline, uint64_t obj_addr);
/*
 * The same place in a function that is named with a mark behind its name, "f [mark]" for " [mark]";
 * asking for "f" means it as well.
 */
frame_id builder_frame_marked(struct builder *b, frame_id frame, struct str mark);
/* The name of a frame's function. */
struct str builder_frame_name(const struct builder *b, frame_id frame);
/* The stack `frame` called from `parent`; parent 0 is the empty stack. */
stack_id builder_stack(struct builder *b, stack_id parent, frame_id frame);
/*
 * The same for a pair that the caller knows to be new; the other functions do not find it later.
 * False: there is no room for it.
 */
bool builder_stack_push(struct builder *b, stack_id parent, frame_id frame, stack_id *stack);
/*
 * Takes over a whole tree: the frames of stacks, the builder's, in frames[count], which was
 * allocated with malloc and then belongs to the builder, and the runs of its nodes.  Stack 0 is the
 * empty one, its frame NO_ID; no frame occurs twice under one parent.  builder_can_adopt returns
 * whether there is room for `count` stacks, and no other stack so far.
 */
bool builder_can_adopt(const struct builder *b, size_t count);
void builder_adopt_stacks(struct builder *b, frame_id *frames, size_t count, struct run_list *runs);
/*
 * Stores the stacks of frames[count], each called from the one before, the first from `parent`, in
 * stacks[count].  Makes at most new_max new stacks, and no more than there is room for; returns how
 * many frames got a stack, and leaves it to the caller to report what was cut.  Faster than as many
 * calls of builder_stack.
 */
size_t builder_stack_path(struct builder *b, stack_id parent, const frame_id *frames, size_t count,
	size_t new_max, stack_id *stacks);
/*
 * The stack that an existing stack is called from, and its own function (NO_ID: the empty stack).
 */
stack_id builder_stack_parent(const struct builder *b, stack_id stack);
function_id builder_stack_function(const struct builder *b, stack_id stack);
/* Adds calls to the arc between two functions; caller.i may be NO_ID (struct arc). */
void builder_arc(struct builder *b, function_id caller, function_id callee, uint64_t calls);
/*
 * The same with cost[metric_count], what these calls took from call to return (arc_cost), or NULL.
 * Returns the arc's number; arcs are numbered from 0 in the order in which they are first seen.
 */
uint32_t builder_arc_cost(struct builder *b, function_id caller, function_id callee, uint64_t calls,
	const int64_t *cost);
/* Not interned: the caller keeps (pid, start) apart. */
process_id builder_process(struct builder *b, int64_t pid, uint64_t start_ns, struct str name);
thread_id builder_thread(
	struct builder *b, int64_t tid, process_id process, uint64_t start_ns, struct str name);

/*
 * Adds weight[metric_count] to a stack without keeping a sample, for sources that have totals
 * only.  samples: how many samples the weight represents; UINT64_MAX: not known, and then unknown
 * in the whole profile.  A profile uses either this or builder_sample.
 */
void builder_weight(struct builder *b, stack_id stack, const int64_t *weight, uint64_t samples);
/* Prefetches the weights of a stack that the caller will add to soon; changes nothing. */
void builder_warm_weight(const struct builder *b, stack_id stack);
/*
 * Adds a frame, the stack of that frame alone, and its builder_weight with unknown samples, in one
 * call.  For sources without stacks, which add all frames and stacks here.  Frames are numbered
 * from 0 in the order in which they are first seen.
 */
frame_id builder_place(struct builder *b, const struct frame *frame, const int64_t *weight);
/*
 * The sum of that metric's weights added to places so far; wrong if builder_finish will refuse
 * them.
 */
int64_t builder_place_sum(const struct builder *b, metric_id metric);
/* Reserves memory for that many more samples, with thread and time; they need not be added. */
void builder_expect_samples(struct builder *b, size_t count);
/* The same for zone events. */
void builder_expect_zone_events(struct builder *b, size_t count);
/* Makes any number from a file a time for builder_sample: never UINT64_MAX. */
static inline uint64_t builder_time(uint64_t time_ns)
{
	return time_ns == UINT64_MAX ? UINT64_MAX - 1 : time_ns;
}

/* A sample. thread.i may be NO_ID in all samples or in none; time_ns UINT64_MAX likewise. */
void builder_sample(struct builder *b, stack_id stack, thread_id thread, uint64_t time_ns,
	const int64_t *weight);

/* Several samples: what builder_sample and the functions below take for one, as columns. */
struct sample_columns {
	size_t count;
	const stack_id *stack;
	const thread_id *thread;      /* NULL: unknown, as for all other samples */
	const uint64_t *time_ns;      /* the same */
	const int64_t *const *weight; /* [metric][count] */
	const stack_id *zone;	      /* NULL: none has one */
	const label_set_id *labels;   /* the same */
};
void builder_samples(struct builder *b, const struct sample_columns *s);

/*
 * Sets the zone stack that the last added sample was taken in (struct samples).  Samples without
 * this call are in no zone; if it is never called, no sample's zone is known.
 */
void builder_sample_zone(struct builder *b, stack_id zone);
/* A label's strings are builder_string's. */
label_id builder_label(struct builder *b, const struct label *label);
/* The set of these labels, in any order, perhaps with duplicates; none: set 0. */
label_set_id builder_label_set(struct builder *b, const struct label *labels, size_t count);
label_set_id builder_label_set_of(struct builder *b, const label_id *labels, size_t count);
/* The set with one more label; the set itself if it already has the label. */
label_set_id builder_label_set_with(struct builder *b, label_set_id set, label_id label);
/* Sets the labels of the last added sample; samples without this call have no labels. */
void builder_sample_labels(struct builder *b, label_set_id set);
/*
 * A stream's ticks may come in any order; a tick that ends before it starts is made to end there.
 */
void builder_tick(struct builder *b, const struct tick *tick);
/* A thread's events with the same time stay in the order in which they are added. */
void builder_zone_event(struct builder *b, thread_id thread, uint64_t time_ns, stack_id stack);

/* Adds to the count of the note of that kind and text, or makes it. */
void builder_note(struct builder *b, enum note_kind kind, uint64_t count, const char *format, ...)
	printf_like(4, 5);

/* Fields outside tables, to be set directly; strings are from builder_string. */
struct builder_header {
	/* All unknown at first; builder_finish sets counted where samples are known. */
	struct profile_stats stats;
	string_id source, format, command, host, when;
	uint64_t start_unix_ns;
	metric_id default_metric; /* metric 0 at first */
	bool has_stacks;	  /* true at first */
};
struct builder_header *builder_header(struct builder *b);

/*
 * Ends the building: sums weights onto stacks, runs profile_check, hands over the profile (the
 * caller's, freed with profile_destroy) and frees the builder, also on failure.  Fails with
 * ERROR_INPUT if no metric was added, or if the sum of a metric's positive weights, of its negative
 * ones, of its positive or negative call costs, or of all calls does not fit in 63 bits ("exceeds
 * 64 bits").
 */
must_use struct error *builder_finish(struct builder *b, struct profile **profile);

#endif
