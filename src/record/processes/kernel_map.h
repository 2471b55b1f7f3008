#ifndef SONDE_RECORD_PROCESSES_KERNEL_MAP_H
#define SONDE_RECORD_PROCESSES_KERNEL_MAP_H

/*
 * Which load object a kernel address belongs to: a module, by the ranges of /proc/modules, or the
 * kernel itself.  Kernel addresses are kept as they are, they have no slide.
 */

#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "record/processes/object_table.h"

struct kernel_module {
	uint64_t low_va, high_va;
	uint32_t object;
	struct str name; /* as the file will have it: "[ext4]" */
};

struct kernel_map {
	struct object_table *objects;
	VEC(struct kernel_module) modules; /* ascending */
	struct arena *arena;		   /* of the names */
	uint32_t kernel;		   /* the object "[kernel]"; UINT32_MAX: nothing read yet */
};

void kernel_map_init(struct kernel_map *map, struct object_table *objects);
void kernel_map_deinit(struct kernel_map *map);
/* The object at a kernel address; the first call reads /proc/modules. */
uint32_t kernel_map_object(struct kernel_map *map, uint64_t va);
/* One line of /proc/modules, read into the map. False: malformed, or its address is hidden. */
bool kernel_map_add_line(struct kernel_map *map, const char *line);

#endif
