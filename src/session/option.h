#ifndef SONDE_SESSION_OPTION_H
#define SONDE_SESSION_OPTION_H

/*
 * Options as rows of tables: what can be set by a name and a text, be it on a command line or in a
 * request.  Help, shell completion, usage errors and requests are made of the rows.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The values of an option that takes one of several: any table whose rows begin with a name
 * (const char *), and which ends with a row without one.  So a registry is the list of its names.
 */
struct choices {
	const void *rows;  /* NULL: there are none */
	size_t step;	   /* from row to row, in bytes */
	bool are_pointers; /* to the rows; the table ends with NULL */
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

/* The i-th name; NULL behind the last one. */
const char *choice_name(struct choices choices, size_t i);
/* Whether text is that choice, or begins with it where that ends with a colon, and goes on. */
bool choice_is(const char *text, const char *choice);
/* The place of text among them; it must be one, as option_check sees to. */
int choice_find(const char *text, struct choices choices);
#define CHOICE_OF(text, table) choice_find(text, (struct choices)CHOICES(table))

/* What completes an option's value, for help and shell completion. */
enum option_value {
	VALUE_NONE, /* a flag */
	VALUE_TEXT,
	VALUE_NUMBER,
	VALUE_FILE,
	VALUE_FILES,  /* one or more: all arguments up to the next option */
	VALUE_CHOICE, /* one of `choices`; text follows those that end with a colon */
	VALUE_READER, /* a format that is read: its name */
	VALUE_WRITER, /* a format that is written: its name */
};

struct option_row {
	int id;		 /* what the set function of its table gets; unique there */
	char short_name; /* 0: none */
	const char *long_name;
	enum option_value value;
	const char *value_name; /* "FILE", "HZ"; NULL for flags */
	struct choices choices; /* VALUE_CHOICE */
	const char *help;	/* one line, ≤ 70 columns */
};

/* A list of tables, so that commands share rows (view options, filters): NULL-terminated. */
struct option_group {
	const char *heading;	       /* in --help: "View options" */
	const struct option_row *rows; /* ends with a row without names */
};

/* Whether a row is one, or the end of its table. */
static inline bool option_row_exists(const struct option_row *row)
{
	return row->long_name || row->short_name;
}

/* Whether the option takes that text: one of its choices, with the nearest where it is none. */
must_use struct error *option_check(const struct option_row *row, const char *value);

#endif
