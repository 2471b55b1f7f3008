#ifndef SONDE_HTTP_STRICT_H
#define SONDE_HTTP_STRICT_H

/*
 * A strict reader of the requests of one connection (RFC 9112), which passes on only what has one
 * meaning: no NUL and no control character, no LF or CR alone, no folded header, one Host, one
 * statement of where the body ends.  libmicrohttpd is lenient, and to some malformed heads it sends
 * two answers.
 *
 * A head is held until it is complete.  In place of one that is refused stands a request that no
 * client can make, so that the server's answers stay in order; all that follows is dropped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum http_strict_state {
	STRICT_HEAD,
	STRICT_BODY,
	STRICT_CHUNK_SIZE,
	STRICT_CHUNK,
	STRICT_CHUNK_END, /* the CR LF after a chunk */
	STRICT_TRAILERS,
	STRICT_REFUSED,
};

struct http_strict {
	enum http_strict_state state;
	size_t head_max;    /* bytes of a head */
	struct strbuf held; /* of a head, of the line with a chunk's size, or of trailers */
	uint64_t left;	    /* bytes of the body or chunk */
};

void http_strict_init(struct http_strict *s, size_t head_max);
void http_strict_deinit(struct http_strict *s);
/* Appends to *out what may be passed on, now that these bytes have come. */
void http_strict_add(struct http_strict *s, struct str bytes, struct strbuf *out);

/*
 * The status to answer with, and *why, if a request stands for one that was refused; else 0.
 */
unsigned http_strict_refusal(struct str method, struct str path, const char **why);

#endif
