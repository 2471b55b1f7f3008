/*
 * What brief reports add to others: the recording's fitness, and the next questions, which follow
 * from the rows: who calls the heaviest function, its lines, the call tree.
 */
#include "view/brief.h"

#include <inttypes.h>

#include "analysis/certificate.h"
#include "analysis/entity_id.h"
#include "base/escape.h"
#include "view/difference.h"
#include "view/report.h"
#include "view/text/fit.h"
#include "view/text/units.h"
#include "view/views.h"

#define ROWS	  10u
#define ROWS_TREE 16u
/* Entries of views whose entries have several rows. */
#define ROWS_ENTRIES 2u
#define ROWS_CODE    20u

size_t brief_limit(const struct view *view)
{
	if (view == &view_annotate)
		return ROWS_CODE;
	return view->is_tree ? ROWS_TREE : view->parts ? ROWS_ENTRIES : ROWS;
}

/* ---- the recording ---- */

static void add_count(struct strbuf *out, uint64_t count, const char *what)
{
	if (count == UINT64_MAX)
		return;
	strbuf_add(out, out->size ? STR(", ") : STR(""));
	number_put(out, count);
	strbuf_printf(out, " %s", what);
}

/* Truncated and guessed stacks, apart if the source tells them apart. */
static void add_critical(struct strbuf *out, const struct profile_stats *stats)
{
	uint64_t critical = stats->critical, guessed = stats->guessed;

	if (guessed == UINT64_MAX || guessed > critical) {
		add_count(out, critical, "truncated");
		return;
	}
	add_count(out, critical == UINT64_MAX ? critical : critical - guessed, "truncated");
	add_count(out, guessed, "guessed");
}

static void add_samples(struct strbuf *out, const struct profile_stats *stats)
{
	bool has_due = stats->expected != UINT64_MAX;

	if (stats->counted == UINT64_MAX)
		return;
	number_put(out, stats->counted);
	strbuf_add(out, has_due ? STR(" of ") : STR(" samples"));
	if (!has_due)
		return;
	number_put(out, stats->expected);
	strbuf_add(out, STR(" samples due"));
}

const char *brief_recording_of(const struct profile *profile, struct arena *arena)
{
	struct certificate c = certificate_of(profile);
	const char *verdict = !c.is_known ? "not judged, its source does not count samples due"
			      : certificate_is_fit(&c) ? "fit as evidence"
						       : "not fit as evidence";
	const char *flaw = certificate_text(&c, arena);
	struct strbuf counts = {0};

	add_samples(&counts, &profile->stats);
	add_count(&counts, profile->stats.lost, "lost");
	add_critical(&counts, &profile->stats);
	const char *line = arena_printf(arena, "%s%s%s%s%s", verdict, counts.size ? ": " : "",
		counts.size ? counts.data : "", flaw ? "; " : "", flaw ? flaw : "");

	strbuf_deinit(&counts);
	return line;
}

const char *brief_recording(const struct report *report, struct arena *arena)
{
	const struct difference *d = report->query.difference;

	if (d == NULL)
		return brief_recording_of(report->profile, arena);
	return arena_printf(arena, "old %s; new %s", brief_recording_of(d->old_profile, arena),
		brief_recording_of(d->new_profile, arena));
}

enum brief_fitness brief_fitness(const struct report *report)
{
	const struct difference *d = report->query.difference;
	const struct profile *profiles[] = {
		d ? d->old_profile : report->profile, d ? d->new_profile : report->profile};
	enum brief_fitness fitness = BRIEF_FIT;

	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		struct certificate c = certificate_of(profiles[i]);

		if (!certificate_is_fit(&c))
			return BRIEF_UNFIT;
		if (!c.is_known)
			fitness = BRIEF_UNKNOWN;
	}
	return fitness;
}

/* ---- notes ---- */

struct note_list {
	struct arena *arena;
	struct brief_note *notes;
	size_t count, left_out;
};

static void list_note(struct note_list *list, const struct note *note, const char *text)
{
	if (list->count < BRIEF_NOTES)
		list->notes[list->count++] = (struct brief_note){note, text};
	else
		list->left_out++;
}

static void list_notes(struct note_list *list, const struct profile *profile, bool of_loss)
{
	for (size_t i = 0; i < profile->note_count; i++) {
		const struct note *note = &profile->notes[i];
		const char *text = profile_string(profile, note->text).data;

		if (note_is_of_loss(note) != of_loss)
			continue;
		list_note(list, note,
			note_shows_count(note)
				? arena_printf(list->arena, "%" PRIu64 " %s", note->count, text)
				: text);
	}
}

size_t brief_notes(const struct report *report, struct arena *arena,
	struct brief_note notes[BRIEF_NOTES], size_t *left_out)
{
	struct note_list list = {.arena = arena, .notes = notes};

	list_notes(&list, report->profile, true);
	for (size_t i = 0; i < report->query.remark_count; i++)
		list_note(&list, NULL, report->query.remarks[i]);
	list_notes(&list, report->profile, false);
	*left_out = list.left_out;
	return list.count;
}

/* ---- the next questions ---- */

struct next {
	const struct report *report;
	const struct brief_subject *subject;
	struct arena *arena;
	struct brief_step *steps;
	size_t count;
};

static void add_step(struct next *n, const char *command, const char *arguments, const char *shows)
{
	if (n->count < BRIEF_STEPS_MAX)
		n->steps[n->count++] = (struct brief_step){command, arguments, shows};
}

/* A step of the report command, or of the difference. */
static void add_view(struct next *n, const char *view, const char *shows)
{
	bool is_tool = n->subject->form == BRIEF_TOOLS;

	add_step(n, n->subject->is_difference ? "diff" : "report",
		arena_printf(n->arena, is_tool ? "\"view\": \"%s\"" : "--view %s", view), shows);
}

static const char *id_of(struct next *n, const struct entity *entity)
{
	struct strbuf id = {0};

	entity_id_put(&id, entity);
	const char *text = arena_printf(n->arena, "%s", id.data);
	strbuf_deinit(&id);
	return text;
}

static const char *name_of(struct next *n, const struct entity *entity)
{
	struct strbuf label = {0}, scratch = {0};
	struct str name = brief_name(entity_label_apart(entity, &label), &scratch);
	const char *text = arena_str(n->arena, name).data;

	strbuf_deinit(&label);
	strbuf_deinit(&scratch);
	return text;
}

static void add_callers(struct next *n, const struct entity *entity)
{
	const char *id = id_of(n, entity);
	const char *shows = arena_printf(n->arena, "callers and callees of %s", name_of(n, entity));

	if (n->subject->form == BRIEF_TOOLS && !n->subject->is_difference)
		add_step(n, "callers", arena_printf(n->arena, "\"function\": \"%s\"", id), shows);
	else
		add_step(n, n->subject->is_difference ? "diff" : "report",
			arena_printf(n->arena,
				n->subject->form == BRIEF_TOOLS ? "\"center\": \"%s\""
								: "--center %s",
				id),
			shows);
}

static void add_annotate(struct next *n, const struct entity *entity)
{
	const char *id = id_of(n, entity);
	const char *shows = arena_printf(n->arena, "lines of %s", name_of(n, entity));

	if (n->subject->is_difference || entity->file.size == 0 || n->report->query.same_count)
		return;
	add_step(n, "annotate",
		n->subject->form == BRIEF_TOOLS ? arena_printf(n->arena, "\"function\": \"%s\"", id)
						: id,
		shows);
}

/* The place of the shown row with the largest figure, or report->count. */
static size_t heaviest_place(const struct report *report)
{
	const struct view *view = report->query.view;
	enum column_id id = view->is_tree ? COLUMN_IN_ONLY : view->main_column;
	size_t best = report->count;
	int64_t most = 0;

	for (size_t place = 0; place < report->count; place++) {
		size_t row = report_row(report, place);
		struct cell is_there = columns[COLUMN_ID].get(report, row);

		if (is_there.is_null || (view->parts && view->part(report, row) != 0))
			continue;
		struct cell cell = columns[id].get(report, row);
		int64_t size = cell.is_null ? 0 : cell.weight + cell.indirect;

		size = size < 0 ? -(size + 1) : size;
		if (best == report->count || size > most) {
			best = place;
			most = size;
		}
	}
	return best;
}

/* The heaviest caller or callee of the first entry; NULL: none has an id. */
static const struct entity *heaviest_neighbour(const struct report *report)
{
	const struct view *view = report->query.view;

	for (size_t place = 1; place < report->count; place++) {
		size_t row = report_row(report, place);

		if (view->part(report, row) == 0)
			return NULL;
		if (!columns[COLUMN_ID].get(report, row).is_null)
			return view->entity(report, row);
	}
	return NULL;
}

/* The function that the report is about, or its heaviest one; NULL: none can be named. */
static const struct entity *main_entity(const struct report *report, struct arena *arena)
{
	const struct view *view = report->query.view;

	if (report->annotation) {
		struct entity *entity = ARENA_NEW(arena, struct entity);

		*entity = entity_of_function(report->profile, report->annotation->function);
		return entity;
	}
	if (view->entity == NULL || report->query.level != LEVEL_FUNCTION ||
		!view_has_column(view, COLUMN_ID) || view->main_column == COLUMN_NAME)
		return NULL;
	size_t place = heaviest_place(report);

	return place == report->count ? NULL : view->entity(report, report_row(report, place));
}

static void add_of_function(struct next *n, const struct entity *entity)
{
	const struct report *report = n->report;
	const struct view *view = report->query.view;
	bool has_stacks = report->profile->has_stacks || report->profile->arc_cost;

	if (view == &view_callers && report->query.centre) {
		const struct entity *neighbour = heaviest_neighbour(report);

		if (neighbour)
			add_callers(n, neighbour);
	} else if (has_stacks) {
		add_callers(n, entity);
	}
	if (report->annotation == NULL)
		add_annotate(n, entity);
}

size_t brief_next(
	const struct report *report, struct arena *arena, struct brief_step steps[BRIEF_STEPS_MAX])
{
	const struct brief_subject *subject = report->query.subject;
	const struct view *view = report->query.view;
	struct next n = {report, subject, arena, steps, 0};
	const struct entity *entity = main_entity(report, arena);

	if (subject == NULL)
		return 0;
	if (entity)
		add_of_function(&n, entity);
	if (view != &view_functions || report->query.level != LEVEL_FUNCTION)
		add_view(&n, "functions", "each function's own figures");
	if (!view->is_tree && report->profile->has_stacks)
		add_view(&n, "tree", "who called whom, recursion collapsed");
	if (view != &view_stats && !subject->is_difference)
		add_view(&n, "stats", "what was lost, and how good the recording is");
	return n.count;
}

void brief_step_put(struct strbuf *out, const struct report *report, const struct brief_step *step)
{
	const struct brief_subject *s = report->query.subject;
	bool both = s->arguments[0] && step->arguments[0];

	if (s->form == BRIEF_TOOLS)
		strbuf_printf(out, "%s {%s%s%s}", step->command, s->arguments, both ? ", " : "",
			step->arguments);
	else
		strbuf_printf(out, "sonde %s%s%s%s --brief", step->command, s->arguments,
			step->arguments[0] ? " " : "", step->arguments);
}

struct str brief_name(struct str name, struct strbuf *scratch)
{
	struct strbuf escaped = {0};

	if (name.size <= BRIEF_NAME_MAX)
		return name;
	strbuf_clear(scratch);
	escape_text(&escaped, name);
	fit_text(scratch, strbuf_str(&escaped), BRIEF_NAME_MAX, true);
	strbuf_deinit(&escaped);
	return strbuf_str(scratch);
}
