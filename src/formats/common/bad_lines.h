#ifndef SONDE_FORMATS_COMMON_BAD_LINES_H
#define SONDE_FORMATS_COMMON_BAD_LINES_H

/* Lines of a text that are not what they should be: counted, the first of them by number. */

#include "model/builder.h"

#define BAD_LINES_TOLD 8

struct bad_lines {
	uint64_t count;
	uint64_t told[BAD_LINES_TOLD]; /* numbers of the first ones */
};

void bad_lines_add(struct bad_lines *b, uint64_t line_number);
/* Makes the note of them, if there are any. */
void bad_lines_note(const struct bad_lines *b, struct builder *builder);

#endif
