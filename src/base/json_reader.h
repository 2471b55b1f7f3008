#ifndef SONDE_BASE_JSON_READER_H
#define SONDE_BASE_JSON_READER_H

/*
 * A JSON (RFC 8259) pull parser for bytes in memory: it builds no tree, so hundreds of megabytes
 * cost no memory.  As in base/cursor.h, the first fault is remembered (sticky); from then on there
 * are no more keys, elements or values, and the caller checks once, with json_error, whether all
 * reads succeeded.
 *
 *	json_reader_init(&r, data, size, name);
 *	if (json_object(&r))
 *		while (json_key(&r, &key))
 *			if (str_equal(key, STR("samples")) && json_array(&r))
 *				while (json_element(&r))
 *					json_int(&r, &sample);
 *	err = json_error(&r);
 *
 * Why not a library: from a 100 MB Chrome trace, jansson 2.14 (json_loadb) builds a tree of 1.2 GB
 * in 3.8 s (26 MB/s). yajl 2.1 delivers events at 220 MB/s, with numbers still as text; this parser
 * reads every number at 260 MB/s.  Both need no memory beyond the input.  And unlike yajl's
 * callbacks, pulling lets a reader skip, mark and return.
 *
 * A value that the caller did not read is skipped by the next json_key or json_element.  A value of
 * an unexpected kind is also skipped, and the read returns false.  This is not a fault, because
 * files of other versions have such values.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

enum json_kind {
	JSON_NONE, /* no value: the end, or a fault */
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

#define JSON_DEPTH_MAX 1024 /* of open objects and arrays; deeper ones can only be skipped */

struct json_reader {
	const uint8_t *start, *at, *end;
	const char *name;    /* of the input, for messages; borrowed */
	const uint8_t *bad;  /* where the first fault is, or NULL */
	const char *problem; /* what is wrong there; a literal */
	bool at_value;	     /* a value comes next that has not been read */
	bool is_first;	     /* nothing has been read yet from the innermost open object or array */
	size_t depth;	     /* open objects and arrays */
	uint64_t is_object[JSON_DEPTH_MAX / 64]; /* a bit each */
	struct strbuf text;			 /* the last string that had escapes */
	struct strbuf key;
	struct map skipped; /* sizes of long values that were skipped, by offset */
};

/* Skips a byte order mark at the start. */
void json_reader_init(struct json_reader *r, const void *data, size_t size, const char *name);
void json_reader_deinit(struct json_reader *r);

/* The kind of the next value, which is not consumed. */
enum json_kind json_peek(struct json_reader *r);

/* Enters the next value, which must be an object. */
bool json_object(struct json_reader *r);
/*
 * Reads the key of the next member of the innermost open object; its value comes next.  False:
 * there is none, and the object is closed. key is borrowed until the next json_key.
 */
bool json_key(struct json_reader *r, struct str *key);
/* Enters the next value, which must be an array. */
bool json_array(struct json_reader *r);
/* Like json_key: moves to the next element of the innermost open array, or closes it. */
bool json_element(struct json_reader *r);
/* Skips the rest of the innermost open object or array, and closes it. */
void json_leave(struct json_reader *r);

/*
 * The result is borrowed from the input, or, if it has escapes, valid until the next json_string.
 * Unpaired UTF-16 surrogates become U+FFFD.
 */
bool json_string(struct json_reader *r, struct str *s);
/* A number, or a string that holds one. */
bool json_double(struct json_reader *r, double *value);
/*
 * The same as an integer: exact if it is one, else rounded half away from zero; saturated to 64
 * bits.
 */
bool json_int(struct json_reader *r, int64_t *value);
/*
 * The same for the number times 10^digits (digits ≤ 18), without binary fractions in between:
 * "1234.5678" µs with 3 digits is 1234568 ns.
 */
bool json_decimal(struct json_reader *r, unsigned int digits, int64_t *value);
/*
 * json_element and json_decimal in one call, which is several times faster, for long columns of
 * numbers.  JSON_NUMBER: *value is set; JSON_NONE: no more elements, or a fault; else the kind of
 * the other value, which was skipped.
 */
enum json_kind json_number_element(struct json_reader *r, unsigned int digits, int64_t *value);
/*
 * The same for up to `most` elements, which is faster still.  Returns how many there were; fewer
 * than most means that these were the last, or that a fault follows.  Values that are not numbers
 * become JSON_NO_NUMBER, which is never the value of a number.
 */
#define JSON_NO_NUMBER INT64_MIN
size_t json_numbers(struct json_reader *r, unsigned int digits, int64_t *values, size_t most);
bool json_bool(struct json_reader *r, bool *value);
/* Skips the value, however deep it is; a long value that was skipped before costs nothing. */
void json_skip(struct json_reader *r);

/* Skips the next value, which the caller knows, after json_peek, to have this many bytes. */
static inline void json_pass(struct json_reader *r, size_t size)
{
	r->at += size;
	r->at_value = false;
}

/* A position to return to: the next value of the currently open object or array. */
struct json_mark {
	const uint8_t *at;
	bool at_value, is_first;
	size_t depth;
	uint64_t is_object[JSON_DEPTH_MAX / 64];
};
struct json_mark json_mark(const struct json_reader *r);
/* Works after a fault, and clears it. */
void json_return(struct json_reader *r, const struct json_mark *mark);

/* The offset of the next byte. */
size_t json_offset(const struct json_reader *r);
/*
 * Moves to the value at an offset from json_offset, as if the text began there: open brackets and
 * faults are forgotten.  For callers that keep many positions, for which marks would be too large.
 */
void json_seek(struct json_reader *r, size_t offset);
static inline bool json_ok(const struct json_reader *r)
{
	return r->bad == NULL;
}
/* Whether the fault is that the input ended within a value, so it is truncated. */
bool json_is_cut(const struct json_reader *r);
/* Marks a fault at the current position; problem is a literal. */
void json_fail(struct json_reader *r, const char *problem);
/* NULL if there was no fault, else an ERROR_INPUT with name, offset and problem. */
must_use struct error *json_error(const struct json_reader *r);

#endif
