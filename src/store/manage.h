#ifndef SONDE_STORE_MANAGE_H
#define SONDE_STORE_MANAGE_H

#include "store/store.h"

/* The functions of store.h, for ClickHouse servers. */
must_use struct error *manage_init(struct clickhouse *c, const char *database,
	const struct store_retention *retention, struct store_made *made);
must_use struct error *manage_status(
	struct clickhouse *c, const struct store_query *range, struct store_status *status);
must_use struct error *manage_roll_up(
	struct clickhouse *c, uint64_t since_s, uint64_t until_s, size_t *hours, size_t *kept);
must_use struct error *manage_retain(struct clickhouse *c, const struct store_retention *retention,
	uint64_t now_s, size_t *dropped);

#endif
