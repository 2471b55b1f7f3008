#ifndef SONDE_ANALYSIS_CALLGRAPH_H
#define SONDE_ANALYSIS_CALLGRAPH_H

/*
 * The call graph with cycles, as gprof lays it out (semantics.md section 3): an entry for every
 * function and every cycle, and in it lines for who called it, what it called and, of a cycle, who
 * is in it.
 *
 * Units are the strongly connected components of the arcs; a cycle is one of more than one member.
 * A stack meets each unit in one contiguous run, so where there are stacks every figure is exact.
 * Without stacks the figures of arcs are what was measured along them (callgrind, measured.h), or
 * estimated from counts of calls, as gprof does (gmon.out);
 * the entries and lines come about in the same way (callgraph_layout.h), so a view need not know.
 */

#include "analysis/entity_tree.h"

enum callgraph_part {
	CALLGRAPH_CALLERS,
	CALLGRAPH_MEMBERS, /* of a cycle's own entry; else there are none */
	CALLGRAPH_CALLEES,
	CALLGRAPH_PART_COUNT
};

/* How many calls; a count that is not known is 0. */
struct callgraph_calls {
	bool is_known;
	uint64_t count;
};

struct callgraph_line {
	uint32_t entity; /* NO_ID: <spontaneous>, the caller of what stands at the root of stacks */
	uint32_t entry;	 /* of that entity; NO_ID: <spontaneous>.  Its cycle is the entry's */
	/*
	 * Not so between members of one cycle, whose line has counts only.  A caller's: what the
	 * entry's unit spent on its behalf, in the unit itself and below it; a callee's: what
	 * the callee's unit spent on behalf of this entry; a member's: its entry's.
	 */
	bool has_times;
	int64_t self, children;
	/* Calls along this line; in a cycle's entry, of a member: from all members, itself too. */
	struct callgraph_calls calls;
	/*
	 * All calls to the callee's unit from outside, of which these are some.  Not known between
	 * members, and of a member.
	 */
	struct callgraph_calls of;
};

/* Lines [first, end) of the graph. */
struct callgraph_range {
	uint32_t first, end;
};

/* The entry with index i is shown as number i + 1. */
struct callgraph_entry {
	uint32_t entity; /* NO_ID: <cycle N as a whole> */
	uint32_t cycle;	 /* from 1: the cycle it is, or is a member of; 0: none */
	/*
	 * Of a cycle: in its members, and below it.  Of a function: exclusive, and of the stacks
	 * that leave its unit from it.  Members' sum to the cycle's.
	 */
	int64_t self, children;
	/*
	 * Calls from outside its unit, and calls within: of a cycle between or within members; of a
	 * function, a member too, to itself.  Both are known or neither.
	 */
	struct callgraph_calls outside, inside;
	struct callgraph_range parts[CALLGRAPH_PART_COUNT]; /* one behind the other */
};

struct callgraph {
	const struct entity *entities;
	/*
	 * By self + children descending (of a difference, by how much that is, whichever way),
	 * ties by that of the others in turn, then callers before what they call, then by name; a
	 * cycle always before its members.  An entry all of whose
	 * figures are zero, in the others too, is left out unless a line of it stays, or it is a
	 * member of a cycle.
	 */
	const struct callgraph_entry *entries;
	size_t entry_count;
	/*
	 * Each part by self + children descending, ties likewise, lines without times last; then by
	 * calls descending, then by name.  Lines that are all zero are left out, but those of
	 * members and between members.  Callers' sum to self + children of the unit, <spontaneous>
	 * included, callees' to the entry's children.
	 */
	const struct callgraph_line *lines;
	size_t line_count;
	size_t cycle_count; /* numbered from 1 in the order of their entries */
	/* [cycle_count] What stands for cycle N at N - 1, named "<cycle N as a whole>". */
	const struct entity *cycles;
	int64_t total;	   /* 100 % */
	bool is_estimated; /* figures of arcs come from counts of calls, not from stacks */
	bool is_measured;  /* they come from what calls were measured to cost */
	bool has_calls;	   /* some count of calls is known */
	/* [other_count] The same entries and lines with the others' figures; they have no others.
	 */
	const struct callgraph *const *others;
	size_t other_count;
};

/*
 * Exact, from stacks: arcs are the neighbours in stacks that have weight, and the counted ones
 * (the tree's, or NULL where nothing was counted).  Others follow the tree's.  Near-linear in
 * tree->node_count, whatever the depth.  Lives in the arena; entities are the tree's.
 */
must_use struct callgraph *callgraph_analyse(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, struct arena *arena);

#endif
