#ifndef SONDE_CLI_STORE_OPTIONS_H
#define SONDE_CLI_STORE_OPTIONS_H

/*
 * Options of commands that use a store of many machines' profiles: its address, credentials, and
 * which profiles to read.
 */

#include "cli/command.h"
#include "formats/readers.h"
#include "store/store.h"

enum {
	STORE_OPTION_STORE = 600,
	STORE_OPTION_CREDENTIALS,
	STORE_OPTION_CA,
	STORE_OPTION_SERVICE,
	STORE_OPTION_HOST,
	STORE_OPTION_LAST,
	STORE_OPTION_SINCE,
	STORE_OPTION_UNTIL,
};

/* The selection of everything. */
#define STORE_SELECT_ALL "all"

/* Where the store is, and how to get in. */
extern const struct option_row store_place_rows[], store_access_rows[];
/* Whose profiles to read, and of what time. */
extern const struct option_row store_whose_rows[], store_when_rows[];

/* Groups for commands that show profiles as they come, and for those that report. */
#define STORE_LIVE_GROUPS                                                                          \
	{"Many machines", store_place_rows}, {"Many machines", store_whose_rows},                  \
	{                                                                                          \
		"Many machines", store_access_rows                                                 \
	}
#define STORE_QUERY_GROUPS                                                                         \
	{"Many machines", store_place_rows}, {"Many machines", store_whose_rows},                  \
		{"Many machines", store_when_rows},                                                \
	{                                                                                          \
		"Many machines", store_access_rows                                                 \
	}

/* An option as it was typed; borrowed. */
struct store_option_given {
	int id;
	const char *value;
};

struct store_options {
	const char *address; /* NULL: none */
	struct clickhouse_options access;
	struct store_query query;
	bool has_query;			      /* an option chose what to read */
	VEC(struct store_option_given) given; /* in their order */
	struct store *store;		      /* once it was needed */
};

/* Whether id is one of the above. */
bool store_options_has(int id);
void store_options_deinit(struct store_options *o);
/* Sets the option with one of the ids above. */
must_use struct error *store_options_set(struct store_options *o, int id, const char *value);
/* Opens the store, once.  ERROR_USAGE if none was named. */
must_use struct error *store_options_open(struct store_options *o, struct store **store);
/* Prints a note on an exposed secret, and frees it; NULL: there is none. */
void store_options_warn(char *warning);
/* Adds the options as they are typed, each after a blank: " --store DIR --last 1h". */
void store_options_put(const struct store_options *o, struct strbuf *out);
/*
 * With a store, makes it what files are read from: a path is then a selection, such as
 * "since=-2d,until=-1d" or "version=1.4,host=web1", which adds to the options; STORE_SELECT_ALL is
 * all that they choose.  ERROR_USAGE for options without a store.  o must outlive input.
 */
must_use struct error *store_options_read_from(struct store_options *o, struct read_options *input);

#endif
