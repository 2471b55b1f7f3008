#ifndef SONDE_SERVE_LINES_H
#define SONDE_SERVE_LINES_H

/*
 * Lines of a stream, of bounded length: a longer line is skipped without being kept, and
 * reported once.
 *
 *	lines_read(&lines, fd);                    (when fd is readable)
 *	while ((kind = lines_next(&lines, &line)) != LINES_NONE) …
 */

#include <stdbool.h>

#include "base/str.h"

enum lines_kind {
	LINES_NONE,	/* no whole line is there */
	LINES_LINE,	/* line is the next one, without its end, valid until lines_read */
	LINES_TOO_LONG, /* a line was longer than the bound */
};

struct lines {
	struct strbuf bytes; /* read and not taken; at most max and one read more */
	size_t taken;	     /* of these */
	size_t max;
	bool is_skipping; /* the rest of a line that is too long */
	bool is_at_end;	  /* of the stream */
};

static inline struct lines lines_of(size_t max)
{
	return (struct lines){.max = max};
}
void lines_deinit(struct lines *l);
/* Reads once; at the end of the stream, or after an error, is_at_end is set. */
void lines_read(struct lines *l, int fd);
/* For tests: as if these bytes had been read. */
void lines_feed(struct lines *l, struct str bytes);
enum lines_kind lines_next(struct lines *l, struct str *line);

#endif
