#ifndef SONDE_TESTS_WRITER_TEXT_H
#define SONDE_TESTS_WRITER_TEXT_H

/* What a writer makes of a profile, in memory. */

#include "formats/writers.h"

/* The caller's; NUL-terminated even if it is empty.  Aborts if the writer fails. */
struct strbuf writer_text(const struct writer *writer, const struct profile *profile,
	const struct writer_options *options);
/* The same for what a writer may refuse: its error, the caller's, and then no text. */
must_use struct error *writer_try(const struct writer *writer, const struct profile *profile,
	const struct writer_options *options, struct strbuf *text);
/*
 * Makes the folded text of a profile and of what a format gives back of it the same, if the format
 * escapes names for people (escape_text): the escapes that it wrote are not escaped once more, and
 * bytes that are not UTF-8 are U+FFFD in both, as are the characters U+0080 to U+009F.
 */
void folded_for_people(struct strbuf *text);

#endif
