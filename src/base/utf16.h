#ifndef SONDE_BASE_UTF16_H
#define SONDE_BASE_UTF16_H

/* Text that Windows tools have written: UTF-16 of either byte order, told by its byte order mark.
 */

#include "base/str.h"

/* Whether s begins with U+FEFF in either byte order. */
bool utf16_has_mark(struct str s);
/*
 * Appends s, which has a mark, as UTF-8 without it.  Surrogates without their other half, and a
 * single byte at the end, become U+FFFD.
 */
void utf16_decode(struct strbuf *out, struct str s);

#endif
