/*
 * Creates and maintains the tables of ClickHouse servers.  Every statement can be repeated, and is
 * sent to each shard separately: ON CLUSTER would need a coordinator.
 */
#include "store/manage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/wire.h"
#include "store/select.h"

#define DAY_S 86400

/* ---- tables ---- */

static struct error *run_statements(struct clickhouse *c, size_t shard, struct str statements)
{
	struct error *err = NULL;

	while (statements.size && err == NULL) {
		struct strbuf answer = {0};

		err = clickhouse_ask_one(c, shard, str_take_item(&statements), &answer);
		strbuf_deinit(&answer);
	}
	return err;
}

/* *version: of the schema in a shard; 0: it has no tables. */
static struct error *read_schema(struct clickhouse *c, size_t shard, uint64_t *version)
{
	struct strbuf answer = {0};
	struct error *err = clickhouse_ask_one(
		c, shard, STR("EXISTS TABLE schema FORMAT TabSeparated"), &answer);

	*version = 0;
	if (err == NULL && str_starts_with(strbuf_str(&answer), STR("1"))) {
		strbuf_deinit(&answer);
		err = clickhouse_ask_one(c, shard,
			STR("SELECT max(version) FROM schema FORMAT TabSeparated"), &answer);
		if (err == NULL && answer.size == 0)
			err = error_new(ERROR_INPUT,
				"%s: the table schema is empty; drop it and run sonde fleet init "
				"again",
				clickhouse_shard_name(c, shard));
		if (err == NULL)
			*version = strtoull(answer.data, NULL, 10);
	}
	strbuf_deinit(&answer);
	return err;
}

/* *has_time: whether a shard's table of frames has the column by which it drops them. */
static struct error *look_for_frame_time(struct clickhouse *c, size_t shard, bool *has_time)
{
	struct strbuf answer = {0};
	struct error *err = clickhouse_ask_one(c, shard,
		STR("SELECT count() FROM system.columns WHERE database = currentDatabase() AND "
		    "table = 'frames' AND name = 'last_seen' FORMAT TabSeparated"),
		&answer);

	*has_time = err == NULL && str_starts_with(strbuf_str(&answer), STR("1"));
	strbuf_deinit(&answer);
	return err;
}

/* Adds that column if it is missing; *changed is greater by one then. */
static struct error *add_frame_time(struct clickhouse *c, size_t shard, size_t *changed)
{
	struct strbuf none = {0};
	bool has_time;
	struct error *err = look_for_frame_time(c, shard, &has_time);

	if (err == NULL && !has_time) {
		err = clickhouse_ask_one(c, shard, str_from(store_schema_frame_time), &none);
		*changed += err == NULL;
	}
	strbuf_deinit(&none);
	return err;
}

/*
 * Makes the tables of a shard keep their rows as long as the retention says; frames follow stacks,
 * even if these stay as they are.
 */
static struct error *keep(
	struct clickhouse *c, size_t shard, const struct store_retention *wanted, size_t *changed)
{
	struct store_retention own = *wanted, *retention = &own;
	struct error *err = NULL;
	const char *table;

	for (size_t i = 0; err == NULL && (table = store_schema_timed_table(i)); i++) {
		struct strbuf sql = {0}, answer = {0}, none = {0};

		strbuf_printf(&sql,
			"SELECT engine_full FROM system.tables WHERE database = currentDatabase() "
			"AND name = '%s' FORMAT TabSeparatedRaw",
			table);
		err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &answer);
		strbuf_clear(&sql);
		if (err == NULL && store_schema_keep(table, strbuf_str(&answer), retention, &sql)) {
			err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &none);
			*changed += err == NULL;
		}
		if (strcmp(table, "stacks") == 0 && own.stack_days == STORE_KEEP_AS_IS)
			own.stack_days = store_schema_stack_days(strbuf_str(&answer));
		strbuf_deinit(&sql);
		strbuf_deinit(&answer);
		strbuf_deinit(&none);
	}
	return err;
}

static struct error *init_shard(struct clickhouse *c, size_t shard, struct str version,
	const struct store_retention *retention, struct store_made *made)
{
	enum store_dialect dialect;
	struct strbuf statements = {0};
	uint64_t schema;
	struct error *err = store_dialect_of(version, &dialect);

	if (err)
		return error_prefix(err, "%s", clickhouse_shard_name(c, shard));
	err = read_schema(c, shard, &schema);
	if (err == NULL && schema > STORE_SCHEMA_VERSION)
		err = error_new(ERROR_UNSUPPORTED,
			"%s: its tables have version %" PRIu64
			", made by a newer sonde; update this one",
			clickhouse_shard_name(c, shard), schema);
	if (err)
		return err;
	made->manual += dialect == STORE_DIALECT_OLD;
	if (schema < STORE_SCHEMA_VERSION) {
		store_schema_statements(dialect, retention, &statements);
		err = run_statements(c, shard, strbuf_str(&statements));
		made->shards += err == NULL;
	} else {
		size_t before = made->tables, columns = 0;

		err = add_frame_time(c, shard, &columns);
		if (err == NULL && dialect == STORE_DIALECT_CURRENT)
			err = keep(c, shard, retention, &made->tables);
		/* That and its time to live are one change of a table. */
		if (made->tables == before)
			made->tables += columns;
	}
	strbuf_deinit(&statements);
	return err;
}

/* The first shard's error, which the caller frees; frees those of the others. */
static struct error *first_error(struct clickhouse_answer *answers, size_t count)
{
	struct error *first = NULL;

	for (size_t i = 0; i < count; i++) {
		if (first == NULL)
			first = answers[i].err;
		else
			error_destroy(answers[i].err);
		answers[i].err = NULL;
	}
	return first;
}

static void free_answers(struct clickhouse_answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		error_destroy(answers[i].err);
		strbuf_deinit(&answers[i].bytes);
	}
	free(answers);
}

/* Sends a statement to every shard; fails if one does.  Free *answers in either case. */
static struct error *ask_all(struct clickhouse *c, struct str sql, bool without_database,
	struct clickhouse_answer **answers)
{
	size_t count = clickhouse_shard_count(c);

	*answers = xcalloc(count, sizeof(**answers));
	clickhouse_ask(c, sql, without_database, *answers);
	return first_error(*answers, count);
}

struct error *manage_init(struct clickhouse *c, const char *database,
	const struct store_retention *retention, struct store_made *made)
{
	size_t count = clickhouse_shard_count(c);
	struct clickhouse_answer *databases = NULL, *versions = NULL;
	char *create = xasprintf("CREATE DATABASE IF NOT EXISTS %s", database);
	struct error *err = ask_all(c, str_from(create), true, &databases);

	free(create);
	free_answers(databases, count);
	*made = (struct store_made){0};
	if (err)
		return err;
	err = ask_all(c, STR("SELECT version() FORMAT TabSeparated"), true, &versions);
	for (size_t i = 0; i < count && err == NULL; i++)
		err = init_shard(c, i, strbuf_str(&versions[i].bytes), retention, made);
	free_answers(versions, count);
	return err;
}

/* ---- status ---- */

static const char tables_sql[] =
	"SELECT table, sum(rows) AS wire_count, sum(bytes) AS byte_count FROM system.parts "
	"WHERE active AND database = currentDatabase() GROUP BY table ORDER BY table "
	"FORMAT RowBinary";

static char *copy(struct str s)
{
	return xstrndup(s.data, s.size);
}

/* Reads how many recordings know a figure, and its sum; UINT64_MAX: none does. */
static uint64_t read_figure(struct cursor *c)
{
	uint64_t known = cursor_u64(c), sum = cursor_u64(c);

	return known ? sum : UINT64_MAX;
}

static void read_status(struct store_status *status, const char *shard, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct store_status_row row = {0};
		struct str service = wire_str(c), host = wire_str(c);

		row.first_s = cursor_u32(c);
		row.last_s = cursor_u32(c);
		row.received_s = cursor_u32(c);
		row.profiles = cursor_u64(c);
		row.pairs = cursor_u64(c);
		row.lost = read_figure(c);
		row.truncated = read_figure(c);
		row.unresolved = read_figure(c);
		if (!cursor_ok(c))
			break;
		row.shard = xstrdup(shard);
		row.service = copy(service);
		row.host = copy(host);
		vec_push(&status->rows, row);
	}
}

static void read_losses(struct store_status *status, const char *shard, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct store_loss_row row = {0};
		struct str host = wire_str(c), service = wire_str(c), kind = wire_str(c),
			   text = wire_str(c);

		row.count = cursor_u64(c);
		row.recordings = cursor_u64(c);
		row.last_s = cursor_u32(c);
		if (!cursor_ok(c))
			break;
		row.shard = xstrdup(shard);
		row.host = copy(host);
		row.service = copy(service);
		row.kind = copy(kind);
		row.text = copy(text);
		vec_push(&status->losses, row);
	}
}

static void read_tables(struct store_status *status, const char *shard, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct store_table_row row = {0};
		struct str table = wire_str(c);

		row.rows = cursor_u64(c);
		row.bytes = cursor_u64(c);
		if (!cursor_ok(c))
			break;
		row.shard = xstrdup(shard);
		row.table = copy(table);
		vec_push(&status->tables, row);
	}
}

/* Reads each shard's answer with `read`.  Notes the error of one that fails, and skips it then. */
static void ask_status(struct clickhouse *clickhouse, bool *has_failed, struct str sql,
	struct store_status *status,
	void (*read)(struct store_status *status, const char *shard, struct cursor *c))
{
	size_t count = clickhouse_shard_count(clickhouse), asked_count = 0;
	struct clickhouse_statement *statements = xcalloc(count, sizeof(*statements));
	struct clickhouse_statement **asked = xcalloc(count, sizeof(*asked));

	for (size_t i = 0; i < count; i++) {
		statements[i] = (struct clickhouse_statement){.shard = i, .sql = sql};
		if (!has_failed[i])
			asked[asked_count++] = &statements[i];
	}
	clickhouse_ask_all(clickhouse, asked, asked_count);
	for (size_t i = 0; i < asked_count; i++) {
		struct clickhouse_answer *answer = &asked[i]->answer;
		const char *shard = clickhouse_shard_name(clickhouse, asked[i]->shard);
		struct cursor c;

		cursor_init(&c, answer->bytes.data, answer->bytes.size, shard, 0);
		if (answer->err == NULL) {
			read(status, shard, &c);
			answer->err = cursor_error(&c);
		}
		has_failed[asked[i]->shard] = answer->err != NULL;
		if (answer->err)
			vec_push(&status->errors, answer->err);
		strbuf_deinit(&answer->bytes);
	}
	free(asked);
	free(statements);
}

struct error *manage_status(
	struct clickhouse *c, const struct store_query *range, struct store_status *status)
{
	bool *has_failed = xcalloc(clickhouse_shard_count(c), sizeof(*has_failed));
	struct strbuf sql = {0};

	select_status(range, &sql);
	ask_status(c, has_failed, strbuf_str(&sql), status, read_status);
	strbuf_clear(&sql);
	select_losses(range, &sql);
	ask_status(c, has_failed, strbuf_str(&sql), status, read_losses);
	ask_status(c, has_failed, STR(tables_sql), status, read_tables);
	strbuf_deinit(&sql);
	free(has_failed);
	return NULL;
}

/* ---- retention ---- */

/* Appends the name of a time's partition: its day or month. */
static void put_partition(struct strbuf *b, uint64_t time_s, bool is_month)
{
	time_t seconds = (time_t)time_s;
	struct tm utc;
	char text[16];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), is_month ? "%Y%m" : "%Y%m%d", &utc);
	strbuf_add(b, str_from(text));
}

/* Drops the partitions of a shard's table that are older than the one of `before_s`. */
static struct error *drop_before(struct clickhouse *c, size_t shard, const char *table,
	uint64_t before_s, bool is_month, size_t *dropped)
{
	struct strbuf sql = {0}, answer = {0};
	struct error *err;

	strbuf_printf(&sql,
		"SELECT DISTINCT partition FROM system.parts WHERE active AND "
		"database = currentDatabase() AND table = '%s' AND toUInt32(partition) < ",
		table);
	put_partition(&sql, before_s, is_month);
	strbuf_add(&sql, STR(" FORMAT TabSeparated"));
	err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &answer);
	struct str rest = strbuf_str(&answer);

	while (err == NULL && rest.size) {
		struct str partition = str_take_line(&rest);
		struct strbuf none = {0};

		strbuf_clear(&sql);
		strbuf_printf(&sql, "ALTER TABLE %s DROP PARTITION %llu", table,
			strtoull(partition.data, NULL, 10));
		err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &none);
		*dropped += err == NULL;
		strbuf_deinit(&none);
	}
	strbuf_deinit(&answer);
	strbuf_deinit(&sql);
	return err;
}

/* Drops a shard's frames that no stack refers to. */
static struct error *drop_frames(
	struct clickhouse *c, size_t shard, uint64_t now_s, unsigned stack_days)
{
	struct strbuf sql = {0}, answer = {0}, none = {0};
	bool has_time;
	struct error *err = look_for_frame_time(c, shard, &has_time);

	if (err == NULL && has_time) {
		store_schema_old_frames("SELECT count() FROM frames WHERE", " FORMAT TabSeparated",
			now_s, stack_days, &sql);
		err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &answer);
	}
	if (err == NULL && answer.size && strtoull(answer.data, NULL, 10) > 0) {
		strbuf_clear(&sql);
		store_schema_old_frames(
			"ALTER TABLE frames DELETE WHERE", "", now_s, stack_days, &sql);
		err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &none);
	}
	strbuf_deinit(&sql);
	strbuf_deinit(&answer);
	strbuf_deinit(&none);
	return err;
}

struct error *manage_retain(struct clickhouse *c, const struct store_retention *retention,
	uint64_t now_s, size_t *dropped)
{
	const struct {
		const char *table;
		unsigned days;
		bool is_month;
	} tables[] = {
		{"profiles", retention->profile_days, false},
		{"stacks", retention->stack_days, true},
		{"commits", retention->hour_days, true},
		{"hours", retention->hour_days, true},
		{"hour_commits", retention->hour_days, true},
	};
	struct error *err = NULL;

	*dropped = 0;
	for (size_t shard = 0; shard < clickhouse_shard_count(c); shard++) {
		for (size_t i = 0; i < ARRAY_SIZE(tables) && err == NULL; i++) {
			uint64_t age_s = (uint64_t)tables[i].days * DAY_S;

			if (age_s && age_s < now_s)
				err = drop_before(c, shard, tables[i].table, now_s - age_s,
					tables[i].is_month, dropped);
		}
		if (err == NULL && retention->stack_days)
			err = drop_frames(c, shard, now_s, retention->stack_days);
	}
	return err;
}

/* ---- sums of hours ---- */

/* An hour of a service: the number of batches that are summed, and the XOR of their ids. */
struct due_hour {
	struct select_hour hour;
	uint64_t batches, batch_sum;
};

struct due_hours {
	VEC(struct due_hour) list;
};

/* Adds a shard's hours to `due`.  Their texts live in the answer, which the caller frees. */
static struct error *read_due(struct clickhouse *c, size_t shard, struct str sql, bool with_built,
	struct strbuf *answer, struct due_hours *due)
{
	struct cursor rows;
	struct error *err = clickhouse_ask_one(c, shard, sql, answer);

	if (err)
		return err;
	cursor_init(&rows, answer->data, answer->size, clickhouse_shard_name(c, shard), 0);
	while (cursor_ok(&rows) && !cursor_at_end(&rows)) {
		struct due_hour d = {.hour.service = wire_str(&rows)};

		d.hour.hour = cursor_u64(&rows);
		d.hour.built = with_built ? cursor_u64(&rows) : 0;
		d.batches = cursor_u64(&rows);
		d.batch_sum = cursor_u64(&rows);
		if (cursor_ok(&rows))
			vec_push(&due->list, d);
	}
	return cursor_error(&rows);
}

/* Whether the hour is summed already, from the same batches. */
static bool is_summed(const struct due_hour *d, const struct due_hours *summed)
{
	for (size_t i = 0; i < summed->list.count; i++) {
		const struct due_hour *s = &summed->list.data[i];

		if (s->hour.hour == d->hour.hour && s->batches == d->batches &&
			s->batch_sum == d->batch_sum && str_equal(s->hour.service, d->hour.service))
			return true;
	}
	return false;
}

/*
 * Sums one hour.  If some of its rows have been dropped, the earlier sum is all that is left: then
 * *is_kept is true.  The commit comes last, so half a sum is never read.
 */
static struct error *sum_hour(struct clickhouse *c, size_t shard, struct due_hour *d, bool *is_kept)
{
	struct strbuf sql = {0}, answer = {0}, row = {0};
	struct cursor count;
	bool refused;
	struct error *err;

	d->hour.built = clock_unix_ns();
	select_batches_left(&d->hour, &sql);
	err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &answer);
	cursor_init(&count, answer.data, answer.size, clickhouse_shard_name(c, shard), 0);
	*is_kept = err == NULL && cursor_u64(&count) != d->batches;
	if (err == NULL && !*is_kept) {
		strbuf_clear(&sql);
		strbuf_clear(&answer);
		select_sum_hour(&d->hour, &sql);
		err = clickhouse_ask_one(c, shard, strbuf_str(&sql), &answer);
	}
	if (err == NULL && !*is_kept) {
		wire_put_str(&row, d->hour.service);
		wire_put_u32(&row, (uint32_t)(d->hour.hour * STORE_HOUR));
		wire_put_u64(&row, d->hour.built);
		wire_put_u64(&row, d->batches);
		wire_put_u64(&row, d->batch_sum);
		err = clickhouse_insert(c, shard, "hour_commits", strbuf_str(&row), &refused);
	}
	strbuf_deinit(&sql);
	strbuf_deinit(&answer);
	strbuf_deinit(&row);
	return err;
}

static struct error *roll_up_shard(struct clickhouse *c, size_t shard, uint64_t since_s,
	uint64_t until_s, size_t *hours, size_t *kept)
{
	const struct store_query range = {.since_s = since_s, .until_s = until_s};
	struct due_hours due = {0}, summed = {0};
	struct strbuf sqls[2] = {{0}}, answers[2] = {{0}};
	struct error *err;

	select_hours_due(since_s, until_s, &sqls[0]);
	select_hour_commits(&range, &sqls[1]);
	err = read_due(c, shard, strbuf_str(&sqls[0]), false, &answers[0], &due);
	if (err == NULL)
		err = read_due(c, shard, strbuf_str(&sqls[1]), true, &answers[1], &summed);
	for (size_t i = 0; i < due.list.count && err == NULL; i++) {
		bool is_kept = false;

		if (is_summed(&due.list.data[i], &summed))
			continue;
		err = sum_hour(c, shard, &due.list.data[i], &is_kept);
		*(is_kept ? kept : hours) += err == NULL;
	}
	for (size_t i = 0; i < 2; i++) {
		strbuf_deinit(&sqls[i]);
		strbuf_deinit(&answers[i]);
	}
	vec_deinit(&due.list);
	vec_deinit(&summed.list);
	return err;
}

struct error *manage_roll_up(
	struct clickhouse *c, uint64_t since_s, uint64_t until_s, size_t *hours, size_t *kept)
{
	struct error *err = NULL;

	*hours = *kept = 0;
	since_s = (since_s + STORE_HOUR - 1) / STORE_HOUR * STORE_HOUR;
	until_s = until_s / STORE_HOUR * STORE_HOUR;
	for (size_t i = 0; i < clickhouse_shard_count(c) && err == NULL && since_s < until_s; i++)
		err = roll_up_shard(c, i, since_s, until_s, hours, kept);
	return err;
}
