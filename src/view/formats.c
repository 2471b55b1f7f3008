/*
 * The table of output formats.  A page (SONDE_BYTES_ONLY) draws flame graphs itself.
 */
#include "view/formats.h"

#include "view/csv.h"
#include "view/dot.h"
#include "view/folded.h"
#include "view/json.h"
#include "view/svg/svg.h"
#include "view/views.h"

/* One or two screens; other formats are for programs, which want everything. */
#define TEXT_LIMIT 50u
/* About the most boxes that Graphviz can lay out with arrows that can be followed. */
#define DOT_LIMIT 80u

static void draw_json(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	(void)style;
	for (size_t i = 0; i < count; i++)
		json_draw(sink, reports[i]);
}

static void draw_csv(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	(void)style;
	for (size_t i = 0; i < count; i++)
		csv_draw(sink, reports[i]);
}

static void draw_folded(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	(void)style;
	for (size_t i = 0; i < count; i++)
		folded_draw(sink, reports[i]);
}

#ifndef SONDE_BYTES_ONLY
static void draw_svg(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	(void)style;
	for (size_t i = 0; i < count; i++)
		svg_draw(sink, reports[i]);
}
#endif

static void draw_dot(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count)
{
	(void)style;
	for (size_t i = 0; i < count; i++)
		dot_draw(sink, reports[i]);
}

const struct format formats[] = {
	{.name = "text",
		.default_limit = TEXT_LIMIT,
		.several = true,
		.takes_columns = true,
		.collapse = COLLAPSE_FULL,
		.view = &view_functions,
		.draw = text_draw},
	{.name = "json",
		.takes_columns = true,
		.collapse = COLLAPSE_FULL,
		.view = &view_functions,
		.draw = draw_json},
	{.name = "csv",
		.notes_apart = true,
		.takes_columns = true,
		.collapse = COLLAPSE_FULL,
		.view = &view_functions,
		.draw = draw_csv},
	/* Programs that read it draw stacks themselves, so stacks are not collapsed by default. */
	{.name = "folded",
		.notes_apart = true,
		.only = &view_tree,
		.takes_modules = true,
		.collapse = COLLAPSE_NONE,
		.view = &view_tree,
		.draw = draw_folded},
#ifndef SONDE_BYTES_ONLY
	{.name = "svg",
		.draws_all = true,
		.notes_apart = true,
		.summary = "flame graph: one file for a browser, searched and zoomed there",
		.extension = ".svg",
		.only = &view_tree,
		.collapse = COLLAPSE_NONE,
		.view = &view_tree,
		.draw = draw_svg},
#endif
#ifndef SONDE_BYTES_ONLY
	/* Written by src/page: it holds the profile, not an answer. */
	{.name = "html",
		.is_page = true,
		.summary = "a page for a browser: the profile and all views, in one file",
		.extension = ".html",
		.collapse = COLLAPSE_FULL,
		.view = &view_functions},
#endif
	{.name = "dot",
		.notes_apart = true,
		.summary = "the call graph for Graphviz: dot -Tsvg draws it",
		.extension = ".dot",
		.default_limit = DOT_LIMIT,
		.only = &view_graph,
		.collapse = COLLAPSE_FULL,
		.view = &view_graph,
		.draw = draw_dot},
	{0},
};
