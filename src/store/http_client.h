#ifndef SONDE_STORE_HTTP_CLIENT_H
#define SONDE_STORE_HTTP_CLIENT_H

/*
 * Requests over HTTP, several at once, through libcurl.  Only open connections are kept between
 * runs.  Redirections are not followed; only the proxies of the environment are used.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct http_client;

struct http_client_options {
	const char *ca_file; /* certificates to trust, PEM; NULL: the system's */
	uint64_t connect_ns; /* longest time to connect; 0: 5 s */
	uint64_t silence_ns; /* longest time without a sign of life from the server; 0: 60 s */
	uint64_t answer_max; /* most bytes of an answer; 0: 4 GiB */
};

struct http_request {
	const char *url;
	const char *const *headers; /* "Name: value", NULL-terminated; NULL: none */
	/*
	 * Sent with POST, as application/octet-stream unless headers have a Content-Type.  data
	 * NULL: a GET.
	 */
	struct str body;
	/*
	 * A page that the server always has, such as "http://HOST:PORT/ping".  It is requested
	 * while no bytes move, and as long as the server answers, the request may take any time.
	 * NULL: the request fails if no byte moves for silence_ns.
	 */
	const char *alive_url;
	/* Set by http_client_run; the caller frees answer and err. */
	int status;		/* of HTTP; 0: no complete answer came, and err says why */
	uint64_t retry_after_s; /* the server's Retry-After; 0: none */
	struct strbuf answer;
	struct error *err;
	/* Another try fails alike: a certificate that is not trusted, a URL that is none. */
	bool is_hopeless;
	/* Called when these are set, while other requests may still be under way; NULL: nothing. */
	void (*done)(struct http_request *request);
};

/* Copies the options, but not the text of ca_file.  ERROR_UNSUPPORTED: there is no libcurl. */
must_use struct error *http_client_create(
	const struct http_client_options *options, struct http_client **http);
/* NULL is allowed. */
void http_client_destroy(struct http_client *http);
/*
 * Makes all requests at the same time, and returns when each has an answer or an error:
 * ERROR_INPUT, with a message that begins with the URL's host, or ERROR_SYSTEM if memory runs out.
 */
void http_client_run(struct http_client *http, struct http_request *const *requests, size_t count);

#endif
