#ifndef SONDE_OBJ_DWARF_SPLIT_H
#define SONDE_OBJ_DWARF_SPLIT_H

/*
 * Split DWARF (DWARF 5 sections 3.1.2, 3.1.3 and 7.3): the linked file has only skeleton units; the
 * contents are in one .dwo file each, or all in one .dwp next to the program.  GNU's form for DWARF
 * 4 is also supported.
 */

#include "obj/dwarf_file.h"

struct dwarf_unit;
struct objfile;

struct dwarf_splits {
	struct dwarf_context *context;
	struct str object_path; /* borrowed; of the program */
	struct str debug_path;	/* borrowed; of its debug file, may be empty */
	bool package_is_looked_for;
	struct objfile *package; /* the .dwp */
	struct dwarf_file *package_file;
	struct objfile *dwo; /* the one open now */
	struct dwarf_file *dwo_file;
	size_t missing; /* units whose contents were not found */
};

void dwarf_splits_deinit(struct dwarf_splits *s);
/*
 * The unit with a skeleton's contents, or NULL; valid until the next call, because only one .dwo is
 * open at a time: programs have thousands.
 */
struct dwarf_unit *dwarf_split_open(struct dwarf_splits *s, struct dwarf_unit *skeleton);

#endif
