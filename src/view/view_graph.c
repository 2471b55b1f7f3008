/*
 * The call graph as gprof lays it out: an entry for each function and each cycle, its own line
 * with a number in front, above it who called it, below it what it called; then an index by name,
 * and what the columns mean.
 *
 * The heaviest lines are next to the entry's own, so callers are drawn from the last to the first.
 */
#include "analysis/callgraph.h"

#include "analysis/measured.h"
#include "analysis/propagate.h"
#include "view/graph_rows.h"
#include "view/text/part_fold.h"
#include "view/text/graph_index.h"
#include "view/text/table.h"
#include "view/text/text.h"
#include "view/views.h"

static void graph_view_analyse(struct report *report, struct arena *arena)
{
	const struct entity_tree *tree = report->tree;
	const struct report_query *query = &report->query;
	size_t limit = query->sort || query->difference ? 0 : query->limit;

	if (report->profile->has_stacks)
		report->callgraph =
			callgraph_analyse(tree, tree->arcs, tree->arc_count, limit, arena);
	else if (tree->arc_cost)
		report->callgraph = callgraph_measured(tree, arena);
	else
		report->callgraph = callgraph_propagate(tree, tree->arcs, tree->arc_count, arena);
	report->row_count = report->callgraph->shown_count + report->callgraph->line_count;
	report->left_out = report->callgraph->entry_count - report->callgraph->shown_count;
}

/* The entry's own row is part 0, so the parts of lines are counted from 1. */
static size_t graph_view_part(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	return r.line ? 1 + (size_t)r.part : 0;
}

static const struct entity *graph_view_entity(const struct report *report, size_t row)
{
	static const struct entity spontaneous = {
		.name = {"<spontaneous>", sizeof("<spontaneous>") - 1}, .occurrence = 1};
	struct graph_row r = graph_row(report, row);
	uint32_t entity = r.line ? r.line->entity : r.entry->entity;

	if (entity != NO_ID)
		return &report->callgraph->entities[entity];
	return r.line ? &spontaneous : &report->callgraph->cycles[r.entry->cycle - 1];
}

static int64_t graph_view_weight(const struct report *report, size_t row)
{
	const struct callgraph_line *line = graph_row(report, row).line;

	return line->has_times ? line->self + line->children : 0;
}

/* Lines are indented under the entry's own; names are followed by their cycle and number. */
static void graph_view_label(void *context, size_t place, struct table_label *label)
{
	const struct part_fold *fold = context;
	const struct report *report = &fold->drawn;
	size_t row = report_row(report, place);
	struct graph_row r = graph_row(report, row);
	uint32_t cycle = graph_row_cycle(report, row);
	bool is_cycle = r.line == NULL && r.entry->entity == NO_ID;
	size_t index = r.line ? r.line->entry : r.index;

	label->begins =
		place > 0 && graph_row(report, report_row(report, place - 1)).index != r.index;
	label->is_main = r.line == NULL;
	if (r.line)
		strbuf_add(&label->before, STR("    "));
	if (cycle != 0 && !is_cycle)
		strbuf_printf(&label->after, " <cycle %u>", cycle);
	if (index != NO_ID)
		strbuf_printf(&label->after, " [%zu]", index + 1);
	label->is_aside_above = part_fold_put(fold, place, &label->aside);
}

/* Narrower terminals have no counts of calls; still narrower ones no percentages. */
#define CALLED_WIDTH_MIN  56u
#define PERCENT_WIDTH_MIN 44u
/* Additional width for each further metric. */
#define WIDTH_MORE 34u

static void graph_view_columns(const struct report *report, struct table *table)
{
	size_t others = report->query.other_count;

	for (size_t m = 0; m <= others; m++) {
		if (report->query.percent != PERCENT_RAW &&
			!text_is_narrower(table->text, PERCENT_WIDTH_MIN + WIDTH_MORE * others))
			table_add_of(table, m, COLUMN_PERCENT);
		if (report->margins && m == 0)
			table_add(table, COLUMN_SELF_AND_CHILDREN_MARGIN);
		table_add_of(table, m, COLUMN_SELF);
		table_add_of(table, m, COLUMN_CHILDREN);
	}
	if (report->callgraph->has_calls &&
		!text_is_narrower(table->text, CALLED_WIDTH_MIN + WIDTH_MORE * others))
		table_add(table, COLUMN_CALLED);
	table_add(table, COLUMN_NAME);
}

/* Narrower terminals have only the change of self and children together. */
#define DIFFERENCE_WIDTH_MIN 72u

static void graph_view_difference(struct table *table)
{
	table_add(table, COLUMN_SELF_AND_CHILDREN);
	table_add(table, COLUMN_SELF_AND_CHILDREN_CHANGE);
	table_add_of(table, 1, COLUMN_SELF_AND_CHILDREN);
	table_add_of(table, 2, COLUMN_SELF_AND_CHILDREN);
	if (!text_is_narrower(table->text, DIFFERENCE_WIDTH_MIN)) {
		table_add(table, COLUMN_SELF);
		table_add(table, COLUMN_CHILDREN);
	}
	table_add(table, COLUMN_NAME);
}

static const char *const index_field[] = {
	"[n]       number of the entry. Names are followed by the number of theirs.",
};

static const char *const percent_field[] = {
	"%         self and children of the entry, as part of the total.",
};

static const char *const margin_field[] = {
	"±         how far self and children, as part of the total, may be off by chance.",
};

static const char *const difference_fields[] = {
	"self+children  the change of both together; what they were, and are. By it entries and",
	"          lines are ordered, whichever way it is.",
};

static const char *const fields[] = {
	"self      spent in the function itself; of a cycle, in its members.",
	"children  spent in what it called, and what that called, until it returned.",
};

static const char *const line_fields[] = {
	"above it  who called it: how much of its self and children was for this caller. They",
	"          add up to the entry's. <spontaneous>: no caller, a stack begins here.",
	"below it  what it called: the callee's own time, and time below the callee, for this",
	"          entry. They add up to the entry's children.",
};

static const char *const cycle_fields[] = {
	"<cycle n> functions that call each other, so that each is below the others. They are",
	"          measured as one: a caller's line has the time of the whole cycle, a line",
	"          between members none. The cycle's own entry lists its members first.",
};

static const char *const called_fields[] = {
	"called    calls. In an entry n+m: n from outside, m of a function to itself or within a",
	"          cycle. In a line n/m: n along it, of m from outside. Blank: not counted.",
};

static void put_fields(struct text *text, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		strbuf_printf(&text->sink->text, "%s\n", lines[i]);
}

static void draw_fields(struct text *text, const struct report *report)
{
	const struct callgraph *graph = report->callgraph;

	strbuf_add_char(&text->sink->text, '\n');
	text_ink(text, INK_DIM);
	put_fields(text, index_field, ARRAY_SIZE(index_field));
	if (report->query.difference)
		put_fields(text, difference_fields, ARRAY_SIZE(difference_fields));
	else
		put_fields(text, percent_field, ARRAY_SIZE(percent_field));
	if (report->margins)
		put_fields(text, margin_field, ARRAY_SIZE(margin_field));
	put_fields(text, fields, ARRAY_SIZE(fields));
	if (graph->has_calls)
		put_fields(text, called_fields, ARRAY_SIZE(called_fields));
	put_fields(text, line_fields, ARRAY_SIZE(line_fields));
	if (graph->cycle_count)
		put_fields(text, cycle_fields, ARRAY_SIZE(cycle_fields));
	text_ink(text, INK_PLAIN);
}

static void graph_view_title(struct text *text, const struct report *report)
{
	const struct callgraph *graph = report->callgraph;
	const char *what = report->query.difference ? "Change of the call graph" : "Call graph";
	const char *how = graph->is_estimated  ? "estimated from counts of calls"
			  : graph->is_measured ? "measured along calls"
					       : "exact";

	if (graph->cycle_count == 0)
		text_title(text, "%s, %s", what, how);
	else
		text_title(text, "%s, %s, %zu cycle%s", what, how, graph->cycle_count,
			graph->cycle_count == 1 ? "" : "s");
}

static void graph_view_draw(struct text *text, const struct report *report)
{
	struct part_fold fold;
	struct table table;

	part_fold_init(&fold, report, graph_view_weight, NULL);
	graph_view_title(text, report);
	table_init(&table, text, &fold.drawn);
	if (report->query.column_count) {
		table_add_asked(&table);
	} else {
		table_add(&table, COLUMN_ENTRY_NUMBER);
		if (report->query.difference)
			graph_view_difference(&table);
		else
			graph_view_columns(report, &table);
	}
	table_draw(&table, graph_view_label, &fold);
	table_deinit(&table);
	part_fold_deinit(&fold);
	text_more_rows(text, report);
	if (report->count == 0)
		return;
	graph_index_draw(text, report);
	if (!report->query.brief)
		draw_fields(text, report);
}

#define MARGIN_COLUMNS COLUMN_SELF_MARGIN, COLUMN_CHILDREN_MARGIN, COLUMN_SELF_AND_CHILDREN_MARGIN
#define LINE_COLUMNS                                                                               \
	COLUMN_NAME, COLUMN_MODULE, COLUMN_INDEX, COLUMN_SELF, COLUMN_CHILDREN, COLUMN_CALLS,      \
		MARGIN_COLUMNS

static const enum column_id data_columns[] = {
	COLUMN_ENTRY,
	COLUMN_PART,
	COLUMN_INDEX,
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_GRAPH_KIND,
	COLUMN_CYCLE,
	COLUMN_PERCENT,
	COLUMN_SELF,
	COLUMN_CHILDREN,
	COLUMN_CALLED,
	COLUMN_CALLS,
	COLUMN_OF,
	MARGIN_COLUMNS,
	COLUMN_END,
};

static const enum column_id entry_columns[] = {
	COLUMN_INDEX,
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_GRAPH_KIND,
	COLUMN_CYCLE,
	COLUMN_PERCENT,
	COLUMN_SELF,
	COLUMN_CHILDREN,
	COLUMN_CALLED,
	MARGIN_COLUMNS,
	COLUMN_END,
};

static const enum column_id line_columns[] = {LINE_COLUMNS, COLUMN_OF, COLUMN_END};
static const enum column_id member_columns[] = {LINE_COLUMNS, COLUMN_END};
static const enum column_id entry_metric_columns[] = {
	COLUMN_PERCENT, COLUMN_SELF, COLUMN_CHILDREN, COLUMN_END};
static const enum column_id line_metric_columns[] = {COLUMN_SELF, COLUMN_CHILDREN, COLUMN_END};
static const enum column_id more_columns[] = {COLUMN_SELF_AND_CHILDREN,
	COLUMN_SELF_AND_CHILDREN_CHANGE, COLUMN_SIGNIFICANT, COLUMN_FILE, COLUMN_LINE,
	COLUMN_ADDRESS, COLUMN_ID, COLUMN_END};

static const struct view_part parts[] = {
	{NULL, entry_columns, entry_metric_columns, COLUMN_SELF_AND_CHILDREN, false},
	{"callers", line_columns, line_metric_columns, COLUMN_SELF_AND_CHILDREN, false},
	{"members", member_columns, line_metric_columns, COLUMN_SELF_AND_CHILDREN, true},
	{"callees", line_columns, line_metric_columns, COLUMN_SELF_AND_CHILDREN, false},
};

const struct view view_graph = {
	.name = "graph",
	.summary = "callers and callees of each function, recursion measured as cycles",
	.data_columns = data_columns,
	.more_columns = more_columns,
	.metric_columns = entry_metric_columns,
	.parts = parts,
	.part_count = ARRAY_SIZE(parts),
	.part = graph_view_part,
	.main_column = COLUMN_SELF_AND_CHILDREN,
	.joins_metrics = true,
	.has_levels = true,
	.analyse = graph_view_analyse,
	.entity = graph_view_entity,
	.draw = graph_view_draw,
};
