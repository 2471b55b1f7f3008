/*
 * Reads /proc.
 *
 * In /proc/PID/stat the name is in parentheses and may contain any bytes, so the fields after it
 * are found from the last ")".
 *
 * Children belong to a process, not to a thread, so one pass over /proc finds all parents at once.
 * /proc/PID/task/TID/children would have to be read for each thread, and not every kernel has it.
 */
#include "record/processes/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/search.h"

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
	/* After the name: state ppid pgrp session tty tpgid flags, four fault counts … */
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

/* Start times are on the clock that includes suspends. */
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
	/* Linux before 5.9 does not report how many. */
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

/* "HIERARCHY:CONTROLLERS:PATH"; version 2 is hierarchy 0. */
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

/* ---- maps ---- */

/* The longest fixed part of a line; paths are not scanned. */
#define FIXED_MAX 160

bool maps_line_parse(struct str line, struct maps_line *out)
{
	char fixed[FIXED_MAX], perms[5];
	size_t size = line.size < sizeof(fixed) - 1 ? line.size : sizeof(fixed) - 1;
	struct maps_line m = {0};
	uint32_t major, minor;
	int end = 0;

	memcpy(fixed, line.data, size);
	fixed[size] = '\0';
	if (sscanf(fixed,
		    "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
		    &m.low_va, &m.high_va, perms, &m.file_off, &major, &minor, &m.inode, &end) != 7)
		return false;
	if (end == 0 || m.high_va <= m.low_va)
		return false;
	m.device = (uint64_t)major << 32 | minor;
	m.executable = perms[2] == 'x';
	m.path = (struct str){line.data + end, line.size - (size_t)end};
	while (m.path.size > 0 && m.path.data[0] == ' ') {
		m.path.data++;
		m.path.size--;
	}
	*out = m;
	return true;
}

void maps_read(
	int64_t pid, void (*visit)(void *context, const struct maps_line *line), void *context)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/maps", pid);
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	while ((got = getline(&line, &capacity, f)) > 0) {
		struct maps_line parsed;
		size_t size = (size_t)got - (line[got - 1] == '\n');

		if (maps_line_parse((struct str){line, size}, &parsed))
			visit(context, &parsed);
	}
	free(line);
	fclose(f);
}

/* ---- processes and threads that run ---- */

struct kin {
	pid_t pid, parent;
};
typedef VEC(struct kin) kin_vec;

/* The next entry of a directory that is a number; 0: no more. */
static pid_t next_number(DIR *dir)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		long number = strtol(entry->d_name, NULL, 10);

		if (number > 0)
			return (pid_t)number;
	}
	return 0;
}

/* Calls `call` for all processes except kernel threads. */
typedef void process_fn(void *context, const struct proc_stat *stat);

static void each_process(process_fn *call, void *context)
{
	DIR *dir = opendir("/proc");
	pid_t pid;

	if (!dir)
		return;
	while ((pid = next_number(dir))) {
		struct proc_stat stat;

		if (proc_stat_read(pid, 0, &stat) && !stat.is_kernel)
			call(context, &stat);
	}
	closedir(dir);
}

/* Sorts by parent. */
static int compare_parents(const void *a, const void *b)
{
	const struct kin *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void add_kin(void *context, const struct proc_stat *stat)
{
	kin_vec *all = context;

	vec_push(all, (struct kin){(pid_t)stat->pid, (pid_t)stat->parent});
}

static void read_kin(kin_vec *all)
{
	each_process(add_kin, all);
	if (all->count > 0)
		qsort(all->data, all->count, sizeof(*all->data), compare_parents);
}

/* The first entry with at least that parent. */
static size_t first_child(const kin_vec *all, pid_t parent)
{
	return partition_point(i, 0, all->count, all->data[i].parent < parent);
}

static bool has_pid(const pid_vec *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->count; i++)
		if (pids->data[i] == pid)
			return true;
	return false;
}

/* One root may be a descendant of another. */
static void find_family(const pid_t *roots, size_t count, const kin_vec *all, pid_vec *family)
{
	for (size_t i = 0; i < count; i++)
		if (!has_pid(family, roots[i]))
			vec_push(family, roots[i]);
	for (size_t next = 0; next < family->count; next++) {
		pid_t parent = family->data[next];

		for (size_t i = first_child(all, parent);
			i < all->count && all->data[i].parent == parent; i++)
			if (!has_pid(family, all->data[i].pid))
				vec_push(family, all->data[i].pid);
	}
}

static void add_threads(pid_t pid, task_vec *tasks)
{
	char path[64];
	pid_t tid;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);

	if (!dir)
		return;
	while ((tid = next_number(dir)))
		vec_push(tasks, (struct task){pid, tid});
	closedir(dir);
}

void task_scan(const pid_t *roots, size_t count, task_vec *tasks)
{
	kin_vec all = {0};
	pid_vec family = {0};

	read_kin(&all);
	find_family(roots, count, &all, &family);
	for (size_t i = 0; i < family.count; i++)
		if (family.data[i] != getpid())
			add_threads(family.data[i], tasks);
	vec_deinit(&all);
	vec_deinit(&family);
}

/* ---- by name ---- */

struct search {
	struct str name;
	bool (*is_meant)(const struct proc_stat *stat, struct str name);
	pid_vec *pids;
};

/* Compares its name, or the base name of its command line's first word, which is not truncated. */
static bool is_called(const struct proc_stat *stat, struct str name)
{
	struct strbuf line = {0};

	if (str_equal(str_from(stat->name), name))
		return true;
	proc_command_line(stat->pid, &line);
	bool is_same = str_equal(str_base_name(str_from(line.data)), name);

	strbuf_deinit(&line);
	return is_same;
}

static bool is_in_group(const struct proc_stat *stat, struct str name)
{
	struct strbuf path = {0};
	bool is_there = proc_cgroup(stat->pid, &path) && cgroup_is(strbuf_str(&path), name);

	strbuf_deinit(&path);
	return is_there;
}

static void add_meant(void *context, const struct proc_stat *stat)
{
	struct search *search = context;

	if (stat->pid != getpid() && stat->state != 'Z' && search->is_meant(stat, search->name))
		vec_push(search->pids, (pid_t)stat->pid);
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static void find_processes(struct search search)
{
	pid_vec *pids = search.pids;

	each_process(add_meant, &search);
	if (pids->count > 0)
		qsort(pids->data, pids->count, sizeof(*pids->data), compare_pids);
}

void task_scan_named(struct str name, pid_vec *pids)
{
	find_processes((struct search){name, is_called, pids});
}

void task_scan_cgroup(struct str name, pid_vec *pids)
{
	find_processes((struct search){name, is_in_group, pids});
}
