/*
 * A pull parser for JSON (RFC 8259).  See json_reader.h.
 *
 * Nothing recurses: which of the open brackets are objects is a bit each, and values that nobody
 * asks for are skipped by counting brackets.  Strings are searched eight bytes at a time (the word
 * tricks of H. Warren, Hacker's Delight, section 6-1); numbers are base/decimal.h's.
 */
#include "base/json_reader.h"

#include "base/decimal.h"
#include "base/escape.h"

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
	json_fail(r, "the JSON text ends here, too early");
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

/* The byte that comes next behind blanks; 0 and a fault at the end, or where it is a NUL. */
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

static inline bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
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
		if (is_digit(c) || c == '-')
			return JSON_NUMBER;
		if (c)
			json_fail(r, "no JSON value begins like this");
		return JSON_NONE;
	}
}

/* Brackets. */

static bool open_bracket(struct json_reader *r, enum json_kind kind)
{
	if (json_peek(r) != kind) {
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

/* Behind what was read last: whether another comes in the innermost bracket, else it is closed. */
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

bool json_key(struct json_reader *r, struct str *key)
{
	if (r->bad || !in_object(r) || !next_member(r, '}'))
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

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* The first '"', '\\' or control character from p on; end if there is none. */
static const uint8_t *string_stop(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 8) {
		uint64_t w;
		memcpy(&w, p, sizeof(w));
		uint64_t quote = w ^ ONES * '"', slash = w ^ ONES * '\\';
		uint64_t stops = ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash) |
				 ((w - ONES * 0x20) & ~w);
		if (stops & HIGHS)
			return p + (unsigned int)__builtin_ctzll(stops & HIGHS) / 8;
		p += 8;
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
		if (is_digit(c))
			*value = *value << 4 | (uint32_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			*value = *value << 4 | (uint32_t)(low - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* \uXXXX, of which r->at is the 'u', and its second half if it is a surrogate. */
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

/* Behind a '\\'. */
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
		json_fail(r, "an escape that there is not");
		return false;
	}
	strbuf_add_char(out, to[found - from]);
	r->at++;
	return true;
}

/* r->at is the '"'.  Control characters, which JSON forbids, are taken as they are: some writers
 * forget to escape them. */
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
	if (json_peek(r) != JSON_STRING) {
		json_skip(r);
		return false;
	}
	r->at_value = false;
	return read_string(r, &r->text, s);
}

/* Numbers. */

/* The number that comes next, or that is in the string which comes next. */
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

	if (!take_number(r, &n))
		return false;
	*value = decimal_int(&n, digits);
	return true;
}

bool json_int(struct json_reader *r, int64_t *value)
{
	return json_decimal(r, 0, value);
}

/* The plain number at p, of at most 18 digits and not more of them behind the point than `digits`,
 * times 10^digits; where it ends, or NULL: it is not so plain, or not followed by ',' or ']'. */
static const uint8_t *plain_number(
	const uint8_t *p, const uint8_t *end, unsigned int digits, int64_t *value)
{
	static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
	bool is_negative = p < end && *p == '-';
	uint64_t digits_read = 0;
	int64_t number;

	p += is_negative;
	const uint8_t *first = p, *point = NULL;
	for (; p < end; p++) {
		if (is_digit(*p))
			digits_read = digits_read * 10 + (uint64_t)(*p - '0');
		else if (*p == '.' && point == NULL && p > first)
			point = p;
		else
			break;
		if (p - first > 18)
			return NULL;
	}
	size_t fraction = point ? (size_t)(p - point) - 1 : 0;
	size_t count = (size_t)(p - first) - (point != NULL);
	number = (int64_t)digits_read;
	if (count > 18 || p == first || p == end || (*p != ',' && *p != ']') ||
		(point && fraction == 0) || fraction > digits ||
		digits - fraction >= ARRAY_SIZE(powers) ||
		__builtin_mul_overflow(number, powers[digits - fraction], &number))
		return NULL;
	*value = is_negative ? -number : number;
	return p;
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

/* The first quote or bracket from p on; end if there is none.  Of other bytes only Y, y, _ and DEL
 * share the bits looked at, and are passed over one by one. */
static const uint8_t *bracket_stop(const uint8_t *p, const uint8_t *end)
{
	while (end - p >= 8) {
		uint64_t w;
		memcpy(&w, p, sizeof(w));
		uint64_t quote = w ^ ONES * '"', bracket = (w | ONES * 0x26) ^ ONES * 0x7f;
		uint64_t stops = ((quote - ONES) & ~quote) | ((bracket - ONES) & ~bracket);
		if (stops & HIGHS)
			return p + (unsigned int)__builtin_ctzll(stops & HIGHS) / 8;
		p += 8;
	}
	while (p < end && *p != '"' && (*p | 0x26) != 0x7f)
		p++;
	return p;
}

/* From an opening bracket to behind its closing one.  Which closes which is not checked. */
static void skip_brackets(struct json_reader *r)
{
	size_t depth = 0;

	for (;;) {
		r->at = bracket_stop(r->at, r->end);
		if (r->at == r->end) {
			fail_cut(r);
			return;
		}
		uint8_t c = *r->at;
		if (c == '"') {
			skip_string(r);
			if (r->bad)
				return;
			continue;
		}
		r->at++;
		if (c == '[' || c == '{')
			depth++;
		else if ((c == ']' || c == '}') && --depth == 0)
			return;
	}
}

void json_skip(struct json_reader *r)
{
	enum json_kind kind = json_peek(r);
	struct decimal n;

	r->at_value = false;
	switch (kind) {
	case JSON_NULL:
		skip_word(r, STR("null"));
		break;
	case JSON_BOOL:
		skip_word(r, *r->at == 't' ? STR("true") : STR("false"));
		break;
	case JSON_NUMBER:
		r->at_value = true;
		take_number(r, &n);
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
