/*
 * The values of nodes in a report, and their entities: see report_work.h.  Children have higher
 * numbers than their parents, so an ascending walk sees parents first, and a descending walk has
 * everything below a node when it reaches the node.
 */
#include "zonereport/report_work.h"

#include <stdlib.h>
#include <string.h>

#include "zonereport/figures.h"

uint32_t report_above(const struct report_work *work, uint32_t node)
{
	uint32_t parent = work->history->node[node].place.parent;

	return parent == node ? 0 : parent;
}

bool report_is_outermost(const struct report_work *work, uint32_t node)
{
	return work->query.recursion == ZONE_SPREAD || work->history->node[node].same_above == 0;
}

static bool is_shown(const struct report_work *work, uint32_t node)
{
	const struct zone_place *place = &work->history->node[node].place;

	return place->zone != 0 &&
	       (work->query.slot == ZONE_SLOT_ALL || work->query.slot == place->slot);
}

/* ---- values ---- */

static void values_of_frame(struct report_work *work)
{
	struct zone_frame frame;

	if (!zone_history_frame(work->history, work->query.frame, &frame))
		return;
	for (uint32_t i = 0; i < frame.delta_count; i++) {
		const struct zonewire_delta *delta = &frame.delta[i];

		if (delta->node >= work->node_count || !is_shown(work, delta->node))
			continue;
		if (history_is_frameless(work->history, delta->node, work->query.slot))
			work->frameless += (double)delta->self_ticks;
		else
			work->value[delta->node].self += (double)delta->self_ticks;
		work->value[delta->node].count += delta->entries;
	}
}

static void values_of_average(struct report_work *work)
{
	for (uint32_t i = 1; i < work->node_count; i++) {
		struct node_value *value = &work->value[i];

		if (!is_shown(work, i))
			continue;
		*value = history_average(
			work->history, &work->history->node[i], work->query.average - 1);
		if (!history_is_frameless(work->history, i, work->query.slot))
			continue;
		work->frameless += value->self;
		*value = (struct node_value){.count = value->count};
	}
}

static void add_up(struct report_work *work)
{
	for (uint32_t i = work->node_count; i-- > 1;) {
		const struct node_value *value = &work->value[i];
		double calls = value->self > 0 ? value->count : 0;
		uint32_t above = report_above(work, i);

		work->total[i].hier += value->self;
		work->total[i].calls += calls;
		work->all.self += value->self;
		work->all.count += value->count;
		work->all.calls += calls;
		if (above == 0)
			continue;
		work->total[above].hier += work->total[i].hier;
		work->total[above].calls += work->total[i].calls;
	}
}

/* ---- entities ---- */

static uint32_t zones_of(const struct zone_history *history)
{
	uint32_t count = zone_history_zone_count(history);

	if (count <= ZONEWIRE_ZONE_GLOBAL)
		count = ZONEWIRE_ZONE_GLOBAL + 1;
	for (uint32_t i = 1; i < history->node_count; i++)
		if (history->node[i].place.zone >= count)
			count = history->node[i].place.zone + 1;
	return count;
}

/* Counts the entities of each zone, then sets the index of its first one. */
static void place_entities(struct report_work *work)
{
	uint32_t *first = work->first_entity, sum = 0;

	for (uint32_t i = 0; i < work->zone_count; i++)
		first[i] = 1;
	for (uint32_t i = 1; i < work->node_count; i++) {
		const struct history_node *node = &work->history->node[i];

		if (work->query.recursion == ZONE_SPREAD && is_shown(work, i) &&
			first[node->place.zone] <= node->recursion)
			first[node->place.zone] = node->recursion + 1;
	}
	for (uint32_t i = 0; i <= work->zone_count; i++) {
		uint32_t count = i < work->zone_count ? first[i] : 0;

		first[i] = sum;
		sum += count;
	}
	work->entity_count = sum;
}

static void name_entities(struct report_work *work)
{
	for (uint32_t zone = 0; zone < work->zone_count; zone++)
		for (uint32_t e = work->first_entity[zone]; e < work->first_entity[zone + 1]; e++) {
			work->entity[e].zone = zone;
			work->entity[e].depth = e - work->first_entity[zone];
		}
}

static void add_node_to_entity(struct report_work *work, uint32_t number)
{
	const struct history_node *node = &work->history->node[number];
	const struct node_value *value = &work->value[number];
	uint32_t depth = work->query.recursion == ZONE_SPREAD ? node->recursion : 0;
	uint32_t e = work->first_entity[node->place.zone] + depth;
	uint32_t above = report_above(work, number);
	struct entity *entity = &work->entity[e];

	work->entity_of[number] = e;
	entity->is_there = true;
	if (node->recursion > entity->number)
		entity->number = node->recursion;
	entity->self_root += figure_root(value->self_square);
	if (report_is_outermost(work, number))
		entity->hier_root += figure_root(value->hier_square);
	if (value->count > 0.25 && above != 0 && work->entity_of[above] != e)
		work->entity[work->entity_of[above]].has_children = true;
}

bool report_work_init(struct report_work *work, const struct zone_history *history,
	const struct zone_query *query)
{
	*work = (struct report_work){.history = history,
		.query = *query,
		.node_count = history->node ? history->node_count : 1,
		.zone_count = zones_of(history)};
	work->value = calloc(work->node_count, sizeof(*work->value));
	work->total = calloc(work->node_count, sizeof(*work->total));
	work->entity_of = malloc(work->node_count * sizeof(*work->entity_of));
	work->first_entity = calloc((size_t)work->zone_count + 1, sizeof(*work->first_entity));
	if (!work->value || !work->total || !work->entity_of || !work->first_entity)
		return false;
	place_entities(work);
	work->entity = calloc(work->entity_count, sizeof(*work->entity));
	if (!work->entity)
		return false;
	memset(work->entity_of, 0xff, work->node_count * sizeof(*work->entity_of));
	if (query->frame > 0 || query->average == 0)
		values_of_frame(work);
	else
		values_of_average(work);
	add_up(work);
	name_entities(work);
	for (uint32_t i = 1; i < work->node_count; i++)
		if (is_shown(work, i))
			add_node_to_entity(work, i);
	return true;
}

void report_work_deinit(struct report_work *work)
{
	free(work->value);
	free(work->total);
	free(work->entity_of);
	free(work->first_entity);
	free(work->entity);
}
