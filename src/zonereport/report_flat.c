/* Lists each entity once, including zeros, as in IProf. */
#include <stdlib.h>
#include <string.h>

#include "zonereport/figures.h"
#include "zonereport/report_work.h"

static void sum_entities(const struct report_work *work, struct entity_sum *sum)
{
	for (uint32_t i = 1; i < work->node_count; i++) {
		struct entity_sum *s;

		if (work->entity_of[i] == ENTITY_NONE)
			continue;
		s = &sum[work->entity_of[i]];
		s->self += work->value[i].self;
		s->count += work->value[i].count;
		if (report_is_outermost(work, i)) {
			s->hier += work->total[i].hier;
			s->calls += work->total[i].calls;
		}
	}
}

/*
 * Lists everything known, but of the predefined zones only those in use; for a single thread, what
 * it has entered.
 */
static bool is_listed(const struct report_work *work, uint32_t e, const struct entity_sum *sum)
{
	const struct entity *entity = &work->entity[e];

	if (entity->zone == ZONEWIRE_ZONE_NONE)
		return false;
	if (entity->zone == ZONEWIRE_ZONE_OTHER || entity->zone == ZONEWIRE_ZONE_UPDATE)
		return sum->hier > 0 || sum->count > 0;
	return entity->is_there || (entity->depth == 0 && work->query.slot == ZONE_SLOT_ALL);
}

/* Twice the standard deviation, relative to the value. */
static double heat(double root, double value)
{
	double variance = root * root - value * value, least = 1e-9 * value * value;

	/* 1 is reached if stdev is half the value, which needs no root. */
	if (value <= 0 || variance <= least)
		return 0;
	return 4 * variance >= value * value ? 1 : 2 * figure_root(variance) / value;
}

static int by_name(const void *a, const void *b)
{
	const struct zone_row *x = a, *y = b;
	int order = strcmp(x->info.name, y->info.name);

	if (order == 0)
		order = (x->zone > y->zone) - (x->zone < y->zone);
	return order ? order : (x->depth > y->depth) - (x->depth < y->depth);
}

static int by_self(const void *a, const void *b)
{
	const struct zone_row *x = a, *y = b;
	int order = (x->self_ms < y->self_ms) - (x->self_ms > y->self_ms);

	return order ? order : by_name(a, b);
}

static int by_hier(const void *a, const void *b)
{
	const struct zone_row *x = a, *y = b;
	int order = (x->hier_ms < y->hier_ms) - (x->hier_ms > y->hier_ms);

	return order ? order : by_name(a, b);
}

/* Adds what threads that end no frames do outside zones, as the last row. */
static void put_frameless(struct zone_report *report, const struct report_work *work)
{
	double ms = work->frameless * work->history->tick_ms;

	if (ms <= 0)
		return;
	report->row[report->row_count++] = (struct zone_row){.kind = ZONE_ROW_FRAMELESS,
		.zone = ZONEWIRE_ZONE_NONE,
		.info = {.name = "[threads without frames]", .file = "", .module = ""},
		.self_ms = ms,
		.hier_ms = ms};
}

bool report_flat(struct zone_report *report, const struct report_work *work)
{
	struct entity_sum *sum = calloc(work->entity_count, sizeof(*sum));
	bool has_heat = work->query.frame == 0 && work->query.average > 0;
	bool is_hier = work->query.mode == ZONE_MODE_HIER;

	report->row = calloc((size_t)work->entity_count + 1, sizeof(*report->row));
	if (!sum || !report->row) {
		free(sum);
		return false;
	}
	sum_entities(work, sum);
	for (uint32_t e = 0; e < work->entity_count; e++) {
		struct zone_row *row;

		if (!is_listed(work, e, &sum[e]))
			continue;
		row = report_put_row(report, work, ZONE_ROW_FLAT, e, &sum[e]);
		if (has_heat)
			row->heat = is_hier ? heat(work->entity[e].hier_root, sum[e].hier)
					    : heat(work->entity[e].self_root, sum[e].self);
	}
	free(sum);
	qsort(report->row, report->row_count, sizeof(*report->row),
		is_hier				     ? by_hier
		: work->query.mode == ZONE_MODE_NAME ? by_name
						     : by_self);
	put_frameless(report, work);
	return true;
}
