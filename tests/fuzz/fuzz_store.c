/*
 * What servers of a store answer, on any bytes: no crash, and what is accepted is a whole profile
 * (the builder checks that).  An input is the lengths of a shard's answers but the last, two bytes
 * each, what the query keeps, and the answers.
 */
#include <string.h>

#include "store/fetch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ANSWERS = 5, HEAD = 2 * (ANSWERS - 1) + 1 };

/* In place of clickhouse.c, whose other functions are not used. */
struct clickhouse {
	struct str answers[ANSWERS]; /* commits, sums of hours, stacks, outer pieces, frames */
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

/* What only the statement for that answer has. */
static const char *const marks[ANSWERS] = {"FROM commits FINAL WHERE 1 ORDER", "FROM hour_commits",
	"RIGHT JOIN", "is_outer = 1", "FROM frames"};

void clickhouse_ask_all(
	struct clickhouse *c, struct clickhouse_statement *const *statements, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct clickhouse_statement *q = statements[i];
		size_t k = 0;

		while (!memmem(q->sql.data, q->sql.size, marks[k], strlen(marks[k])))
			k++;
		q->answer = (struct clickhouse_answer){0};
		strbuf_add(&q->answer.bytes, c->answers[k]);
		q->done(q);
	}
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
