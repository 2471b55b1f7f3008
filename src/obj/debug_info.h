#ifndef SONDE_OBJ_DEBUG_INFO_H
#define SONDE_OBJ_DEBUG_INFO_H

/*
 * DWARF debug information of one object: address → lines, functions and inlined calls. Only the
 * units that contain requested addresses are read, each once. DWARF 2 to 5, split (.dwo, .dwp),
 * with a dwz file, in the object itself or in its debug file.
 *
 * See dwarf_file.h for the parts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct debug_info;
struct objfile;
struct debugfile_places;

/* One function at an address.  Strings live in the debug_info and are empty if unknown. */
struct debug_frame {
	struct str function; /* linkage name (mangled) if that says more, else as in the source */
	struct str file;     /* of the place; the whole path */
	uint32_t line;	     /* of the place, 0: none */
	struct str function_file;
	uint32_t function_line;
	bool is_inline; /* inlined into the next frame */
};

/* Innermost first; count 0: no unit has code there. */
struct debug_place {
	const struct debug_frame *frames;
	uint32_t count;
};

/*
 * Opens the debug information of object, in the object or in its debug file (NULL: none); NULL if
 * neither has any.  All three arguments must outlive the result.  places->object_path is the
 * object's path, debug_path the debug file's.
 */
struct debug_info *debug_info_open(struct objfile *object, struct objfile *debug,
	const struct debugfile_places *places, struct str debug_path);
void debug_info_close(struct debug_info *info);

/* Fills places[count] for addrs[count] (ascending, distinct); they live in the debug_info. */
void debug_info_find(
	struct debug_info *info, const uint64_t *addrs, size_t count, struct debug_place *places);

/* A jump that is a call: its address, or, if that is 0, the address behind it. */
struct debug_tail_call {
	uint64_t jump, end;
};

/* A function and its tail calls. */
struct debug_caller {
	/* The function in the source: that of several clones is the same. */
	const void *source_unit;
	uint64_t source_entry;
	struct debug_tail_call *calls;
	size_t count;
	bool is_whole; /* it has no others */
};

/*
 * Sets callers[count] to the function at each of addrs[count] (ascending, distinct), or NULL.
 * Addresses have the same pointer if they are in the same function.
 */
void debug_info_callers(struct debug_info *info, const uint64_t *addrs, size_t count,
	const struct debug_caller **callers);

/* One sentence on what could not be read so far, or NULL; owned by the debug_info. */
const char *debug_info_problem(struct debug_info *info);

/* For tests: the same for sections in memory; bytes and text as in dwarf_file.h. */
struct dwarf_section;
struct pc_range;
struct debug_info *debug_info_open_sections(
	const struct dwarf_section *sections, struct pc_range text);

#endif
