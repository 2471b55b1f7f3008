/* Connections, in a list with the newest first, and the heads of their requests. */
#include "http/connection.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"

static void close_peer(struct http_peer *peer)
{
	shutdown(peer->fd, SHUT_RDWR);
	peer->since_ns = 0; /* once */
}

static void close_idlest(struct http_peers *peers)
{
	struct http_peer *idlest = NULL;

	for (struct http_peer *p = peers->newest; p; p = p->next)
		if (!p->is_busy && p->since_ns != 0 &&
			(idlest == NULL || p->since_ns < idlest->since_ns))
			idlest = p;
	if (idlest)
		close_peer(idlest);
}

static void connect_peer(
	struct http_peers *peers, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_peer *peer = xcalloc(1, sizeof(*peer));

	*peer = (struct http_peer){.next = peers->newest,
		.fd = info ? info->connect_fd : -1,
		.since_ns = clock_monotonic_ns()};
	if (peers->newest)
		peers->newest->previous = peer;
	peers->newest = peer;
	*context = peer;
	if (++peers->count > peers->many)
		close_idlest(peers);
}

static void disconnect_peer(struct http_peers *peers, struct http_peer *peer)
{
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		peers->newest = peer->next;
	if (peer->next)
		peer->next->previous = peer->previous;
	peers->count--;
	free(peer);
}

void http_peers_notify(void *cls, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		connect_peer(cls, connection, context);
	else if (*context)
		disconnect_peer(cls, *context);
}

void http_peers_close_slow(
	struct http_peers *peers, uint64_t request_seconds, uint64_t exchange_seconds)
{
	uint64_t now = clock_monotonic_ns();

	for (struct http_peer *p = peers->newest; p; p = p->next) {
		uint64_t most = p->is_busy ? exchange_seconds : request_seconds;

		if (p->since_ns && now > p->since_ns && now - p->since_ns > most * SECOND_NS)
			close_peer(p);
	}
}

struct http_peer *http_peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void http_peer_set_busy(struct http_peer *peer, bool is_busy)
{
	if (peer == NULL)
		return;
	peer->is_busy = is_busy;
	peer->since_ns = clock_monotonic_ns();
}

/* ---- heads ---- */

struct str http_header(struct MHD_Connection *connection, const char *name)
{
	return str_from(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

/* Looks at every header, as one that comes twice may be read as either. */
static enum MHD_Result look_at_header(
	void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct http_head *head = context;
	bool is_transfer = strcasecmp(key, "Transfer-Encoding") == 0;
	bool is_length = strcasecmp(key, "Content-Length") == 0;

	(void)kind;
	/* A name with a blank is another one to some, and this one to others. */
	head->is_odd |= key[0] == '\0' || strpbrk(key, " \t") != NULL;
	head->hosts += strcasecmp(key, "Host") == 0;
	head->framings += is_transfer || is_length;
	head->upgrades |= strcasecmp(key, "Upgrade") == 0;
	head->has_body |= is_transfer || (is_length && (value == NULL || strcmp(value, "0") != 0));
	return MHD_YES;
}

struct http_head http_head_of(
	struct MHD_Connection *connection, const char *method, const char *path)
{
	struct http_head head = {.method = str_from(method),
		.path = str_from(path),
		.host = http_header(connection, "Host"),
		.origin = http_header(connection, "Origin"),
		.fetch_site = http_header(connection, "Sec-Fetch-Site"),
		.fetch_mode = http_header(connection, "Sec-Fetch-Mode")};

	MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &head);
	return head;
}
