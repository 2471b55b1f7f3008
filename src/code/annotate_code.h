#ifndef SONDE_CODE_ANNOTATE_CODE_H
#define SONDE_CODE_ANNOTATE_CODE_H

/*
 * A function's code on this machine: its instructions, from the load object, and its source.
 * Anything missing becomes a remark, not an error: figures are still shown.
 */

#include "analysis/listing.h"
#include "base/vec.h"
#include "obj/disassemble.h"
#include "obj/source_file.h"

struct annotate_wanted {
	struct source_map map;
	/* Sources and load objects below this folder only; NULL: any.  Borrowed. */
	const struct source_root *root;
	bool without_source, without_instructions;
	enum disassemble_syntax syntax;
};

/* Sentences, in the arena in which they are made. */
struct remarks {
	VEC(const char *) items;
};
void remark(struct remarks *remarks, struct arena *arena, const char *format, ...)
	printf_like(3, 4);

/*
 * The listing of a function with the figures of all metrics in stacks.  Lives in the arena, except
 * the list of remarks, which the caller owns.
 */
must_use struct listing *annotate_listing(const struct profile *profile,
	const struct stack_weights *stacks, function_id function,
	const struct annotate_wanted *wanted, struct arena *arena, struct remarks *remarks);

#endif
