#ifndef SONDE_AGENT_CONFIG_H
#define SONDE_AGENT_CONFIG_H

/*
 * A file of options: "name = value" lines with the names of long options, "name" alone for an
 * option without a value, empty lines, and comments, which begin with "#".
 */

#include "base/error.h"

/*
 * Calls set for each line; value is NULL if there is no "=".  An error of set gets the file and the
 * line; so do malformed lines.
 */
must_use struct error *config_read(const char *path,
	struct error *(*set)(void *context, const char *name, const char *value), void *context);

#endif
