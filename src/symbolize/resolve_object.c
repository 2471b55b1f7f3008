/*
 * Opening the file of the object that is asked about, for the resolvers that read it.
 */
#include "symbolize/resolver.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "obj/objfile.h"
#include "obj/vdso.h"

struct str resolve_open_path(const struct symbolize_object *object)
{
	return object->open_path.size ? object->open_path : object->path;
}

static struct error *open_object(const struct symbolize_object *object, struct objfile **file)
{
	struct str bytes;

	if (str_equal(object->path, STR("[vdso]")) && vdso_bytes(&bytes))
		return objfile_open_memory(bytes.data, bytes.size, "[vdso]", file);
	char *path = xstrndup(resolve_open_path(object).data, resolve_open_path(object).size);
	struct error *err = objfile_open(path, file);
	free(path);
	return err;
}

struct objfile *resolve_open_object(struct resolve_job *job)
{
	struct str wanted = job->object->build_id;
	struct objfile *file;
	struct error *err = open_object(job->object, &file);

	if (err) {
		resolve_problem(job, "%s", err->message);
		error_destroy(err);
		return NULL;
	}
	if (wanted.size == 0 || str_equal(wanted, objfile_build_id(file)))
		return file;
	resolve_problem(job, "%.*s is not used: it is another build than the one that ran",
		STR_ARG(job->object->path));
	objfile_close(file);
	return NULL;
}
