#ifndef SONDE_BASE_UTF16_H
#define SONDE_BASE_UTF16_H

/* Text that Windows tools have written: UTF-16 of either byte order. */

#include "base/str.h"

enum utf16_order { UTF16_NONE, UTF16_LITTLE, UTF16_BIG };

/*
 * Whether s is UTF-16, and in which byte order: by U+FEFF at its start, or, without one, by the
 * zero bytes of characters that are ASCII, where three in four of the first ones are.
 */
enum utf16_order utf16_order(struct str s);
/*
 * Appends s, which is in that order, as UTF-8, without a mark at its start.  Surrogates without
 * their other half, and a single byte at the end, become U+FFFD.
 */
void utf16_decode(struct strbuf *out, struct str s, enum utf16_order order);

#endif
