#ifndef SONDE_VIEW_TEXT_UNITS_H
#define SONDE_VIEW_TEXT_UNITS_H

/*
 * Figures for people: "1.234 s", "12.34 MiB", "1,234,567", "25.3%".
 *
 * A table shows all weights of a metric on one scale, chosen by its total, so that figures compare
 * by eye; only a figure too small for that scale is shown on a finer one, rather than as zero.
 * Figures per tick are not parts of the total: each such column has a scale for its largest figure.
 */

#include <stdint.h>

#include "base/str.h"

struct scale {
	const char *suffix; /* " s"; empty for counts */
	uint64_t divisor;   /* of the metric's unit */
	unsigned decimals;
	const struct scale *finer; /* NULL: none */
};

/* The scale on which `largest` of a unit ("ns", "bytes", anything) reads well. */
const struct scale *scale_for(struct str unit, uint64_t largest);
/* Zero is a plain "0". */
void scale_put(struct strbuf *out, const struct scale *scale, int64_t value);
/* The same for a size, which may need all 64 bits. */
void scale_put_size(struct strbuf *out, const struct scale *scale, uint64_t size);
/*
 * Figures of one kind, a number below FIGURE_KINDS: among them, the larger one has no shorter text.
 * The first is for scale_put_size, the second for percent_put_size with one base.
 */
#define FIGURE_KINDS 8u
unsigned scale_figure_kind(const struct scale *scale, uint64_t size);
unsigned percent_figure_kind(uint64_t size, uint64_t base);
/* A time on a scale of its own. */
void time_put(struct strbuf *out, uint64_t time_ns);
/* 1234567 as "1,234,567". */
void number_put(struct strbuf *out, uint64_t value);
/* A mean, below 2^56 and not negative, to a hundredth: "1,234.50". */
void mean_put(struct strbuf *out, double mean);
/*
 * value as percent of base, to a tenth, "<0.1%" if it would round to zero; "0" for exact zero; "-"
 * if base is zero.
 */
void percent_put(struct strbuf *out, int64_t value, int64_t base);
/* The same for sizes. */
void percent_put_size(struct strbuf *out, uint64_t size, uint64_t base);

#endif
