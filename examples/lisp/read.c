/*
 * The reader: a recursive-descent parser of S-expressions.
 */

#include "lisp.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void skip_blanks(const char **text)
{
	for (;; ++*text) {
		if (**text == ';')
			*text += strcspn(*text, "\n");
		if (!isspace((unsigned char)**text))
			return;
	}
}

static size_t atom_size(const char *text)
{
	return strcspn(text, " \t\r\n()';\"");
}

/* What follows the dot of (a b . c), with the closing parenthesis. */
static struct cell *read_end(const char **text)
{
	struct cell *end;

	++*text;
	end = read_expression(text);
	skip_blanks(text);
	if (!end || **text != ')')
		fail("a list goes on behind its end", NULL);
	++*text;
	return end;
}

static struct cell *read_list(const char **text)
{
	struct cell *head;

	skip_blanks(text);
	if (**text == ')') {
		++*text;
		return nil;
	}
	if (**text == '.' && atom_size(*text) == 1)
		return read_end(text);
	head = read_expression(text);
	if (!head)
		fail("a list has no end", NULL);
	return make_pair(head, read_list(text));
}

static struct cell *read_string(const char **text)
{
	const char *start = *text, *end = strchr(start, '"');

	if (!end)
		fail("a string has no end", NULL);
	*text = end + 1;
	return make_string(start, (size_t)(end - start));
}

static struct cell *read_atom(const char **text)
{
	const char *start = *text;
	size_t size = atom_size(start);
	char *end;
	int64_t number;

	*text += size;
	errno = 0;
	number = strtoll(start, &end, 10);
	if (end == start + size)
		return errno ? (fail("a number is too large", NULL), nil) : make_number(number);
	return symbol(start, size);
}

struct cell *read_expression(const char **text)
{
	check_depth();
	skip_blanks(text);
	switch (**text) {
	case 0:
		return NULL;
	case '(':
		++*text;
		return read_list(text);
	case ')':
		++*text;
		fail("a ) without its (", NULL);
	case '\'': {
		struct cell *quoted;

		++*text;
		quoted = read_expression(text);
		if (!quoted)
			fail("nothing to quote", NULL);
		return make_pair(symbol("quote", 5), make_pair(quoted, nil));
	}
	case '"':
		++*text;
		return read_string(text);
	default:
		return read_atom(text);
	}
}
