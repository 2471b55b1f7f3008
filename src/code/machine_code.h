#ifndef SONDE_CODE_MACHINE_CODE_H
#define SONDE_CODE_MACHINE_CODE_H

/* Code on this machine: instructions from load objects, and source files. */

#include "code/annotate_code.h"
#include "obj/disassemble.h"
#include "obj/source_file.h"

struct build_source;

/* The data of machine_code_provider. */
struct machine_code {
	struct source_map map;
	/* Sources and load objects below this folder only; NULL: any.  Borrowed. */
	const struct source_root *root;
	/*
	 * Asked for source files that this machine lacks, or the root does; NULL: only this
	 * machine's are used.  Borrowed.
	 */
	struct build_source *source;
	enum disassemble_syntax syntax;
};

extern const struct code_provider machine_code_provider;

/* A source file of the profile; build_id: of what was compiled from it. */
struct code_file machine_code_source(const struct machine_code *machine, struct str path,
	struct str build_id, struct arena *arena);

#endif
