#ifndef SONDE_ANALYSIS_ANNOTATE_H
#define SONDE_ANALYSIS_ANNOTATE_H

/*
 * One function's figures by source line and by instruction.
 *
 * A place is a line of the function, or of a function inlined there: inlined places form a tree
 * below the line of the call.  At every place and instruction, exclusive counts the stacks whose
 * leaf is there, inclusive the stacks that contain it, each once however often the function recurs
 * in them (semantics.md section 1), so that no figure is above the total.
 *
 * An instruction belongs to the function whose code it is: its exclusive figure includes what
 * inlined functions spent there.  A line's does not; that is counted at the inlined place.
 *
 * Everything takes time linear in the number of stacks.
 */

#include "analysis/stack_walk.h"
#include "base/arena.h"
#include "model/profile.h"

struct annotate_figures {
	int64_t exclusive, inclusive;
};

/* A place in source. */
struct annotate_place {
	uint32_t parent;      /* the place it is inlined at; NO_ID: a line of the function */
	function_id function; /* the function itself, or the inlined one */
	string_id file;	      /* empty: not known */
	uint32_t line;	      /* 0: not known */
	uint32_t depth;	      /* 0: a line of the function; its inlined calls are 1 */
};

/* An instruction's bytes, [obj_addr, obj_addr + size). */
struct annotate_code {
	uint64_t obj_addr;
	uint32_t size;
};

struct annotation {
	function_id function;
	/*
	 * In reading order: lines by file (the function's own first) and line, each with what is
	 * inlined there below it in pre-order.  Only places that stacks of some metric pass.
	 */
	const struct annotate_place *places;
	size_t place_count;
	/*
	 * Ascending, distinct: the first addresses of the instructions at which stacks were in the
	 * function's own code.  An address within no known instruction is listed itself; address 0,
	 * not known, is left out.
	 */
	const uint64_t *addresses;
	size_t address_count;

	int64_t total;		     /* the base of percentages */
	struct annotate_figures own; /* the function's, as the functions view has them */
	/*
	 * Of its code, with what is inlined into it: code.exclusive is the sum of the addresses'
	 * exclusive figures.
	 */
	struct annotate_figures code;
	int64_t inlined_inclusive; /* of stacks in which the function is inlined somewhere */
	const struct annotate_figures *place_figures;	/* [place] */
	const struct annotate_figures *address_figures; /* [address] */

	/* [other_count] The same places and addresses with the figures of further metrics. */
	const struct annotation *const *others;
	size_t other_count;
};

/*
 * Annotates a function.  stacks: with weights of one or more metrics; the first is for the
 * annotation, the rest for its others.  code[code_count]: the function's instructions, ascending,
 * as far as known; NULL, 0: none known.  Lives in the arena.
 */
must_use struct annotation *annotate(const struct profile *profile,
	const struct stack_weights *stacks, function_id function, const struct annotate_code *code,
	size_t code_count, struct arena *arena);

/* The line of the function that takes most, with what is inlined there. */
struct annotate_hottest {
	uint32_t place;	   /* the line */
	int64_t exclusive; /* including all that is inlined there */
	uint32_t inlined;  /* the place inlined there with the most; NO_ID: none has any */
	int64_t inlined_exclusive;
};

/* False if no line is known or none has weight.  The first of equals in reading order wins. */
bool annotate_find_hottest(const struct annotation *annotation, struct annotate_hottest *hottest);

/* The exclusive weight of the places with wanted[place]; of all, if wanted is NULL. */
int64_t annotate_places_weight(const struct annotation *annotation, const bool *wanted);

/*
 * The addresses in the function's own code at which stacks with weight are, ascending and distinct:
 * where to look for its instructions.  *addresses lives in the arena; returns their number.
 */
size_t annotate_addresses(const struct profile *profile, const struct stack_weights *stacks,
	function_id function, uint64_t **addresses, struct arena *arena);

/* Which instruction holds obj_addr; code_count if none does. */
size_t annotate_code_at(const struct annotate_code *code, size_t code_count, uint64_t obj_addr);

#endif
