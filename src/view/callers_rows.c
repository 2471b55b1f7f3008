/*
 * Rows of the callers view.  A centre's own row comes before its lines, so the row of a line is its
 * number plus the number of centres up to its own.
 */
#include "view/callers_rows.h"

static const struct entity total_entity = {
	.name = {"<Total>", sizeof("<Total>") - 1}, .occurrence = 1};

const struct callers_rows *callers_rows_create(const struct report *report, struct arena *arena)
{
	struct callers_rows *r = ARENA_NEW(arena, struct callers_rows);
	const struct callers *c = report->callers;
	size_t row = 0;

	r->entry = ARENA_ARRAY(arena, uint32_t, c->count + c->line_count);
	for (uint32_t i = 0; i < c->count; i++)
		for (size_t n = 1 + c->rows[i].caller_count + c->rows[i].callee_count; n > 0; n--)
			r->entry[row++] = i;
	r->function = ARENA_ARRAY(arena, uint32_t, report->tree->entity_count);
	for (size_t i = 0; i < report->tree->entity_count; i++)
		r->function[i] = NO_ID;
	for (uint32_t i = 0; i < report->functions->count; i++)
		r->function[report->functions->rows[i].entity] = i;
	return r;
}

const struct callers_row *callers_rows_centre(const struct report *report, size_t row)
{
	return &report->callers->rows[report->callers_rows->entry[row]];
}

/* 0 for the centre's own row, and from 1 for its lines. */
static size_t place_in_entry(const struct report *report, size_t row)
{
	uint32_t entry = report->callers_rows->entry[row];

	return row - entry - report->callers->rows[entry].first_line;
}

size_t callers_rows_part(const struct report *report, size_t row)
{
	size_t place = place_in_entry(report, row);

	if (place == 0)
		return CALLERS_OWN;
	return place <= callers_rows_centre(report, row)->caller_count ? CALLERS_CALLERS
								       : CALLERS_CALLEES;
}

const struct callers_line *callers_rows_line(const struct report *report, size_t row)
{
	uint32_t entry = report->callers_rows->entry[row];

	return place_in_entry(report, row) == 0 ? NULL : &report->callers->lines[row - entry - 1];
}

/* NO_ID: <Total>, or the report's own centre. */
static uint32_t row_entity(const struct report *report, size_t row)
{
	const struct callers_line *line = callers_rows_line(report, row);

	return line ? line->entity : callers_rows_centre(report, row)->entity;
}

uint32_t callers_rows_line_entity(const struct report *report, size_t row)
{
	const struct callers_line *line = callers_rows_line(report, row);

	return line ? line->entity : NO_ID;
}

const struct entity *callers_rows_entity(const struct report *report, size_t row)
{
	uint32_t entity = row_entity(report, row);

	if (entity != NO_ID)
		return &report->tree->entities[entity];
	return callers_rows_line(report, row) ? &total_entity : &report->callers->centre->entity;
}

struct function_row callers_rows_figures(const struct report *report, size_t row)
{
	const struct callers_row *centre = callers_rows_centre(report, row);
	uint32_t entity = row_entity(report, row);

	if (callers_rows_line(report, row) == NULL)
		return (struct function_row){
			.exclusive = centre->exclusive, .inclusive = centre->inclusive};
	if (entity == NO_ID)
		return (struct function_row){.inclusive = report->tree->total};
	uint32_t function = report->callers_rows->function[entity];
	return function == NO_ID ? (struct function_row){0} : report->functions->rows[function];
}
