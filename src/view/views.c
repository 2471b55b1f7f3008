/*
 * The tables of views, in the order in which help lists them.
 */
#include "view/views.h"

const struct view *const views[] = {
	&view_functions,
	&view_callers,
	&view_tree,
	&view_graph,
	&view_deep,
	&view_modules,
	&view_lines,
	&view_threads,
	&view_zones,
	&view_heat,
	&view_stats,
	NULL,
};

bool level_has_modules(enum level level)
{
	return level != LEVEL_MODULE && !level_is_of_tasks(level);
}

bool column_list_has(const enum column_id *list, enum column_id id)
{
	while (*list != COLUMN_END)
		if (*list++ == id)
			return true;
	return false;
}

bool view_shows_column(const struct report *report, enum column_id id)
{
	const struct view *view = report->query.view;

	if (columns[id].of_confidence && report->margins == NULL)
		return false;
	return view->has_column == NULL || view->has_column(report, id);
}

bool view_has_column(const struct view *view, enum column_id id)
{
	return column_list_has(view->data_columns, id) || column_list_has(view->more_columns, id);
}

bool view_has_margins(const struct view *view)
{
	for (enum column_id id = 0; id < COLUMN_COUNT; id++)
		if (columns[id].of_confidence && view_has_column(view, id))
			return true;
	return false;
}

const enum column_id *level_columns(enum level level)
{
	static const enum column_id none[] = {COLUMN_END};
	static const enum column_id line[] = {COLUMN_FILE, COLUMN_LINE, COLUMN_END};
	static const enum column_id instruction[] = {
		COLUMN_FILE, COLUMN_LINE, COLUMN_ADDRESS, COLUMN_END};

	if (level == LEVEL_INSTRUCTION)
		return instruction;
	return level == LEVEL_LINE ? line : none;
}
