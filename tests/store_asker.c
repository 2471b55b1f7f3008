/*
 * Asks a store's servers for a statement's answer, with a short limit of silence, for tests.
 *
 *	store_asker clickhouse://HOST:PORT/DATABASE SILENCE-MS STATEMENT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/clickhouse.h"

static struct error *ask(struct clickhouse *c, const char *statement)
{
	struct clickhouse_answer answer = {0};

	clickhouse_ask(c, str_from(statement), true, &answer);
	if (answer.err == NULL)
		fwrite(answer.bytes.data, 1, answer.bytes.size, stdout);
	strbuf_deinit(&answer.bytes);
	return answer.err;
}

int main(int argc, char **argv)
{
	struct clickhouse_options options = {0};
	struct clickhouse *c = NULL;
	struct store_address address;

	if (argc != 4)
		return 2;
	struct error *err = store_address_parse(argv[1], &address);

	options.silence_ns = strtoull(argv[2], NULL, 10) * (SECOND_NS / 1000);
	if (err == NULL && address.shards.count != 1)
		err = error_new(ERROR_USAGE, "expected one server");
	if (err == NULL)
		err = clickhouse_open(&address, &options, &c);
	if (err == NULL)
		err = ask(c, argv[3]);
	clickhouse_close(c);
	store_address_deinit(&address);
	if (err)
		fprintf(stderr, "%s\n", err->message);
	int status = err != NULL;

	error_destroy(err);
	return status;
}
