/*
 * Words and numbers of text.  See text_field.h.
 */
#include "formats/common/text_field.h"

#include "base/decimal.h"

static int digit_value(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : text_hex_value(c);
}

static void drop(struct str *s, size_t size)
{
	if (size == 0) /* also for a missing text: NULL + 0 is undefined */
		return;
	s->data += size;
	s->size -= size;
}

static bool take_digits(struct str *rest, uint64_t base, uint64_t *number)
{
	uint64_t value = 0;
	size_t size = 0;

	for (; size < rest->size; size++) {
		uint64_t digit = (uint64_t)digit_value(rest->data[size]);
		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (size == 0)
		return false;
	drop(rest, size);
	*number = value;
	return true;
}

bool text_take_hex(struct str *rest, uint64_t *number)
{
	return take_digits(rest, 16, number);
}

bool text_take_number(struct str *rest, uint64_t *number)
{
	return take_digits(rest, 10, number);
}

bool text_take(struct str *rest, struct str prefix)
{
	if (!str_starts_with(*rest, prefix))
		return false;
	drop(rest, prefix.size);
	return true;
}

bool text_take_end(struct str *rest, struct str suffix)
{
	if (!str_ends_with(*rest, suffix))
		return false;
	rest->size -= suffix.size;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct str text_take_word(struct str *rest)
{
	size_t size = 0;

	while (rest->size && is_blank(rest->data[0]))
		drop(rest, 1);
	while (size < rest->size && !is_blank(rest->data[size]))
		size++;
	struct str word = {rest->data, size};
	drop(rest, size);
	return word;
}

bool text_find(struct str line, struct str key, struct str *rest)
{
	const char *found = line.size ? memmem(line.data, line.size, key.data, key.size) : NULL;

	if (found == NULL)
		return false;
	*rest = line;
	drop(rest, (size_t)(found - line.data) + key.size);
	return true;
}

bool text_number(struct str line, struct str key, uint64_t *number)
{
	struct str rest;

	return text_find(line, key, &rest) && text_take_number(&rest, number);
}

bool text_seconds(struct str line, struct str key, uint64_t *ns)
{
	struct str rest;
	struct decimal seconds;

	if (!text_find(line, key, &rest) || decimal_scan(rest, &seconds) == 0 ||
		seconds.is_negative)
		return false;
	*ns = (uint64_t)decimal_int(&seconds, 9);
	return true;
}
