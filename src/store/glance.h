#ifndef SONDE_STORE_GLANCE_H
#define SONDE_STORE_GLANCE_H

#include "store/store.h"

/* store_glance for ClickHouse servers.  *glance is empty before. */
must_use struct error *glance_clickhouse(struct clickhouse *clickhouse,
	const struct store_query *query, struct store_glance *glance);

#endif
