#ifndef SONDE_FORMATS_COMMON_TEXT_FIELD_H
#define SONDE_FORMATS_COMMON_TEXT_FIELD_H

/*
 * Pieces of text formats whose lines are words and numbers without a fixed order: taken off the
 * start of what is left, or found by a key.
 */

#include "base/str.h"

/* Takes hexadecimal digits (no 0x) off the start; false, and nothing taken: none, or over 64 bits.
 */
bool text_take_hex(struct str *rest, uint64_t *number);
/* The same of decimal digits. */
bool text_take_number(struct str *rest, uint64_t *number);
/* True, and it is taken, if the rest begins with it. */
bool text_take(struct str *rest, struct str prefix);
/* The next word, up to a blank or the end, with the blanks before it; empty at the end. */
struct str text_take_word(struct str *rest);
/* What follows key ("tid=") in a line, up to its end; false: the key is not there. */
bool text_find(struct str line, struct str key, struct str *rest);
/* The number behind key; false: there is none. */
bool text_number(struct str line, struct str key, uint64_t *number);
/* Seconds with a fraction behind key, in ns. */
bool text_seconds(struct str line, struct str key, uint64_t *ns);

#endif
