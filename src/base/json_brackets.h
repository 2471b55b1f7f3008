#ifndef SONDE_BASE_JSON_BRACKETS_H
#define SONDE_BASE_JSON_BRACKETS_H

/* Finds the end of a JSON object or array without parsing its contents. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state between two parts of the text; zeroed before the first. */
struct json_passing {
	uint64_t in_string; /* all bits, if the last 64 bytes end in one */
	size_t depth;
	bool is_escaped;
};

/*
 * Returns the position after the bracket that closes the first one opened, at p or in earlier
 * parts; NULL: not before `limit`, which is the end of the text, or a multiple of 64 bytes from p.
 * Does not check that brackets match in kind.
 */
const uint8_t *json_find_close(struct json_passing *at, const uint8_t *p, const uint8_t *limit);

#endif
