#ifndef SONDE_SERVE_HTTP_LISTEN_H
#define SONDE_SERVE_HTTP_LISTEN_H

/* The socket that a server listens at, and telling its user about it. */

#include "http/socket.h"
#include "serve/http.h"

struct http_listen {
	struct http_socket socket;
	char *opened; /* a file for the browser, removed at the end; NULL: none */
};

must_use struct error *http_listen_init(struct http_listen *l, const struct http_options *options);
void http_listen_deinit(struct http_listen *l);
/* Prints the URL, and how to reach it from elsewhere; opens a browser if asked for. */
void http_listen_announce(
	struct http_listen *l, const struct http_options *options, const char *token);

#endif
