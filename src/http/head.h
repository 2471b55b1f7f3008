#ifndef SONDE_HTTP_HEAD_H
#define SONDE_HTTP_HEAD_H

/*
 * The parts of a request's head that decide whether it is answered.  Pages of other sites can make
 * a browser send requests to 127.0.0.1, and by a name of their own that resolves to it (DNS
 * rebinding): such requests have another Host, or an Origin.  Everybody else on the machine can
 * connect, and must know a token.
 */

#include <stdbool.h>

#include "base/str.h"

/* Statuses of RFC 9110 that checks return. */
enum {
	HTTP_BAD_REQUEST = 400,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	HTTP_METHOD_NOT_ALLOWED = 405,
	HTTP_MISDIRECTED = 421
};

/* Size 0: the header is missing. */
struct http_head {
	struct str method, path;
	struct str host, origin, fetch_site, fetch_mode;
	unsigned hosts;	   /* how many Host headers */
	unsigned framings; /* how many headers state where the body ends */
	bool has_body, upgrades;
	bool is_odd; /* a header has an invalid name */
};

/* Whether a Host is a name of this machine, with any port: a tunnel may begin at another one. */
bool http_host_is_local(struct str host);
/* Whether a page of another site, as far as browsers report that, makes the request. */
bool http_is_of_another_site(const struct http_head *head);

/* Characters of a token that sonde makes: 128 random bits in hexadecimal. */
#define HTTP_TOKEN_SIZE 32u

/* Makes a token from the kernel's random numbers; false: there are none. */
bool http_token_make(char token[HTTP_TOKEN_SIZE + 1]);
/* Compares in a time that depends on the sizes only, not on where the texts differ. */
bool http_token_equal(struct str text, struct str token);

#endif
