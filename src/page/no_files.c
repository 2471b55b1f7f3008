/*
 * A page has no files: names that are not in a profile stay unknown, as they do on a machine
 * without the programs that were profiled.  In place of src/symbolize, of what opens files in
 * src/obj, and of base/compress.c, since answers stay in memory as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compress.h"
#include "obj/object_open.h"
#include "obj/objfile.h"
#include "symbolize/build_source.h"
#include "symbolize/symbolize.h"

static const char no_files[] = "a page opens no files";

struct error *object_open(
	struct str path, struct str known_path, struct str build_id, struct objfile **file)
{
	(void)path;
	(void)known_path;
	(void)build_id;
	(void)file;
	return error_new(ERROR_SYSTEM, "%s", no_files);
}

bool objfile_slide(const struct objfile *file, uint64_t va, uint64_t file_off, uint64_t *slide)
{
	(void)file;
	(void)va;
	(void)file_off;
	(void)slide;
	return false;
}

void objfile_close(struct objfile *file)
{
	(void)file;
}

void compressor_add(struct compressor *c, struct str text, bool is_last, struct strbuf *out)
{
	(void)c;
	(void)text;
	(void)is_last;
	(void)out;
	abort();
}

void compressor_destroy(struct compressor *c)
{
	(void)c;
}

struct compressor *compressor_create(enum packing packing)
{
	(void)packing;
	abort();
}

char *build_source_find(
	struct build_source *source, struct str build_id, enum build_part part, char **problem)
{
	(void)source;
	(void)build_id;
	(void)part;
	(void)problem;
	return NULL;
}

struct symbolizer {
	char unused;
};

struct symbolizer *symbolizer_create(const struct symbolize_options *options)
{
	(void)options;
	return xalloc(sizeof(struct symbolizer));
}

void symbolizer_destroy(struct symbolizer *s)
{
	free(s);
}

void symbolize_addresses(struct symbolizer *s, const struct symbolize_object *object,
	const uint64_t *obj_addrs, size_t count, struct arena *arena, struct symbol_place *places,
	struct symbolize_status *status)
{
	(void)s;
	(void)object;
	(void)obj_addrs;
	(void)arena;
	memset(places, 0, count * sizeof(*places));
	*status = (struct symbolize_status){.problem = no_files};
}
