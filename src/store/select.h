#ifndef SONDE_STORE_SELECT_H
#define SONDE_STORE_SELECT_H

/* The statements that read profiles: the same text for ClickHouse 18 and current versions. */

#include "base/map.h"
#include "base/str.h"
#include "store/store.h"

/* A whole hour of a service, and the sums of it that were made at that time. */
struct select_hour {
	struct str service;
	uint64_t hour;	/* its number since 1970 */
	uint64_t built; /* when, in ns; newer ones replace older ones */
};

struct select_hours {
	VEC(struct select_hour) list;
};

/* Which profiles there are, with what they measured and lost: the columns of `commits`. */
void select_commits(const struct store_query *query, struct strbuf *sql);
/*
 * Each host that has profiles in the query's range or up to before_s earlier: its name; when its
 * latest interval begins (32 bits) and ends; and a number that changes whenever its profiles in the
 * range do.
 */
void select_glance(const struct store_query *query, uint64_t before_s, struct strbuf *sql);
/* Whether the query keeps apart what a stack's weights are of. */
bool select_has_lists(const struct store_query *query);
/*
 * Each stack with weight: hash, outer_hash, frames, and a weight for each metric; there is at least
 * one.  Where the query keeps something apart, weights are arrays of equal length, and more arrays
 * follow: services, if it keeps services or labels; hosts, keys and values, if it keeps labels;
 * times, if it keeps times.  A stack that was sent twice may come twice, each time with all of its
 * weight.  A stack that `stacks` lacks comes with outer_hash 0 and no frames.  Hash 0 is the sum of
 * the stacks without query->names.  `hours` are read as sums.
 */
void select_stacks(const struct store_query *query, const struct str_table *metrics,
	const struct select_hours *hours, struct strbuf *sql);
/* The hours of the query that are summed: service, hour (its number), built, batches, batch_sum. */
void select_hour_commits(const struct store_query *query, struct strbuf *sql);
/* Whether sums of hours can answer the query: they have no hosts, labels or finer times. */
bool select_can_use_hours(const struct store_query *query);

/*
 * What there is of each service and host in the range: first and last time, when the last came
 * (32 bits each); profiles, weights; then for samples lost, truncated and unresolved, how many
 * recordings know it, and their sum.
 */
void select_status(const struct store_query *range, struct strbuf *sql);
/*
 * What notes of recordings in the range say of losses: host, service (empty: of several), kind,
 * the latest text, count, recordings, and when the last was (32 bits).
 */
void select_losses(const struct store_query *range, struct strbuf *sql);

/* What is to be summed into `hours`, and which batches these are: columns as above, but built. */
void select_hours_due(uint64_t since_s, uint64_t until_s, struct strbuf *sql);
/* How many batches of an hour have rows. */
void select_batches_left(const struct select_hour *hour, struct strbuf *sql);
/* Sums an hour of a service into `hours`. */
void select_sum_hour(const struct select_hour *hour, struct strbuf *sql);
/* The outer pieces of deep stacks: (hash, outer_hash, frames). */
void select_outer(const struct store_query *query, struct strbuf *sql);
/* The frames of the services' stacks, in the order of the table's columns. */
void select_frames(const struct store_query *query, struct strbuf *sql);

#endif
