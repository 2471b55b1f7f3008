/* Makes a report: adjusts the query to the available data, makes rows by its mode, then titles. */
#include "zonereport/report.h"

#include <stdlib.h>

#include "zonereport/report_work.h"

/* A row is marked if more than this part of it is the estimated cost of measuring. */
static const double overhead_mark = 0.10;

static bool is_graph(enum zone_mode mode)
{
	return mode == ZONE_MODE_GRAPH || mode == ZONE_MODE_DESCENDANTS;
}

static struct zone_query clamp(const struct zone_history *history, const struct zone_query *query)
{
	size_t frames = zone_history_frame_count(history);
	struct zone_query q = *query;

	if ((unsigned)q.mode >= ZONE_MODES)
		q.mode = ZONE_MODE_SELF;
	if (q.recursion != ZONE_SPREAD)
		q.recursion = ZONE_FLATTEN;
	if (q.average >= ZONE_AVERAGES)
		q.average = ZONE_AVERAGES - 1;
	if (q.frame >= frames)
		q.frame = frames ? frames - 1 : 0;
	if (q.focus == 0 || q.focus >= zone_history_zone_count(history))
		q.focus = ZONEWIRE_ZONE_GLOBAL;
	if (q.recursion == ZONE_FLATTEN)
		q.focus_depth = 0;
	return q;
}

static void mark_row(struct zone_row *row)
{
	row->prefix = row->kind == ZONE_ROW_FOCUS	? '-'
		      : row->kind == ZONE_ROW_RECURSION ? '~'
		      : row->is_mostly_overhead		? '!'
		      : row->has_children		? '+'
							: '\0';
	row->indent = row->kind == ZONE_ROW_FLAT || row->kind == ZONE_ROW_FRAMELESS ||
				      row->kind == ZONE_ROW_FOCUS
			      ? 0
			      : 3;
}

struct zone_row *report_put_row(struct zone_report *report, const struct report_work *work,
	enum zone_row_kind kind, uint32_t entity, const struct entity_sum *sum)
{
	const struct entity *e = &work->entity[entity];
	double tick_ms = work->history->tick_ms;
	struct zone_row *row = &report->row[report->row_count++];

	*row = (struct zone_row){.kind = kind,
		.zone = e->zone,
		.depth = e->depth,
		.info = zone_history_zone(work->history, e->zone),
		.number = e->number,
		.has_children = e->has_children,
		.self_ms = sum->self * tick_ms,
		.hier_ms = sum->hier * tick_ms,
		.count = sum->count};
	row->is_mostly_overhead = row->hier_ms > 0 && sum->calls * work->query.call_ns / 1e6 >
							      overhead_mark * row->hier_ms;
	mark_row(row);
	return row;
}

static void set_columns(struct zone_report *report)
{
	bool is_hier = report->query.mode == ZONE_MODE_HIER;

	report->column[0] = is_hier ? ZONE_HIER : ZONE_SELF;
	report->column[1] = is_hier ? ZONE_SELF : ZONE_HIER;
	report->column[2] = ZONE_COUNT;
}

static void set_cursor(struct zone_report *report)
{
	int last = (int)report->row_count - 1, cursor = report->query.cursor;

	report->cursor_row = cursor < 0 ? 0 : cursor;
	if (report->cursor_row > last)
		report->cursor_row = last;
	report->query.cursor = last < 0 ? 0 : report->cursor_row;
}

struct zone_unit zone_unit_of(double ms)
{
	static const struct zone_unit units[] = {{"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}};
	/* A time of 0 has the default unit. */
	return ms <= 0 || ms >= units[0].ms ? units[0] : ms >= units[1].ms ? units[1] : units[2];
}

static void set_unit(struct zone_report *report)
{
	double longest = 0;

	for (size_t i = 0; i < report->row_count; i++) {
		const struct zone_row *row = &report->row[i];

		if (row->kind != ZONE_ROW_FRAMELESS && row->hier_ms > longest)
			longest = row->hier_ms;
	}
	report->unit = zone_unit_of(longest);
}

static void set_totals(struct zone_report *report, const struct report_work *work)
{
	struct zone_frame frame;

	report->frame_ms = zone_history_frame_ms(work->history, report->query.average);
	if (report->query.frame > 0 &&
		zone_history_frame(work->history, report->query.frame, &frame))
		report->frame_ms = frame.ms;
	report->total_ms = work->all.self * work->history->tick_ms;
	report->overhead_ms = work->all.calls * report->query.call_ns / 1e6;
}

struct zone_report *zone_report_create(
	const struct zone_history *history, const struct zone_query *query)
{
	struct zone_report *report = calloc(1, sizeof(*report));
	struct report_work work;
	bool is_made;

	if (!report)
		return NULL;
	report->query = clamp(history, query);
	report->focus_row = -1;
	is_made = report_work_init(&work, history, &report->query) &&
		  (is_graph(report->query.mode) ? report_graph(report, &work)
						: report_flat(report, &work));
	if (is_made) {
		set_columns(report);
		set_cursor(report);
		set_totals(report, &work);
		set_unit(report);
		report_titles(report, &work);
	}
	report_work_deinit(&work);
	if (is_made)
		return report;
	zone_report_destroy(report);
	return NULL;
}

void zone_report_destroy(struct zone_report *report)
{
	if (!report)
		return;
	free(report->row);
	free(report);
}

const char *zone_measure_name(enum zone_measure measure)
{
	return measure == ZONE_SELF ? "self" : measure == ZONE_HIER ? "hier" : "count";
}

double zone_row_value(const struct zone_row *row, enum zone_measure measure)
{
	return measure == ZONE_SELF   ? row->self_ms
	       : measure == ZONE_HIER ? row->hier_ms
				      : row->count;
}

/* ---- keys ---- */

void zone_query_set_mode(struct zone_query *query, enum zone_mode mode)
{
	if ((unsigned)mode < ZONE_MODES)
		query->mode = mode;
}

/* Shows the call graph around that row; the cursor moves to it. */
static bool show_around(
	struct zone_query *query, const struct zone_history *history, const struct zone_row *row)
{
	struct zone_query next = *query;
	struct zone_report *report;

	next.focus = row->zone;
	next.focus_depth = row->depth;
	if (!is_graph(next.mode))
		zone_query_set_mode(&next, ZONE_MODE_GRAPH);
	report = zone_report_create(history, &next);
	if (!report)
		return false;
	next.cursor = report->focus_row;
	zone_report_destroy(report);
	*query = next;
	return true;
}

bool zone_query_select(struct zone_query *query, const struct zone_history *history)
{
	struct zone_report *report = zone_report_create(history, query);
	bool is_done = report && report->cursor_row >= 0 &&
		       show_around(query, history, &report->row[report->cursor_row]);

	zone_report_destroy(report);
	return is_done;
}

bool zone_query_select_parent(struct zone_query *query, const struct zone_history *history)
{
	struct zone_report *report = zone_report_create(history, query);
	bool is_done = report && report->focus_row > 0 &&
		       show_around(query, history, &report->row[report->focus_row - 1]);

	zone_report_destroy(report);
	return is_done;
}

/* a + b, limited to the range of int. */
static int add_within(int a, int b)
{
	int sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT32_MIN : INT32_MAX;
	return sum;
}

void zone_query_move_cursor(struct zone_query *query, const struct zone_history *history, int by)
{
	struct zone_report *report;

	query->cursor = add_within(query->cursor, by);
	report = zone_report_create(history, query);
	if (report)
		query->cursor = report->query.cursor;
	zone_report_destroy(report);
}

void zone_query_move_frame(struct zone_query *query, const struct zone_history *history, int by)
{
	size_t frames = zone_history_frame_count(history);
	int64_t frame = (int64_t)query->frame - by;

	if (frame < 0)
		frame = 0;
	query->frame = (size_t)frame;
	if (query->frame >= frames)
		query->frame = frames ? frames - 1 : 0;
}
