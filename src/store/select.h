#ifndef SONDE_STORE_SELECT_H
#define SONDE_STORE_SELECT_H

/* The statements that read profiles: the same text for ClickHouse 18 and current versions. */

#include "base/map.h"
#include "base/str.h"
#include "store/fit.h"
#include "store/store.h"

/* A whole hour of a service, and which of its sums counts. */
struct select_hour {
	struct str service;
	uint64_t hour;	/* hours since 1970 */
	uint64_t built; /* when it was summed, in ns since 1970; newer sums replace older ones */
};

struct select_hours {
	VEC(struct select_hour) list;
};

/*
 * All functions append a statement to sql.  Answers are in RowBinary, with these columns.
 */

/* fit: only profiles that it has chosen; NULL: all. */

/* Which profiles there are, with what they measured and lost: the columns of `commits`. */
void select_commits(const struct store_query *query, const struct fit *fit, struct strbuf *sql);
/*
 * Each host that has profiles in the query's range, or up to before_s seconds earlier: its name;
 * when its latest interval begins (32 bits) and ends, in s since 1970; and a number that changes
 * whenever its profiles in the range do.
 */
void select_glance(const struct store_query *query, uint64_t before_s, struct strbuf *sql);
/* Whether the query keeps a stack's weights apart, by service, labels or time. */
bool select_has_lists(const struct store_query *query);
/*
 * Each stack with weight: hash, outer_hash, frames, and a weight for each metric, one at least.  If
 * the query keeps weights apart, they are arrays of equal length, and more such arrays follow:
 * services, for by_service or by_label; hosts, keys and values, for by_label; times, for by_time.
 * A stack that was sent twice may come twice, each time with all of its weight.  A stack that the
 * table `stacks` lacks comes with outer_hash 0 and no frames.  Hash 0 is the sum of the stacks
 * without any of query->names.  For the hours in `hours`, sums are read instead of profiles.
 */
void select_stacks(const struct store_query *query, const struct fit *fit,
	const struct str_table *metrics, const struct select_hours *hours, struct strbuf *sql);
/* The summed hours in the query's range: service, hour (as above), built, batches, batch_sum. */
void select_hour_commits(const struct store_query *query, struct strbuf *sql);
/* Whether sums of hours can answer the query: they have neither hosts, labels nor finer times. */
bool select_can_use_hours(const struct store_query *query);

/*
 * What each service and host has in the range: service, host; the first and the last time, and when
 * the last came (32 bits each); profiles, weights; then for each of lost, truncated and unresolved
 * samples, how many recordings know the figure, and their sum.
 */
void select_status(const struct store_query *range, struct strbuf *sql);
/*
 * Losses by the notes of recordings in the range: host, service (empty: several), kind, the text
 * with the largest count, count, recordings, and the time of the latest (32 bits).
 */
void select_losses(const struct store_query *range, struct strbuf *sql);

/* The hours that could be summed: the columns of select_hour_commits, without built. */
void select_hours_due(uint64_t since_s, uint64_t until_s, struct strbuf *sql);
/* How many committed batches of an hour still have rows. */
void select_batches_left(const struct select_hour *hour, struct strbuf *sql);
/* Sums an hour of a service into the table `hours`.  No answer. */
void select_sum_hour(const struct select_hour *hour, struct strbuf *sql);
/* The outer pieces of deep stacks: hash, outer_hash, frames. */
void select_outer(const struct store_query *query, struct strbuf *sql);
/* The frames of the services' stacks, in the order of the table's columns. */
void select_frames(const struct store_query *query, struct strbuf *sql);

#endif
