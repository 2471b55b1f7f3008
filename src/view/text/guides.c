/*
 * Indentation by units: each unit is two columns wide and belongs to one ancestor.  A first pass
 * over the shown rows finds out which have a later sibling (their line continues) and which are
 * only children; the second, while drawing, keeps for each level the unit it is drawn at.
 */
#include "view/text/guides.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "view/views.h"

#define UNIT_COLUMNS 2u
/* Without a terminal: wide enough for any tree that people read. */
#define UNITS_UNLIMITED 40u
#define UNITS_MIN	6u

struct guide_row {
	uint32_t children;
	bool has_next; /* a later sibling is shown */
};

struct guides {
	const struct report *report;
	struct guide_row *rows; /* [place] */
	uint32_t *level_place;	/* [level] the row that was last drawn there */
	uint32_t *level_unit;	/* [level] how many units its guides take */
	bool *goes_on;		/* [unit] whether its line continues below */
	size_t units_max;
	bool straight; /* only children are not indented */
	bool utf8;
};

static const struct calltree_row *guides_row(const struct guides *g, size_t place)
{
	return &g->report->calltree->rows[report_row(g->report, place)];
}

static void guides_measure(struct guides *g, size_t level_count)
{
	uint32_t *previous = xcalloc(level_count + 1, sizeof(*previous));
	uint32_t level_max = 0;

	/* previous[level]: place + 1 of the last row there under the current parent. */
	for (size_t i = 0; i < g->report->count; i++) {
		uint32_t level = guides_row(g, i)->level;

		if (previous[level])
			g->rows[previous[level] - 1].has_next = true;
		if (level > 1)
			g->rows[previous[level - 1] - 1].children++;
		previous[level] = (uint32_t)i + 1;
		previous[level + 1] = 0;
		if (level > level_max)
			level_max = level;
	}
	free(previous);
	g->straight = level_max > g->units_max + 1;
}

struct guides *guides_create(const struct report *report, const struct text_style *style)
{
	struct guides *g = xalloc(sizeof(*g));
	size_t level_count = (size_t)report->calltree->level_max + 1;

	g->report = report;
	g->utf8 = style->utf8;
	/* Guides get a quarter of the width, which leaves names about half of it. */
	g->units_max = style->width ? style->width / 4 / UNIT_COLUMNS : UNITS_UNLIMITED;
	if (g->units_max < UNITS_MIN)
		g->units_max = UNITS_MIN;
	g->rows = xcalloc(report->count + 1, sizeof(*g->rows));
	g->level_place = xcalloc(level_count, sizeof(*g->level_place));
	g->level_unit = xcalloc(level_count, sizeof(*g->level_unit));
	g->goes_on = xcalloc(g->units_max + 1, sizeof(*g->goes_on));
	guides_measure(g, level_count);
	return g;
}

void guides_destroy(struct guides *g)
{
	free(g->rows);
	free(g->level_place);
	free(g->level_unit);
	free(g->goes_on);
	free(g);
}

/* Enters the row into the levels' state; returns whether it has a guide of its own. */
static bool guides_enter(struct guides *g, size_t place, uint32_t level)
{
	bool own = false;
	uint32_t units = 0;

	if (level > 1) {
		size_t parent = g->level_place[level - 1];

		own = !g->straight || g->rows[parent].children > 1;
		units = g->level_unit[level - 1] + own;
	}
	g->level_place[level] = (uint32_t)place;
	g->level_unit[level] = units;
	if (own && units <= g->units_max)
		g->goes_on[units] = g->rows[place].has_next;
	return own;
}

static struct str guides_fork(const struct guides *g, size_t place, bool too_deep)
{
	if (too_deep)
		return g->utf8 ? STR("» ") : STR("> ");
	if (g->rows[place].has_next)
		return g->utf8 ? STR("├ ") : STR("|-");
	return g->utf8 ? STR("└ ") : STR("`-");
}

static void guides_draw(struct guides *g, size_t place, uint32_t level, struct strbuf *out)
{
	bool own = guides_enter(g, place, level);
	uint32_t units = g->level_unit[level];
	bool too_deep = units > g->units_max;
	size_t bars = too_deep ? g->units_max - 1 : units - own;

	for (size_t unit = 1; unit <= bars; unit++) {
		if (g->goes_on[unit])
			strbuf_add(out, g->utf8 ? STR("│ ") : STR("| "));
		else
			strbuf_add(out, STR("  "));
	}
	if (own || too_deep)
		strbuf_add(out, guides_fork(g, place, too_deep));
}

static const struct entity *guides_entity(const struct guides *g, size_t row)
{
	return g->report->query.view->entity(g->report, row);
}

void guides_label(void *context, size_t place, struct table_label *label)
{
	struct guides *g = context;
	const struct calltree_row *row = guides_row(g, place);
	struct str module = guides_entity(g, report_row(g->report, place))->module;

	guides_draw(g, place, row->level, &label->before);
	label->is_stub = row->is_stub;
	if (row->is_stub || g->report->query.level == LEVEL_MODULE)
		return;
	if (row->parent == NO_ID || !str_equal(module, guides_entity(g, row->parent)->module))
		label->module = module;
}
