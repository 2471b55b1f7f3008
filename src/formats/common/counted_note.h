#ifndef SONDE_FORMATS_COMMON_COUNTED_NOTE_H
#define SONDE_FORMATS_COMMON_COUNTED_NOTE_H

/*
 * Notes of how many there were of something.  Views put the count in front of some kinds of notes
 * only (note_shows_count); here it is in the words of the others.
 */

#include <stdint.h>

#include "model/builder.h"

/* Adds nothing where count is 0; `one` is the sentence for 1, `many` goes behind a number. */
void counted_note(struct builder *builder, enum note_kind kind, uint64_t count, const char *one,
	const char *many);

#endif
