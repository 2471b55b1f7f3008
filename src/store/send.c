/*
 * Sends rows to the shard of their host: frames, then stacks, then profiles, and last the commits
 * that make them visible.  After an interruption, all of it can be sent again.
 */
#include "store/send.h"

#include "base/alloc.h"

static struct error *send_body(struct clickhouse *c, size_t shard, const char *table,
	const struct store_body *body, bool *is_refused)
{
	struct error *err = NULL;

	for (size_t i = 0; i < body->parts.count && err == NULL; i++)
		err = clickhouse_insert(
			c, shard, table, strbuf_str(&body->parts.data[i]), is_refused);
	return err;
}

struct error *send_clickhouse(struct clickhouse *clickhouse, struct str host,
	const struct store_rows *rows, struct store_sent *sent)
{
	const struct {
		const char *table;
		const struct store_body *body;
	} steps[] = {
		{"frames", &rows->frames},
		{"stacks", &rows->stacks},
		{"profiles", &rows->profiles},
		{"commits", &rows->commits},
	};
	size_t shard = clickhouse_shard_of(clickhouse, host);
	uint64_t before = clickhouse_bytes_sent(clickhouse);
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && err == NULL; i++)
		err = send_body(
			clickhouse, shard, steps[i].table, steps[i].body, &sent->is_refused);
	sent->bytes = clickhouse_bytes_sent(clickhouse) - before;
	sent->where = xstrdup(clickhouse_shard_name(clickhouse, shard));
	return err;
}
