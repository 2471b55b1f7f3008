/* Cost lines of callgrind files of any kind. callgrind_line_quick reads the common form. */
#include "formats/callgrind/line.h"

#include "base/saturate.h"
#include "formats/common/text_field.h"

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

static unsigned int hex_digit(char c)
{
	if (char_is_digit(c))
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

static const char *scan_hex(const char *at, const char *end, uint64_t *number)
{
	uint64_t n = 0;

	for (; at < end && hex_digit(*at) < 16; at++)
		n = n >> 60 ? UINT64_MAX : n << 4 | hex_digit(*at);
	*number = n;
	return at;
}

/*
 * Returns the end of the number, or `at` if there is none; a number beyond 64 bits becomes the
 * maximum.
 */
static inline const char *scan_number(const char *at, const char *end, uint64_t *number)
{
	const char *begin = at;
	uint64_t n = 0;

	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		return scan_hex(at + 2, end, number);
	while (at < end && char_is_digit(*at) && at - begin < 19)
		n = 10 * n + (uint64_t)(*at++ - '0');
	if (at < end && char_is_digit(*at)) {
		n = UINT64_MAX;
		while (at < end && char_is_digit(*at))
			at++;
	}
	*number = n;
	return at;
}

bool callgrind_line_take_number(struct str *text, uint64_t *number)
{
	const char *end = text->data + text->size, *begin = skip_blanks(text->data, end);
	const char *at = scan_number(begin, end, number);

	*text = (struct str){at, (size_t)(end - at)};
	return at > begin;
}

void callgrind_line_init(struct callgrind_line *l)
{
	*l = (struct callgrind_line){.columns = {CALLGRIND_LINE}, .column_count = 1};
	l->numbers = l->room[0];
	l->spare = l->room[1];
}

void callgrind_line_columns(struct callgrind_line *l, struct str names)
{
	const char *at = names.data, *end = names.data + names.size;

	l->column_count = 0;
	l->place = (struct callgrind_place){0};
	while (l->column_count < CALLGRIND_COLUMNS_MAX) {
		at = skip_blanks(at, end);
		const char *begin = at;
		while (at < end && (unsigned char)*at > ' ')
			at++;
		struct str name = {begin, (size_t)(at - begin)};
		if (name.size == 0)
			break;
		l->columns[l->column_count++] = str_equal(name, STR("instr"))  ? CALLGRIND_ADDRESS
						: str_equal(name, STR("line")) ? CALLGRIND_LINE
									       : CALLGRIND_OTHER;
	}
	if (l->column_count == 0)
		l->columns[l->column_count++] = CALLGRIND_LINE;
}

void callgrind_line_forget_numbers(struct callgrind_line *l)
{
	memset(l->room, 0, sizeof(l->room));
}

/* One part of a position; NULL: invalid. */
static inline const char *scan_position(const char *at, const char *end, uint64_t *position)
{
	char sign = at < end ? *at : '\0';
	uint64_t number;

	if (sign == '*')
		return at + 1;
	at += sign == '+' || sign == '-';
	const char *behind = scan_number(at, end, &number);
	if (behind == at || (sign == '-' && number > *position))
		return NULL;
	if (sign == '+')
		add_saturating(&number, *position);
	else if (sign == '-')
		number = *position - number;
	*position = number;
	return behind;
}

static int64_t capped(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* The digits after a decimal point, by which the number is rounded. */
static const char *scan_fraction(
	struct callgrind_line *l, const char *at, const char *end, int64_t *number)
{
	const char *begin = at;

	while (at < end && char_is_digit(*at))
		at++;
	if (at > begin && *begin >= '5' && *number < INT64_MAX)
		++*number;
	l->fractions++;
	return at;
}

/*
 * A number; before: the same number in the previous line, which "*", "+5" and "-5" refer to.  NULL:
 * invalid.
 */
static inline const char *scan_cost(
	struct callgrind_line *l, const char *at, const char *end, int64_t before, int64_t *cost)
{
	char sign = *at;
	uint64_t number;
	int64_t sum;

	if (sign == '*') {
		*cost = before;
		return at + 1;
	}
	at += sign == '+' || sign == '-';
	const char *behind = scan_number(at, end, &number);
	if (behind == at)
		return NULL;
	*cost = capped(number);
	if (behind < end && *behind == '.')
		behind = scan_fraction(l, behind + 1, end, cost);
	if (sign == '-')
		*cost = -*cost;
	if (sign == '+' || (sign == '-' && !l->has_negatives))
		*cost = __builtin_add_overflow(before, *cost, &sum) ? INT64_MAX : sum;
	return behind;
}

/* Scans numbers[count], relative to before; false if something else follows. */
static inline bool scan_costs(struct callgrind_line *l, const char *at, const char *end,
	const int64_t *before, int64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t cost = 0;

		at = skip_blanks(at, end);
		if (at < end) {
			at = scan_cost(l, at, end, before[i], &cost);
			if (at == NULL || (at < end && (unsigned char)*at > ' '))
				return false;
		}
		numbers[i] = cost;
	}
	return skip_blanks(at, end) == end;
}

bool callgrind_line_read(struct callgrind_line *l, struct str line, size_t count)
{
	const char *at = line.data, *end = line.data + line.size;
	struct callgrind_place place = l->place;

	for (size_t i = 0; i < l->column_count; i++) {
		at = scan_position(skip_blanks(at, end), end, &place.position[l->columns[i]]);
		if (at == NULL || (at < end && (unsigned char)*at > ' '))
			return false;
	}
	if (!scan_costs(l, at, end, l->numbers, l->spare, count))
		return false;
	l->place = place;
	callgrind_line_keep(l, count);
	return true;
}

/* Bytes checked at a time; most lines are shorter. */
#define LOOKED 32

uint64_t callgrind_quick_further(const char *line, unsigned int at)
{
	if (at >= 2 * LOOKED)
		return 0;
	return callgrind_quick_others(line + LOOKED) << LOOKED & UINT64_MAX << at;
}

bool callgrind_quick_long(const uint8_t *digits, unsigned int count, uint64_t *number)
{
	if (count <= 8 || count > DIGITS_MAX)
		return false;
	*number = digits_known(digits, count - 8) * powers_of_10[8] +
		  digits_known(digits + count - 8, 8);
	return true;
}

unsigned int callgrind_quick_hex(const char *line, unsigned int at, uint64_t *number)
{
	const char *digits = line + at + 2;
	const char *behind = scan_hex(digits, digits + DIGITS_MAX, number);

	at = (unsigned int)(behind - line);
	return behind > digits && at < 2 * LOOKED ? at : 0;
}

bool callgrind_line_read_numbers(
	struct callgrind_line *l, struct str text, int64_t *numbers, size_t count)
{
	int64_t before[CALLGRIND_EVENTS_MAX] = {0};

	return scan_costs(l, text.data, text.data + text.size, before, numbers, count);
}
