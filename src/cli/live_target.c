/*
 * Resolves the operand of `sonde live` to a program's zones.  A number is a process; the path of a
 * file is that file; anything else is a program's name, which must be unique.
 */
#include "cli/live_target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "live/find.h"

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool is_named(const struct live_program *program, const char *name)
{
	return strcmp(program->summary.program, name) == 0 ||
	       strcmp(program->process.name, name) == 0;
}

static struct error *no_program(const struct live_list *list, const char *name)
{
	struct nearest n;

	nearest_init(&n, str_from(name));
	for (size_t i = 0; i < list->programs.count; i++)
		nearest_offer(&n, str_from(list->programs.data[i].summary.program));
	if (n.best.size)
		return error_new(ERROR_INPUT,
			"no running program with zones named '%s', and no such file; did you "
			"mean '%.*s'?",
			name, STR_ARG(n.best));
	return error_new(ERROR_INPUT,
		"no running program with zones named '%s', and no such file; 'sonde live' lists "
		"those there are",
		name);
}

static struct error *several(const struct live_list *list, const char *name, size_t count)
{
	struct error *err;
	struct strbuf pids = {0};

	for (size_t i = 0; i < list->programs.count; i++)
		if (is_named(&list->programs.data[i], name))
			strbuf_printf(&pids, " %d", list->programs.data[i].process.pid);
	err = error_new(ERROR_INPUT,
		"%zu programs with zones are called '%s'; name one by its pid:%s", count, name,
		pids.data);
	strbuf_deinit(&pids);
	return err;
}

/* count: the number of programs with that name. */
static struct error *open_named(const char *name, struct live **live, size_t *count)
{
	const struct live_program *found = NULL;
	struct live_list list;
	struct error *err = live_list_find(&list);

	*count = 0;
	if (err)
		return err;
	for (size_t i = 0; i < list.programs.count; i++) {
		if (!is_named(&list.programs.data[i], name))
			continue;
		found = &list.programs.data[i];
		++*count;
	}
	if (*count == 0)
		err = no_program(&list, name);
	else if (*count > 1)
		err = several(&list, name, *count);
	else
		err = live_attach(found->process.pid, live);
	live_list_deinit(&list);
	return err;
}

/* The program whose own file (SONDE_ZONES=file=) this is, if it is still running; else NULL. */
static struct live *writer_of(const struct live *file)
{
	struct live *live = NULL;
	struct stat info;
	struct error *err;

	if (file->memory.region.header.is_saved || stat(file->path, &info) != 0)
		return NULL;
	err = live_attach(file->memory.region.header.pid, &live);
	if (err == NULL && live->device == info.st_dev && live->inode == info.st_ino)
		return live;
	if (err == NULL)
		live_destroy(live);
	error_destroy(err);
	return NULL;
}

static struct error *open_file(const char *path, struct live **live)
{
	struct error *err = live_open_file(path, live);

	if (err)
		return err;
	struct live *writer = writer_of(*live);
	if (writer) {
		live_destroy(*live);
		*live = writer;
	}
	return NULL;
}

/*
 * A running program may have the same name as a file in this folder, most likely its own
 * executable.  If there are such programs, errors are about them, else about the file.
 */
static struct error *open_file_or_named(const char *operand, struct live **live)
{
	const char *slash = strrchr(operand, '/');
	struct error *err = open_file(operand, live), *named;
	size_t count;

	if (err == NULL || err->kind != ERROR_INPUT)
		return err;
	named = open_named(slash ? slash + 1 : operand, live, &count);
	error_destroy(count ? err : named);
	return count ? named : err;
}

struct error *live_target_open(const char *operand, struct live **live)
{
	struct stat info;
	size_t count;

	if (is_number(operand)) {
		unsigned long pid = strtoul(operand, NULL, 10);
		return live_attach(pid > INT32_MAX ? INT32_MAX : (pid_t)pid, live);
	}
	if (strchr(operand, '/') || stat(operand, &info) == 0)
		return open_file_or_named(operand, live);
	return open_named(operand, live, &count);
}
