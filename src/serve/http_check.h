#ifndef SONDE_SERVE_HTTP_CHECK_H
#define SONDE_SERVE_HTTP_CHECK_H

/*
 * Which requests are answered at all.  Pages of other sites can make a browser send requests to
 * 127.0.0.1, and by a name of their own that resolves to it (DNS rebinding): such requests have
 * another Host, or an Origin.  Everybody else on the machine can connect, and must know the token.
 */

#include <stdbool.h>

#include "base/str.h"

/* Characters of a token: 128 random bits in hexadecimal. */
#define HTTP_TOKEN_SIZE 32u

/* What of a request decides; size 0: the header is missing. */
struct http_head {
	struct str method, path;
	struct str host, origin, fetch_site, fetch_mode;
	unsigned hosts; /* how many Host headers */
	bool has_body, upgrades;
	bool is_odd; /* a header has an invalid name */
};

/* 0 if it is to be answered, else the status of the refusal; *path: what follows the token. */
unsigned http_check(const struct http_head *head, const char *token, struct str *path);
/* Makes a token from the kernel's random numbers; false: there are none. */
bool http_token_make(char token[HTTP_TOKEN_SIZE + 1]);

#endif
