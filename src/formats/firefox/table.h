#ifndef SONDE_FORMATS_FIREFOX_TABLE_H
#define SONDE_FORMATS_FIREFOX_TABLE_H

/*
 * The tables of Firefox profiles.  There are two layouts: an object of columns ({"frame": [0, 1],
 * "prefix": [null, 0]}) in processed profiles, and rows with a schema ({"schema": {"prefix": 0,
 * "frame": 1}, "data": [[null, 0], [0, 1]]}) in those of the browser.  Columns of indices are kept
 * as 32-bit numbers; for strings, only positions are kept.
 */

#include "base/json_reader.h"
#include "base/vec.h"
#include "model/ids.h"

/*
 * A column of indices, lines or addresses; anything that is not a number below 2^32 - 1 is NO_ID.
 */
struct firefox_column {
	const char *name; /* NULL after the last of a table */
	bool is_there;
	VEC(uint32_t) values;
};

/* The value in a row; NO_ID if there is none. */
static inline uint32_t firefox_column_at(const struct firefox_column *c, uint32_t row)
{
	return row < c->values.count ? c->values.data[row] : NO_ID;
}

/*
 * Fills the columns from the table at `place`, in either layout, each up to row_max rows.  True:
 * there were more rows.
 */
bool firefox_table_read(
	struct json_reader *r, size_t place, struct firefox_column *columns, size_t row_max);
void firefox_table_deinit(struct firefox_column *columns);

/* Maximum number of columns in a schema. */
#define FIREFOX_SCHEMA_MAX 32
/*
 * Reads the schema that comes next: position[i] becomes the index of names[i], or
 * FIREFOX_SCHEMA_MAX.
 */
void firefox_schema_read(
	struct json_reader *r, const char *const *names, size_t count, uint8_t *position);

/* A list of strings, by position. */
struct firefox_strings {
	VEC(size_t) places;
};

bool firefox_strings_read(
	struct json_reader *r, size_t place, struct firefox_strings *strings, size_t row_max);
/* Borrowed until r's next string; false if there is no string with that number. */
bool firefox_string(const struct firefox_strings *strings, uint32_t number, struct json_reader *r,
	struct str *text);

#endif
