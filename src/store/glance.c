/*
 * A glance at what servers have for a query: their commits, added up for each host.  The answer
 * takes some kilobytes where stacks would take megabytes, so it can be repeated every few seconds.
 */
#include "store/glance.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/wire.h"
#include "store/identity.h"
#include "store/select.h"

static struct error *read_hosts(struct store_glance *glance, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct str name = wire_str(c);
		struct store_glance_host host = {.last_s = cursor_u32(c), .end_s = cursor_u64(c)};
		uint64_t mark = cursor_u64(c);

		if (!cursor_ok(c))
			break;
		host.name = xstrndup(name.data, name.size);
		vec_push(&glance->hosts, host);
		glance->mark =
			identity_after(glance->mark, identity_after(identity_bytes(name), mark));
	}
	return cursor_error(c);
}

/* A shard that refuses is an error; one that does not answer is listed. */
static struct error *take_answer(
	struct store_glance *glance, struct clickhouse_answer *answer, const char *shard)
{
	struct cursor c;

	if (answer->err && answer->is_refusal) {
		struct error *err = answer->err;

		answer->err = NULL;
		return err;
	}
	if (answer->err) {
		vec_push(&glance->silent, xstrdup(answer->err->message));
		glance->mark = identity_after(glance->mark, identity_bytes(str_from(shard)));
		return NULL;
	}
	cursor_init(&c, answer->bytes.data, answer->bytes.size, shard, 0);
	return read_hosts(glance, &c);
}

struct error *glance_clickhouse(
	struct clickhouse *clickhouse, const struct store_query *query, struct store_glance *glance)
{
	size_t count = clickhouse_shard_count(clickhouse);
	struct clickhouse_answer *answers = xcalloc(count, sizeof(*answers));
	struct strbuf sql = {0};
	struct error *err = NULL;

	select_glance(query, STORE_GLANCE_BEFORE_S, &sql);
	clickhouse_ask(clickhouse, strbuf_str(&sql), false, answers);
	for (size_t i = 0; i < count; i++) {
		if (err == NULL)
			err = take_answer(
				glance, &answers[i], clickhouse_shard_name(clickhouse, i));
		error_destroy(answers[i].err);
		strbuf_deinit(&answers[i].bytes);
	}
	if (err == NULL && glance->silent.count == count)
		err = error_new(ERROR_INPUT, "no shard answers: %s", glance->silent.data[0]);
	strbuf_deinit(&sql);
	free(answers);
	return err;
}
