/*
 * Opens the file of the requested object, for the resolvers that read it: this machine's, if it is
 * the one that ran, else one of the same build from the symbolizer's further source.
 */
#include "symbolize/resolver.h"

#include <stdlib.h>

#include "obj/object_open.h"
#include "symbolize/build_source.h"

struct str resolve_open_path(const struct symbolize_object *object)
{
	return object->open_path.size ? object->open_path : object->path;
}

/*
 * The path next to which debug files may be: the path at which the object is opened if that is its
 * path below another root; else (/proc/PID/map_files/…, a copy) the path that the program saw.
 */
static struct str object_home_path(const struct symbolize_object *object)
{
	struct str open_path = resolve_open_path(object);

	return str_ends_with(open_path, object->path) ? open_path : object->path;
}

/* Opens a file that the further source has for the build, which must be of that build. */
static struct objfile *open_found(struct resolve_job *job, enum build_part part, char **problem)
{
	const struct symbolize_object *object = job->object;
	struct objfile *file = NULL;
	char *path =
		build_source_find(job->symbolizer->options.source, object->build_id, part, problem);

	if (path == NULL)
		return NULL;
	struct error *err = object_open(str_from(path), str_from(path), object->build_id, &file);

	if (err && *problem == NULL) {
		*problem = err->message;
		err->message = NULL;
	}
	error_destroy(err);
	free(path);
	return err ? NULL : file;
}

static struct objfile *open_further(struct resolve_job *job)
{
	struct build_source *source = job->symbolizer->options.source;
	struct str id = job->object->build_id;
	char *problem = NULL;
	struct objfile *file = open_found(job, BUILD_DEBUG, &problem);

	if (file == NULL)
		file = open_found(job, BUILD_CODE, &problem);
	if (file == NULL && problem)
		resolve_problem(job, "%s", problem);
	else if (file == NULL)
		resolve_problem(
			job, "no file with its build ID, %.*s, in %s", STR_ARG(id), source->name);
	free(problem);
	return file;
}

static struct error *open_here(struct resolve_job *job, struct objfile **file)
{
	const struct symbolize_object *object = job->object;
	struct str open_path = resolve_open_path(object);
	struct error *err = object_open(object->path, open_path, object->build_id, file);

	if (err && object_is_other_build(object->path, open_path, object->build_id))
		job->status->is_other_build = true;
	return err;
}

struct objfile *resolve_open_here(struct resolve_job *job)
{
	struct objfile *file;
	struct error *err = open_here(job, &file);

	if (err == NULL)
		return file;
	resolve_problem(job, "%s", err->message);
	error_destroy(err);
	return NULL;
}

struct objfile *resolve_open_object(struct resolve_job *job, struct str *home)
{
	const struct symbolize_object *object = job->object;
	struct objfile *file;

	*home = object_home_path(object);
	if (job->symbolizer->options.source == NULL || object->build_id.size == 0)
		return resolve_open_here(job);
	struct error *err = open_here(job, &file);
	if (err == NULL)
		return file;
	error_destroy(err);
	file = open_further(job);
	if (file)
		*home = str_from(objfile_name(file));
	return file;
}
