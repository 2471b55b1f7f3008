/*
 * Missing callers, from a graph of functions and the jumps between them.
 *
 * Most pairs need no graph: the target of the call, which is decoded, is the function that runs.
 * From the targets of the others, the graph is followed level by level, so that each unit is read a
 * few times at most.  Then a search in a bounded part of it answers each different pair of
 * functions.
 */
#include "obj/tail_calls.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "obj/debug_info.h"
#include "obj/objfile.h"
#include "obj/symtab.h"

enum {
	/* Jumps from the function called to the farthest that is read. */
	LEVELS_MAX = 8,
	/* Functions and jumps of one search; where there are more, nothing is certain. */
	VISITED_MAX = 256,
	EDGES_MAX = 1024,
	/* Bytes before a return address that may be its call. */
	CALL_BYTES = 8,
	INSTRUCTION_MAX = 15,
};

/* A jump from one function to another. */
struct edge {
	uint64_t jump;	 /* an address in it */
	uint64_t target; /* of the jump */
	uint32_t to;	 /* node */
};

/* A function, by the address at which it is called. */
struct node {
	uint64_t start;
	const struct debug_caller *caller; /* NULL: it has no debug information */
	uint32_t first, count;		   /* edges */
	bool is_whole;			   /* it jumps nowhere else */
};

/* A pair whose inner function is not the one called. */
struct doubt {
	uint32_t pair, from; /* from: node */
	const struct debug_caller *to;
	uint64_t target;
};

struct tail_graph {
	struct objfile *object;
	const struct arch *arch;
	struct debug_info *info;
	const struct symtab *symtab;
	VEC(struct node) nodes;
	VEC(struct edge) edges;
	struct map node_at;	/* start → nodes */
	VEC(uint64_t) frontier; /* starts that have no node yet */
	VEC(struct doubt) doubts;
};

/* ---- code ---- */

static bool read_code(const struct tail_graph *g, uint64_t obj_addr, uint8_t *bytes, size_t size)
{
	uint64_t file_off, left;

	return objfile_place(g->object, obj_addr, &file_off, &left) && left >= size &&
	       objfile_read(g->object, file_off, bytes, size);
}

/* Whether a function begins there; *is_stub: only a jump to another object's. */
static bool is_start(const struct tail_graph *g, uint64_t obj_addr, bool *is_stub)
{
	struct symbol symbol;

	if (!symtab_find(g->symtab, obj_addr, &symbol))
		return false;
	*is_stub = symbol.is_plt;
	return symbol.is_plt || symbol.start == obj_addr;
}

/* The function of the object that the call at the address calls directly. */
static bool called_function(const struct tail_graph *g, uint64_t caller, uint64_t *start)
{
	uint8_t bytes[CALL_BYTES];
	struct arch_target target;
	uint64_t return_addr = caller + 1;
	bool is_stub;

	if (caller < CALL_BYTES || !read_code(g, return_addr - CALL_BYTES, bytes, CALL_BYTES) ||
		!g->arch->call_target(bytes, CALL_BYTES, return_addr, &target) || target.is_slot)
		return false;
	*start = target.addr;
	return is_start(g, target.addr, &is_stub) && !is_stub;
}

static bool is_direct_jump(const struct arch_instruction *instruction)
{
	return instruction->has_target &&
	       (instruction->kind == INSTRUCTION_JUMP || instruction->kind == INSTRUCTION_BRANCH);
}

/* Decodes the jump of size bytes that ends at the address. */
static bool decode_before(const struct tail_graph *g, uint64_t end, size_t size, struct edge *edge)
{
	uint8_t bytes[INSTRUCTION_MAX];
	bool is_stub;

	if (end < size || !read_code(g, end - size, bytes, size))
		return false;
	struct arch_instruction i = g->arch->decode(bytes, size, end - size);
	*edge = (struct edge){.jump = end - 1, .target = i.target};
	return i.size == size && is_direct_jump(&i) && is_start(g, i.target, &is_stub);
}

static bool decode_at(const struct tail_graph *g, uint64_t jump, struct edge *edge)
{
	uint8_t bytes[INSTRUCTION_MAX] = {0};
	size_t size = INSTRUCTION_MAX;
	bool is_stub;

	while (size && !read_code(g, jump, bytes, size))
		size--;
	if (size == 0)
		return false;
	struct arch_instruction i = g->arch->decode(bytes, size, jump);
	*edge = (struct edge){.jump = jump, .target = i.target};
	return is_direct_jump(&i) && is_start(g, i.target, &is_stub);
}

/* Where a tail call leads; false: it is not a direct jump. */
static bool decode_call(
	const struct tail_graph *g, const struct debug_tail_call *call, struct edge *edge)
{
	/* A jump with four bytes of distance, the same with a condition, or with one byte. */
	static const uint8_t sizes[] = {5, 6, 2};

	if (call->jump)
		return decode_at(g, call->jump, edge);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (decode_before(g, call->end, sizes[i], edge))
			return true;
	return false;
}

/* ---- the graph ---- */

static int addr_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Puts addresses in order, without duplicates; returns how many there are. */
static size_t sort_addrs(uint64_t *addrs, size_t count)
{
	size_t distinct = 0;

	if (count)
		qsort(addrs, count, sizeof(*addrs), addr_compare);
	for (size_t i = 0; i < count; i++)
		if (distinct == 0 || addrs[i] != addrs[distinct - 1])
			addrs[distinct++] = addrs[i];
	return distinct;
}

static uint32_t add_node(struct tail_graph *g, uint64_t start)
{
	bool added;
	uint32_t i = *map_at(&g->node_at, start, 0, (uint32_t)g->nodes.count, &added);

	if (added) {
		vec_push(&g->nodes, (struct node){.start = start});
		vec_push(&g->frontier, start);
	}
	return i;
}

/* Adds the jumps of a function. */
static void expand(struct tail_graph *g, uint64_t start, const struct debug_caller *caller)
{
	uint32_t at = 0;
	struct node node = {.start = start,
		.caller = caller,
		.first = (uint32_t)g->edges.count,
		.is_whole = caller && caller->is_whole};
	bool is_stub = false;

	(void)map_get(&g->node_at, start, 0, &at);
	/* A stub leads out of the object. */
	if (caller == NULL)
		node.is_whole = is_start(g, start, &is_stub) && is_stub;
	for (size_t i = 0; caller && i < caller->count; i++) {
		struct edge edge;

		if (decode_call(g, &caller->calls[i], &edge)) {
			edge.to = add_node(g, edge.target);
			vec_push(&g->edges, edge);
		} else {
			node.is_whole = false;
		}
	}
	node.count = (uint32_t)g->edges.count - node.first;
	g->nodes.data[at] = node;
}

/* Expands the nodes of one level; those that they lead to are the next. */
static void expand_level(struct tail_graph *g)
{
	size_t count = sort_addrs(g->frontier.data, g->frontier.count);
	uint64_t *starts = xcalloc(count, sizeof(*starts));
	const struct debug_caller **callers = xcalloc(count, sizeof(*callers));

	memcpy(starts, g->frontier.data, count * sizeof(*starts));
	g->frontier.count = 0;
	debug_info_callers(g->info, starts, count, callers);
	for (size_t i = 0; i < count; i++)
		expand(g, starts[i], callers[i]);
	free(callers);
	free(starts);
}

static void find_doubts(struct tail_graph *g, const struct tail_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct symbol symbol;
		uint64_t start;

		if (!called_function(g, pairs[i].caller, &start) ||
			(symtab_find(g->symtab, pairs[i].callee, &symbol) && symbol.start == start))
			continue;
		vec_push(&g->doubts, (struct doubt){.pair = (uint32_t)i, .target = start});
	}
}

/* Finds the inner functions, and the graph of those that are called. */
static void build(struct tail_graph *g, const struct tail_pair *pairs)
{
	uint64_t *addrs = xcalloc(g->doubts.count, sizeof(*addrs));

	for (size_t i = 0; i < g->doubts.count; i++)
		addrs[i] = pairs[g->doubts.data[i].pair].callee;
	size_t count = sort_addrs(addrs, g->doubts.count);
	const struct debug_caller **callers = xcalloc(count, sizeof(*callers));
	debug_info_callers(g->info, addrs, count, callers);
	for (size_t i = 0; i < g->doubts.count; i++) {
		struct doubt *d = &g->doubts.data[i];
		const uint64_t *at =
			bsearch(&pairs[d->pair].callee, addrs, count, sizeof(*addrs), addr_compare);

		d->to = callers[at - addrs];
		d->from = add_node(g, d->target);
	}
	for (int level = 0; level < LEVELS_MAX && g->frontier.count; level++)
		expand_level(g);
	free(callers);
	free(addrs);
}

/* ---- the way between two functions ---- */

/* A part of the graph: the nodes that a search has met, and the edges between them. */
struct search {
	const struct tail_graph *g;
	const struct debug_caller *goal;
	uint32_t nodes[VISITED_MAX];
	uint32_t first_in[VISITED_MAX]; /* an edge that leads there, plus 1; 0: none */
	bool leads[VISITED_MAX];	/* to the goal */
	size_t count;
	struct search_edge {
		uint32_t from, to; /* places in nodes */
		uint32_t next_in;  /* another edge to the same node, as above */
		const struct edge *edge;
	} edges[EDGES_MAX];
	size_t edge_count;
	struct map places; /* node → place */
};

static const struct node *node_of(const struct search *s, uint32_t place)
{
	return &s->g->nodes.data[s->nodes[place]];
}

static bool is_goal(const struct search *s, uint32_t place)
{
	return node_of(s, place)->caller == s->goal;
}

/* The place of a node, VISITED_MAX if there is no room. */
static uint32_t visit(struct search *s, uint32_t node)
{
	bool added;

	if (s->count == VISITED_MAX)
		return VISITED_MAX;
	uint32_t place = *map_at(&s->places, node, 0, (uint32_t)s->count, &added);
	if (added)
		s->nodes[s->count++] = node;
	return place;
}

/* Adds the edges of a place; false: it may lead anywhere, or there are too many. */
static bool follow(struct search *s, uint32_t place)
{
	const struct node *node = node_of(s, place);

	for (uint32_t i = 0; i < node->count; i++) {
		const struct edge *edge = &s->g->edges.data[node->first + i];
		uint32_t to = visit(s, edge->to);

		if (to == VISITED_MAX || s->edge_count == EDGES_MAX)
			return false;
		s->edges[s->edge_count++] = (struct search_edge){place, to, s->first_in[to], edge};
		s->first_in[to] = (uint32_t)s->edge_count;
	}
	return node->is_whole;
}

/* Marks the places that lead to the goal, from there backwards. */
static void mark_leading(struct search *s, uint32_t goal)
{
	uint32_t queue[VISITED_MAX];
	size_t done = 0, count = 0;

	queue[count++] = goal;
	s->leads[goal] = true;
	while (done < count) {
		for (uint32_t e = s->first_in[queue[done++]]; e; e = s->edges[e - 1].next_in) {
			uint32_t from = s->edges[e - 1].from;

			if (s->leads[from])
				continue;
			s->leads[from] = true;
			queue[count++] = from;
		}
	}
}

/* The only edge of a place that leads to the goal; NULL: there are several. */
static const struct search_edge *only_out(const struct search *s, uint32_t place)
{
	const struct search_edge *only = NULL;

	for (size_t i = 0; i < s->edge_count; i++) {
		const struct search_edge *e = &s->edges[i];
		if (e->from != place || !s->leads[e->to])
			continue;
		if (only)
			return NULL;
		only = e;
	}
	return only;
}

static const struct search_edge *only_in(const struct search *s, uint32_t place)
{
	uint32_t e = s->first_in[place];

	return e && s->edges[e - 1].next_in == 0 ? &s->edges[e - 1] : NULL;
}

/* Clones of one function, and its parts, are that function: its jumps to itself do not count. */
static bool is_within_function(const struct search *s, const struct search_edge *e)
{
	const struct debug_caller *from = node_of(s, e->from)->caller,
				  *to = node_of(s, e->to)->caller;

	return from->source_unit == to->source_unit && from->source_entry == to->source_entry;
}

static uint32_t add_jump(
	const struct search *s, const struct search_edge *e, uint64_t *jumps, uint32_t count)
{
	if (is_within_function(s, e))
		return count;
	jumps[count] = e->edge->jump;
	return count + 1;
}

/* The edges that all ways begin with, then those that all end with. */
static uint32_t common_jumps(const struct search *s, uint32_t goal, uint64_t *jumps)
{
	const struct search_edge *ends[TAIL_CHAIN_MAX], *e;
	uint32_t place = 0, count = 0, last = goal;
	size_t steps = 0, end_count = 0;

	for (; place != goal && steps < TAIL_CHAIN_MAX; steps++) {
		e = only_out(s, place);
		if (e == NULL)
			break;
		count = add_jump(s, e, jumps, count);
		place = e->to;
	}
	for (; last != place && steps < TAIL_CHAIN_MAX; steps++) {
		e = only_in(s, last);
		if (e == NULL)
			break;
		ends[end_count++] = e;
		last = e->from;
	}
	while (end_count)
		count = add_jump(s, ends[--end_count], jumps, count);
	return count;
}

static uint32_t search_run(struct search *s, uint32_t from, uint64_t *jumps)
{
	uint32_t goal = VISITED_MAX;

	(void)visit(s, from);
	for (uint32_t place = 0; place < s->count; place++) {
		if (is_goal(s, place))
			goal = place;
		else if (!follow(s, place))
			return 0;
	}
	if (goal == VISITED_MAX || goal == 0)
		return 0;
	mark_leading(s, goal);
	return common_jumps(s, goal, jumps);
}

static struct tail_chain find_chain(
	const struct tail_graph *g, const struct doubt *d, struct arena *arena)
{
	uint64_t jumps[TAIL_CHAIN_MAX];
	struct tail_chain chain = {0};

	if (d->to == NULL)
		return chain;
	struct search *s = xalloc(sizeof(*s));
	s->g = g;
	s->goal = d->to;
	chain.count = search_run(s, d->from, jumps);
	map_deinit(&s->places);
	free(s);
	if (chain.count)
		chain.jumps = memcpy(ARENA_ARRAY(arena, uint64_t, chain.count), jumps,
			chain.count * sizeof(*jumps));
	return chain;
}

static int doubt_compare(const void *pa, const void *pb)
{
	const struct doubt *a = pa, *b = pb;

	return COMPARE(a->from, b->from) ?: COMPARE((uintptr_t)a->to, (uintptr_t)b->to);
}

/* Each pair of functions is searched once. */
static void answer(struct tail_graph *g, struct arena *arena, struct tail_chain *chains)
{
	struct tail_chain chain = {0};

	if (g->doubts.count)
		qsort(g->doubts.data, g->doubts.count, sizeof(*g->doubts.data), doubt_compare);
	for (size_t i = 0; i < g->doubts.count; i++) {
		const struct doubt *d = &g->doubts.data[i];

		if (i == 0 || doubt_compare(d, d - 1) != 0)
			chain = find_chain(g, d, arena);
		chains[d->pair] = chain;
	}
}

void tail_chains_find(struct objfile *object, struct debug_info *info, const struct symtab *symtab,
	const struct tail_pair *pairs, size_t count, struct arena *arena, struct tail_chain *chains)
{
	struct tail_graph g = {.object = object,
		.arch = arch_of_machine(objfile_machine(object)),
		.info = info,
		.symtab = symtab};

	for (size_t i = 0; i < count; i++)
		chains[i] = (struct tail_chain){0};
	if (g.arch == NULL || g.arch->decode == NULL || info == NULL)
		return;
	find_doubts(&g, pairs, count);
	if (g.doubts.count)
		build(&g, pairs);
	answer(&g, arena, chains);
	vec_deinit(&g.nodes);
	vec_deinit(&g.edges);
	map_deinit(&g.node_at);
	vec_deinit(&g.frontier);
	vec_deinit(&g.doubts);
}
