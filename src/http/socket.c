/* Listens at addresses of the internet, or at Unix sockets that only their owner may connect to. */
#include "http/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define BACKLOG 64

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t size_of(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->six) : sizeof(a->four);
}

static struct error *open_address(struct http_socket *s, union address *a, const char *shown)
{
	socklen_t size = size_of(a);
	const int on = 1, off = 0;

	s->fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return error_system(errno, "cannot make a socket");
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->any.sa_family == AF_INET6)
		setsockopt(s->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(s->fd, &a->any, size) != 0 || listen(s->fd, BACKLOG) != 0 ||
		getsockname(s->fd, &a->any, &size) != 0)
		return error_system(errno, "cannot listen at %s", shown);
	s->port = ntohs(a->any.sa_family == AF_INET6 ? a->six.sin6_port : a->four.sin_port);
	return NULL;
}

struct error *http_socket_open_port(struct http_socket *s, uint16_t port)
{
	union address a = {.four = {.sin_family = AF_INET,
				   .sin_port = htons(port),
				   .sin_addr = {htonl(INADDR_LOOPBACK)}}};

	*s = (struct http_socket){.fd = -1};
	char *shown = xasprintf("127.0.0.1:%u", port);
	struct error *err = open_address(s, &a, shown);

	free(shown);
	return err;
}

/* ---- Unix sockets ---- */

/* Removes a socket that refuses connections. */
static void remove_dead(const struct sockaddr_un *address)
{
	struct stat info;
	int fd;

	if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(fd);
}

struct error *http_socket_open_path(struct http_socket *s, const char *path, bool takes_over)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t mask;
	int bound;

	*s = (struct http_socket){.fd = -1};
	if (strlen(path) >= sizeof(address.sun_path))
		return error_new(ERROR_USAGE, "'%s' is longer than %zu bytes", path,
			sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path));
	if (takes_over)
		remove_dead(&address);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return error_system(errno, "cannot make a socket");
	mask = umask(0077);
	bound = bind(s->fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (bound != 0)
		return error_system(errno, "cannot listen at %s", path);
	s->path = path;
	return listen(s->fd, BACKLOG) == 0 ? NULL
					   : error_system(errno, "cannot listen at %s", path);
}

/* ---- addresses ---- */

static bool read_port(struct str text, uint16_t *port)
{
	unsigned number = 0;

	if (text.size == 0 || text.size > 5)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (!char_is_digit(text.data[i]))
			return false;
		number = number * 10 + (unsigned)(text.data[i] - '0');
	}
	*port = (uint16_t)number;
	return number <= UINT16_MAX;
}

static bool read_host(struct str host, union address *a)
{
	char text[INET6_ADDRSTRLEN];
	bool is_six = host.size > 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';

	if (host.size == 0) {
		a->six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
		return true;
	}
	if (is_six)
		host = (struct str){host.data + 1, host.size - 2};
	if (host.size >= sizeof(text))
		return false;
	memcpy(text, host.data, host.size);
	text[host.size] = '\0';
	a->any.sa_family = is_six ? AF_INET6 : AF_INET;
	return is_six ? inet_pton(AF_INET6, text, &a->six.sin6_addr) == 1
		      : inet_pton(AF_INET, text, &a->four.sin_addr) == 1;
}

static bool read_address(const char *text, union address *a)
{
	const char *colon = strrchr(text, ':');
	uint16_t port;

	*a = (union address){0};
	if (colon == NULL || !read_port(str_from(colon + 1), &port) ||
		!read_host((struct str){text, (size_t)(colon - text)}, a))
		return false;
	if (a->any.sa_family == AF_INET6)
		a->six.sin6_port = htons(port);
	else
		a->four.sin_port = htons(port);
	return true;
}

bool http_address_is_public(const char *address)
{
	union address a;

	if (strchr(address, '/') || !read_address(address, &a))
		return false;
	if (a.any.sa_family == AF_INET6)
		return !IN6_IS_ADDR_LOOPBACK(&a.six.sin6_addr);
	return ntohl(a.four.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
}

struct error *http_socket_open(struct http_socket *s, const char *address)
{
	union address a;
	struct error *err;

	*s = (struct http_socket){.fd = -1};
	if (strchr(address, '/')) {
		err = http_socket_open_path(s, address, true);
		s->address = err ? NULL : xstrdup(address);
		return err;
	}
	if (!read_address(address, &a))
		return error_new(ERROR_USAGE,
			"'%s' is not an address to listen at: expected '127.0.0.1:4318', "
			"'[::1]:4318', ':4318' for all addresses, or the path of a socket",
			address);
	err = open_address(s, &a, address);
	if (err == NULL)
		s->address = xasprintf(
			"%.*s:%u", (int)(strrchr(address, ':') - address), address, s->port);
	return err;
}

void http_socket_close(struct http_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->path)
		unlink(s->path);
	free(s->address);
	*s = (struct http_socket){.fd = -1};
}
