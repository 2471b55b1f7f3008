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

/* One sentence on what could not be read so far, or NULL; owned by the debug_info. */
const char *debug_info_problem(struct debug_info *info);

/* For tests: the same for sections in memory; bytes and text as in dwarf_file.h. */
struct dwarf_section;
struct pc_range;
struct debug_info *debug_info_open_sections(
	const struct dwarf_section *sections, struct pc_range text);

#endif
