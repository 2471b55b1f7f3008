/* Reads requests byte by byte until a head is complete, then looks at its lines. */
#include "http/strict.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

/* Of the line with a chunk's size; and digits of sizes that 64 bits hold for certain. */
#define CHUNK_LINE_MAX	  1024
#define HEX_DIGITS_MAX	  15
#define LENGTH_DIGITS_MAX 18

/* A client cannot send this method: '(' is not a letter of one. */
#define REFUSED STR("(refused)")

enum refusal {
	GOOD,
	BAD_BYTE,
	BAD_LINE,
	BAD_VERSION,
	BAD_HEADER,
	BAD_HOST,
	BAD_END,
	TOO_LONG,
	TOO_LARGE
};

static const struct {
	unsigned status;
	const char *why;
} refusals[] = {
	[BAD_BYTE] = {400, "the head has a NUL or another control character, or a line that does "
			   "not end with CR LF"},
	[BAD_LINE] = {400, "the first line is invalid: expected METHOD TARGET HTTP/1.1"},
	[BAD_VERSION] = {505, "expected HTTP/1.1 or HTTP/1.0"},
	[BAD_HEADER] = {400, "a header is invalid: expected NAME: VALUE in one line"},
	[BAD_HOST] = {400, "expected exactly one Host header"},
	[BAD_END] = {400, "where the body ends is uncertain: expected one Content-Length, or "
			  "Transfer-Encoding: chunked"},
	[TOO_LONG] = {431, "the head is too long"},
	[TOO_LARGE] = {413, "the body is too large"},
};

unsigned http_strict_refusal(struct str method, struct str path, const char **why)
{
	if (!str_equal(method, REFUSED) || path.size != 2)
		return 0;
	size_t i = (size_t)(path.data[1] - '0');

	if (i == GOOD || i >= ARRAY_SIZE(refusals))
		i = BAD_LINE;
	*why = refusals[i].why;
	return refusals[i].status;
}

void http_strict_init(struct http_strict *s, size_t head_max)
{
	*s = (struct http_strict){.head_max = head_max};
}

void http_strict_deinit(struct http_strict *s)
{
	strbuf_deinit(&s->held);
}

static void refuse_head(struct http_strict *s, enum refusal refusal, struct strbuf *out)
{
	strbuf_printf(out, "%s /%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		REFUSED.data, (int)refusal);
	strbuf_clear(&s->held);
	s->state = STRICT_REFUSED;
}

/* The library refuses this in place of a chunk's size. */
static void refuse_body(struct http_strict *s, struct strbuf *out)
{
	strbuf_add(out, STR("-\r\n"));
	strbuf_clear(&s->held);
	s->state = STRICT_REFUSED;
}

/* ---- lines ---- */

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.size; i++) {
		char c = s.data[i];

		if (!char_is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
			!strchr("!#$%&'*+-.^_`|~", c))
			return false;
	}
	return s.size > 0;
}

/* Whether bytes may be in a line: no control character but tabs. */
static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (((unsigned char)s.data[i] < ' ' && s.data[i] != '\t') || s.data[i] == 0x7f)
			return false;
	return true;
}

static bool is_visible(struct str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (s.data[i] <= ' ' || s.data[i] > '~')
			return false;
	return s.size > 0;
}

static bool is_digits(struct str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (!char_is_digit(s.data[i]))
			return false;
	return s.size > 0;
}

static bool equals_word(struct str s, const char *word)
{
	return s.size == strlen(word) && strncasecmp(s.data, word, s.size) == 0;
}

/* Cuts what is before `mark` from *rest, and the mark; false: it has none. */
static bool cut(struct str *rest, char mark, struct str *before)
{
	const char *at = rest->size ? memchr(rest->data, mark, rest->size) : NULL;

	if (at == NULL)
		return false;
	*before = (struct str){rest->data, (size_t)(at - rest->data)};
	*rest = (struct str){at + 1, rest->size - before->size - 1};
	return true;
}

static struct str take_line(struct str *rest)
{
	struct str line = {0};

	(void)cut(rest, '\n', &line);
	line.size--; /* the CR */
	return line;
}

static enum refusal check_first_line(struct str line)
{
	struct str method, target;

	if (!cut(&line, ' ', &method) || !is_token(method) || !cut(&line, ' ', &target) ||
		!is_visible(target))
		return BAD_LINE;
	if (str_equal(line, STR("HTTP/1.1")) || str_equal(line, STR("HTTP/1.0")))
		return GOOD;
	return str_starts_with(line, STR("HTTP/")) && is_visible(line) ? BAD_VERSION : BAD_LINE;
}

/* What the headers of a head have stated so far. */
struct stated {
	unsigned hosts, ends;
	bool is_chunked, expects;
	uint64_t length;
};

static enum refusal check_header(struct str line, struct stated *stated)
{
	struct str name, value = line;

	if (!cut(&value, ':', &name) || !is_token(name))
		return BAD_HEADER;
	value = str_trim(value);
	stated->hosts += equals_word(name, "Host");
	stated->expects |= equals_word(name, "Expect");
	if (equals_word(name, "Content-Length")) {
		if (++stated->ends > 1 || !is_digits(value))
			return BAD_END;
		if (value.size > LENGTH_DIGITS_MAX)
			return TOO_LARGE;
		/* The line's CR ends the number. */
		stated->length = strtoull(value.data, NULL, 10);
	}
	if (equals_word(name, "Transfer-Encoding")) {
		if (++stated->ends > 1 || !equals_word(value, "chunked"))
			return BAD_END;
		stated->is_chunked = true;
	}
	return GOOD;
}

/* Checks a head that is complete, with the empty line at its end. */
static enum refusal check_head(struct str head, struct stated *stated)
{
	struct str line = take_line(&head);
	bool is_old = str_ends_with(line, STR("1.0"));
	enum refusal refusal = check_first_line(line);

	while (refusal == GOOD && (line = take_line(&head)).size)
		refusal = check_header(line, stated);
	if (refusal == GOOD && stated->hosts != 1)
		refusal = BAD_HOST;
	/* A server of 1.0 knows no chunks. */
	if (refusal == GOOD && is_old && stated->is_chunked)
		refusal = BAD_END;
	return refusal;
}

/*
 * Appends a head without its Expect: if no body comes, "100 Continue" is of no use, and the library
 * closes a connection on which another request follows at once.
 */
static void put_without_expect(struct str head, struct strbuf *out)
{
	while (head.size) {
		struct str line = {head.data, 0}, cut_line = take_line(&head);

		line.size = cut_line.size + 2;
		if (line.size < 7 || strncasecmp(line.data, "Expect:", 7) != 0)
			strbuf_add(out, line);
	}
}

/* ---- states ---- */

/*
 * Holds one byte more.  False: it must not be there.  *is_line: it ends a line.
 */
static bool hold(struct http_strict *s, char c, bool *is_line)
{
	bool is_after_cr = s->held.size && s->held.data[s->held.size - 1] == '\r';

	*is_line = is_after_cr && c == '\n';
	strbuf_add_char(&s->held, c);
	return *is_line || (!is_after_cr && (c == '\r' || is_text((struct str){&c, 1})));
}

static bool is_ended(const struct strbuf *held)
{
	return str_ends_with(strbuf_str(held), STR("\r\n\r\n"));
}

static void add_to_head(struct http_strict *s, char c, struct strbuf *out)
{
	struct stated stated = {0};
	bool is_line;

	if (!hold(s, c, &is_line)) {
		refuse_head(s, BAD_BYTE, out);
	} else if (s->held.size > s->head_max) {
		refuse_head(s, TOO_LONG, out);
	} else if (is_ended(&s->held)) {
		struct str head = strbuf_str(&s->held);

		/* Some clients send an empty line after a body. */
		if (str_starts_with(head, STR("\r\n")))
			head = (struct str){head.data + 2, head.size - 2};
		enum refusal refusal = head.size > 2 ? check_head(head, &stated) : BAD_LINE;

		if (refusal) {
			refuse_head(s, refusal, out);
			return;
		}
		if (stated.expects && !stated.is_chunked && stated.length == 0)
			put_without_expect(head, out);
		else
			strbuf_add(out, head);
		strbuf_clear(&s->held);
		s->left = stated.length;
		s->state = stated.is_chunked ? STRICT_CHUNK_SIZE
			   : stated.length   ? STRICT_BODY
					     : STRICT_HEAD;
	}
}

/* The line "SIZE", or "SIZE;EXTENSION": the extension is dropped. */
static void take_chunk_size(struct http_strict *s, struct strbuf *out)
{
	struct str line = {s->held.data, s->held.size - 2};
	size_t digits = 0;

	while (digits < line.size && memchr("0123456789abcdefABCDEF", line.data[digits], 22))
		digits++;
	if (digits == 0 || digits > HEX_DIGITS_MAX ||
		(digits < line.size && line.data[digits] != ';')) {
		refuse_body(s, out);
		return;
	}
	s->left = strtoull(line.data, NULL, 16);
	strbuf_clear(&s->held);
	if (s->left == 0) {
		/* The line's end is that of an empty line, if no trailer comes. */
		strbuf_add(&s->held, STR("\r\n"));
		s->state = STRICT_TRAILERS;
		return;
	}
	strbuf_printf(out, "%llx\r\n", (unsigned long long)s->left);
	s->state = STRICT_CHUNK;
}

static void add_to_line(struct http_strict *s, char c, struct strbuf *out)
{
	bool is_line;

	if (!hold(s, c, &is_line) || s->held.size > CHUNK_LINE_MAX)
		refuse_body(s, out);
	else if (is_line && s->state == STRICT_CHUNK_SIZE)
		take_chunk_size(s, out);
	else if (s->state == STRICT_CHUNK_END && c != '\r' && !is_line)
		refuse_body(s, out);
	else if (is_line && s->state == STRICT_CHUNK_END) {
		strbuf_add(out, STR("\r\n"));
		strbuf_clear(&s->held);
		s->state = STRICT_CHUNK_SIZE;
	} else if (s->state == STRICT_TRAILERS && is_ended(&s->held)) {
		/* Nobody reads trailers. */
		strbuf_add(out, STR("0\r\n\r\n"));
		strbuf_clear(&s->held);
		s->state = STRICT_HEAD;
	}
}

/* Passes on what is in `bytes` of a body or chunk; the number of its bytes. */
static size_t pass(struct http_strict *s, struct str bytes, struct strbuf *out)
{
	size_t size = s->left < bytes.size ? (size_t)s->left : bytes.size;

	strbuf_add(out, (struct str){bytes.data, size});
	s->left -= size;
	if (s->left == 0)
		s->state = s->state == STRICT_BODY ? STRICT_HEAD : STRICT_CHUNK_END;
	return size;
}

void http_strict_add(struct http_strict *s, struct str bytes, struct strbuf *out)
{
	for (size_t i = 0; i < bytes.size && s->state != STRICT_REFUSED;) {
		struct str rest = {bytes.data + i, bytes.size - i};

		if (s->state == STRICT_BODY || s->state == STRICT_CHUNK) {
			i += pass(s, rest, out);
			continue;
		}
		if (s->state == STRICT_HEAD)
			add_to_head(s, rest.data[0], out);
		else
			add_to_line(s, rest.data[0], out);
		i++;
	}
}
