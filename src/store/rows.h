#ifndef SONDE_STORE_ROWS_H
#define SONDE_STORE_ROWS_H

/*
 * A profile as rows of a store's tables (store/schema.h).
 *
 * Frames and stacks are known by 64-bit hashes of what they are, so that all machines number them
 * alike and nobody needs to ask.  A profile of several services or sets of labels, which samples
 * have, becomes several; one with times is divided at whole intervals.
 */

#include <stdint.h>

#include "base/vec.h"
#include "model/profile.h"
#include "store/known.h"

struct store_label {
	struct str key, value;
};

struct store_rows_options {
	struct str
		service; /* empty: that of each sample's label "service", else the command's name */
	struct str host; /* empty: the profile's, else this machine's */
	const struct store_label *labels; /* [label_count] for all of it */
	size_t label_count;
	uint32_t every_s; /* length of intervals; 0: not divided */
	uint64_t time_s;  /* when it began, for profiles that do not say; since 1970 */
	uint64_t received_s;
	const struct known *known; /* what need not be sent; NULL: send everything */
	/* Labels of samples: with neither, those of services are kept. */
	bool all_labels;
	bool few_labels; /* none that most samples have to themselves: numbers, spans, traces */
};

/* RowBinary of one table: bodies of whole rows, each of at most some MiB. */
struct store_body {
	VEC(struct strbuf) parts;
};

struct store_rows {
	struct store_body frames, stacks, profiles, commits;
	uint64_t frame_count, stack_count, pair_count, profile_count;
	struct strbuf host;
	VEC(uint64_t) sent; /* hashes of the frames and stacks among the rows */
	/* What the store has no place for. */
	bool left_threads, left_ticks, left_calls;
	struct strbuf left_labels; /* their keys, separated by ", " */
};

/* Whether one of its metrics counts samples. */
bool store_counts_samples(const struct profile *p);
/*
 * Whether the number of samples is known.  Without a time and such a metric a sample is a sum, as
 * in heap profiles.
 */
bool store_knows_samples(const struct profile *p);
/*
 * The service of samples that have none: the program of the command, "api" of "/usr/bin/api -v"; a
 * recording of a whole machine is "machine"'s.
 */
struct str store_own_service(const struct profile *p);

/* ERROR_UNSUPPORTED: the profile has no stacks. */
must_use struct error *store_rows_make(const struct profile *profile,
	const struct store_rows_options *options, struct store_rows *rows);
void store_rows_deinit(struct store_rows *rows);

#endif
