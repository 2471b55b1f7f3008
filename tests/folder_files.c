/*
 * Folders as bytes.  See folder_files.h.
 */
#include "folder_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define MARK "@@"

void folder_files_add(struct strbuf *bytes, const char *name)
{
	strbuf_printf(bytes, MARK "%s\n", name);
}

void folder_files_end(struct strbuf *bytes)
{
	strbuf_add_char(bytes, '\n');
}

void folder_files_number(struct strbuf *bytes, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(bytes, (char)(i < 8 ? number >> 8 * i : 0));
}

/* No name that leads out of the folder, whatever the bytes say. */
static bool is_plain(const char *name)
{
	const char *slash = strchr(name, '/');

	if (slash && (strchr(slash + 1, '/') || slash[1] == '\0'))
		return false;
	return name[0] && name[0] != '/' && strstr(name, "..") == NULL && strcmp(name, ".") != 0;
}

static void write_one(const char *folder, const char *name, struct str bytes)
{
	const char *slash = strchr(name, '/');

	if (!is_plain(name))
		return;
	if (slash) {
		char *inner = xasprintf("%s/%.*s", folder, (int)(slash - name), name);
		(void)!mkdir(inner, 0700);
		free(inner);
	}
	char *path = xasprintf("%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	if (file) {
		(void)!fwrite(bytes.data, 1, bytes.size, file);
		fclose(file);
	}
	free(path);
}

/* Where the next file starts, at or behind from; NULL: there is none. */
static const char *next_mark(struct str bytes, size_t from)
{
	if (from == 0 && str_starts_with(bytes, STR(MARK)))
		return bytes.data;
	size_t at = from ? from - 1 : 0;
	const char *found =
		at < bytes.size ? memmem(bytes.data + at, bytes.size - at, "\n" MARK, 3) : NULL;
	return found ? found + 1 : NULL;
}

void folder_files_write(const char *folder, struct str bytes)
{
	const char *at = next_mark(bytes, 0);

	while (at) {
		size_t from = (size_t)(at - bytes.data) + 2;
		struct str rest = {bytes.data + from, bytes.size - from};
		struct str name = str_take_line(&rest);
		size_t start = (size_t)(rest.data - bytes.data);
		const char *next = next_mark(bytes, start);
		size_t end = next ? (size_t)(next - bytes.data) - 1 : bytes.size;
		char *path = xstrndup(name.data, name.size < 200 ? name.size : 200);
		if (strlen(path) == name.size)
			write_one(folder, path,
				(struct str){bytes.data + start, end > start ? end - start : 0});
		free(path);
		at = next;
	}
}

char *folder_files_create(struct str bytes)
{
	const char *parent = getenv("TMPDIR");
	char *folder = xasprintf("%s/sonde_folder_XXXXXX", parent ? parent : "/tmp");

	if (mkdtemp(folder) == NULL)
		abort();
	folder_files_write(folder, bytes);
	return folder;
}

/* What is in it, and in folders in it. */
static void empty(const char *folder, int depth)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *path = xasprintf("%s/%s", folder, entry->d_name);
		if (unlink(path) != 0 && errno == EISDIR && depth < 2) {
			empty(path, depth + 1);
			rmdir(path);
		}
		free(path);
	}
	if (entries)
		closedir(entries);
}

void folder_files_remove(char *folder)
{
	empty(folder, 0);
	rmdir(folder);
	free(folder);
}
