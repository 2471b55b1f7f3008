#ifndef SONDE_SERVE_HTTP_H
#define SONDE_SERVE_HTTP_H

/*
 * Serves files over HTTP to one person's browser: on the loopback address or a Unix socket, behind
 * a random token in the URL.  Below /TOKEN/:
 *
 *	(nothing)	the page of the only file; or the index, if there are more, or no pages
 *	index		links to pages and reports, without script
 *	page?…		the page of a file
 *	files		what is served, as JSON
 *	ask?…		a report, by the names of the command line's options; format: default json
 *	annotate?…	one function's lines and instructions
 *	diff?…		a comparison of two files
 *	recording?…	a file's bytes, as sonde writes it; or those of a selection of the store
 *	source?…	a source file that a profile names
 *
 * Every path with another token, or without, is 404.
 */

#include "serve/served.h"

struct http_options {
	uint16_t port;	    /* 0: any */
	const char *socket; /* the path of a Unix socket instead; NULL: none */
	bool opens_browser;
};

/* Serves until SIGINT or SIGTERM.  ERROR_UNSUPPORTED in a build without libmicrohttpd. */
must_use struct error *http_serve(struct served *served, const struct http_options *options);

#endif
