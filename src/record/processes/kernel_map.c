/*
 * The kernel and its modules, as load objects.
 *
 * A line of /proc/modules is "name size users deps state 0xaddress".  Without privileges, addresses
 * read as zero, and then everything is "[kernel]".  Build IDs are notes in /sys/kernel/notes and
 * /sys/module/NAME/notes; addresses of sections are in /sys/module/NAME/sections.
 *
 * Source: the kernel's kernel/module/procfs.c and sysfs.c, kernel/kallsyms.c, kernel/ksysfs.c.
 */
#include "record/processes/kernel_map.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/search.h"
#include "base/sort.h"
#include "obj/build_id.h"
#include "obj/kernel_file.h"
#include "record/processes/object_table.h"

#define NOTES_SIZE_MAX ((uint64_t)1 << 20)
/* Before its code, a kernel may list some hundred variables of each CPU. */
enum { LINES_MAX = 1 << 14, SECTIONS_MAX = 64 };

void kernel_map_init(struct kernel_map *map, struct object_table *objects)
{
	*map = (struct kernel_map){
		.objects = objects, .root = "", .arena = arena_create(), .kernel = UINT32_MAX};
}

void kernel_map_deinit(struct kernel_map *map)
{
	vec_deinit(&map->modules);
	arena_destroy(map->arena);
	map->arena = NULL;
}

bool kernel_map_add_line(struct kernel_map *map, const char *line)
{
	char name[64];
	uint64_t size, low_va;

	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, name, &size, &low_va) != 3)
		return false;
	if (low_va == 0 || size == 0)
		return false;
	vec_push(&map->modules, (struct kernel_module){.low_va = low_va,
					.high_va = low_va + size,
					.object = UINT32_MAX,
					.name = arena_str(map->arena, str_from(name))});
	return true;
}

static int compare_modules(const void *a, const void *b)
{
	const struct kernel_module *x = a, *y = b;

	return (x->low_va > y->low_va) - (x->low_va < y->low_va);
}

/* ---- build IDs and marks ---- */

/* What is written about an object; strings live in the arena. */
struct kernel_facts {
	struct arena *arena;
	struct str build_id;
	VEC(struct kernel_mark) marks;
};

static void read_build_id(struct kernel_facts *facts, const char *path)
{
	struct file_bytes bytes;
	build_id_text text;
	struct error *err = file_read(path, NOTES_SIZE_MAX, &bytes);

	if (err) {
		error_destroy(err);
		return;
	}
	build_id_in_notes(bytes.data, bytes.size, 4, text);
	facts->build_id = arena_str(facts->arena, str_from(text));
	file_bytes_deinit(&bytes);
}

static void add_mark(struct kernel_facts *facts, const char *name, uint64_t va)
{
	if (va)
		vec_push(&facts->marks,
			(struct kernel_mark){arena_str(facts->arena, str_from(name)), va});
}

/* Whether a line of kallsyms is about the beginning of the kernel's code. */
static bool mark_line(struct kernel_facts *facts, const char *line)
{
	char name[8];
	uint64_t va;

	if (sscanf(line, "%" SCNx64 " %*1[tT] %7s", &va, name) != 2 ||
		(strcmp(name, "_text") != 0 && strcmp(name, "_stext") != 0))
		return false;
	add_mark(facts, name, va);
	return true;
}

/* Only the first lines are read: the kernel's own symbols come first, by address. */
static void read_kernel_mark(struct kernel_facts *facts, const char *path)
{
	char *line = NULL;
	size_t capacity = 0;
	FILE *f = fopen(path, "re");

	for (int i = 0; f && i < LINES_MAX && getline(&line, &capacity, f) > 0; i++)
		if (mark_line(facts, line))
			break;
	free(line);
	if (f)
		fclose(f);
}

static bool read_address(const char *path, uint64_t *va)
{
	FILE *f = fopen(path, "re");
	bool is_read = f && fscanf(f, "0x%" SCNx64, va) == 1;

	if (f)
		fclose(f);
	return is_read;
}

/* Files in the folder have the addresses of the module's sections; only root may read them. */
static void read_section_marks(struct kernel_facts *facts, const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *entry;
	uint64_t va;

	while (d && facts->marks.count < SECTIONS_MAX && (entry = readdir(d))) {
		if (strstr(entry->d_name, "text") == NULL ||
			strncmp(entry->d_name, ".init", 5) == 0)
			continue;
		char *path = xasprintf("%s/%s", folder, entry->d_name);
		if (read_address(path, &va))
			add_mark(facts, entry->d_name, va);
		free(path);
	}
	if (d)
		closedir(d);
}

static int compare_marks(const void *a, const void *b)
{
	const struct kernel_mark *x = a, *y = b;

	return COMPARE(x->va, y->va) ?: str_compare(x->name, y->name);
}

static void read_module_facts(const struct kernel_map *map, const struct kernel_module *module,
	struct kernel_facts *facts)
{
	char *folder = xasprintf("%s/sys/module/%.*s", map->root, STR_ARG(module->name));
	char *notes = xasprintf("%s/notes/.note.gnu.build-id", folder);
	char *sections = xasprintf("%s/sections", folder);

	read_build_id(facts, notes);
	read_section_marks(facts, sections);
	if (facts->marks.count == 0)
		add_mark(facts, "", module->low_va);
	else
		qsort(facts->marks.data, facts->marks.count, sizeof(*facts->marks.data),
			compare_marks);
	free(sections);
	free(notes);
	free(folder);
}

static void read_kernel_facts(const struct kernel_map *map, struct kernel_facts *facts)
{
	char *notes = xasprintf("%s/sys/kernel/notes", map->root);
	char *symbols = xasprintf("%s/proc/kallsyms", map->root);

	read_build_id(facts, notes);
	read_kernel_mark(facts, symbols);
	free(symbols);
	free(notes);
}

/* module NULL: the kernel itself. */
static uint32_t add_object(struct kernel_map *map, const struct kernel_module *module)
{
	struct kernel_facts facts = {.arena = arena_create()};
	struct object_kernel kernel = {.name = STR("[kernel]")};

	if (module) {
		read_module_facts(map, module, &facts);
		kernel.name = str_from(arena_printf(facts.arena, "[%.*s]", STR_ARG(module->name)));
	} else {
		read_kernel_facts(map, &facts);
	}
	kernel.build_id = facts.build_id;
	kernel.marks = facts.marks.data;
	kernel.mark_count = facts.marks.count;
	uint32_t object = object_table_kernel(map->objects, &kernel);

	vec_deinit(&facts.marks);
	arena_destroy(facts.arena);
	return object;
}

/* ---- addresses ---- */

static void read_modules(struct kernel_map *map)
{
	char *line = NULL, *path = xasprintf("%s/proc/modules", map->root);
	size_t capacity = 0;
	FILE *f = fopen(path, "re");

	free(path);
	map->kernel = add_object(map, NULL);
	if (!f)
		return;
	while (getline(&line, &capacity, f) > 0)
		if (!kernel_map_add_line(map, line))
			continue;
	free(line);
	fclose(f);
	if (map->modules.count > 0)
		qsort(map->modules.data, map->modules.count, sizeof(*map->modules.data),
			compare_modules);
}

static struct kernel_module *find_module(struct kernel_map *map, uint64_t va)
{
	size_t next = partition_point(i, 0, map->modules.count, map->modules.data[i].low_va <= va);

	if (next == 0 || va >= map->modules.data[next - 1].high_va)
		return NULL;
	return &map->modules.data[next - 1];
}

uint32_t kernel_map_object(struct kernel_map *map, uint64_t va)
{
	if (map->kernel == UINT32_MAX)
		read_modules(map);
	struct kernel_module *module = find_module(map, va);

	if (!module)
		return map->kernel;
	if (module->object == UINT32_MAX)
		module->object = add_object(map, module);
	return module->object;
}
