/*
 * Fits names into columns.  A C++ name is mostly arguments, of the function and of its templates;
 * they are removed first, outermost last, because they identify the function least.
 */
#include "view/text/fit.h"

#include <stdlib.h>

#include "base/escape.h"

/* Bytes of the longest prefix of text that takes at most `width` columns. */
static size_t prefix_bytes(struct str text, size_t width)
{
	size_t bytes = 0, used = 0;

	while (bytes < text.size) {
		struct str rest = {text.data + bytes, text.size - bytes};
		int32_t code_point;
		size_t size = utf8_decode(rest, &code_point);
		size_t columns = utf8_width((struct str){rest.data, size});

		if (used + columns > width)
			break;
		used += columns;
		bytes += size;
	}
	return bytes;
}

/* The start of the longest suffix of text that takes at most `width` columns. */
static size_t suffix_start(struct str text, size_t width)
{
	size_t total = utf8_width(text), start = 0;

	while (total > width && start < text.size) {
		struct str rest = {text.data + start, text.size - start};
		int32_t code_point;
		size_t size = utf8_decode(rest, &code_point);

		total -= utf8_width((struct str){rest.data, size});
		start += size;
	}
	return start;
}

static struct str dots(bool utf8)
{
	return utf8 ? STR("…") : STR("..");
}

static void cut_middle(struct strbuf *out, struct str text, size_t width, bool utf8)
{
	size_t dot_width = utf8 ? 1 : 2;
	size_t room = width > dot_width ? width - dot_width : 0;
	/* The end matters a little more than the beginning, which is namespaces. */
	size_t head = prefix_bytes(text, room / 2);
	size_t head_width = utf8_width((struct str){text.data, head});
	size_t tail = suffix_start(text, room - head_width);

	strbuf_add(out, (struct str){text.data, head});
	strbuf_add(out, dots(utf8));
	strbuf_add(out, (struct str){text.data + tail, text.size - tail});
}

static bool follows(struct str text, size_t i, struct str what)
{
	return str_ends_with((struct str){text.data, i}, what);
}

/* Whether the bracket at i is one of a pair, and not part of an operator's name. */
static bool is_bracket(struct str text, size_t i)
{
	const struct str operators[] = {
		STR("operator"), STR("operator<"), STR("operator>"), STR("operator<="), STR("-")};

	if (text.data[i] == '(')
		return !follows(text, i, STR("operator"));
	if (text.data[i] == ')')
		return !follows(text, i, STR("operator("));
	for (size_t k = 0; k < ARRAY_SIZE(operators); k++)
		if (follows(text, i, operators[k]))
			return false;
	return true;
}

/*
 * Copies text with everything between open and close, at nesting depth 1, replaced by a dot;
 * brackets that are already empty stay.  False if brackets do not match.
 */
static bool drop_between(struct strbuf *out, struct str text, char open, char close, bool utf8)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];
		bool opens = c == open && is_bracket(text, i);
		bool closes = c == close && is_bracket(text, i);

		if (closes && depth == 0)
			return false;
		depth -= closes;
		if (depth == 0)
			strbuf_add_char(out, c);
		if (opens && ++depth == 1 && i + 1 < text.size && text.data[i + 1] != close)
			strbuf_add(out, dots(utf8));
	}
	return depth == 0;
}

/* Removes the arguments between one kind of brackets, if that works; replaces text. */
static void shorten(struct strbuf *text, char open, char close, bool utf8)
{
	struct strbuf shorter = {0};

	if (drop_between(&shorter, strbuf_str(text), open, close, utf8)) {
		strbuf_clear(text);
		strbuf_add(text, strbuf_str(&shorter));
	}
	strbuf_deinit(&shorter);
}

void fit_text(struct strbuf *out, struct str text, size_t width, bool utf8)
{
	struct strbuf shorter = {0};

	if (utf8_width(text) <= width) {
		strbuf_add(out, text);
		return;
	}
	strbuf_add(&shorter, text);
	shorten(&shorter, '(', ')', utf8);
	if (utf8_width(strbuf_str(&shorter)) > width)
		shorten(&shorter, '<', '>', utf8);
	if (utf8_width(strbuf_str(&shorter)) > width)
		cut_middle(out, strbuf_str(&shorter), width, utf8);
	else
		strbuf_add(out, strbuf_str(&shorter));
	strbuf_deinit(&shorter);
}

void fit_start(struct strbuf *out, struct str text, size_t width, bool utf8)
{
	size_t dot_width = utf8 ? 1 : 2;

	if (utf8_width(text) > width) {
		text.size = prefix_bytes(text, width > dot_width ? width - dot_width : 0);
		strbuf_add(out, text);
		if (width >= dot_width)
			strbuf_add(out, dots(utf8));
		return;
	}
	strbuf_add(out, text);
}
