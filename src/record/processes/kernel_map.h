#ifndef SONDE_RECORD_PROCESSES_KERNEL_MAP_H
#define SONDE_RECORD_PROCESSES_KERNEL_MAP_H

/*
 * Finds the load object of a kernel address: a module, by the ranges in /proc/modules, or the
 * kernel itself.  Kernel addresses are used unchanged; they have no slide.  An object is written
 * with its build ID and marks, from which its code can be named on another machine.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

struct arena;
struct object_table;

struct kernel_module {
	uint64_t low_va, high_va;
	uint32_t object;
	struct str name; /* without brackets: "ext4" */
};

struct kernel_map {
	struct object_table *objects;
	const char *root; /* /proc and /sys are below it; "", other than in tests */
	VEC(struct kernel_module) modules; /* ascending */
	struct arena *arena;		   /* of the names */
	uint32_t kernel;		   /* the object "[kernel]"; UINT32_MAX: not read yet */
};

void kernel_map_init(struct kernel_map *map, struct object_table *objects);
void kernel_map_deinit(struct kernel_map *map);
/* The object at a kernel address; the first call reads /proc/modules. */
uint32_t kernel_map_object(struct kernel_map *map, uint64_t va);
/* Adds a line of /proc/modules.  False: malformed, or its address is hidden. */
bool kernel_map_add_line(struct kernel_map *map, const char *line);

#endif
