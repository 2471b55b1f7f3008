/*
 * Calls on sockets with their own timeout (SO_RCVTIMEO, SO_SNDTIMEO), which SA_RESTART does not
 * restart.  If the library's signal interrupted one, poll waits for the rest of its time, then the
 * call is repeated.  (The kernel restarts calls without a timeout.)
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "preload/raw.h"

typedef ssize_t recv_fn(int, void *, size_t, int);
typedef ssize_t recvfrom_fn(int, void *, size_t, int, struct sockaddr *, socklen_t *);
typedef ssize_t recvmsg_fn(int, struct msghdr *, int);
typedef ssize_t send_fn(int, const void *, size_t, int);
typedef ssize_t sendto_fn(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
typedef ssize_t sendmsg_fn(int, const struct msghdr *, int);
typedef int accept_fn(int, struct sockaddr *, socklen_t *);
typedef int accept4_fn(int, struct sockaddr *, socklen_t *, int);
PRELOAD_REAL(recv, recv_fn)
PRELOAD_REAL(recvfrom, recvfrom_fn)
PRELOAD_REAL(recvmsg, recvmsg_fn)
PRELOAD_REAL(send, send_fn)
PRELOAD_REAL(sendto, sendto_fn)
PRELOAD_REAL(sendmsg, sendmsg_fn)
PRELOAD_REAL(accept, accept_fn)
PRELOAD_REAL(accept4, accept4_fn)

/* Determines when a call with that wait ends.  False: it has no timeout. */
static bool know_end(struct preload_wait *wait, int fd, int option)
{
	struct timeval time = {0};
	socklen_t size = sizeof(time);

	if (raw6(SYS_getsockopt, fd, SOL_SOCKET, option, &time, &size, 0) != 0 ||
		(time.tv_sec == 0 && time.tv_usec == 0))
		return false;
	wait->end_ns += (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
	return true;
}

/*
 * Whether a failed call must be repeated; waits until it can proceed.  If not, errno is that of the
 * call itself.
 */
static bool again(struct preload_wait *wait, bool *is_known, bool failed, int fd, int option)
{
	struct pollfd poll_fd = {fd, option == SO_RCVTIMEO ? POLLIN : POLLOUT, 0};
	long got;

	if (!preload_wait_again(wait, failed && errno == EINTR))
		return false;
	if (!*is_known && !know_end(wait, fd, option))
		return true;
	*is_known = true;
	do {
		struct timespec left = preload_wait_left(wait);

		got = raw6(SYS_ppoll, &poll_fd, 1, &left, NULL, 0, 0);
	} while (preload_wait_again(wait, got == -EINTR));
	if (got == 0)
		errno = EAGAIN;
	return got > 0;
}

/* Makes the call, repeatedly if necessary. */
#define CALL(type, fd, option, call)                                                               \
	do {                                                                                       \
		struct preload_wait wait = preload_wait_begin(0);                                  \
		bool is_known = false;                                                             \
		type got;                                                                          \
                                                                                                   \
		do {                                                                               \
			got = call;                                                                \
		} while (again(&wait, &is_known, got < 0, fd, option));                            \
		return got;                                                                        \
	} while (0)

preload_exported ssize_t recv(int fd, void *data, size_t size, int flags)
{
	CALL(ssize_t, fd, SO_RCVTIMEO, real_recv()(fd, data, size, flags));
}

preload_exported ssize_t recvfrom(int fd, void *restrict data, size_t size, int flags,
	struct sockaddr *restrict from, socklen_t *restrict from_size)
{
	CALL(ssize_t, fd, SO_RCVTIMEO, real_recvfrom()(fd, data, size, flags, from, from_size));
}

preload_exported ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	CALL(ssize_t, fd, SO_RCVTIMEO, real_recvmsg()(fd, message, flags));
}

preload_exported ssize_t send(int fd, const void *data, size_t size, int flags)
{
	CALL(ssize_t, fd, SO_SNDTIMEO, real_send()(fd, data, size, flags));
}

preload_exported ssize_t sendto(int fd, const void *data, size_t size, int flags,
	const struct sockaddr *to, socklen_t to_size)
{
	CALL(ssize_t, fd, SO_SNDTIMEO, real_sendto()(fd, data, size, flags, to, to_size));
}

preload_exported ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	CALL(ssize_t, fd, SO_SNDTIMEO, real_sendmsg()(fd, message, flags));
}

preload_exported int accept(int fd, struct sockaddr *restrict from, socklen_t *restrict size)
{
	CALL(int, fd, SO_RCVTIMEO, real_accept()(fd, from, size));
}

preload_exported int accept4(
	int fd, struct sockaddr *restrict from, socklen_t *restrict size, int flags)
{
	CALL(int, fd, SO_RCVTIMEO, real_accept4()(fd, from, size, flags));
}
