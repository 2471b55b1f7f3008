#ifndef SONDE_CODE_CARRIED_CODE_H
#define SONDE_CODE_CARRIED_CODE_H

/*
 * The code of a profile's heaviest functions as text that goes with the profile: sources and
 * instructions as some machine had them, for a place where that machine is not, such as a page.
 */

#include "code/annotate_code.h"

/* ---- writing ---- */

/* A text of code takes at most so much. */
#define CARRIED_CODE_BYTES_MAX ((size_t)16 << 20)

struct carried_counts {
	size_t functions, files; /* carried */
	size_t left_out;	 /* functions that are as heavy, beyond the bound */
};

/*
 * Adds the code of the functions that have 0.1 % of the profile's default metric exclusively, or
 * 1 % in a single place of the call tree, the heaviest first; `wanted` says where it comes from,
 * and which of both.  JSON, which carried_code_read reads.  Without stacks, nothing is found.
 */
void carried_code_put(struct strbuf *out, const struct profile *profile,
	const struct annotate_wanted *wanted, struct carried_counts *counts);

/* ---- reading ---- */

struct carried_code;

/* text: JSON, borrowed by nothing afterwards.  ERROR_INPUT if it is damaged. */
must_use struct error *carried_code_read(const void *text, size_t size, struct carried_code **code);
/* Whether it has sources, and instructions; NULL: neither. */
bool carried_code_has_source(const struct carried_code *code);
bool carried_code_has_instructions(const struct carried_code *code);
/* NULL is allowed. */
void carried_code_destroy(struct carried_code *code);

/*
 * Its data is a struct carried_code, or NULL where none is carried.  A function is found by its
 * name, load object, file and line.
 */
extern const struct code_provider carried_code_provider;

#endif
