/* The host of the terminal view, implemented with live/. One program is attached at a time. */
#include "cli/live_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live_names.h"
#include "live/find.h"

struct host {
	struct live *live; /* NULL: none */
	struct live_finder *finder;
	struct live_names *names; /* of its process; NULL: none, or it is a file */
};

static enum tui_state tui_state_of(enum live_state state)
{
	switch (state) {
	case LIVE_RUNNING:
		return TUI_RUNNING;
	case LIVE_STOPPED:
		return TUI_STOPPED;
	case LIVE_ENDED:
		return TUI_ENDED;
	case LIVE_SAVED:
		break;
	}
	return TUI_SAVED;
}

static void fill_program(struct tui_program *to, const struct live_program *from)
{
	*to = (struct tui_program){.pid = from->process.pid,
		.state = tui_state_of(from->state),
		.zones = from->summary.zones,
		.threads = from->summary.threads,
		.ticks = from->summary.frames};
	snprintf(to->name, sizeof(to->name), "%s",
		from->problem ? from->process.name : from->summary.program);
	live_process_command(to->pid, to->command, sizeof(to->command));
	if (from->problem)
		snprintf(to->problem, sizeof(to->problem), "%s", from->problem->message);
}

static struct error *host_list(void *data, struct tui_program **programs, size_t *count)
{
	struct host *host = data;
	struct live_list list;
	struct error *err = live_finder_find(host->finder, &list);

	if (err)
		return err;
	*programs = xcalloc(list.programs.count + 1, sizeof(**programs));
	*count = list.programs.count;
	for (size_t i = 0; i < list.programs.count; i++)
		fill_program(&(*programs)[i], &list.programs.data[i]);
	live_list_deinit(&list);
	return NULL;
}

static struct error *host_attach(void *data, pid_t pid, struct zone_region *region)
{
	struct host *host = data;
	struct error *err = NULL;

	if (pid != 0) {
		struct live *live;
		err = live_attach(pid, &live);
		if (err)
			return err;
		live_destroy(host->live);
		host->live = live;
	}
	live_names_destroy(host->names);
	host->names = host->live->path ? NULL : live_names_create(host->live->process.pid);
	*region = host->live->memory.region;
	return NULL;
}

static void host_detach(void *data)
{
	struct host *host = data;

	live_destroy(host->live);
	host->live = NULL;
	live_names_destroy(host->names);
	host->names = NULL;
}

static enum tui_state host_state(void *data, char *detail, size_t detail_bytes)
{
	struct host *host = data;
	enum live_state state = live_look(host->live);

	snprintf(detail, detail_bytes, "%s", host->live->detail);
	return tui_state_of(state);
}

static bool host_is_replaced(void *data)
{
	struct host *host = data;

	return live_is_replaced(host->live);
}

static void host_thread_name(void *data, int32_t tid, char *name, size_t name_bytes)
{
	struct host *host = data;

	if (host->live->path)
		name[0] = '\0';
	else
		live_process_thread_name(&host->live->process, tid, name, name_bytes);
}

static struct zone_namer host_namer(void *data)
{
	struct host *host = data;

	return live_names_namer(host->names);
}

static struct error *host_save(void *data, const char *path)
{
	struct host *host = data;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return error_system(errno, "cannot write %s", path);
	struct error *err = live_save(host->live, live_names_namer(host->names), fd, path);
	if (close(fd) != 0 && err == NULL)
		err = error_system(errno, "cannot write %s", path);
	if (err)
		unlink(path);
	return err;
}

struct error *live_host_run(struct live *live, const struct tui_options *options, int *signal)
{
	struct host data = {.live = live, .finder = live_finder_create()};
	const struct tui_host host = {
		.data = &data,
		.list = host_list,
		.attach = host_attach,
		.detach = host_detach,
		.state = host_state,
		.is_replaced = host_is_replaced,
		.thread_name = host_thread_name,
		.namer = host_namer,
		.save = host_save,
	};
	struct error *err = tui_run(&host, options, signal);

	live_destroy(data.live);
	live_names_destroy(data.names);
	live_finder_destroy(data.finder);
	return err;
}
