#ifndef SONDE_STORE_SELECT_H
#define SONDE_STORE_SELECT_H

/* The statements that read profiles: the same text for ClickHouse 18 and current versions. */

#include "base/str.h"
#include "store/store.h"

/* Which profiles there are, with what they measured and lost: the columns of `commits`. */
void select_commits(const struct store_query *query, struct strbuf *sql);
/*
 * Each stack with weight, once: hash, outer_hash, frames, and arrays of equal length: metrics,
 * weights; with labels also services, hosts, their keys and their values; with times also these.
 * A stack that `stacks` does not have comes with outer_hash 0 and no frames.
 */
void select_stacks(const struct store_query *query, struct strbuf *sql);
/* The outer pieces of deep stacks: (hash, outer_hash, frames). */
void select_outer(const struct store_query *query, struct strbuf *sql);
/* The frames of the services' stacks, in the order of the table's columns. */
void select_frames(const struct store_query *query, struct strbuf *sql);

#endif
