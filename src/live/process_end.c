/*
 * Detects whether and how a process that is not a child has ended, by its pidfd, which then becomes
 * readable and never refers to another process. Since Linux 6.15, it also has the exit code
 * (PIDFD_GET_INFO), as soon as the parent has waited for it.
 */
#include "live/process_end.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

bool process_has_ended(const struct live_process *process, int pidfd, struct live_process *now)
{
	struct pollfd look = {.fd = pidfd, .events = POLLIN};
	struct error *err;

	if (pidfd >= 0 && poll(&look, 1, 0) > 0)
		return true;
	err = live_process_look(process->pid, now);
	error_destroy(err);
	return err != NULL || now->state == 'Z' || now->state == 'X';
}

/* Struct pidfd_info of the kernel's linux/pidfd.h as of 6.15, which older headers lack. */
struct end_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t others[11]; /* ids of the process, its users and groups */
	int32_t exit_code;
};
#define INFO_EXIT (UINT64_C(1) << 3)
#define GET_INFO  _IOWR(0xff, 11, struct end_info)

void process_end_describe(int pidfd, char *text, size_t size)
{
	struct end_info info = {.mask = INFO_EXIT};

	text[0] = '\0';
	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) != 0 || !(info.mask & INFO_EXIT))
		return;
	if (WIFSIGNALED(info.exit_code)) {
#ifdef HAVE_SIGABBREV
		const char *name = sigabbrev_np(WTERMSIG(info.exit_code));
#else
		const char *name = NULL;
#endif
		if (name)
			snprintf(text, size, "killed by SIG%s", name);
		else
			snprintf(text, size, "killed by signal %d", WTERMSIG(info.exit_code));
	} else {
		snprintf(text, size, "exited with %d", WEXITSTATUS(info.exit_code));
	}
}
