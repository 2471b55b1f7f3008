#ifndef SONDE_STORE_SYMBOLS_H
#define SONDE_STORE_SYMBOLS_H

/*
 * Names for frames that were sent without: once for each build, not for each machine.  Only servers
 * have such frames apart from their stacks; a recording in a folder is named by `sonde symbolize`.
 */

#include "store/store.h"

/* A frame of a program or library whose function is not known. */
struct store_nameless {
	struct str module, build_id; /* the path; lower-case hex, not empty */
	uint64_t frame_id, address;
};

struct store_nameless_list {
	VEC(struct store_nameless) rows; /* by build ID, module and address */
	struct strbuf answer;		 /* where their texts live */
};

/* store_nameless for ClickHouse servers. */
must_use struct error *symbols_read(
	struct clickhouse *c, size_t shard, struct store_nameless_list *list);
/* Those of a shard.  ERROR_UNSUPPORTED for a folder.  Free the list also after a failure. */
must_use struct error *store_nameless(
	struct store *store, size_t shard, struct store_nameless_list *list);
void store_nameless_deinit(struct store_nameless_list *list);

/* One of the functions at an address. */
struct store_name {
	struct str function, aliases, defined_in, file;
	uint32_t defined_at, line;
	bool is_inline;
};

/*
 * Appends the frame's names, count > 0 from the outermost, to rows for store_add_names.  Of two
 * versions the greater one counts.
 */
void store_names_put(struct strbuf *rows, const struct store_nameless *frame,
	const struct store_name *names, size_t count, uint32_t version);
must_use struct error *store_add_names(struct store *store, size_t shard, struct str rows);

/* How many shards there are, 1 for a folder; and what one is called. */
size_t store_shard_count(const struct store *store);
const char *store_shard_name(const struct store *store, size_t shard);

#endif
