/*
 * The target.  Only wait4 reports the end of a command.  Only its pidfd reports the end of an
 * attached process, because a pidfd cannot refer to a later process with the same pid.
 *
 * A command is launched with two pipes: on one the child waits for its start; the other,
 * close-on-exec, returns the errno of a failed exec.
 */
#include "record/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/user.h"
#include "record/processes/proc.h"

/* ---- launching ---- */

void launch_state_save(struct launch_state *state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};

	sigprocmask(SIG_SETMASK, NULL, &state->mask);
	sigaction(SIGPIPE, &ignore, &state->pipe);
	sigaction(SIGXFSZ, &ignore, &state->file_size);
	sigaction(SIGCHLD, &usual, &state->child);
	getrlimit(RLIMIT_NOFILE, &state->files);
	getrlimit(RLIMIT_MEMLOCK, &state->locked_memory);
	state->niceness = getpriority(PRIO_PROCESS, 0);
	state->timer_slack_ns = prctl(PR_GET_TIMERSLACK);
}

void launch_state_restore(const struct launch_state *state)
{
	sigaction(SIGPIPE, &state->pipe, NULL);
	sigaction(SIGXFSZ, &state->file_size, NULL);
	sigaction(SIGCHLD, &state->child, NULL);
	sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

/* The type of a resource is an enum in glibc and int in musl. */
static void raise_limit(unsigned resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

void launch_raise_ourselves(void)
{
	/* One descriptor is needed per load object, several per CPU and task; rings are locked. */
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_MEMLOCK);
	(void)setpriority(PRIO_PROCESS, 0, -5);
	prctl(PR_SET_TIMERSLACK, 1000);
}

/* In the child: undoes all our changes, as if it had been started without us. */
static void child_restore(const struct launch_state *state)
{
	setrlimit(RLIMIT_NOFILE, &state->files);
	setrlimit(RLIMIT_MEMLOCK, &state->locked_memory);
	(void)setpriority(PRIO_PROCESS, 0, state->niceness);
	prctl(PR_SET_TIMERSLACK, (unsigned long)state->timer_slack_ns);
	launch_state_restore(state);
}

static ssize_t read_retry(int fd, void *bytes, size_t size)
{
	ssize_t got;

	do
		got = read(fd, bytes, size);
	while (got < 0 && errno == EINTR);
	return got;
}

/* In the child; never returns. */
static void child_run(int go_fd, int status_fd, char *const *command, char *const *environment,
	const struct launch_state *state)
{
	char go;

	if (read_retry(go_fd, &go, 1) != 1)
		_exit(125);
	child_restore(state);
	for (size_t i = 0; environment && environment[i]; i++)
		putenv(environment[i]);
	execvp(command[0], command);
	int code = errno;
	ssize_t written = write(status_fd, &code, sizeof(code));

	_exit(written == sizeof(code) ? 127 : 125);
}

/* The failure is ours, not the command's: ERROR_SYSTEM is reserved for its exec. */
static struct error *start_error(int code, const char *call)
{
	return error_new(ERROR_UNSUPPORTED, "no process could be started for the command: %s: %s",
		call, strerror(code));
}

static struct error *launch_start(struct launch *launch, char *const *command,
	char *const *environment, const struct launch_state *state)
{
	int go[2], status[2];

	if (pipe2(go, O_CLOEXEC) != 0)
		return start_error(errno, "pipe");
	if (pipe2(status, O_CLOEXEC) != 0) {
		int code = errno;

		close(go[0]);
		close(go[1]);
		return start_error(code, "pipe");
	}
	pid_t pid = fork();

	if (pid == 0) {
		close(go[1]);
		child_run(go[0], status[1], command, environment, state);
	}
	int code = errno;

	close(go[0]);
	close(status[1]);
	*launch = (struct launch){.pid = pid, .go_fd = go[1], .status_fd = status[0]};
	if (pid > 0)
		return NULL;
	close(go[1]);
	close(status[0]);
	return start_error(code, "fork");
}

static struct error *launch_release(struct launch *launch, const char *name)
{
	int code = 0;
	ssize_t got = write(launch->go_fd, "", 1);

	close(launch->go_fd);
	if (got == 1)
		got = read_retry(launch->status_fd, &code, sizeof(code));
	close(launch->status_fd);
	if (got == 0)
		return NULL;
	waitpid(launch->pid, NULL, 0);
	return error_system(got == sizeof(code) ? code : EIO, "%s", name);
}

static void launch_cancel(struct launch *launch)
{
	close(launch->go_fd);
	close(launch->status_fd);
	waitpid(launch->pid, NULL, 0);
}

/* How often to read the CPU time of a process, for which the kernel adds up all its threads. */
#define ASK_NS (SECOND_NS / 10)

/* ---- processes ---- */

struct error *target_refusal(pid_t pid, int code)
{
	char path[32];
	struct proc_stat stat = {.name = "?"};
	struct stat file;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	(void)proc_stat_read(pid, 0, &stat);
	if ((code != EACCES && code != EPERM) || lstat(path, &file) != 0)
		return error_new(ERROR_UNSUPPORTED, "process %d (%s) can't be attached to: %s", pid,
			stat.name, strerror(code));
	/* In /proc, a process with more privileges than its user belongs to root. */
	if (file.st_uid != geteuid()) {
		char *owner = user_name(file.st_uid);
		struct error *err = error_new(ERROR_UNSUPPORTED,
			"process %d (%s) is %s's, not ours: attach to it with `sudo sonde record "
			"-p %d`",
			pid, stat.name, owner, pid);

		free(owner);
		return err;
	}
	return error_new(ERROR_UNSUPPORTED,
		"process %d (%s) does not let others look into it: attach to it with `sudo sonde "
		"record -p %d`",
		pid, stat.name, pid);
}

/* Threads have entries in /proc as well. */
static struct error *no_process(pid_t pid, int code)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	int process = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *f = fopen(path, "re");

	if (!f)
		return error_new(ERROR_UNSUPPORTED, "no such process: %d", pid);
	while (process == 0 && getline(&line, &capacity, f) > 0)
		(void)sscanf(line, "Tgid: %d", &process);
	free(line);
	fclose(f);
	if (process > 0 && process != pid)
		return error_new(ERROR_UNSUPPORTED,
			"%d is a thread of process %d: attach to that with -p %d", pid, process,
			process);
	return target_refusal(pid, code);
}

static struct error *check_process(pid_t pid)
{
	struct proc_stat stat;

	if (!proc_stat_read(pid, 0, &stat))
		return error_new(ERROR_UNSUPPORTED, "no such process: %d", pid);
	if (stat.is_kernel)
		return error_new(ERROR_UNSUPPORTED,
			"process %d (%s) is a thread of the kernel: record the whole machine, with "
			"`sudo sonde record -a`",
			pid, stat.name);
	if ((stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1)
		return error_new(ERROR_UNSUPPORTED,
			"process %d (%s) has ended; its parent has yet to notice", pid, stat.name);
	if (pid == getpid())
		return error_new(ERROR_UNSUPPORTED, "process %d is this very recorder", pid);
	return NULL;
}

static void process_look(struct target_process *p)
{
	struct proc_stat stat;
	uint64_t cpu_ns = proc_cpu_ns(p->pid);

	/* Its pid may have been reused. */
	if (!proc_stat_read(p->pid, 0, &stat) || stat.start_ns > p->attached_ns)
		return;
	if (cpu_ns > p->last_cpu_ns)
		p->last_cpu_ns = cpu_ns;
	p->last = (struct target_cpu){stat.user_ns, stat.system_ns};
}

static struct error *attach(struct target *t, pid_t pid)
{
	struct target_process p = {.pid = pid, .attached_ns = clock_monotonic_ns()};

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd < 0)
		return no_process(pid, errno);
	struct error *err = check_process(pid);

	if (err) {
		close(p.fd);
		return err;
	}
	vec_push(&t->processes, p);
	return NULL;
}

static bool fd_is_readable(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	return poll(&polled, 1, 0) > 0 && polled.revents & POLLIN;
}

/* Returns whether all have ended. */
static bool look_at_processes(struct target *t)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool all = true, ask = now_ns >= t->ask_ns;

	if (ask)
		t->ask_ns = now_ns + ASK_NS;

	for (size_t i = 0; i < t->processes.count; i++) {
		struct target_process *p = &t->processes.data[i];

		if (p->fd < 0)
			continue;
		bool ended = fd_is_readable(p->fd);

		/* Until its parent waits for it, its CPU time can still be read. */
		if (ask || ended)
			process_look(p);
		all &= ended;
		if (!ended)
			continue;
		close(p->fd);
		p->fd = -1;
	}
	return all;
}

/* ---- the machine ---- */

/* /proc/stat, proc(5): user nice system idle iowait irq softirq …, in ticks, for all CPUs. */
static struct target_cpu machine_cpu(void)
{
	uint64_t user = 0, nice = 0, system = 0, irq = 0, softirq = 0;
	uint64_t tick_ns = SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");

	if (!f)
		return (struct target_cpu){0};
	if (fscanf(f, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64, &user,
		    &nice, &system, &irq, &softirq) != 5)
		user = nice = system = irq = softirq = 0;
	fclose(f);
	return (struct target_cpu){(user + nice) * tick_ns, (system + irq + softirq) * tick_ns};
}

/* ---- all kinds of targets ---- */

/* Adds to the caller's environment what the target needs in any case. */
static struct error *launch_command(struct target *t, char *const *environment)
{
	VEC(char *) variables = {0};
	char *preload = t->preload ? xasprintf("LD_PRELOAD=%s", t->preload) : NULL;

	/* environment's LD_PRELOAD, which comes later and wins, includes this list. */
	if (preload)
		vec_push(&variables, preload);
	for (size_t i = 0; environment && environment[i]; i++)
		vec_push(&variables, environment[i]);
	/* putenv keeps the pointer, but only the child does this. */
	if (t->variable)
		vec_push(&variables, (char *)(uintptr_t)t->variable);
	vec_push(&variables, NULL);
	struct error *err = launch_start(&t->launch, t->command, variables.data, t->state);

	vec_deinit(&variables);
	free(preload);
	return err;
}

struct error *target_start(struct target *t, char *const *environment)
{
	struct error *err = NULL;

	for (size_t i = 0; i < t->pid_count && !err; i++)
		err = attach(t, t->pids[i]);
	if (!err && t->command)
		err = launch_command(t, environment);
	return err;
}

/* Sampling begins. */
static void start_accounts(struct target *t)
{
	for (size_t i = 0; i < t->processes.count; i++) {
		struct target_process *p = &t->processes.data[i];

		process_look(p);
		p->first_cpu_ns = p->last_cpu_ns;
		p->first = p->last;
	}
	if (t->kind == TARGET_MACHINE)
		t->machine_first = machine_cpu();
}

struct error *target_release(struct target *t)
{
	start_accounts(t);
	return t->command ? launch_release(&t->launch, t->command[0]) : NULL;
}

void target_cancel(struct target *t)
{
	if (t->command)
		launch_cancel(&t->launch);
}

static bool command_has_ended(struct target *t)
{
	return wait4(t->launch.pid, &t->wait_status, WNOHANG, &t->usage) == t->launch.pid;
}

void target_look(struct target *t)
{
	if (t->ended)
		return;
	bool processes_ended = look_at_processes(t);

	if (t->command)
		t->ended = command_has_ended(t);
	else if (t->kind == TARGET_PROCESSES)
		t->ended = processes_ended;
}

void target_close_accounts(struct target *t)
{
	for (size_t i = 0; i < t->processes.count; i++)
		if (t->processes.data[i].fd >= 0)
			process_look(&t->processes.data[i]);
	if (t->kind == TARGET_MACHINE)
		t->machine_last = machine_cpu();
	t->is_closed = true;
}

void target_deinit(struct target *t)
{
	for (size_t i = 0; i < t->processes.count; i++)
		if (t->processes.data[i].fd >= 0)
			close(t->processes.data[i].fd);
	vec_deinit(&t->processes);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_usec * 1000;
}

static struct target_cpu cpu_between(struct target_cpu first, struct target_cpu last)
{
	return (struct target_cpu){last.user_ns - first.user_ns, last.system_ns - first.system_ns};
}

static struct target_cpu processes_cpu(const struct target *t)
{
	struct target_cpu sum = {0};

	for (size_t i = 0; i < t->processes.count; i++) {
		const struct target_process *p = &t->processes.data[i];
		struct target_cpu used = cpu_between(p->first, p->last);

		sum.user_ns += used.user_ns;
		sum.system_ns += used.system_ns;
	}
	return sum;
}

struct target_cpu target_cpu(const struct target *t)
{
	switch (t->kind) {
	case TARGET_PROCESSES:
		return processes_cpu(t);
	case TARGET_MACHINE:
		return cpu_between(
			t->machine_first, t->is_closed ? t->machine_last : machine_cpu());
	case TARGET_COMMAND:
		break;
	}
	return (struct target_cpu){timeval_ns(t->usage.ru_utime), timeval_ns(t->usage.ru_stime)};
}

uint64_t target_processes_cpu_ns(const struct target *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->processes.count; i++)
		sum += t->processes.data[i].last_cpu_ns - t->processes.data[i].first_cpu_ns;
	return sum;
}
