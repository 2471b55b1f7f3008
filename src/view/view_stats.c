/*
 * Statistics of the recording: how many samples, how many were expected, what was lost.
 */
#include "analysis/stats.h"

#include "base/escape.h"
#include "view/text/table.h"
#include "view/text/text.h"
#include "view/text/units.h"
#include "view/views.h"

static void stats_view_analyse(struct report *report, struct arena *arena)
{
	report_add_stats(report, arena);
	report->row_count = 1;
}

static const enum column_id data_columns[] = {
	COLUMN_COUNTED,
	COLUMN_EXPECTED,
	COLUMN_LOST,
	COLUMN_FOREIGN,
	COLUMN_CRITICAL,
	COLUMN_GUESSED,
	COLUMN_EXCLUDED,
	COLUMN_DURATION,
	COLUMN_CPU,
	COLUMN_INTERVAL,
	COLUMN_FIT,
	COLUMN_END,
};

static const enum column_id more_columns[] = {
	COLUMN_INTERVAL_ASKED,
	COLUMN_STACKS,
	COLUMN_FUNCTIONS,
	COLUMN_STACK_DEPTH_MAX,
	COLUMN_STACK_DEPTH_MEAN,
	COLUMN_RECURSIVE,
	COLUMN_METRIC_TOTAL,
	COLUMN_METRIC_SAMPLES,
	COLUMN_END,
};

const enum column_id statistics_columns[] = {
	COLUMN_COUNTED,
	COLUMN_EXPECTED,
	COLUMN_LOST,
	COLUMN_FOREIGN,
	COLUMN_CRITICAL,
	COLUMN_GUESSED,
	COLUMN_EXCLUDED,
	COLUMN_DURATION,
	COLUMN_CPU,
	COLUMN_INTERVAL,
	COLUMN_INTERVAL_ASKED,
	COLUMN_FIT,
	COLUMN_END,
};

static const enum column_id stack_columns[] = {
	COLUMN_STACKS,
	COLUMN_FUNCTIONS,
	COLUMN_STACK_DEPTH_MAX,
	COLUMN_STACK_DEPTH_MEAN,
	COLUMN_RECURSIVE,
	COLUMN_END,
};

static const enum column_id metric_columns[] = {
	COLUMN_METRIC_TOTAL,
	COLUMN_METRIC_SAMPLES,
	COLUMN_END,
};

/* The contents of one line of the metrics. */
struct metric_line {
	struct strbuf name, total, samples;
};

static void metric_line_make(struct metric_line *line, const struct report *report, size_t m)
{
	const struct profile *profile = report->profile;
	const struct stats_metric *metric = &report->stats->metrics[m];
	struct str unit = profile_string(profile, profile->metrics[m].unit);
	uint64_t size = metric->total < 0 ? -(uint64_t)metric->total : (uint64_t)metric->total;

	strbuf_clear(&line->name);
	strbuf_clear(&line->total);
	strbuf_clear(&line->samples);
	escape_text(&line->name, profile_string(profile, profile->metrics[m].name));
	scale_put(&line->total, scale_for(unit, size), metric->total);
	if (metric->samples != UINT64_MAX)
		number_put(&line->samples, metric->samples);
}

static void metric_line_deinit(struct metric_line *line)
{
	strbuf_deinit(&line->name);
	strbuf_deinit(&line->total);
	strbuf_deinit(&line->samples);
}

static int widest(size_t width, const struct strbuf *cell)
{
	return (int)(cell->size > width ? cell->size : width);
}

/* Each metric of the file, requested or not. */
static void stats_view_metrics(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	size_t count = report->profile->metric_count;
	struct metric_line line = {0};
	int name = 0, total = 0, samples = 0;

	text_title(text, "Metrics");
	for (size_t m = 0; m < count; m++) {
		metric_line_make(&line, report, m);
		name = widest((size_t)name, &line.name);
		total = widest((size_t)total, &line.total);
		samples = widest((size_t)samples, &line.samples);
	}
	for (size_t m = 0; m < count; m++) {
		metric_line_make(&line, report, m);
		strbuf_printf(out, "%-*.*s  %*.*s", name, STR_ARG(strbuf_str(&line.name)), total,
			STR_ARG(strbuf_str(&line.total)));
		if (line.samples.size) {
			strbuf_printf(out, "  %*.*s", samples, STR_ARG(strbuf_str(&line.samples)));
			text_ink(text, INK_DIM);
			strbuf_add(out, STR("  samples of it"));
			text_ink(text, INK_PLAIN);
		}
		strbuf_add_char(out, '\n');
	}
	metric_line_deinit(&line);
}

static void stats_view_draw(struct text *text, const struct report *report)
{
	struct table table;

	table_init(&table, text, report);
	text_title(text, "Statistics");
	if (report->query.column_count) {
		table_draw_facts(&table, report->query.columns);
	} else {
		table_draw_facts(&table, statistics_columns);
		if (report->profile->has_stacks) {
			text_title(text, "Stacks");
			table_draw_facts(&table, stack_columns);
		}
		if (report->profile->metric_count > 1)
			stats_view_metrics(text, report);
	}
	table_deinit(&table);
}

const struct view view_stats = {
	.name = "stats",
	.summary = "samples counted, expected, lost; what they stand for",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = metric_columns,
	.analyse = stats_view_analyse,
	.draw = stats_view_draw,
};
