#ifndef SONDE_VIEW_TEXT_FLAT_H
#define SONDE_VIEW_TEXT_FLAT_H

/* The table of flat views: what was spent in each row itself, and with what it called. */

#include "view/text/table.h"

/* What the two figures are called. */
struct flat_columns {
	enum column_id own, own_percent, own_change;
	enum column_id all, all_percent, all_change;
};

/* Adds the columns for which there is room.  report: of a view that has report->functions. */
void flat_add_columns(
	const struct report *report, struct table *table, const struct flat_columns *c);

#endif
