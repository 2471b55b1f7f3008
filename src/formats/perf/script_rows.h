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
 * The threads and processes named by samples, and the CPUs that they ran on.  A thread is a tid,
 * its process's pid and a comm: a thread that changes its name counts as two.  A task is a thread
 * on one CPU.
 */

struct perf_tasks {
	struct builder *builder;
	struct row_table whos;	/* of spans: the start of first lines → task */
	struct row_table tasks; /* of struct perf_task */
};

void perf_tasks_deinit(struct perf_tasks *t);
/* The task of a sample, from 0; NO_ID if it names none.  May parse head->who. */
uint32_t perf_tasks_find(struct perf_tasks *t, struct perf_head *head);

/* ---- stacks ---- */

/*
 * Makes stacks from the lines below a sample's first one.  Lines come leaf first; each distinct
 * line is parsed once.
 */

/* A distinct line, or a distinct pair of a line and its place. */
struct perf_line {
	string_id name, file;
	uint32_t line;
	object_id object; /* NO_ID: unknown */
	uint64_t address;
	bool is_inline;
	bool is_nested; /* has several functions in its name, "outer->inlined->…" */
	/* Its frame as a leaf and as a caller, both in the load object framed_in. */
	object_id framed_in;
	frame_id frame[2];
};

struct perf_stacks {
	struct builder *builder;
	struct arena *arena; /* for the texts in spans */
	struct demangler *demangler;
	/* Keeps memory within a few times the input's size, for any input. */
	size_t lines_max;
	uint32_t stacks_max;
	bool is_cut;		 /* the current sample has omitted frames */
	uint64_t cut;		 /* number of such stacks */
	size_t demangle_left;	 /* bytes left for demangled names */
	struct row_table spans;	 /* lines of the input → lines */
	struct row_table places; /* the same for lines with places; ids count them */
	struct map placed;	 /* line and place → line */
	VEC(struct perf_line) lines;
	VEC(uint32_t) path; /* lines of the current sample, leaf first */
};

void perf_stacks_init(struct perf_stacks *s, struct builder *builder, size_t input_size);
void perf_stacks_deinit(struct perf_stacks *s);

/* Adds a known line to the path; false: it is new. */
static inline bool perf_stacks_push_known(struct perf_stacks *s, struct span line)
{
	uint32_t known = span_find(&s->spans, line);

	if (known == NO_ID)
		return false;
	vec_push(&s->path, known);
	return true;
}
/* Adds a new line and its frame. */
void perf_stacks_push_new(struct perf_stacks *s, struct span line, const struct perf_frame *frame);
/*
 * Adds the place in a line to the frame pushed last; false: there is no frame, or the line has no
 * place.
 */
bool perf_stacks_place(struct perf_stacks *s, struct str line);
/* The stack of the path; empties the path. */
stack_id perf_stacks_take(struct perf_stacks *s);

/* ---- rows ---- */

/*
 * Keeps samples until it is known what all of them have.  Each event is a metric; times and threads
 * are kept only if every sample has them.
 */

struct perf_sample {
	stack_id stack;
	uint32_t thread;  /* in struct perf_tasks; NO_ID: unknown */
	uint32_t event;	  /* from perf_rows_event */
	uint64_t time_ns; /* UINT64_MAX: unknown */
	uint64_t period;  /* UINT64_MAX: unknown */
};

struct perf_event {
	string_id name; /* empty: unknown */
	bool has_period;
	uint64_t samples;
};

/* A thread and an event, shared by many samples. */
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
	struct str last_name; /* of the event requested last; points into the input */
	uint32_t last_event;
	VEC(struct perf_source) sources;
	struct map source_of;	       /* thread and event */
	VEC(struct perf_row *) blocks; /* of PERF_BLOCK_ROWS each; never moved */
	uint64_t count;
	uint32_t last_stack; /* the highest one added */
	uint64_t without_time, without_thread;
	uint64_t first_ns, last_ns; /* the first and the last time */
};

void perf_rows_deinit(struct perf_rows *r);
/* The number of an event; the name may be empty. */
uint32_t perf_rows_event(struct perf_rows *r, struct str name);
void perf_rows_add(struct perf_rows *r, const struct perf_sample *sample);
/*
 * Adds metrics, threads and samples (there must be at least one) to the builder.  input_size limits
 * the number of events; samples of further ones are counted in a note.
 */
void perf_rows_finish(struct perf_rows *r, struct perf_tasks *tasks, size_t input_size);

#endif
