/*
 * Reads frames without names from ClickHouse's table `frames`, and makes rows that name them: the
 * same frame_id with a greater version, and a row for each function where calls were inlined.
 */
#include "store/symbols.h"
#include "base/wire.h"

/* Functions of stripped programs are named by where they start: "[dash+0x9ca0]". */
static const char nameless_sql[] =
	"SELECT frame_id, module, build_id, address FROM frames FINAL WHERE kind = 0 AND "
	"build_id != '' AND address != 0 AND (function = '[unknown]' OR function LIKE '[%+0x%]') "
	"ORDER BY build_id, module, address FORMAT RowBinary";

struct error *symbols_read(struct clickhouse *c, size_t shard, struct store_nameless_list *list)
{
	struct error *err = clickhouse_ask_one(c, shard, str_from(nameless_sql), &list->answer);
	struct cursor rows;

	if (err)
		return err;
	cursor_init(
		&rows, list->answer.data, list->answer.size, clickhouse_shard_name(c, shard), 0);
	while (cursor_ok(&rows) && !cursor_at_end(&rows)) {
		struct store_nameless row;

		row.frame_id = cursor_u64(&rows);
		row.module = wire_str(&rows);
		row.build_id = wire_str(&rows);
		row.address = cursor_u64(&rows);
		if (cursor_ok(&rows))
			vec_push(&list->rows, row);
	}
	return cursor_error(&rows);
}

void store_nameless_deinit(struct store_nameless_list *list)
{
	vec_deinit(&list->rows);
	strbuf_deinit(&list->answer);
}

void store_names_put(struct strbuf *rows, const struct store_nameless *frame,
	const struct store_name *names, size_t count, uint32_t version)
{
	for (size_t i = 0; i < count && i <= UINT8_MAX; i++) {
		const struct store_name *n = &names[i];

		wire_put_u64(rows, frame->frame_id);
		wire_put_u8(rows, (uint8_t)i);
		wire_put_u32(rows, version);
		wire_put_u8(rows, OBJECT_USER);
		wire_put_str(rows, frame->module);
		wire_put_str(rows, frame->build_id);
		wire_put_u64(rows, frame->address);
		wire_put_str(rows, n->function);
		wire_put_str(rows, n->aliases);
		wire_put_str(rows, n->defined_in);
		wire_put_u32(rows, n->defined_at);
		wire_put_str(rows, n->file);
		wire_put_u32(rows, n->line);
		wire_put_u8(rows, n->is_inline);
	}
}
