/*
 * Cells that all rows of entities have: name, module, place.
 */
#include "view/cells.h"

#include "analysis/centre.h"

#include "view/views.h"

struct cell cells_name(const struct report *report, size_t row)
{
	return (struct cell){.entity = report->query.view->entity(report, row)};
}

struct cell cells_module(const struct report *report, size_t row)
{
	return cell_str(report->query.view->entity(report, row)->module);
}

struct cell cells_file(const struct report *report, size_t row)
{
	return cell_str(report->query.view->entity(report, row)->file);
}

struct cell cells_line(const struct report *report, size_t row)
{
	uint32_t line = report->query.view->entity(report, row)->line;

	return (struct cell){.is_null = line == 0, .number = line};
}

struct cell cells_address(const struct report *report, size_t row)
{
	uint64_t address = report->query.view->entity(report, row)->address;

	return (struct cell){.is_null = address == 0, .is_address = true, .number = address};
}

struct cell cells_id(const struct report *report, size_t row)
{
	const struct entity *entity = report->query.view->entity(report, row);
	const struct entity *first = report->tree->entities;
	const struct centre *centre = report->callers ? report->callers->centre : NULL;
	bool is_there = (entity >= first && entity < first + report->tree->entity_count) ||
			(centre && centre->is_entity && entity == &centre->entity);

	return (struct cell){.is_null = !is_there, .is_id = is_there, .entity = entity};
}

struct cell cells_part(const struct report *report, size_t row)
{
	const struct view *view = report->query.view;
	const char *key = view->parts[view->part(report, row)].key;

	return (struct cell){.text = key ? str_from(key) : STR("own")};
}
