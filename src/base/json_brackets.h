#ifndef SONDE_BASE_JSON_BRACKETS_H
#define SONDE_BASE_JSON_BRACKETS_H

/* Where an object or array of JSON ends, found without looking at what is in it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where among brackets it is, between one part of the text and the next; zeroed at the first. */
struct json_passing {
	uint64_t in_string; /* all bits, if the last 64 bytes end in one */
	size_t depth;
	bool is_escaped;
};

/*
 * Behind what closes the first bracket that was opened, from p on or in the parts before; NULL: it
 * is not before `limit`, which is the end of the text, or a whole number of 64 bytes from p.  Which
 * bracket closes which is not checked.
 */
const uint8_t *json_find_close(struct json_passing *at, const uint8_t *p, const uint8_t *limit);

#endif
