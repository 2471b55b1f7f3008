#ifndef SONDE_BASE_JSON_WRITER_H
#define SONDE_BASE_JSON_WRITER_H

/*
 * Writes JSON (RFC 8259) into a buffer value by value, with commas and escapes.  Keys are sonde's
 * own literals and not escaped.
 *
 *	struct json_writer w = json_writer(&sink->text);
 *	json_put_object(&w);
 *	json_put_key(&w, "name"), json_put_string(&w, name);
 *	json_put_key(&w, "samples"), json_put_array(&w);
 *	…	json_put_int(&w, sample);
 *	json_put_end(&w), json_put_end(&w);
 *
 * The buffer may be emptied at any time (sink_settle), because commas are written before the next
 * value.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define JSON_WRITER_DEPTH_MAX 64

struct json_writer {
	struct strbuf *out;	    /* borrowed */
	bool needs_comma, is_value; /* follows a value; follows a key */
	size_t depth;
	bool is_object[JSON_WRITER_DEPTH_MAX];
};

static inline struct json_writer json_writer(struct strbuf *out)
{
	return (struct json_writer){.out = out};
}

void json_put_object(struct json_writer *w);
void json_put_array(struct json_writer *w);
/* Ends the innermost object or array. */
void json_put_end(struct json_writer *w);
/* Starts a new line before the next value, for people and line-based tools. */
void json_put_line(struct json_writer *w);
void json_put_key(struct json_writer *w, const char *key);
/* A key from a profile, escaped. */
void json_put_key_str(struct json_writer *w, struct str key);
/* Always writes valid UTF-8: invalid bytes become U+FFFD. */
void json_put_string(struct json_writer *w, struct str s);
void json_put_int(struct json_writer *w, int64_t value);
void json_put_unsigned(struct json_writer *w, uint64_t value);
/* value × 10^-digits, without trailing zeros: 1234567 with 3 is 1234.567.  digits ≤ 18. */
void json_put_decimal(struct json_writer *w, int64_t value, unsigned int digits);
void json_put_bool(struct json_writer *w, bool value);
void json_put_null(struct json_writer *w);

#endif
