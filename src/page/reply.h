#ifndef SONDE_PAGE_REPLY_H
#define SONDE_PAGE_REPLY_H

/*
 * What the module answers: a text in JSON, alone or followed by columns of numbers, which a script
 * reads where they are, as typed arrays:
 *
 *	u32 size of the JSON, u32 0, the JSON, padding to 8 bytes, the columns, each padded likewise
 *
 * The JSON has a "columns" object: {"NAME": ["u32" | "f64", byte offset, count], …}.
 */

#include "base/json_writer.h"
#include "base/str.h"

struct reply {
	struct strbuf head;	 /* JSON */
	struct json_writer json; /* writes there */
	struct strbuf columns;
	struct strbuf names; /* of the columns, as members of an object */
	struct strbuf bytes; /* the whole, once finished */
};

void reply_begin(struct reply *reply);
/* Adds a column; counts of at most 2^53 are exact as f64. */
void reply_put_u32(struct reply *reply, const char *name, const uint32_t *values, size_t count);
void reply_put_f64(struct reply *reply, const char *name, const double *values, size_t count);
/* Adds a member with a number to the JSON's open object; UINT64_MAX is null. */
void reply_put_number(struct reply *reply, const char *key, uint64_t number);
/* Makes the bytes; the JSON must be one object that is still open. */
void reply_end(struct reply *reply);

#endif
