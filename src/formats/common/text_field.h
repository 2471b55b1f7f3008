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

/* The value of a lower-case hexadecimal digit; 16: not one. */
static inline int text_hex_value(char c)
{
	if (char_is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Skips the blanks and tabs at the start. */
static inline void text_skip_blanks(struct str *rest)
{
	while (rest->size && text_is_blank(rest->data[0]))
		*rest = (struct str){rest->data + 1, rest->size - 1};
}

static inline bool text_contains(struct str s, const char *text)
{
	return memmem(s.data, s.size, text, strlen(text)) != NULL;
}

/*
 * Takes hexadecimal digits (no 0x) off the start.  False, and takes nothing, if there are none or
 * the number exceeds 64 bits.
 */
bool text_take_hex(struct str *rest, uint64_t *number);
/* The same for decimal digits. */
bool text_take_number(struct str *rest, uint64_t *number);
/* If the rest begins with prefix, takes it and returns true. */
bool text_take(struct str *rest, struct str prefix);
/* The same at the end. */
bool text_take_end(struct str *rest, struct str suffix);
/* Takes the next word, up to a blank or the end, and the blanks before it; empty at the end. */
struct str text_take_word(struct str *rest);
/* What follows key ("tid=") in a line, up to its end; false: no such key. */
bool text_find(struct str line, struct str key, struct str *rest);
/* The number after key; false: there is none. */
bool text_number(struct str line, struct str key, uint64_t *number);
/* The seconds with a fraction after key, in ns. */
bool text_seconds(struct str line, struct str key, uint64_t *ns);

#endif
