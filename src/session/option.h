#ifndef SONDE_SESSION_OPTION_H
#define SONDE_SESSION_OPTION_H

/*
 * Options as table rows: settings with a name and a text, on a command line or in a request.  Help,
 * shell completion, usage errors and requests are generated from the rows.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The choices of an option: any table whose rows begin with a name (const char *), and which ends
 * with a row without one.  So a registry is also the list of its names.
 */
struct choices {
	const void *rows;  /* NULL: none */
	size_t step;	   /* size of a row in bytes */
	bool are_pointers; /* the table has pointers to rows, and ends with NULL */
};
/* An array of names, of structs that begin with one, or of pointers to such structs. */
#define CHOICES(table)                                                                             \
	{                                                                                          \
		(table), sizeof((table)[0]), false                                                 \
	}
#define CHOICES_POINTERS(table)                                                                    \
	{                                                                                          \
		(table), sizeof((table)[0]), true                                                  \
	}

/* The i-th name; NULL after the last one. */
const char *choice_name(struct choices choices, size_t i);
/*
 * Whether text is that choice, or, for a choice that ends with a colon, begins with it and
 * continues.
 */
bool choice_is(const char *text, const char *choice);
/*
 * The choice that a text means (base/abbreviation.h).  NULL: none, or several (*several).  A choice
 * that ends with a colon is named exactly.
 */
const char *choice_named(struct choices choices, const char *text, bool *several);
/* The index of text among the choices; it must be one of them, as option_check ensures. */
int choice_find(const char *text, struct choices choices);
#define CHOICE_OF(text, table) choice_find(text, (struct choices)CHOICES(table))

/* The type of an option's value, for help and shell completion. */
enum option_value {
	VALUE_NONE, /* a flag */
	VALUE_TEXT,
	VALUE_NUMBER,
	VALUE_FILE,
	VALUE_FILES,  /* one or more: all arguments up to the next option */
	VALUE_CHOICE, /* one of `choices`; text follows a choice that ends with a colon */
	VALUE_READER, /* a format that is read: its name */
	VALUE_WRITER, /* a format that is written: its name */
};

struct option_row {
	int id;		 /* passed to the set function of its table; unique there */
	char short_name; /* 0: none */
	const char *long_name;
	enum option_value value;
	const char *value_name; /* "FILE", "HZ"; NULL for flags */
	struct choices choices; /* VALUE_CHOICE */
	const char *help;	/* one line, ≤ 70 columns */
};

/* A list of tables, so that commands can share rows (view options, filters): NULL-terminated. */
struct option_group {
	/* In --help: "View options".  Neighbours with the same heading print as one group. */
	const char *heading;
	const struct option_row *rows; /* ends with a row without names */
};

/* False for the end of a table. */
static inline bool option_row_exists(const struct option_row *row)
{
	return row->long_name || row->short_name;
}

/* Whether a table has the option with that id. */
bool option_is_of(const struct option_row *rows, int id);
/*
 * Checks that the option accepts the text as one of its choices (choice_named), and makes *value
 * that choice; the error suggests the nearest, or lists those that the text could mean.
 */
must_use struct error *option_check(const struct option_row *row, const char **value);

#endif
