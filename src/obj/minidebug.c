/* The ELF file in .gnu_debugdata.  See minidebug.h. */
#include "obj/minidebug.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "obj/objfile.h"
#include "obj/xz_unpack.h"

struct minidebug {
	struct objfile *file;
	uint8_t *bytes;
};

struct minidebug *minidebug_open(struct objfile *object)
{
	struct objfile_section section;
	struct objfile *file;
	size_t size;

	if (!objfile_section(object, ".gnu_debugdata", &section) || section.bytes == NULL)
		return NULL;
	uint8_t *bytes = xz_unpack(section.bytes, section.size, &size);
	if (bytes == NULL)
		return NULL;
	struct error *err = objfile_open_memory(bytes, size, objfile_name(object), &file);
	if (err) {
		error_destroy(err);
		free(bytes);
		return NULL;
	}
	struct minidebug *m = xalloc(sizeof(*m));
	*m = (struct minidebug){.file = file, .bytes = bytes};
	return m;
}

void minidebug_close(struct minidebug *m)
{
	if (m == NULL)
		return;
	objfile_close(m->file);
	free(m->bytes);
	free(m);
}

struct objfile *minidebug_objfile(const struct minidebug *m)
{
	return m->file;
}
