#ifndef SONDE_ANALYSIS_ENTITY_TREE_H
#define SONDE_ANALYSIS_ENTITY_TREE_H

/*
 * The profile's stack tree at one level of aggregation, with one metric's weights: the input of
 * every analysis.  Several metrics are several trees of the same nodes, so that an analysis gives
 * rows for all of them at once; what it says of one is what it would say of that one alone, but for
 * rows in which this one has no weight.  What changes stacks before a view (spread now, filters
 * later) takes an entity tree and gives another, so that they stack in any order.
 *
 * An entity is one "f" of semantics.md: a function, a load object, …  At levels coarser than the
 * function, neighbours that are the same entity are one node.
 *
 * Nodes stand in pre-order, so a subtree is the nodes from i up to its end, the children of i are
 * found by `for (c = i + 1; c < end of i; c = end of c)`, and node i lies below node a exactly
 * while a < i < end of a.  One loop over the nodes is thus a walk of the tree, at any depth,
 * without recursion and without a stack of its own.
 *
 * A node takes four bytes, its entity.  Parents and ends are kept by run of only children
 * (model/tree_runs.h), weights for those nodes alone at which stacks end: on a large profile one
 * node in ten begins a run, and as many are ends.
 */

#include "analysis/selection.h"
#include "base/arena.h"
#include "model/profile.h"

enum level {
	LEVEL_FUNCTION,	   /* one that has the same name, module, file and line is the same */
	LEVEL_MODULE,	   /* load objects, distinguished by base name */
	LEVEL_FILE,	   /* source files; where they are not known, load objects */
	LEVEL_LINE,	   /* a source line within a function */
	LEVEL_INSTRUCTION, /* an address within a load object */
	LEVEL_THREAD,
	LEVEL_PROCESS,
	LEVEL_CPU,  /* that it was sampled on: the label "cpu" */
	LEVEL_ZONE, /* zones, distinguished as functions are: a sample's stack is its zone stack */
	LEVEL_COUNT
};
/* "function", "module", "file", "line", "instruction", "thread", "process", "cpu", "zone". */
extern const char *const level_names[LEVEL_COUNT + 1]; /* NULL at the end */
/* Whether it tells samples apart by who was sampled, or where; their stacks are then one entity
 * long. */
bool level_is_of_tasks(enum level level);
/* NULL if the profile knows what the level needs, else an ERROR_UNSUPPORTED. */
must_use struct error *level_check(enum level level, const struct profile *profile);

struct entity {
	/*
	 * Never empty.  Of a module: the load object's base name or "[unknown]"; of a file: its
	 * path or "[unknown]"; of a line or instruction: that of its function.
	 */
	struct str name;
	struct str aliases; /* of a function: its other names, each ended by NUL; not shown */
	struct str module;  /* base name; data NULL: not known */
	/* Of the definition; at the levels line and instruction of the place.  data NULL: not known
	 */
	struct str file;
	uint32_t line;	  /* the same; 0: not known */
	uint64_t address; /* LEVEL_INSTRUCTION: in the load object; else 0, as where not known */
	/* 1, but k for what spread made of the k-th occurrence: shown as name'k by entity_label. */
	uint32_t occurrence;
};

/* The name to show, occurrence included: the entity's own, or made in scratch. */
struct str entity_label(const struct entity *e, struct strbuf *scratch);
/* Orders by name, module, file, line, address, occurrence; 0 only for the same entity. */
int entity_compare(const struct entity *a, const struct entity *b);

/* What WHEN charges with samples whose root frame's caller is meant: "<spontaneous>". */
extern const struct entity entity_spontaneous;

/* How often one entity called another, or itself; each pair may stand several times. */
struct entity_arc {
	uint32_t caller; /* NO_ID: not known who */
	uint32_t callee;
	uint64_t calls;
};

/* What functions.h says of an entity. */
struct entity_sum {
	int64_t exclusive, inclusive;
};

struct entity_tree {
	const struct entity *entities;
	size_t entity_count; /* some may have no node */
	/*
	 * Siblings are different and stand in order of first sight; stacks of weight 0 make no
	 * nodes.  Where there are others, stacks are there that have weight in any of the metrics.
	 */
	size_t node_count;	/* at least 1; the root holds the weight of empty stacks */
	const uint32_t *entity; /* [node] NO_ID for the root */
	/* Each node of a run but the first is the only child of the one before. */
	struct tree_runs runs;
	const uint32_t *run_end; /* [run] one past the last node in the subtree of its nodes */
	struct rank_set ends;	 /* the nodes at which stacks end */
	/* [end] Ascends in the order in which stacks first got to the ends; NULL: sums_only. */
	const uint32_t *seen;
	/* [ends.count + 1] The weight of the ends before it. */
	const int64_t *before;
	/*
	 * [entity_count] Where sums_only: what nodes would tell, of which there is just the root
	 * then; NULL: nodes tell it.
	 */
	const struct entity_sum *sums;
	/* The base of percentages: the nodes' sum, what WHEN left out and spontaneous. */
	int64_t total;
	/* Of samples that WHEN charges to the caller of a root frame: in no node. */
	int64_t spontaneous;
	/*
	 * Of an inverted tree whose stacks are cut so that it has no more nodes than there is room
	 * for: the levels that are shown of them, below which is an entity "[left out]"; else 0.
	 */
	uint32_t levels_left_out;
	bool has_negative;  /* some node's weight is: it is a difference, and has no means */
	uint32_t depth_max; /* the root's children are 1; 0 where sums_only */
	/* [other_count] The same nodes with the weights of further metrics; they have no others. */
	const struct entity_tree *const *others;
	size_t other_count;
	/*
	 * [node] Whether stacks with weight in this metric end here or below, which sums do not
	 * tell, as weights may cancel; NULL: everywhere, as always where there are no others.
	 */
	const bool *is_passed;
	/*
	 * The profile's counted calls, at levels of whole functions and coarser ones; none where
	 * filters or spread have made other stacks of those that the counts and costs are of.
	 */
	const struct entity_arc *arcs;
	size_t arc_count;
	/* [arc_count] What these calls cost, where the profile has no stacks; NULL: not measured.
	 */
	const int64_t *arc_cost;
	bool has_stacks; /* false: the profile has none, and nodes tell of no callers */
	/*
	 * LEVEL_ZONE: [stack] the node of the zone stack that it is, where samples that are shown
	 * were taken in it or below; of others 0.  The node of samples in no zone is zone_node[0].
	 * NULL at other levels, and where the tree is not the stacks' any more (inverted).
	 */
	const uint32_t *zone_node;
	/* As asked for: rows are to be ordered by how much they differ from 0, whichever way. */
	bool is_difference;
};

/* A node's parent, less than itself; of the root: 0. */
static inline uint32_t entity_tree_parent(const struct entity_tree *tree, uint32_t node)
{
	return tree_runs_parent(&tree->runs, node);
}
/* One past the last node of its subtree. */
static inline uint32_t entity_tree_end(const struct entity_tree *tree, uint32_t node)
{
	return tree->run_end[tree_runs_find(&tree->runs, node)];
}

/* Of the stacks that end at the node. */
static inline int64_t entity_tree_weight(const struct entity_tree *tree, uint32_t node)
{
	if (!rank_set_has(&tree->ends, node))
		return 0;
	uint32_t end = rank_set_below(&tree->ends, node);

	return tree->before[end + 1] - tree->before[end];
}
/* Of those that end in the nodes from `from` to `to`, without this. */
static inline int64_t entity_tree_weight_between(
	const struct entity_tree *tree, uint32_t from, uint32_t to)
{
	return tree->before[rank_set_below(&tree->ends, to)] -
	       tree->before[rank_set_below(&tree->ends, from)];
}
/* Of those that end there or in its subtree. */
static inline int64_t entity_tree_weight_below(const struct entity_tree *tree, uint32_t node)
{
	return entity_tree_weight_between(tree, node, entity_tree_end(tree, node));
}

/* An entity by its index; that behind the last one is entity_spontaneous. */
static inline const struct entity *entity_tree_entity(
	const struct entity_tree *tree, uint32_t entity)
{
	return entity < tree->entity_count ? &tree->entities[entity] : &entity_spontaneous;
}

/* Functions that count as one, `--same 'REGEX=NAME'`: virtual overrides, versions. */
struct same_rule {
	const char *text; /* as given, to be shown; borrowed */
	struct name_pattern *pattern;
	struct str name; /* of the one entity that they are, of no load object, at LEVEL_FUNCTION */
};

/* What an entity tree is to be of. */
struct entity_spec {
	enum level level;
	const metric_id *metrics;     /* all different; those behind the first make the others */
	size_t metric_count;	      /* at least 1 */
	const struct same_rule *same; /* the first that matches counts */
	size_t same_count;
	/*
	 * Metrics are new less old, old and new of two recordings (model/merge.h): threads and
	 * processes, whose numbers are others in each, are one where they have one name.
	 */
	bool is_difference;
	/*
	 * Only sums by entity are wanted (functions_analyse), to which it does not matter whether
	 * nodes meet: siblings and neighbours may be of one entity, and stand in any order.  Saves
	 * most of the work where stacks are many.
	 */
	bool sums_only;
};

/*
 * The tree of what a selection shows.  Lives in the arena; strings are the profile's and the
 * rules'.  First sight is the order of the profile's stack ids, which for recorded samples is the
 * order in time.  The profile must have passed level_check.
 */
must_use struct entity_tree *entity_tree_create(
	const struct selection *selection, const struct entity_spec *spec, struct arena *arena);
/* That of a whole profile by one metric, or several. */
must_use struct entity_tree *entity_tree_of(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena);
must_use struct entity_tree *entity_tree_of_metrics(const struct profile *profile, enum level level,
	const metric_id *metrics, size_t count, struct arena *arena);

/*
 * Spread (semantics.md section 2): the k-th occurrence (k ≥ 2) of an entity in a stack becomes an
 * entity of its own, named f'k.  Entities before spreading keep their index.
 */
must_use struct entity_tree *entity_tree_spread(
	const struct entity_tree *tree, struct arena *arena);

/*
 * The same stacks from their leaves to their roots: a node's children are its callers.  Linear in
 * the tree's nodes: where frames of stacks are many more than these, callers far from the leaves
 * are left out, and levels_left_out says so.
 */
must_use struct entity_tree *entity_tree_invert(
	const struct entity_tree *tree, struct arena *arena);

/*
 * [node] Ascends in the order in which the profile's stacks first got there, those of one stack
 * from the root on; to be freed with free().
 */
must_use returns_owned uint32_t *entity_tree_first_seen(const struct entity_tree *tree);

/* For whatever makes trees: the most steps from the root to a node. */
uint32_t entity_tree_measure_depth(const struct entity_tree *tree);
/*
 * From the ends' own weights, that of end i at before[i + 1], to the sums that a tree has; whether
 * any weight is negative.
 */
bool entity_nodes_sum(int64_t *before, size_t count);

#endif
