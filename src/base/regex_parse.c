/*
 * Regular expressions of RE2's syntax, taken apart by recursive descent into a program.  See
 * regex_program.h.  What captures is a group like any other, what is lazy matches the same texts as
 * what is not.
 */
#include "base/regex_program.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"

#define DEPTH_MAX  200
#define REPEAT_MAX 1000 /* RE2's */
#define CODE_MAX   0x10ffff

struct parser {
	struct regex *regex;
	struct str rest;
	unsigned int depth;
	bool fold, dot_all; /* the flags i and s */
	struct error *err;
};

static void fail(struct parser *p, enum error_kind kind, const char *what)
{
	if (p->err == NULL)
		p->err = error_new(kind, "%s", what);
	p->rest.size = 0;
}

static bool take(struct parser *p, const char *s)
{
	struct str start = str_from(s);

	if (!str_starts_with(p->rest, start))
		return false;
	p->rest = (struct str){p->rest.data + start.size, p->rest.size - start.size};
	return true;
}

static int32_t take_code(struct parser *p)
{
	int32_t c;
	size_t size = utf8_decode(p->rest, &c);

	p->rest = (struct str){p->rest.data + size, p->rest.size - size};
	if (c < 0)
		fail(p, ERROR_INPUT, "it is not UTF-8");
	return c;
}

/* ---- steps ---- */

static size_t here(const struct parser *p)
{
	return p->regex->steps.count;
}

static void emit(struct parser *p, enum regex_op op, int64_t a, int64_t b)
{
	if (here(p) >= REGEX_STEPS_MAX)
		fail(p, ERROR_UNSUPPORTED, "it is too long");
	if (p->err == NULL)
		vec_push(&p->regex->steps, (struct regex_step){op, (int32_t)a, (int32_t)b});
}

static void insert(struct parser *p, size_t at, enum regex_op op, int64_t a, int64_t b)
{
	emit(p, op, a, b);
	if (p->err)
		return;
	struct regex_step *steps = p->regex->steps.data, added = steps[here(p) - 1];
	memmove(&steps[at + 1], &steps[at], (here(p) - 1 - at) * sizeof(*steps));
	steps[at] = added;
}

static void copy(struct parser *p, size_t from, size_t count)
{
	for (size_t i = 0; i < count && p->err == NULL; i++) {
		struct regex_step step = p->regex->steps.data[from + i];
		emit(p, step.op, step.a, step.b);
	}
}

/* ---- sets of characters ---- */

static void add_range(struct parser *p, int32_t low, int32_t high)
{
	if (p->regex->ranges.count >= 4 * REGEX_STEPS_MAX)
		fail(p, ERROR_UNSUPPORTED, "it is too long");
	if (p->fold && high >= 0x80 && !(low == 0 && high == CODE_MAX))
		fail(p, ERROR_UNSUPPORTED, "letters outside ASCII in either case");
	if (p->err == NULL)
		vec_push(&p->regex->ranges, (struct regex_range){low, high});
}

/* The same with letters in the other case, under the flag i. */
static void add_folded(struct parser *p, int32_t low, int32_t high)
{
	add_range(p, low, high);
	if (!p->fold)
		return;
	for (int32_t c = 'a'; c <= 'z'; c++) {
		int32_t upper = c - 'a' + 'A';
		if (c >= low && c <= high)
			add_range(p, upper, upper);
		if (upper >= low && upper <= high)
			add_range(p, c, c);
	}
}

static int range_compare(const void *a, const void *b)
{
	const struct regex_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* Puts the ranges from `first` on in order, and what is not in them in their place. */
static void negate(struct parser *p, size_t first)
{
	struct regex_range *ranges = p->regex->ranges.data + first;
	size_t count = p->regex->ranges.count - first, out = 0;
	int32_t next = 0;

	if (count == 0) {
		add_range(p, 0, CODE_MAX);
		return;
	}
	qsort(ranges, count, sizeof(*ranges), range_compare);
	/* Never more than there were, but for the one behind the last. */
	for (size_t i = 0; i < count; i++) {
		struct regex_range range = ranges[i];
		if (range.low > next)
			ranges[out++] = (struct regex_range){next, range.low - 1};
		if (range.high >= next)
			next = range.high + 1;
	}
	p->regex->ranges.count = first + out;
	if (next <= CODE_MAX && p->err == NULL)
		vec_push(&p->regex->ranges, (struct regex_range){next, CODE_MAX});
}

static void emit_set(struct parser *p, size_t first)
{
	emit(p, REGEX_SET, (int64_t)first, (int64_t)(p->regex->ranges.count - first));
}

static void emit_code(struct parser *p, int32_t c)
{
	size_t first = p->regex->ranges.count;

	add_folded(p, c, c);
	emit_set(p, first);
}

/* Names of classes, and what is in them, low and high alternating. */
static const struct {
	const char *name, *ranges;
} classes[] = {
	{"d", "09"},
	{"s", "\t\n\f\r  "},
	{"w", "09AZaz__"},
	{"[:alnum:]", "09AZaz"},
	{"[:alpha:]", "AZaz"},
	{"[:ascii:]", "\x01\x7f"},
	{"[:blank:]", "\t\t  "},
	{"[:cntrl:]", "\x01\x1f\x7f\x7f"},
	{"[:digit:]", "09"},
	{"[:graph:]", "!~"},
	{"[:lower:]", "az"},
	{"[:print:]", " ~"},
	{"[:punct:]", "!/:@[`{~"},
	{"[:space:]", "\t\r  "},
	{"[:upper:]", "AZ"},
	{"[:word:]", "09AZaz__"},
	{"[:xdigit:]", "09AFaf"},
};

static void add_class(struct parser *p, const char *ranges, bool is_negated)
{
	size_t first = p->regex->ranges.count;

	for (; *ranges; ranges += 2)
		add_folded(p, ranges[0], ranges[1]);
	if (is_negated)
		negate(p, first);
}

/* "\d", "\W"; false: the rest begins with no such. */
static bool take_escaped_class(struct parser *p)
{
	for (size_t i = 0; i < 3 && p->rest.size >= 2 && p->rest.data[0] == '\\'; i++) {
		char small = classes[i].name[0], letter = p->rest.data[1];
		if (letter != small && letter != small - 'a' + 'A')
			continue;
		add_class(p, classes[i].ranges, letter != small);
		p->rest = (struct str){p->rest.data + 2, p->rest.size - 2};
		return true;
	}
	return false;
}

/* "[:alpha:]", "[:^alpha:]" within brackets. */
static bool take_named_class(struct parser *p)
{
	for (size_t i = 3; i < ARRAY_SIZE(classes); i++) {
		char negated[16];

		(void)snprintf(negated, sizeof(negated), "[:^%s", classes[i].name + 2);
		bool is_negated = take(p, negated);
		if (!is_negated && !take(p, classes[i].name))
			continue;
		add_class(p, classes[i].ranges, is_negated);
		return true;
	}
	return false;
}

/* ---- escapes ---- */

static int32_t take_digits(struct parser *p, unsigned int base, size_t most)
{
	int32_t value = 0;
	size_t i = 0;

	for (; i < p->rest.size && i < most && value <= CODE_MAX; i++) {
		char c = p->rest.data[i];
		unsigned int digit = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
				     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
				     : c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10
							    : 16;
		if (digit >= base)
			break;
		value = value * (int32_t)base + (int32_t)digit;
	}
	if (i == 0 || value > CODE_MAX)
		fail(p, ERROR_INPUT, "an escape is none");
	else
		p->rest = (struct str){p->rest.data + i, p->rest.size - i};
	return value;
}

static int32_t take_hex_code(struct parser *p)
{
	if (!take(p, "{"))
		return take_digits(p, 16, 2);
	int32_t value = take_digits(p, 16, 8);
	if (!take(p, "}"))
		fail(p, ERROR_INPUT, "an escape is none");
	return value;
}

/* The character of an escape whose backslash is taken. */
static int32_t take_escape(struct parser *p)
{
	static const char letters[] = "afnrtv", values[] = "\a\f\n\r\t\v";

	if (p->rest.size == 0) {
		fail(p, ERROR_INPUT, "it ends in a backslash");
		return 0;
	}
	if (p->rest.data[0] == '0')
		return take_digits(p, 8, 3);
	if (take(p, "x"))
		return take_hex_code(p);
	int32_t c = take_code(p);
	const char *letter = c > 0 && c < 0x80 ? strchr(letters, c) : NULL;
	if (letter)
		return values[letter - letters];
	if (c == 'p' || c == 'P' || c == 'C')
		fail(p, ERROR_UNSUPPORTED, "classes of Unicode and single bytes");
	else if (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
		 (c >= 'a' && c <= 'z'))
		fail(p, ERROR_INPUT, "an escape is none");
	return c;
}

/* ---- brackets ---- */

static int32_t take_bracket_code(struct parser *p)
{
	return take(p, "\\") ? take_escape(p) : take_code(p);
}

static void parse_brackets(struct parser *p)
{
	size_t first = p->regex->ranges.count;
	bool is_negated = take(p, "^"), is_first = true;

	for (; p->err == NULL && (is_first || !take(p, "]")); is_first = false) {
		if (p->rest.size == 0)
			fail(p, ERROR_INPUT, "a bracket is not closed");
		else if (!take_escaped_class(p) && !take_named_class(p)) {
			int32_t low = take_bracket_code(p), high = low;
			if (p->rest.size > 1 && p->rest.data[0] == '-' && p->rest.data[1] != ']') {
				(void)take(p, "-");
				high = take_bracket_code(p);
			}
			if (high < low)
				fail(p, ERROR_INPUT, "a range goes backwards");
			add_folded(p, low, high);
		}
	}
	if (is_negated && p->err == NULL)
		negate(p, first);
	emit_set(p, first);
}

/* ---- groups ---- */

static void parse_alternatives(struct parser *p);

/* The flags of "(?is)" and "(?i:"; true: they are for the rest of the group they stand in. */
static bool parse_flags(struct parser *p)
{
	bool on = true;

	while (p->rest.size && p->err == NULL) {
		if (take(p, ":"))
			return false;
		if (take(p, ")"))
			return true;
		if (take(p, "-"))
			on = false;
		else if (take(p, "i"))
			p->fold = on;
		else if (take(p, "s"))
			p->dot_all = on;
		else if (take(p, "m"))
			fail(p, ERROR_UNSUPPORTED, "the flag m");
		else if (!take(p, "U"))
			fail(p, ERROR_INPUT, "a flag is none");
	}
	fail(p, ERROR_INPUT, "a group is not closed");
	return true;
}

/* False: it was flags alone, which are nothing that may be repeated. */
static bool parse_group(struct parser *p)
{
	bool fold = p->fold, dot_all = p->dot_all;

	if (take(p, "?P<") || take(p, "?<")) {
		const char *end = memchr(p->rest.data, '>', p->rest.size);
		size_t size = end ? (size_t)(end - p->rest.data) + 1 : 0;
		if (size < 2) {
			fail(p, ERROR_INPUT, "a group has no name");
			return true;
		}
		p->rest = (struct str){p->rest.data + size, p->rest.size - size};
	} else if (take(p, "?") && parse_flags(p)) {
		return false;
	}
	if (++p->depth > DEPTH_MAX)
		fail(p, ERROR_UNSUPPORTED, "groups in groups in groups");
	parse_alternatives(p);
	p->depth--;
	if (!take(p, ")"))
		fail(p, ERROR_INPUT, "a group is not closed");
	p->fold = fold;
	p->dot_all = dot_all;
	return true;
}

/* ---- one thing, and how often ---- */

static void parse_dot(struct parser *p)
{
	size_t first = p->regex->ranges.count;
	bool fold = p->fold;

	p->fold = false;
	if (p->dot_all) {
		add_range(p, 0, CODE_MAX);
	} else {
		add_range(p, 0, '\n' - 1);
		add_range(p, '\n' + 1, CODE_MAX);
	}
	p->fold = fold;
	emit_set(p, first);
}

static void parse_quoted(struct parser *p)
{
	while (p->rest.size && !take(p, "\\E"))
		emit_code(p, take_code(p));
}

/* False: it is nothing that may be repeated. */
static bool parse_one(struct parser *p)
{
	size_t first = p->regex->ranges.count;

	if (take(p, "^") || take(p, "\\A")) {
		emit(p, REGEX_BEGIN, 0, 0);
	} else if (take(p, "$") || take(p, "\\z")) {
		emit(p, REGEX_END, 0, 0);
	} else if (take(p, "\\b")) {
		emit(p, REGEX_BOUNDARY, 0, 0);
	} else if (take(p, "\\B")) {
		emit(p, REGEX_NO_BOUNDARY, 0, 0);
	} else if (take(p, ".")) {
		parse_dot(p);
	} else if (take(p, "[")) {
		parse_brackets(p);
	} else if (take(p, "(")) {
		return parse_group(p);
	} else if (take_escaped_class(p)) {
		emit_set(p, first);
	} else if (take(p, "\\")) {
		emit_code(p, take_escape(p));
	} else if (strchr("*+?", p->rest.data[0])) {
		fail(p, ERROR_INPUT, "there is nothing to repeat");
	} else {
		emit_code(p, take_code(p));
	}
	return true;
}

/* "{2}", "{2,}", "{2,5}"; false, and nothing taken: it is text.  *most -1: any number. */
static bool take_counts(struct parser *p, int32_t *least, int32_t *most)
{
	struct str before = p->rest;
	bool is_digit = p->rest.size > 1 && p->rest.data[0] == '{' && p->rest.data[1] >= '0' &&
			p->rest.data[1] <= '9';

	if (!is_digit || !take(p, "{"))
		return false;
	*most = *least = take_digits(p, 10, 8);
	if (take(p, ",")) {
		*most = -1;
		if (p->rest.size && p->rest.data[0] >= '0' && p->rest.data[0] <= '9')
			*most = take_digits(p, 10, 8);
	}
	if (take(p, "}"))
		return true;
	if (p->err == NULL)
		p->rest = before;
	return false;
}

static void repeat(struct parser *p, size_t start, int32_t least, int32_t most)
{
	size_t size = here(p) - start;

	if (least > REPEAT_MAX || most > REPEAT_MAX || (most >= 0 && most < least)) {
		fail(p, ERROR_INPUT, "nothing is repeated so often");
		return;
	}
	/* The thing itself stands there already; copies are made of it. */
	for (int32_t i = 0; i < least; i++)
		copy(p, start, size);
	if (most < 0) {
		emit(p, REGEX_SPLIT, 1, (int64_t)size + 2);
		copy(p, start, size);
		emit(p, REGEX_JUMP, -(int64_t)size - 1, 0);
	}
	for (int32_t i = least; i < most; i++) {
		emit(p, REGEX_SPLIT, 1, (int64_t)(size + 1) * (most - i));
		copy(p, start, size);
	}
	if (p->err)
		return;
	struct regex_step *steps = p->regex->steps.data;
	memmove(&steps[start], &steps[start + size], (here(p) - start - size) * sizeof(*steps));
	p->regex->steps.count -= size;
}

/* How often the steps from `start` on are to be taken, if anything says so. */
static bool parse_repetition(struct parser *p, size_t start)
{
	int64_t size = (int64_t)(here(p) - start);
	int32_t least, most;

	if (take(p, "*")) {
		insert(p, start, REGEX_SPLIT, 1, size + 2);
		emit(p, REGEX_JUMP, -size - 1, 0);
	} else if (take(p, "+")) {
		emit(p, REGEX_SPLIT, -size, 1);
	} else if (take(p, "?")) {
		insert(p, start, REGEX_SPLIT, 1, size + 1);
	} else if (take_counts(p, &least, &most)) {
		repeat(p, start, least, most);
	} else {
		return false;
	}
	(void)take(p, "?");
	return true;
}

static bool begins_repetition(struct parser *p)
{
	int32_t least, most;

	return p->rest.size && (strchr("*+?", p->rest.data[0]) || take_counts(p, &least, &most));
}

static void parse_sequence(struct parser *p)
{
	while (p->rest.size && p->rest.data[0] != '|' && p->rest.data[0] != ')') {
		size_t start = here(p);

		if (take(p, "\\Q")) {
			parse_quoted(p);
		} else if (parse_one(p) && parse_repetition(p, start) && begins_repetition(p)) {
			fail(p, ERROR_INPUT, "a repetition is repeated");
		}
	}
}

static void parse_alternatives(struct parser *p)
{
	size_t start = here(p);

	parse_sequence(p);
	while (take(p, "|")) {
		size_t size = here(p) - start;

		insert(p, start, REGEX_SPLIT, 1, (int64_t)size + 2);
		emit(p, REGEX_JUMP, 0, 0);
		size_t jump = here(p) - 1;
		parse_sequence(p);
		if (p->err == NULL)
			p->regex->steps.data[jump].a = (int32_t)(here(p) - jump);
	}
}

struct error *regex_parse(struct regex *regex, struct str pattern)
{
	struct parser p = {.regex = regex, .rest = pattern};

	parse_alternatives(&p);
	if (p.err == NULL && p.rest.size)
		fail(&p, ERROR_INPUT, "a group is closed that is none");
	emit(&p, REGEX_MATCH, 0, 0);
	return p.err;
}
