/*
 * A relay for each connection, with level-triggered epoll.  A relay reads from one side only while
 * it has nothing left to write to the other, so a slow side slows the other, and a relay holds at
 * most a head and PIECE bytes in each direction.
 */
#include "http/gate.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "http/strict.h"

#define PIECE	   ((size_t)64 << 10)
#define EVENTS_MAX 64
/* How long a client may take for the rest of an answer after the library has ended it. */
#define REST_NS (60 * SECOND_NS)

enum { CLIENT, SERVER, SIDES };

struct side {
	struct relay *relay;
	int fd;
	uint32_t events;   /* that epoll looks for */
	struct strbuf out; /* to be written to it */
	size_t written;	   /* of out */
	bool has_ended;	   /* it sends no more */
	bool is_shut;	   /* it gets no more */
};

struct relay {
	struct relay *next, *previous;
	struct side sides[SIDES];
	struct http_strict strict;
	uint64_t ended_ns; /* when the library ended it; 0: it has not */
	bool is_dead;
};

struct http_gate {
	int listener, epoll;
	size_t head_max, most, count;
	bool is_full; /* no connection is accepted */
	struct relay *newest;
};

struct http_gate *http_gate_create(int fd, size_t head_max, size_t most)
{
	struct http_gate *gate = xalloc(sizeof(*gate));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	*gate = (struct http_gate){.listener = fd,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.head_max = head_max,
		.most = most};
	if (gate->epoll >= 0 && epoll_ctl(gate->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return gate;
	int code = errno;

	http_gate_destroy(gate);
	errno = code;
	return NULL;
}

int http_gate_fd(const struct http_gate *gate)
{
	return gate->epoll;
}

static void set_listening(struct http_gate *gate, bool listens)
{
	struct epoll_event event = {.events = listens ? EPOLLIN : 0, .data.ptr = NULL};

	gate->is_full = !listens;
	(void)epoll_ctl(gate->epoll, EPOLL_CTL_MOD, gate->listener, &event);
}

static void look_for(struct http_gate *gate, struct side *side, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = side};

	if (events == side->events)
		return;
	/* Without events, epoll would still report an end, again and again. */
	int what = events == 0 ? EPOLL_CTL_DEL : side->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	side->events = events;
	if (epoll_ctl(gate->epoll, what, side->fd, &event) != 0)
		side->relay->is_dead = true;
}

static void relay_destroy(struct http_gate *gate, struct relay *r)
{
	if (r->previous)
		r->previous->next = r->next;
	else
		gate->newest = r->next;
	if (r->next)
		r->next->previous = r->previous;
	for (int i = 0; i < SIDES; i++) {
		/* A child that was just forked has the descriptor too, so epoll would keep it. */
		look_for(gate, &r->sides[i], 0);
		close(r->sides[i].fd);
		strbuf_deinit(&r->sides[i].out);
	}
	http_strict_deinit(&r->strict);
	free(r);
	gate->count--;
}

void http_gate_destroy(struct http_gate *gate)
{
	if (gate == NULL)
		return;
	while (gate->newest)
		relay_destroy(gate, gate->newest);
	close(gate->listener);
	if (gate->epoll >= 0)
		close(gate->epoll);
	free(gate);
}

/* ---- one connection ---- */

static bool has_rest(const struct side *side)
{
	return side->written < side->out.size;
}

/* Reads once from a side, for the other. */
static void read_side(struct relay *r, int from)
{
	struct side *side = &r->sides[from], *other = &r->sides[!from];
	char piece[PIECE];
	ssize_t size;

	if (side->has_ended || has_rest(other))
		return;
	size = recv(side->fd, piece, sizeof(piece), MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0) {
		side->has_ended = true;
		/* Nobody reads what a client that has reset the connection would get. */
		r->is_dead |= from == CLIENT && size < 0;
		if (from == SERVER)
			r->ended_ns = clock_monotonic_ns();
		return;
	}
	struct str bytes = {piece, (size_t)size};

	if (from == CLIENT)
		http_strict_add(&r->strict, bytes, &other->out);
	else
		strbuf_add(&other->out, bytes);
}

static void write_side(struct relay *r, int to)
{
	struct side *side = &r->sides[to], *other = &r->sides[!to];

	if (has_rest(side)) {
		ssize_t size = send(side->fd, side->out.data + side->written,
			side->out.size - side->written, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (size > 0)
			side->written += (size_t)size;
		else if (errno != EAGAIN && errno != EINTR && to == CLIENT)
			r->is_dead = true;
		else if (errno != EAGAIN && errno != EINTR)
			side->written = side->out.size; /* the library reads no more */
	}
	if (!has_rest(side)) {
		strbuf_clear(&side->out);
		side->written = 0;
	}
	if (!has_rest(side) && other->has_ended && !side->is_shut) {
		shutdown(side->fd, SHUT_WR);
		side->is_shut = true;
	}
}

static void drain(int fd)
{
	char piece[PIECE];

	/* Unread bytes would make the kernel reset the connection, and the answer be lost. */
	for (int i = 0; i < 16 && recv(fd, piece, sizeof(piece), MSG_DONTWAIT) > 0; i++)
		continue;
}

/* Moves what can be moved, and looks for what comes next. */
static void run_relay(struct http_gate *gate, struct relay *r)
{
	read_side(r, CLIENT);
	write_side(r, SERVER);
	read_side(r, SERVER);
	write_side(r, CLIENT);
	/* The library's end is there at once: after it, there is nothing more to wait for. */
	if (r->sides[SERVER].has_ended && !has_rest(&r->sides[CLIENT])) {
		drain(r->sides[CLIENT].fd);
		r->is_dead = true;
	}
	for (int i = 0; i < SIDES && !r->is_dead; i++) {
		struct side *side = &r->sides[i];
		bool reads = !side->has_ended && !has_rest(&r->sides[!i]);

		look_for(gate, side,
			(reads ? (uint32_t)EPOLLIN : 0) |
				(has_rest(side) ? (uint32_t)EPOLLOUT : 0));
	}
	if (r->is_dead)
		relay_destroy(gate, r);
}

static void accept_one(struct http_gate *gate, struct MHD_Daemon *daemon, int client)
{
	const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
	const int on = 1;
	int pair[2];

	/* Of a Unix socket, it fails, and is not needed. */
	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
		close(client);
		return;
	}
	/* The library closes its end even if it refuses the connection. */
	if (MHD_add_connection(daemon, pair[1], (const struct sockaddr *)&nobody, sizeof(nobody)) !=
		MHD_YES) {
		close(pair[0]);
		close(client);
		return;
	}
	struct relay *r = xalloc(sizeof(*r));

	*r = (struct relay){.next = gate->newest};
	r->sides[CLIENT] = (struct side){.relay = r, .fd = client};
	r->sides[SERVER] = (struct side){.relay = r, .fd = pair[0]};
	http_strict_init(&r->strict, gate->head_max);
	if (gate->newest)
		gate->newest->previous = r;
	gate->newest = r;
	gate->count++;
	run_relay(gate, r);
}

static void accept_all(struct http_gate *gate, struct MHD_Daemon *daemon)
{
	while (gate->count < gate->most) {
		int client = accept4(gate->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (client < 0)
			return;
		accept_one(gate, daemon, client);
	}
	set_listening(gate, false);
}

/* Ends relays whose client does not take the rest of an answer. */
static void end_late(struct http_gate *gate)
{
	uint64_t now_ns = clock_monotonic_ns();

	for (struct relay *r = gate->newest, *next; r; r = next) {
		next = r->next;
		if (r->ended_ns && now_ns - r->ended_ns > REST_NS)
			relay_destroy(gate, r);
	}
}

void http_gate_run(struct http_gate *gate, struct MHD_Daemon *daemon)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(gate->epoll, events, EVENTS_MAX, 0);
	bool has_new = false;

	/* Both sides of a relay may be among the events: it is run once, and may be gone. */
	for (int i = 0; i < count; i++) {
		struct side *side = events[i].data.ptr;

		has_new |= side == NULL;
		for (int k = i + 1; side && k < count; k++) {
			struct side *later = events[k].data.ptr;

			if (later && later->relay == side->relay)
				side = NULL;
		}
		if (side)
			run_relay(gate, side->relay);
	}
	if (has_new && daemon)
		accept_all(gate, daemon);
	end_late(gate);
	if (daemon && gate->is_full && gate->count < gate->most)
		set_listening(gate, true);
}
