#ifndef SONDE_VIEW_TEXT_FLAT_H
#define SONDE_VIEW_TEXT_FLAT_H

/* The table of flat views: what was spent in each row itself, and with what it called. */

#include "view/text/table.h"

/* The columns of the two figures. */
struct flat_columns {
	enum column_id own, own_percent, own_margin, own_change;
	enum column_id all, all_percent, all_margin, all_change;
};

/* Adds the columns that fit.  The report's view must have report->functions. */
void flat_add_columns(
	const struct report *report, struct table *table, const struct flat_columns *c);

#endif
