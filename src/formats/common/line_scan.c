/* Scans one line.  See line_scan.h. */
#include "formats/common/line_scan.h"

#include "formats/common/text_field.h"

struct line_scan line_scan_from(struct str line)
{
	return (struct line_scan){.rest = line};
}

void line_scan_fail(struct line_scan *s, const char *problem)
{
	if (s->problem == NULL)
		s->problem = problem;
	s->rest.size = 0;
}

static void skip(struct line_scan *s, size_t size)
{
	s->rest.data += size;
	s->rest.size -= size;
}

static void skip_blanks(struct line_scan *s)
{
	while (s->rest.size && s->rest.data[0] == ' ')
		skip(s, 1);
}

/* The next word, without consuming it. */
static struct str peek_word(struct line_scan *s)
{
	size_t size = 0;

	skip_blanks(s);
	while (size < s->rest.size && s->rest.data[size] != ' ')
		size++;
	return (struct str){s->rest.data, size};
}

struct str line_scan_word(struct line_scan *s)
{
	struct str word = peek_word(s);

	if (word.size == 0)
		line_scan_fail(s, "the line is truncated");
	skip(s, word.size);
	return word;
}

bool line_scan_is(struct line_scan *s, const char *word)
{
	struct str next = peek_word(s);

	if (!str_equal(next, str_from(word)))
		return false;
	skip(s, next.size);
	return true;
}

size_t line_scan_choice(struct line_scan *s, const char *const *names)
{
	struct str word = line_scan_word(s);

	for (size_t i = 0; names[i]; i++)
		if (str_equal(word, str_from(names[i])))
			return i;
	line_scan_fail(s, "an unknown kind");
	return 0;
}

/*
 * Parses the number at the start of s, *size bytes long; false if there is none or it exceeds 64
 * bits.
 */
static bool parse_number(struct str s, size_t *size, uint64_t *value)
{
	unsigned int base = str_starts_with(s, STR("0x")) ? 16 : 10;
	size_t first = base == 16 ? 2 : 0;
	size_t i = first;

	*value = 0;
	for (; i < s.size && text_hex_value(s.data[i]) < (int)base; i++)
		if (__builtin_mul_overflow(*value, base, value) ||
			__builtin_add_overflow(*value, (uint64_t)text_hex_value(s.data[i]), value))
			return false;
	*size = i;
	return i > first;
}

uint64_t line_scan_number(struct line_scan *s, uint64_t most)
{
	struct str word = line_scan_word(s);
	uint64_t value;
	size_t size;

	if (parse_number(word, &size, &value) && size == word.size && value <= most)
		return value;
	line_scan_fail(s, "not a number, or out of range");
	return 0;
}

int64_t line_scan_signed(struct line_scan *s)
{
	struct str word = peek_word(s);
	bool negative = word.size && word.data[0] == '-';

	if (negative)
		skip(s, 1);
	uint64_t value = line_scan_number(s, (uint64_t)INT64_MAX + negative);
	return (int64_t)(negative ? 0 - value : value);
}

/* Consumes an escape sequence after its backslash; returns the byte it stands for, or -1. */
static int scan_escape(struct line_scan *s)
{
	struct str r = s->rest;

	if (r.size && (r.data[0] == '"' || r.data[0] == '\\')) {
		skip(s, 1);
		return (unsigned char)r.data[0];
	}
	if (r.size < 3 || r.data[0] != 'x' || text_hex_value(r.data[1]) > 15 ||
		text_hex_value(r.data[2]) > 15)
		return -1;
	skip(s, 3);
	return text_hex_value(r.data[1]) * 16 + text_hex_value(r.data[2]);
}

/* Scans up to and including the closing quote, after the opening one. */
static bool scan_quoted(struct line_scan *s, struct strbuf *buffer)
{
	for (;;) {
		size_t run = 0;
		while (run < s->rest.size && s->rest.data[run] != '"' && s->rest.data[run] != '\\')
			run++;
		strbuf_add(buffer, (struct str){s->rest.data, run});
		skip(s, run);
		if (s->rest.size == 0)
			return false;
		char stop = s->rest.data[0];
		skip(s, 1);
		if (stop == '"')
			return true;
		int byte = scan_escape(s);
		if (byte < 0)
			return false;
		strbuf_add_char(buffer, (char)byte);
	}
}

struct str line_scan_string(struct line_scan *s, struct strbuf *buffer)
{
	strbuf_clear(buffer);
	skip_blanks(s);
	if (s->rest.size == 0 || s->rest.data[0] != '"') {
		line_scan_fail(s, "a quoted string is missing");
		return STR("");
	}
	skip(s, 1);
	if (!scan_quoted(s, buffer)) {
		line_scan_fail(s, "a quoted string without end, or with an unknown escape");
		return STR("");
	}
	return strbuf_str(buffer);
}

uint32_t line_scan_nth(struct line_scan *s, char mark)
{
	uint64_t value;
	size_t size;

	if (s->rest.size == 0 || s->rest.data[0] != mark)
		return 1;
	skip(s, 1);
	if (!parse_number(s->rest, &size, &value) || value == 0 || value > UINT32_MAX) {
		line_scan_fail(s, "not a number, or out of range");
		return 1;
	}
	skip(s, size);
	return (uint32_t)value;
}

bool line_scan_more(struct line_scan *s)
{
	skip_blanks(s);
	return s->rest.size > 0;
}

void line_scan_end(struct line_scan *s)
{
	if (line_scan_more(s))
		line_scan_fail(s, "there is more on the line than belongs there");
}
