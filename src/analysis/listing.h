#ifndef SONDE_ANALYSIS_LISTING_H
#define SONDE_ANALYSIS_LISTING_H

/*
 * A function's source lines and instructions, as found on this machine, each with its figures from
 * the annotation: the rows of `sonde annotate`.
 */

#include "analysis/annotate.h"
#include "base/arena.h"
#include "base/str.h"

/* A source file. */
struct listing_file {
	struct str recorded;	 /* its path in the profile */
	struct str found;	 /* where it was read; empty: not found */
	const struct str *lines; /* [line_count], line 1 first */
	size_t line_count;	 /* 0: not found */
};

/* A place in source that an instruction belongs to. */
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

/* What was found of the function; everything is borrowed. */
struct listing_code {
	const struct listing_file *files;
	size_t file_count;
	const struct listing_instruction *instructions; /* ascending, disjoint */
	size_t instruction_count;
	bool without_source, without_instructions; /* of the rows; what is found is still used */
};

enum listing_kind {
	LISTING_LINE,	     /* of source */
	LISTING_INLINE,	     /* a place that was inlined at the line above */
	LISTING_INSTRUCTION, /* an address if instructions are not known */
	LISTING_KIND_COUNT
};
/* "line", "inline", "instruction". */
extern const char *const listing_kind_names[LISTING_KIND_COUNT + 1]; /* NULL at the end */

#define NO_FILE UINT32_MAX

struct listing_row {
	enum listing_kind kind;
	uint32_t place;	      /* in the annotation; NO_ID: no stack passes the line */
	uint32_t address;     /* in the annotation; NO_ID: no stack was there */
	uint32_t file;	      /* in the listing's files; NO_FILE: not known */
	uint32_t line;	      /* 0: not known */
	uint32_t instruction; /* NO_ID: not known */
	uint32_t depth;	      /* of LISTING_INLINE: at least 1 */
	uint64_t obj_addr;    /* LISTING_INSTRUCTION */
	struct str function;  /* the function of this place; data NULL: not known */
	struct str file_path; /* as recorded; data NULL: not known */
	struct str text;      /* of the line, or of the instruction; data NULL: not known */
};

struct listing {
	const struct annotation *annotation;
	const struct listing_code *code;
	/*
	 * Source first: in the function's own file all its lines from first to last, in other files
	 * those with figures, with some before and after; each followed by what is inlined there.
	 * Then the instructions by address.
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
 * Selects the rows worth showing: about `limit` each of source and of instructions, the heaviest by
 * their inclusive figures, with their neighbours; all if there are no more.  Fills rows[row_count],
 * ascending; returns how many.
 */
size_t listing_select(const struct listing *listing, size_t limit, uint32_t *rows);

#endif
