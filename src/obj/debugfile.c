/*
 * Looks for debug files in the places that GDB's manual, "Debugging Information in Separate Files",
 * lists. A file is used if its build ID matches the object's; only if one of the two has none, the
 * CRC of .gnu_debuglink decides.
 */
#include "obj/debugfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "obj/objfile.h"

struct str path_directory(struct str path)
{
	const char *slash = path.data ? memrchr(path.data, '/', path.size) : NULL;

	if (slash == NULL)
		return STR(".");
	return (struct str){path.data, slash == path.data ? 1 : (size_t)(slash - path.data)};
}

/* What is being looked for. */
struct search {
	struct str build_id; /* empty: unknown */
	bool has_crc;
	uint32_t crc;
	char **problem;
};

static void search_refuse(const struct search *s, const char *path, const char *why)
{
	if (*s->problem == NULL)
		*s->problem = xasprintf("debug file %s is not used: %s", path, why);
}

/* The CRC-32 of a file; false if it cannot be read. */
static bool file_crc(const char *path, uint32_t *crc)
{
	static const size_t chunk = 64 * 1024;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return false;
	unsigned char *bytes = xalloc(chunk);
	uLong sum = crc32(0, NULL, 0);
	ssize_t got;
	while ((got = read(fd, bytes, chunk)) > 0)
		sum = crc32(sum, bytes, (uInt)got);
	free(bytes);
	close(fd);
	*crc = (uint32_t)sum;
	return got == 0;
}

static bool search_fits(const struct search *s, struct objfile *file, const char *path)
{
	struct str id = objfile_build_id(file);
	uint32_t crc;

	if (s->build_id.size && id.size) {
		if (str_equal(s->build_id, id))
			return true;
		search_refuse(s, path, "its build-id is another");
		return false;
	}
	if (!s->has_crc)
		return false;
	if (file_crc(path, &crc) && crc == s->crc)
		return true;
	search_refuse(s, path, "its checksum is not the one that .gnu_debuglink gives");
	return false;
}

/* Opens path (which is freed) if a matching file is there. */
static struct objfile *search_try(const struct search *s, char *path)
{
	struct objfile *file = NULL;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		struct error *err = objfile_open(path, &file);
		if (err) {
			search_refuse(s, path, "it cannot be read");
			error_destroy(err);
		} else if (!search_fits(s, file, path)) {
			objfile_close(file);
			file = NULL;
		}
	}
	free(path);
	return file;
}

char *debugfile_build_id_path(const char *directory, struct str id, const char *suffix)
{
	return xasprintf("%s/.build-id/%.2s/%.*s%s", directory, id.data, (int)(id.size - 2),
		id.data + 2, suffix);
}

static struct objfile *search_by_build_id(const struct search *s, const char *debug_directory)
{
	if (s->build_id.size < 6)
		return NULL;
	return search_try(s, debugfile_build_id_path(debug_directory, s->build_id, ".debug"));
}

/* Asks the caller's own places. */
static struct objfile *search_further(const struct search *s, const struct debugfile_places *places)
{
	char *path = places->find && s->build_id.size
			     ? places->find(places->find_context, s->build_id)
			     : NULL;

	return path ? search_try(s, path) : NULL;
}

static struct objfile *search_by_link(
	const struct search *s, const struct debugfile_places *places, struct str name)
{
	struct str directory = path_directory(places->object_path);
	struct objfile *file = NULL;

	/* An object may have its debug file's name, in another folder. */
	if (!str_equal(name, str_base_name(places->object_path)))
		file = search_try(s, xasprintf("%.*s/%.*s", STR_ARG(directory), STR_ARG(name)));
	if (file == NULL)
		file = search_try(
			s, xasprintf("%.*s/.debug/%.*s", STR_ARG(directory), STR_ARG(name)));
	if (places->known_path.size)
		directory = path_directory(places->known_path);
	if (file == NULL && directory.data[0] == '/')
		file = search_try(s, xasprintf("%s%.*s/%.*s", places->debug_directory,
					     STR_ARG(directory), STR_ARG(name)));
	return file;
}

/* .gnu_debuglink: a name, NUL, padding to 4 bytes, the CRC-32 of the file. */
static bool read_debuglink(struct objfile *object, struct str *name, uint32_t *crc)
{
	struct objfile_section section;
	struct cursor c;

	if (!objfile_section(object, ".gnu_debuglink", &section) || section.bytes == NULL)
		return false;
	cursor_init(&c, section.bytes, section.size, ".gnu_debuglink", 0);
	*name = cursor_string(&c);
	cursor_seek(&c, (name->size + 1 + 3) & ~(size_t)3);
	*crc = cursor_u32(&c);
	/* It must be a file name, not a path that leads elsewhere. */
	return cursor_ok(&c) && name->size && memchr(name->data, '/', name->size) == NULL;
}

struct objfile *debugfile_open(
	struct objfile *object, const struct debugfile_places *places, char **problem)
{
	struct search s = {.build_id = objfile_build_id(object), .problem = problem};
	struct str name;

	struct objfile *file = search_by_build_id(&s, places->debug_directory);
	if (file)
		return file;
	if (read_debuglink(object, &name, &s.crc)) {
		s.has_crc = true;
		file = search_by_link(&s, places, name);
	}
	return file ? file : search_further(&s, places);
}

/* .gnu_debugaltlink: a path, NUL, the build-id's bytes. *id is set to the build ID in hex. */
static bool read_debugaltlink(struct objfile *file, struct str *path, struct strbuf *id)
{
	struct objfile_section section;
	struct cursor c;

	if (!objfile_section(file, ".gnu_debugaltlink", &section) || section.bytes == NULL)
		return false;
	cursor_init(&c, section.bytes, section.size, ".gnu_debugaltlink", 0);
	*path = cursor_string(&c);
	size_t size = cursor_left(&c);
	if (!cursor_ok(&c) || size == 0 || size > 64)
		return false;
	for (size_t i = 0; i < size; i++)
		strbuf_printf(id, "%02x", c.at[i]);
	return true;
}

struct objfile *debugfile_open_alternate(
	struct objfile *file, const struct debugfile_places *places, char **problem)
{
	struct search s = {.problem = problem};
	struct strbuf id = {0};
	struct objfile *alternate = NULL;
	struct str path;

	if (read_debugaltlink(file, &path, &id)) {
		struct str directory = path_directory(places->object_path);
		s.build_id = strbuf_str(&id);
		if (path.size && path.data[0] == '/')
			alternate = search_try(&s, xstrndup(path.data, path.size));
		else
			alternate = search_try(
				&s, xasprintf("%.*s/%.*s", STR_ARG(directory), STR_ARG(path)));
		if (alternate == NULL)
			alternate = search_by_build_id(&s, places->debug_directory);
		if (alternate == NULL)
			alternate = search_further(&s, places);
	}
	strbuf_deinit(&id);
	return alternate;
}
