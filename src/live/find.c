/*
 * Finds programs with zones by scanning /proc: a readlink for each descriptor of each process, and
 * its mappings.  Candidates are attached only as long as it takes to summarize them.
 *
 * A repeated scan remembers which processes had none.  A process that gets zones memory maps it,
 * and so becomes larger: one with the same start time and size need not be checked again.  As it
 * may have unmapped just as much meanwhile, it is still checked from time to time.
 */
#include "live/find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "live/places.h"

/* Every process is checked again in one of this many rounds. */
enum { ROUNDS = 16 };

enum seen_as {
	SEEN_NONE,    /* it has no zones */
	SEEN_HIDDEN,  /* not allowed to inspect it */
	SEEN_PROGRAM, /* it has zones, or memory of another process */
};

struct seen {
	pid_t pid;
	struct live_size size;
	enum seen_as as;
	struct live_past *past; /* a program's past frames; NULL: none */
};

struct live_finder {
	VEC(struct seen) seen;
	struct map by_process; /* pid, start: index in seen */
	unsigned round;
};

static int by_pid(const void *a, const void *b)
{
	const struct live_program *x = a, *y = b;

	return COMPARE(x->process.pid, y->process.pid);
}

static void add_program(struct live_list *list, struct seen *seen)
{
	struct live_program program = {0};
	struct live *live;
	struct error *err = live_process_look(seen->pid, &program.process);

	if (err == NULL && program.process.state != 'Z') {
		program.problem = live_attach(seen->pid, &live);
		/* No memory of its own: a child that has its parent's for a moment. */
		if (program.problem && program.problem->kind == ERROR_INPUT) {
			error_destroy(program.problem);
			return;
		}
		if (program.problem == NULL) {
			if (seen->past == NULL)
				seen->past = xcalloc(1, sizeof(*seen->past));
			program.process = live->process;
			program.state = live->state;
			live_summarize(live, seen->past, &program.summary);
			live_destroy(live);
		}
		vec_push(&list->programs, program);
	}
	error_destroy(err);
}

static enum seen_as look_at(pid_t pid)
{
	live_places places = {0};
	enum seen_as as = SEEN_NONE;

	if (!live_places_find(pid, &places))
		as = errno == EACCES || errno == EPERM ? SEEN_HIDDEN : SEEN_NONE;
	else if (places.count)
		as = SEEN_PROGRAM;
	live_places_deinit(&places);
	return as;
}

static bool is_same(const struct live_finder *finder, const struct seen *before, pid_t pid,
	const struct live_size *size)
{
	return before && before->size.bytes == size->bytes &&
	       ((unsigned)pid + finder->round) % ROUNDS != 0;
}

/* Moves what was known of it to `now`. */
static void find_in(
	struct live_finder *finder, struct live_finder *now, struct live_list *list, pid_t pid)
{
	struct seen seen = {.pid = pid}, *before = NULL;
	uint32_t index;

	if (!live_process_size(pid, &seen.size))
		return;
	if (map_get(&finder->by_process, (uint64_t)pid, seen.size.start, &index))
		before = &finder->seen.data[index];
	if (before) {
		seen.past = before->past;
		before->past = NULL;
	}
	seen.as = is_same(finder, before, pid, &seen.size) ? before->as : look_at(pid);
	if (seen.as == SEEN_PROGRAM)
		add_program(list, &seen);
	list->hidden += seen.as == SEEN_HIDDEN;
	map_put(&now->by_process, (uint64_t)pid, seen.size.start, (uint32_t)now->seen.count);
	vec_push(&now->seen, seen);
}

static void forget(struct live_finder *finder)
{
	for (size_t i = 0; i < finder->seen.count; i++)
		free(finder->seen.data[i].past);
	vec_deinit(&finder->seen);
	map_deinit(&finder->by_process);
}

struct live_finder *live_finder_create(void)
{
	return xcalloc(1, sizeof(struct live_finder));
}

void live_finder_destroy(struct live_finder *finder)
{
	if (finder == NULL)
		return;
	forget(finder);
	free(finder);
}

struct error *live_finder_find(struct live_finder *finder, struct live_list *list)
{
	DIR *proc = opendir("/proc");
	struct live_finder now = {.round = finder->round + 1};

	*list = (struct live_list){0};
	if (proc == NULL)
		return error_system(errno, "cannot look for programs in /proc");
	if (access("/proc/self/fd", X_OK) != 0) {
		closedir(proc);
		return error_new(
			ERROR_UNSUPPORTED, "cannot look for programs: /proc is not mounted");
	}
	for (struct dirent *e; (e = readdir(proc)) != NULL;)
		if (isdigit((unsigned char)e->d_name[0]))
			find_in(finder, &now, list, (pid_t)strtol(e->d_name, NULL, 10));
	closedir(proc);
	forget(finder);
	*finder = now;
	if (list->programs.count)
		qsort(list->programs.data, list->programs.count, sizeof(*list->programs.data),
			by_pid);
	return NULL;
}

struct error *live_list_find(struct live_list *list)
{
	struct live_finder *finder = live_finder_create();
	struct error *err = live_finder_find(finder, list);

	live_finder_destroy(finder);
	return err;
}

void live_list_deinit(struct live_list *list)
{
	for (size_t i = 0; i < list->programs.count; i++)
		error_destroy(list->programs.data[i].problem);
	vec_deinit(&list->programs);
}
