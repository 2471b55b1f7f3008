#ifndef SONDE_STORE_SCHEMA_H
#define SONDE_STORE_SCHEMA_H

/*
 * The tables of a store's database, the same in each shard.
 *
 *	profiles    the weights of one profile (service × host × labels × interval) in one metric:
 *	            arrays of stacks and values, in rows of at most STORE_PAIRS_MAX pairs
 *	commits     one row for each complete profile: its host, labels, metrics, statistics and
 *	            notes, and which batch of rows in `profiles` belongs to it
 *	stacks      the frames of each stack of a service, root first
 *	frames      what is known about each frame: one row for each function at its address,
 *	            outermost first, where calls were inlined
 *	hours       sums of a service over whole hours, for long ranges
 *	hour_commits  which hours are complete, and from which batches they were summed
 *	schema      the version of these tables
 *
 * A sender writes frames, then stacks, then profiles, and commits last.  Readers ignore batches
 * that no commit names, so they never see half a profile.  Sending one again changes nothing: equal
 * rows replace each other, and a batch that no commit names any more is as good as gone.
 */

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define STORE_SCHEMA_VERSION 1
/* The most weights in one row.  ClickHouse 18 merges 8,192 rows at once, so they must be small. */
#define STORE_PAIRS_MAX 512
/*
 * A deep stack is stored in pieces, and all but the innermost have this many frames.  Otherwise,
 * the stacks of a recursion would take space in proportion to the square of its depth.
 */
#define STORE_FRAMES_MAX 256
#define STORE_HOUR	 3600 /* s */

/* The two forms of SQL that servers understand. */
enum store_dialect {
	STORE_DIALECT_OLD,     /* ClickHouse 18: no codecs, no TTL */
	STORE_DIALECT_CURRENT, /* ClickHouse 20 and later */
};

/* From the answer to `SELECT version()`, "26.7.2.1\n".  ERROR_INPUT if that is not a version. */
must_use struct error *store_dialect_of(struct str version, enum store_dialect *dialect);

/* How long rows are kept, in days; 0: forever. */
struct store_retention {
	unsigned profile_days, stack_days, hour_days;
};
/* Existing tables stay as they are; new ones get the default. */
#define STORE_KEEP_AS_IS UINT_MAX
#define STORE_RETENTION_AS_IS                                                                      \
	((struct store_retention){STORE_KEEP_AS_IS, STORE_KEEP_AS_IS, STORE_KEEP_AS_IS})
/* The same, with defaults (14, 90 and 400 days) in place of STORE_KEEP_AS_IS. */
struct store_retention store_retention_settled(const struct store_retention *retention);

/*
 * Appends the statements that create the tables that do not exist, in order, each with a NUL at its
 * end.  Running them again changes nothing.
 */
void store_schema_statements(
	enum store_dialect dialect, const struct store_retention *retention, struct strbuf *out);

/* The name of the i-th table that drops its rows after some time; NULL: there are no more. */
const char *store_schema_timed_table(size_t i);
/*
 * Appends the statement that makes a current server's table keep its rows as long as the retention
 * says.  engine: the table's engine_full in system.tables.  False, with nothing appended: it does
 * so already, or the retention leaves it as it is.
 */
bool store_schema_keep(const char *table, struct str engine,
	const struct store_retention *retention, struct strbuf *out);
/* The days that a table of stacks keeps its rows, by its engine_full; 0: forever. */
unsigned store_schema_stack_days(struct str engine);

/* Gives a table of frames, made before they had one, the time by which they are dropped. */
extern const char store_schema_frame_time[];
/*
 * Appends BEFORE, the condition for frames that no stack refers to if stacks are kept so long, and
 * AFTER.  now_s: since 1970.
 */
void store_schema_old_frames(const char *before, const char *after, uint64_t now_s,
	unsigned stack_days, struct strbuf *out);

#endif
