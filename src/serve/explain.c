/*
 * Explains terms with the documents that define them, which are part of the program: the paragraphs
 * of the glossary and of semantics.md that have the term in bold; if there are none, the section
 * with that heading, or else paragraphs that mention it.
 */
#include "serve/explain.h"

#include <strings.h>

#include "base/escape.h"
#include "base/nearest.h"

extern const char serve_semantics[], serve_glossary[];
extern const size_t serve_semantics_size, serve_glossary_size;

/* Longer ones are not terms. */
#define TERM_MAX 80u

struct explaining {
	struct str term;
	size_t begin, most;
	struct strbuf *out;
	bool is_full;
};

static bool is_word(char c)
{
	return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether text contains the term as a word, in any case, after `before`. */
static bool mentions(struct str text, struct str term, struct str before)
{
	for (size_t at = 0; at + term.size <= text.size; at++) {
		if (strncasecmp(text.data + at, term.data, term.size) != 0)
			continue;
		if (at + term.size < text.size && is_word(text.data[at + term.size]))
			continue;
		if (at > 0 && is_word(text.data[at - 1]))
			continue;
		if (before.size == 0 ||
			(at >= before.size && memcmp(text.data + at - before.size, before.data,
						      before.size) == 0))
			return true;
	}
	return false;
}

/* The next paragraph, up to an empty line. */
static struct str take_paragraph(struct str *rest)
{
	struct str paragraph = {rest->data, 0};

	while (rest->size) {
		struct str line = str_take_line(rest);

		if (line.size == 0 && paragraph.size)
			break;
		if (line.size == 0)
			paragraph.data = rest->data;
		else
			paragraph.size = (size_t)(line.data + line.size - paragraph.data);
	}
	return paragraph;
}

static void add(struct explaining *e, struct str text)
{
	size_t used = e->out->size - e->begin, room = e->most > used ? e->most - used : 0;

	if (text.size + 2 > room) {
		e->is_full = true;
		return;
	}
	strbuf_add(e->out, text);
	strbuf_add(e->out, STR("\n\n"));
}

static size_t heading_level(struct str paragraph)
{
	size_t level = 0;

	while (level < paragraph.size && paragraph.data[level] == '#')
		level++;
	return level;
}

static void add_section(struct explaining *e)
{
	struct str rest = {serve_semantics, serve_semantics_size};
	size_t level = 0;

	while (rest.size && !e->is_full) {
		struct str paragraph = take_paragraph(&rest);
		size_t here = heading_level(paragraph);

		if (here && level && here <= level)
			level = 0;
		if (here && level == 0 && mentions(paragraph, e->term, STR("")))
			level = here;
		if (level)
			add(e, paragraph);
	}
}

/* Paragraphs of a document that mention the term after `before`. */
static void add_paragraphs(struct explaining *e, struct str document, struct str before)
{
	while (document.size && !e->is_full) {
		struct str paragraph = take_paragraph(&document);

		if (heading_level(paragraph) == 0 && mentions(paragraph, e->term, before))
			add(e, paragraph);
	}
}

/* The term in bold at the start of a paragraph of the glossary; empty: there is none. */
static struct str bold_start(struct str paragraph)
{
	struct str rest = {paragraph.data + 2, paragraph.size - 2};

	if (paragraph.size < 5 || !str_starts_with(paragraph, STR("**")))
		return STR("");
	const char *end = memchr(rest.data, '*', rest.size);

	return end ? (struct str){rest.data, (size_t)(end - rest.data)} : STR("");
}

/* Terms that could have been meant. */
static void add_similar(struct str term, struct strbuf *out)
{
	struct str rest = {serve_glossary, serve_glossary_size};
	struct nearest_few near;

	nearest_few_init(&near, term);
	while (rest.size) {
		struct str start = bold_start(take_paragraph(&rest));

		if (start.size)
			nearest_few_offer(&near, start);
	}
	strbuf_add(out, STR("no definition of '"));
	escape_text(out, term);
	strbuf_add_char(out, '\'');
	nearest_few_put(&near, out);
}

bool explain_term(struct str term, size_t most, struct strbuf *out)
{
	const struct str glossary = {serve_glossary, serve_glossary_size},
			 semantics = {serve_semantics, serve_semantics_size};
	struct explaining e = {
		.term = str_trim(term), .begin = out->size, .most = most, .out = out};

	if (e.term.size > TERM_MAX)
		e.term.size = TERM_MAX;
	if (e.term.size) {
		add_paragraphs(&e, glossary, STR("**"));
		add_paragraphs(&e, semantics, STR("**"));
		if (out->size == e.begin)
			add_section(&e);
		if (out->size == e.begin)
			add_paragraphs(&e, semantics, STR(""));
	}
	if (out->size == e.begin) {
		add_similar(e.term, out);
		return false;
	}
	if (e.is_full)
		strbuf_add(out, STR("(more is in docs/semantics.md)\n"));
	return true;
}
