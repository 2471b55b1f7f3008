/*
 * Statements for reading.
 *
 * Old and new servers both understand them because they follow some rules: no output column has the
 * name of a source column that its expression uses, and each joined subquery has an alias.  Names
 * from users and profiles are written as hexadecimal literals.
 */
#include "store/select.h"

#include "store/loss_text.h"

/* " AND COLUMN IN ('…', …)", for is "IN" or "NOT IN"; nothing if the list is empty. */
static void put_names(const char *column, const char *is, const struct str *names, size_t count,
	struct strbuf *sql)
{
	if (count == 0)
		return;
	strbuf_printf(sql, " AND %s %s (", column, is);
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_add(sql, STR(", "));
		clickhouse_put_literal(sql, names[i]);
	}
	strbuf_add_char(sql, ')');
}

static void put_range(const struct store_query *q, struct strbuf *sql)
{
	if (q->since_s)
		strbuf_printf(sql, " AND time >= toDateTime(%llu)", (unsigned long long)q->since_s);
	if (q->until_s)
		strbuf_printf(sql, " AND time < toDateTime(%llu)", (unsigned long long)q->until_s);
}

static void put_services(const struct store_query *q, struct strbuf *sql)
{
	put_names("service", "IN", q->services.data, q->services.count, sql);
	put_names("service", "NOT IN", q->not_services.data, q->not_services.count, sql);
}

/* Without a label, its value is the empty text: it is not the one that is excluded. */
static void put_label(const struct store_label *label, const char *is, struct strbuf *sql)
{
	strbuf_add(sql, STR(" AND labels.v[indexOf(labels.k, "));
	clickhouse_put_literal(sql, label->key);
	strbuf_printf(sql, ")] %s ", is);
	clickhouse_put_literal(sql, label->value);
}

/* Conditions on columns that profiles and commits share; service and time use their index. */
static void put_where(const struct store_query *q, struct strbuf *sql)
{
	strbuf_add(sql, STR(" WHERE 1"));
	put_services(q, sql);
	put_range(q, sql);
	put_names("host", "IN", q->hosts.data, q->hosts.count, sql);
	put_names("host", "NOT IN", q->not_hosts.data, q->not_hosts.count, sql);
	for (size_t i = 0; i < q->labels.count; i++)
		put_label(&q->labels.data[i], "=", sql);
	for (size_t i = 0; i < q->not_labels.count; i++)
		put_label(&q->not_labels.data[i], "!=", sql);
}

/* Conditions on columns that only commits have. */
static void put_fit(const struct fit *fit, struct strbuf *sql)
{
	if (fit == NULL)
		return;
	strbuf_add(sql, STR(" AND patterns = "));
	clickhouse_put_literal(sql, fit->first->shape.when);
	strbuf_printf(sql, " AND has(metrics.name, concat(metrics.name[1], ' (old)')) = %d",
		fit->first->shape.is_change);
	for (size_t i = 0; i < fit->units.count; i++) {
		const struct fit_unit *unit = &fit->units.data[i];

		if (!unit->is_disputed)
			continue;
		strbuf_add(sql, STR(" AND arrayCount((a_name, a_unit) -> a_name = "));
		clickhouse_put_literal(sql, unit->name);
		strbuf_add(sql, STR(" AND a_unit != "));
		clickhouse_put_literal(sql, unit->unit);
		strbuf_add(sql, STR(", metrics.name, metrics.unit) = 0"));
	}
}

void select_commits(const struct store_query *query, const struct fit *fit, struct strbuf *sql)
{
	strbuf_add(sql,
		STR("SELECT service, toUInt32(time), batch_id, duration, host, source_id, parts, "
		    "command, format, patterns, default_metric, metrics.name, "
		    "metrics.unit, metrics.total, "
		    "stats.name, stats.value, notes.kind, notes.count, notes.text "
		    "FROM commits FINAL"));
	put_where(query, sql);
	put_fit(fit, sql);
	strbuf_add(sql, STR(" ORDER BY service, time, profile_id FORMAT RowBinary"));
}

void select_glance(const struct store_query *query, uint64_t before_s, struct strbuf *sql)
{
	struct store_query wide = *query;

	wide.since_s = query->since_s > before_s ? query->since_s - before_s : 0;
	strbuf_printf(sql,
		"SELECT host, toUInt32(max(time)) AS last_time, "
		"max(toUInt64(toUInt32(time)) + duration) AS last_end, "
		"groupBitXor(if(time >= toDateTime(%llu), bitXor(profile_id, batch_id), "
		"toUInt64(0))) AS mark FROM commits FINAL",
		(unsigned long long)query->since_s);
	put_where(&wide, sql);
	strbuf_add(sql, STR(" GROUP BY host ORDER BY host FORMAT RowBinary"));
}

/*
 * The hash of a pair's stack, or 0 for the empty stack in place of stacks without any of the
 * query's names.  Deep stacks always keep theirs: their outer frames are in rows of their own.
 */
static void put_hash(const struct store_query *q, struct strbuf *sql)
{
	static const char *const columns[] = {
		"function", "aliases", "module", "defined_in", "file"};

	if (q->names.count == 0) {
		strbuf_add(sql, STR("pair_stack"));
		return;
	}
	strbuf_add(sql, STR("if(pair_stack IN (SELECT stack_hash FROM stacks ARRAY JOIN frames AS "
			    "one_frame WHERE is_outer = 0"));
	put_services(q, sql);
	strbuf_add(sql, STR(" AND (outer_hash != 0 OR one_frame IN (SELECT frame_id FROM frames "
			    "WHERE 0"));
	for (size_t i = 0; i < q->names.count; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
			strbuf_printf(sql, " OR positionCaseInsensitive(%s, ", columns[k]);
			clickhouse_put_literal(sql, q->names.data[i]);
			strbuf_add(sql, STR(") > 0"));
		}
	}
	strbuf_add(sql, STR("))), pair_stack, toUInt64(0))"));
}

/* The number of an hour, whatever the server's time zone. */
#define HOUR_OF(column) "intDiv(toUInt32(" column "), 3600)"

/* "(unhex('…'), 473000), …"; with_built: and when each was built. */
static void put_hours(const struct select_hours *hours, bool with_built, struct strbuf *sql)
{
	for (size_t i = 0; i < hours->list.count; i++) {
		const struct select_hour *h = &hours->list.data[i];

		strbuf_add(sql, i ? STR(", (") : STR("("));
		clickhouse_put_literal(sql, h->service);
		strbuf_printf(sql, ", %llu", (unsigned long long)h->hour);
		if (with_built)
			strbuf_printf(sql, ", %llu", (unsigned long long)h->built);
		strbuf_add_char(sql, ')');
	}
}

/* ", BEFORE0AFTER0, BEFORE1AFTER1, …" for all metrics; after NULL: ", BEFORE0, BEFORE1, …". */
static void put_each(size_t count, const char *before, const char *after, struct strbuf *sql)
{
	for (size_t i = 0; i < count; i++) {
		strbuf_printf(sql, ", %s%zu", before, i);
		if (after)
			strbuf_printf(sql, "%s%zu", after, i);
	}
}

/* The columns by which the query keeps weights apart. */
static void put_kept(const struct store_query *query, const char *service, const char *labels,
	const char *time, struct strbuf *sql)
{
	if (query->by_service || query->by_label)
		strbuf_printf(sql, ", %s", service);
	if (query->by_label)
		strbuf_printf(sql, ", %s", labels);
	if (query->by_time)
		strbuf_printf(sql, ", %s", time);
}

/*
 * The committed pairs of the query, summed by hash and by what it keeps apart: a column for each
 * metric, PREFIX0, PREFIX1, ….  That takes half the time of groups by hash and metric.
 */
static void put_pairs(const struct store_query *query, const struct fit *fit,
	const struct str_table *metrics, const struct select_hours *hours, const char *prefix,
	struct strbuf *sql)
{
	strbuf_add(sql, STR("SELECT hash"));
	put_kept(query, "sv", "ho, lk, lv", "at", sql);
	for (size_t i = 0; i < metrics->count; i++) {
		strbuf_add(sql, STR(", sum(if(m = "));
		clickhouse_put_literal(sql, metrics->strings[i]);
		strbuf_printf(sql, ", part, toInt64(0))) AS %s%zu", prefix, i);
	}
	/* A subquery, because 26.7 finds no column if GROUP BY has the expression itself. */
	strbuf_add(sql, STR(" FROM (SELECT "));
	put_hash(query, sql);
	strbuf_add(sql, STR(" AS hash, metric AS m, pair_value AS part"));
	put_kept(query, "service AS sv", "host AS ho, labels.k AS lk, labels.v AS lv",
		"toUInt32(time) AS at", sql);
	strbuf_add(sql, STR(" FROM profiles FINAL "
			    "ARRAY JOIN stack AS pair_stack, value AS pair_value"));
	put_where(query, sql);
	if (hours->list.count) {
		strbuf_add(sql, STR(" AND (service, " HOUR_OF("time") ") NOT IN ("));
		put_hours(hours, false, sql);
		strbuf_add_char(sql, ')');
	}
	strbuf_add(sql, STR(" AND (profile_id, batch_id) IN (SELECT profile_id, batch_id FROM "
			    "commits FINAL"));
	put_where(query, sql);
	put_fit(fit, sql);
	strbuf_add(sql, STR(")) AS pairs GROUP BY hash"));
	put_kept(query, "sv", "ho, lk, lv", "at", sql);
}

/* The same, in columns w0, w1, …, with the sums of `hours` in place of their pairs. */
static void put_sums(const struct store_query *query, const struct fit *fit,
	const struct str_table *metrics, const struct select_hours *hours, struct strbuf *sql)
{
	if (hours->list.count == 0) {
		put_pairs(query, fit, metrics, hours, "w", sql);
		return;
	}
	strbuf_add(sql, STR("SELECT hash"));
	put_each(metrics->count, "sum(p", ") AS w", sql);
	strbuf_add(sql, STR(" FROM (SELECT hash"));
	put_each(metrics->count, "p", NULL, sql);
	strbuf_add(sql, STR(" FROM ("));
	put_pairs(query, fit, metrics, hours, "p", sql);
	strbuf_add(sql, STR(") AS pairs UNION ALL SELECT stack_hash AS hash"));
	for (size_t i = 0; i < metrics->count; i++) {
		strbuf_add(sql, STR(", if(metric = "));
		clickhouse_put_literal(sql, metrics->strings[i]);
		strbuf_printf(sql, ", weight, toInt64(0)) AS p%zu", i);
	}
	strbuf_add(sql, STR(" FROM hours FINAL WHERE (service, " HOUR_OF("hour") ", built) IN ("));
	put_hours(hours, true, sql);
	strbuf_add(sql, STR(")) AS parts GROUP BY hash"));
}

bool select_has_lists(const struct store_query *query)
{
	return query->by_service || query->by_label || query->by_time;
}

bool select_can_use_hours(const struct store_query *query)
{
	return !select_has_lists(query) && query->hosts.count == 0 && query->labels.count == 0 &&
	       query->not_hosts.count == 0 && query->not_labels.count == 0;
}

/*
 * The weights are on the right of the join, since a server keeps that side in memory, and streams
 * the other, which has all frames.
 */
void select_stacks(const struct store_query *query, const struct fit *fit,
	const struct str_table *metrics, const struct select_hours *hours, struct strbuf *sql)
{
	bool has_lists = select_has_lists(query);

	strbuf_add(sql, STR("SELECT hash, outer_hash, frames"));
	put_each(metrics->count, has_lists ? "ws" : "w", NULL, sql);
	put_kept(query, "svs", "hos, lks, lvs", "ats", sql);
	strbuf_add(sql, STR(" FROM (SELECT stack_hash AS hash, outer_hash, frames FROM stacks "
			    "WHERE is_outer = 0"));
	put_services(query, sql);
	strbuf_add(sql, STR(") AS known ANY RIGHT JOIN ("));
	if (has_lists) {
		strbuf_add(sql, STR("SELECT hash"));
		put_each(metrics->count, "groupArray(w", ") AS ws", sql);
		put_kept(query, "groupArray(sv) AS svs",
			"groupArray(ho) AS hos, groupArray(lk) AS lks, groupArray(lv) AS lvs",
			"groupArray(at) AS ats", sql);
		strbuf_add(sql, STR(" FROM ("));
	}
	put_sums(query, fit, metrics, hours, sql);
	strbuf_add(sql, has_lists ? STR(") AS sums GROUP BY hash") : STR(""));
	strbuf_add(sql, STR(") AS weighed USING hash FORMAT RowBinary"));
}

void select_hour_commits(const struct store_query *query, struct strbuf *sql)
{
	strbuf_add(sql, STR("SELECT service, toUInt64(" HOUR_OF(
				"hour") "), built, batches, "
					"batch_sum FROM hour_commits FINAL WHERE 1"));
	put_services(query, sql);
	if (query->since_s)
		strbuf_printf(
			sql, " AND hour >= toDateTime(%llu)", (unsigned long long)query->since_s);
	if (query->until_s)
		strbuf_printf(sql, " AND toUInt32(hour) + 3600 <= %llu",
			(unsigned long long)query->until_s);
	strbuf_add(sql, STR(" FORMAT RowBinary"));
}

/* A figure of a recording is in each of its commits. */
static void put_figure(const char *name, bool of_source, struct strbuf *sql)
{
	if (of_source)
		strbuf_printf(sql,
			", any(has(stats.name, '%s')) AS knows_%s, "
			"any(stats.value[indexOf(stats.name, '%s')]) AS its_%s",
			name, name, name, name);
	else
		strbuf_printf(sql, ", toUInt64(sum(knows_%s)) AS known_%s, sum(its_%s) AS sum_%s",
			name, name, name, name);
}

void select_status(const struct store_query *range, struct strbuf *sql)
{
	static const char *const figures[] = {"lost", "critical", "foreign"};

	strbuf_add(sql, STR("SELECT service, host, toUInt32(min(first_at)) AS first_time, "
			    "toUInt32(max(last_at)) AS last_time, toUInt32(max(came_at)) AS "
			    "last_received, sum(commit_count) AS profile_count, "
			    "sum(pair_count) AS all_pairs"));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		put_figure(figures[i], false, sql);
	strbuf_add(sql, STR(" FROM (SELECT service, host, source_id, min(time) AS first_at, "
			    "max(time) AS last_at, max(received) AS came_at, "
			    "count() AS commit_count, sum(pairs) AS pair_count"));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		put_figure(figures[i], true, sql);
	strbuf_add(sql, STR(" FROM commits FINAL"));
	put_where(range, sql);
	strbuf_add(sql, STR(" GROUP BY service, host, source_id) AS sources GROUP BY service, host "
			    "FORMAT RowBinary"));
}

void select_losses(const struct store_query *range, struct strbuf *sql)
{
	strbuf_add(sql, STR("SELECT host, of_service, kind, argMax(note_text, its_rank) AS "
			    "best_text, sum(its_count) AS all_count, uniqExactMerge(its_sources) "
			    "AS recordings, toUInt32(max(its_last)) AS last_time FROM (SELECT "
			    "host, of_service, kind, note_text, sum(note_count) AS its_count, "
			    "uniqExactState(source_id) AS its_sources, max(at) AS its_last, max("));
	loss_text_put_rank_sql("note_count", "at", sql);
	strbuf_add(sql, STR(") AS its_rank FROM (SELECT host, source_id, "
			    "if(uniqExact(service) = 1, any(service), '') AS of_service, "
			    "any(notes.kind) AS kinds, any(notes.count) AS counts, "
			    "any(notes.text) AS texts, max(time) AS at FROM commits FINAL"));
	put_where(range, sql);
	/* First of equal texts, as there are few; notes on symbols list load objects. */
	strbuf_add(sql, STR(" GROUP BY host, source_id) AS sources ARRAY JOIN kinds AS kind, "
			    "counts AS note_count, texts AS note_text "
			    "WHERE kind NOT IN ('guessed', 'info') "
			    "GROUP BY host, of_service, kind, note_text) AS texts_of_hosts "
			    "GROUP BY host, of_service, kind, if(kind = 'no-symbols', '', "));
	loss_text_put_sql("note_text", sql);
	strbuf_add(sql, STR(") FORMAT RowBinary"));
}

void select_hours_due(uint64_t since_s, uint64_t until_s, struct strbuf *sql)
{
	strbuf_printf(sql,
		"SELECT service, toUInt64(" HOUR_OF(
			"time") ") AS hour_number, count() AS batches, "
				"groupBitXor(batch_id) AS batch_sum FROM commits FINAL "
				"WHERE time >= toDateTime(%llu) AND time < toDateTime(%llu) "
				"GROUP BY service, hour_number FORMAT RowBinary",
		(unsigned long long)since_s, (unsigned long long)until_s);
}

/* " WHERE …": only the committed batches of an hour. */
static void put_hour(const struct select_hour *h, struct strbuf *sql)
{
	struct strbuf where = {0};

	strbuf_add(&where, STR(" WHERE service = "));
	clickhouse_put_literal(&where, h->service);
	strbuf_printf(&where, " AND time >= toDateTime(%llu) AND time < toDateTime(%llu)",
		(unsigned long long)(h->hour * STORE_HOUR),
		(unsigned long long)((h->hour + 1) * STORE_HOUR));
	strbuf_add(sql, strbuf_str(&where));
	strbuf_add(sql, STR(" AND (profile_id, batch_id) IN (SELECT profile_id, batch_id FROM "
			    "commits FINAL"));
	strbuf_add(sql, strbuf_str(&where));
	strbuf_add_char(sql, ')');
	strbuf_deinit(&where);
}

void select_batches_left(const struct select_hour *hour, struct strbuf *sql)
{
	strbuf_add(sql, STR("SELECT count() AS batches FROM (SELECT DISTINCT profile_id, batch_id "
			    "FROM profiles"));
	put_hour(hour, sql);
	strbuf_add(sql, STR(") AS batches_left FORMAT RowBinary"));
}

void select_sum_hour(const struct select_hour *hour, struct strbuf *sql)
{
	strbuf_printf(sql,
		"INSERT INTO hours SELECT service, metric, toDateTime(%llu) AS hour, "
		"toUInt64(%llu) AS built, pair_stack AS stack_hash, sum(pair_value) AS weight "
		"FROM profiles FINAL ARRAY JOIN stack AS pair_stack, value AS pair_value",
		(unsigned long long)(hour->hour * STORE_HOUR), (unsigned long long)hour->built);
	put_hour(hour, sql);
	strbuf_add(sql, STR(" GROUP BY service, metric, pair_stack"));
}

void select_outer(const struct store_query *query, struct strbuf *sql)
{
	strbuf_add(
		sql, STR("SELECT stack_hash, outer_hash, frames FROM stacks WHERE is_outer = 1"));
	put_services(query, sql);
	strbuf_add(sql, STR(" FORMAT RowBinary"));
}

void select_frames(const struct store_query *query, struct strbuf *sql)
{
	strbuf_add(sql, STR("SELECT frame_id, depth, version, kind, module, build_id, address, "
			    "function, aliases, defined_in, defined_at, file, line, is_inline "
			    "FROM frames FINAL"));
	if (query->services.count) {
		strbuf_add(sql, STR(" WHERE frame_id IN (SELECT arrayJoin(frames) FROM stacks "
				    "WHERE 1"));
		put_services(query, sql);
		strbuf_add_char(sql, ')');
	}
	/* Unlike those of profiles, these rows are small: normal blocks take half the time. */
	strbuf_add(sql, STR(" ORDER BY frame_id, depth SETTINGS max_block_size=8192 "
			    "FORMAT RowBinary"));
}
