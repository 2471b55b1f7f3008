#ifndef SONDE_OBJ_DISASSEMBLE_H
#define SONDE_OBJ_DISASSEMBLE_H

/*
 * Machine code as text, one instruction at a time, for x86-64 and aarch64, with capstone if the
 * build has it.  Calls and jumps show the name of their target.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct objfile;
struct symtab;

enum disassemble_syntax { SYNTAX_ATT, SYNTAX_INTEL, SYNTAX_COUNT };
/* "att", "intel". */
extern const char *const disassemble_syntax_names[SYNTAX_COUNT + 1]; /* NULL at the end */

struct instruction {
	uint64_t obj_addr;
	uint32_t size;	 /* in bytes, at least 1 */
	struct str text; /* "mov    %rax,%rdi"; "(bad)" for invalid bytes; never empty */
};

/* Code, [low, high) in obj_addrs. */
struct code_range {
	uint64_t low, high;
};

/* Functions larger than this are left out, and this is reported. */
#define DISASSEMBLE_BYTES_MAX ((uint64_t)4 << 20)

/*
 * The instructions of a range; *instructions and texts live in the arena.  Code that is not in the
 * file is left out at the end.  names: of file, for targets.  ERROR_UNSUPPORTED if this build has
 * no disassembler, or none for the file's machine, or the range is beyond DISASSEMBLE_BYTES_MAX.
 */
must_use struct error *disassemble(struct objfile *file, const struct symtab *names,
	struct code_range range, enum disassemble_syntax syntax, struct arena *arena,
	const struct instruction **instructions, size_t *count);

/*
 * Finds the ranges of the functions that contain addrs[count] (ascending): by their symbols, else
 * by the starts of functions.  Fills ranges[count], ascending and disjoint; returns how many.
 * Addresses outside known functions have no range.
 */
size_t code_ranges_find(struct objfile *file, const struct symtab *names, const uint64_t *addrs,
	size_t count, struct code_range *ranges);

#endif
