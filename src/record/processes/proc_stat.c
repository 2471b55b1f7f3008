/*
 * Reads /proc/PID/stat.  The name stands in parentheses and may hold any bytes, so what follows is
 * found from the last ")".
 */
#include "record/processes/proc_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* PF_KTHREAD of the kernel's task flags. */
#define FLAG_KERNEL_THREAD 0x00200000u

static void parse_name(struct proc_stat *stat, const char *begin, const char *end)
{
	size_t size = (size_t)(end - begin);

	if (size > sizeof(stat->name) - 1)
		size = sizeof(stat->name) - 1;
	memcpy(stat->name, begin, size);
}

static uint64_t ticks_ns(uint64_t ticks)
{
	static long per_second;

	if (per_second == 0)
		per_second = sysconf(_SC_CLK_TCK);
	return ticks * (SECOND_NS / (uint64_t)per_second);
}

bool proc_stat_parse(struct str text, struct proc_stat *stat)
{
	char line[1024];
	size_t size = text.size < sizeof(line) - 1 ? text.size : sizeof(line) - 1;
	uint64_t user, system, start;
	unsigned flags;

	memcpy(line, text.data, size);
	line[size] = '\0';
	char *open = strchr(line, '('), *close = strrchr(line, ')');

	*stat = (struct proc_stat){.pid = strtoll(line, NULL, 10)};
	if (!open || !close || close < open)
		return false;
	parse_name(stat, open + 1, close);
	/* After the name: state ppid pgrp session tty tpgid flags, four counts of faults … */
	if (sscanf(close + 1,
		    " %c %" SCNd64 " %*d %*d %*d %*d %u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		    " %*d %*d %*d %*d %" SCNu32 " %*d %" SCNu64,
		    &stat->state, &stat->parent, &flags, &user, &system, &stat->threads,
		    &start) != 7)
		return false;
	stat->is_kernel = flags & FLAG_KERNEL_THREAD;
	stat->user_ns = ticks_ns(user);
	stat->system_ns = ticks_ns(system);
	stat->start_ns = ticks_ns(start);
	return true;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Start times are of the clock that continues while the machine sleeps. */
static uint64_t monotonic_of_boot(uint64_t boot_ns)
{
	uint64_t now_ns = clock_monotonic_ns(), boot_now_ns = clock_ns(CLOCK_BOOTTIME);
	uint64_t age_ns = boot_now_ns > boot_ns ? boot_now_ns - boot_ns : 0;

	return now_ns > age_ns ? now_ns - age_ns : 0;
}

bool proc_stat_read(int64_t pid, int64_t tid, struct proc_stat *stat)
{
	char path[80], text[1024];

	if (tid == 0)
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	else
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/stat", pid, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text));

	close(fd);
	if (got <= 0 || !proc_stat_parse((struct str){text, (size_t)got}, stat))
		return false;
	stat->start_ns = monotonic_of_boot(stat->start_ns);
	return true;
}

bool proc_sched_read(int64_t tid, struct proc_sched *sched)
{
	unsigned long long ran, waited, turns;
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/schedstat", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	if (sscanf(text, "%llu %llu %llu", &ran, &waited, &turns) != 3)
		return false;
	*sched = (struct proc_sched){ran, waited, turns};
	return true;
}

uint32_t proc_seccomp_filters(int64_t pid, int64_t tid)
{
	uint32_t mode = 0, filters = 0;
	char path[80], line[160];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/status", pid, tid);
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "Seccomp: %" SCNu32, &mode);
		(void)sscanf(line, "Seccomp_filters: %" SCNu32, &filters);
	}
	if (f)
		fclose(f);
	if (mode == 1)
		return UINT32_MAX;
	/* Linux before 5.9 does not tell how many. */
	return mode == 2 && filters == 0 ? 1 : filters;
}

void proc_command_line(int64_t pid, struct strbuf *out)
{
	char path[64], text[4096];
	struct proc_stat stat = {.name = "?"};

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/cmdline", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text)) : 0;

	if (fd >= 0)
		close(fd);
	if (got > 0) {
		strbuf_add(out, (struct str){text, (size_t)got});
		return;
	}
	(void)proc_stat_read(pid, 0, &stat);
	strbuf_printf(out, "[%s]", stat.name);
	strbuf_add_char(out, '\0');
}

/* "HIERARCHY:CONTROLLERS:PATH"; the hierarchy of version 2 is 0. */
static void take_cgroup(char *line, bool *is_second, struct strbuf *path)
{
	char *controllers = strchr(line, ':');
	char *text = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!text || *is_second)
		return;
	text[strcspn(text, "\n")] = '\0';
	struct str found = str_from(text + 1);

	*is_second = strncmp(line, "0:", 2) == 0 && found.size > 1;
	if (!*is_second && found.size <= path->size)
		return;
	strbuf_clear(path);
	strbuf_add(path, found);
}

bool proc_cgroup(int64_t pid, struct strbuf *path)
{
	char name[64];
	char *line = NULL;
	size_t capacity = 0;
	bool is_second = false;

	snprintf(name, sizeof(name), "/proc/%" PRId64 "/cgroup", pid);
	FILE *f = fopen(name, "re");

	strbuf_clear(path);
	while (f && getline(&line, &capacity, f) > 0)
		take_cgroup(line, &is_second, path);
	free(line);
	if (f)
		fclose(f);
	return path->size > 0;
}

uint64_t proc_cpu_ns(int64_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid((pid_t)pid, &clock) == 0 ? clock_ns(clock) : 0;
}
