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

/* The parts of a position, as named in the `positions:` line. */
enum callgrind_position {
	CALLGRIND_ADDRESS,
	CALLGRIND_LINE,
	CALLGRIND_OTHER, /* unknown */
	CALLGRIND_POSITIONS
};
#define CALLGRIND_COLUMNS_MAX 8
/*
 * How many bytes from the start of a line callgrind_line_quick may read.  The line must end within
 * the first half.
 */
#define CALLGRIND_LINE_QUICK 128

struct callgrind_place {
	uint64_t position[CALLGRIND_POSITIONS];
};

struct callgrind_line {
	enum callgrind_position columns[CALLGRIND_COLUMNS_MAX];
	size_t column_count;
	struct callgrind_place place;
	int64_t *numbers, *spare; /* of this line; and the buffer for the next one */
	int64_t room[2][CALLGRIND_EVENTS_MAX];
	bool has_negatives; /* "-5" is a negative number, not relative to the previous line */
	uint64_t fractions; /* numbers that were rounded */
};

/* Until a `positions:` line says otherwise, positions are lines alone.  l must not be moved. */
void callgrind_line_init(struct callgrind_line *l);
/* Sets the columns; names: the text after `positions:`. */
void callgrind_line_columns(struct callgrind_line *l, struct str names);
/* After an `events:` line, numbers are not relative to earlier ones. */
void callgrind_line_forget_numbers(struct callgrind_line *l);
/* Whether a line is a cost line, by its first letter. */
static inline bool callgrind_line_begins(char c)
{
	return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*';
}
/*
 * Sets position and numbers from a line; missing numbers are 0.  False, and no change, if it is not
 * a cost line.
 */
bool callgrind_line_read(struct callgrind_line *l, struct str line, size_t count);
/* The numbers of a `summary:` or `totals:` line. */
bool callgrind_line_read_numbers(
	struct callgrind_line *l, struct str text, int64_t *numbers, size_t count);
/* Takes a number, decimal or hexadecimal after 0x, off the start of text. */
bool callgrind_line_take_number(struct str *text, uint64_t *number);

/*
 * ---- The common form of lines
 *
 * Most lines of a file are costs, and most of these are runs of decimal digits separated by one
 * blank.  So a single check of a line finds the ends of all its numbers, and each is parsed at
 * once.  callgrind_line_read handles all other forms.
 */

/*
 * Makes the numbers just read the base of the next line's.  A line with no numbers leaves the base
 * unchanged.
 */
static inline void callgrind_line_keep(struct callgrind_line *l, size_t count)
{
	int64_t *before = l->numbers;

	if (count == 0)
		return;
	l->numbers = l->spare;
	l->spare = before;
}

/* A line being read, with the positions of bytes that are not digits. */
struct callgrind_quick {
	const char *line;
	unsigned int at; /* bytes consumed so far */
	uint64_t others; /* bit i: byte i is not a digit; only from `at` on, as far as checked */
};

/* Bit i: byte i is not a digit. */
static inline uint64_t callgrind_quick_others(const char *line)
{
	const uint8_t *bytes = (const uint8_t *)line;
	bytes16 low = load16(bytes) - '0', high = load16(bytes + 16) - '0';

	return found_bits((bytes16)(low > 9)) | found_bits((bytes16)(high > 9)) << 16;
}

/* The same for bytes from `at` on, beyond the first half of a longer line. */
uint64_t callgrind_quick_further(const char *line, unsigned int at);

/* Parses 9 to DIGITS_MAX digits; false for other counts. */
bool callgrind_quick_long(const uint8_t *digits, unsigned int count, uint64_t *number);

/* Skips a byte that is not a digit. */
static inline void callgrind_quick_pass(struct callgrind_quick *q)
{
	q->at++;
	q->others &= q->others - 1;
}

/* Takes the next digits, 1 to DIGITS_MAX of them. */
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

/* Parses the hexadecimal number at `at`; returns its end, or 0. */
unsigned int callgrind_quick_hex(const char *line, unsigned int at, uint64_t *number);

/* Takes one part of a position if it has the common form. */
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
	/* Leave overflow to callgrind_line_read. */
	if (unlikely((sign == '+' && number < *position) || (sign == '-' && number > *position)))
		return false;
	*position = number;
	return true;
}

/* Takes a position with one blank between its parts. */
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

/* Takes numbers[count], with one blank before each, up to the newline. */
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
 * The same as callgrind_line_read for a line of the common form: unsigned decimal numbers, one
 * blank before each, and a newline.  At least CALLGRIND_LINE_QUICK bytes must follow `at`.  Returns
 * the start of the next line; NULL, with no effect, if the line has any other form.
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
