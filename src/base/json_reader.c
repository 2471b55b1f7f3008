/*
 * A pull parser for JSON (RFC 8259).  See json_reader.h.
 *
 * Nothing recurses: one bit per open bracket marks objects, and unread values are skipped by
 * counting brackets (json_brackets.h).  Bytes of strings are compared sixteen at a time.  Plain
 * numbers are read eight digits at a time (json_plain.h), others by base/decimal.h.
 */
#include "base/json_reader.h"

#include "base/bytes16.h"
#include "base/decimal.h"
#include "base/escape.h"
#include "base/json_brackets.h"
#include "base/json_plain.h"

void json_reader_init(struct json_reader *r, const void *data, size_t size, const char *name)
{
	*r = (struct json_reader){.start = data, .at = data, .name = name, .at_value = true};
	r->end = r->start + size;
	if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		r->at += 3;
}

void json_reader_deinit(struct json_reader *r)
{
	strbuf_deinit(&r->text);
	strbuf_deinit(&r->key);
	map_deinit(&r->skipped);
}

void json_fail(struct json_reader *r, const char *problem)
{
	if (r->bad)
		return;
	r->bad = r->at;
	r->problem = problem;
}

static void fail_cut(struct json_reader *r)
{
	r->at = r->end;
	json_fail(r, "the JSON text is truncated here");
}

bool json_is_cut(const struct json_reader *r)
{
	return r->bad && r->bad == r->end;
}

size_t json_offset(const struct json_reader *r)
{
	return (size_t)(r->at - r->start);
}

struct error *json_error(const struct json_reader *r)
{
	if (r->bad == NULL)
		return NULL;
	return error_new(ERROR_INPUT, "%s: at byte %zu: %s", r->name, (size_t)(r->bad - r->start),
		r->problem);
}

static inline void skip_blanks(struct json_reader *r)
{
	while (r->at < r->end &&
		(*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
}

/* The next byte after blanks; 0 and a fault at the end, or if it is NUL. */
static inline uint8_t next_byte(struct json_reader *r)
{
	if (r->bad)
		return 0;
	skip_blanks(r);
	if (r->at == r->end) {
		fail_cut(r);
		return 0;
	}
	if (*r->at == '\0')
		json_fail(r, "a NUL byte, where there should be JSON");
	return *r->at;
}

enum json_kind json_peek(struct json_reader *r)
{
	uint8_t c = r->at_value ? next_byte(r) : 0;

	switch (c) {
	case 'n':
		return JSON_NULL;
	case 't':
	case 'f':
		return JSON_BOOL;
	case '"':
		return JSON_STRING;
	case '[':
		return JSON_ARRAY;
	case '{':
		return JSON_OBJECT;
	default:
		if (char_is_digit(c) || c == '-')
			return JSON_NUMBER;
		if (c)
			json_fail(r, "no JSON value begins like this");
		return JSON_NONE;
	}
}

/* Which of the 16 bytes at p end a run of plain bytes in a string. */
static inline uint64_t stop_bits(const uint8_t *p)
{
	bytes16 v = load16(p);

	return found_bits((bytes16)(v == '"') | (bytes16)(v == '\\') | (bytes16)(v < 0x20));
}

enum { PLAIN_ROOM = 1 + 32 + 1 }; /* bytes that can be read at p */

/*
 * Reads the string whose '"' is at p, if it has less than 32 bytes, all plain, as most do.  Returns
 * its end, or NULL.
 */
static inline const uint8_t *plain_string(const uint8_t *p, struct str *s)
{
	uint64_t stops = stop_bits(++p);

	if (unlikely(stops == 0))
		stops = stop_bits(p + 16) << 16;
	size_t size = stops ? (size_t)__builtin_ctzll(stops) : 0;
	if (stops == 0 || p[size] != '"')
		return NULL;
	*s = (struct str){(const char *)p, size};
	return p + size + 1;
}

/* Brackets. */

static bool open_bracket(struct json_reader *r, enum json_kind kind)
{
	bool is_here = r->bad == NULL && r->at_value && r->at < r->end &&
		       *r->at == (kind == JSON_OBJECT ? '{' : '[');

	if (unlikely(!is_here) && json_peek(r) != kind) {
		json_skip(r);
		return false;
	}
	if (r->depth == JSON_DEPTH_MAX) {
		json_fail(r, "nested too deeply");
		return false;
	}
	uint64_t bit = UINT64_C(1) << r->depth % 64;
	if (kind == JSON_OBJECT)
		r->is_object[r->depth / 64] |= bit;
	else
		r->is_object[r->depth / 64] &= ~bit;
	r->depth++;
	r->at++;
	r->is_first = true;
	r->at_value = false;
	return true;
}

bool json_object(struct json_reader *r)
{
	return open_bracket(r, JSON_OBJECT);
}

bool json_array(struct json_reader *r)
{
	return open_bracket(r, JSON_ARRAY);
}

static bool in_object(const struct json_reader *r)
{
	return r->depth && (r->is_object[(r->depth - 1) / 64] >> (r->depth - 1) % 64 & 1);
}

/* After the last value: whether the innermost bracket has another; otherwise closes it. */
static bool next_member(struct json_reader *r, uint8_t close)
{
	if (r->at_value)
		json_skip(r);
	uint8_t c = next_byte(r);

	if (c == close && c) {
		r->at++;
		r->depth--;
		r->is_first = false;
		return false;
	}
	if (r->is_first) {
		r->is_first = false;
		return c != 0;
	}
	if (c != ',') {
		if (c)
			json_fail(r, close == '}' ? "neither ',' nor '}'" : "neither ',' nor ']'");
		return false;
	}
	r->at++;
	c = next_byte(r);
	if (c == close && c) {
		json_fail(r, "a comma, and nothing behind it");
		return false;
	}
	return c != 0;
}

static bool read_string(struct json_reader *r, struct strbuf *scratch, struct str *s);

/*
 * Reads a plain name with its ':' after the last value's comma and at most one blank.  Returns the
 * position of its value, or NULL: anything else, the end of the object, or the end of the input.
 */
static inline const uint8_t *plain_key(const struct json_reader *r, struct str *key)
{
	const uint8_t *p = r->at;

	if (r->end - p < 2 + PLAIN_ROOM + 1)
		return NULL;
	if (!r->is_first && *p++ != ',')
		return NULL;
	p += *p == ' ' || *p == '\n';
	if (*p != '"')
		return NULL;
	p = plain_string(p, key);
	return p && *p == ':' ? p + 1 : NULL;
}

bool json_key(struct json_reader *r, struct str *key)
{
	if (r->bad || !in_object(r))
		return false;
	if (unlikely(r->at_value))
		json_skip(r);
	const uint8_t *value = likely(r->bad == NULL) ? plain_key(r, key) : NULL;
	if (likely(value)) {
		r->at = value;
		r->is_first = false;
		r->at_value = true;
		return true;
	}
	if (!next_member(r, '}'))
		return false;
	if (*r->at != '"') {
		json_fail(r, "a name should begin here");
		return false;
	}
	if (!read_string(r, &r->key, key))
		return false;
	if (next_byte(r) != ':') {
		json_fail(r, "no ':' behind a name");
		return false;
	}
	r->at++;
	r->at_value = true;
	return true;
}

bool json_element(struct json_reader *r)
{
	if (r->bad || r->depth == 0 || in_object(r) || !next_member(r, ']'))
		return false;
	r->at_value = true;
	return true;
}

void json_leave(struct json_reader *r)
{
	struct str key;
	size_t depth = r->depth;

	while (r->depth == depth && (in_object(r) ? json_key(r, &key) : json_element(r)))
		json_skip(r);
}

/* Strings. */

/* The first '"', '\\' or control character from p on; end if there is none. */
static inline const uint8_t *string_stop(const uint8_t *p, const uint8_t *end)
{
	for (; end - p >= 16; p += 16) {
		uint64_t stops = stop_bits(p);
		if (stops)
			return p + __builtin_ctzll(stops);
	}
	while (p < end && *p != '"' && *p != '\\' && *p >= 0x20)
		p++;
	return p;
}

/* Four hex digits at p. */
static bool read_hex(const uint8_t *p, uint32_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < 4; i++) {
		uint8_t c = p[i], low = c | 0x20;
		if (char_is_digit(c))
			*value = *value << 4 | (uint32_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			*value = *value << 4 | (uint32_t)(low - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* Reads \uXXXX, with r->at at the 'u', and the second half if it is a surrogate. */
static bool read_unicode(struct json_reader *r, struct strbuf *out)
{
	uint32_t unit, second;

	if (r->end - r->at < 5) {
		fail_cut(r);
		return false;
	}
	if (!read_hex(r->at + 1, &unit)) {
		json_fail(r, "\\u without four hexadecimal digits");
		return false;
	}
	r->at += 5;
	if (unit >= 0xd800 && unit < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
		r->at[1] == 'u' && read_hex(r->at + 2, &second) && second >= 0xdc00 &&
		second < 0xe000) {
		unit = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
		r->at += 6;
	} else if (unit >= 0xd800 && unit < 0xe000) {
		unit = 0xfffd;
	}
	utf8_add(out, unit);
	return true;
}

/* Reads an escape after its '\\'. */
static bool read_escape(struct json_reader *r, struct strbuf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	if (r->at == r->end) {
		fail_cut(r);
		return false;
	}
	if (*r->at == 'u')
		return read_unicode(r, out);
	const char *found = *r->at ? strchr(from, *r->at) : NULL;
	if (found == NULL) {
		json_fail(r, "an unknown escape");
		return false;
	}
	strbuf_add_char(out, to[found - from]);
	r->at++;
	return true;
}

/*
 * r->at is the '"'.  Accepts control characters, although JSON forbids them: some writers forget to
 * escape them.
 */
static bool read_string(struct json_reader *r, struct strbuf *scratch, struct str *s)
{
	const uint8_t *begin = ++r->at;
	bool has_escapes = false;

	for (;;) {
		const uint8_t *stop = string_stop(r->at, r->end);
		if (stop == r->end) {
			fail_cut(r);
			return false;
		}
		if (*stop == '"' && !has_escapes) {
			*s = (struct str){(const char *)begin, (size_t)(stop - begin)};
			r->at = stop + 1;
			return true;
		}
		if (!has_escapes && *stop == '\\') {
			has_escapes = true;
			strbuf_clear(scratch);
			r->at = begin;
		}
		if (!has_escapes) {
			r->at = stop + 1;
			continue;
		}
		strbuf_add(scratch, (struct str){(const char *)r->at, (size_t)(stop - r->at)});
		r->at = stop + 1;
		if (*stop == '"') {
			*s = strbuf_str(scratch);
			return true;
		}
		if (*stop != '\\')
			strbuf_add_char(scratch, (char)*stop);
		else if (!read_escape(r, scratch))
			return false;
	}
}

bool json_string(struct json_reader *r, struct str *s)
{
	if (likely(r->bad == NULL && r->at_value && r->end - r->at > 1 + PLAIN_ROOM)) {
		const uint8_t *begin = r->at + (*r->at == ' ');
		const uint8_t *end = *begin == '"' ? plain_string(begin, s) : NULL;
		if (likely(end)) {
			r->at = end;
			r->at_value = false;
			return true;
		}
	}
	if (json_peek(r) != JSON_STRING) {
		json_skip(r);
		return false;
	}
	r->at_value = false;
	return read_string(r, &r->text, s);
}

/* Numbers. */

/* The next value, which is a number or a string that holds a number. */
static bool take_number(struct json_reader *r, struct decimal *n)
{
	enum json_kind kind = json_peek(r);

	if (kind == JSON_STRING) {
		struct str s;
		return json_string(r, &s) && decimal_scan(s, n) == s.size && s.size;
	}
	if (kind != JSON_NUMBER) {
		json_skip(r);
		return false;
	}
	struct str rest = {(const char *)r->at, (size_t)(r->end - r->at)};
	size_t size = decimal_scan(rest, n);
	if (size == 0) {
		if (rest.size == 1)
			fail_cut(r);
		json_fail(r, "a '-' that begins no number");
		return false;
	}
	r->at += size;
	r->at_value = false;
	return true;
}

bool json_double(struct json_reader *r, double *value)
{
	struct decimal n;

	if (!take_number(r, &n))
		return false;
	*value = decimal_double(&n);
	return true;
}

bool json_decimal(struct json_reader *r, unsigned int digits, int64_t *value)
{
	struct decimal n;

	if (likely(r->bad == NULL && r->at_value)) {
		skip_blanks(r);
		const uint8_t *p = plain_number(r->at, r->end, digits, value);
		if (likely(p)) {
			r->at = p;
			r->at_value = false;
			return true;
		}
	}
	if (!take_number(r, &n))
		return false;
	*value = decimal_int(&n, digits);
	return true;
}

bool json_int(struct json_reader *r, int64_t *value)
{
	return json_decimal(r, 0, value);
}

enum json_kind json_number_element(struct json_reader *r, unsigned int digits, int64_t *value)
{
	if (likely(r->bad == NULL && !r->at_value && r->at < r->end &&
		    (r->is_first || *r->at == ','))) {
		const uint8_t *p = plain_number(r->at + !r->is_first, r->end, digits, value);
		if (likely(p)) {
			r->at = p;
			r->is_first = false;
			return JSON_NUMBER;
		}
	}
	if (!json_element(r))
		return JSON_NONE;
	enum json_kind kind = json_peek(r);
	if (kind != JSON_NUMBER)
		json_skip(r);
	else if (!json_decimal(r, digits, value))
		return JSON_NONE;
	return kind;
}

bool json_bool(struct json_reader *r, bool *value)
{
	bool is_bool = json_peek(r) == JSON_BOOL;

	if (is_bool)
		*value = *r->at == 't';
	json_skip(r);
	return is_bool && json_ok(r);
}

/* Skipping. */

static void skip_word(struct json_reader *r, struct str word)
{
	size_t left = (size_t)(r->end - r->at), size = left < word.size ? left : word.size;

	if (memcmp(r->at, word.data, size) != 0) {
		json_fail(r, "no JSON value begins like this");
	} else if (size < word.size) {
		fail_cut(r);
	} else {
		r->at += size;
	}
}

static void skip_number(struct json_reader *r)
{
	struct plain plain;
	struct decimal n;
	const uint8_t *p = scan_plain(r->at, r->end, &plain);

	if (likely(p && plain.fraction <= 16)) {
		r->at = p;
		return;
	}
	r->at_value = true;
	take_number(r, &n);
}

/* r->at is the '"'. */
static void skip_string(struct json_reader *r)
{
	for (r->at++;;) {
		r->at = string_stop(r->at, r->end);
		if (r->at == r->end) {
			fail_cut(r);
			return;
		}
		uint8_t c = *r->at++;
		if (c == '"')
			return;
		if (c == '\\') {
			if (r->at == r->end) {
				fail_cut(r);
				return;
			}
			r->at++;
		}
	}
}

/*
 * Skips from an opening bracket past its closing one.  Remembers the ends of long ones: readers
 * that read a file twice, first for its shape, then for its contents, skip long arrays at once the
 * second time.
 */
static void skip_brackets(struct json_reader *r)
{
	enum { LONG = 4096, REMEMBERED_MAX = 65536 };
	size_t left = (size_t)(r->end - r->at), begin = json_offset(r);
	struct json_passing at = {0};
	uint32_t size;

	const uint8_t *behind = json_find_close(&at, r->at, left < LONG ? r->end : r->at + LONG);
	if (behind == NULL && left > LONG) {
		if (map_get(&r->skipped, begin, 0, &size)) {
			r->at += size;
			return;
		}
		behind = json_find_close(&at, r->at + LONG, r->end);
		size_t length = behind ? (size_t)(behind - r->at) : SIZE_MAX;
		if (length <= UINT32_MAX && r->skipped.count < REMEMBERED_MAX)
			map_put(&r->skipped, begin, 0, (uint32_t)length);
	}
	if (behind)
		r->at = behind;
	else
		fail_cut(r);
}

void json_skip(struct json_reader *r)
{
	enum json_kind kind = json_peek(r);

	r->at_value = false;
	switch (kind) {
	case JSON_NULL:
		skip_word(r, STR("null"));
		break;
	case JSON_BOOL:
		skip_word(r, *r->at == 't' ? STR("true") : STR("false"));
		break;
	case JSON_NUMBER:
		skip_number(r);
		break;
	case JSON_STRING:
		skip_string(r);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		skip_brackets(r);
		break;
	case JSON_NONE:
	default:
		break;
	}
}

/* Marks. */

struct json_mark json_mark(const struct json_reader *r)
{
	struct json_mark mark = {
		.at = r->at, .at_value = r->at_value, .is_first = r->is_first, .depth = r->depth};

	memcpy(mark.is_object, r->is_object, sizeof(mark.is_object));
	return mark;
}

void json_return(struct json_reader *r, const struct json_mark *mark)
{
	r->at = mark->at;
	r->at_value = mark->at_value;
	r->is_first = mark->is_first;
	r->depth = mark->depth;
	memcpy(r->is_object, mark->is_object, sizeof(r->is_object));
	r->bad = NULL;
	r->problem = NULL;
}

void json_seek(struct json_reader *r, size_t offset)
{
	r->at = r->start + offset;
	r->at_value = true;
	r->is_first = false;
	r->depth = 0;
	r->bad = NULL;
	r->problem = NULL;
}
