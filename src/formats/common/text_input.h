#ifndef SONDE_FORMATS_COMMON_TEXT_INPUT_H
#define SONDE_FORMATS_COMMON_TEXT_INPUT_H

/* The text of a file, in any supported encoding. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Drops a byte order mark.  UTF-16 is converted to UTF-8 in buffer, which must outlive the text;
 * other bytes are returned as they are.
 */
struct str text_input(const uint8_t *data, size_t size, struct strbuf *buffer);
/*
 * The same for the beginning of an input, at most `most` bytes, for bids; empty if it is not text.
 * Has whole lines only, unless the first line is longer: that is cut.
 */
struct str text_input_start(const uint8_t *data, size_t size, size_t most, struct strbuf *buffer);
/*
 * Whether the beginning of an input is certainly text: no control characters except blanks and line
 * ends.  Protocol buffer messages have some in each field, and no magic number.
 */
bool text_input_is_plain(const uint8_t *data, size_t size);

#endif
