/*
 * What servers of a store answer, on any bytes: no crash, and what is accepted is a whole profile
 * (the builder checks that).  An input is the lengths of a shard's answers but the last, two bytes
 * each, what the query keeps, and the answers.
 */
#include "store/fetch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ANSWERS = 5, HEAD = 2 * (ANSWERS - 1) + 1 };

/* In place of clickhouse.c, whose other functions are not used. */
struct clickhouse {
	struct str answers[ANSWERS]; /* commits, sums of hours, stacks, outer pieces, frames */
	size_t asked;
	bool skips_hours; /* as they have no labels or times */
};

size_t clickhouse_shard_count(const struct clickhouse *c)
{
	(void)c;
	return 1;
}

const char *clickhouse_shard_name(const struct clickhouse *c, size_t shard)
{
	(void)c;
	(void)shard;
	return "shard";
}

void clickhouse_ask(struct clickhouse *c, struct str sql, bool without_database,
	struct clickhouse_answer *answers)
{
	(void)sql;
	(void)without_database;
	c->asked += c->asked == 1 && c->skips_hours;
	answers[0] = (struct clickhouse_answer){0};
	strbuf_add(&answers[0].bytes, c->answers[c->asked++ % ANSWERS]);
}

void clickhouse_ask_each(
	struct clickhouse *c, const struct strbuf *sqls, struct clickhouse_answer *answers)
{
	clickhouse_ask(c, strbuf_str(&sqls[0]), false, answers);
}

void clickhouse_put_literal(struct strbuf *sql, struct str text)
{
	strbuf_add(sql, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clickhouse c = {0};
	struct store_query query = {0};
	struct profile *profile = NULL;

	if (size < HEAD)
		return 0;
	struct str rest = {(const char *)data + HEAD, size - HEAD};

	query.by_label = data[HEAD - 1] & 1;
	query.by_time = data[HEAD - 1] & 2;
	c.skips_hours = query.by_label || query.by_time;
	for (size_t i = 0; i < ANSWERS; i++) {
		size_t part = rest.size;

		if (i + 1 < ANSWERS && (size_t)(data[2 * i] | data[2 * i + 1] << 8) < part)
			part = (size_t)(data[2 * i] | data[2 * i + 1] << 8);
		c.answers[i] = (struct str){rest.data, part};
		rest.data += part;
		rest.size -= part;
	}
	error_destroy(fetch_clickhouse(&c, &query, "store", &profile));
	profile_destroy(profile);
	return 0;
}
