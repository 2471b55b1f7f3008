#ifndef SONDE_FORMATS_PERF_SCRIPT_STACKS_H
#define SONDE_FORMATS_PERF_SCRIPT_STACKS_H

/*
 * From the lines below a sample's first one to a stack.  Lines come leaf first; each distinct line
 * is taken apart once.
 */

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "obj/demangle.h"
#include "formats/perf/script_frame.h"
#include "formats/common/spans.h"

/* A distinct line, or pair of a line and its place. */
struct perf_line {
	string_id name, file;
	uint32_t line;
	object_id object; /* NO_ID: not told */
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

#endif
