#ifndef SONDE_MODEL_NOTE_KEY_H
#define SONDE_MODEL_NOTE_KEY_H

/*
 * Which notes are about the same: those whose texts differ in numbers alone, and in what depends on
 * them, as "a sample was lost" and "samples were lost".
 */

#include <stddef.h>

#include "base/str.h"

/* Adds what is left of a text without these: equal for all texts of one subject. */
void note_key_put(struct str text, struct strbuf *key);

/* The words that a key leaves out besides numbers and endings, for other ways to make one. */
extern const char *const note_key_words[];
extern const size_t note_key_word_count;
/* An ellipsis, which a key leaves out. */
#define NOTE_KEY_ELLIPSIS "…"

#endif
