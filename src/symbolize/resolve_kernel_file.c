/*
 * Resolver for code of a kernel that ran elsewhere, or earlier.  The symbolizer's further source
 * finds the kernel's file or a module's by build ID; marks determine where it was in memory.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "obj/kernel_file.h"
#include "symbolize/build_source.h"
#include "symbolize/resolver.h"

static bool kernel_file_fits(enum object_kind kind)
{
	return kind == OBJECT_KERNEL;
}

/* The module's name without brackets; empty: it is the kernel itself. */
static struct str module_of(const struct symbolize_object *object)
{
	struct str name = object->path;

	if (str_equal(name, STR("[kernel]")) || !str_starts_with(name, STR("[")) ||
		!str_ends_with(name, STR("]")))
		return STR("");
	return (struct str){name.data + 1, name.size - 2};
}

/* Opens a file that the further source has; NULL: none, or it cannot be used. */
static struct kernel_file *open_part(struct resolve_job *job, enum build_part part, char **problem)
{
	const struct symbolize_object *object = job->object;
	struct build_wanted wanted = {
		.build_id = object->build_id, .part = part, .module = module_of(object)};
	struct kernel_file *file = NULL;
	char *path = build_source_find_module(job->symbolizer->options.source, &wanted, problem);

	if (path == NULL)
		return NULL;
	struct error *err =
		kernel_file_open(path, object->build_id, object->marks, object->mark_count, &file);

	if (err && *problem == NULL)
		*problem = xstrdup(err->message);
	error_destroy(err);
	free(path);
	return err ? NULL : file;
}

static struct kernel_file *open_further(struct resolve_job *job)
{
	struct build_source *source = job->symbolizer->options.source;
	char *problem = NULL;
	struct kernel_file *file = open_part(job, BUILD_DEBUG, &problem);

	if (file == NULL)
		file = open_part(job, BUILD_CODE, &problem);
	if (file == NULL && problem)
		resolve_problem(job, "%s", problem);
	else if (file == NULL)
		resolve_problem(job, "no file with its build ID, %.*s, in %s",
			STR_ARG(job->object->build_id), source->name);
	free(problem);
	return file;
}

/* Answers places [begin, end), whose addresses in the file ascend. */
static void answer_run(struct resolve_job *job, struct kernel_file *file, const uint64_t *addrs,
	size_t begin, size_t end)
{
	struct resolve_job run = *job;

	run.obj_addrs = addrs + begin;
	run.count = end - begin;
	run.symbol_ends += begin;
	run.is_known += begin;
	run.places += begin;
	resolve_in_file(&run, kernel_file_object(file));
	job->strings = run.strings;
}

/* The file's addresses, modulo 2^64, may begin again at 0 once. */
static void answer(struct resolve_job *job, struct kernel_file *file)
{
	uint64_t *addrs = xcalloc(job->count, sizeof(*addrs));

	for (size_t i = 0; i < job->count; i++)
		addrs[i] = job->obj_addrs[i] - kernel_file_slide(file);
	for (size_t begin = 0, end; begin < job->count; begin = end) {
		for (end = begin + 1; end < job->count && addrs[end] > addrs[end - 1]; end++)
			continue;
		answer_run(job, file, addrs, begin, end);
	}
	free(addrs);
}

static void kernel_file_resolve(struct resolve_job *job)
{
	const struct symbolize_object *object = job->object;

	if (job->symbolizer->options.source == NULL)
		return;
	if (object->build_id.size == 0) {
		resolve_problem(job, "its build ID is unknown");
		return;
	}
	struct kernel_file *file = open_further(job);

	if (file == NULL)
		return;
	answer(job, file);
	kernel_file_close(file);
}

const struct resolver resolver_kernel_file = {
	.name = "kernel-file",
	.fits = kernel_file_fits,
	.resolve = kernel_file_resolve,
};
