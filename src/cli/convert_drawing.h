#ifndef SONDE_CLI_CONVERT_DRAWING_H
#define SONDE_CLI_CONVERT_DRAWING_H

#include "cli/convert_options.h"

/*
 * Formats that draw a report (view/formats.h) instead of a profile, and that `sonde convert` can
 * also write: flame graphs and the like, as `sonde report` draws them by default.
 */

/*
 * The format named by --to, or else by the output's extension, as an index in formats[]; -1: none.
 */
int convert_drawing(const struct convert_options *options);
/* Draws the profile to the output. */
must_use struct error *convert_draw(
	const struct convert_options *options, int format, const struct profile *profile);

#endif
