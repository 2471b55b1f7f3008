/*
 * A folder as a source of files by build ID: a copy of /usr/lib/debug, a build folder, a root file
 * system.
 *
 * The tree of build IDs that distributions and debuggers use answers at once.  Else all ELF files
 * below the folder are opened, once, and listed with what they have.  Packed kernel modules, some
 * thousands in each kernel, are unpacked only when one of their name is needed.
 */
#include "symbolize/build_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/debugfile.h"
#include "obj/kernel_file.h"
#include "obj/objfile.h"

/* Bounds for a search in the wrong place. */
enum { FOLDERS_MAX = 1 << 20, FILES_MAX = 1 << 20 };

/* How much of a build a file has; the most is best. */
enum wealth { WEALTH_NONE, WEALTH_EXPORTS, WEALTH_SYMBOLS, WEALTH_DEBUG };

/* The best files of one build; NULL: there is none. */
struct build {
	const char *debug, *code; /* in the arena */
	enum wealth debug_wealth;
};

struct folder_source {
	struct build_source base;
	bool is_scanned, is_cut;
	struct arena *arena;
	struct str_table ids; /* index into builds */
	VEC(struct build) builds;
	VEC(const char *) packed; /* modules that were not looked into; NULL: done; in the arena */
	VEC(char *) folders;	  /* to search */
	dev_t device;
};

static enum wealth wealth_of(struct objfile *file)
{
	if (objfile_has_contents(file, ".debug_info") || objfile_has_contents(file, ".zdebug_info"))
		return WEALTH_DEBUG;
	if (objfile_has_contents(file, ".symtab"))
		return WEALTH_SYMBOLS;
	return objfile_has_contents(file, ".dynsym") ? WEALTH_EXPORTS : WEALTH_NONE;
}

static void add_object(struct folder_source *s, struct objfile *file, const char *path)
{
	struct str id = objfile_build_id(file);
	enum wealth wealth = wealth_of(file);

	if (id.size == 0)
		return;
	uint32_t number = str_table_intern(&s->ids, id);
	if (number == s->builds.count)
		vec_push(&s->builds, (struct build){0});
	struct build *build = &s->builds.data[number];
	const char *kept = arena_str(s->arena, str_from(path)).data;

	if (wealth > build->debug_wealth) {
		build->debug = kept;
		build->debug_wealth = wealth;
	}
	if (build->code == NULL && objfile_has_contents(file, ".text"))
		build->code = kept;
}

static bool is_elf(const char *path)
{
	char magic[4] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return false;
	bool is_it = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
		     memcmp(magic, "\177ELF", sizeof(magic)) == 0;
	close(fd);
	return is_it;
}

static void scan_file(struct folder_source *s, const char *path)
{
	struct objfile *file;

	if (kernel_module_is_packed(str_from(path))) {
		vec_push(&s->packed, arena_str(s->arena, str_from(path)).data);
		return;
	}
	if (!is_elf(path))
		return;
	struct error *err = objfile_open(path, &file);
	if (err) {
		error_destroy(err);
		return;
	}
	add_object(s, file, path);
	objfile_close(file);
}

static struct error *scan_packed_file(struct folder_source *s, const char *path)
{
	struct file_bytes bytes;
	struct objfile *file;
	struct error *err = kernel_module_read(path, &bytes);

	if (err)
		return err;
	err = objfile_open_memory(bytes.data, bytes.size, path, &file);
	if (err == NULL) {
		add_object(s, file, path);
		objfile_close(file);
	}
	file_bytes_deinit(&bytes);
	return err;
}

/* Lists the builds of packed files of a module; each is unpacked once. */
static void scan_packed(struct folder_source *s, struct str module, char **problem)
{
	struct strbuf name = {0};

	for (size_t i = 0; i < s->packed.count; i++) {
		const char *path = s->packed.data[i];

		if (path == NULL || !kernel_module_name(str_from(path), &name) ||
			!str_equal(strbuf_str(&name), module))
			continue;
		s->packed.data[i] = NULL;
		struct error *err = scan_packed_file(s, path);
		if (err && *problem == NULL)
			*problem = xstrdup(err->message);
		error_destroy(err);
	}
	strbuf_deinit(&name);
}

/* Takes an entry of a folder: files at once, folders later. */
static void scan_entry(struct folder_source *s, char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == s->device) {
		if (S_ISDIR(st.st_mode)) {
			vec_push(&s->folders, path);
			return;
		}
		if (S_ISREG(st.st_mode))
			scan_file(s, path);
	}
	free(path);
}

static size_t scan_folder(struct folder_source *s, const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	if (d == NULL)
		return 0;
	while ((entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		scan_entry(s, xasprintf("%s/%s", path, entry->d_name));
		count++;
	}
	closedir(d);
	return count;
}

static void scan(struct folder_source *s)
{
	size_t files = 0, folders = 0;

	s->is_scanned = true;
	vec_push(&s->folders, xstrdup(s->base.name));
	while (s->folders.count) {
		char *path = s->folders.data[--s->folders.count];

		s->is_cut = files > FILES_MAX || folders > FOLDERS_MAX;
		if (!s->is_cut)
			files += scan_folder(s, path);
		folders++;
		free(path);
	}
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The file in a tree of build IDs; NULL: it does not have it. */
static char *find_in_tree(const struct folder_source *s, struct str id, enum build_part part)
{
	static const char *const below[] = {"", "/usr/lib/debug"};

	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		char *directory = xasprintf("%s%s", s->base.name, below[i]);
		char *path =
			debugfile_build_id_path(directory, id, part == BUILD_DEBUG ? ".debug" : "");

		free(directory);
		if (is_file(path))
			return path;
		free(path);
	}
	return NULL;
}

static char *folder_find(
	struct build_source *source, const struct build_wanted *wanted, char **problem)
{
	struct folder_source *s = (struct folder_source *)source;
	char *path = find_in_tree(s, wanted->build_id, wanted->part);
	uint32_t number;

	if (path)
		return path;
	if (!s->is_scanned)
		scan(s);
	if (wanted->module.size)
		scan_packed(s, wanted->module, problem);
	if (str_table_find(&s->ids, wanted->build_id, &number)) {
		const struct build *build = &s->builds.data[number];
		const char *found = wanted->part == BUILD_DEBUG ? build->debug : build->code;
		return found ? xstrdup(found) : NULL;
	}
	if (s->is_cut && *problem == NULL)
		*problem = xasprintf("%s has too many files to search them all", s->base.name);
	return NULL;
}

static void folder_destroy(struct build_source *source)
{
	struct folder_source *s = (struct folder_source *)source;

	str_table_deinit(&s->ids);
	vec_deinit(&s->builds);
	vec_deinit(&s->packed);
	vec_deinit(&s->folders);
	arena_destroy(s->arena);
	free(s->base.name);
	free(s);
}

struct error *build_source_folder(const char *path, struct build_source **source)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_system(errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return error_system(ENOTDIR, "%s", path);
	struct folder_source *s = xalloc(sizeof(*s));

	s->base = (struct build_source){
		.find = folder_find, .destroy = folder_destroy, .name = xstrdup(path)};
	s->device = st.st_dev;
	s->arena = arena_create();
	str_table_init(&s->ids, s->arena);
	*source = &s->base;
	return NULL;
}
