/*
 * JSON (RFC 8259), written as it goes, one row a line: a report of a million rows takes no more
 * memory than one of ten, and line tools can still look at it.
 */
#include "view/json.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/zones.h"
#include "base/escape.h"
#include "model/merge.h"
#include "view/brief.h"
#include "view/difference.h"
#include "view/views.h"

static void add_key(struct strbuf *out, const char *key)
{
	quote_json(out, str_from(key));
	strbuf_add(out, STR(": "));
}

static void add_signed(struct strbuf *out, int64_t value)
{
	strbuf_printf(out, "%" PRId64, value);
}

static void add_unsigned(struct strbuf *out, uint64_t value)
{
	strbuf_printf(out, "%" PRIu64, value);
}

static void add_text(struct strbuf *out, const struct report *report, const struct cell *cell)
{
	struct strbuf scratch = {0}, name = {0};
	struct str text = cell_text(cell, &scratch);

	quote_json(out, report->query.budget ? brief_name(text, &name) : text);
	strbuf_deinit(&scratch);
	strbuf_deinit(&name);
}

/* Percentages are null if there is no base. */
static void add_percent(struct strbuf *out, const struct cell *cell)
{
	if (cell->base == 0)
		strbuf_add(out, STR("null"));
	else
		strbuf_printf(out, "%.4f", cell_percent(cell));
}

static void add_cell(struct strbuf *out, const struct report *report, const struct column *column,
	const struct cell *cell)
{
	if (cell->is_null) {
		strbuf_add(out, STR("null"));
		return;
	}
	switch (column->kind) {
	case COLUMN_KIND_TEXT:
		add_text(out, report, cell);
		break;
	case COLUMN_KIND_NUMBER:
	case COLUMN_KIND_TIME:
		add_unsigned(out, cell->number);
		break;
	case COLUMN_KIND_COUNT:
	case COLUMN_KIND_WEIGHT:
		add_signed(out, cell->weight + cell->indirect);
		break;
	case COLUMN_KIND_PERCENT:
	case COLUMN_KIND_CHANGE:
		add_percent(out, cell);
		break;
	case COLUMN_KIND_FLAG:
		strbuf_add(out, cell->flag ? STR("true") : STR("false"));
		break;
	case COLUMN_KIND_CALLS:
		strbuf_printf(out, "{\"outside\": %" PRIu64 ", \"inside\": %" PRIu64 "}",
			cell->number, cell->more_calls);
		break;
	case COLUMN_KIND_MEAN:
		strbuf_printf(out, "%.4f", cell->mean);
		break;
	}
}

static void add_separator(struct strbuf *out)
{
	strbuf_add(out, out->data[out->size - 1] == '{' ? STR("") : STR(", "));
}

static void add_member(
	struct strbuf *out, const struct report *report, size_t row, enum column_id id)
{
	struct cell cell = columns[id].get(report, row);

	add_separator(out);
	add_key(out, columns[id].key);
	add_cell(out, report, &columns[id], &cell);
}

/* The columns of a row: the view's, or those of one of its parts. */
struct row_columns {
	const enum column_id *all, *of_metric, *of_place;
	bool asked; /* and the further requested columns */
};

/* The figures of each metric, including the first again. */
static void add_row_metrics(
	struct strbuf *out, const struct report *report, size_t row, const struct row_columns *c)
{
	const struct report_query *query = &report->query;

	add_separator(out);
	add_key(out, "metrics");
	for (size_t m = 0; m <= query->other_count; m++) {
		const struct report *of = report_of_metric(report, m);

		strbuf_add(out, m ? STR(", {") : STR("[{"));
		for (const enum column_id *id = c->of_metric; *id != COLUMN_END; id++)
			add_member(out, of, row, *id);
		for (size_t i = 0; c->asked && i < query->column_count; i++)
			if (columns[query->columns[i]].is_per_metric &&
				!column_list_has(c->of_metric, query->columns[i]))
				add_member(out, of, row, query->columns[i]);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static bool has_asked(const struct report_query *query, enum column_id id)
{
	for (size_t i = 0; i < query->column_count; i++)
		if (query->columns[i] == id)
			return true;
	return false;
}

/* The figures of old and new, and whether they differ by more than chance. */
static void add_row_sides(
	struct strbuf *out, const struct report *report, size_t row, const struct row_columns *c)
{
	static const char *const sides[] = {"old", "new"};

	for (size_t k = 0; k < ARRAY_SIZE(sides); k++) {
		add_separator(out);
		add_key(out, sides[k]);
		strbuf_add_char(out, '{');
		for (const enum column_id *id = c->of_metric; *id != COLUMN_END; id++)
			add_member(out, report->others[k], row, *id);
		strbuf_add_char(out, '}');
	}
	add_member(out, report, row, COLUMN_SIGNIFICANT);
}

/* The members of a row: always its columns, then further requested columns. */
static void add_row_members(
	struct strbuf *out, const struct report *report, size_t row, const struct row_columns *c)
{
	const struct report_query *query = &report->query;

	for (const enum column_id *id = c->all; *id != COLUMN_END; id++)
		if (view_shows_column(report, *id) || has_asked(query, *id))
			add_member(out, report, row, *id);
	for (const enum column_id *id = c->of_place; *id != COLUMN_END; id++)
		if (!column_list_has(c->all, *id))
			add_member(out, report, row, *id);
	for (size_t i = 0; c->asked && i < query->column_count; i++)
		if (!column_list_has(c->all, query->columns[i]) &&
			!column_list_has(c->of_place, query->columns[i]))
			add_member(out, report, row, query->columns[i]);
	if (query->budget && view_has_column(query->view, COLUMN_ID) &&
		!has_asked(query, COLUMN_ID))
		add_member(out, report, row, COLUMN_ID);
	if (query->difference && *c->of_metric != COLUMN_END)
		add_row_sides(out, report, row, c);
	else if (query->other_count > 0 && *c->of_metric != COLUMN_END)
		add_row_metrics(out, report, row, c);
}

/*
 * Adds the rows of one part of an entry, from a place on; returns the first place of another part.
 */
static size_t add_part(struct strbuf *out, const struct report *report, size_t place, size_t part)
{
	const struct view *view = report->query.view;
	const struct view_part *p = &view->parts[part];
	const struct row_columns c = {
		p->columns, p->metric_columns, level_columns(report->query.level), false};
	bool is_first = true;

	add_separator(out);
	add_key(out, p->key);
	strbuf_add_char(out, '[');
	for (; place < report->count; place++) {
		size_t row = report_row(report, place);

		if (view->part(report, row) != part)
			break;
		strbuf_add(out, is_first ? STR("{") : STR(",\n  {"));
		add_row_members(out, report, row, &c);
		strbuf_add_char(out, '}');
		is_first = false;
	}
	strbuf_add_char(out, ']');
	return place;
}

/* Adds the entry whose own row is at a place; returns the place of the next entry. */
static size_t add_entry(struct strbuf *out, const struct report *report, size_t place)
{
	const struct view *view = report->query.view;
	const enum column_id *place_columns = level_columns(report->query.level);
	struct row_columns c = {view->data_columns, view->metric_columns, place_columns, true};

	if (view->parts)
		c = (struct row_columns){
			view->parts[0].columns, view->parts[0].metric_columns, place_columns, true};
	strbuf_add_char(out, '{');
	add_row_members(out, report, report_row(report, place++), &c);
	for (size_t part = 1; part < view->part_count; part++)
		place = add_part(out, report, place, part);
	strbuf_add_char(out, '}');
	return place;
}

static void add_note(struct strbuf *out, const struct profile *profile, const struct note *note)
{
	strbuf_add_char(out, '{');
	add_key(out, "kind");
	quote_json(out, str_from(note_kind_names[note->kind]));
	strbuf_add(out, STR(", "));
	add_key(out, "count");
	add_unsigned(out, note->count);
	strbuf_add(out, STR(", "));
	add_key(out, "text");
	quote_json(out, profile_string(profile, note->text));
	strbuf_add_char(out, '}');
}

/* A remark on this report has the form of a note of the profile. */
static void add_remark(struct strbuf *out, const char *remark)
{
	strbuf_add_char(out, '{');
	add_key(out, "kind");
	quote_json(out, str_from(note_kind_names[NOTE_INFO]));
	strbuf_add(out, STR(", "));
	add_key(out, "count");
	add_unsigned(out, 1);
	strbuf_add(out, STR(", "));
	add_key(out, "text");
	quote_json(out, str_from(remark));
	strbuf_add_char(out, '}');
}

/* Those of a brief report. */
static void add_brief_notes(struct strbuf *out, const struct report *report)
{
	struct arena *arena = arena_create();
	struct brief_note notes[BRIEF_NOTES];
	size_t left_out, count = brief_notes(report, arena, notes, &left_out);

	strbuf_add_char(out, '[');
	for (size_t i = 0; i < count; i++) {
		strbuf_add(out, i ? STR(", ") : STR(""));
		if (notes[i].note)
			add_note(out, report->profile, notes[i].note);
		else
			add_remark(out, notes[i].text);
	}
	for (size_t i = 0; i < report->note_count; i++) {
		strbuf_add(out, i || count ? STR(", ") : STR(""));
		add_remark(out, report->notes[i]);
	}
	strbuf_add_char(out, ']');
	arena_destroy(arena);
}

static void add_notes(struct strbuf *out, const struct report *report)
{
	const struct profile *profile = report->profile;

	if (report->query.budget) {
		add_brief_notes(out, report);
		return;
	}
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < profile->note_count; i++) {
		if (i)
			strbuf_add(out, STR(", "));
		add_note(out, profile, &profile->notes[i]);
	}
	for (size_t i = 0; i < report->query.remark_count; i++) {
		if (i || profile->note_count)
			strbuf_add(out, STR(", "));
		add_remark(out, report->query.remarks[i]);
	}
	for (size_t i = 0; i < report->note_count; i++) {
		if (i || profile->note_count || report->query.remark_count)
			strbuf_add(out, STR(", "));
		add_remark(out, report->notes[i]);
	}
	strbuf_add_char(out, ']');
}

/* The members of a metric's object. */
static void add_metric(struct strbuf *out, const struct report *report)
{
	struct metric metric = report_metric(report);

	add_key(out, "name");
	quote_json(out, profile_string(report->profile, metric.name));
	strbuf_add(out, STR(", "));
	add_key(out, "unit");
	quote_json(out, profile_string(report->profile, metric.unit));
}

static void add_total(struct strbuf *out, const struct report *report)
{
	strbuf_add(out, STR(", "));
	add_key(out, "total");
	add_signed(out, report->selection->total[report->query.metric.i]);
}

static void add_metrics(struct strbuf *out, const struct report *report)
{
	add_key(out, "metrics");
	for (size_t m = 0; m <= report->query.other_count; m++) {
		strbuf_add(out, m ? STR(", {") : STR("[{"));
		add_metric(out, report_of_metric(report, m));
		add_total(out, report_of_metric(report, m));
		strbuf_add_char(out, '}');
	}
	strbuf_add(out, STR("],\n"));
}

/* A file of the difference, and its total. */
static void add_side(struct strbuf *out, const char *key, const struct profile *profile,
	const struct report *report, size_t runs)
{
	add_key(out, key);
	strbuf_add_char(out, '{');
	add_key(out, "source");
	quote_json(out, profile_string(profile, profile->source));
	add_total(out, report);
	if (runs)
		strbuf_printf(out, ", \"runs\": %zu", runs);
	strbuf_add(out, STR("}, "));
}

/* The metric that the figures are shares of, and its total in each file. */
static void add_normalized(struct strbuf *out, const struct report *report)
{
	const struct difference *d = report->query.difference;
	const struct profile *p = report->profile;

	if (!d->is_normalized)
		return;
	add_key(out, "normalized");
	strbuf_add(out, STR("{\"metric\": {\"name\": "));
	quote_json(out, profile_string(p, p->metrics[d->measured.i].name));
	strbuf_add(out, STR(", \"unit\": "));
	quote_json(out, profile_string(p, p->metrics[d->measured.i].unit));
	strbuf_add(out, STR("}, \"old\": "));
	add_signed(out, p->total[difference_old(d->measured).i]);
	strbuf_add(out, STR(", \"new\": "));
	add_signed(out, p->total[difference_new(d->measured).i]);
	strbuf_add(out, STR("}, "));
}

static void add_sides(struct strbuf *out, const struct report *report)
{
	const struct difference *d = report->query.difference;

	add_side(out, "old", d->old_profile, report->others[DIFFERENCE_OLD], d->old_runs);
	add_side(out, "new", d->new_profile, report->others[DIFFERENCE_NEW], d->new_runs);
	add_normalized(out, report);
}

/* Each filter, and the weight that remains after it and those before it. */
static void add_filters(struct strbuf *out, const struct report *report)
{
	const struct selection *s = report->selection;

	add_key(out, "filters");
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < s->step_count; i++) {
		const struct selection_step *step = &s->steps[i];

		strbuf_add(out, i ? STR(", {") : STR("{"));
		add_key(out, "filter");
		quote_json(out, str_from(filter_names[step->filter->kind]));
		add_separator(out);
		add_key(out, "value");
		quote_json(out, str_from(step->filter->text));
		add_separator(out);
		add_key(out, "kept");
		add_signed(out, step->kept[report->query.metric.i]);
		strbuf_add_char(out, '}');
	}
	strbuf_add(out, STR("],\n"));
}

static void add_text_or_null(struct strbuf *out, struct str s)
{
	if (s.size)
		quote_json(out, s);
	else
		strbuf_add(out, STR("null"));
}

/* The line with the most weight, and the code inlined there; null: no line is known. */
static void add_hottest(struct strbuf *out, const struct report *report)
{
	const struct profile *p = report->profile;
	const struct annotation *a = report->annotation;
	struct annotate_hottest hottest;

	strbuf_add(out, STR(", \"hottest\": "));
	if (!annotate_find_hottest(a, &hottest)) {
		strbuf_add(out, STR("null"));
		return;
	}
	strbuf_add(out, STR("{\"file\": "));
	add_text_or_null(out, profile_string(p, a->places[hottest.place].file));
	strbuf_printf(out, ", \"line\": %" PRIu32 ", \"exclusive\": %" PRId64 "}",
		a->places[hottest.place].line, hottest.exclusive);
}

/* View annotate: the function whose code this is. */
static void add_function(struct strbuf *out, const struct report *report)
{
	const struct profile *p = report->profile;
	const struct annotation *a = report->annotation;
	const struct function *f = &p->functions[a->function.i];

	strbuf_add(out, STR("\"function\": {\"name\": "));
	quote_json(out, profile_string(p, f->name));
	strbuf_add(out, STR(", \"module\": "));
	add_text_or_null(out, profile_module(p, f->object));
	strbuf_add(out, STR(", \"file\": "));
	add_text_or_null(out, profile_string(p, f->file));
	strbuf_add(out, STR(", \"line\": "));
	if (f->line)
		add_unsigned(out, f->line);
	else
		strbuf_add(out, STR("null"));
	strbuf_add(out, STR(", \"exclusive\": "));
	add_signed(out, a->own.exclusive);
	strbuf_add(out, STR(", \"inclusive\": "));
	if (p->has_stacks)
		add_signed(out, a->own.inclusive);
	else
		strbuf_add(out, STR("null"));
	add_hottest(out, report);
	strbuf_add(out, STR("},\n"));
}

/* View zones: what is in no row. */
static void add_frameless(struct strbuf *out, const struct report *report)
{
	const struct zones_frameless *frameless = report->query.frameless;

	if (frameless)
		strbuf_printf(out,
			"\"threads_without_frames\": {\"threads\": %zu, \"weight\": %" PRId64
			"},\n",
			frameless->threads, frameless->weight);
}

/* A brief report: how good the recording is. */
static void add_recording(struct strbuf *out, const struct report *report)
{
	static const char *const fit[] = {"true", "false", "null"};
	struct arena *arena = arena_create();

	add_key(out, "recording");
	strbuf_printf(out, "{\"fit\": %s, \"text\": ", fit[brief_fitness(report)]);
	quote_json(out, str_from(brief_recording(report, arena)));
	strbuf_add(out, STR("},\n"));
	arena_destroy(arena);
}

static void add_step(struct strbuf *out, const struct report *report, const struct brief_step *step)
{
	const struct brief_subject *s = report->query.subject;
	struct strbuf command = {0};

	brief_step_put(&command, report, step);
	if (s->form == BRIEF_TOOLS) {
		strbuf_add(out, STR("{\"tool\": "));
		quote_json(out, str_from(step->command));
		/* What follows the tool's name is the object of its arguments. */
		strbuf_printf(out, ", \"arguments\":%s", command.data + strlen(step->command));
	} else {
		strbuf_add(out, STR("{\"command\": "));
		quote_json(out, strbuf_str(&command));
	}
	strbuf_add(out, STR(", \"shows\": "));
	quote_json(out, str_from(step->shows));
	strbuf_add_char(out, '}');
	strbuf_deinit(&command);
}

/* A brief report: what is missing in it, and what to ask next. */
static void add_brief_end(struct strbuf *out, const struct report *report, size_t entries)
{
	struct brief_step steps[BRIEF_STEPS_MAX];
	struct arena *arena = arena_create();
	size_t count = brief_next(report, arena, steps);

	strbuf_printf(out, "],\n\"left_out\": {\"entries\": %zu, \"lines\": %zu},\n\"next\": [",
		report->entry_count - entries, report->lines_left_out);
	for (size_t i = 0; i < count; i++) {
		strbuf_add(out, i ? STR(",\n") : STR("\n"));
		add_step(out, report, &steps[i]);
	}
	strbuf_add(out, STR("]}\n"));
	arena_destroy(arena);
}

static void add_head(struct strbuf *out, const struct report *report)
{
	strbuf_add(out, STR("{\"sonde\": 1, "));
	add_key(out, "view");
	quote_json(out, str_from(report->query.view->name));
	strbuf_add(out, STR(", "));
	add_key(out, "level");
	quote_json(out, str_from(level_names[report->query.level]));
	strbuf_add(out, STR(", "));
	add_key(out, "metric");
	strbuf_add_char(out, '{');
	add_metric(out, report);
	strbuf_add_char(out, '}');
	add_total(out, report);
	strbuf_add(out, STR(", "));
	if (report->query.difference)
		add_sides(out, report);
	add_filters(out, report);
	if (report->annotation)
		add_function(out, report);
	add_frameless(out, report);
	if (report->query.other_count > 0 && report->query.difference == NULL)
		add_metrics(out, report);
	if (report->query.budget)
		add_recording(out, report);
	add_key(out, "notes");
	add_notes(out, report);
	strbuf_add(out, STR(",\n"));
	add_key(out, "rows");
	strbuf_add_char(out, '[');
}

void json_draw(struct sink *sink, const struct report *report)
{
	const struct report_query *query = &report->query;
	size_t budget = query->budget ? query->budget * BRIEF_JSON_FACTOR : SIZE_MAX;
	size_t used = 0, entries = 0;

	add_head(&sink->text, report);
	for (size_t place = 0; place < report->count && used < budget && sink_settle(sink);) {
		size_t before = sink->text.size;

		strbuf_add(&sink->text, place ? STR(",\n") : STR("\n"));
		place = add_entry(&sink->text, report, place);
		used += sink->text.size - before;
		entries++;
	}
	if (query->budget) {
		add_brief_end(&sink->text, report, entries);
		return;
	}
	strbuf_add(&sink->text, report->count ? STR("\n]}\n") : STR("]}\n"));
}
