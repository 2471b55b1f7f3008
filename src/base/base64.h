#ifndef SONDE_BASE_BASE64_H
#define SONDE_BASE_BASE64_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Appends the bytes that a text in base64 (RFC 4648, either alphabet, with or without padding)
 * stands for; false: it is not base64, and a part of it may be appended.
 */
bool base64_decode(struct str text, struct strbuf *out);

#endif
