/*
 * A tape of a recording: all that the recorder hears of the world, so that the same recording can
 * be made again, by another build of it, without the program, the kernel's events or the time.
 *
 *	LD_PRELOAD=tape.so SONDE_TAPE=write:FILE sonde record --engine snapshot … PROGRAM
 *	LD_PRELOAD=tape.so SONDE_TAPE=play:FILE sonde record --engine snapshot … PROGRAM
 *
 * It stands between sonde and libc: reads of the clock, of other processes' memory and of /proc,
 * the rings of perf events, what their events count, signals, and how the program ended.  Played,
 * each call gets the answer that is next of its kind and subject; one that the tape has no answer
 * for ends the play with status 99 and a line that says which.
 *
 * The recorder sees a shadow of each ring, to which bytes come at reads of the monotonic clock,
 * after the clock was read: so what it is shown before a time is all that there was, as with real
 * rings. Threads are refused, so that all it does is in one order; the recorder does without.
 *
 * What stays on the machine, as programs and libraries do, is not on the tape.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind {
	CLOCK = 1,
	RING,
	POLL,
	READ,
	OPEN,
	EVENT,
	COMMAND, /* ioctl */
	MEMORY,
	FORK,
	WAIT,
	KILL,
	LINK,
	STAT,
	USAGE,
	NAMES,
	SIGNAL,
	KIND_COUNT
};

static const char *const kind_names[KIND_COUNT] = {[CLOCK] = "clock",
	[RING] = "ring",
	[POLL] = "poll",
	[READ] = "read",
	[OPEN] = "open",
	[EVENT] = "event",
	[COMMAND] = "ioctl",
	[MEMORY] = "memory",
	[FORK] = "fork",
	[WAIT] = "wait",
	[KILL] = "kill",
	[LINK] = "link",
	[STAT] = "stat",
	[USAGE] = "usage",
	[NAMES] = "names",
	[SIGNAL] = "signal"};

/* Its payload follows. */
struct entry {
	uint32_t kind, size;
	int32_t code;  /* errno */
	uint32_t turn; /* of the recorder's loop: waits so far */
	int64_t result;
	uint64_t subject;
};

enum mode { OFF, WRITE, PLAY };

/* What a descriptor is of. */
enum role { PLAIN, OUTER, RINGED };

#define FDS_MAX	  65536
#define RINGS_MAX 4096

struct shadow {
	struct perf_event_mmap_page *real, *shown; /* real NULL: in a play */
	size_t size;
	uint64_t copied;
};

static enum mode mode;
static FILE *tape;
static pid_t owner;
static uint32_t turn;
static uint8_t roles[FDS_MAX];
static uint32_t numbers[FDS_MAX]; /* of OUTER and RINGED ones: the how manieth */
static uint32_t number_count;
static struct shadow rings[RINGS_MAX];
static uint32_t ring_count;
/* In a play: all of it, where each kind's entries are, and which are gone. */
static const uint8_t *bytes;
static size_t byte_count;
static struct entry **of_kind[KIND_COUNT];
static bool *is_gone[KIND_COUNT];
static size_t count[KIND_COUNT], first[KIND_COUNT];
static uint64_t stretched;

#define REAL(name)                                                                                 \
	static __typeof__(&name) real;                                                             \
	if (!real)                                                                                 \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

static bool is_on(void)
{
	return mode != OFF && getpid() == owner && syscall(SYS_gettid) == owner;
}

static __attribute__((noreturn)) void diverge(enum kind kind, const char *what)
{
	fprintf(stderr, "tape: turn %u: nothing is left of kind %s: %s\n", turn, kind_names[kind],
		what);
	_exit(99);
}

static uint64_t hash(const char *text)
{
	uint64_t h = 14695981039346656037u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 1099511628211u;
	return h;
}

/* Entries stand at multiples of 8. */
static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* ---- writing ---- */

static void put(enum kind kind, uint64_t subject, int64_t result, const void *data, size_t size)
{
	struct entry entry = {.kind = kind,
		.size = (uint32_t)size,
		.code = result < 0 ? errno : 0,
		.turn = turn,
		.result = result,
		.subject = subject};
	static const uint8_t nothing[8];
	int code = errno;

	fwrite(&entry, sizeof(entry), 1, tape);
	if (size)
		fwrite(data, size, 1, tape);
	fwrite(nothing, padded(size) - size, 1, tape);
	errno = code;
}

/* ---- playing ---- */

/* The entry there; NULL: it is not there whole. */
static struct entry *entry_at(size_t at)
{
	struct entry *entry = (struct entry *)(uintptr_t)(bytes + at);

	if (at + sizeof(*entry) > byte_count ||
		at + sizeof(*entry) + padded(entry->size) > byte_count)
		return NULL;
	return entry;
}

static struct entry *next_entry(const struct entry *entry)
{
	return entry_at(
		(size_t)((const uint8_t *)entry - bytes) + sizeof(*entry) + padded(entry->size));
}

/* The next of that kind and subject; NULL: there is none. */
static struct entry *take(enum kind kind, uint64_t subject)
{
	while (first[kind] < count[kind] && is_gone[kind][first[kind]])
		first[kind]++;
	for (size_t i = first[kind]; i < count[kind]; i++)
		if (!is_gone[kind][i] && of_kind[kind][i]->subject == subject) {
			is_gone[kind][i] = true;
			errno = of_kind[kind][i]->code;
			return of_kind[kind][i];
		}
	return NULL;
}

static struct entry *must_take(enum kind kind, uint64_t subject, const char *what)
{
	struct entry *entry = take(kind, subject);

	if (!entry)
		diverge(kind, what);
	return entry;
}

static const void *data_of(const struct entry *entry)
{
	return entry + 1;
}

static size_t copy_out(const struct entry *entry, void *to, size_t room)
{
	size_t size = entry->size < room ? entry->size : room;

	memcpy(to, data_of(entry), size);
	return size;
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		fprintf(stderr, "tape: %s: %s\n", path, strerror(errno));
		_exit(99);
	}
	byte_count = (size_t)st.st_size;
	bytes = mmap(NULL, byte_count + 1, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	for (int pass = 0; pass < 2; pass++) {
		struct entry *e = entry_at(0);

		memset(count, 0, sizeof(count));
		for (; e; e = next_entry(e)) {
			if (pass)
				of_kind[e->kind][count[e->kind]] = e;
			count[e->kind]++;
		}
		for (int k = 0; k < KIND_COUNT && !pass; k++) {
			of_kind[k] = calloc(count[k] + 1, sizeof(*of_kind[k]));
			is_gone[k] = calloc(count[k] + 1, sizeof(*is_gone[k]));
		}
	}
}

/* ---- rings ---- */

static void show(struct shadow *s, const uint8_t *from, size_t size)
{
	uint8_t *data = (uint8_t *)s->shown + (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < size; i++)
		data[(s->copied + i) & (s->size - 1)] = from[i];
	s->copied += size;
	__atomic_store_n(&s->shown->data_head, s->copied, __ATOMIC_RELEASE);
}

/* What has come into the rings is shown, and written. */
static void copy_rings(void)
{
	static uint8_t joined[64 << 20];

	for (uint32_t i = 0; i < ring_count; i++) {
		struct shadow *s = &rings[i];

		if (!s->real)
			continue;
		uint64_t head = __atomic_load_n(&s->real->data_head, __ATOMIC_ACQUIRE);
		const uint8_t *data = (uint8_t *)s->real + (size_t)sysconf(_SC_PAGESIZE);
		size_t size = (size_t)(head - s->copied);

		if (size == 0)
			continue;
		for (size_t k = 0; k < size; k++)
			joined[k] = data[(s->copied + k) & (s->size - 1)];
		show(s, joined, size);
		__atomic_store_n(&s->real->data_tail, head, __ATOMIC_RELEASE);
		put(RING, i, 0, joined, size);
	}
}

static void play_rings(const struct entry *after)
{
	for (struct entry *e = next_entry(after); e && e->kind == RING; e = next_entry(e))
		if (e->subject < ring_count && rings[e->subject].shown)
			show(&rings[e->subject], data_of(e), e->size);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
	REAL(mmap64);
	void *map = NULL;

	if (!is_on() || fd < 0 || fd >= FDS_MAX || roles[fd] != RINGED)
		return real(address, size, protection, flags, fd, offset);
	if (mode == WRITE) {
		map = real(address, size, protection, flags, fd, offset);
		put(EVENT, 1u << 31 | numbers[fd], map == MAP_FAILED ? -1 : 0, NULL, 0);
		if (map == MAP_FAILED)
			return map;
	} else if (must_take(EVENT, 1u << 31 | numbers[fd], "a ring")->result < 0) {
		return MAP_FAILED;
	}
	rings[ring_count] = (struct shadow){.real = map,
		.shown = real(
			NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		.size = size - (size_t)sysconf(_SC_PAGESIZE)};
	return rings[ring_count++].shown;
}

int munmap(void *address, size_t size)
{
	REAL(munmap);
	for (uint32_t i = 0; is_on() && i < ring_count; i++)
		if (rings[i].shown == address) {
			if (rings[i].real)
				real(rings[i].real, size);
			rings[i].real = rings[i].shown = NULL;
		}
	return real(address, size);
}

/* ---- descriptors ---- */

static int give_role(int fd, enum role role)
{
	if (fd >= 0 && fd < FDS_MAX) {
		roles[fd] = role;
		numbers[fd] = number_count++;
	}
	return fd;
}

static bool is_outer(int fd)
{
	return fd >= 0 && fd < FDS_MAX && roles[fd] != PLAIN;
}

/* One to stand for what a play has not. */
static int stand_in(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int close(int fd)
{
	REAL(close);
	if (is_on() && fd >= 0 && fd < FDS_MAX)
		roles[fd] = PLAIN;
	return real(fd);
}

static int play_open(const char *path);
static int write_open(const char *path, int fd);

/* openat2(2), which opens what is below a process's root. */
#define OPENAT2 437

long syscall(long number, ...)
{
	REAL(syscall);
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == OPENAT2 && is_on()) {
		const char *path =
			(const char *)(uintptr_t)a[1]; // NOLINT(performance-no-int-to-ptr)

		return mode == PLAY ? play_open(path)
				    : write_open(path, (int)real(number, a[0], a[1], a[2], a[3]));
	}
	if (number == SYS_gettid || !mode ||
		(number != SYS_perf_event_open && number != SYS_pidfd_open) || !is_on())
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (mode == PLAY) {
		struct entry *e = must_take(EVENT, (uint64_t)number, "perf_event_open");

		return e->result < 0 ? -1 : give_role(stand_in(), RINGED);
	}
	long fd = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	put(EVENT, (uint64_t)number, fd < 0 ? -1 : 0, NULL, 0);
	return give_role((int)fd, RINGED);
}

int ioctl(int fd, unsigned long request, ...)
{
	REAL(ioctl);
	va_list args;

	va_start(args, request);
	void *argument = va_arg(args, void *);

	va_end(args);
	if (!is_on() || !is_outer(fd))
		return real(fd, request, argument);
	bool answers = request == PERF_EVENT_IOC_ID;
	uint64_t subject = (uint64_t)numbers[fd] << 32 | (uint32_t)request;

	if (mode == PLAY) {
		struct entry *e = must_take(COMMAND, subject, "ioctl");

		if (answers)
			copy_out(e, argument, sizeof(uint64_t));
		return (int)e->result;
	}
	int result = real(fd, request, argument);

	put(COMMAND, subject, result, argument, answers ? sizeof(uint64_t) : 0);
	return result;
}

ssize_t read(int fd, void *to, size_t size)
{
	REAL(read);
	if (!is_on() || !is_outer(fd))
		return real(fd, to, size);
	if (mode == PLAY) {
		struct entry *e = must_take(READ, numbers[fd], "read");

		copy_out(e, to, size);
		return (ssize_t)e->result;
	}
	ssize_t got = real(fd, to, size);

	put(READ, numbers[fd], got, to, got > 0 ? (size_t)got : 0);
	return got;
}

ssize_t write(int fd, const void *from, size_t size)
{
	REAL(write);
	if (is_on() && mode == PLAY && is_outer(fd))
		return (ssize_t)size;
	return real(fd, from, size);
}

int pipe2(int fds[2], int flags)
{
	REAL(pipe2);
	int result = real(fds, flags);

	if (is_on() && result == 0) {
		give_role(fds[0], OUTER);
		give_role(fds[1], OUTER);
	}
	return result;
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	REAL(signalfd);
	int result = real(fd, mask, flags);

	return is_on() ? give_role(result, OUTER) : result;
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	REAL(ppoll);
	if (!is_on())
		return real(fds, n, timeout, mask);
	turn++;
	if (mode == PLAY) {
		struct entry *e = must_take(POLL, 0, "ppoll");
		const int16_t *events = data_of(e);

		for (nfds_t i = 0; i < n; i++)
			fds[i].revents = i < e->size / sizeof(*events) ? events[i] : 0;
		return (int)e->result;
	}
	int result = real(fds, n, timeout, mask), code = errno;
	int16_t *events = calloc(n + 1, sizeof(*events));

	for (nfds_t i = 0; i < n; i++)
		events[i] = fds[i].revents;
	errno = code;
	put(POLL, 0, result, events, n * sizeof(*events));
	free(events);
	errno = code;
	return result;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	REAL(poll);
	bool outer = false;

	for (nfds_t i = 0; i < n; i++)
		outer |= is_outer(fds[i].fd);
	if (!is_on() || !outer)
		return real(fds, n, timeout);
	if (mode == PLAY) {
		struct entry *e = must_take(POLL, 1, "poll");
		const int16_t *events = data_of(e);

		for (nfds_t i = 0; i < n; i++)
			fds[i].revents = i < e->size / sizeof(*events) ? events[i] : 0;
		return (int)e->result;
	}
	int result = real(fds, n, timeout);
	int16_t events[64] = {0};

	for (nfds_t i = 0; i < n && i < 64; i++)
		events[i] = fds[i].revents;
	put(POLL, 1, result, events, (n < 64 ? n : 64) * sizeof(*events));
	return result;
}

/* ---- time ---- */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	REAL(clock_gettime);
	static struct entry *last;

	if (!is_on())
		return real(clock, t);
	uint64_t subject = (uint64_t)(int64_t)clock;

	if (mode == WRITE) {
		int result = real(clock, t);

		put(CLOCK, subject, result, t, sizeof(*t));
		if (clock == CLOCK_MONOTONIC)
			copy_rings();
		return result;
	}
	if (clock != CLOCK_MONOTONIC) {
		struct entry *e = must_take(CLOCK, subject, "another clock");

		copy_out(e, t, sizeof(*t));
		return (int)e->result;
	}
	/* One reading more in this turn than there were: time stands still. */
	while (first[CLOCK] < count[CLOCK] && is_gone[CLOCK][first[CLOCK]])
		first[CLOCK]++;
	struct entry *e = NULL;

	for (size_t i = first[CLOCK]; i < count[CLOCK] && !e; i++) {
		struct entry *at = of_kind[CLOCK][i];

		if (at->turn > turn)
			break;
		if (is_gone[CLOCK][i] || at->subject != subject)
			continue;
		is_gone[CLOCK][i] = true;
		play_rings(at);
		/* Readings fewer in the turn before: they are skipped. */
		if (at->turn == turn)
			e = at;
		else
			stretched++;
	}
	if (!e) {
		e = last;
		stretched++;
	}
	if (!e)
		diverge(CLOCK, "nothing was read before");
	last = e;
	copy_out(e, t, sizeof(*t));
	return (int)e->result;
}

int clock_getcpuclockid(pid_t pid, clockid_t *clock)
{
	REAL(clock_getcpuclockid);
	if (!is_on())
		return real(pid, clock);
	if (mode == PLAY) {
		struct entry *e = must_take(CLOCK, (uint64_t)pid << 32, "clock_getcpuclockid");

		copy_out(e, clock, sizeof(*clock));
		return (int)e->result;
	}
	int result = real(pid, clock);

	put(CLOCK, (uint64_t)pid << 32, result, clock, sizeof(*clock));
	return result;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	REAL(getrusage);
	if (!is_on())
		return real(who, usage);
	if (mode == PLAY) {
		struct entry *e = take(USAGE, (uint64_t)who);

		if (!e)
			return real(who, usage);
		copy_out(e, usage, sizeof(*usage));
		return (int)e->result;
	}
	int result = real(who, usage);

	put(USAGE, (uint64_t)who, result, usage, sizeof(*usage));
	return result;
}

/* ---- processes ---- */

int pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *data)
{
	REAL(pthread_create);
	return is_on() ? EAGAIN : real(thread, attr, start, data);
}

pid_t fork(void)
{
	REAL(fork);
	if (!is_on())
		return real();
	if (mode == PLAY)
		return (pid_t)must_take(FORK, 0, "fork")->result;
	fflush(tape);
	pid_t pid = real();

	if (pid == 0)
		mode = OFF;
	else
		put(FORK, 0, pid, NULL, 0);
	return pid;
}

struct ended {
	int status;
	struct rusage usage;
};

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	REAL(wait4);
	struct ended ended = {0};
	pid_t result;

	if (!is_on())
		return real(pid, status, options, usage);
	if (mode == PLAY) {
		struct entry *e = must_take(WAIT, 0, "wait4");

		copy_out(e, &ended, sizeof(ended));
		result = (pid_t)e->result;
	} else {
		result = real(pid, &ended.status, options, &ended.usage);
		put(WAIT, 0, result, &ended, sizeof(ended));
	}
	if (status)
		*status = ended.status;
	if (usage)
		*usage = ended.usage;
	return result;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

int kill(pid_t pid, int number)
{
	REAL(kill);
	if (!is_on() || pid == owner)
		return real(pid, number);
	if (mode == PLAY)
		return (int)must_take(KILL, (uint64_t)pid, "kill")->result;
	int result = real(pid, number);

	put(KILL, (uint64_t)pid, result, NULL, 0);
	return result;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	REAL(sigtimedwait);
	if (!is_on())
		return real(set, info, timeout);
	if (mode == PLAY) {
		struct entry *e = must_take(SIGNAL, 0, "sigtimedwait");

		if (info)
			copy_out(e, info, sizeof(*info));
		return (int)e->result;
	}
	siginfo_t own = {0};
	int result = real(set, &own, timeout);

	put(SIGNAL, 0, result, &own, sizeof(own));
	if (info)
		*info = own;
	return result;
}

int sigpending(sigset_t *set)
{
	REAL(sigpending);
	if (!is_on())
		return real(set);
	if (mode == PLAY) {
		struct entry *e = must_take(SIGNAL, 1, "sigpending");

		copy_out(e, set, sizeof(*set));
		return (int)e->result;
	}
	int result = real(set);

	put(SIGNAL, 1, result, set, sizeof(*set));
	return result;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
	REAL(process_vm_readv);
	if (!is_on() || pid == owner)
		return real(pid, local, locals, remote, remotes, flags);
	uint64_t subject = (uint64_t)pid << 48 ^ (uint64_t)(uintptr_t)remote[0].iov_base;
	size_t done = 0;

	if (mode == PLAY) {
		struct entry *e = must_take(MEMORY, subject, "process_vm_readv");

		for (unsigned long i = 0; i < locals && done < e->size; i++) {
			size_t left = e->size - done, size = local[i].iov_len;

			size = size < left ? size : left;
			memcpy(local[i].iov_base, (const uint8_t *)data_of(e) + done, size);
			done += size;
		}
		return (ssize_t)e->result;
	}
	ssize_t got = real(pid, local, locals, remote, remotes, flags);
	size_t size = got > 0 ? (size_t)got : 0;
	int code = errno;
	uint8_t *copy = malloc(size + 1);

	for (unsigned long i = 0; i < locals && done < size; i++) {
		size_t part = local[i].iov_len < size - done ? local[i].iov_len : size - done;

		memcpy(copy + done, local[i].iov_base, part);
		done += part;
	}
	errno = code;
	put(MEMORY, subject, got, copy, size);
	free(copy);
	errno = code;
	return got;
}

/* ---- /proc ---- */

/* What is there of other processes, and of the machine at that moment. */
static bool is_of_the_moment(const char *path)
{
	return path && strncmp(path, "/proc/", 6) == 0 &&
	       ((path[6] >= '0' && path[6] <= '9') || strcmp(path, "/proc/stat") == 0 ||
		       strcmp(path, "/proc/uptime") == 0 || strcmp(path, "/proc/loadavg") == 0);
}

static int file_of(const void *data, size_t size)
{
	int fd = memfd_create("tape", MFD_CLOEXEC);
	ssize_t written = pwrite(fd, data, size, 0);

	return written == (ssize_t)size ? fd : -1;
}

/* All of a file that tells its contents as they are read. */
static int slurp(int fd, uint8_t **data, size_t *size)
{
	size_t room = 0;
	ssize_t got;

	*data = NULL;
	*size = 0;
	do {
		if (*size + 65536 > room)
			*data = realloc(*data, room = 2 * room + 131072);
		got = read(fd, *data + *size, 65536);
		if (got > 0)
			*size += (size_t)got;
	} while (got > 0);
	return got < 0 ? -1 : 0;
}

/*
 * Whether it is a file of the disk, seen through another process: then a play opens it where it is.
 * Its path goes into target.
 */
static bool is_on_disk(int fd, char *target, size_t room)
{
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t size = readlink(link, target, room - 1);

	if (size <= 0 || fstat(fd, &st) != 0)
		return false;
	target[size] = '\0';
	return strncmp(target, "/proc/", 6) != 0 && S_ISREG(st.st_mode);
}

static int play_open(const char *path)
{
	struct entry *e = must_take(OPEN, hash(path), path);
	char target[4096] = "";

	if (e->result < 0)
		return -1;
	if (e->result == 0)
		return file_of(data_of(e), e->size);
	memcpy(target, data_of(e), e->size < sizeof(target) ? e->size : sizeof(target) - 1);
	return e->result == 2 ? stand_in() : open(target, O_RDONLY | O_CLOEXEC);
}

/* The descriptor, which is written: 0: contents; 1: a path; 2: a folder or the like. */
static int write_open(const char *path, int fd)
{
	char target[4096];
	struct stat st;
	uint8_t *data;
	size_t size;

	if (fd < 0) {
		put(OPEN, hash(path), -1, NULL, 0);
		return fd;
	}
	if (is_on_disk(fd, target, sizeof(target))) {
		put(OPEN, hash(path), 1, target, strlen(target) + 1);
		return fd;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || slurp(fd, &data, &size) != 0) {
		put(OPEN, hash(path), 2, NULL, 0);
		return fd;
	}
	put(OPEN, hash(path), 0, data, size);
	close(fd);
	fd = file_of(data, size);
	free(data);
	return fd;
}

int open64(const char *path, int flags, ...)
{
	REAL(open64);
	va_list args;

	va_start(args, flags);
	mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;

	va_end(args);
	if (!is_on() || !is_of_the_moment(path))
		return real(path, flags, bits);
	return mode == PLAY ? play_open(path) : write_open(path, real(path, flags, bits));
}

int open(const char *path, int flags, ...)
{
	REAL(open);
	va_list args;

	va_start(args, flags);
	mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;

	va_end(args);
	if (is_on() && is_of_the_moment(path))
		return open64(path, flags, bits);
	return real(path, flags, bits);
}

FILE *fopen64(const char *path, const char *how)
{
	REAL(fopen64);
	if (!is_on() || !is_of_the_moment(path))
		return real(path, how);
	int fd = open64(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, "r");
}

ssize_t readlink(const char *path, char *to, size_t room)
{
	REAL(readlink);
	if (!is_on() || !is_of_the_moment(path))
		return real(path, to, room);
	if (mode == PLAY) {
		struct entry *e = must_take(LINK, hash(path), path);

		copy_out(e, to, room);
		return (ssize_t)e->result;
	}
	ssize_t size = real(path, to, room);

	put(LINK, hash(path), size, to, size > 0 ? (size_t)size : 0);
	return size;
}

static int taped_stat(const char *path, struct stat64 *st,
	int (*real)(const char *path, struct stat64 *st), uint64_t salt)
{
	if (mode == PLAY) {
		struct entry *e = must_take(STAT, hash(path) ^ salt, path);

		copy_out(e, st, sizeof(*st));
		return (int)e->result;
	}
	int result = real(path, st);

	put(STAT, hash(path) ^ salt, result, st, sizeof(*st));
	return result;
}

int stat64(const char *path, struct stat64 *st)
{
	REAL(stat64);
	return is_on() && is_of_the_moment(path) ? taped_stat(path, st, real, 0) : real(path, st);
}

int lstat64(const char *path, struct stat64 *st)
{
	REAL(lstat64);
	return is_on() && is_of_the_moment(path) ? taped_stat(path, st, real, 1) : real(path, st);
}

int access(const char *path, int how)
{
	REAL(access);
	if (!is_on() || !is_of_the_moment(path))
		return real(path, how);
	if (mode == PLAY)
		return (int)must_take(STAT, hash(path) ^ 2, path)->result;
	int result = real(path, how);

	put(STAT, hash(path) ^ 2, result, NULL, 0);
	return result;
}

/*
 * Folders of /proc: names come from the tape, also while it is written, as processes come and go
 * between two looks.  In a play, the handle is another folder's.
 */
struct listing {
	DIR *dir; /* NULL: free */
	const char *next, *end;
	char *names; /* to be freed; NULL: they are the tape's */
};

static struct listing listings[8];

static struct listing *listing_of(DIR *dir)
{
	for (size_t i = 0; i < sizeof(listings) / sizeof(*listings); i++)
		if (listings[i].dir == dir)
			return &listings[i];
	return NULL;
}

static DIR *list(DIR *dir, const char *names, size_t size, char *owned)
{
	struct listing *free_one = listing_of(NULL);

	if (!free_one)
		diverge(NAMES, "too many folders at once");
	*free_one = (struct listing){dir, names, names + size, owned};
	return dir;
}

static DIR *play_names(const char *path)
{
	REAL(opendir);
	struct entry *e = must_take(NAMES, hash(path), path);

	return e->result < 0 ? NULL : list(real("/"), data_of(e), e->size, NULL);
}

struct dirent64 *readdir64(DIR *dir)
{
	REAL(readdir64);
	static struct dirent64 entry;
	struct listing *l = is_on() ? listing_of(dir) : NULL;

	if (!l)
		return real(dir);
	if (l->next == l->end)
		return NULL;
	snprintf(entry.d_name, sizeof(entry.d_name), "%s", l->next);
	l->next += strlen(l->next) + 1;
	return &entry;
}

int closedir(DIR *dir)
{
	REAL(closedir);
	struct listing *l = is_on() ? listing_of(dir) : NULL;

	if (l) {
		free(l->names);
		*l = (struct listing){0};
	}
	return real(dir);
}

DIR *opendir(const char *path)
{
	REAL(opendir);
	bool is_ours = is_on() && (is_of_the_moment(path) || strcmp(path, "/proc") == 0);

	if (!is_ours)
		return real(path);
	if (mode == PLAY)
		return play_names(path);
	DIR *dir = real(path);
	char *names = NULL;
	size_t size = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name) + 1;

		if (entry->d_name[0] == '.')
			continue;
		names = realloc(names, size + length);
		memcpy(names + size, entry->d_name, length);
		size += length;
	}
	put(NAMES, hash(path), dir ? 0 : -1, names, size);
	return dir ? list(dir, names, size, names) : NULL;
}

/* ---- begin and end ---- */

static __attribute__((constructor)) void begin(void)
{
	const char *what = getenv("SONDE_TAPE");

	if (!what)
		return;
	unsetenv("LD_PRELOAD");
	owner = getpid();
	if (strncmp(what, "write:", 6) == 0) {
		tape = fopen(what + 6, "we");
		if (!tape)
			_exit(99);
		setvbuf(tape, NULL, _IOFBF, 1 << 20);
		mode = WRITE;
	} else if (strncmp(what, "play:", 5) == 0) {
		load(what + 5);
		mode = PLAY;
	}
	unsetenv("SONDE_TAPE");
}

static __attribute__((destructor)) void end(void)
{
	if (mode == WRITE && getpid() == owner)
		fclose(tape);
	if (mode == PLAY && getpid() == owner && stretched && getenv("SONDE_TAPE_SAY"))
		fprintf(stderr, "tape: the clock was read %lu times more, or less often\n",
			(unsigned long)stretched);
	mode = OFF;
}
