/*
 * Values of zones frame by frame, and their order statistics.  A frame holds self times of nodes; a
 * zone's hierarchical time in it is the sum over all its nodes and all nodes below these, so each
 * frame is processed once.
 */
#include <stdlib.h>
#include <string.h>

#include "zonereport/history_state.h"

bool history_chosen(const struct history_node *node, struct zone_choice choice)
{
	return node->place.zone == choice.zone && choice.zone != 0 &&
	       (choice.depth == ZONE_DEPTH_ALL || node->recursion == choice.depth) &&
	       (choice.slot == ZONE_SLOT_ALL || node->place.slot == choice.slot);
}

/* For each node, whether it counts; the caller frees it.  NULL: out of memory. */
static uint8_t *nodes_of(
	const struct zone_history *history, struct zone_choice choice, enum zone_measure measure)
{
	uint8_t *is_in = calloc(history->node_count, 1);

	if (!is_in || !history->node)
		return is_in;
	for (uint32_t i = 1; i < history->node_count; i++) {
		const struct history_node *node = &history->node[i];

		is_in[i] = history_chosen(node, choice);
		if (measure == ZONE_HIER && node->place.parent < i && is_in[node->place.parent])
			is_in[i] = 1;
	}
	return is_in;
}

static float frame_value(const struct zone_history *history, const struct zonewire_tick *tick,
	const uint8_t *is_in, uint32_t slot, enum zone_measure measure)
{
	const struct zonewire_delta *delta = frame_deltas(tick);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tick->delta_count; i++) {
		if (delta[i].node >= history->node_count || !is_in[delta[i].node])
			continue;
		if (measure == ZONE_COUNT)
			sum += delta[i].entries;
		else if (!history_is_frameless(history, delta[i].node, slot))
			sum += delta[i].self_ticks;
	}
	return (float)(measure == ZONE_COUNT ? (double)sum : zone_history_ms(history, sum));
}

size_t zone_history_series(const struct zone_history *history, struct zone_choice choice,
	enum zone_measure measure, float *values, size_t capacity)
{
	size_t count = history->ring.count < capacity ? history->ring.count : capacity;
	uint8_t *is_in = nodes_of(history, choice, measure);

	if (!is_in)
		return 0;
	for (size_t i = 0; i < count; i++)
		values[i] = frame_value(history, frame_ring_get(&history->ring, count - 1 - i),
			is_in, choice.slot, measure);
	free(is_in);
	return count;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

bool zone_history_stats(const struct zone_history *history, struct zone_choice choice,
	enum zone_measure measure, struct zone_stats *stats)
{
	size_t frames = history->ring.count, count;
	float *values = frames ? malloc(frames * sizeof(*values)) : NULL;
	double sum = 0;

	*stats = (struct zone_stats){0};
	if (!values)
		return false;
	count = zone_history_series(history, choice, measure, values, frames);
	if (count == 0) {
		free(values);
		return false;
	}
	qsort(values, count, sizeof(*values), by_value);
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	*stats = (struct zone_stats){.frames = count,
		.min = values[0],
		.max = values[count - 1],
		.mean = sum / (double)count,
		.median = ((double)values[(count - 1) / 2] + values[count / 2]) / 2,
		.p95 = values[(count * 95 + 99) / 100 - 1]};
	free(values);
	return true;
}

/* ---- all zones at once ---- */

struct graph {
	uint32_t *row_of; /* [zone_count] row + 1 */
	uint32_t *zone;	  /* [rows] */
	uint32_t rows;
	float *values; /* [rows][frames] */
	size_t frames;
	uint32_t slot;
};

/* The zone of a delta if it counts; 0: none. */
static uint32_t delta_zone(const struct zone_history *history, const struct graph *graph,
	const struct zonewire_delta *delta)
{
	const struct history_node *node = &history->node[delta->node];

	if (delta->node >= history->node_count || node->place.zone >= history->zone_count ||
		history_is_frameless(history, delta->node, graph->slot) ||
		(graph->slot != ZONE_SLOT_ALL && node->place.slot != graph->slot))
		return 0;
	return node->place.zone;
}

/* Assigns a row to each zone with activity in the frame. */
static void graph_rows(const struct zone_history *history, struct graph *graph, size_t ago)
{
	const struct zonewire_tick *tick = frame_ring_get(&history->ring, ago);

	for (uint32_t i = 0; i < tick->delta_count; i++) {
		uint32_t zone = delta_zone(history, graph, &frame_deltas(tick)[i]);

		if (zone == 0 || graph->row_of[zone] != 0)
			continue;
		graph->zone[graph->rows++] = zone;
		graph->row_of[zone] = graph->rows;
	}
}

static void graph_fill(const struct zone_history *history, struct graph *graph, size_t ago)
{
	const struct zonewire_tick *tick = frame_ring_get(&history->ring, ago);
	size_t column = graph->frames - 1 - ago;

	for (uint32_t i = 0; i < tick->delta_count; i++) {
		const struct zonewire_delta *delta = &frame_deltas(tick)[i];
		uint32_t zone = delta_zone(history, graph, delta);

		if (zone != 0)
			graph->values[(graph->row_of[zone] - 1) * graph->frames + column] +=
				(float)zone_history_ms(history, delta->self_ticks);
	}
}

static bool graph_make(const struct zone_history *history, struct graph *graph)
{
	for (size_t ago = 0; ago < graph->frames; ago++)
		graph_rows(history, graph, ago);
	graph->values = calloc((size_t)graph->rows * graph->frames + 1, sizeof(*graph->values));
	if (!graph->values)
		return false;
	for (size_t ago = 0; ago < graph->frames; ago++)
		graph_fill(history, graph, ago);
	return true;
}

bool zone_history_graph(const struct zone_history *history, uint32_t slot, size_t frames,
	void (*callback)(uint32_t zone, const float *values, size_t count, void *data), void *data)
{
	size_t count = frames < history->ring.count ? frames : history->ring.count;
	struct graph graph = {.frames = count, .slot = slot};
	bool is_made;

	graph.row_of = calloc(history->zone_count + 1, sizeof(*graph.row_of));
	graph.zone = calloc(history->zone_count + 1, sizeof(*graph.zone));
	is_made = graph.row_of && graph.zone && graph_make(history, &graph);
	for (uint32_t i = 0; is_made && i < graph.rows; i++)
		callback(graph.zone[i], graph.values + i * count, count, data);
	free(graph.row_of);
	free(graph.zone);
	free(graph.values);
	return is_made;
}
