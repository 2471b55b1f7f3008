/*
 * Finds threads and descendants.  A process has children as a whole, whichever thread made them, so
 * one pass over /proc tells all parents at once; /proc/PID/task/TID/children would have to be asked
 * of each thread, and not every kernel has it.
 */
#include "record/processes/task_scan.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/search.h"
#include "record/processes/proc_stat.h"

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

/* All processes without the kernel's threads. */
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

/* Everybody's parents, by parent. */
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

/* The first whose parent is not less. */
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

/* A root may descend from another one. */
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

/* Its name, or the first word of its command line, without folders: that has any length. */
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
