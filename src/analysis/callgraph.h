#ifndef SONDE_ANALYSIS_CALLGRAPH_H
#define SONDE_ANALYSIS_CALLGRAPH_H

/*
 * The call graph with cycles, as gprof lays it out (semantics.md section 3): an entry for every
 * function and every cycle, and in it lines for its callers, its callees and, in a cycle's, its
 * members.
 *
 * Units are the strongly connected components of the arcs; a cycle is one of more than one member.
 * A stack meets each unit in one contiguous run, so where there are stacks every figure is exact.
 * Without stacks the figures of arcs are measured (callgrind, measured.h), or estimated from counts
 * of calls, as gprof does (gmon.out); entries and lines are made in the same way
 * (callgraph_layout.h), so views need not distinguish these.
 */

#include "analysis/entity_tree.h"

enum callgraph_part {
	CALLGRAPH_CALLERS,
	CALLGRAPH_MEMBERS, /* in a cycle's own entry only */
	CALLGRAPH_CALLEES,
	CALLGRAPH_PART_COUNT
};

/* How many calls; an unknown count is 0. */
struct callgraph_calls {
	bool is_known;
	uint64_t count;
};

struct callgraph_line {
	uint32_t entity; /* NO_ID: <spontaneous>, the caller of the roots of stacks */
	uint32_t entry;	 /* of that entity; NO_ID: <spontaneous>.  Gives its cycle */
	/*
	 * False between members of one cycle, where lines have counts only.  Times of a caller:
	 * what the entry's unit spent on its behalf, in the unit itself and below it; of a callee:
	 * what the callee's unit spent on behalf of this entry; of a member: those of its entry.
	 */
	bool has_times;
	int64_t self, children;
	/*
	 * Calls along this line; of a member in a cycle's entry: from all members, including
	 * itself.
	 */
	struct callgraph_calls calls;
	/*
	 * All calls to the callee's unit from outside, including these.  Not known between members,
	 * and for a member.
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
	uint32_t cycle;	 /* from 1: the cycle that it is or belongs to; 0: none */
	/*
	 * For a cycle: in its members, and below it.  For a function: exclusive, and of the stacks
	 * that leave its unit from it.  The members' times sum to the cycle's.
	 */
	int64_t self, children;
	/*
	 * Calls from outside its unit, and calls within it: for a cycle, between or within members;
	 * for a function, even a member, to itself.  Both are known or neither.
	 */
	struct callgraph_calls outside, inside;
	struct callgraph_range parts[CALLGRAPH_PART_COUNT]; /* consecutive */
};

struct callgraph {
	const struct entity *entities;
	/*
	 * By self + children descending (in a difference, by absolute value), ties by that of the
	 * others in turn, then callers before their callees, then by name; a cycle always before
	 * its members.  An entry whose figures are all zero, also in the others, is left out unless
	 * one of its lines stays, or it is a member of a cycle.
	 */
	const struct callgraph_entry *entries;
	size_t entry_count;
	size_t shown_count; /* the first entries, which have their lines; those after have none */
	/*
	 * Each part by self + children descending, ties likewise, lines without times last; then by
	 * calls descending, then by name.  Lines that are all zero are left out, except those of
	 * members and between members.  The callers' times, including <spontaneous>, sum to self +
	 * children of the unit, the callees' to the entry's children.
	 */
	const struct callgraph_line *lines;
	size_t line_count;
	size_t cycle_count; /* numbered from 1 in the order of their entries */
	/* [cycle_count] Cycle N's entity is at N - 1, named "<cycle N as a whole>". */
	const struct entity *cycles;
	int64_t total;	   /* 100 % */
	bool is_estimated; /* figures of arcs come from counts of calls, not from stacks */
	bool is_measured;  /* they come from measured costs of calls */
	bool has_calls;	   /* some counts of calls are known */
	/* [other_count] The same entries and lines with the others' figures; they have no others.
	 */
	const struct callgraph *const *others;
	size_t other_count;
};

/*
 * Exact, from stacks: arcs are the neighbours in stacks with weight, and the counted ones (the
 * tree's, or NULL if nothing was counted).  The graph's others are those of the tree.  Near-linear
 * in tree->node_count, whatever the depth.  limit: how many entries get their lines, 0: all.  Lives
 * in the arena; entities are the tree's.
 */
must_use struct callgraph *callgraph_analyse(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, size_t limit, struct arena *arena);

#endif
