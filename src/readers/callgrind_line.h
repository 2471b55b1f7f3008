#ifndef SONDE_READERS_CALLGRIND_LINE_H
#define SONDE_READERS_CALLGRIND_LINE_H

/*
 * A cost line of a callgrind file: a position, then numbers.  Both may be told relative to the line
 * before ("Subposition Compression" in the format's manual), which is what is kept here.
 */

#include "base/digits.h"
#include "base/str.h"
#include "readers/callgrind_events.h"

/* What a position is made of, by the `positions:` line. */
enum callgrind_position {
	CALLGRIND_ADDRESS,
	CALLGRIND_LINE,
	CALLGRIND_OTHER, /* which nobody here knows */
	CALLGRIND_POSITIONS
};
#define CALLGRIND_COLUMNS_MAX 8
/* Bytes from the start of a line that callgrind_line_quick may read: digits, a blank or sign each.
 */
#define CALLGRIND_LINE_QUICK (32 * (CALLGRIND_COLUMNS_MAX + CALLGRIND_EVENTS_MAX))

struct callgrind_line {
	enum callgrind_position columns[CALLGRIND_COLUMNS_MAX];
	size_t column_count;
	uint64_t position[CALLGRIND_POSITIONS];
	int64_t *numbers, *spare; /* of this line; what the next one's are read into */
	int64_t room[2][CALLGRIND_EVENTS_MAX];
	bool has_negatives; /* "-5" is a number, and not so much less than the line before */
	uint64_t fractions; /* numbers that were rounded */
};

/* Lines alone: what holds where no `positions:` line says otherwise.  l stays where it is. */
void callgrind_line_init(struct callgrind_line *l);
/* The text behind `positions:`. */
void callgrind_line_columns(struct callgrind_line *l, struct str names);
/* Behind an `events:` line, whose numbers are told relative to none before it. */
void callgrind_line_forget_numbers(struct callgrind_line *l);
/* Whether a line is one, by its first letter. */
static inline bool callgrind_line_begins(char c)
{
	return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*';
}
/*
 * Sets position and numbers from a line; numbers[count] that are not there are 0.  False where it
 * is none; then both are as they were.
 */
bool callgrind_line_read(struct callgrind_line *l, struct str line, size_t count);
/* The numbers of a `summary:` or `totals:` line. */
bool callgrind_line_read_numbers(
	struct callgrind_line *l, struct str text, int64_t *numbers, size_t count);
/* A number at the start of text, decimal or hexadecimal after 0x; *text goes on behind it. */
bool callgrind_line_take_number(struct str *text, uint64_t *number);

/*
 * ---- Lines as most are
 *
 * Most lines of a file are costs, and of these most are runs of decimal digits with one blank
 * between them: so those are read eight digits at a time, without a look for their end before it is
 * there.  All else is left to callgrind_line_read, which knows all.
 */

/*
 * Numbers that were read are what the line after is told relative to.  A line in whose place
 * nothing is counted leaves them as they are.
 */
static inline void callgrind_line_keep(struct callgrind_line *l, size_t count)
{
	int64_t *before = l->numbers;

	if (count == 0)
		return;
	l->numbers = l->spare;
	l->spare = before;
}

/* The digits at `at`, 1 to DIGITS_MAX of them: behind them, or NULL. */
static inline const char *callgrind_line_quick_number(const char *at, uint64_t *number)
{
	*number = 0;
	unsigned int count = digits_run((const uint8_t *)at, number);

	return likely(count - 1 < DIGITS_MAX) ? at + count : NULL;
}

/* The hexadecimal digits behind "0x": behind them, or NULL. */
const char *callgrind_line_quick_hex(const char *at, uint64_t *number);

/* One part of a position; NULL where it is none, or an odd one. */
static inline const char *callgrind_line_quick_position(const char *at, uint64_t *position)
{
	char sign = *at;
	uint64_t number;

	if (sign == '*')
		return at + 1;
	if (sign == '0' && at[1] == 'x')
		return callgrind_line_quick_hex(at + 2, position);
	at = callgrind_line_quick_number(at + (sign == '+' || sign == '-'), &number);
	if (sign == '+')
		number += *position;
	if (sign == '-')
		number = *position - number;
	/* What wraps is left to who knows what it is. */
	if (unlikely((sign == '+' && number < *position) || (sign == '-' && number > *position)))
		return NULL;
	*position = number;
	return at;
}

/* numbers[count], up to the newline; NULL where anything else stands there. */
static inline const char *callgrind_line_quick_costs(const char *at, int64_t *numbers, size_t count)
{
	size_t i = 0;

	for (; i < count && *at == ' '; i++) {
		uint64_t number;

		at = callgrind_line_quick_number(at + 1, &number);
		if (unlikely(at == NULL))
			return NULL;
		numbers[i] = (int64_t)number;
	}
	for (; i < count; i++)
		numbers[i] = 0;
	return *at == '\n' ? at + 1 : NULL;
}

/* Positions of several parts: position[CALLGRIND_POSITIONS] goes on from the line before. */
const char *callgrind_line_quick_positions(
	const struct callgrind_line *l, const char *at, uint64_t *position);

/*
 * callgrind_line_read of the line that begins there, CALLGRIND_LINE_QUICK bytes before the end of
 * the file at the least, where it is an ordinary one: unsigned decimal numbers, one blank before
 * each, and a newline.  Behind the newline; NULL where it is something else, be it a cost line or
 * not, and nothing was done.
 */
static inline const char *callgrind_line_quick(
	struct callgrind_line *l, const char *at, size_t count)
{
	uint64_t position[CALLGRIND_POSITIONS];
	enum callgrind_position only = l->columns[0];
	bool is_one = likely(l->column_count == 1);

	if (is_one) {
		position[only] = l->position[only];
		at = callgrind_line_quick_position(at, &position[only]);
	} else {
		at = callgrind_line_quick_positions(l, at, position);
	}
	if (unlikely(at == NULL))
		return NULL;
	at = callgrind_line_quick_costs(at, l->spare, count);
	if (unlikely(at == NULL))
		return NULL;
	if (is_one)
		l->position[only] = position[only];
	else
		memcpy(l->position, position, sizeof(position));
	callgrind_line_keep(l, count);
	return at;
}

#endif
