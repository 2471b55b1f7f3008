#ifndef SONDE_ANALYSIS_LISTING_H
#define SONDE_ANALYSIS_LISTING_H

/*
 * A function's source lines and instructions, as found on this machine, each with what the
 * annotation says of it: the rows of `sonde annotate`.
 */

#include "analysis/annotate.h"
#include "base/arena.h"
#include "base/str.h"

/* A source file. */
struct listing_file {
	struct str recorded;	 /* its path in the profile */
	struct str found;	 /* where it was read; empty: nowhere */
	const struct str *lines; /* [line_count], line 1 first */
	size_t line_count;	 /* 0: not found */
};

/* A place in source that an instruction stands for. */
struct listing_frame {
	struct str function; /* empty: not known */
	struct str file;     /* as recorded; empty: not known */
	uint32_t line;	     /* 0: not known */
};

struct listing_instruction {
	struct annotate_code code;
	struct str text;
	const struct listing_frame *frames; /* innermost first; the last is the function's own */
	uint32_t frame_count;		    /* 0: not known */
};

/* What was found of the function; all is borrowed. */
struct listing_code {
	const struct listing_file *files;
	size_t file_count;
	const struct listing_instruction *instructions; /* ascending, disjoint */
	size_t instruction_count;
	bool without_source, without_instructions; /* of the rows; what is found is used still */
};

enum listing_kind {
	LISTING_LINE,	     /* of source */
	LISTING_INLINE,	     /* a place that was inlined at the line above */
	LISTING_INSTRUCTION, /* where instructions are not known, an address */
	LISTING_KIND_COUNT
};
/* "line", "inline", "instruction". */
extern const char *const listing_kind_names[LISTING_KIND_COUNT + 1]; /* NULL at the end */

#define NO_FILE UINT32_MAX

struct listing_row {
	enum listing_kind kind;
	uint32_t place;	      /* of the annotation; NO_ID: no stack passes the line */
	uint32_t address;     /* of the annotation; NO_ID: no stack was there */
	uint32_t file;	      /* of the listing's files; NO_FILE: not known */
	uint32_t line;	      /* 0: not known */
	uint32_t instruction; /* NO_ID: not known */
	uint32_t depth;	      /* of LISTING_INLINE: 1 and more */
	uint64_t obj_addr;    /* LISTING_INSTRUCTION */
	struct str function;  /* the one whose place this is; data NULL: not known */
	struct str file_path; /* as recorded; data NULL: not known */
	struct str text;      /* of the line, or of the instruction; data NULL: not known */
};

struct listing {
	const struct annotation *annotation;
	const struct listing_code *code;
	/*
	 * Source first: of the function's own file all lines from its first to its last, of others
	 * those that have figures, with some before and after; each followed by what is inlined
	 * there.  Then the instructions by address.
	 */
	const struct listing_row *rows;
	size_t row_count;
	size_t source_count; /* rows before the first instruction */
};

/* Joins what was measured with what was found.  Lives in the arena. */
must_use struct listing *listing_create(const struct profile *profile,
	const struct annotation *annotation, const struct listing_code *code, struct arena *arena);

/* A row's figures by an annotation: the listing's own or one of its others. */
struct annotate_figures listing_figures(
	const struct listing_row *row, const struct annotation *annotation);

/*
 * The rows that deserve to be shown: of source and of instructions each about `limit`, the heaviest
 * by their inclusive figures, with their neighbours; all where there are no more.  rows[row_count]
 * is filled, ascending; returns how many.
 */
size_t listing_select(const struct listing *listing, size_t limit, uint32_t *rows);

#endif
