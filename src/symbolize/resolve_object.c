/* Opens the file of the requested object, for the resolvers that read it. */
#include "symbolize/resolver.h"

#include "obj/object_open.h"

struct str resolve_open_path(const struct symbolize_object *object)
{
	return object->open_path.size ? object->open_path : object->path;
}

struct objfile *resolve_open_object(struct resolve_job *job)
{
	const struct symbolize_object *object = job->object;
	struct objfile *file;
	struct error *err =
		object_open(object->path, resolve_open_path(object), object->build_id, &file);

	if (err == NULL)
		return file;
	resolve_problem(job, "%s", err->message);
	error_destroy(err);
	return NULL;
}
