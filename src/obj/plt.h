#ifndef SONDE_OBJ_PLT_H
#define SONDE_OBJ_PLT_H

/*
 * The stubs of the procedure linkage table: a few instructions that jump to a function of another
 * object through a slot of the global offset table.  No symbol names them; the relocation of the
 * slot does.
 */

#include <stddef.h>
#include <stdint.h>

struct objfile;

enum { PLT_SECTION_MAX = 3 };

struct plt_section {
	uint64_t low, high; /* obj_addr, [low, high) */
};

/* Finds the stubs: fills sections[PLT_SECTION_MAX] and returns how many there are. */
size_t plt_sections(struct objfile *file, struct plt_section *sections);

/*
 * Calls found() for each stub with its address, its size in bytes and the name of the function it
 * jumps to (with a version if the table has one; lives as long as the objfile).  x86-64 only.
 */
void plt_each(struct objfile *file,
	void (*found)(void *context, uint64_t obj_addr, uint64_t size, const char *name),
	void *context);

#endif
