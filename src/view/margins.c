/*
 * Margins of the figures of a report.
 *
 * Stretches of time are further metrics, so an analysis gives the figures of all of them for the
 * same rows.  That takes as much memory for each as for the report itself; in a large profile only
 * some are made at a time, and what they give is added up.
 */
#include "view/margins.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/centre.h"
#include "base/alloc.h"
#include "view/views.h"

/* Memory for the stretches that are made at a time, and what a stack takes in one, about. */
#define STRETCHES_BYTES ((size_t)512 << 20)
#define STACK_BYTES	32
#define SAMPLE_BYTES	8

/* Rows below this fraction of the total are not worth distinguishing. */
#define ALIKE_MIN 0.01
/* Beyond this factor, taking more samples is not useful advice. */
#define TIMES_MAX 1000
/* Brief reports of profiles with more stacks do without stretches, to be quick. */
#define BRIEF_STACKS_MAX 200000u

struct margins {
	size_t row_count, stretches;
	bool is_quick;		      /* stretches were not made, to save time */
	double *margin[COLUMN_COUNT]; /* [row]; NULL: not such a column, or the view has it not */
	/*
	 * The first row whose main figure may equal the next row's, both at least ALIKE_MIN of the
	 * total, and how many times as many samples would distinguish them; times 0: there is none.
	 */
	size_t alike;
	double times;
};

/* While they are computed. */
struct making {
	const struct report *report;
	struct margins *margins;
	struct confidence confidence;
	struct chance *chance[COLUMN_COUNT]; /* [row] */
	enum column_id ranked; /* rows are in this column's order; COLUMN_END: in none */
	struct chance *steps;  /* [row] of its figure less that of the next row */
};

static struct chance_figure figure_of(const struct report *report, size_t row, enum column_id id)
{
	struct cell cell = columns[id].get(report, row);

	if (cell.is_null)
		return (struct chance_figure){0};
	return (struct chance_figure){
		(double)cell.weight + (double)cell.indirect, (double)cell.base};
}

static double share_of(struct chance_figure figure)
{
	return figure.base != 0 ? figure.weight / figure.base : 0;
}

static struct chance_figure step_of(const struct report *report, size_t row, enum column_id id)
{
	struct chance_figure one = figure_of(report, row, id), two = figure_of(report, row + 1, id);

	return (struct chance_figure){one.weight - two.weight, one.base};
}

/* Adds a stretch, whose figures that report has. */
static void add_stretch(struct making *m, size_t stretch, const struct report *of)
{
	const struct report *whole = m->report;
	size_t count = m->margins->row_count;

	for (enum column_id id = 0; id < COLUMN_COUNT; id++)
		for (size_t i = 0; i < count && m->chance[id]; i++)
			chance_add(&m->chance[id][i], stretch,
				figure_of(of, i, columns[id].margin_of),
				share_of(figure_of(whole, i, columns[id].margin_of)));
	for (size_t i = 0; i + 1 < count && m->steps; i++)
		chance_add(&m->steps[i], stretch, step_of(of, i, m->ranked),
			share_of(step_of(whole, i, m->ranked)));
}

void margins_ask(struct report_query *query, size_t first, size_t count, struct arena *arena)
{
	size_t old = query->other_count + query->hidden_count;
	metric_id *others = ARENA_ARRAY(arena, metric_id, old + count);

	for (size_t i = 0; i < old; i++)
		others[i] = query->others[i];
	for (size_t i = 0; i < count; i++)
		others[old + i].i = (uint32_t)(first + i);
	query->others = others;
	query->hidden_count += count;
	query->stretch_count = count;
}

size_t margins_stretches_max(size_t stacks)
{
	return STRETCHES_BYTES / STACK_BYTES / (stacks + 1);
}

/* How many stretches to make at a time. */
static size_t stretches_at_once(const struct report *report, bool of_samples)
{
	const struct profile *p = report->profile;
	size_t bytes = p->stack_count * STACK_BYTES +
		       (of_samples ? p->samples.count * SAMPLE_BYTES : 0),
	       count = STRETCHES_BYTES / (bytes + 1);

	return count < 1 ? 1 : count > CONFIDENCE_STRETCHES ? CONFIDENCE_STRETCHES : count;
}

/* The same report with stretches as further metrics. */
static const struct report *report_with(
	const struct making *m, size_t first, size_t count, bool of_samples, struct arena *arena)
{
	const struct selection *selection =
		confidence_selection(&m->confidence, first, count, of_samples, arena);
	struct report_query query = m->report->query;

	margins_ask(&query, m->report->profile->metric_count, count, arena);
	query.confidence = false;
	query.sort = NULL;
	const struct entity_tree *tree = report_tree(selection, &query, arena);

	if (query.centre) {
		/* The centre was found in a tree of the same entities. */
		struct error *err = centre_find(
			tree, query.level, str_from(query.center), arena, &query.centre);

		assert(err == NULL);
		error_destroy(err);
	}
	return report_create(m->report->selection, tree, &query, arena);
}

static void add_stretches(struct making *m)
{
	enum level level = m->report->query.level;
	bool of_samples = level == LEVEL_ZONE || level_is_of_tasks(level);
	size_t most = stretches_at_once(m->report, of_samples), all = m->confidence.stretches;

	for (size_t first = 0; first < all; first += most) {
		size_t count = all - first < most ? all - first : most;
		struct arena *arena = arena_create();
		const struct report *made = report_with(m, first, count, of_samples, arena);

		assert(made->row_count == m->margins->row_count);
		for (size_t k = 0; k < count; k++)
			add_stretch(m, first + k, made->others[made->query.other_count + k]);
		arena_destroy(arena);
	}
}

/* Of a listing, whose stretches its report has. */
static void add_listed(struct making *m)
{
	const struct report_query *query = &m->report->query;

	assert(query->stretch_count == m->confidence.stretches);
	for (size_t k = 0; k < m->confidence.stretches; k++)
		add_stretch(m, k, m->report->others[query->other_count + k]);
}

static void find_alike(struct making *m)
{
	for (size_t i = 0; i + 1 < m->margins->row_count && m->steps; i++) {
		struct chance_figure one = figure_of(m->report, i, m->ranked),
				     two = figure_of(m->report, i + 1, m->ranked);

		if (one.base <= 0 || two.weight < ALIKE_MIN * one.base)
			return;
		double times = confidence_times(
			&m->confidence, &m->steps[i], one.weight, two.weight, one.base);

		if (times > 1) {
			m->margins->alike = i;
			m->margins->times = times;
			return;
		}
	}
}

static size_t stretches_wanted(const struct report *report)
{
	const struct report_query *query = &report->query;

	if (query->listing)
		return query->stretch_count;
	return query->budget && report->profile->stack_count > BRIEF_STACKS_MAX
		       ? 0
		       : CONFIDENCE_STRETCHES;
}

static void making_init(struct making *m, const struct report *report, struct arena *arena)
{
	const struct report_query *query = &report->query;
	const struct view *view = query->view;
	size_t rows = report->row_count;

	*m = (struct making){.report = report,
		.margins = ARENA_NEW(arena, struct margins),
		.ranked = COLUMN_END};
	m->margins->row_count = rows;
	size_t wanted = stretches_wanted(report);
	confidence_init(&m->confidence, report->selection, query->metric, wanted);
	m->margins->is_quick = wanted == 0 && query->listing == NULL;
	m->margins->stretches = m->confidence.stretches;
	for (enum column_id id = 0; id < COLUMN_COUNT; id++) {
		if (!columns[id].of_confidence || !view_has_column(view, id))
			continue;
		m->margins->margin[id] = ARENA_ARRAY(arena, double, rows);
		m->chance[id] = xcalloc(rows + 1, sizeof(*m->chance[id]));
	}
	if (view->sorts && view->parts == NULL) {
		m->ranked = view->main_column;
		m->steps = xcalloc(rows + 1, sizeof(*m->steps));
	}
}

const struct margins *margins_create(const struct report *report, struct arena *arena)
{
	struct making m;

	making_init(&m, report, arena);
	if (report->query.listing)
		add_listed(&m);
	else
		add_stretches(&m);
	for (enum column_id id = 0; id < COLUMN_COUNT; id++) {
		for (size_t i = 0; i < report->row_count && m.chance[id]; i++)
			m.margins->margin[id][i] = confidence_margin(&m.confidence,
				&m.chance[id][i], figure_of(report, i, columns[id].margin_of));
		free(m.chance[id]);
	}
	find_alike(&m);
	free(m.steps);
	confidence_deinit(&m.confidence);
	return m.margins;
}

const char *margins_few_note(const struct margins *margins)
{
	if (margins->is_quick)
		return "margins are those of independent samples; without --brief, --confidence "
		       "also measures how they cluster";
	return margins->stretches > 0
		       ? NULL
		       : "margins are those of independent samples, as these are too "
			 "few to show how they cluster";
}

const char *margins_alike_note(
	const struct margins *margins, const struct report *report, struct arena *arena)
{
	const struct view *view = report->query.view;
	uint64_t ran_ns = report->profile->stats.duration_ns;
	struct strbuf line = {0}, one = {0}, two = {0};
	double times = margins->times;

	if (times <= 1)
		return NULL;
	strbuf_printf(&line, "%.*s and %.*s can't be distinguished: ",
		STR_ARG(entity_label_apart(view->entity(report, margins->alike), &one)),
		STR_ARG(entity_label_apart(view->entity(report, margins->alike + 1), &two)));
	if (isinf(times))
		strbuf_add(&line, STR("their figures are equal here"));
	else if (times > TIMES_MAX)
		strbuf_add(&line, STR("a thousand times as many samples would not do"));
	else if (ran_ns == UINT64_MAX)
		strbuf_printf(&line, "that takes %.1f times as many samples", times);
	else
		strbuf_printf(&line, "record %.3g s more of the same",
			(double)ran_ns / 1e9 * (times - 1));
	const char *note = arena_printf(arena, "%s", line.data);

	strbuf_deinit(&line);
	strbuf_deinit(&one);
	strbuf_deinit(&two);
	return note;
}

struct cell margins_cell(const struct report *report, size_t row, enum column_id id)
{
	const struct margins *margins = report->margins;

	if (margins == NULL || margins->margin[id] == NULL)
		return (struct cell){.is_null = true};
	struct cell cell = columns[columns[id].margin_of].get(report, row);

	return (struct cell){.is_null = cell.is_null,
		.is_blank = cell.is_blank,
		.weight = llround(margins->margin[id][row]),
		.base = cell.base};
}
