/*
 * The head of a report.  It shows only known facts: a folded file has no host and no clock.
 *
 *  *	sonde.prof: ./lua fib.lua 32
 *  *	cpu-time 4.873 s in 4,873 samples, one every 1.000 ms; 7 lost	or
 *  *	real-time 9.310 s by the real clock, over all threads
 *  *	ran 4.952 s on box, 2026-11-21 10:12:33
 */
#include "view/text/heading.h"

#include <time.h>

#include "base/escape.h"
#include "view/difference.h"
#include "view/text/units.h"

/* Bytes of a command that are shown; some have more arguments than anyone wants to read. */
#define COMMAND_SHOWN 1000
#define COMMAND_BRIEF 160

/* Cut at the beginning of a UTF-8 character. */
static void draw_command(struct strbuf *out, struct str command, size_t most)
{
	size_t shown = most;

	if (command.size <= shown) {
		escape_text(out, command);
		return;
	}
	while (shown > most - 4 && ((uint8_t)command.data[shown] & 0xc0) == 0x80)
		shown--;
	escape_text(out, (struct str){command.data, shown});
	strbuf_add(out, STR(" ..."));
}

void heading_draw_program(struct text *text, const char *before, const struct profile *profile)
{
	struct strbuf *out = &text->sink->text;
	struct str command = profile_string(profile, profile->command);

	text_ink(text, INK_TITLE);
	strbuf_add(out, str_from(before));
	escape_text(out, profile_string(profile, profile->source));
	if (command.size) {
		strbuf_add(out, STR(": "));
		draw_command(out, command, text->style->brief ? COMMAND_BRIEF : COMMAND_SHOWN);
	}
	text_ink(text, INK_PLAIN);
	strbuf_add_char(out, '\n');
}

static void draw_total(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	struct metric metric = report_metric(report);
	struct str unit = profile_string(report->profile, metric.unit);
	int64_t total = report->selection->total[report->query.metric.i];

	escape_text(out, profile_string(report->profile, metric.name));
	strbuf_add_char(out, ' ');
	scale_put(out, scale_for(unit, total < 0 ? -(uint64_t)total : (uint64_t)total), total);
}

/*
 * Of the clock, so for time only.  Where the metric is the number of samples, the total has said it
 * already.
 */
/*
 * The other clock's time is not sampled: the time a thread is off the CPU is known to the
 * nanosecond.  Zones are not sampled either.
 */
static bool is_measured(struct str metric)
{
	return str_equal(metric, STR(ZONE_TIME)) || str_equal(metric, STR("real-time")) ||
	       str_equal(metric, STR("blocked-time")) || str_equal(metric, STR("preempted-time")) ||
	       str_equal(metric, STR("wakeup-delay"));
}

static void draw_samples(struct text *text, const struct report *report)
{
	struct strbuf *out = &text->sink->text;
	const struct profile_stats *stats = &report->profile->stats;
	struct metric metric = report_metric(report);
	bool is_count = str_equal(profile_string(report->profile, metric.name), STR("samples"));
	bool is_time = str_equal(profile_string(report->profile, metric.unit), STR("ns")) &&
		       !is_measured(profile_string(report->profile, metric.name));

	uint64_t counted = stats->counted;

	/* Time that was measured without samples: a trace. */
	if (counted == 0 && report->profile->total[report->query.metric.i] != 0)
		counted = UINT64_MAX;
	else if (report->selection->step_count > 0)
		counted = selection_total_samples(report->selection);
	if (counted != UINT64_MAX && is_time) {
		strbuf_add(out, STR(" in "));
		number_put(out, counted);
		strbuf_add(out, counted == 1 ? STR(" sample") : STR(" samples"));
	}
	if (stats->interval_ns != UINT64_MAX && (is_time || is_count)) {
		strbuf_add(out, STR(", one every "));
		time_put(out, stats->interval_ns);
	}
	if (str_equal(profile_string(report->profile, metric.name), STR("real-time")))
		strbuf_add(out, STR(" by the real clock, over all threads"));
	if (stats->lost != UINT64_MAX && stats->lost != 0) {
		strbuf_add(out, STR("; "));
		text_ink(text, INK_NOTE);
		number_put(out, stats->lost);
		strbuf_add(out, STR(" lost"));
		text_ink(text, INK_PLAIN);
	}
	strbuf_add_char(out, '\n');
}

/* The totals of the other metrics shown. */
static void draw_others(struct text *text, const struct report *report)
{
	size_t count = report->query.other_count;

	for (size_t k = 0; k < count; k++) {
		draw_total(text, report->others[k]);
		strbuf_add(&text->sink->text, k + 1 < count ? STR("; ") : STR("\n"));
	}
}

/* The number of samples is in the heading anyway. */
static bool is_told(const struct report *report, uint32_t metric)
{
	const struct profile *profile = report->profile;
	struct str name = profile_string(profile, profile->metrics[metric].name);

	for (size_t m = 0; m <= report->query.other_count; m++)
		if (report_of_metric(report, m)->query.metric.i == metric)
			return true;
	return str_equal(name, STR("samples")) && profile->stats.counted != UINT64_MAX;
}

/* The metrics in the file that are not in this report. */
static void draw_more_metrics(struct text *text, const struct report *report)
{
	const struct profile *profile = report->profile;
	struct strbuf *out = &text->sink->text;
	bool is_first = true;

	for (uint32_t m = 0; m < profile->metric_count; m++) {
		if (is_told(report, m))
			continue;
		strbuf_add(out, is_first ? STR("also recorded: ") : STR(", "));
		escape_text(out, profile_string(profile, profile->metrics[m].name));
		is_first = false;
	}
	if (!is_first)
		strbuf_add(out, STR("; --metric NAME shows them\n"));
}

static void add_date(struct strbuf *out, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	struct tm tm;
	char date[64];

	if (localtime_r(&seconds, &tm) == NULL ||
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		return;
	strbuf_add(out, out->size ? STR(", ") : STR(""));
	strbuf_add(out, str_from(date));
}

static void draw_run(struct text *text, const struct profile *profile)
{
	struct strbuf run = {0};

	if (profile->stats.duration_ns != UINT64_MAX) {
		strbuf_add(&run, STR("ran "));
		time_put(&run, profile->stats.duration_ns);
	}
	if (profile_string(profile, profile->host).size) {
		strbuf_add(&run, run.size ? STR(" on ") : STR("on "));
		escape_text(&run, profile_string(profile, profile->host));
	}
	if (profile->start_unix_ns)
		add_date(&run, profile->start_unix_ns);
	if (run.size) {
		strbuf_add(&text->sink->text, strbuf_str(&run));
		strbuf_add_char(&text->sink->text, '\n');
	}
	strbuf_deinit(&run);
}

void heading_put_share(
	struct strbuf *out, const struct report *report, const struct selection_step *step)
{
	uint32_t metric = report->query.metric.i;

	percent_put(out, step->kept[metric], report->profile->total[metric]);
}

static void draw_kept(struct text *text, const struct report *report,
	const struct selection_step *step, uint32_t metric)
{
	struct strbuf *out = &text->sink->text;
	int64_t total = report->profile->total[metric];
	struct str unit = profile_string(report->profile, report_metric(report).unit);

	scale_put(out, scale_for(unit, total < 0 ? -(uint64_t)total : (uint64_t)total),
		step->kept[metric]);
	strbuf_add(out, STR(" ("));
	percent_put(out, step->kept[metric], total);
	strbuf_add_char(out, ')');
}

/* "focus parse keeps 1.234 s (25.3%)", of the whole profile, one line each. */
static void draw_filter(struct text *text, const struct report *report, size_t i)
{
	struct strbuf *out = &text->sink->text;
	const struct selection_step *step = &report->selection->steps[i];
	const struct difference *d = report->query.difference;

	/* It always keeps all weight. */
	if (step->filter->kind == FILTER_KERNEL) {
		strbuf_add(out,
			step->filter->kernel == KERNEL_NONE
				? STR("kernel: none of its frames\n")
				: STR("kernel: system calls alone (--kernel all shows more)\n"));
		return;
	}
	strbuf_printf(out, "%s ", filter_names[step->filter->kind]);
	escape_text(out, str_from(step->filter->text));
	strbuf_add(out, STR(" keeps "));
	if (d) {
		draw_kept(text, report, step, d->others[DIFFERENCE_OLD].i);
		strbuf_add(out, STR(" of old, "));
		draw_kept(text, report, step, d->others[DIFFERENCE_NEW].i);
		strbuf_add(out, STR(" of new\n"));
	} else {
		draw_kept(text, report, step, report->query.metric.i);
		strbuf_add_char(out, '\n');
	}
}

static void draw_same(struct text *text, const struct report *report)
{
	for (size_t i = 0; i < report->query.same_count; i++) {
		strbuf_add(&text->sink->text, STR("same "));
		escape_text(&text->sink->text, str_from(report->query.same[i].text));
		strbuf_add_char(&text->sink->text, '\n');
	}
}

/* The settings that make these figures differ from those of the plain profile. */
static void draw_changes(struct text *text, const struct report *report)
{
	for (size_t i = 0; i < report->selection->step_count; i++)
		draw_filter(text, report, i);
	draw_same(text, report);
	if (report->query.spread)
		strbuf_add(&text->sink->text,
			STR("spread: the k-th occurrence of f in a stack is f'k\n"));
}

void heading_draw(struct text *text, const struct report *report)
{
	if (report->query.difference) {
		heading_draw_difference(text, report);
		draw_changes(text, report);
		return;
	}
	heading_draw_program(text, "", report->profile);
	draw_total(text, report);
	draw_samples(text, report);
	draw_others(text, report);
	draw_more_metrics(text, report);
	draw_run(text, report->profile);
	draw_changes(text, report);
}
