#ifndef SONDE_BASE_JSON_READER_H
#define SONDE_BASE_JSON_READER_H

/*
 * JSON (RFC 8259), pulled value by value out of bytes in memory: no tree is built, so hundreds of
 * megabytes cost no memory.  In the manner of base/cursor.h the first fault is remembered (sticky);
 * from then on there are no more keys, elements or values, and the caller asks once, with
 * json_error, whether all was well.
 *
 *	json_reader_init(&r, data, size, name);
 *	if (json_object(&r))
 *		while (json_key(&r, &key))
 *			if (str_equal(key, STR("samples")) && json_array(&r))
 *				while (json_element(&r))
 *					json_int(&r, &sample);
 *	err = json_error(&r);
 *
 * Why not one of the libraries: of a Chrome trace of 100 MB jansson 2.14 (json_loadb) makes a tree
 * of 1.2 GB in 3.8 s (26 MB/s); yajl 2.1 hands over its events at 220 MB/s, numbers as text still,
 * and this one at 260 MB/s with every number read, both in no memory but the input's; and pulling,
 * unlike yajl's callbacks, lets a reader skip, mark and come back.
 *
 * A value that the caller did not take is skipped by the next json_key or json_element.  A
 * value of another kind than asked for is skipped, too, and false returned: no fault, as files of
 * other versions have such.
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

#define JSON_DEPTH_MAX 1024 /* of open objects and arrays; deeper ones can be skipped only */

struct json_reader {
	const uint8_t *start, *at, *end;
	const char *name;    /* of the input, for messages; borrowed */
	const uint8_t *bad;  /* where the first fault is, or NULL */
	const char *problem; /* what is wrong there, a literal */
	bool at_value;	     /* a value comes next that nobody has taken */
	bool is_first;	     /* nothing was read yet of the innermost open object or array */
	size_t depth;	     /* open objects and arrays */
	uint64_t is_object[JSON_DEPTH_MAX / 64]; /* a bit each */
	struct strbuf text;			 /* of strings with escapes */
	struct strbuf key;
	struct map skipped; /* sizes of long values that were passed over, by their offsets */
};

/* A byte order mark at the start is passed over. */
void json_reader_init(struct json_reader *r, const void *data, size_t size, const char *name);
void json_reader_deinit(struct json_reader *r);

/* The kind of the value that comes next, which stays. */
enum json_kind json_peek(struct json_reader *r);

/* Enters the object that comes next. */
bool json_object(struct json_reader *r);
/*
 * The next member of the innermost open object; its value comes next.  False: there is none, the
 * object is closed.  key is borrowed, until the next json_key.
 */
bool json_key(struct json_reader *r, struct str *key);
/* Enters the array that comes next. */
bool json_array(struct json_reader *r);
/* As json_key: the next element of the innermost open array comes next, or it is closed. */
bool json_element(struct json_reader *r);
/* Skips the rest of the innermost open object or array, and closes it. */
void json_leave(struct json_reader *r);

/* Borrowed: from the input, or, with escapes, until the next json_string.  UTF-16 surrogates that
 * stand alone become U+FFFD. */
bool json_string(struct json_reader *r, struct str *s);
/* A number, or a string of one. */
bool json_double(struct json_reader *r, double *value);
/* The same as an integer: exact where it is one, else rounded half away from zero; beyond 64 bits
 * is the nearest that they hold. */
bool json_int(struct json_reader *r, int64_t *value);
/* The same of the number times 10^digits (digits ≤ 18), "1234.5678" µs with 3 is 1234568 ns: no
 * binary fractions in between. */
bool json_decimal(struct json_reader *r, unsigned int digits, int64_t *value);
/*
 * The next element of the innermost open array, as json_element and json_decimal but in one, which
 * is some times as quick: for long columns of numbers.  JSON_NUMBER: *value is set; JSON_NONE:
 * there is none, or a fault; else the kind of what is no number, and was skipped.
 */
enum json_kind json_number_element(struct json_reader *r, unsigned int digits, int64_t *value);
/*
 * The same of up to `most` elements, which is quicker still: how many there were; fewer than most:
 * these were the last, or a fault comes next.  What is no number is JSON_NO_NUMBER, which no number
 * gives.
 */
#define JSON_NO_NUMBER INT64_MIN
size_t json_numbers(struct json_reader *r, unsigned int digits, int64_t *values, size_t most);
bool json_bool(struct json_reader *r, bool *value);
/* Skips the value, however deep it is; a long one that was skipped before at no cost. */
void json_skip(struct json_reader *r);

/* Passes over the value that comes next, of which the caller knows, after json_peek, that it takes
 * so many bytes. */
static inline void json_pass(struct json_reader *r, size_t size)
{
	r->at += size;
	r->at_value = false;
}

/* A place to come back to: a value that comes next, of the object or array that is open now. */
struct json_mark {
	const uint8_t *at;
	bool at_value, is_first;
	size_t depth;
	uint64_t is_object[JSON_DEPTH_MAX / 64];
};
struct json_mark json_mark(const struct json_reader *r);
/* Also after a fault, which is forgotten. */
void json_return(struct json_reader *r, const struct json_mark *mark);

/* The offset of what comes next. */
size_t json_offset(const struct json_reader *r);
/*
 * Comes to the value at an offset that json_offset gave, as if the text began there: what is around
 * it is forgotten, and a fault too.  For who keeps many places, of which marks would be too large.
 */
void json_seek(struct json_reader *r, size_t offset);
static inline bool json_ok(const struct json_reader *r)
{
	return r->bad == NULL;
}
/* Whether the fault is that the input ended within a value: it is truncated. */
bool json_is_cut(const struct json_reader *r);
/* Marks it faulty where it is now; problem is a literal. */
void json_fail(struct json_reader *r, const char *problem);
/* NULL if all was well, else an ERROR_INPUT with name, offset and problem. */
must_use struct error *json_error(const struct json_reader *r);

#endif
