/*
 * Parses WHEN patterns by recursive descent, with one function per rule of the grammar in when.h.
 * The depth is limited, and errors are reported with their position.
 */
#include "analysis/when_pattern.h"

#include <ctype.h>

#include "base/escape.h"

#define QUOTING "names with other than letters, digits, '_' and '$' are quoted, as in 'libc.so.6'"

const char *const when_modules_names[WHEN_MODULES_COUNT + 1] = {"object", "source", NULL};

struct when_parser {
	struct str text;
	size_t at;
	struct when *when;
	uint32_t nesting;
	struct error *err; /* the first error; text then ends there */
};

/* The printable pattern, and the caret below it. */
static struct error *with_place(struct error *err, struct str text, size_t place)
{
	struct strbuf shown = {0}, before = {0};

	escape_text(&shown, text);
	escape_text(&before, (struct str){text.data, place});
	err = error_detail(err, "%.*s\n%*s^", STR_ARG(strbuf_str(&shown)),
		(int)utf8_width(strbuf_str(&before)), "");
	strbuf_deinit(&shown);
	strbuf_deinit(&before);
	return err;
}

static void fail_at(struct when_parser *p, size_t place, const char *message)
{
	if (p->err)
		return;
	p->err = with_place(error_new(ERROR_USAGE, "%s", message), p->text, place);
	p->at = p->text.size;
}

static void skip_blanks(struct when_parser *p)
{
	while (p->at < p->text.size && isspace((unsigned char)p->text.data[p->at]))
		p->at++;
}

/* The next non-blank character; 0: the end. */
static char next(struct when_parser *p)
{
	skip_blanks(p);
	return p->at < p->text.size ? p->text.data[p->at] : '\0';
}

static bool at_end(struct when_parser *p)
{
	skip_blanks(p);
	return p->at == p->text.size;
}

/* Goes past c if it is next. */
static bool take(struct when_parser *p, char c)
{
	if (at_end(p) || p->text.data[p->at] != c)
		return false;
	p->at++;
	return true;
}

static bool take_arrow(struct when_parser *p)
{
	skip_blanks(p);
	if (!str_starts_with((struct str){p->text.data + p->at, p->text.size - p->at}, STR("->")))
		return false;
	p->at += 2;
	return true;
}

static void add_step(struct when_parser *p, struct when_step step)
{
	vec_push(&p->when->steps, step);
}

static void add_position(
	struct when_parser *p, struct when_step step, struct when_names names, size_t place)
{
	if (p->when->positions.count == WHEN_NAMES_MAX) {
		fail_at(p, place, "the pattern has more than 1000 names");
		return;
	}
	step.number = (uint16_t)p->when->positions.count;
	vec_push(&p->when->positions, names);
	add_step(p, step);
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

/* 'name', in which '' is a quote. */
static struct when_name parse_quoted(struct when_parser *p)
{
	size_t begin = p->at++;
	struct strbuf name = {0};
	bool is_closed = false;

	while (p->at < p->text.size && !is_closed) {
		char c = p->text.data[p->at++];
		bool is_doubled = p->at < p->text.size && p->text.data[p->at] == '\'';

		is_closed = c == '\'' && !is_doubled;
		p->at += c == '\'' && is_doubled;
		if (!is_closed)
			strbuf_add_char(&name, c);
	}
	struct when_name result = {arena_str(p->when->arena, strbuf_str(&name)), true};

	strbuf_deinit(&name);
	if (!is_closed)
		fail_at(p, begin, "the quote has no end");
	else if (result.text.size == 0)
		fail_at(p, begin, "the name is empty");
	return result;
}

/* Parses a name. missing: the error message if the name is empty. */
static struct when_name parse_name(struct when_parser *p, const char *missing)
{
	char c = next(p);
	size_t begin = p->at;

	if (c == '\'')
		return parse_quoted(p);
	while (p->at < p->text.size && is_bare(p->text.data[p->at]))
		p->at++;
	if (p->at == begin)
		fail_at(p, begin, missing);
	return (struct when_name){
		arena_str(p->when->arena, (struct str){p->text.data + begin, p->at - begin}),
		false};
}

/* [:] module [. procedure] [:] | [:] . procedure [:] */
static void parse_frames(struct when_parser *p)
{
	size_t place = p->at;
	struct when_step step = {.kind = WHEN_FRAME, .charges = take(p, ':') ? WHEN_CALLER : 0};
	struct when_names names = {0};

	if (next(p) == '(' || next(p) == '*')
		fail_at(p, place, "a ':' must be next to a name");
	else if (next(p) != '.')
		names.module = parse_name(p, "a name is missing");
	if (take(p, '.'))
		names.procedure = parse_name(p, "the name of a procedure is missing");
	else
		step.kind = WHEN_RUN;
	if (take(p, ':'))
		step.charges |= WHEN_OWN;
	add_position(p, step, names, place);
}

/* These return whether the part that they have read can be passed without a frame. */
static bool parse_pattern(struct when_parser *p);

static bool parse_group(struct when_parser *p)
{
	size_t place = p->at - 1;

	if (p->nesting == WHEN_NESTING_MAX) {
		fail_at(p, place, "parentheses are nested more than 100 deep");
		return false;
	}
	bool is_passable = parse_pattern(p);
	if (!p->err && next(p) != ')')
		fail_at(p, place, "the '(' has no ')'");
	take(p, ')');
	return is_passable;
}

static bool parse_primary(struct when_parser *p)
{
	char c = next(p);

	if (take(p, '('))
		return parse_group(p);
	if (take(p, '*')) {
		add_position(p, (struct when_step){.kind = WHEN_STAR}, (struct when_names){0},
			p->at - 1);
		return true;
	}
	if (c == ':' || c == '.' || c == '\'' || is_bare(c))
		parse_frames(p);
	else if (at_end(p) || (c && strchr(")|-;", c)))
		fail_at(p, p->at, "a name, '*' or '(' is missing");
	else
		fail_at(p, p->at, "no name begins so; " QUOTING);
	return false;
}

/* Reports what follows a primary and may not. */
static void fail_behind_primary(struct when_parser *p, char last)
{
	char c = next(p);

	if (c == ':' && (last == ')' || last == '*'))
		fail_at(p, p->at, "a ':' must be next to a name");
	else if (c == ':' || c == '.')
		fail_at(p, p->at, "one ':' or '.' too many; " QUOTING);
	else if (c == '(' || c == '*' || c == '\'' || is_bare(c))
		fail_at(p, p->at, "'->' or '|' is missing");
	else
		fail_at(p, p->at, "no part of a name; " QUOTING);
}

static bool parse_thread(struct when_parser *p)
{
	bool is_passable = true;
	char last;

	do {
		is_passable &= parse_primary(p);
		last = p->at > 0 ? p->text.data[p->at - 1] : '\0';
	} while (take_arrow(p));
	if (!at_end(p) && next(p) != '|' && next(p) != ')' && next(p) != ';')
		fail_behind_primary(p, last);
	return is_passable;
}

static bool parse_pattern(struct when_parser *p)
{
	size_t begin = p->when->steps.count, first = p->when->positions.count;
	uint16_t number = 0;
	bool is_passable = false;

	p->nesting++;
	if (p->nesting > p->when->nesting_max)
		p->when->nesting_max = p->nesting;
	add_step(p, (struct when_step){.kind = WHEN_GROUP});
	do {
		add_step(p, (struct when_step){.kind = WHEN_ALTERNATIVE, .number = number++});
		is_passable |= parse_thread(p);
	} while (take(p, '|'));
	add_step(p, (struct when_step){.kind = WHEN_GROUP_END});
	p->nesting--;
	struct when_step *group = &p->when->steps.data[begin];
	group->is_passable = is_passable;
	group->first_position = (uint16_t)first;
	group->last = (uint16_t)p->when->positions.count;
	group->behind = (uint32_t)p->when->steps.count;
	group->alternatives = number;
	return is_passable;
}

struct error *when_compile(struct str pattern, enum when_modules modules, struct when **out)
{
	struct when *when = xalloc(sizeof(*when));
	struct when_parser p = {.text = pattern, .when = when};

	when->arena = arena_create();
	when->modules = modules;
	parse_pattern(&p);
	if (!p.err && take(&p, ';') && !at_end(&p))
		fail_at(&p, p.at, "nothing may follow the ';' at the end of a pattern");
	if (!p.err && !at_end(&p))
		fail_at(&p, p.at, "the ')' has no '('");
	if (p.err)
		when_destroy(when);
	else
		*out = when;
	return p.err;
}

void when_destroy(struct when *when)
{
	if (when == NULL)
		return;
	vec_deinit(&when->steps);
	vec_deinit(&when->positions);
	arena_destroy(when->arena);
	free(when);
}
