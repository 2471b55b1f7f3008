#ifndef SONDE_STORE_CREDENTIALS_H
#define SONDE_STORE_CREDENTIALS_H

#include "base/error.h"
#include "base/str.h"

/*
 * Appends the first line of a file, without blanks around it: a password or a token, which never
 * stands on a command line.  ERROR_USAGE if others than the file's owner may read it.
 */
must_use struct error *credentials_read(const char *path, struct strbuf *line);

#endif
