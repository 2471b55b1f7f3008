#ifndef SONDE_STORE_STORE_H
#define SONDE_STORE_STORE_H

/*
 * Profiles of many machines in one place: a folder of recordings, or ClickHouse servers, each a
 * shard with the profiles of some hosts.
 *
 *	err = store_open("clickhouse://db1,db2", &options, &store);
 *	err = store_send(store, profile, &rows_options, &sent);
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

/* Makes no request.  ERROR_USAGE if the address is invalid (store/address.h). */
must_use struct error *store_open(
	const char *address, const struct clickhouse_options *options, struct store **store);
/* NULL is allowed. */
void store_close(struct store *store);
/* That the password would travel unencrypted to another machine; NULL: it would not.  Free it. */
char *store_warning(const struct store *store);
/* As it was given. */
const char *store_address_text(const struct store *store);
/* Where the profiles of a host go: the name of its shard, or the folder. */
const char *store_place_of(const struct store *store, struct str host);

/* ---- sending ---- */

struct store_sent {
	VEC(uint64_t) hashes; /* of frames and stacks that it has now, for known_add */
	uint64_t profiles, pairs, stacks, frames;
	uint64_t bytes;	 /* on the wire, or in the folder */
	char *where;	 /* the shard, or the file; the caller frees it */
	bool is_refused; /* with an error: another try will not help */
	/* What the store has no place for, as in struct store_rows. */
	bool left_threads, left_ticks, left_calls;
	struct strbuf left_labels;
};

/* Adds the profile to the store.  Free *sent with store_sent_deinit, also on failure. */
must_use struct error *store_send(struct store *store, const struct profile *profile,
	const struct store_rows_options *options, struct store_sent *sent);
void store_sent_deinit(struct store_sent *sent);

/* ---- reading ---- */

/* Which profiles; empty lists: all. */
struct store_query {
	VEC(struct str) services, hosts; /* exact names */
	VEC(struct store_label) labels;	 /* all of them */
	uint64_t since_s, until_s; /* intervals that begin in since ≤ t < until; until 0: no end */
	/*
	 * Only stacks are of interest that have a function, module or source file whose name has
	 * one of these in it, in any case; the weights of others may come at the empty stack.
	 */
	VEC(struct str) names;
	bool by_label;	 /* keep labels, with the service and the host, as samples */
	bool by_service; /* the service alone, which costs hardly more than none */
	bool by_time;	 /* keep the times of intervals, as samples */
};

void store_query_deinit(struct store_query *query);

/*
 * The sum of the profiles, as one.  A shard that does not answer is named in a note of the kind
 * NOTE_LOST; ERROR_INPUT if none answers, or nothing is found.
 */
must_use struct error *store_fetch(
	struct store *store, const struct store_query *query, struct profile **profile);

/* A host that has sent something. */
struct store_glance_host {
	char *name;
	uint64_t last_s, end_s; /* when its latest interval begins and ends, since 1970 */
};

/* What a query would find, without its weights: for those who ask again and again. */
struct store_glance {
	/* It changes as soon as store_fetch may return another profile. */
	uint64_t mark;
	VEC(struct store_glance_host) hosts;
	VEC(char *) silent; /* what is known of each shard that does not answer */
};

/* Servers list hosts that sent something so long before the query's range, too. */
#define STORE_GLANCE_BEFORE_S 3600

/*
 * Looks at what there is.  A folder whose mark is still `known` is not read, and lists no hosts.
 * ERROR_INPUT if no shard answers.  *glance: free it with store_glance_deinit, always.
 */
must_use struct error *store_glance(struct store *store, const struct store_query *query,
	uint64_t known, struct store_glance *glance);
void store_glance_deinit(struct store_glance *glance);

/* ---- keeping it ---- */

struct store_made {
	size_t shards; /* that had no tables before, or the folder */
	size_t tables; /* that were there, and keep their rows for another time now */
	size_t manual; /* shards, or the folder, that drop nothing without store_retain */
};

/*
 * Makes the tables of each shard, or the folder.  Where they exist, changes how long they keep
 * their rows, unless that is STORE_KEEP_AS_IS, which is the default for new ones.
 */
must_use struct error *store_init(
	struct store *store, const struct store_retention *retention, struct store_made *made);

/* What a shard has of a service of a host. */
struct store_status_row {
	char *shard, *service, *host;
	uint64_t first_s, last_s, received_s;
	uint64_t profiles, pairs;
	/*
	 * Samples that were lost, whose stack is truncated, and whose function is not known, of
	 * recordings that know it: those of one service.  UINT64_MAX: none does.
	 */
	uint64_t lost, truncated, unresolved;
};

/* What recordings of a host lost, or could not find out, by what their notes say. */
struct store_loss_row {
	char *shard, *host;
	char *service; /* empty: recordings of several services at once */
	char *kind;    /* as in note_kind_names; no guesses and remarks */
	/* The latest; others of the same row have other numbers in it, or other load objects. */
	char *text;
	uint64_t count, recordings; /* count: of all notes of the row */
	uint64_t last_s;
};

/* What a shard's tables take. */
struct store_table_row {
	char *shard, *table;
	uint64_t rows, bytes;
};

struct store_status {
	VEC(struct store_status_row) rows; /* by service, host and shard */
	VEC(struct store_loss_row) losses; /* by host, service and kind */
	VEC(struct store_table_row) tables;
	VEC(struct error *) errors; /* of shards that did not answer */
};

/* Of intervals that begin in since ≤ t < until; 0: no limit. */
must_use struct error *store_status(
	struct store *store, uint64_t since_s, uint64_t until_s, struct store_status *status);
void store_status_deinit(struct store_status *status);

/*
 * Removes whole days and months that are older; for servers without a time to live, and folders.
 * *dropped: number of partitions or files.
 */
must_use struct error *store_retain(struct store *store, const struct store_retention *retention,
	uint64_t now_s, size_t *dropped);

/*
 * Sums the whole hours of since ≤ t < until that are not summed yet, or to which something came
 * later.  *hours: how many, of all services; *kept: those with something late whose profiles are no
 * longer there, so that they stay as they were.  A folder has nothing to sum.
 */
must_use struct error *store_roll_up(
	struct store *store, uint64_t since_s, uint64_t until_s, size_t *hours, size_t *kept);

#endif
