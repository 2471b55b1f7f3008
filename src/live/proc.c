/* Reads processes from /proc, see proc(5). */
#include "live/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads /proc/PID/NAME, cut to size - 1 bytes; returns the size, or -1. */
static ssize_t read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got = 0;
	size_t used = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	text[used] = '\0';
	return got < 0 && used == 0 ? -1 : (ssize_t)used;
}

/*
 * The text after "\nKEY:\t". The name, which the program chooses, is in the first line, with
 * newlines escaped.
 */
static const char *status_field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

static pid_t last_number(const char *list)
{
	pid_t number = 0;

	while (*list && *list != '\n') {
		char *end;
		long n = strtol(list, &end, 10);
		if (end == list)
			break;
		number = (pid_t)n;
		list = end;
	}
	return number;
}

struct error *live_process_look(pid_t pid, struct live_process *process)
{
	char status[4096];
	const char *tgid, *state, *uid, *inner;
	unsigned real, effective;

	if (pid <= 0 || read_proc(pid, "status", status, sizeof(status)) <= 0)
		return access("/proc/self/status", R_OK) == 0
			       ? error_new(ERROR_INPUT,
					 "no such process: %d (of one that has ended only what "
					 "was saved is left, or a "
					 "file that SONDE_ZONES=file= asked for)",
					 pid)
			       : error_new(ERROR_INPUT,
					 "cannot inspect process %d: /proc is not mounted", pid);
	tgid = status_field(status, "\nTgid:");
	state = status_field(status, "\nState:\t");
	uid = status_field(status, "\nUid:");
	inner = status_field(status, "\nNSpid:");
	if (!tgid || !state || !uid || sscanf(uid, "%u %u", &real, &effective) != 2)
		return error_new(ERROR_INPUT, "process %d: cannot parse /proc/%d/status", pid, pid);
	*process = (struct live_process){
		.pid = (pid_t)strtol(tgid, NULL, 10), .state = *state, .uid = (uid_t)effective};
	/* For a thread, NSpid has the thread's id. */
	if (process->pid != pid)
		return live_process_look(process->pid, process);
	process->inner_pid = inner ? last_number(inner) : pid;
	ssize_t size = read_proc(pid, "comm", process->name, sizeof(process->name));
	process->name[size > 0 ? strcspn(process->name, "\n") : 0] = '\0';
	return NULL;
}

/*
 * Reads fields 22 and 23 of /proc/PID/stat; the name in parentheses, field 2, can contain anything.
 */
bool live_process_size(pid_t pid, struct live_size *size)
{
	char stat[1024];
	const char *at;

	if (read_proc(pid, "stat", stat, sizeof(stat)) <= 0 || (at = strrchr(stat, ')')) == NULL)
		return false;
	for (int field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%" SCNu64 " %" SCNu64, &size->start, &size->bytes) == 2;
}

void live_process_command(pid_t pid, char *text, size_t size)
{
	ssize_t got = read_proc(pid, "cmdline", text, size);

	if (got < 0)
		got = 0;
	while (got > 0 && text[got - 1] == '\0')
		got--;
	for (ssize_t i = 0; i < got; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[got] = '\0';
}

/* The name of the thread with that id in this PID namespace; false: no such thread. */
static bool name_of_task(pid_t pid, int32_t tid, char *name, size_t size)
{
	char file[32];

	snprintf(file, sizeof(file), "task/%" PRId32 "/comm", tid);
	if (read_proc(pid, file, name, size) <= 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
}

/* A thread's id in this PID namespace; 0: none. */
static int32_t outer_tid(pid_t pid, int32_t tid)
{
	char path[64], file[sizeof("task/") + 256 + sizeof("/status")], status[4096];
	int32_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	for (struct dirent *e; tasks && found == 0 && (e = readdir(tasks)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "task/%s/status", e->d_name);
		if (read_proc(pid, file, status, sizeof(status)) <= 0)
			continue;
		const char *inner = status_field(status, "\nNSpid:");
		if (inner && last_number(inner) == tid)
			found = (int32_t)strtol(e->d_name, NULL, 10);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

void live_process_thread_name(
	const struct live_process *process, int32_t tid, char *name, size_t size)
{
	name[0] = '\0';
	if (process->pid != process->inner_pid)
		tid = outer_tid(process->pid, tid);
	if (tid > 0 && !name_of_task(process->pid, tid, name, size))
		name[0] = '\0';
}
