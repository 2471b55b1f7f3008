/*
 * The head of a report of a difference:
 *
 *	old: before.prof: ./parse big.txt
 *	new: after.prof: ./parse big.txt
 *	cpu-time +0.120 s (+4.9%): old 2.451 s in 2,458 samples, new 2.571 s in 2,580 samples
 *	* more than chance: of the rows so marked at most 5% are expected to be wrong
 */
#include "view/text/heading.h"

#include <stdlib.h>

#include "base/escape.h"
#include "model/merge.h"
#include "view/difference.h"
#include "view/text/units.h"

static const struct scale *scale_of(const struct report *report)
{
	return scale_for(profile_string(report->profile, report_metric(report).unit),
		difference_size(report));
}

static int64_t total_of(const struct report *report)
{
	return report->selection->total[report->query.metric.i];
}

/* "old 2.451 s in 2,458 samples". */
static void draw_side(struct text *text, const char *name, const struct report *report,
	const struct report *samples)
{
	struct strbuf *out = &text->sink->text;

	strbuf_printf(out, "%s ", name);
	scale_put(out, scale_of(report), total_of(report));
	if (samples == NULL || samples->query.metric.i == report->query.metric.i)
		return;
	strbuf_add(out, STR(" in "));
	number_put(out, (uint64_t)total_of(samples));
	strbuf_add(out, total_of(samples) == 1 ? STR(" sample") : STR(" samples"));
}

/* "shares of cpu-time: old 100% is 2.451 s, new 100% is 1.010 s". */
static void draw_wholes(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	const struct difference *d = report->query.difference;
	const struct profile *p = report->profile;
	int64_t before = p->total[difference_old(d->measured).i];
	int64_t after = p->total[difference_new(d->measured).i];
	const struct scale *scale = scale_for(profile_string(p, p->metrics[d->measured.i].unit),
		(uint64_t)(before > after ? before : after));

	if (!d->is_normalized)
		return;
	strbuf_add(out, STR("figures are shares of "));
	escape_text(out, profile_string(p, p->metrics[d->measured.i].name));
	strbuf_add(out, STR(", their changes percentage points: old 100% is "));
	scale_put(out, scale, before);
	strbuf_add(out, STR(", new 100% is "));
	scale_put(out, scale, after);
	strbuf_add_char(out, '\n');
}

/* "figures are sums of 3 runs in old, 3 in new". */
static void draw_runs(struct text *text, const struct difference *d)
{
	if (d->old_runs)
		strbuf_printf(&text->sink->text, "figures are %s of %zu run%s in old, %zu in new\n",
			d->is_normalized ? "those" : "sums", d->old_runs,
			d->old_runs == 1 ? "" : "s", d->new_runs);
}

static void draw_totals(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	bool counted = report->query.difference->is_counted;
	const struct report *before = report->others[DIFFERENCE_OLD];
	const struct report *after = report->others[DIFFERENCE_NEW];
	int64_t change = total_of(report);

	escape_text(out, profile_string(report->profile, report_metric(report).name));
	strbuf_add(out, change > 0 ? STR(" +") : STR(" "));
	scale_put(out, scale_of(report), change);
	if (total_of(before) != 0) {
		strbuf_add(out, change > 0 ? STR(" (+") : STR(" ("));
		percent_put(out, change, llabs(total_of(before)));
		strbuf_add_char(out, ')');
	}
	strbuf_add(out, STR(": "));
	draw_side(text, "old", before, counted ? report->others[DIFFERENCE_OLD_SAMPLES] : NULL);
	strbuf_add(out, STR(", "));
	draw_side(text, "new", after, counted ? report->others[DIFFERENCE_NEW_SAMPLES] : NULL);
	strbuf_add_char(out, '\n');
}

/* Very different intervals: weights allow for them, but one side is less precise. */
static void draw_intervals(struct text *text, const struct difference *d)
{
	struct strbuf *out = &text->sink->text;
	uint64_t before = d->old_profile->stats.interval_ns;
	uint64_t after = d->new_profile->stats.interval_ns;

	if (before == UINT64_MAX || after == UINT64_MAX ||
		(before / 10 * 9 <= after && after / 10 * 9 <= before))
		return;
	strbuf_add(out, STR("intervals differ: one sample every "));
	time_put(out, before);
	strbuf_add(out, STR(" in old, every "));
	time_put(out, after);
	strbuf_add(out, STR(" in new\n"));
}

static void draw_marks(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;

	if (report->query.hidden_count == 0)
		strbuf_add(out,
			STR("changes beyond chance are not marked: this figure is not counted in "
			    "samples\n"));
	else if (report->marks && report->query.difference->old_runs)
		strbuf_add(out, STR("* more than chance and the spread between runs: at most 5% of "
				    "the rows so marked should be wrong\n"));
	else if (report->marks)
		strbuf_add(
			out, STR("* more than chance: at most 5% of the rows so marked should be "
				 "wrong\n"));
}

void heading_draw_difference(struct text *text, const struct report *report)
{
	const struct difference *d = report->query.difference;

	heading_draw_program(text, "old: ", d->old_profile);
	heading_draw_program(text, "new: ", d->new_profile);
	draw_runs(text, d);
	draw_wholes(text, report);
	draw_totals(text, report);
	draw_intervals(text, d);
	draw_marks(text, report);
}
