/*
 * Opens the file of a load object, if it is still the one that ran, as shown by build IDs, which
 * distributions and most linkers add.
 */
#include "obj/object_open.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "obj/objfile.h"
#include "obj/vdso.h"

static struct error *open_any(struct str path, struct str open_path, struct objfile **file)
{
	struct str bytes;

	if (str_equal(path, STR("[vdso]")) && vdso_bytes(&bytes))
		return objfile_open_memory(bytes.data, bytes.size, "[vdso]", file);
	char *name = xstrndup(open_path.data, open_path.size);
	struct error *err = objfile_open(name, file);
	free(name);
	return err;
}

struct error *object_open(
	struct str path, struct str open_path, struct str build_id, struct objfile **file)
{
	struct objfile *opened;
	struct error *err = open_any(path, open_path, &opened);

	if (err)
		return err;
	if (build_id.size && !str_equal(build_id, objfile_build_id(opened))) {
		objfile_close(opened);
		return error_new(ERROR_INPUT,
			"%.*s is not used: it is another build than the one that ran",
			STR_ARG(path));
	}
	*file = opened;
	return NULL;
}

bool object_is_other_build(struct str path, struct str open_path, struct str build_id)
{
	struct objfile *opened;
	struct error *err = open_any(path, open_path, &opened);

	if (err) {
		error_destroy(err);
		return false;
	}
	bool is_other = build_id.size && !str_equal(build_id, objfile_build_id(opened));
	objfile_close(opened);
	return is_other;
}
