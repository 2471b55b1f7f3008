/*
 * Programs with zones, found by going through /proc once: a process costs a readlink for each of
 * its descriptors.  Those that have something are attached for as long as it takes to say what they
 * have.
 */
#include "live/find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/places.h"

static int by_pid(const void *a, const void *b)
{
	const struct live_program *x = a, *y = b;

	return (x->process.pid > y->process.pid) - (x->process.pid < y->process.pid);
}

static void add_program(struct live_list *list, pid_t pid)
{
	struct live_program program = {0};
	struct live *live;
	struct error *err = live_process_look(pid, &program.process);

	if (err == NULL && program.process.state != 'Z') {
		program.problem = live_attach(pid, &live);
		/* Nothing of its own: a child that has its parent's for a moment. */
		if (program.problem && program.problem->kind == ERROR_INPUT) {
			error_destroy(program.problem);
			return;
		}
		if (program.problem == NULL) {
			program.process = live->process;
			program.state = live->state;
			live_summarize(live, &program.summary);
			live_destroy(live);
		}
		vec_push(&list->programs, program);
	}
	error_destroy(err);
}

static void look_at(struct live_list *list, pid_t pid)
{
	live_places places = {0};

	if (!live_places_find(pid, &places))
		list->hidden += errno == EACCES || errno == EPERM;
	else if (places.count)
		add_program(list, pid);
	live_places_deinit(&places);
}

struct error *live_list_find(struct live_list *list)
{
	DIR *proc = opendir("/proc");

	*list = (struct live_list){0};
	if (proc == NULL)
		return error_system(errno, "cannot look for programs in /proc");
	if (access("/proc/self/fd", X_OK) != 0) {
		closedir(proc);
		return error_new(
			ERROR_UNSUPPORTED, "programs can't be looked for: there is no /proc here");
	}
	for (struct dirent *e; (e = readdir(proc)) != NULL;)
		if (isdigit((unsigned char)e->d_name[0]))
			look_at(list, (pid_t)strtol(e->d_name, NULL, 10));
	closedir(proc);
	if (list->programs.count)
		qsort(list->programs.data, list->programs.count, sizeof(*list->programs.data),
			by_pid);
	return NULL;
}

void live_list_deinit(struct live_list *list)
{
	for (size_t i = 0; i < list->programs.count; i++)
		error_destroy(list->programs.data[i].problem);
	vec_deinit(&list->programs);
}
