/*
 * Zones and events of threads, for the page.  See thread_marks.h.
 *
 * Events are what is counted rather than lasting: metrics of unit "count".  Left out are samples
 * and the lanes' own metric, which lanes show, entries of zones, which bars show, and what
 * processors count all the time, so that every sample has it.
 */
#include "page/thread_marks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/lanes.h"
#include "analysis/zone_bars.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "view/svg/colours.h"

#define SLICES_OF_ZONE 2u

static void put_zone(struct reply *reply, const struct profile *p, uint32_t function)
{
	static const struct svg_colours colours = {.by_function = true};
	struct entity entity = {.name = profile_string(p, p->functions[function].name),
		.module = profile_module(p, p->functions[function].object)};

	json_put_array(&reply->json);
	json_put_string(&reply->json, entity.name);
	json_put_string(&reply->json, entity.module);
	json_put_unsigned(&reply->json, svg_colour(&colours, &entity));
	json_put_end(&reply->json);
}

/* Puts "zones"; returns the place of each bar's zone there. */
static uint32_t *put_zones(struct reply *reply, const struct profile *p,
	const struct zone_bars *bars, struct arena *arena)
{
	uint32_t *number = xcalloc(p->function_count + 1, sizeof(*number)), count = 0;
	uint32_t *zone = ARENA_ARRAY(arena, uint32_t, bars->count);

	json_put_key(&reply->json, "zones");
	json_put_array(&reply->json);
	for (size_t i = 0; i < bars->count; i++) {
		uint32_t function = p->frames[p->stack_frame[bars->bars[i].stack].i].function.i;

		if (number[function] == 0) {
			number[function] = ++count;
			put_zone(reply, p, function);
		}
		zone[i] = number[function] - 1;
	}
	json_put_end(&reply->json);
	free(number);
	return zone;
}

static void put_bars(struct reply *reply, const struct profile *p, const struct zone_bars *bars)
{
	struct arena *arena = arena_create();
	uint32_t *thread = ARENA_ARRAY(arena, uint32_t, bars->count),
		 *depth = ARENA_ARRAY(arena, uint32_t, bars->count),
		 *count = ARENA_ARRAY(arena, uint32_t, bars->count),
		 *measured = ARENA_ARRAY(arena, uint32_t, bars->count);
	double *start = ARENA_ARRAY(arena, double, bars->count),
	       *end = ARENA_ARRAY(arena, double, bars->count),
	       *busy = ARENA_ARRAY(arena, double, bars->count);

	for (size_t i = 0; i < bars->count; i++) {
		const struct zone_bar *bar = &bars->bars[i];

		thread[i] = bar->thread;
		depth[i] = bar->depth;
		count[i] = bar->count;
		measured[i] = bar->is_measured;
		start[i] = (double)bar->start_ns;
		end[i] = (double)bar->end_ns;
		busy[i] = (double)bar->busy_ns;
	}
	reply_put_u32(reply, "bar_zone", put_zones(reply, p, bars, arena), bars->count);
	reply_put_u32(reply, "bar_thread", thread, bars->count);
	reply_put_u32(reply, "bar_depth", depth, bars->count);
	reply_put_u32(reply, "bar_count", count, bars->count);
	reply_put_u32(reply, "bar_measured", measured, bars->count);
	reply_put_f64(reply, "bar_start", start, bars->count);
	reply_put_f64(reply, "bar_end", end, bars->count);
	reply_put_f64(reply, "bar_busy", busy, bars->count);
	arena_destroy(arena);
}

/* ---- events ---- */

/* perf's names, also with its modifiers: "cycles:u", "cpu_core/cycles/". */
static bool is_counted_always(struct str name)
{
	static const char *const parts[] = {"cycles", "instructions", "cpu-clock", "task-clock"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (memmem(name.data, name.size, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* lanes: the metric that lanes show. */
static bool is_of_events(const struct profile *p, size_t metric, metric_id lanes)
{
	struct str name = profile_string(p, p->metrics[metric].name),
		   unit = profile_string(p, p->metrics[metric].unit);

	return str_equal(unit, STR("count")) && !metric_counts_samples(name, unit) &&
	       !str_equal(name, STR(ZONE_ENTRIES)) && p->total[metric] != 0 && metric != lanes.i &&
	       !is_counted_always(name);
}

struct events {
	VEC(uint32_t) thread, metric, slice;
	VEC(double) weight;
};

/* Adds the events of one metric; number: its place among the metrics of events. */
static void add_events(struct events *e, const struct report *report, size_t metric,
	uint32_t number, const uint32_t *threads, size_t thread_count,
	const struct time_slices *slices)
{
	const struct samples *s = &report->profile->samples;
	uint32_t *place = xcalloc(report->profile->thread_count, sizeof(*place));
	int64_t *weight = xcalloc(thread_count * slices->count, sizeof(*weight));

	for (size_t i = 0; i < thread_count; i++)
		place[threads[i]] = (uint32_t)i + 1;
	for (size_t i = 0; i < s->count; i++)
		if (s->weight[metric][i] && place[s->thread[i].i] &&
			selection_shows_sample(report->selection, i))
			time_slices_add(slices,
				weight + (place[s->thread[i].i] - 1) * (size_t)slices->count,
				s->time_ns[i], 0, s->weight[metric][i]);
	for (size_t i = 0; i < thread_count * slices->count; i++)
		if (weight[i]) {
			vec_push(&e->thread, threads[i / slices->count]);
			vec_push(&e->metric, number);
			vec_push(&e->slice, (uint32_t)(i % slices->count));
			vec_push(&e->weight, (double)weight[i]);
		}
	free(place);
	free(weight);
}

static void put_events(struct reply *reply, const struct report *report, const uint32_t *threads,
	size_t thread_count, const struct time_slices *slices)
{
	const struct profile *p = report->profile;
	metric_id lanes = lanes_metric(p, report->query.metric), chosen = report->query.metric;
	bool is_chosen = is_of_events(p, chosen.i, lanes);
	struct events e = {0};
	uint32_t number = 0;

	json_put_key(&reply->json, "events");
	json_put_array(&reply->json);
	for (size_t m = 0; m < p->metric_count; m++)
		if (is_of_events(p, m, lanes))
			json_put_string(&reply->json, profile_string(p, p->metrics[m].name));
	json_put_end(&reply->json);
	for (size_t m = 0; m < p->metric_count; m++)
		if (is_of_events(p, m, lanes)) {
			if (!is_chosen || m == chosen.i)
				add_events(&e, report, m, number, threads, thread_count, slices);
			number++;
		}
	reply_put_u32(reply, "event_thread", e.thread.data, e.thread.count);
	reply_put_u32(reply, "event_metric", e.metric.data, e.metric.count);
	reply_put_u32(reply, "event_slice", e.slice.data, e.slice.count);
	reply_put_f64(reply, "event_weight", e.weight.data, e.weight.count);
	vec_deinit(&e.thread);
	vec_deinit(&e.metric);
	vec_deinit(&e.slice);
	vec_deinit(&e.weight);
}

void put_thread_marks(struct reply *reply, const struct report *report, const uint32_t *threads,
	size_t thread_count, struct time_slices slices)
{
	struct arena *arena = arena_create();
	const struct zone_bars_wanted wanted = {.threads = threads,
		.thread_count = thread_count,
		.from_ns = slices.begin_ns,
		.to_ns = slices.begin_ns + slices.slice_ns * slices.count,
		.least_ns = SLICES_OF_ZONE * slices.slice_ns};
	const struct zone_bars *bars = zone_bars_analyse(report->selection, &wanted, arena);

	reply_put_number(reply, "levels", bars->levels_max);
	put_bars(reply, report->profile, bars);
	put_events(reply, report, threads, thread_count, &slices);
	arena_destroy(arena);
}
