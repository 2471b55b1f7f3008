#ifndef SONDE_VIEW_JSON_H
#define SONDE_VIEW_JSON_H

#include "view/report.h"
#include "base/sink.h"

/*
 * A report as one JSON object: sonde, view, level, metric, total, filters, notes, rows; of several
 * metrics, "metrics" too, and in each row "metrics" with each one's figures, in that order. Figures
 * are exact integers in the metric's unit, names whole, what is not known is null.
 */
void json_draw(struct sink *sink, const struct report *report);

#endif
