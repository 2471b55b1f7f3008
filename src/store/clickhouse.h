#ifndef SONDE_STORE_CLICKHOUSE_H
#define SONDE_STORE_CLICKHOUSE_H

/*
 * ClickHouse servers, over their HTTP interface: queries to all shards at the same time, and
 * inserts into one.  Each server knows its own tables only, so no cluster needs to be configured.
 */

#include "base/error.h"
#include "base/str.h"
#include "store/address.h"

struct clickhouse;

struct clickhouse_options {
	const char *credentials; /* path of a file, its first line "USER:PASSWORD"; NULL: none */
	const char *ca_file;	 /* certificates to trust; NULL: the system's */
	uint64_t silence_ns;	 /* as in struct http_client_options */
};

/*
 * Makes no request.  The address must outlive *clickhouse.  ERROR_USAGE: others may read the file
 * with the credentials; ERROR_INPUT: its first line is not USER:PASSWORD; ERROR_UNSUPPORTED: there
 * is no libcurl.
 */
must_use struct error *clickhouse_open(const struct store_address *address,
	const struct clickhouse_options *options, struct clickhouse **clickhouse);
/* NULL is allowed. */
void clickhouse_close(struct clickhouse *c);

size_t clickhouse_shard_count(const struct clickhouse *c);
/* "HOST:PORT". */
const char *clickhouse_shard_name(const struct clickhouse *c, size_t shard);
/* The shard of a host, by jump consistent hashing: one more shard moves few hosts. */
size_t clickhouse_shard_of(const struct clickhouse *c, struct str host);

/* A shard's answer.  The caller frees bytes and err. */
struct clickhouse_answer {
	struct strbuf bytes;
	struct error *err; /* the shard's name, then the server's own message */
	bool is_refusal;   /* with err: the server answered, and another try will not help */
};

/*
 * Sends a statement to each shard, and sets answers[shard].  without_database: not in the store's
 * database, which may not exist yet.  A statement may take as long as it needs, while the server
 * answers /ping; a server that is silent for options.silence_ns has failed.
 */
void clickhouse_ask(struct clickhouse *c, struct str sql, bool without_database,
	struct clickhouse_answer *answers);

/* A statement for one shard, and its answer. */
struct clickhouse_statement {
	size_t shard;
	struct str sql;
	struct clickhouse_answer answer;
	/* Called when the answer is there, while other statements may still run; NULL: nothing. */
	void (*done)(struct clickhouse_statement *statement);
	void *context; /* for `done` */
};

/* Sends all statements at once, and returns when each has its answer. */
void clickhouse_ask_all(
	struct clickhouse *c, struct clickhouse_statement *const *statements, size_t count);
/* Asks one shard.  On success, frees what *answer had and replaces it. */
must_use struct error *clickhouse_ask_one(
	struct clickhouse *c, size_t shard, struct str sql, struct strbuf *answer);
/*
 * Inserts rows, in RowBinary, into a table.  Tries several times, with longer and longer waits, if
 * the server does not answer or is busy; that is safe since equal rows count once.  *is_refusal:
 * the server refused the rows, and another try will not help.
 */
must_use struct error *clickhouse_insert(
	struct clickhouse *c, size_t shard, const char *table, struct str rows, bool *is_refusal);
/* Bytes of rows sent so far, compressed, each try counted. */
uint64_t clickhouse_bytes_sent(const struct clickhouse *c);

/* Appends text as a literal that none of its bytes can end: unhex('6170…'). */
void clickhouse_put_literal(struct strbuf *sql, struct str text);

#endif
