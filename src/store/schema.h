#ifndef SONDE_STORE_SCHEMA_H
#define SONDE_STORE_SCHEMA_H

/*
 * The tables of a store's database, the same in each shard.
 *
 *	profiles    the weights of one profile (service × host × labels × interval) in one metric:
 *	            arrays of stacks and values, in rows of at most STORE_PAIRS_MAX pairs
 *	commits     one row for each profile that is whole: its host, labels, metrics, statistics
 *	            and notes, and which batch of rows in `profiles` is its own
 *	stacks      the frames of each stack of a service, root first
 *	frames      what is known about each frame: one row for each function at its address, from
 *	            the outermost, where calls were inlined
 *	hours       sums of a service over whole hours, for long ranges
 *	hour_commits  which hours are whole, and of which batches they are sums
 *	schema      the version of these tables
 *
 * A sender writes frames, then stacks, then profiles, and commits last.  Readers see only batches
 * that commits name, so half a profile is never seen, and sending one again changes nothing: equal
 * rows replace each other, and a batch that is no longer named is as good as gone.
 */

#include <limits.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

#define STORE_SCHEMA_VERSION 1
/* ClickHouse 18 merges 8,192 rows at once, which would be gigabytes if rows had no bound. */
#define STORE_PAIRS_MAX 512
/*
 * A deep stack is stored in pieces, each but the last with this many frames: otherwise the stacks
 * of a recursion would take the square of its depth.
 */
#define STORE_FRAMES_MAX 256
#define STORE_HOUR	 3600

/* Which of two forms a server understands. */
enum store_dialect {
	STORE_DIALECT_OLD,     /* ClickHouse 18: no codecs, no TTL */
	STORE_DIALECT_CURRENT, /* ClickHouse 20 and later */
};

/* From the answer to `SELECT version()`: "26.7.2.1\n".  ERROR_INPUT if it is not a version. */
must_use struct error *store_dialect_of(struct str version, enum store_dialect *dialect);

/* How long rows are kept, in days; 0: for ever. */
struct store_retention {
	unsigned profile_days, stack_days, hour_days;
};
/* As it is where there are tables, and the default where there are none. */
#define STORE_KEEP_AS_IS UINT_MAX
#define STORE_RETENTION_AS_IS                                                                      \
	((struct store_retention){STORE_KEEP_AS_IS, STORE_KEEP_AS_IS, STORE_KEEP_AS_IS})
/* With the defaults in place of STORE_KEEP_AS_IS. */
struct store_retention store_retention_settled(const struct store_retention *retention);

/*
 * The statements that make the tables in the database where there are none, in their order, each
 * ended by NUL.  Running them again changes nothing.
 */
void store_schema_statements(
	enum store_dialect dialect, const struct store_retention *retention, struct strbuf *out);

/* The names of the tables that drop their rows after some time, NULL at the end. */
const char *store_schema_timed_table(size_t i);
/*
 * The statement that makes a current server's table keep its rows as long as the retention says.
 * engine: what the server says of the table's, system.tables.engine_full.  False: it does already,
 * or the retention leaves it as it is.
 */
bool store_schema_keep(const char *table, struct str engine,
	const struct store_retention *retention, struct strbuf *out);

#endif
