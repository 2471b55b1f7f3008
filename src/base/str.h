#ifndef SONDE_BASE_STR_H
#define SONDE_BASE_STR_H

/*
 * Strings: `struct str`, a borrowed run of bytes (not NUL-terminated unless its source says so),
 * and `struct strbuf`, a growing one.  Names from profiled programs are bytes, not text: they can
 * contain anything, including NUL. base/escape.h escapes them for output.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

struct str {
	const char *data;
	size_t size; /* bytes */
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
/* For printf's "%.*s". */
#define STR_ARG(s) (int)(s).size, (s).data

static inline struct str str_from(const char *s)
{
	return (struct str){s, s ? strlen(s) : 0};
}

static inline bool str_equal(struct str a, struct str b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* c: a byte, signed or not. */
static inline bool char_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* Compares by bytes; a prefix comes first. */
int str_compare(struct str a, struct str b);
bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);
/* The part after the last '/', or the whole string if there is none. */
struct str str_base_name(struct str path);
/* Without the blanks, tabs and carriage returns at either end. */
struct str str_trim(struct str s);
/*
 * Removes the next line, up to '\n' or the end, from the start of rest, including the '\n'; returns
 * it without.
 */
struct str str_take_line(struct str *rest);
/* The same for a list whose items each end in NUL. */
struct str str_take_item(struct str *rest);
/* Decodes two hexadecimal digits per byte into hex.size / 2 bytes; false: invalid digits. */
bool str_unhex(struct str hex, char *bytes);

struct strbuf {
	char *data; /* NUL-terminated once anything was added, else NULL */
	size_t size, capacity;
};

void strbuf_deinit(struct strbuf *b);
/* Empties b, keeps its memory. */
void strbuf_clear(struct strbuf *b);
void strbuf_reserve(struct strbuf *b, size_t more);
/* Inline, because a text of a million rows is made of many millions of short strings. */
static inline void strbuf_add(struct strbuf *b, struct str s)
{
	if (unlikely(b->capacity - b->size <= s.size))
		strbuf_reserve(b, s.size);
	if (s.size)
		memcpy(b->data + b->size, s.data, s.size);
	b->size += s.size;
	b->data[b->size] = '\0';
}
static inline void strbuf_add_char(struct strbuf *b, char c)
{
	strbuf_add(b, (struct str){&c, 1});
}
void strbuf_printf(struct strbuf *b, const char *format, ...) printf_like(2, 3);
static inline struct str strbuf_str(const struct strbuf *b)
{
	return (struct str){b->data ? b->data : "", b->size};
}

#endif
