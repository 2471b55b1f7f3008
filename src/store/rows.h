#ifndef SONDE_STORE_ROWS_H
#define SONDE_STORE_ROWS_H

/*
 * A profile as rows of a store's tables (store/schema.h).
 *
 * Frames and stacks are identified by 64-bit hashes of their contents, so all machines number them
 * alike without asking.  If samples have several services or sets of labels, each becomes a profile
 * of its own.  A profile with times is divided into intervals.
 */

#include <stdint.h>

#include "base/vec.h"
#include "model/profile.h"
#include "store/known.h"

struct store_label {
	struct str key, value;
};

struct store_rows_options {
	struct str service; /* empty: each sample's label "service", else store_own_service() */
	struct str host;    /* empty: the profile's, else this machine's */
	const struct store_label *labels; /* [label_count] of the whole profile */
	size_t label_count;
	uint32_t every_s;    /* length of intervals; 0: do not divide */
	uint64_t time_s;     /* when the profile began, if it does not state that; since 1970 */
	uint64_t received_s; /* now, since 1970 */
	const struct known *known; /* what need not be sent; NULL: send everything */
	/* Which labels of samples to keep; by default, only unit, container and command. */
	bool all_labels;
	bool few_labels; /* all but numbers, spans and traces: most samples have their own */
};

/*
 * One table's rows in RowBinary, as bodies of whole rows: each 8 MiB, and the rest of a row, and of
 * at most 50 days.
 */
struct store_body {
	VEC(struct strbuf) parts;
	VEC(uint32_t) days; /* since 1970, of the last part's rows */
};

struct store_rows {
	struct store_body frames, stacks, profiles, commits;
	uint64_t frame_count, stack_count, pair_count, profile_count;
	struct strbuf host; /* of all rows */
	VEC(uint64_t) sent; /* hashes of the frames and stacks in the rows */
	/* What the profile has and a store does not keep. */
	bool left_threads, left_ticks, left_calls;
	struct strbuf left_labels; /* their keys, separated by ", " */
};

/* Whether one of the profile's metrics counts samples. */
bool store_counts_samples(const struct profile *p);
/*
 * Whether the number of samples is known.  If samples have no times and no metric counts them, each
 * is a sum, as in heap profiles.
 */
bool store_knows_samples(const struct profile *p);
/*
 * The service of samples without one: the name of the command's program, such as "api" for
 * "/usr/bin/api -v"; "machine" for a recording of the whole machine; "unknown" without a command.
 * Borrowed from the profile.
 */
struct str store_own_service(const struct profile *p);
/* The host that the profile is sent as: the options', else its own, else this one, in *scratch. */
struct str store_host(
	const struct profile *p, const struct store_rows_options *options, struct strbuf *scratch);

/*
 * Makes the rows of a profile; free them with store_rows_deinit, even after a failure.
 * ERROR_UNSUPPORTED: the profile has no stacks.
 */
must_use struct error *store_rows_make(const struct profile *profile,
	const struct store_rows_options *options, struct store_rows *rows);
void store_rows_deinit(struct store_rows *rows);

#endif
