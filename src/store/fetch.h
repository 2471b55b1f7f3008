#ifndef SONDE_STORE_FETCH_H
#define SONDE_STORE_FETCH_H

#include "store/store.h"

/* store_fetch for ClickHouse servers.  source: the store's address, which the profile shows. */
must_use struct error *fetch_clickhouse(struct clickhouse *clickhouse,
	const struct store_query *query, const char *source, struct profile **profile);

#endif
