#ifndef SONDE_VIEW_CSV_H
#define SONDE_VIEW_CSV_H

#include "view/report.h"
#include "base/sink.h"

/*
 * A report's rows as CSV (RFC 4180: a header, lines that end in CR LF), figures exact in the
 * metric's unit, percentages plain numbers; no field begins a formula.  Columns of further metrics
 * are called METRIC.COLUMN.  Notes are left out.
 */
void csv_draw(struct sink *sink, const struct report *report);

#endif
