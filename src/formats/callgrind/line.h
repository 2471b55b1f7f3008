#ifndef SONDE_FORMATS_CALLGRIND_LINE_H
#define SONDE_FORMATS_CALLGRIND_LINE_H

/*
 * A cost line of a callgrind file: a position, then numbers.  Both may be relative to the previous
 * line ("Subposition Compression" in the format's manual), which is kept here.
 */

#include "base/bytes16.h"
#include "base/digits.h"
#include "base/str.h"
#include "formats/callgrind/events.h"

/* What a position is made of, by the `positions:` line. */
enum callgrind_position {
	CALLGRIND_ADDRESS,
	CALLGRIND_LINE,
	CALLGRIND_OTHER, /* which nobody here knows */
	CALLGRIND_POSITIONS
};
#define CALLGRIND_COLUMNS_MAX 8
/* Bytes from the start of a line that callgrind_line_quick may read, of which the first half are
 * the line's. */
#define CALLGRIND_LINE_QUICK 128

struct callgrind_place {
	uint64_t position[CALLGRIND_POSITIONS];
};

struct callgrind_line {
	enum callgrind_position columns[CALLGRIND_COLUMNS_MAX];
	size_t column_count;
	struct callgrind_place place;
	int64_t *numbers, *spare; /* of this line; what the next one's are read into */
	int64_t room[2][CALLGRIND_EVENTS_MAX];
	bool has_negatives; /* "-5" is a number, and not so much less than the line before */
	uint64_t fractions; /* numbers that were rounded */
};

/* Lines alone: what holds where no `positions:` line says otherwise.  l stays where it is. */
void callgrind_line_init(struct callgrind_line *l);
/* The text behind `positions:`. */
void callgrind_line_columns(struct callgrind_line *l, struct str names);
/* After an `events:` line: its numbers are relative to none before it. */
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
 * between them: so one look at the line finds the ends of all of them, and each is read at once.
 * All else is left to callgrind_line_read, which knows all.
 */

/*
 * The numbers that were read are what the next line's are relative to.  A line in whose place
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

/* A line that is being read, with the places that are not digits. */
struct callgrind_quick {
	const char *line;
	unsigned int at; /* what was read so far */
	uint64_t others; /* bit i: byte i is no digit; of those from `at` on, as far as it was
			    looked */
};

/* Bit i: byte i is no digit. */
static inline uint64_t callgrind_quick_others(const char *line)
{
	const uint8_t *bytes = (const uint8_t *)line;
	bytes16 low = load16(bytes) - '0', high = load16(bytes + 16) - '0';

	return found_bits((bytes16)(low > 9)) | found_bits((bytes16)(high > 9)) << 16;
}

/* Those from `at` on that are behind the first bytes, of a line that is longer than most. */
uint64_t callgrind_quick_further(const char *line, unsigned int at);

/* Those `count` digits, if they are 9 to DIGITS_MAX. */
bool callgrind_quick_long(const uint8_t *digits, unsigned int count, uint64_t *number);

/* Passes over a byte that is no digit. */
static inline void callgrind_quick_pass(struct callgrind_quick *q)
{
	q->at++;
	q->others &= q->others - 1;
}

/* Takes the digits that are next, 1 to DIGITS_MAX of them. */
static inline bool callgrind_quick_number(struct callgrind_quick *q, uint64_t *number)
{
	const uint8_t *digits = (const uint8_t *)q->line + q->at;

	if (unlikely(q->others == 0)) {
		q->others = callgrind_quick_further(q->line, q->at);
		if (q->others == 0)
			return false;
	}
	unsigned int end = (unsigned int)__builtin_ctzll(q->others), count = end - q->at;
	q->at = end;
	if (unlikely(count - 1 >= 8))
		return callgrind_quick_long(digits, count, number);
	*number = digits_known(digits, count);
	return true;
}

/* The hexadecimal number at `at`: behind it, or 0. */
unsigned int callgrind_quick_hex(const char *line, unsigned int at, uint64_t *number);

/* Takes one part of a position, if it is no odd one. */
static inline bool callgrind_quick_position(struct callgrind_quick *q, uint64_t *position)
{
	char sign = q->line[q->at];
	uint64_t number;

	if (sign == '0' && q->line[q->at + 1] == 'x') {
		q->at = callgrind_quick_hex(q->line, q->at, position);
		q->others &= UINT64_MAX << q->at;
		return q->at > 0;
	}
	if (sign == '*' || sign == '+' || sign == '-')
		callgrind_quick_pass(q);
	if (sign == '*')
		return true;
	if (unlikely(!callgrind_quick_number(q, &number)))
		return false;
	if (sign == '+')
		number += *position;
	if (sign == '-')
		number = *position - number;
	/* What wraps is left to who knows what it is. */
	if (unlikely((sign == '+' && number < *position) || (sign == '-' && number > *position)))
		return false;
	*position = number;
	return true;
}

/* Takes a position, whose parts have a blank between them. */
static inline bool callgrind_quick_positions(struct callgrind_quick *q, struct callgrind_line *l)
{
	size_t i = 0;

	while (likely(callgrind_quick_position(q, &l->place.position[l->columns[i]]))) {
		if (++i >= l->column_count)
			return true;
		if (q->line[q->at] != ' ')
			return false;
		callgrind_quick_pass(q);
	}
	return false;
}

/* Takes numbers[count], each after a blank, up to the newline. */
static inline bool callgrind_quick_costs(struct callgrind_quick *q, int64_t *numbers, size_t count)
{
	size_t i = 0;

	for (; i < count && q->line[q->at] == ' '; i++) {
		uint64_t number;

		callgrind_quick_pass(q);
		if (unlikely(!callgrind_quick_number(q, &number)))
			return false;
		numbers[i] = (int64_t)number;
	}
	for (; i < count; i++)
		numbers[i] = 0;
	return q->line[q->at] == '\n';
}

/*
 * callgrind_line_read of the line that begins there, CALLGRIND_LINE_QUICK bytes before the end of
 * the file at the least, where it is an ordinary one: unsigned decimal numbers, one blank before
 * each, and a newline.  Behind the newline; NULL where it is something else, be it a cost line or
 * not, and nothing was done.
 */
static inline const char *callgrind_line_quick(
	struct callgrind_line *l, const char *at, size_t count)
{
	struct callgrind_quick q = {.line = at, .others = callgrind_quick_others(at)};
	struct callgrind_place before = l->place;

	if (unlikely(!callgrind_quick_positions(&q, l) ||
		     !callgrind_quick_costs(&q, l->spare, count))) {
		l->place = before;
		return NULL;
	}
	callgrind_line_keep(l, count);
	return at + q.at + 1;
}

#endif
