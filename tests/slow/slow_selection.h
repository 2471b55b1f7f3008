#ifndef SONDE_TESTS_SLOW_SLOW_SELECTION_H
#define SONDE_TESTS_SLOW_SLOW_SELECTION_H

/*
 * Filters and levels word by word: a profile is a list of lines, each with its stack written out;
 * a filter looks at one line after the other.  What selections, entity trees of every level and
 * inverted ones must agree with.
 */

#include "analysis/entity_tree.h"
#include "base/vec.h"

#define SLOW_METRICS_MAX 5

enum slow_state { SLOW_SHOWN, SLOW_DROPPED, SLOW_UNMATCHED, SLOW_SPONTANEOUS };

/* A sample; where the profile has none, all of one stack. */
struct slow_line {
	uint32_t stack;	 /* its own, before any filter */
	uint32_t thread; /* NO_ID: not known */
	uint64_t time_ns;
	int64_t weight[SLOW_METRICS_MAX];
	uint64_t samples; /* how many it counts as */
	enum slow_state state;
	uint32_t depth;
	uint32_t *frames; /* [depth], root first; changes under filters */
	bool in_zone;	  /* it was taken in one */
	uint32_t zone_depth;
	uint32_t *zone; /* [zone_depth] frames of the zone stack, likewise */
};

struct slow_lines {
	const struct profile *profile;
	struct arena *arena;
	VEC(struct slow_line) lines;
	bool by_line; /* lines were chosen one by one, so their order counts, not that of stacks */
};

/* Lives in the arena but for what vec_deinit frees. */
void slow_lines_init(struct slow_lines *l, const struct profile *p, struct arena *arena);

/*
 * Regular expressions here are texts without special characters, but for ^ at the start and $ at
 * the end.
 */
void slow_focus(struct slow_lines *l, const char *regex, bool wanted);
void slow_hide(struct slow_lines *l, const char *regex);
/* The kernel's frames that others called go, but for the first that is named as a system call. */
void slow_kernel(struct slow_lines *l, bool keeps_syscalls);
void slow_without_inlined(struct slow_lines *l);
/* ids: numbers or names, with commas. */
void slow_threads(struct slow_lines *l, const char *ids);
void slow_processes(struct slow_lines *l, const char *ids);
void slow_times(struct slow_lines *l, uint64_t from_ns, uint64_t to_ns);
void slow_zone(struct slow_lines *l, const char *regex);
/* Units are bytes or none; regex NULL: any value. */
void slow_label(struct slow_lines *l, const char *key, const char *regex);
/*
 * By ticks of the one stream that there is.  outside[metric] becomes the weight of lines that were
 * not dropped before and are in no tick.
 */
void slow_ticks(struct slow_lines *l, enum filter_kind kind, const struct filter_ticks *wanted,
	int64_t *outside);
/* As slow_when reads them; functions are called f0 … and load objects o0 …, letters a … . */
void slow_lines_when(struct slow_lines *l, const char *pattern);

/* The lines in a state. */
int64_t slow_weight_in(const struct slow_lines *l, size_t metric, enum slow_state state);
uint64_t slow_samples_in(const struct slow_lines *l, enum slow_state state);

struct slow_same {
	const char *regex, *name;
};

/* Nodes in the order in which they were first seen; 0 is the root. */
struct slow_tree_node {
	uint32_t parent, level;
	uint32_t name;			  /* of names; the root's is NO_ID */
	int64_t weight[SLOW_METRICS_MAX]; /* of stacks that end here */
	bool passed[SLOW_METRICS_MAX];	  /* some with weight end here or below */
};

struct slow_tree {
	VEC(struct entity) names;
	VEC(struct slow_tree_node) nodes;
};

/* Of the first `metrics` metrics.  Free with slow_tree_deinit. */
void slow_tree_init(struct slow_tree *t, const struct slow_lines *l, enum level level,
	size_t metrics, const struct slow_same *same, size_t same_count);
/* Every stack from its end to its root. */
void slow_tree_invert(struct slow_tree *t, const struct slow_tree *of, size_t metrics);
void slow_tree_deinit(struct slow_tree *t);

/* Whether both are one entity: what is shown of an instruction may differ. */
bool slow_same_entity(const struct entity *a, const struct entity *b);

/* Of an entity, over all stacks. */
int64_t slow_tree_exclusive(const struct slow_tree *t, size_t metric, uint32_t name);
int64_t slow_tree_inclusive(const struct slow_tree *t, size_t metric, uint32_t name);

#endif
