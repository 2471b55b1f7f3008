#ifndef SONDE_SESSION_VALUES_H
#define SONDE_SESSION_VALUES_H

/*
 * Option values with units.  Each function reads the whole text, or fails with an ERROR_USAGE that
 * states what was expected; results are untouched on failure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* A decimal integer, least ≤ *count ≤ most. */
must_use struct error *value_count(
	const char *text, uint64_t least, uint64_t most, uint64_t *count);
/* A time with its unit, ns us µs ms s min h d: "10000us", "1.5ms".  Rounded to nanoseconds. */
must_use struct error *value_time(const char *text, uint64_t *time_ns);
/* Removes "STREAM=" from the start of *text and returns the name; data is NULL if there is none. */
struct str value_stream(const char **text);
/* A frequency, in Hz unless it has k or kHz: "99", "2.5k", "4000Hz"; *period_ns is 1 / frequency,
 * rounded, at least 1. */
must_use struct error *value_frequency(const char *text, uint64_t *period_ns);
/*
 * A size in bytes: a number with K, M or G, or KiB, MiB or GiB, powers of 1024: "256M", "1.5GiB".
 * At least 1.
 */
must_use struct error *value_size(const char *text, uint64_t *bytes);
/* A share above 0 and up to 100 %, in percent with or without the sign: "1%", "0.5"; *share is a
 * fraction of 1. */
must_use struct error *value_percent(const char *text, double *share);
/*
 * Adds a pointer to the grammar's documentation to an error of a --when pattern, as the command's
 * help does not explain it; NULL for NULL.
 */
must_use struct error *value_when_error(struct error *err);

#endif
