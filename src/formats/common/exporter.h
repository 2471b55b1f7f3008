#ifndef SONDE_FORMATS_COMMON_EXPORTER_H
#define SONDE_FORMATS_COMMON_EXPORTER_H

/*
 * Code shared by writers, for use before writing: checks what a format needs, and finds the code
 * locations in the stacks.
 */

#include "base/child_table.h"
#include "base/error.h"
#include "model/profile.h"

/* For formats with a timeline: ERROR_UNSUPPORTED if the profile has no times. */
must_use struct error *exporter_check_times(const struct profile *p);

/* How many frames each stack has, [stack]; the caller frees it. */
uint32_t *exporter_depths(const struct profile *p);

/*
 * Places, for formats in which a stack is a list of addresses.  A place is a frame that is not
 * inlined, or a run of inlined frames with the frame that they were inlined into.  It is identified
 * by its innermost frame, as a node of `tree`: the node's key is that frame, its parent the frame
 * it was inlined into; 0: none.
 */
struct code_places {
	struct child_table tree;
	uint32_t *of_stack; /* [stack]: the place of its leaf */
};

void code_places_init(struct code_places *places, const struct profile *p);
void code_places_deinit(struct code_places *places);
static inline uint32_t code_places_count(const struct code_places *places)
{
	return (uint32_t)places->tree.nodes.count;
}

static inline const struct frame *code_places_frame(
	const struct code_places *places, const struct profile *p, uint32_t place)
{
	return &p->frames[places->tree.nodes.data[place].key];
}

/* The frame that a place's innermost frame was inlined into; 0: none. */
static inline uint32_t code_places_outer(const struct code_places *places, uint32_t place)
{
	return places->tree.nodes.data[place].parent;
}

/* The stack that called the leaf place of a stack; 0: none. */
static inline stack_id code_places_caller(
	const struct code_places *places, const struct profile *p, stack_id stack)
{
	uint32_t place = places->of_stack[stack.i];

	for (; place; place = code_places_outer(places, place))
		stack = profile_parent(p, stack);
	return stack;
}

/* The frame that all of a place was inlined into, or its only one. */
static inline const struct frame *code_places_outermost(
	const struct code_places *places, const struct profile *p, uint32_t place)
{
	while (code_places_outer(places, place))
		place = code_places_outer(places, place);
	return code_places_frame(places, p, place);
}

#endif
