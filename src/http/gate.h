#ifndef SONDE_HTTP_GATE_H
#define SONDE_HTTP_GATE_H

/*
 * Between clients and libmicrohttpd: accepts connections, and passes on what http/strict.h lets
 * pass.  The library gets one end of a pair of sockets for each connection.
 *
 * For one thread, that of the daemon; nothing here blocks.
 */

#include <microhttpd.h>
#include <stddef.h>

struct http_gate;

/*
 * fd: a listening socket, which the gate closes.  head_max: bytes of a request's head; most:
 * connections.  NULL: the kernel has no descriptors left, errno says why; fd is closed.
 */
struct http_gate *http_gate_create(int fd, size_t head_max, size_t most);
/* NULL is allowed.  Stop the daemon first: then http_gate_run with NULL sends what it has left. */
void http_gate_destroy(struct http_gate *gate);
/* Readable if http_gate_run has something to do. */
int http_gate_fd(const struct http_gate *gate);
/* Does what can be done now.  Call it at least once a second.  daemon NULL: accepts nobody. */
void http_gate_run(struct http_gate *gate, struct MHD_Daemon *daemon);

#endif
