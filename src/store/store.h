#ifndef SONDE_STORE_STORE_H
#define SONDE_STORE_STORE_H

/*
 * Profiles of many machines in one place: a folder of recordings, or ClickHouse servers, each a
 * shard with the profiles of some hosts.
 *
 *	err = store_open("clickhouse://db1,db2", &options, &store);
 *	err = store_send(store, profile, &rows, &sent);
 *	err = store_fetch(store, &query, &profile);
 *	store_close(store);
 *
 * A fetched profile is the sum of all that match the query, exact to the integer.  Sending the same
 * profile again changes nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "model/profile.h"
#include "store/clickhouse.h"
#include "store/rows.h"
#include "store/schema.h"

struct store;

/* Makes no request.  ERROR_USAGE: the address is invalid; other errors as in clickhouse_open. */
must_use struct error *store_open(
	const char *address, const struct clickhouse_options *options, struct store **store);
/* NULL is allowed. */
void store_close(struct store *store);
/* A warning that the password travels unencrypted to another machine; NULL: none.  Free it. */
char *store_warning(const struct store *store);
/* Whether it is a folder of recordings, which has no shards and tables. */
bool store_is_folder(const struct store *store);
/* The address as it was given; owned by the store. */
const char *store_address_text(const struct store *store);
/* Where a host's profiles go: the name of its shard, or the folder; owned by the store. */
const char *store_place_of(const struct store *store, struct str host);

/* ---- sending ---- */

struct store_sent {
	VEC(uint64_t) hashes; /* of the frames and stacks that were sent, for known_add */
	uint64_t profiles, pairs, stacks, frames;
	uint64_t bytes;	 /* on the wire, or in the folder */
	char *where;	 /* the shard, or the file; NULL: it got to neither */
	bool is_refused; /* with an error: another try will not help */
	/* What the profile has and the store does not keep, as in struct store_rows. */
	bool left_threads, left_ticks, left_calls;
	struct strbuf left_labels;
};

/*
 * When the tables of a host's shard were made, in s since 1970; 0: by a sonde that did not note it.
 * False: not known, as the user may not read the table schema, no server answers, or it is a
 * folder.
 */
bool store_birth(struct store *store, struct str host, uint32_t *birth_s);

/*
 * Adds the profile to the store.  Pass *sent to store_sent_deinit, even after a failure.
 * ERROR_UNSUPPORTED: the store cannot hold such a profile; ERROR_SYSTEM: the folder cannot be
 * written; ERROR_INPUT: the shard refuses, or did not answer after several tries.
 */
must_use struct error *store_send(struct store *store, const struct profile *profile,
	const struct store_rows_options *options, struct store_sent *sent);
void store_sent_deinit(struct store_sent *sent);

/* ---- reading ---- */

/* Which profiles to read.  Strings are borrowed; an empty list allows all. */
struct store_query {
	VEC(struct str) services, hosts; /* exact names */
	VEC(struct store_label) labels;	 /* a profile must have all of them */
	/* Without these; a profile that lacks the label is not excluded. */
	VEC(struct str) not_services, not_hosts;
	VEC(struct store_label) not_labels;
	uint64_t since_s, until_s; /* intervals that begin in since ≤ t < until; until 0: no end */
	/*
	 * Only stacks matter that have a function, module or source file with one of these texts in
	 * its name, in upper or lower case.  The weights of others may come at the empty stack.
	 */
	VEC(struct str) names;
	const char *source; /* where the sum is from, for readers; NULL: the store's address */
	/* What to keep of each weight, which then becomes a sample. */
	bool by_label;	 /* the labels, with the service and the host */
	bool by_service; /* the service alone, which costs hardly more than nothing */
	bool by_time;	 /* the time of the interval */
};

void store_query_deinit(struct store_query *query);

/*
 * The sum of the profiles, as one; free it with profile_destroy.  A shard that does not answer is
 * named in a note of the kind NOTE_LOST.  ERROR_INPUT: no shard answers, one refuses, or nothing is
 * found; ERROR_UNSUPPORTED: the profiles were recorded with different WHEN patterns; ERROR_SYSTEM:
 * the folder cannot be read.
 */
must_use struct error *store_fetch(
	struct store *store, const struct store_query *query, struct profile **profile);

/* A host that has sent something. */
struct store_glance_host {
	char *name;
	uint64_t last_s, end_s; /* when its latest interval begins and ends, in s since 1970 */
};

/* What a query would find, without weights: cheap enough to ask for every few seconds. */
struct store_glance {
	/* It changes as soon as store_fetch may return another profile. */
	uint64_t mark;
	VEC(struct store_glance_host) hosts;
	VEC(char *) silent; /* for each shard that does not answer, its name and why */
};

/* Servers also list hosts that sent something up to so many seconds before the query's range. */
#define STORE_GLANCE_BEFORE_S 3600

/*
 * Looks at what there is.  known: the mark of the last glance; a folder that still has it is not
 * read, and lists no hosts.  ERROR_INPUT: no shard answers, or one refuses.  Pass *glance to
 * store_glance_deinit, even after a failure.
 */
must_use struct error *store_glance(struct store *store, const struct store_query *query,
	uint64_t known, struct store_glance *glance);
void store_glance_deinit(struct store_glance *glance);

/* ---- keeping it ---- */

struct store_made {
	size_t shards; /* new ones: their tables, or the folder, did not exist */
	size_t tables; /* existing ones that now keep their rows for a different time */
	size_t manual; /* shards, or the folder, that drop nothing without store_retain */
};

/*
 * Creates the tables in each shard, or the folder.  If a current server has tables already, changes
 * only how long they keep their rows.  STORE_KEEP_AS_IS leaves those as they are, and gives new
 * ones the default.  ERROR_INPUT: a shard does not answer or refuses; ERROR_UNSUPPORTED: a newer
 * sonde made its tables.
 */
must_use struct error *store_init(
	struct store *store, const struct store_retention *retention, struct store_made *made);

/* What a shard has of one service of one host.  Times are in s since 1970. */
struct store_status_row {
	char *shard, *service, *host;
	uint64_t first_s, last_s, received_s; /* a folder does not know received_s: it is last_s */
	uint64_t profiles, pairs;
	/*
	 * Samples that were lost, have a truncated stack, or have an unknown function.  Only
	 * recordings of a single service know these figures; UINT64_MAX: there is none.
	 */
	uint64_t lost, truncated, unresolved;
};

/* What recordings of a host lost, or could not find out, according to their notes. */
struct store_loss_row {
	char *shard, *host;
	char *service; /* empty: recordings of several services at once */
	char *kind;    /* as in note_kind_names, without "guessed" and "info" */
	/*
	 * The one with the largest count, or the latest of these.  Others of the row differ in
	 * numbers, in singular and plural, or in load objects.
	 */
	char *text;
	uint64_t count, recordings; /* count: the sum of the notes' counts */
	uint64_t last_s;	    /* when the latest was recorded, since 1970 */
};

/* The size of a table in a shard; of a folder, "recordings", with a row for each. */
struct store_table_row {
	char *shard, *table;
	uint64_t rows, bytes;
};

struct store_status {
	VEC(struct store_status_row) rows; /* sorted by service, host and shard */
	VEC(struct store_loss_row) losses; /* sorted by host, service and kind, the largest first */
	VEC(struct store_table_row) tables;
	VEC(struct error *) errors; /* of silent shards and unreadable recordings */
};

/*
 * The status of intervals that begin in since ≤ t < until, in s since 1970; 0: no limit.  Pass
 * *status to store_status_deinit, even after a failure.  ERROR_SYSTEM: the folder cannot be read.
 */
must_use struct error *store_status(
	struct store *store, uint64_t since_s, uint64_t until_s, struct store_status *status);
void store_status_deinit(struct store_status *status);

/*
 * Drops what is older than the retention: for servers without a time to live, and for folders.
 * From servers, whole days of profiles and whole months of everything else; from a folder,
 * recordings whose files are older than profile_days.  now_s: since 1970.  *dropped: the number of
 * partitions or files.
 */
must_use struct error *store_retain(struct store *store, const struct store_retention *retention,
	uint64_t now_s, size_t *dropped);

/*
 * Sums the whole hours of since ≤ t < until, in s since 1970, that are not summed yet, or got more
 * profiles after they were.  *hours: how many it summed, of all services and shards; *kept: how
 * many got more profiles, but stay as they were because others have been dropped.  In a folder,
 * does nothing.
 */
must_use struct error *store_roll_up(
	struct store *store, uint64_t since_s, uint64_t until_s, size_t *hours, size_t *kept);

#endif
