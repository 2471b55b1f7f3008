#ifndef SONDE_FORMATS_COMMON_TEXT_FIELD_H
#define SONDE_FORMATS_COMMON_TEXT_FIELD_H

/*
 * Fields of text formats whose lines have words and numbers in no fixed order: taken from the start
 * of the rest, or found by a key.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

static inline bool text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit, in lower case; 16: it is none. */
static inline int text_hex_value(char c)
{
	if (text_is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Passes the blanks and tabs at the start. */
static inline void text_skip_blanks(struct str *rest)
{
	while (rest->size && text_is_blank(rest->data[0]))
		*rest = (struct str){rest->data + 1, rest->size - 1};
}

static inline bool text_contains(struct str s, const char *text)
{
	return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/* Takes hexadecimal digits (no 0x) off the start; false, and nothing taken: none, or over 64 bits.
 */
bool text_take_hex(struct str *rest, uint64_t *number);
/* The same of decimal digits. */
bool text_take_number(struct str *rest, uint64_t *number);
/* True, and it is taken, if the rest begins with it. */
bool text_take(struct str *rest, struct str prefix);
/* The same at the end. */
bool text_take_end(struct str *rest, struct str suffix);
/* The next word, up to a blank or the end, with the blanks before it; empty at the end. */
struct str text_take_word(struct str *rest);
/* What follows key ("tid=") in a line, up to its end; false: the key is not there. */
bool text_find(struct str line, struct str key, struct str *rest);
/* The number behind key; false: there is none. */
bool text_number(struct str line, struct str key, uint64_t *number);
/* Seconds with a fraction behind key, in ns. */
bool text_seconds(struct str line, struct str key, uint64_t *ns);

#endif
