/*
 * Seccomp.  If a program restricts its own system calls, the library's calls, even the return from
 * a signal handler, would kill it.  So the library intercepts the installation of a filter.  If the
 * filter allows everything that the library needs, nothing changes; otherwise the threads under it
 * are no longer sampled, and the library does nothing in them from then on.
 *
 * It intercepts libc's prctl and syscall.  A program's own system call instructions go unnoticed.
 * Filters that a program's parents installed before its exec cannot be read, so the library does
 * not start there, unless the recorder runs under the same filters.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/calls.h"
#include "preload/filter.h"
#include "preload/raw.h"

#define STATUS_BYTES 8192
/* The kernel accepts no longer ones. */
#define FILTER_MAX 4096

/* ---- filters inherited from parents ---- */

static uint32_t number_behind(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	uint32_t value = 0;

	if (!at)
		return 0;
	for (at += strlen(name); *at == ' ' || *at == '\t'; at++)
		continue;
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint32_t)(*at - '0');
	return value;
}

/* Uses only calls that the loader has made as well. */
uint32_t preload_seccomp_filters(void)
{
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
	char text[STATUS_BYTES];
	long got = fd >= 0 ? raw3(SYS_read, fd, text, sizeof(text) - 1) : 0;

	if (fd >= 0)
		raw1(SYS_close, fd);
	text[got > 0 ? got : 0] = '\0';
	uint32_t mode = number_behind(text, "\nSeccomp:");
	uint32_t filters = number_behind(text, "\nSeccomp_filters:");

	/* Linux before 5.9 does not report how many. */
	return mode != 0 && filters == 0 ? 1 : filters;
}

/* ---- filters installed by the program ---- */

/* Copies from the program's pointer, which may be invalid. */
static bool copy(void *to, const void *from, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};

	return raw6(SYS_process_vm_readv, raw0(SYS_getpid), &local, 1, &remote, 1, 0) == (long)size;
}

/* Whether sampling can continue under the filter; an unreadable one will be rejected anyway. */
static bool is_harmless(const void *filter)
{
	struct sock_fprog program;
	struct sock_filter *code;
	bool allowed = false;

	if (!copy(&program, filter, sizeof(program)))
		return true;
	size_t size = program.len * sizeof(*code);

	if (program.len == 0 || program.len > FILTER_MAX)
		return true;
	code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return false;
	allowed = copy(code, program.filter, size) && preload_filter_allows(code, program.len);
	munmap(code, size);
	return allowed;
}

/* What a call will do to the thread. */
enum harm { HARM_NONE, HARM_THREAD, HARM_PROCESS };

static enum harm harm_of(long operation, unsigned long flags, const void *filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return HARM_THREAD;
	if (operation != SECCOMP_SET_MODE_FILTER || is_harmless(filter))
		return HARM_NONE;
	return flags & SECCOMP_FILTER_FLAG_TSYNC ? HARM_PROCESS : HARM_THREAD;
}

/* prctl's modes are not seccomp's operations. */
static enum harm harm_of_prctl(const long arguments[5])
{
	if (arguments[0] != PR_SET_SECCOMP)
		return HARM_NONE;
	if (arguments[1] == SECCOMP_MODE_STRICT)
		return harm_of(SECCOMP_SET_MODE_STRICT, 0, NULL);
	if (arguments[1] == SECCOMP_MODE_FILTER)
		return harm_of(SECCOMP_SET_MODE_FILTER, 0, (const void *)arguments[2]); /* NOLINT */
	return HARM_NONE;
}

bool preload_seccomp_before(long number, const long arguments[6])
{
	enum harm harm = HARM_NONE;

	if (!preload_process.on || preload_self.sealed)
		return false;
	if (number == SYS_prctl)
		harm = harm_of_prctl(arguments);
	else if (number == SYS_seccomp)
		harm = harm_of(arguments[0], (unsigned long)arguments[1],
			(const void *)arguments[2]); /* NOLINT */
	if (harm == HARM_PROCESS)
		preload_thread_seal_all();
	else if (harm == HARM_THREAD)
		preload_thread_seal();
	return harm != HARM_NONE;
}

void preload_seccomp_after(bool was_harmful, long got)
{
	if (was_harmful && got < 0)
		preload_thread_unseal();
}

/* ---- prctl ---- */

typedef int prctl_fn(int, unsigned long, unsigned long, unsigned long, unsigned long);
PRELOAD_REAL(prctl, prctl_fn)

preload_exported int prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;

	va_start(list, option);
	for (size_t i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option != PR_SET_SECCOMP)
		return real_prctl()(option, a[0], a[1], a[2], a[3]);
	long arguments[6] = {option, (long)a[0], (long)a[1], (long)a[2], (long)a[3]};
	prctl_fn *real = real_prctl();
	bool harmful = preload_seccomp_before(SYS_prctl, arguments);
	int got = real(option, a[0], a[1], a[2], a[3]);

	preload_seccomp_after(harmful, got);
	return got;
}

/* ---- syscall ---- */

PRELOAD_REAL(syscall, syscall_fn)

preload_exported long syscall(long number, ...)
{
	syscall_fn *real = real_syscall();
	long a[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	bool harmful =
		(number == SYS_prctl || number == SYS_seccomp) && preload_seccomp_before(number, a);
	long got = preload_call(real, number, a);

	preload_seccomp_after(harmful, got);
	return got;
}
