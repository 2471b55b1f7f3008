#ifndef SONDE_OBJ_DWARF_FILE_H
#define SONDE_OBJ_DWARF_FILE_H

/*
 * The DWARF sections of one file: an object, its debug file, a dwz file, a .dwo or a .dwp.
 *
 * dwarf_*.[ch] together read exactly what a profile needs: lines, functions and inlined calls, from
 * DWARF 2 to 5. debug_info.h is the interface; the others are its parts, each for one section of
 * the standard.  Constants (DW_TAG_…) are from elfutils' <dwarf.h>.
 *
 * The bytes are untrusted.  All reading goes through bounded cursors, and all work is charged to
 * one budget in proportion to the size of the sections.  So no input, however often one part refers
 * to another, takes longer than reading it a few times.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/range_table.h"

struct objfile;
struct dwarf_unit;
struct abbrev_table;

enum dwarf_section_id {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ARANGES,
	DWARF_CU_INDEX,
	DWARF_SECTION_COUNT
};

struct dwarf_section {
	const uint8_t *bytes;
	size_t size;
	bool is_loaded; /* it was looked for; size 0: it is missing */
};

/* Addresses of code, [low, high). */
struct pc_range {
	uint64_t low, high;
};

/* Data shared by the files of one object. */
struct dwarf_context {
	struct arena *arena;	 /* borrowed; units and tables live there */
	uint64_t steps_left;	 /* the rest of the budget; a step takes a few nanoseconds */
	struct range_table text; /* the object's code; flattened */
};

void dwarf_context_init(struct dwarf_context *context, struct arena *arena, uint64_t steps);
void dwarf_context_deinit(struct dwarf_context *context);
/* Takes the object's code from its headers, or from those of its debug file (NULL: none). */
void dwarf_context_read_text(
	struct dwarf_context *context, struct objfile *object, struct objfile *debug);
/*
 * Whether code can be at obj_addr.  Descriptions of functions that the linker dropped remain, with
 * addresses like 0, 1 or -1.  In a library, or a program linked at 0, that is where the file's
 * headers are mapped, often in a segment that can be executed.
 */
bool dwarf_is_text(const struct dwarf_context *context, uint64_t obj_addr);

struct dwarf_file {
	struct objfile *object; /* borrowed; NULL: the sections were set by hand */
	const char *name;
	bool is_dwo; /* its sections are named .debug_….dwo */
	struct dwarf_section sections[DWARF_SECTION_COUNT];
	struct dwarf_context *context;	/* borrowed */
	struct dwarf_file *alternate;	/* for references to a dwz file, or NULL */
	VEC(struct dwarf_unit *) units; /* of .debug_info, in order; filled by dwarf_units_read */
	struct map abbrevs;		/* (offset, form sizes) → index into abbrev_tables */
	VEC(struct abbrev_table *) abbrev_tables;
};

/* object may be NULL. */
void dwarf_file_init(struct dwarf_file *f, struct objfile *object, const char *name, bool is_dwo,
	struct dwarf_context *context);
void dwarf_file_deinit(struct dwarf_file *f);

/* A section, read on first use; size 0 if it is missing. */
struct dwarf_section dwarf_file_section(struct dwarf_file *f, enum dwarf_section_id id);
/* A cursor on a section from offset on; bad if the offset is outside the section. */
struct cursor dwarf_file_cursor(struct dwarf_file *f, enum dwarf_section_id id, uint64_t offset);
/* The string at offset of a string section; empty if there is none. */
struct str dwarf_file_string(struct dwarf_file *f, enum dwarf_section_id id, uint64_t offset);

/* Takes n steps from the budget; false: the budget is used up, stop. */
static inline bool dwarf_spend(struct dwarf_file *f, uint64_t n)
{
	struct dwarf_context *context = f->context;

	if (n > context->steps_left) {
		context->steps_left = 0;
		return false;
	}
	context->steps_left -= n;
	return true;
}

#endif
