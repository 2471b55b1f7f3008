#ifndef SONDE_HTTP_CONNECTION_H
#define SONDE_HTTP_CONNECTION_H

/*
 * The connections of a server that uses libmicrohttpd.  The library closes those without any
 * progress; a connection that sends a byte now and then is closed here, and if there are many, so
 * are those that have waited longest without a request, so that idle ones cannot keep others out.
 *
 * For one thread, that of the daemon.
 */

#include <microhttpd.h>

#include "http/head.h"

struct http_peer {
	struct http_peer *next, *previous;
	int fd;
	uint64_t since_ns; /* when it began, or its last exchange ended; 0: closed already */
	bool is_busy;	   /* a whole request is there */
};

struct http_peers {
	struct http_peer *newest;
	size_t count;
	size_t many; /* from this many on, idle ones are closed; set it at the start */
};

/* For MHD_OPTION_NOTIFY_CONNECTION; cls: the struct http_peers. */
void http_peers_notify(void *cls, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode code);
/*
 * Closes those whose request takes longer than request_seconds to arrive whole, and, if the request
 * is there (is_busy), whose exchange takes longer than exchange_seconds.
 */
void http_peers_close_slow(
	struct http_peers *peers, uint64_t request_seconds, uint64_t exchange_seconds);
/* NULL if the library has none. */
struct http_peer *http_peer_of(struct MHD_Connection *connection);
/* The time begins again: a whole request is there, or its exchange ended. */
void http_peer_set_busy(struct http_peer *peer, bool is_busy);

/* Size 0: the header is missing.  Valid until the request is completed. */
struct str http_header(struct MHD_Connection *connection, const char *name);
struct http_head http_head_of(
	struct MHD_Connection *connection, const char *method, const char *path);

#endif
