/*
 * The statements that make a store's tables.
 *
 * The columns are the same for all servers.  Current servers also get codecs, which halve the size,
 * and a time to live; on older ones, `sonde fleet retain` drops partitions.  Blocks of 4 MiB
 * compress arrays of hashes best.  A small index granularity keeps a query for one service from
 * reading its neighbours' rows, which have up to 512 pairs.
 *
 * A frame is sent at most a day before a stack that has it, and stacks are dropped by months, so
 * frames are kept for a month and two days more.  Their time is the server's own, in a materialized
 * column: senders of any version need not know it.  In a table that gets it later, the rows that
 * are there count as new.
 */
#include "store/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

#define BIG_BLOCKS ", min_compress_block_size=4194304, max_compress_block_size=4194304"

/* A column.  codec: on current servers; NULL: the default. */
struct column {
	const char *name, *type, *codec;
};

struct table {
	const char *name;
	const struct column *columns; /* name NULL at the end */
	const char *engine;	      /* with partitions, order and index granularity */
	const char *settings;	      /* on current servers; NULL: none */
	const char *time;   /* the column from which its time to live counts; NULL: none */
	size_t retention;   /* offset of its time to live in struct store_retention */
	unsigned more_days; /* in addition */
	const char *only;   /* a condition for rows that are dropped one by one; NULL: parts are */
};

#define LABELS                                                                                     \
	{                                                                                          \
		"labels", "Nested(k String, v String)", NULL                                       \
	}

static const struct column profile_columns[] = {
	{"service", "String", NULL},
	{"metric", "String", NULL},
	{"time", "DateTime", "Delta(4), ZSTD(1)"},
	{"profile_id", "UInt64", "ZSTD(1)"},
	{"batch_id", "UInt64", "ZSTD(1)"},
	{"chunk", "UInt32", "ZSTD(1)"},
	{"host", "String", NULL},
	LABELS,
	{"total", "Int64", "ZSTD(1)"},
	{"stack", "Array(UInt64)", "ZSTD(3)"},
	{"value", "Array(Int64)", "ZSTD(3)"},
	{0},
};

static const struct column commit_columns[] = {
	{"service", "String", NULL},
	{"time", "DateTime", "Delta(4), ZSTD(1)"},
	{"profile_id", "UInt64", "ZSTD(1)"},
	{"batch_id", "UInt64", "ZSTD(1)"},
	{"received", "DateTime", "Delta(4), ZSTD(1)"},
	{"duration", "UInt32", "ZSTD(1)"},
	{"host", "String", NULL},
	LABELS,
	/* The recording, whose profiles all have its statistics and notes. */
	{"source_id", "UInt64", "ZSTD(1)"},
	/* How many profiles of this service the recording became. */
	{"parts", "UInt32", "ZSTD(1)"},
	{"command", "String", NULL},
	{"format", "String", NULL},
	/* The recording's WHEN patterns. */
	{"patterns", "String", NULL},
	{"default_metric", "String", NULL},
	{"metrics", "Nested(name String, unit String, total Int64)", NULL},
	{"stats", "Nested(name String, value UInt64)", NULL},
	{"notes", "Nested(kind String, count UInt64, text String)", NULL},
	{"pairs", "UInt64", "ZSTD(1)"},
	{0},
};

static const struct column stack_columns[] = {
	{"service", "String", NULL},
	{"stack_hash", "UInt64", "ZSTD(1)"},
	{"last_seen", "DateTime", "ZSTD(1)"},
	/* Of a deep stack: the stack of its outer frames; 0: `frames` has all of them. */
	{"outer_hash", "UInt64", "ZSTD(1)"},
	{"is_outer", "UInt8", "ZSTD(1)"},
	{"frames", "Array(UInt64)", "ZSTD(3)"},
	{0},
};

#define FRAME_TIME_TYPE "DateTime MATERIALIZED now()"
#define FRAME_MORE_DAYS 33
/* What `sonde push --symbols` has named is not sent again. */
#define FRAME_ONLY "version = 0"

static const struct column frame_columns[] = {
	{"frame_id", "UInt64", "ZSTD(1)"},
	{"depth", "UInt8", "ZSTD(1)"},
	{"version", "UInt32", "ZSTD(1)"},
	{"kind", "UInt8", "ZSTD(1)"},
	{"module", "String", "ZSTD(3)"},
	{"build_id", "String", "ZSTD(3)"},
	{"address", "UInt64", "ZSTD(1)"},
	{"function", "String", "ZSTD(3)"},
	{"aliases", "String", "ZSTD(3)"},
	{"defined_in", "String", "ZSTD(3)"},
	{"defined_at", "UInt32", "ZSTD(1)"},
	{"file", "String", "ZSTD(3)"},
	{"line", "UInt32", "ZSTD(1)"},
	{"is_inline", "UInt8", "ZSTD(1)"},
	{"last_seen", FRAME_TIME_TYPE, "ZSTD(1)"},
	{0},
};

static const struct column hour_columns[] = {
	{"service", "String", NULL},
	{"metric", "String", NULL},
	{"hour", "DateTime", "Delta(4), ZSTD(1)"},
	{"built", "UInt64", "ZSTD(1)"},
	{"stack_hash", "UInt64", "ZSTD(1)"},
	{"weight", "Int64", "ZSTD(3)"},
	{0},
};

static const struct column hour_commit_columns[] = {
	{"service", "String", NULL},
	{"hour", "DateTime", NULL},
	{"built", "UInt64", NULL},
	{"batches", "UInt64", NULL},
	{"batch_sum", "UInt64", NULL},
	{0},
};

static const struct column schema_columns[] = {
	{"version", "UInt32", NULL},
	{"made", "DateTime", NULL},
	{0},
};

#define DAYS(member) offsetof(struct store_retention, member)

static const struct table tables[] = {
	{"stacks", stack_columns,
		"ReplacingMergeTree(last_seen) PARTITION BY toYYYYMM(last_seen) "
		"ORDER BY (service, frames, stack_hash) SETTINGS index_granularity=1024",
		BIG_BLOCKS, "last_seen", DAYS(stack_days), 0, NULL},
	/* After stacks, whose days it has. */
	{"frames", frame_columns,
		"ReplacingMergeTree(version) ORDER BY (frame_id, depth) "
		"SETTINGS index_granularity=1024",
		NULL, "last_seen", DAYS(stack_days), FRAME_MORE_DAYS, FRAME_ONLY},
	{"profiles", profile_columns,
		"ReplacingMergeTree PARTITION BY toYYYYMMDD(time) "
		"ORDER BY (service, metric, time, profile_id, batch_id, chunk) "
		"SETTINGS index_granularity=64",
		BIG_BLOCKS, "time", DAYS(profile_days), 0, NULL},
	{"commits", commit_columns,
		"ReplacingMergeTree(received) PARTITION BY toYYYYMM(time) "
		"ORDER BY (service, time, profile_id) SETTINGS index_granularity=1024",
		NULL, "time", DAYS(hour_days), 0, NULL},
	{"hours", hour_columns,
		"ReplacingMergeTree PARTITION BY toYYYYMM(hour) "
		"ORDER BY (service, metric, hour, stack_hash, built) "
		"SETTINGS index_granularity=8192",
		NULL, "hour", DAYS(hour_days), 0, NULL},
	{"hour_commits", hour_commit_columns,
		"ReplacingMergeTree(built) PARTITION BY toYYYYMM(hour) ORDER BY (service, hour) "
		"SETTINGS index_granularity=1024",
		NULL, "hour", DAYS(hour_days), 0, NULL},
	{"schema", schema_columns,
		"ReplacingMergeTree ORDER BY version SETTINGS index_granularity=1024", NULL, NULL,
		0, 0, NULL},
};

struct store_retention store_retention_settled(const struct store_retention *retention)
{
	struct store_retention settled = *retention;

	if (settled.profile_days == STORE_KEEP_AS_IS)
		settled.profile_days = 14;
	if (settled.stack_days == STORE_KEEP_AS_IS)
		settled.stack_days = 90;
	if (settled.hour_days == STORE_KEEP_AS_IS)
		settled.hour_days = 400;
	return settled;
}

struct error *store_dialect_of(struct str version, enum store_dialect *dialect)
{
	const unsigned first_current = 20;
	unsigned major = 0;
	size_t i = 0;

	for (; i < version.size && char_is_digit(version.data[i]) && major < 10000; i++)
		major = major * 10 + (unsigned)(version.data[i] - '0');
	if (i == 0 || i == version.size || version.data[i] != '.')
		return error_new(ERROR_INPUT, "not a ClickHouse server: it returned no version");
	*dialect = major < first_current ? STORE_DIALECT_OLD : STORE_DIALECT_CURRENT;
	return NULL;
}

static void put_columns(
	enum store_dialect dialect, const struct column *columns, struct strbuf *out)
{
	for (const struct column *c = columns; c->name; c++) {
		strbuf_printf(out, "%s%s %s", c == columns ? "" : ", ", c->name, c->type);
		if (dialect == STORE_DIALECT_CURRENT && c->codec)
			strbuf_printf(out, " CODEC(%s)", c->codec);
	}
}

/* How long a table with a time to live keeps its rows, in days. */
static unsigned days_of(const struct table *table, const struct store_retention *retention)
{
	unsigned days = *(const unsigned *)((const char *)retention + table->retention);

	return days == 0 || days == STORE_KEEP_AS_IS ? days : days + table->more_days;
}

/* " DELETE WHERE …", if rows are dropped one by one. */
static void put_only(const struct table *table, struct strbuf *out)
{
	if (table->only)
		strbuf_printf(out, " DELETE WHERE %s", table->only);
}

/* A time to live comes before the settings, which end the engine's text. */
static void put_engine(enum store_dialect dialect, const struct table *table,
	const struct store_retention *retention, struct strbuf *out)
{
	unsigned days = table->time ? days_of(table, retention) : 0;
	const char *settings = strstr(table->engine, " SETTINGS");

	if (dialect == STORE_DIALECT_OLD || days == 0) {
		strbuf_add(out, str_from(table->engine));
	} else {
		strbuf_add(out, (struct str){table->engine, (size_t)(settings - table->engine)});
		strbuf_printf(out, " TTL %s + INTERVAL %u DAY", table->time, days);
		put_only(table, out);
		strbuf_add(out, str_from(settings));
		strbuf_add(out, table->only ? STR("") : STR(", ttl_only_drop_parts=1"));
	}
	if (dialect == STORE_DIALECT_CURRENT && table->settings)
		strbuf_add(out, str_from(table->settings));
}

void store_schema_statements(
	enum store_dialect dialect, const struct store_retention *retention, struct strbuf *out)
{
	const struct store_retention settled = store_retention_settled(retention);

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		strbuf_printf(out, "CREATE TABLE IF NOT EXISTS %s (", tables[i].name);
		put_columns(dialect, tables[i].columns, out);
		strbuf_add(out, STR(") ENGINE="));
		put_engine(dialect, &tables[i], &settled, out);
		strbuf_add_char(out, '\0');
	}
	strbuf_printf(out, "INSERT INTO schema SELECT toUInt32(%d), now()", STORE_SCHEMA_VERSION);
	strbuf_add_char(out, '\0');
}

const char *store_schema_timed_table(size_t i)
{
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++)
		if (tables[k].time && i-- == 0)
			return tables[k].name;
	return NULL;
}

static bool contains(struct str text, const char *word)
{
	return text.size && memmem(text.data, text.size, word, strlen(word)) != NULL;
}

bool store_schema_keep(const char *table, struct str engine,
	const struct store_retention *retention, struct strbuf *out)
{
	const struct table *t = tables;
	char now[64];

	while (strcmp(t->name, table) != 0)
		t++;
	unsigned days = days_of(t, retention);
	bool has_time = contains(engine, " TTL ");

	snprintf(now, sizeof(now), " TTL %s + toIntervalDay(%u)", t->time, days);
	if (days == STORE_KEEP_AS_IS || (days == 0 && !has_time) || (days && contains(engine, now)))
		return false;
	if (days == 0) {
		strbuf_printf(out, "ALTER TABLE %s REMOVE TTL", table);
		return true;
	}
	strbuf_printf(out, "ALTER TABLE %s MODIFY TTL %s + INTERVAL %u DAY", table, t->time, days);
	put_only(t, out);
	return true;
}

unsigned store_schema_stack_days(struct str engine)
{
	const char *before = " TTL last_seen + toIntervalDay(";
	const char *found = memmem(engine.data, engine.size, before, strlen(before));
	unsigned days = 0;

	if (engine.size == 0 || found == NULL)
		return 0;
	for (const char *c = found + strlen(before);
		c < engine.data + engine.size && char_is_digit(*c) && days < 100000; c++)
		days = days * 10 + (unsigned)(*c - '0');
	return days;
}

const char store_schema_frame_time[] = "ALTER TABLE frames ADD COLUMN last_seen " FRAME_TIME_TYPE;

void store_schema_old_frames(const char *before, const char *after, uint64_t now_s,
	unsigned stack_days, struct strbuf *out)
{
	uint64_t age_s = ((uint64_t)stack_days + FRAME_MORE_DAYS) * 86400;

	strbuf_printf(out, "%s " FRAME_ONLY " AND last_seen < toDateTime(%llu)%s", before,
		(unsigned long long)(now_s > age_s ? now_s - age_s : 0), after);
}
