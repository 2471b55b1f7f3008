#ifndef SONDE_VIEW_JSON_H
#define SONDE_VIEW_JSON_H

#include "view/report.h"
#include "base/sink.h"

/*
 * A report as one JSON object: sonde, view, level, metric, total, filters, notes, rows; with
 * several metrics, also "metrics", and in each row "metrics" with the figures of each, in the same
 * order.  Figures are exact integers in the metric's unit, names are not shortened, unknown values
 * are null.
 */
void json_draw(struct sink *sink, const struct report *report);

#endif
