/*
 * Cells of the annotate view.
 */
#include "view/cells.h"

#include "analysis/listing.h"

static const struct listing_row *listing_row(const struct report *report, size_t row)
{
	return &report->listing->rows[row];
}

struct cell cells_listing_kind(const struct report *report, size_t row)
{
	return (struct cell){.text = str_from(listing_kind_names[listing_row(report, row)->kind])};
}

struct cell cells_listing_function(const struct report *report, size_t row)
{
	return cell_str(listing_row(report, row)->function);
}

struct cell cells_listing_file(const struct report *report, size_t row)
{
	return cell_str(listing_row(report, row)->file_path);
}

struct cell cells_listing_line(const struct report *report, size_t row)
{
	uint32_t line = listing_row(report, row)->line;

	return (struct cell){.is_null = line == 0, .number = line};
}

struct cell cells_listing_depth(const struct report *report, size_t row)
{
	return (struct cell){.number = listing_row(report, row)->depth};
}

struct cell cells_listing_address(const struct report *report, size_t row)
{
	const struct listing_row *r = listing_row(report, row);

	return (struct cell){.is_null = r->kind != LISTING_INSTRUCTION, .number = r->obj_addr};
}

struct cell cells_listing_text(const struct report *report, size_t row)
{
	return cell_str(listing_row(report, row)->text);
}

/* A line that is in no stack has no figures; text shows blanks, not zeros. */
static bool is_blank(const struct listing_row *row)
{
	return row->place == NO_ID && row->address == NO_ID;
}

struct cell cells_listing_exclusive(const struct report *report, size_t row)
{
	const struct listing_row *r = listing_row(report, row);

	return (struct cell){.is_blank = is_blank(r),
		.weight = listing_figures(r, report->annotation).exclusive,
		.base = report->annotation->total};
}

struct cell cells_listing_inclusive(const struct report *report, size_t row)
{
	const struct listing_row *r = listing_row(report, row);

	/* Without stacks, the calls from here are unknown. */
	return (struct cell){.is_null = !report->profile->has_stacks,
		.is_blank = is_blank(r),
		.weight = listing_figures(r, report->annotation).inclusive,
		.base = report->annotation->total};
}
