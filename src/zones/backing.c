/*
 * Allocates the zones memory: a memfd that other processes of the same user can map but not write;
 * a file that outlives the program, if the environment asks for one; or private memory, if neither
 * is available.
 *
 * The memfd stays open, since readers find it in /proc/PID/fd.  Its number is above 255, out of the
 * way of programs that expect small numbers.  It is closed by number only if it is still the same
 * file: the program may have closed it and opened something else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "zones/runtime.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
#ifndef MFD_ALLOW_SEALING
#define MFD_ALLOW_SEALING 2U
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS   1033
#define F_SEAL_SEAL   1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW   4
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif

enum { HIGH_FD = 256 };

static struct {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
} backing = {-1, 0, 0};

/* A file size beyond the limit would not just fail, but kill the program with SIGXFSZ. */
static bool may_be_as_long(size_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       limit.rlim_cur >= bytes;
}

static int memfd_open(size_t bytes)
{
	int low = (int)syscall(SYS_memfd_create, ZONEWIRE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int high;

	if (low < 0)
		return -1;
	if (ftruncate(low, (off_t)bytes)) {
		close(low);
		return -1;
	}
	high = fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
	if (high < 0)
		return low;
	close(low);
	return high;
}

/* The path with "%p" replaced by the process ID; false: too long. */
static bool file_path(char *path, size_t bytes)
{
	const char *from = zones_env.path, *mark = strstr(from, "%p");
	int size;

	if (!mark)
		size = snprintf(path, bytes, "%s", from);
	else
		size = snprintf(path, bytes, "%.*s%ld%s", (int)(mark - from), from, (long)getpid(),
			mark + 2);
	return size > 0 && (size_t)size < bytes;
}

/*
 * Creates a new file instead of truncating an old one, which another program may have mapped.
 * Allocates its blocks now, because a full disk later means a fatal signal.  Returns NULL and *fd,
 * or a text with the reason of the failure.
 */
static const char *file_make(const char *path, size_t bytes, int *fd)
{
	struct stat old;
	int error;

	if (!may_be_as_long(bytes))
		return "the limit of file sizes (ulimit -f) is too low";
	if (!lstat(path, &old)) {
		if (!S_ISREG(old.st_mode))
			return "there is something that is not a file";
		if (unlink(path))
			return strerror(errno);
	}
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		return strerror(errno);
	error = posix_fallocate(*fd, 0, (off_t)bytes);
	if (!error)
		return NULL;
	close(*fd);
	unlink(path);
	return strerror(error);
}

/* -1: not available, which is reported once. */
static int file_open(size_t bytes)
{
	static bool is_said;
	char path[ZONES_PATH_BYTES + 16];
	const char *why = "the path is too long";
	int fd = -1;

	if (file_path(path, sizeof(path)))
		why = file_make(path, bytes, &fd);
	if (!why)
		return fd;
	if (!is_said)
		zones_environment_refused(path, why);
	is_said = true;
	return -1;
}

static void *map(size_t bytes, int flags, int fd)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void *map_shared(int fd, size_t bytes, bool is_file)
{
	void *memory = map(bytes, MAP_SHARED, fd);
	struct stat stat;

	if (!memory || fstat(fd, &stat)) {
		close(fd);
		return memory;
	}
	if (is_file) {
		close(fd);
		return memory;
	}
	/* Older kernels have no FUTURE_WRITE. */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	backing.fd = fd;
	backing.device = stat.st_dev;
	backing.inode = stat.st_ino;
	return memory;
}

void *zones_backing_map(size_t bytes, bool is_child)
{
	bool is_file = zones_env.path[0] && (!is_child || zones_env.path_has_pid);
	int fd = is_file ? file_open(bytes) : -1;
	void *memory = NULL;

	if (fd >= 0)
		memory = map_shared(fd, bytes, true);
	fd = memory || !may_be_as_long(bytes) ? -1 : memfd_open(bytes);
	if (fd >= 0)
		memory = map_shared(fd, bytes, false);
	return memory ? memory : map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static bool is_still_ours(void)
{
	struct stat stat;

	return backing.fd >= 0 && !fstat(backing.fd, &stat) && stat.st_dev == backing.device &&
	       stat.st_ino == backing.inode;
}

void zones_backing_forget(void)
{
	if (is_still_ours())
		close(backing.fd);
	backing.fd = -1;
}

void zones_backing_notify(void)
{
	struct sockaddr_un name;
	uint64_t magic = ZONEWIRE_MAGIC;
	struct iovec words = {&magic, sizeof(magic)};
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message;
	size_t size = strlen(zones_env.notify);
	int fd;

	if (!size || !is_still_ours())
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	memset(&name, 0, sizeof(name));
	memset(&control, 0, sizeof(control));
	memset(&message, 0, sizeof(message));
	name.sun_family = AF_UNIX;
	memcpy(name.sun_path + 1, zones_env.notify, size);
	message.msg_name = &name;
	message.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size);
	message.msg_iov = &words;
	message.msg_iovlen = 1;
	message.msg_control = control.space;
	message.msg_controllen = sizeof(control.space);
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &backing.fd, sizeof(int));
	/* It may fail: no reader exists, or it does not read. */
	(void)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}
