#ifndef SONDE_FORMATS_COMMON_TEXT_INPUT_H
#define SONDE_FORMATS_COMMON_TEXT_INPUT_H

/* The text of a file, in any supported encoding. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Without a byte order mark, and as UTF-8, in buffer, where it is UTF-16; else the bytes
 * themselves.  buffer must outlive the text.
 */
struct str text_input(const uint8_t *data, size_t size, struct strbuf *buffer);
/*
 * The same of the beginning of an input, of at most `most` bytes, for who bids; empty where it is
 * no text.  What of it is whole lines; a line that is longer is cut.
 */
struct str text_input_start(const uint8_t *data, size_t size, size_t most, struct strbuf *buffer);
/*
 * Whether the beginning of an input is surely text: no control characters but blanks and line ends.
 * Messages of protocol buffers have some in each field, and no magic number to be known by.
 */
bool text_input_is_plain(const uint8_t *data, size_t size);

#endif
