#ifndef SONDE_STORE_HTTP_CLIENT_H
#define SONDE_STORE_HTTP_CLIENT_H

/*
 * Requests over HTTP, several at once, through libcurl.  Nothing is kept between runs but open
 * connections; no redirection is followed, no proxy but the environment's is used.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct http_client;

struct http_client_options {
	const char *ca_file; /* certificates to trust, PEM; NULL: the system's */
	uint64_t connect_ns; /* most time to connect; 0: 5 s */
	uint64_t silence_ns; /* most time without any sign of the server; 0: 60 s */
	uint64_t answer_max; /* bytes of an answer; 0: 4 GiB */
};

struct http_request {
	const char *url;
	const char *const *headers; /* "Name: value", NULL-terminated; NULL: none */
	/*
	 * Sent with POST, as application/octet-stream unless headers have a Content-Type; data
	 * NULL: GET.
	 */
	struct str body;
	/*
	 * A page that the server always has, "http://HOST:PORT/ping".  It is asked for while no
	 * byte comes or goes, and as long as it comes, the request may take any time.  NULL: a
	 * request without a byte for silence_ns fails.
	 */
	const char *alive_url;
	/* What came back; strbuf_deinit frees the answer. */
	int status;		/* 0: no whole answer came, and err says why */
	uint64_t retry_after_s; /* what the server asked for; 0: nothing */
	struct strbuf answer;
	struct error *err; /* the caller's */
	/* Called once that is known, while others are still under way; NULL: not. */
	void (*done)(struct http_request *request);
};

/* ERROR_UNSUPPORTED without libcurl.  Options are copied, except for the text of ca_file. */
must_use struct error *http_client_create(
	const struct http_client_options *options, struct http_client **http);
/* NULL is allowed. */
void http_client_destroy(struct http_client *http);
/*
 * Makes all requests at the same time, and returns when each has an answer or an error: an
 * ERROR_INPUT whose message begins with the URL's host.
 */
void http_client_run(struct http_client *http, struct http_request *const *requests, size_t count);

#endif
