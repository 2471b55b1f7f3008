#ifndef SONDE_SERVE_HTTP_CHECK_H
#define SONDE_SERVE_HTTP_CHECK_H

/* Which requests for files are answered at all. */

#include "http/head.h"

/* 0 if it is to be answered, else the status of the refusal; *path: what follows the token. */
unsigned http_check(const struct http_head *head, const char *token, struct str *path);

#endif
