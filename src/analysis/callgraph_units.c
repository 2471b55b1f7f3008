/*
 * Strongly connected components of the call graph.
 *
 * Tarjan, "Depth-first search and linear graph algorithms" (SIAM J. Comput. 1972): of the nodes on
 * the search's stack, each remembers the earliest one it can reach; one that reaches none before
 * itself closes a component.  A component is closed after everything that it calls, so numbers
 * assigned at closing decrease along arcs.  The path of the search is kept in an array, as a call
 * chain may be longer than the machine's stack is deep.
 */
#include "analysis/callgraph_layout.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Arcs by caller: those of entity e are callees[begin[e]] … callees[begin[e + 1] - 1]. */
struct adjacency {
	uint32_t *begin;
	uint32_t *callees;
};

static void adjacency_init(struct adjacency *a, const struct call_arcs *arcs)
{
	size_t count = arcs->entity_count;

	a->begin = xcalloc(count + 2, sizeof(*a->begin));
	a->callees = xcalloc(arcs->count + 1, sizeof(*a->callees));
	for (size_t i = 0; i < arcs->count; i++)
		if (arcs->arcs[i].caller != NO_ID)
			a->begin[arcs->arcs[i].caller + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		a->begin[i] += a->begin[i - 1];
	/* Filling moves begin[caller + 1] from the begin of its arcs to their end. */
	for (size_t i = 0; i < arcs->count; i++)
		if (arcs->arcs[i].caller != NO_ID)
			a->callees[a->begin[arcs->arcs[i].caller + 1]++] = arcs->arcs[i].callee;
}

static void adjacency_deinit(struct adjacency *a)
{
	free(a->begin);
	free(a->callees);
}

struct search {
	const struct adjacency *graph;
	struct call_units *units;
	uint32_t *seen;	    /* [entity]: when first seen, from 1; 0: not yet */
	uint32_t *earliest; /* [entity]: the earliest one on the stack that it is known to reach */
	uint32_t *next;	    /* [entity]: its next arc to follow */
	uint32_t *path;	    /* entities from the start of the search to the current one */
	size_t depth;
	uint32_t *open; /* entities seen and not yet in a unit, as seen */
	size_t open_count;
	uint32_t clock;
};

static void search_init(struct search *s, const struct adjacency *graph, struct call_units *units,
	size_t entity_count)
{
	*s = (struct search){.graph = graph, .units = units};
	s->seen = xcalloc(entity_count, sizeof(*s->seen));
	s->earliest = xcalloc(entity_count, sizeof(*s->earliest));
	s->next = xcalloc(entity_count, sizeof(*s->next));
	s->path = xcalloc(entity_count, sizeof(*s->path));
	s->open = xcalloc(entity_count, sizeof(*s->open));
}

static void search_deinit(struct search *s)
{
	free(s->seen);
	free(s->earliest);
	free(s->next);
	free(s->path);
	free(s->open);
}

static void search_enter(struct search *s, uint32_t entity)
{
	s->seen[entity] = s->earliest[entity] = ++s->clock;
	s->next[entity] = s->graph->begin[entity];
	s->path[s->depth++] = entity;
	s->open[s->open_count++] = entity;
	s->units->of[entity] = NO_ID;
}

/* Everything opened since the entity was opened is one unit. */
static void search_close(struct search *s, uint32_t entity)
{
	struct call_units *units = s->units;
	uint32_t member;

	do {
		member = s->open[--s->open_count];
		units->of[member] = (uint32_t)units->count;
		units->size[units->count]++;
	} while (member != entity);
	units->count++;
}

static void search_reaches(struct search *s, uint32_t entity, uint32_t when)
{
	if (when < s->earliest[entity])
		s->earliest[entity] = when;
}

/* Follows the next arc of the entity at the end of the path, or steps back from it. */
static void search_step(struct search *s)
{
	uint32_t entity = s->path[s->depth - 1];

	if (s->next[entity] < s->graph->begin[entity + 1]) {
		uint32_t callee = s->graph->callees[s->next[entity]++];

		if (s->seen[callee] == 0)
			search_enter(s, callee);
		else if (s->units->of[callee] == NO_ID)
			search_reaches(s, entity, s->seen[callee]);
		return;
	}
	s->depth--;
	if (s->earliest[entity] == s->seen[entity])
		search_close(s, entity);
	else
		search_reaches(s, s->path[s->depth - 1], s->earliest[entity]);
}

void call_units_init(struct call_units *units, const struct call_arcs *arcs)
{
	struct adjacency graph;
	struct search search;

	*units = (struct call_units){0};
	units->of = xcalloc(arcs->entity_count, sizeof(*units->of));
	units->size = xcalloc(arcs->entity_count, sizeof(*units->size));
	adjacency_init(&graph, arcs);
	search_init(&search, &graph, units, arcs->entity_count);
	for (uint32_t i = 0; i < arcs->entity_count; i++) {
		if (search.seen[i] == 0)
			search_enter(&search, i);
		while (search.depth > 0)
			search_step(&search);
	}
	search_deinit(&search);
	adjacency_deinit(&graph);
}

void call_units_deinit(struct call_units *units)
{
	free(units->of);
	free(units->size);
	*units = (struct call_units){0};
}

bool call_units_crosses(const struct call_units *units, const struct entity_pair *arc)
{
	return arc->caller == NO_ID || units->of[arc->caller] != units->of[arc->callee];
}
