#ifndef SONDE_FORMATS_COMMON_EXPORTER_H
#define SONDE_FORMATS_COMMON_EXPORTER_H

/*
 * Code shared by writers, for use before writing: checks what a format needs, and finds the code
 * locations in the stacks.
 */

#include "base/child_table.h"
#include "base/error.h"
#include "model/profile.h"

/* For formats of what happened when: ERROR_UNSUPPORTED where the profile knows no times. */
must_use struct error *exporter_check_times(const struct profile *p);

/*
 * Places, for formats in which a stack is a list of addresses: a frame that is not inlined, or a
 * run of inlined frames with the one that they were inlined into.  Each is known by its innermost
 * frame: a node of `tree`, whose key is that frame and whose parent is the frame it was inlined
 * into; 0: none.
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

/* What a place was inlined into; 0: nothing. */
static inline uint32_t code_places_outer(const struct code_places *places, uint32_t place)
{
	return places->tree.nodes.data[place].parent;
}

/* The stack from which the leaf place of a stack was called; 0: from none. */
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
