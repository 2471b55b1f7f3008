/*
 * The call graph's entries and lines, made from arcs with figures.
 *
 * Figures of entries are sums over arcs.  An entry stays if it or one of its arcs has figures;
 * entries are ordered (callgraph_order.c).  Lines of the entries to show are drafted from all arcs
 * and merged, and zeros are dropped (callgraph_lines.c).  Lines are ordered within their entries,
 * and both are copied out once per metric.
 */
#include "analysis/callgraph_layout.h"

#include <stdlib.h>

#include "analysis/callgraph_layout_state.h"
#include "base/alloc.h"
#include "base/sort.h"

static void layout_add_cycles(struct layout *l)
{
	size_t entity_count = l->arcs->entity_count;

	l->cycle_of_unit = xcalloc(l->units->count, sizeof(*l->cycle_of_unit));
	l->entity = xcalloc(entity_count + l->units->count, sizeof(*l->entity));
	l->slot_count = entity_count;
	for (size_t i = 0; i < l->units->count; i++) {
		l->cycle_of_unit[i] = NO_ID;
		if (l->units->size[i] <= 1)
			continue;
		l->entity[l->slot_count] = NO_ID;
		l->cycle_of_unit[i] = (uint32_t)l->slot_count++;
	}
	for (uint32_t i = 0; i < entity_count; i++) {
		uint32_t cycle = layout_cycle_of(l, i);

		l->entity[i] = i;
		if (cycle == NO_ID)
			continue;
		uint32_t first = l->entity[cycle];
		if (first == NO_ID ||
			entity_compare(&l->arcs->entities[i], &l->arcs->entities[first]) < 0)
			l->entity[cycle] = i;
	}
}

static void layout_init(struct layout *l)
{
	layout_add_cycles(l);
	l->times = xcalloc(l->slot_count * l->metric_count, sizeof(*l->times));
	l->outside = xcalloc(l->slot_count, sizeof(*l->outside));
	l->inside = xcalloc(l->slot_count, sizeof(*l->inside));
	l->is_kept = xcalloc(l->slot_count, sizeof(*l->is_kept));
}

static void layout_deinit(struct layout *l)
{
	free(l->cycle_of_unit);
	free(l->entity);
	free(l->times);
	free(l->outside);
	free(l->inside);
	vec_deinit(&l->drafts);
	vec_deinit(&l->draft_times);
	free(l->is_kept);
	free(l->order);
	free(l->entry);
}

static void layout_sum_times(struct layout *l, size_t k)
{
	const struct call_figures *f = &l->figures[k];

	for (size_t i = 0; i < l->arcs->entity_count; i++)
		l->times[i * l->metric_count + k].self = f->self[i];
	for (size_t i = 0; i < l->arcs->count; i++) {
		const struct entity_pair *arc = &l->arcs->arcs[i];

		if (arc->caller != NO_ID && call_units_crosses(l->units, arc))
			l->times[arc->caller * l->metric_count + k].children +=
				f->times[i].self + f->times[i].children;
	}
	for (uint32_t i = 0; i < l->arcs->entity_count; i++) {
		uint32_t cycle = layout_cycle_of(l, i);

		if (cycle != NO_ID)
			times_add(&l->times[cycle * l->metric_count + k],
				&l->times[i * l->metric_count + k]);
	}
}

/* Both counts are known if any arc's count is. */
static void layout_sum_calls(struct layout *l)
{
	for (size_t i = 0; l->arcs->calls && i < l->arcs->count; i++) {
		const struct entity_pair *arc = &l->arcs->arcs[i];
		uint32_t cycle = layout_cycle_of(l, arc->callee);
		bool crosses = call_units_crosses(l->units, arc);
		struct callgraph_calls calls = l->arcs->calls[i];

		l->outside[arc->callee].is_known |= calls.is_known;
		if (crosses)
			calls_add(&l->outside[arc->callee], calls);
		else if (arc->caller == arc->callee)
			calls_add(&l->inside[arc->callee], calls);
		if (cycle == NO_ID)
			continue;
		l->outside[cycle].is_known |= calls.is_known;
		calls_add(crosses ? &l->outside[cycle] : &l->inside[cycle], calls);
	}
	for (size_t i = 0; i < l->slot_count; i++)
		l->inside[i].is_known = l->outside[i].is_known;
}

/* Whether the lines of an arc between units are not all zero. */
static bool arc_has_line(const struct layout *l, size_t arc)
{
	if (call_arcs_calls(l->arcs, arc).count != 0)
		return true;
	for (size_t k = 0; k < l->metric_count; k++)
		if (!times_are_zero(&l->figures[k].times[arc], 1))
			return true;
	return false;
}

static void layout_keep(struct layout *l)
{
	for (uint32_t i = 0; i < l->slot_count; i++)
		l->is_kept[i] = i >= l->arcs->entity_count || layout_cycle_of(l, i) != NO_ID ||
				l->outside[i].count != 0 || l->inside[i].count != 0 ||
				!times_are_zero(&l->times[i * l->metric_count], l->metric_count);
	for (size_t i = 0; i < l->arcs->count; i++) {
		const struct entity_pair *arc = &l->arcs->arcs[i];

		if (!call_units_crosses(l->units, arc) || !arc_has_line(l, i))
			continue;
		l->is_kept[arc->callee] = true;
		if (arc->caller != NO_ID)
			l->is_kept[arc->caller] = true;
	}
}

static int names_compare(const void *a, const void *b, void *layout)
{
	const struct entity *entities = ((const struct layout *)layout)->arcs->entities;

	return entity_compare(&entities[*(const uint32_t *)a], &entities[*(const uint32_t *)b]);
}

/* [entity]: its place by name, from 1. */
static uint32_t *layout_rank_names(struct layout *l)
{
	uint32_t count = (uint32_t)l->arcs->entity_count;
	uint32_t *sorted = xcalloc(count, sizeof(*sorted)), *rank = xcalloc(count, sizeof(*rank));

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), names_compare, l);
	for (uint32_t i = 0; i < count; i++)
		rank[sorted[i]] = i + 1;
	free(sorted);
	return rank;
}

/* Sorts drafts by name, <spontaneous> first. */
static void sort_by_name(struct layout *l, struct sort_item *items)
{
	uint32_t *rank = layout_rank_names(l);

	for (size_t i = 0; i < l->drafts.count; i++) {
		uint32_t entity = l->drafts.data[items[i].index].entity;
		items[i].key = entity == NO_ID ? 0 : rank[entity];
	}
	sort_items(items, l->drafts.count);
	free(rank);
}

/* By entry, then part; lines that have times first. */
static uint64_t draft_key(const struct layout *l, const struct draft *d)
{
	uint64_t part = (uint64_t)l->entry[d->slot] * CALLGRAPH_PART_COUNT + d->part;

	return part << 1 | !d->has_times;
}

/*
 * The order of lines: by entry, part, times and calls, both descending, and name.  Sorted from the
 * least significant of them to the most, as each sort keeps the order before it.
 */
static struct sort_item *layout_sort_drafts(struct layout *l)
{
	size_t count = l->drafts.count;
	struct sort_item *items = xcalloc(count, sizeof(*items));

	for (uint32_t i = 0; i < count; i++)
		items[i].index = i;
	sort_by_name(l, items);
	for (size_t i = 0; i < count; i++)
		items[i].key = ~l->drafts.data[items[i].index].calls.count;
	sort_items(items, count);
	for (size_t k = l->arcs->order_count; k-- > 0;) {
		for (size_t i = 0; i < count; i++) {
			const struct call_times *times = &draft_times(l, items[i].index)[k];
			items[i].key = sort_key_descending(layout_order_weight(l, times));
		}
		sort_items(items, count);
	}
	for (size_t i = 0; i < count; i++)
		items[i].key = draft_key(l, &l->drafts.data[items[i].index]);
	sort_items(items, count);
	return items;
}

static void layout_copy_lines(const struct layout *l, const struct sort_item *order, size_t k,
	struct callgraph_line *lines)
{
	for (size_t i = 0; i < l->drafts.count; i++) {
		const struct draft *d = &l->drafts.data[order[i].index];
		const struct call_times *times = &draft_times(l, order[i].index)[k];

		lines[i] = (struct callgraph_line){
			.entity = d->entity,
			.entry = d->entity == NO_ID ? NO_ID : l->entry[d->entity],
			.has_times = d->has_times,
			.self = times->self,
			.children = times->children,
			.calls = d->calls,
			.of = d->of,
		};
	}
}

/* Numbers cycles in the order of their entries. */
static void layout_copy_entries(
	const struct layout *l, size_t k, struct callgraph *g, struct callgraph_entry *entries)
{
	for (uint32_t i = 0; i < l->entry_count; i++) {
		uint32_t slot = l->order[i], cycle = layout_cycle_of(l, slot);
		bool is_cycle = slot >= l->arcs->entity_count;
		const struct call_times *times = &l->times[slot * l->metric_count + k];

		entries[i] = (struct callgraph_entry){
			.entity = is_cycle ? NO_ID : slot,
			.cycle = is_cycle	  ? (uint32_t)++g->cycle_count
				 : cycle == NO_ID ? 0
						  : entries[l->entry[cycle]].cycle,
			.self = times->self,
			.children = times->children,
			.outside = l->outside[slot],
			.inside = l->inside[slot],
		};
		g->has_calls |= l->outside[slot].is_known;
	}
}

static void layout_copy_ranges(
	const struct layout *l, const struct sort_item *order, struct callgraph_entry *entries)
{
	uint32_t line = 0;

	for (uint32_t i = 0; i < l->shown_count; i++)
		for (enum callgraph_part part = 0; part < CALLGRAPH_PART_COUNT; part++) {
			entries[i].parts[part].first = line;
			while (line < l->drafts.count &&
				l->entry[l->drafts.data[order[line].index].slot] == i &&
				l->drafts.data[order[line].index].part == part)
				line++;
			entries[i].parts[part].end = line;
		}
}

static const struct entity *layout_name_cycles(const struct layout *l, struct arena *arena)
{
	size_t count = l->slot_count - l->arcs->entity_count;
	struct entity *cycles = ARENA_ARRAY(arena, struct entity, count);

	for (size_t i = 0; i < count; i++)
		cycles[i] = (struct entity){
			.name = str_from(arena_printf(arena, "<cycle %zu as a whole>", i + 1)),
			.occurrence = 1};
	return cycles;
}

static struct callgraph *layout_graph(
	const struct layout *l, const struct sort_item *order, size_t k, struct arena *arena)
{
	struct callgraph *g = ARENA_NEW(arena, struct callgraph);
	struct callgraph_entry *entries =
		ARENA_ARRAY(arena, struct callgraph_entry, l->entry_count);
	struct callgraph_line *lines = ARENA_ARRAY(arena, struct callgraph_line, l->drafts.count);

	g->entities = l->arcs->entities;
	g->total = l->figures[k].total;
	g->entries = entries;
	g->entry_count = l->entry_count;
	g->shown_count = l->shown_count;
	g->lines = lines;
	g->line_count = l->drafts.count;
	layout_copy_entries(l, k, g, entries);
	layout_copy_ranges(l, order, entries);
	layout_copy_lines(l, order, k, lines);
	return g;
}

struct callgraph *callgraph_layout(const struct call_arcs *arcs, const struct call_units *units,
	const struct call_figures *figures, size_t count, size_t limit, struct arena *arena)
{
	const struct callgraph **others = ARENA_ARRAY(arena, const struct callgraph *, count);
	struct layout l = {.arcs = arcs, .units = units, .figures = figures, .metric_count = count};
	struct callgraph *graph;

	layout_init(&l);
	for (size_t k = 0; k < count; k++)
		layout_sum_times(&l, k);
	layout_sum_calls(&l);
	layout_keep(&l);
	layout_order(&l);
	l.shown_count = limit && limit < l.entry_count ? limit : l.entry_count;
	layout_draft(&l);
	struct sort_item *order = layout_sort_drafts(&l);
	graph = layout_graph(&l, order, 0, arena);
	graph->cycles = layout_name_cycles(&l, arena);
	for (size_t k = 1; k < count; k++) {
		struct callgraph *other = layout_graph(&l, order, k, arena);

		other->cycles = graph->cycles;
		others[k - 1] = other;
	}
	graph->others = others;
	graph->other_count = count - 1;
	free(order);
	layout_deinit(&l);
	return graph;
}
