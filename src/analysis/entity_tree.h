#ifndef SONDE_ANALYSIS_ENTITY_TREE_H
#define SONDE_ANALYSIS_ENTITY_TREE_H

/*
 * The profile's stack tree at one level of aggregation, with one metric's weights: the input of
 * every analysis.  Several metrics are several trees with the same nodes, so that an analysis gives
 * rows for all of them at once; its result for one metric is what that metric alone would give,
 * except for rows in which it has no weight.  Whatever changes stacks before a view (spread now,
 * filters later) takes an entity tree and returns another, so that they combine in any order.
 *
 * An entity is one "f" of semantics.md: a function, a load object, … At levels coarser than the
 * function, neighbours that are the same entity are one node.
 *
 * Nodes are in pre-order, so the subtree of i is the nodes from i up to its end, the children of i
 * are found by `for (c = i + 1; c < end of i; c = end of c)`, and node i lies below node a exactly
 * while a < i < end of a.  So one loop over the nodes walks the tree, at any depth, without
 * recursion or an explicit stack.
 *
 * A node takes four bytes, its entity.  Parents and ends are kept by run of only children
 * (model/tree_runs.h), weights only for nodes at which stacks end: in a large profile one node in
 * ten begins a run, and one in ten is such an end.
 */

#include "analysis/selection.h"
#include "base/arena.h"
#include "model/profile.h"

enum level {
	LEVEL_FUNCTION,	   /* equal name, module, file and line: the same function */
	LEVEL_MODULE,	   /* load objects, distinguished by base name */
	LEVEL_FILE,	   /* source files; load objects where these are not known */
	LEVEL_LINE,	   /* a source line within a function */
	LEVEL_INSTRUCTION, /* an address within a load object */
	LEVEL_THREAD,
	LEVEL_PROCESS,
	LEVEL_CPU,  /* sampled on: the label "cpu" */
	LEVEL_ZONE, /* zones, distinguished as functions are: a sample's stack is its zone stack */
	LEVEL_COUNT
};
/* "function", "module", "file", "line", "instruction", "thread", "process", "cpu", "zone". */
extern const char *const level_names[LEVEL_COUNT + 1]; /* NULL at the end */
/*
 * Whether it distinguishes samples by who was sampled, or where; their stacks then have one entity.
 */
bool level_is_of_tasks(enum level level);
/* NULL if the profile knows what the level needs, else an ERROR_UNSUPPORTED. */
must_use struct error *level_check(enum level level, const struct profile *profile);

struct entity {
	/*
	 * Never empty.  Of a module: the load object's base name or "[unknown]"; of a file: its
	 * path or "[unknown]"; of a line or instruction: its function's name.
	 */
	struct str name;
	struct str aliases; /* of a function: its other names, each ended by NUL; not shown */
	struct str module;  /* base name; data NULL: not known */
	/*
	 * Of the definition; at LEVEL_LINE and LEVEL_INSTRUCTION, of the place.  data NULL: not
	 * known
	 */
	struct str file;
	uint32_t line;	  /* the same; 0: not known */
	uint64_t address; /* LEVEL_INSTRUCTION: in the load object; 0: not known, or other levels */
	/*
	 * 1, or k for the entity that spread made of the k-th occurrence: entity_label shows
	 * name'k.
	 */
	uint32_t occurrence;
	/*
	 * Of a function: what distinguishes it from others of its name in its load object, "a.c" or
	 * "a.c:12"; else empty.
	 */
	struct str apart;
};

/* The name with its occurrence: the entity's own, or made in scratch. */
struct str entity_label(const struct entity *e, struct strbuf *scratch);
/* The same for people, with what distinguishes it from others of its name: "step (a.c)". */
struct str entity_label_apart(const struct entity *e, struct strbuf *scratch);
/* Orders by name, module, file, line, address, occurrence; 0 only for the same entity. */
int entity_compare(const struct entity *a, const struct entity *b);

/* Charged by WHEN with samples whose root frame's caller is meant: "<spontaneous>". */
extern const struct entity entity_spontaneous;

/* How often one entity called another, or itself; a pair may occur several times. */
struct entity_arc {
	uint32_t caller; /* NO_ID: not known */
	uint32_t callee;
	uint64_t calls;
};

/* An entity's weights as defined in functions.h. */
struct entity_sum {
	int64_t exclusive, inclusive;
};

struct entity_tree {
	const struct entity *entities;
	size_t entity_count; /* some may have no node */
	/*
	 * Siblings are different, in the order in which they are first seen; stacks of weight 0
	 * make no nodes.  With others, stacks with weight in any of the metrics make nodes.
	 */
	size_t node_count;	/* at least 1; the root holds the weight of empty stacks */
	const uint32_t *entity; /* [node] NO_ID for the root */
	/* Each node of a run except the first is the only child of the one before. */
	struct tree_runs runs;
	const uint32_t *run_end; /* [run] one past the last node in the subtree of its nodes */
	struct rank_set ends;	 /* the nodes at which stacks end */
	/* [end] Ascends in the order in which stacks first reached the ends; NULL: sums_only. */
	const uint32_t *seen;
	/* [ends.count + 1] The weight of the ends before it. */
	const int64_t *before;
	/* [row of the profile] The end where its weight is, or NO_ID; NULL: not asked for. */
	const uint32_t *row_end;
	/* Nodes without weight in them or below: none but in a tree of entity_tree_weigh. */
	size_t empty_count;
	/*
	 * [entity_count] With sums_only: the sums, as there is no node but the root then; NULL: to
	 * be computed from nodes.
	 */
	const struct entity_sum *sums;
	/* The base of percentages: the nodes' sum plus what WHEN left out plus spontaneous. */
	int64_t total;
	/* Weight of samples that WHEN charges to the caller of a root frame: in no node. */
	int64_t spontaneous;
	/*
	 * In an inverted tree whose stacks are cut to limit the number of nodes: how many of their
	 * levels are shown, with an entity "[left out]" below; else 0.
	 */
	uint32_t levels_left_out;
	bool has_negative;  /* some node's weight is negative: a difference, without means */
	uint32_t depth_max; /* the root's children are 1; 0 with sums_only */
	/*
	 * [other_count] The same nodes with the weights of further metrics; these trees have no
	 * others.
	 */
	const struct entity_tree *const *others;
	size_t other_count;
	/* How many of these metrics, its own first, order the rows (struct entity_spec). */
	size_t order_count;
	/*
	 * [node] Whether stacks with weight in this metric end here or below; sums do not show it,
	 * as weights may cancel.  NULL: true everywhere, as always without others.
	 */
	const bool *is_passed;
	/*
	 * The profile's counted calls, at levels of whole functions and coarser; none after filters
	 * or spread, as the stacks no longer match the counts and costs.
	 */
	const struct entity_arc *arcs;
	size_t arc_count;
	/* [arc_count] What these calls cost, if the profile has no stacks; NULL: not measured. */
	const int64_t *arc_cost;
	bool has_stacks; /* false: the profile has none, and nodes have no callers */
	/*
	 * LEVEL_ZONE: [stack] the node of that zone stack, if shown samples were taken in it or
	 * below it; else 0.  The node of samples in no zone is zone_node[0].  NULL at other levels,
	 * and if the tree's nodes no longer match stacks (inverted).
	 */
	const uint32_t *zone_node;
	/* From the spec: rows are to be ordered by absolute value. */
	bool is_difference;
};

/* A node's parent, less than the node; 0 for the root. */
static inline uint32_t entity_tree_parent(const struct entity_tree *tree, uint32_t node)
{
	return tree_runs_parent(&tree->runs, node);
}
/* One past the last node of its subtree. */
static inline uint32_t entity_tree_end(const struct entity_tree *tree, uint32_t node)
{
	return tree->run_end[tree_runs_find(&tree->runs, node)];
}

/* The weight of the stacks that end at the node. */
static inline int64_t entity_tree_weight(const struct entity_tree *tree, uint32_t node)
{
	if (!rank_set_has(&tree->ends, node))
		return 0;
	uint32_t end = rank_set_below(&tree->ends, node);

	return tree->before[end + 1] - tree->before[end];
}
/* The weight of those that end in the nodes from `from` to before `to`. */
static inline int64_t entity_tree_weight_between(
	const struct entity_tree *tree, uint32_t from, uint32_t to)
{
	return tree->before[rank_set_below(&tree->ends, to)] -
	       tree->before[rank_set_below(&tree->ends, from)];
}
/* The weight of those that end in the node's subtree, the node included. */
static inline int64_t entity_tree_weight_below(const struct entity_tree *tree, uint32_t node)
{
	return entity_tree_weight_between(tree, node, entity_tree_end(tree, node));
}

/* An entity by its index; the index after the last is entity_spontaneous. */
static inline const struct entity *entity_tree_entity(
	const struct entity_tree *tree, uint32_t entity)
{
	return entity < tree->entity_count ? &tree->entities[entity] : &entity_spontaneous;
}

/* Functions that count as one, `--same 'REGEX=NAME'`: virtual overrides, versions. */
struct same_rule {
	const char *text; /* as given, for display; borrowed */
	struct name_pattern *pattern;
	struct str name; /* of their one entity, without load object, at LEVEL_FUNCTION */
};

/* What an entity tree is made for. */
struct entity_spec {
	enum level level;
	const metric_id *metrics; /* all different; those after the first make the others */
	size_t metric_count;	  /* at least 1 */
	/*
	 * Analyses order rows by the first of these metrics, then by the next where they are equal,
	 * and so on; this many decide.  0: all.
	 */
	size_t order_count;
	const struct same_rule *same; /* the first that matches counts */
	size_t same_count;
	/*
	 * Metrics are new minus old, old, and new, of two recordings (model/merge.h): threads and
	 * processes have different numbers in each, so those with the same name are the same.
	 */
	bool is_difference;
	/*
	 * Only sums by entity are wanted (functions_analyse).  These need no merging of nodes:
	 * siblings and neighbours may be the same entity, in any order.  Saves most of the work if
	 * there are many stacks.
	 */
	bool sums_only;
	/* Siblings are in the order of the samples that filters keep, not of the whole profile. */
	bool in_kept_order;
	/* The tree has row_end; at levels of stacks only. */
	bool keeps_rows;
};

/*
 * The tree of what a selection shows.  Lives in the arena; strings are the profile's and the
 * rules'.  Nodes are first seen in the order of the profile's stack ids, which for recorded samples
 * is the order in time.  The profile must have passed level_check.
 */
must_use struct entity_tree *entity_tree_create(
	const struct selection *selection, const struct entity_spec *spec, struct arena *arena);
/*
 * A tree that has row_end with the weights of a selection of the same profile, whose filters of
 * stacks are those that it was made with.  The result has all nodes of the tree and shares its
 * arrays; nodes without weight are to be left out by those who read it, and siblings stay in the
 * tree's order.  For trees of one metric, without negative weights, also of samples.  Takes time by
 * stacks with samples and runs, not by nodes.
 */
must_use struct entity_tree *entity_tree_weigh(const struct entity_tree *tree,
	const struct selection *selection, metric_id metric, struct arena *arena);
/* The tree of a whole profile by one metric, or several. */
must_use struct entity_tree *entity_tree_of(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena);
must_use struct entity_tree *entity_tree_of_metrics(const struct profile *profile, enum level level,
	const metric_id *metrics, size_t count, struct arena *arena);

/*
 * Spread (semantics.md section 2): the k-th occurrence (k ≥ 2) of an entity in a stack becomes a
 * separate entity, named f'k.  Existing entities keep their index.
 */
must_use struct entity_tree *entity_tree_spread(
	const struct entity_tree *tree, struct arena *arena);

/*
 * The same stacks from their leaves to their roots: a node's children are its callers.  Linear in
 * the tree's nodes: if the stacks have many more frames than the tree has nodes, callers far from
 * the leaves are left out, and levels_left_out is set.  Of the tree, only the strings of its
 * entities must live as long.
 */
must_use struct entity_tree *entity_tree_invert(
	const struct entity_tree *tree, struct arena *arena);

/*
 * [node] Ascends in the order in which the profile's stacks first reached the nodes, within a stack
 * from the root on; to be freed with free().
 */
must_use returns_owned uint32_t *entity_tree_first_seen(const struct entity_tree *tree);

/* For code that makes trees: the most steps from the root to a node. */
uint32_t entity_tree_measure_depth(const struct entity_tree *tree);
/*
 * Turns the ends' own weights, that of end i at before[i + 1], into the sums that a tree has;
 * returns whether any weight is negative.
 */
bool entity_nodes_sum(int64_t *before, size_t count);

#endif
