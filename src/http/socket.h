#ifndef SONDE_HTTP_SOCKET_H
#define SONDE_HTTP_SOCKET_H

/* The sockets that servers listen at. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct http_socket {
	int fd;		  /* -1: none, or somebody else closes it */
	uint16_t port;	  /* 0: a Unix socket */
	const char *path; /* of a Unix socket, borrowed; NULL: none */
	char *address;	  /* as http_socket_open shows it, with the port; NULL: not of that */
};

/* At 127.0.0.1; port 0: any.  After a failure of this and the others, close the socket as well. */
must_use struct error *http_socket_open_port(struct http_socket *s, uint16_t port);
/*
 * A Unix socket that only its owner may connect to.  takes_over: removes a socket there that nobody
 * listens at, as a killed server leaves it.
 */
must_use struct error *http_socket_open_path(
	struct http_socket *s, const char *path, bool takes_over);
/*
 * At an address as users write it: "127.0.0.1:4318", "[::1]:4318", ":4318" (all addresses), or a
 * path with a '/' (takes_over).  Numbers only: no name is looked up.  ERROR_USAGE if it is invalid.
 */
must_use struct error *http_socket_open(struct http_socket *s, const char *address);
/* Whether http_socket_open would listen where other machines can connect. */
bool http_address_is_public(const char *address);
/* Closes the socket, and removes the path. */
void http_socket_close(struct http_socket *s);

#endif
