#ifndef SONDE_CODE_ANNOTATE_CODE_H
#define SONDE_CODE_ANNOTATE_CODE_H

/*
 * A function's code: its instructions and its source, from where a provider has them.  Anything
 * missing becomes a remark, not an error: figures are still shown.
 */

#include "analysis/listing.h"
#include "base/vec.h"

/* Sentences, in the arena in which they are made. */
struct remarks {
	VEC(const char *) items;
};
void remark(struct remarks *remarks, struct arena *arena, const char *format, ...)
	printf_like(3, 4);

/* A source file as a provider has it; everything lives in the search's arena, or longer. */
struct code_file {
	struct str path;	 /* where it was found; empty: nowhere */
	const struct str *lines; /* [line_count], line 1 first, without their ends */
	size_t line_count;
	uint64_t changed_unix_ns; /* when it was last written; 0: not known */
	const char *problem;	  /* why there are no lines, a sentence; NULL: there are */
};

/* The search for one function's code, for providers. */
struct code_search {
	const struct profile *profile;
	const struct stack_weights *stacks;
	function_id function;
	struct arena *arena;
	struct remarks *remarks;
	VEC(struct listing_instruction) instructions; /* ascending, disjoint */
	VEC(struct listing_file) files;
	size_t missing; /* source files of inlined functions that are not here */
};

/*
 * Where code comes from: this machine (code/machine_code.h), or a page that carries it
 * (code/carried_code.h).
 */
struct code_provider {
	/* Adds the function's instructions, or a remark on why there are none. */
	void (*instructions)(const void *data, struct code_search *search);
	/*
	 * A source file by its path in the profile.  build_id: of the load object that was compiled
	 * from it; empty: unknown.
	 */
	struct code_file (*source)(
		const void *data, struct str path, struct str build_id, struct arena *arena);
};

struct annotate_wanted {
	const struct code_provider *code;
	const void *data; /* the provider's; borrowed */
	bool without_source, without_instructions;
};

/*
 * The listing of a function with the figures of all metrics in stacks.  Lives in the arena, except
 * the list of remarks, which the caller owns.
 */
must_use struct listing *annotate_listing(const struct profile *profile,
	const struct stack_weights *stacks, function_id function,
	const struct annotate_wanted *wanted, struct arena *arena, struct remarks *remarks);

#endif
