#ifndef SONDE_STORE_SYMBOLS_H
#define SONDE_STORE_SYMBOLS_H

/*
 * Names for frames that were sent without one: found once for each build, not for each machine.
 * Only servers keep frames separate from stacks; use `sonde symbolize` for recordings in a folder.
 */

#include "store/store.h"

/* A frame of a program or library, with an unknown function. */
struct store_nameless {
	struct str module, build_id; /* a path; lower-case hex, not empty */
	uint64_t frame_id, address;
};

struct store_nameless_list {
	VEC(struct store_nameless) rows; /* by build ID, module and address */
	struct strbuf answer;		 /* owns their texts */
};

/* store_nameless for ClickHouse servers; *list is empty before. */
must_use struct error *symbols_read(
	struct clickhouse *c, size_t shard, struct store_nameless_list *list);
/*
 * The nameless frames of a shard.  ERROR_UNSUPPORTED: the store is a folder.  Pass *list to
 * store_nameless_deinit, even after a failure.
 */
must_use struct error *store_nameless(
	struct store *store, size_t shard, struct store_nameless_list *list);
void store_nameless_deinit(struct store_nameless_list *list);

/* One of the functions at an address.  Texts are borrowed. */
struct store_name {
	struct str function, aliases, defined_in, file;
	uint32_t defined_at, line;
	bool is_inline;
};

/*
 * Appends a frame's names, outermost first, to rows for store_add_names; of more than 256, the
 * outermost.  count > 0.  Names with a greater version replace those with a smaller one.
 */
void store_names_put(struct strbuf *rows, const struct store_nameless *frame,
	const struct store_name *names, size_t count, uint32_t version);
/* Sends the rows to a shard; not for folders. */
must_use struct error *store_add_names(struct store *store, size_t shard, struct str rows);

/* The number of shards, 1 for a folder, and the name of one, owned by the store. */
size_t store_shard_count(const struct store *store);
const char *store_shard_name(const struct store *store, size_t shard);

#endif
