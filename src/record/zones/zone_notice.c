/*
 * The socket that programs with zones send their memory to.  See zone_notice.h, unix(7).
 *
 * Anybody on the machine can send to it who guesses its name, so it is the kernel that tells who a
 * message is from, and what comes with it is checked like any memory of zones.
 */
#include "record/zones/zone_notice.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* More descriptors than one are none of ours: all are taken, to be closed. */
#define FDS_MAX 8

union control {
	char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

void zone_notices_open(struct zone_notices *n)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint64_t nonce[2] = {0};
	const int on = 1;

	*n = (struct zone_notices){.fd = -1};
	if (getrandom(nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
		return;
	int size = snprintf(n->name, sizeof(n->name), "sonde-zones-%d-%016llx%016llx", getpid(),
		(unsigned long long)nonce[0], (unsigned long long)nonce[1]);

	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (n->fd < 0)
		return;
	memcpy(address.sun_path + 1, n->name, (size_t)size);
	if (setsockopt(n->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
		bind(n->fd, (const struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) !=
			0)
		zone_notices_close(n);
}

void zone_notices_close(struct zone_notices *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* The first descriptor stays open; those beyond it are closed. */
static void take_fds(const struct cmsghdr *c, struct zone_notice *notice)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (notice->fd < 0)
			notice->fd = fd;
		else
			close(fd);
	}
}

static void take_control(struct msghdr *message, struct zone_notice *notice)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct ucred from;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			take_fds(c, notice);
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(from))) {
			memcpy(&from, CMSG_DATA(c), sizeof(from));
			notice->pid = from.pid;
			notice->uid = from.uid;
		}
	}
}

bool zone_notices_take(struct zone_notices *n, struct zone_notice *notice)
{
	char bytes[256];
	union control control;
	struct iovec part = {bytes, sizeof(bytes)};

	while (n->fd >= 0) {
		struct msghdr message = {.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control)};

		if (recvmsg(n->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
			return false;
		*notice = (struct zone_notice){.fd = -1};
		take_control(&message, notice);
		if (notice->fd >= 0 && notice->pid > 0)
			return true;
		if (notice->fd >= 0)
			close(notice->fd);
	}
	return false;
}
