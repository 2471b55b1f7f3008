/*
 * Byte strings, borrowed and growing.  See str.h.
 */
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

int str_compare(struct str a, struct str b)
{
	size_t n = a.size < b.size ? a.size : b.size;
	int order = n ? memcmp(a.data, b.data, n) : 0;

	if (order != 0)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

bool str_starts_with(struct str s, struct str prefix)
{
	return s.size >= prefix.size && memcmp(s.data, prefix.data, prefix.size) == 0;
}

bool str_ends_with(struct str s, struct str suffix)
{
	return s.size >= suffix.size &&
	       memcmp(s.data + s.size - suffix.size, suffix.data, suffix.size) == 0;
}

struct str str_base_name(struct str path)
{
	const char *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;

	if (slash == NULL)
		return path;
	size_t skip = (size_t)(slash - path.data) + 1;
	return (struct str){path.data + skip, path.size - skip};
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct str str_trim(struct str s)
{
	while (s.size && is_space(s.data[s.size - 1]))
		s.size--;
	while (s.size && is_space(s.data[0])) {
		s.data++;
		s.size--;
	}
	return s;
}

static struct str take_up_to(struct str *rest, char last)
{
	const char *end = rest->size ? memchr(rest->data, last, rest->size) : NULL;
	struct str taken = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
	size_t size = taken.size + (end != NULL);

	if (size) {
		rest->data += size;
		rest->size -= size;
	}
	return taken;
}

struct str str_take_line(struct str *rest)
{
	return take_up_to(rest, '\n');
}

struct str str_take_item(struct str *rest)
{
	return take_up_to(rest, '\0');
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool str_unhex(struct str hex, char *bytes)
{
	for (size_t i = 0; i + 1 < hex.size; i += 2) {
		int high = hex_value(hex.data[i]), low = hex_value(hex.data[i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i / 2] = (char)(high << 4 | low);
	}
	return hex.size % 2 == 0;
}

void strbuf_deinit(struct strbuf *b)
{
	free(b->data);
	*b = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *b)
{
	b->size = 0;
	if (b->data)
		b->data[0] = '\0';
}

void strbuf_reserve(struct strbuf *b, size_t more)
{
	size_t need = b->size + more + 1;

	if (need <= b->capacity)
		return;
	size_t capacity = b->capacity ? b->capacity * 2 : 64;
	if (capacity < need)
		capacity = need;
	b->data = xrealloc_array(b->data, capacity, 1);
	b->capacity = capacity;
}

/* Enough for a number or two. */
#define PRINT_ROOM_BYTES 48u

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	/* Most texts fit at the first try. */
	strbuf_reserve(b, PRINT_ROOM_BYTES);
	size_t room = b->capacity - b->size;
	int size = vsnprintf(b->data + b->size, room, format, args);
	if (size > 0 && (size_t)size >= room) {
		strbuf_reserve(b, (size_t)size);
		vsnprintf(b->data + b->size, (size_t)size + 1, format, again);
	}
	b->size += size > 0 ? (size_t)size : 0;
	va_end(again);
	va_end(args);
}
