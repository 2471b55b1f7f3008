#ifndef SONDE_STORE_CLICKHOUSE_H
#define SONDE_STORE_CLICKHOUSE_H

/*
 * ClickHouse servers, over their HTTP interface: queries to all shards at the same time, and
 * inserts into one.  Each server answers for its own tables; nothing depends on a cluster's
 * configuration.
 */

#include "base/error.h"
#include "base/str.h"
#include "store/address.h"

struct clickhouse;

struct clickhouse_options {
	const char *credentials; /* path of a file, "USER:PASSWORD" in its first line; NULL: none */
	const char *ca_file;	 /* certificates to trust; NULL: the system's */
	uint64_t silence_ns;	 /* as in struct http_client_options */
};

/*
 * The address must outlive it.  ERROR_USAGE if others may read the file of credentials; makes no
 * request.
 */
must_use struct error *clickhouse_open(const struct store_address *address,
	const struct clickhouse_options *options, struct clickhouse **clickhouse);
/* NULL is allowed. */
void clickhouse_close(struct clickhouse *c);

size_t clickhouse_shard_count(const struct clickhouse *c);
/* "HOST:PORT". */
const char *clickhouse_shard_name(const struct clickhouse *c, size_t shard);
/* The shard of a host: jump consistent hashing, so that another shard moves few hosts. */
size_t clickhouse_shard_of(const struct clickhouse *c, struct str host);

/* What a shard answers; err has the server's own words, after its name. */
struct clickhouse_answer {
	struct strbuf bytes;
	struct error *err; /* the caller's */
	bool is_refusal;   /* the server answered, and another try will not change that */
};

/*
 * Sends a statement to each shard; answers[shard].  without_database: not in the store's, which
 * may not exist yet.  A statement may take any time; a server that answers nothing else either is
 * given up after options.silence_ns.
 */
void clickhouse_ask(struct clickhouse *c, struct str sql, bool without_database,
	struct clickhouse_answer *answers);
/* A statement for a shard, and what it answered. */
struct clickhouse_statement {
	size_t shard;
	struct str sql;
	struct clickhouse_answer answer;
	/* Called once the answer is there, while others are on their way; NULL: not. */
	void (*done)(struct clickhouse_statement *statement);
	void *context; /* for `done` */
};

/* Asks all of them at once. */
void clickhouse_ask_all(
	struct clickhouse *c, struct clickhouse_statement *const *statements, size_t count);
/* Asks one shard; replaces *answer. */
must_use struct error *clickhouse_ask_one(
	struct clickhouse *c, size_t shard, struct str sql, struct strbuf *answer);
/*
 * Inserts rows in RowBinary.  A server that does not answer is asked again, some times and later
 * each time, as equal rows count once; *is_refusal: it answered.
 */
must_use struct error *clickhouse_insert(
	struct clickhouse *c, size_t shard, const char *table, struct str rows, bool *is_refusal);
/* Bytes sent as bodies so far, compressed. */
uint64_t clickhouse_bytes_sent(const struct clickhouse *c);

/* Appends text as a literal that no byte of it can end: unhex('6170…'). */
void clickhouse_put_literal(struct strbuf *sql, struct str text);

#endif
