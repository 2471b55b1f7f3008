/*
 * Kernel and modules.  /proc/modules: "name size users deps state 0xaddress"; addresses are zero to
 * those who may not see them, and then all is "[kernel]".
 */
#include "record/processes/kernel_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/search.h"

void kernel_map_init(struct kernel_map *map, struct object_table *objects)
{
	*map = (struct kernel_map){
		.objects = objects, .arena = arena_create(), .kernel = UINT32_MAX};
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
					.name = str_from(arena_printf(map->arena, "[%s]", name))});
	return true;
}

static int compare_modules(const void *a, const void *b)
{
	const struct kernel_module *x = a, *y = b;

	return (x->low_va > y->low_va) - (x->low_va < y->low_va);
}

static void read_modules(struct kernel_map *map)
{
	char *line = NULL;
	size_t capacity = 0;
	FILE *f = fopen("/proc/modules", "re");

	map->kernel = object_table_named(map->objects, CAPTURE_OBJECT_KERNEL, STR("[kernel]"));
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
		module->object =
			object_table_named(map->objects, CAPTURE_OBJECT_KERNEL, module->name);
	return module->object;
}
