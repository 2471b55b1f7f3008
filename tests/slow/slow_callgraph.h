#ifndef SONDE_TESTS_SLOW_SLOW_CALLGRAPH_H
#define SONDE_TESTS_SLOW_SLOW_CALLGRAPH_H

/*
 * The call graph once more, word by word from its definition: who reaches whom is a matrix, and
 * every figure is looked for in every stack.  A name is an index into `names`.
 */

#include "analysis/callgraph_layout.h"
#include "slow_analysis.h"

struct slow_callgraph {
	VEC(struct entity) names;
	struct slow_stacks **stacks; /* [metric], their names those of here */
	size_t metric_count;
	VEC(struct entity_arc) counted; /* of names, each pair once */
	bool *arc;			/* [caller * names.count + callee] */
	bool *reaches;			/* likewise, over any number of arcs but 0 */
};

/* stacks: of metric_count metrics, taken over.  counted: of entities. */
struct slow_callgraph *slow_callgraph_create(struct slow_stacks **stacks, size_t metric_count,
	const struct entity *entities, const struct entity_arc *counted, size_t count);
void slow_callgraph_destroy(struct slow_callgraph *g);

/* The name that means the entity, or NO_ID. */
uint32_t slow_callgraph_find(const struct slow_callgraph *g, const struct entity *e);
/* Whether two names are in one unit; a name is in one with itself. */
bool slow_same_unit(const struct slow_callgraph *g, uint32_t a, uint32_t b);
bool slow_in_cycle(const struct slow_callgraph *g, uint32_t name);

/* Of the name's own entry, or of its cycle's. */
struct call_times slow_entry_times(
	const struct slow_callgraph *g, size_t metric, uint32_t name, bool is_cycle);
/* Of the line of another name, NO_ID for <spontaneous>, in that entry; part: callers, callees. */
struct call_times slow_line_times(const struct slow_callgraph *g, size_t metric, uint32_t name,
	bool is_cycle, enum callgraph_part part, uint32_t other);

/* Calls of the arc; caller NO_ID: not known who. */
struct callgraph_calls slow_calls(const struct slow_callgraph *g, uint32_t caller, uint32_t callee);

#endif
