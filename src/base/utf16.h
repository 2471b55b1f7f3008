#ifndef SONDE_BASE_UTF16_H
#define SONDE_BASE_UTF16_H

/* Text written by Windows tools: UTF-16 in either byte order. */

#include "base/str.h"

enum utf16_order { UTF16_NONE, UTF16_LITTLE, UTF16_BIG };

/*
 * Whether s is UTF-16, and in which byte order: by U+FEFF at its start, or, without it, by the zero
 * bytes of ASCII characters, if at least three in four of the first characters are ASCII.
 */
enum utf16_order utf16_order(struct str s);
/*
 * Appends s, in the given order, as UTF-8, without a mark at its start.  Unpaired surrogates, and a
 * single byte at the end, become U+FFFD.
 */
void utf16_decode(struct strbuf *out, struct str s, enum utf16_order order);

#endif
