/*
 * Finds and reads source files.  The paths are untrusted: a file is read only if it is a regular
 * file of reasonable size, and shown only if it is text.
 */
#include "obj/source_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* A NUL this close to the start means that the file is not text. */
#define BINARY_LOOK_BYTES ((size_t)8192)

struct error *source_map_add(struct source_map *map, const char *rule)
{
	const char *equals = strchr(rule, '=');

	if (equals == NULL || equals == rule)
		return error_new(ERROR_USAGE, "'%s' is not OLD=NEW, two beginnings of paths", rule);
	vec_push(&map->rules,
		(struct source_rule){{rule, (size_t)(equals - rule)}, str_from(equals + 1)});
	return NULL;
}

void source_map_deinit(struct source_map *map)
{
	vec_deinit(&map->rules);
}

static bool rule_fits(const struct source_rule *rule, struct str path)
{
	struct str old = rule->old_prefix;

	if (!str_starts_with(path, old))
		return false;
	return path.size == old.size || path.data[old.size] == '/' || old.data[old.size - 1] == '/';
}

struct str source_map_apply(const struct source_map *map, struct str path, struct arena *arena)
{
	for (size_t i = 0; i < map->rules.count; i++) {
		const struct source_rule *rule = &map->rules.data[i];
		struct strbuf mapped = {0};

		if (!rule_fits(rule, path))
			continue;
		struct str rest = {
			path.data + rule->old_prefix.size, path.size - rule->old_prefix.size};
		strbuf_add(&mapped, rule->new_prefix);
		if (mapped.size && rest.size && rest.data[0] != '/' &&
			mapped.data[mapped.size - 1] != '/')
			strbuf_add_char(&mapped, '/');
		strbuf_add(&mapped, rest);
		path = arena_str(arena, strbuf_str(&mapped));
		strbuf_deinit(&mapped);
		break;
	}
	return path;
}

/* Gets its age; false if it does not exist or is not usable. */
static bool look_at(const char *path, struct source_file *file)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return false;
	file->path = str_from(path);
	file->changed_unix_ns =
		(uint64_t)info.st_mtim.tv_sec * 1000000000 + (uint64_t)info.st_mtim.tv_nsec;
	return true;
}

/* Tries ever shorter ends of the path, with at least one folder, in the current folder. */
static bool look_here(struct str path, struct source_file *file)
{
	const char *last = path.data ? memrchr(path.data, '/', path.size) : NULL;

	if (last == NULL)
		return false;
	const char *end = path.data + path.size;
	for (const char *slash = memchr(path.data, '/', path.size); slash && slash < last;
		slash = memchr(slash + 1, '/', (size_t)(end - slash - 1)))
		if (look_at(slash + 1, file))
			return true;
	return false;
}

static void split(struct source_file *file, struct str text, struct arena *arena)
{
	VEC(struct str) lines = {0};

	while (text.size) {
		struct str line = str_take_line(&text);

		if (line.size && line.data[line.size - 1] == '\r')
			line.size--;
		vec_push(&lines, line);
	}
	struct str *kept = ARENA_ARRAY(arena, struct str, lines.count);

	for (size_t i = 0; i < lines.count; i++)
		kept[i] = lines.data[i];
	file->lines = kept;
	file->line_count = lines.count;
	vec_deinit(&lines);
}

/* opened: the file's path, by which it is read, which may be that of a descriptor. */
static void read_lines(struct source_file *file, const char *opened, struct arena *arena)
{
	struct file_bytes bytes;
	struct error *err = file_read(opened, SOURCE_FILE_BYTES_MAX, &bytes);

	if (err) {
		file->problem = arena_printf(arena, "%s", err->message);
		error_destroy(err);
		return;
	}
	struct str text = arena_str(arena, (struct str){(const char *)bytes.data, bytes.size});
	size_t look = text.size < BINARY_LOOK_BYTES ? text.size : BINARY_LOOK_BYTES;

	file_bytes_deinit(&bytes);
	if (memchr(text.data, '\0', look))
		file->problem = arena_printf(arena, "%.*s: not a text file", STR_ARG(file->path));
	else
		split(file, text, arena);
}

/* Reads a file below the root. */
static void read_below(struct source_file *file, struct str path, const struct source_root *root,
	struct arena *arena)
{
	int fd = source_root_find(root, path, arena, &file->path);
	struct stat info;

	if (fd < 0) {
		file->problem = arena_printf(arena,
			"%.*s: not found below %.*s; --source-root DIR says where sources are",
			STR_ARG(path), STR_ARG(source_root_path(root)));
		return;
	}
	if (fstat(fd, &info) == 0)
		file->changed_unix_ns =
			(uint64_t)info.st_mtim.tv_sec * 1000000000 + (uint64_t)info.st_mtim.tv_nsec;
	read_lines(file, arena_printf(arena, "/proc/self/fd/%d", fd), arena);
	close(fd);
}

struct source_file source_file_read(struct str path, const struct source_map *map,
	const struct source_root *root, struct arena *arena)
{
	struct str mapped = arena_str(arena, source_map_apply(map, path, arena));
	struct source_file file = {0};

	if (mapped.size == 0) {
		file.problem = "the source file is not known";
	} else if (root) {
		read_below(&file, mapped, root, arena);
	} else if (look_at(mapped.data, &file) || look_here(mapped, &file)) {
		file.path = arena_str(arena, file.path);
		read_lines(&file, file.path.data, arena);
	} else {
		file.problem = arena_printf(arena,
			"%.*s: not found; --source-map OLD=NEW says where it is now",
			STR_ARG(mapped));
	}
	return file;
}

struct source_file source_file_read_at(const char *opened, struct str path, struct arena *arena)
{
	struct source_file file = {.path = arena_str(arena, path)};

	read_lines(&file, opened, arena);
	return file;
}
