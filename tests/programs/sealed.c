/*
 * sealed MILLISECONDS FILTER WAY: works for that much CPU time in before(), forbids itself system
 * calls, and works as long again in after(); prints "done" before and "still here" after that.
 *
 * FILTER: "strict": the strict mode; "kill", "trap": a filter that lets through write and the end
 * alone, and kills, or sends SIGSYS, which ends it with status 9; "errno": the same, all else
 * fails; "mild": one that forbids only what nobody calls.
 * WAY: "prctl"; "syscall": through libc's syscall; "child": by prctl, then a child does the work,
 * as fork is let through (not with "strict"); "threads": with another thread, which works
 * too, and the filter holds for both (not with "strict").
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

static uint64_t sum;
static unsigned long rounds; /* that before() took: no clock may be asked later */

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static KEEP void before(double seconds)
{
	double end = cpu_seconds() + seconds;

	for (; cpu_seconds() < end; rounds++)
		sum = spin(100000, sum + 1);
	NO_TAIL_CALL(rounds);
}

static KEEP void after(void)
{
	for (unsigned long round = 0; round < rounds; round++)
		sum = spin(100000, sum + 1);
	NO_TAIL_CALL(rounds);
}

static void *other(void *unused)
{
	for (uint64_t x = 1;; x = spin(100000, x))
		NO_TAIL_CALL(x);
	return unused;
}

/* With system calls that every filter here lets through. */
static void say(const char *text)
{
	syscall(SYS_write, 1, text, strlen(text));
}

static void end(int status)
{
	syscall(SYS_exit_group, status);
	syscall(SYS_exit, status);
}

static void on_sigsys(int number)
{
	(void)number;
	say("SIGSYS\n");
	end(9);
}

static void forbid(const char *kind, const char *way)
{
	unsigned rest = !strcmp(kind, "kill")	? SECCOMP_RET_KILL_PROCESS
			: !strcmp(kind, "trap") ? SECCOMP_RET_TRAP
						: SECCOMP_RET_ERRNO | 1;
	unsigned fork_call = !strcmp(way, "child") ? SYS_clone : SYS_write;
	unsigned wait_call = !strcmp(way, "child") ? SYS_wait4 : SYS_write;
	struct sock_filter strong[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, fork_call, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wait_call, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, rest),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter mild[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_swapoff, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(strong) / sizeof(strong[0]), strong};
	unsigned flags = !strcmp(way, "threads") ? SECCOMP_FILTER_FLAG_TSYNC : 0;

	if (!strcmp(kind, "mild"))
		program = (struct sock_fprog){sizeof(mild) / sizeof(mild[0]), mild};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		exit(77);
	int failed;

	if (!strcmp(kind, "strict") && !strcmp(way, "prctl"))
		failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0;
	else if (!strcmp(kind, "strict"))
		failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) != 0;
	else if (!strcmp(way, "syscall") || flags)
		failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0;
	else
		failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
	if (failed)
		exit(77);
}

int main(int argc, char **argv)
{
	struct sigaction trap = {.sa_handler = on_sigsys, .sa_flags = SA_NODEFER};
	pthread_t thread;
	int status = 0;

	if (argc != 4)
		return 2;
	sigaction(SIGSYS, &trap, NULL);
	if (!strcmp(argv[3], "threads"))
		pthread_create(&thread, NULL, other, NULL);
	before(atof(argv[1]) / 1000);
	forbid(argv[2], argv[3]);
	say("done\n");
	if (!strcmp(argv[3], "child")) {
		/* As libc's fork does more than that. */
		long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (child > 0) {
			syscall(SYS_wait4, child, &status, 0, NULL);
			end(status == 0 ? 0 : 1);
		}
	}
	after();
	say("still here\n");
	end(0);
}
