/*
 * ClickHouse's HTTP interface: a statement is the body of a request, or part of the URL if the body
 * has rows.
 *
 * The server holds back an answer until it is complete (wait_end_of_query).  Otherwise, a failure
 * halfway would come after status 200, at the end of what looks like rows.
 */
#include "store/clickhouse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/compress.h"
#include "base/secret.h"
#include "store/http_client.h"
#include "store/identity.h"

enum {
	TRIES = 4,
	MESSAGE_MAX = 400,
	STATUS_GOOD = 200,
	STATUS_REFUSED = 400,
	STATUS_TOO_MANY = 429,
	STATUS_FAILED = 500,
};
/* Shorter bodies are not worth compressing. */
#define PLAIN_MAX 1024
/* The wait before the second try; each further one is twice as long. */
#define FIRST_WAIT_MS UINT64_C(250)
/*
 * Rows with arrays are large: by default, old servers would merge 8,192 of them at once, and need
 * gigabytes.
 */
#define SETTINGS "wait_end_of_query=1&max_block_size=256&max_query_size=16777216"

struct clickhouse {
	const struct store_address *address;
	struct http_client *http;
	char *user_header, *key_header; /* NULL: none */
	uint64_t bytes_sent;
};

/* ---- credentials ---- */

static struct error *read_credentials(struct clickhouse *c, const char *path)
{
	struct strbuf line = {0};
	struct error *err = secret_read(path, &line);
	const char *colon = line.size ? memchr(line.data, ':', line.size) : NULL;

	if (err == NULL && colon == NULL)
		err = error_new(ERROR_INPUT, "%s: expected USER:PASSWORD in its first line", path);
	if (err == NULL) {
		c->user_header =
			xasprintf("X-ClickHouse-User: %.*s", (int)(colon - line.data), line.data);
		c->key_header = xasprintf("X-ClickHouse-Key: %s", colon + 1);
	}
	strbuf_deinit(&line);
	return err;
}

struct error *clickhouse_open(const struct store_address *address,
	const struct clickhouse_options *options, struct clickhouse **clickhouse)
{
	struct clickhouse *c = xalloc(sizeof(*c));
	const struct http_client_options http = {
		.ca_file = options->ca_file, .silence_ns = options->silence_ns};
	struct error *err = NULL;

	c->address = address;
	if (options->credentials)
		err = read_credentials(c, options->credentials);
	if (err == NULL)
		err = http_client_create(&http, &c->http);
	if (err) {
		clickhouse_close(c);
		return err;
	}
	*clickhouse = c;
	return NULL;
}

void clickhouse_close(struct clickhouse *c)
{
	if (c == NULL)
		return;
	http_client_destroy(c->http);
	free(c->user_header);
	free(c->key_header);
	free(c);
}

/* ---- shards ---- */

size_t clickhouse_shard_count(const struct clickhouse *c)
{
	return c->address->shards.count;
}

const char *clickhouse_shard_name(const struct clickhouse *c, size_t shard)
{
	return c->address->shards.data[shard];
}

/* Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm" (2014). */
size_t clickhouse_shard_of(const struct clickhouse *c, struct str host)
{
	uint64_t key = identity_bytes(host);
	int64_t shard = -1, next = 0;

	while (next < (int64_t)c->address->shards.count) {
		shard = next;
		key = key * UINT64_C(2862933555777941757) + 1;
		next = (int64_t)((double)(shard + 1) *
				 ((double)(INT64_C(1) << 31) / (double)((key >> 33) + 1)));
	}
	return (size_t)shard;
}

/* ---- requests ---- */

static void put_percent(struct strbuf *url, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char byte = (unsigned char)text.data[i];

		if (char_is_digit(byte) || (byte >= 'a' && byte <= 'z') ||
			(byte >= 'A' && byte <= 'Z') || byte == '_')
			strbuf_add_char(url, (char)byte);
		else
			strbuf_printf(url, "%%%02X", byte);
	}
}

static void put_page(const struct clickhouse *c, size_t shard, const char *page, struct strbuf *url)
{
	strbuf_printf(url, "%s://%s/%s", c->address->is_secure ? "https" : "http",
		c->address->shards.data[shard], page);
}

static void put_url(const struct clickhouse *c, size_t shard, bool without_database,
	struct str query, struct strbuf *url)
{
	put_page(c, shard, "?" SETTINGS, url);
	if (!without_database)
		strbuf_printf(url, "&database=%s", c->address->database);
	if (query.size) {
		strbuf_add(url, STR("&query="));
		put_percent(url, query);
	}
}

/* The number of an error of ClickHouse's own, "Code: 60, …"; 0: it is another's. */
static unsigned long code_of(struct str answer)
{
	static const struct str code = STR("Code: ");

	return str_starts_with(answer, code) ? strtoul(answer.data + code.size, NULL, 10) : 0;
}

/* What is before `mark`, or all. */
static struct str cut_before(struct str s, struct str mark)
{
	const char *found = memmem(s.data, s.size, mark.data, mark.size);

	return found ? (struct str){s.data, (size_t)(found - s.data)} : s;
}

/*
 * The words of "Code: 60. DB::Exception: WORDS (version …)", or of an old server's "Code: 60,
 * e.displayText() = DB::Exception: WORDS, e.what() = DB::Exception".
 */
static struct str words_of(struct str line)
{
	static const struct str before = STR("DB::Exception: ");
	struct str head = cut_before(line, before);

	if (code_of(line) && head.size < line.size) {
		head.size += before.size;
		line = (struct str){line.data + head.size, line.size - head.size};
	}
	return cut_before(cut_before(line, STR(", e.what() = ")), STR(" (version "));
}

/* What to do about an error of that number. */
static const char *advice_on(unsigned long code)
{
	static const unsigned long not_allowed[] = {164, 291, 392, 497};

	/* No such database, no such table. */
	if (code == 60 || code == 81)
		return "; sonde fleet init --store URL makes the tables";
	for (size_t i = 0; i < ARRAY_SIZE(not_allowed); i++)
		if (code == not_allowed[i])
			return "; --credentials can name a user who may do that";
	return "";
}

/* An error with the first line of the server's message, at most MESSAGE_MAX bytes of it. */
static struct error *server_error(const struct clickhouse *c, size_t shard, struct http_request *r)
{
	struct str rest = strbuf_str(&r->answer);
	unsigned long code = code_of(rest);
	struct str words = words_of(str_trim(str_take_line(&rest)));
	char number[40] = "";

	if (words.size > MESSAGE_MAX)
		words.size = MESSAGE_MAX;
	if (code)
		snprintf(number, sizeof(number), "code %lu, ", code);
	return error_new(ERROR_INPUT, "%s: %.*s%s(%sHTTP status %d)%s",
		c->address->shards.data[shard], STR_ARG(words), words.size ? " " : "", number,
		r->status, advice_on(code));
}

static bool is_refusal(int status)
{
	return status >= STATUS_REFUSED && status != STATUS_TOO_MANY && status < STATUS_FAILED;
}

/*
 * Old servers answer every mistake with status 500 and "Code: 60, …".  Some codes are temporary:
 * truncated body, timeout, too many queries, network, memory, table that is read-only now, too many
 * parts.
 */
static bool is_sql_refusal(const struct http_request *r)
{
	static const unsigned long temporary[] = {33, 159, 160, 202, 209, 210, 241, 242, 252, 319};
	unsigned long code = code_of(strbuf_str(&r->answer));

	for (size_t i = 0; i < ARRAY_SIZE(temporary); i++) {
		if (code == temporary[i])
			return false;
	}
	return code != 0;
}

struct asked {
	struct http_request request;
	struct strbuf url, alive_url;
	const char *headers[4];
	/* For take_answer. */
	struct clickhouse *clickhouse;
	struct clickhouse_statement *statement;
};

static void ask_begin(struct clickhouse *c, size_t shard, bool without_database, struct str query,
	struct str body, bool is_packed, struct asked *a)
{
	size_t count = 0;

	*a = (struct asked){0};
	put_url(c, shard, without_database, query, &a->url);
	if (c->user_header) {
		a->headers[count++] = c->user_header;
		a->headers[count++] = c->key_header;
	}
	if (is_packed)
		a->headers[count++] = "Content-Encoding: gzip";
	a->request.url = a->url.data;
	a->request.headers = a->headers;
	a->request.body = body;
}

/* Ends a request.  On success, replaces *answer, unless that is NULL; else returns the error. */
static struct error *ask_end(
	struct clickhouse *c, size_t shard, struct asked *a, struct strbuf *answer, bool *refusal)
{
	struct error *err = a->request.err;

	*refusal = false;
	if (err == NULL && a->request.status != STATUS_GOOD) {
		*refusal = is_refusal(a->request.status) || is_sql_refusal(&a->request);
		err = server_error(c, shard, &a->request);
	}
	if (err == NULL && answer) {
		strbuf_deinit(answer);
		*answer = a->request.answer;
	} else {
		strbuf_deinit(&a->request.answer);
	}
	strbuf_deinit(&a->url);
	strbuf_deinit(&a->alive_url);
	return err;
}

/*
 * Prepares a statement, which may take as long as the server needs.  Inserts of rows may not: they
 * are short, and can be sent again.
 */
static void ask_statement(struct clickhouse *c, size_t shard, bool without_database,
	struct str statement, struct asked *a)
{
	ask_begin(c, shard, without_database, STR(""), statement, false, a);
	put_page(c, shard, "ping", &a->alive_url);
	a->request.alive_url = a->alive_url.data;
}

/* The request is the first member of a struct asked. */
static void take_answer(struct http_request *request)
{
	struct asked *a = (struct asked *)request;
	struct clickhouse_statement *q = a->statement;

	q->answer = (struct clickhouse_answer){0};
	q->answer.err =
		ask_end(a->clickhouse, q->shard, a, &q->answer.bytes, &q->answer.is_refusal);
	if (q->done)
		q->done(q);
}

static void ask_statements(struct clickhouse *c, bool without_database,
	struct clickhouse_statement *const *statements, size_t count)
{
	struct asked *asked = xcalloc(count, sizeof(*asked));
	struct http_request **requests = xcalloc(count, sizeof(*requests));

	for (size_t i = 0; i < count; i++) {
		ask_statement(
			c, statements[i]->shard, without_database, statements[i]->sql, &asked[i]);
		asked[i].clickhouse = c;
		asked[i].statement = statements[i];
		asked[i].request.done = take_answer;
		requests[i] = &asked[i].request;
	}
	http_client_run(c->http, requests, count);
	free(requests);
	free(asked);
}

void clickhouse_ask_all(
	struct clickhouse *c, struct clickhouse_statement *const *statements, size_t count)
{
	ask_statements(c, false, statements, count);
}

void clickhouse_ask(struct clickhouse *c, struct str sql, bool without_database,
	struct clickhouse_answer *answers)
{
	size_t count = c->address->shards.count;
	struct clickhouse_statement *statements = xcalloc(count, sizeof(*statements));
	struct clickhouse_statement **asked = xcalloc(count, sizeof(*asked));

	for (size_t i = 0; i < count; i++) {
		statements[i] = (struct clickhouse_statement){.shard = i, .sql = sql};
		asked[i] = &statements[i];
	}
	ask_statements(c, without_database, asked, count);
	for (size_t i = 0; i < count; i++)
		answers[i] = statements[i].answer;
	free(asked);
	free(statements);
}

struct error *clickhouse_ask_one(
	struct clickhouse *c, size_t shard, struct str sql, struct strbuf *answer)
{
	struct asked asked;
	struct http_request *request = &asked.request;
	bool refusal;

	ask_statement(c, shard, false, sql, &asked);
	http_client_run(c->http, &request, 1);
	return ask_end(c, shard, &asked, answer, &refusal);
}

static void wait_ms(uint64_t ms)
{
	struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

struct error *clickhouse_insert(
	struct clickhouse *c, size_t shard, const char *table, struct str rows, bool *refusal)
{
	char *query = xasprintf("INSERT INTO %s FORMAT RowBinary", table);
	bool is_packed = rows.size > PLAIN_MAX;
	struct strbuf packed = {0};
	struct error *err = NULL;

	if (is_packed) {
		struct compressor *gzip = compressor_create(PACKING_GZIP);

		compressor_add(gzip, rows, true, &packed);
		compressor_destroy(gzip);
	}
	for (uint64_t i = 0; i < TRIES; i++) {
		struct asked asked;
		struct http_request *request = &asked.request;
		struct str body = is_packed ? strbuf_str(&packed) : rows;

		error_destroy(err);
		ask_begin(c, shard, false, str_from(query), body, is_packed, &asked);
		http_client_run(c->http, &request, 1);
		c->bytes_sent += body.size;
		err = ask_end(c, shard, &asked, NULL, refusal);
		if (err == NULL || *refusal || asked.request.is_hopeless || i + 1 == TRIES)
			break;
		/* With jitter, so that senders do not retry in step. */
		wait_ms((FIRST_WAIT_MS << i) + clock_monotonic_ns() % FIRST_WAIT_MS);
	}
	strbuf_deinit(&packed);
	free(query);
	return err;
}

uint64_t clickhouse_bytes_sent(const struct clickhouse *c)
{
	return c->bytes_sent;
}

void clickhouse_put_literal(struct strbuf *sql, struct str text)
{
	strbuf_add(sql, STR("unhex('"));
	for (size_t i = 0; i < text.size; i++)
		strbuf_printf(sql, "%02X", (unsigned char)text.data[i]);
	strbuf_add(sql, STR("')"));
}
