#ifndef SONDE_STORE_SEND_H
#define SONDE_STORE_SEND_H

#include "store/store.h"

/* store_send for ClickHouse servers.  host: by which the shard is chosen. */
must_use struct error *send_clickhouse(struct clickhouse *clickhouse, struct str host,
	const struct store_rows *rows, struct store_sent *sent);

#endif
