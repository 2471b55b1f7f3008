#ifndef SONDE_FORMATS_PERF_SCRIPT_ROWS_H
#define SONDE_FORMATS_PERF_SCRIPT_ROWS_H

/* The threads and stacks of `perf script` text, and the samples themselves. */

#include "base/map.h"
#include "base/row_table.h"
#include "base/vec.h"
#include "model/builder.h"
#include "obj/demangle.h"
#include "formats/common/spans.h"
#include "formats/perf/script_text.h"

/* ---- threads ---- */

/*
 * The threads and processes that the samples of `perf script` text name, and the CPUs that they ran
 * on.  A thread is a tid, its process's pid and a comm: one that changes its name is two.  A task
 * is a thread on one CPU.
 */

struct perf_tasks {
	struct builder *builder;
	struct row_table whos;	/* of spans: what samples begin with, and which task it is */
	struct row_table tasks; /* of struct perf_task */
};

void perf_tasks_deinit(struct perf_tasks *t);
/* The task of a sample, from 0; NO_ID where it names none.  Takes head->who apart if need be. */
uint32_t perf_tasks_find(struct perf_tasks *t, struct perf_head *head);

/* ---- stacks ---- */

/*
 * From the lines below a sample's first one to a stack.  Lines come leaf first; each distinct line
 * is taken apart once.
 */

/* A distinct line, or pair of a line and its place. */
struct perf_line {
	string_id name, file;
	uint32_t line;
	object_id object; /* NO_ID: unknown */
	uint64_t address;
	bool is_inline;
	bool is_nested; /* names several functions, "outer->inlined->…" */
	/* Its frame as a stack's leaf and as a caller, both of the load object framed_in. */
	object_id framed_in;
	frame_id frame[2];
};

struct perf_stacks {
	struct builder *builder;
	struct arena *arena; /* of the texts in spans */
	struct demangler *demangler;
	/* So that memory stays within a few times the input's, whatever is in it. */
	size_t lines_max;
	uint32_t stacks_max;
	bool is_cut;		 /* frames of the sample at hand are left out */
	uint64_t cut;		 /* stacks that went beyond */
	size_t demangle_left;	 /* bytes that names may still take up when demangled */
	struct row_table spans;	 /* lines of the input → lines */
	struct row_table places; /* the same of those that tell places; ids count them */
	struct map placed;	 /* line and place → line */
	VEC(struct perf_line) lines;
	VEC(uint32_t) path; /* lines of the sample at hand, leaf first */
};

void perf_stacks_init(struct perf_stacks *s, struct builder *builder, size_t input_size);
void perf_stacks_deinit(struct perf_stacks *s);

/* Adds a line that was seen before to the path; false: it was not. */
static inline bool perf_stacks_push_known(struct perf_stacks *s, struct span line)
{
	uint32_t known = span_find(&s->spans, line);

	if (known == NO_ID)
		return false;
	vec_push(&s->path, known);
	return true;
}
/* Adds one that was not, and the frame that is in it. */
void perf_stacks_push_new(struct perf_stacks *s, struct span line, const struct perf_frame *frame);
/*
 * Adds to the frame that was pushed last what a line below it says of its place; false: there is
 * no frame, or that line says nothing of the kind.
 */
bool perf_stacks_place(struct perf_stacks *s, struct str line);
/* The stack of the path, which is empty after. */
stack_id perf_stacks_take(struct perf_stacks *s);

/* ---- rows ---- */

/*
 * The samples of `perf script` text, until it is known what all of them have: each event is a
 * metric; times and threads are kept where every sample has them.
 */

struct perf_sample {
	stack_id stack;
	uint32_t thread;  /* of struct perf_tasks; NO_ID: unknown */
	uint32_t event;	  /* of perf_rows_event */
	uint64_t time_ns; /* UINT64_MAX: unknown */
	uint64_t period;  /* the same */
};

struct perf_event {
	string_id name; /* empty: unknown */
	bool has_period;
	uint64_t samples;
};

/* A thread and an event that samples have in common. */
struct perf_source {
	uint32_t thread, event;
};

struct perf_row {
	uint64_t time_ns, period;
	stack_id stack;
	uint32_t source;
};

#define PERF_BLOCK_ROWS ((size_t)8192)

struct perf_rows {
	struct builder *builder;
	VEC(struct perf_event) events;
	struct map event_of_name;
	struct str last_name; /* of the event asked for last; in the input */
	uint32_t last_event;
	VEC(struct perf_source) sources;
	struct map source_of;	       /* thread and event */
	VEC(struct perf_row *) blocks; /* of PERF_BLOCK_ROWS; they never move */
	uint64_t count;
	uint32_t last_stack; /* the highest that was added */
	uint64_t without_time, without_thread;
	uint64_t first_ns, last_ns; /* of the times */
};

void perf_rows_deinit(struct perf_rows *r);
/* The number of an event; its name may be empty. */
uint32_t perf_rows_event(struct perf_rows *r, struct str name);
void perf_rows_add(struct perf_rows *r, const struct perf_sample *sample);
/*
 * Gives metrics, threads and samples, at least one, to the builder; of an input of that size, for
 * the memory that events take: samples of more than that allows for become a note.
 */
void perf_rows_finish(struct perf_rows *r, struct perf_tasks *tasks, size_t input_size);

#endif
