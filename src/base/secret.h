#ifndef SONDE_BASE_SECRET_H
#define SONDE_BASE_SECRET_H

#include "base/error.h"
#include "base/str.h"

/*
 * Appends the first line of a file, without the blanks around it: a password or a token, which
 * never stands on a command line.  ERROR_USAGE if others than the file's owner may read or write
 * it, or the line has a NUL byte.
 */
must_use struct error *secret_read(const char *path, struct strbuf *line);

#endif
