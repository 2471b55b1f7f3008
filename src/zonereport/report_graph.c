/*
 * The call graph around one entity, the focus: see report.h for the meaning of its figures.
 *
 * All of them are sums of self times over sets of nodes, found in one walk from parents to
 * children: for each node which focus node is the outermost above it (or it itself), and which node
 * the innermost focus node above it called.  The first determines the parent, the second the child.
 * Each node has one of each, which is why the sums add up under any recursion.
 */
#include <stdlib.h>

#include "zonereport/report_work.h"

/* A node's position relative to the focus; numbers of nodes, 0: none. */
struct sight {
	uint32_t outer; /* the outermost focus node at or above it */
	uint32_t via;	/* the node called by the innermost one, at or above it */
	bool is_inner;	/* at least two focus nodes are at or above it */
};

struct graph {
	uint32_t focus;			   /* entity */
	struct sight *sight;		   /* [node_count] */
	struct entity_sum *parent, *child; /* [entity_count] */
	struct entity_sum self, recursion;
	uint32_t depth; /* of recursion */
};

static struct sight see(const struct report_work *work, const struct graph *graph, uint32_t node)
{
	uint32_t above = report_above(work, node);
	struct sight sight = above ? graph->sight[above] : (struct sight){0};

	if (work->entity_of[node] == graph->focus) {
		if (sight.outer)
			sight.is_inner = true;
		else
			sight.outer = node;
		sight.via = 0;
	} else if (above && work->entity_of[above] == graph->focus) {
		sight.via = node;
	}
	return sight;
}

static void add_hier(struct entity_sum *sum, const struct node_value *value)
{
	sum->hier += value->self;
	sum->calls += value->self > 0 ? value->count : 0;
}

static void add_self(struct entity_sum *sum, const struct node_value *value)
{
	sum->self += value->self;
	sum->count += value->count;
}

/* Adds the node to the rows in which it counts, except descendants. */
static void add_node(const struct report_work *work, struct graph *graph, uint32_t node)
{
	const struct node_value *value = &work->value[node];
	struct sight sight = graph->sight[node];
	bool is_focus = work->entity_of[node] == graph->focus;
	uint32_t parent;

	if (sight.outer == 0)
		return;
	parent = report_above(work, sight.outer);
	add_hier(&graph->self, value);
	if (parent)
		add_hier(&graph->parent[work->entity_of[parent]], value);
	if (sight.is_inner)
		add_hier(&graph->recursion, value);
	if (is_focus) {
		add_self(&graph->self, value);
		if (parent)
			add_self(&graph->parent[work->entity_of[parent]], value);
		if (sight.is_inner)
			add_self(&graph->recursion, value);
		if (sight.is_inner && work->history->node[node].recursion > graph->depth)
			graph->depth = work->history->node[node].recursion;
	}
}

static void add_child(const struct report_work *work, struct graph *graph, uint32_t node)
{
	uint32_t via = graph->sight[node].via;
	struct entity_sum *sum;

	if (via == 0)
		return;
	sum = &graph->child[work->entity_of[via]];
	add_hier(sum, &work->value[node]);
	if (work->entity_of[node] == work->entity_of[via])
		add_self(sum, &work->value[node]);
}

/*
 * A descendant's hier is that of its nodes below the focus without another of its nodes in between.
 */
static void add_descendant(const struct report_work *work, struct graph *graph, uint32_t node)
{
	uint32_t same = work->history->node[node].same_above;
	struct entity_sum *sum = &graph->child[work->entity_of[node]];

	if (graph->sight[node].outer == 0 || work->entity_of[node] == graph->focus)
		return;
	add_self(sum, &work->value[node]);
	if (report_is_outermost(work, node) || graph->sight[same].outer == 0) {
		sum->hier += work->total[node].hier;
		sum->calls += work->total[node].calls;
	}
}

static bool is_zero(const struct entity_sum *sum)
{
	/* Decayed averages are not quite 0. */
	return sum->self < 1e-6 && sum->hier < 1e-6 && sum->count < 1e-9;
}

static int by_hier_up(const void *a, const void *b)
{
	const struct zone_row *x = a, *y = b;

	if (x->hier_ms != y->hier_ms)
		return x->hier_ms < y->hier_ms ? -1 : 1;
	if (x->zone != y->zone)
		return x->zone < y->zone ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static int by_hier_down(const void *a, const void *b)
{
	return by_hier_up(b, a);
}

/* Adds the rows of all entities with values, sorted. */
static void put_rows(struct zone_report *report, const struct report_work *work,
	enum zone_row_kind kind, const struct entity_sum *sum,
	int (*order)(const void *, const void *))
{
	size_t first = report->row_count;

	for (uint32_t e = 0; e < work->entity_count; e++)
		if (!is_zero(&sum[e]))
			report_put_row(report, work, kind, e, &sum[e]);
	qsort(report->row + first, report->row_count - first, sizeof(*report->row), order);
}

static void put_graph(
	struct zone_report *report, const struct report_work *work, const struct graph *graph)
{
	put_rows(report, work, ZONE_ROW_PARENT, graph->parent, by_hier_up);
	report->focus_row = (int)report->row_count;
	report->query.focus_depth = work->entity[graph->focus].depth;
	report_put_row(report, work, ZONE_ROW_FOCUS, graph->focus, &graph->self);
	if (!is_zero(&graph->recursion))
		report_put_row(report, work, ZONE_ROW_RECURSION, graph->focus, &graph->recursion)
			->number = graph->depth;
	put_rows(report, work, ZONE_ROW_CHILD, graph->child, by_hier_down);
}

static uint32_t focus_of(const struct report_work *work)
{
	uint32_t zone = work->query.focus;
	uint32_t e = work->first_entity[zone];
	uint32_t depths = work->first_entity[zone + 1] - e;

	return e + (work->query.focus_depth < depths ? work->query.focus_depth : depths - 1);
}

bool report_graph(struct zone_report *report, const struct report_work *work)
{
	struct graph graph = {.focus = focus_of(work)};
	bool is_deep = work->query.mode == ZONE_MODE_DESCENDANTS, is_made;

	graph.sight = calloc(work->node_count, sizeof(*graph.sight));
	graph.parent = calloc(work->entity_count, sizeof(*graph.parent));
	graph.child = calloc(work->entity_count, sizeof(*graph.child));
	report->row = calloc((size_t)work->entity_count * 2 + 2, sizeof(*report->row));
	is_made = graph.sight && graph.parent && graph.child && report->row;
	for (uint32_t i = 1; is_made && i < work->node_count; i++) {
		if (work->entity_of[i] == ENTITY_NONE)
			continue;
		graph.sight[i] = see(work, &graph, i);
		add_node(work, &graph, i);
		if (is_deep)
			add_descendant(work, &graph, i);
		else
			add_child(work, &graph, i);
	}
	if (is_made)
		put_graph(report, work, &graph);
	free(graph.sight);
	free(graph.parent);
	free(graph.child);
	return is_made;
}
