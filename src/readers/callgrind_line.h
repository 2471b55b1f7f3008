#ifndef SONDE_READERS_CALLGRIND_LINE_H
#define SONDE_READERS_CALLGRIND_LINE_H

/*
 * A cost line of a callgrind file: a position, then numbers.  Both may be told relative to the line
 * before ("Subposition Compression" in the format's manual), which is what is kept here.
 */

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
/*
 * The same of the line that begins there, CALLGRIND_LINE_QUICK bytes before the end of the file at
 * the least, where it is an ordinary one: unsigned decimal numbers, one blank before each, and a
 * newline.  Behind the newline; NULL where it is something else, be it a cost line or not.
 */
const char *callgrind_line_quick(struct callgrind_line *l, const char *at, size_t count);
/* The numbers of a `summary:` or `totals:` line. */
bool callgrind_line_read_numbers(
	struct callgrind_line *l, struct str text, int64_t *numbers, size_t count);
/* A number at the start of text, decimal or hexadecimal after 0x; *text goes on behind it. */
bool callgrind_line_take_number(struct str *text, uint64_t *number);

#endif
