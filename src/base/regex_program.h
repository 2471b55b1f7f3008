#ifndef SONDE_BASE_REGEX_PROGRAM_H
#define SONDE_BASE_REGEX_PROGRAM_H

/*
 * What a regular expression becomes; for regex*.c alone.  Where a step goes is told relative to
 * itself, so that a part of a program can be moved and copied as it is.
 */

#include "base/regex.h"
#include "base/vec.h"

enum regex_op {
	REGEX_SET,	   /* a character of ranges[a .. a + b) */
	REGEX_SPLIT,	   /* to a and to b */
	REGEX_JUMP,	   /* to a */
	REGEX_BEGIN,	   /* at the beginning of the text */
	REGEX_END,	   /* at its end */
	REGEX_BOUNDARY,	   /* between a character of a word and one of none */
	REGEX_NO_BOUNDARY, /* the contrary */
	REGEX_MATCH,
};

struct regex_step {
	enum regex_op op;
	int32_t a, b;
};

struct regex_range {
	int32_t low, high; /* characters, both of them in it */
};

struct regex {
	VEC(struct regex_step) steps;
	VEC(struct regex_range) ranges;
};

/* Fills an empty regex, whose vectors are to be freed even where it fails; errors as
 * regex_create's. */
must_use struct error *regex_parse(struct regex *regex, struct str pattern);

#endif
