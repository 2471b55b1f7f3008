/*
 * Statements for reading.
 *
 * What old and new servers both take has some rules: no output column has the name of a source
 * column that is used inside it, each joined subquery has an alias, and names from users and
 * profiles stand as literals of hexadecimal digits.
 */
#include "store/select.h"

/* " AND COLUMN IN ('…', …)"; nothing if the list is empty. */
static void put_names(const char *column, const struct str *names, size_t count, struct strbuf *sql)
{
	if (count == 0)
		return;
	strbuf_printf(sql, " AND %s IN (", column);
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
	put_names("service", q->services.data, q->services.count, sql);
}

/* What both profiles and commits can be chosen by; service and time use their index. */
static void put_where(const struct store_query *q, struct strbuf *sql)
{
	strbuf_add(sql, STR(" WHERE 1"));
	put_services(q, sql);
	put_range(q, sql);
	put_names("host", q->hosts.data, q->hosts.count, sql);
	for (size_t i = 0; i < q->labels.count; i++) {
		strbuf_add(sql, STR(" AND labels.v[indexOf(labels.k, "));
		clickhouse_put_literal(sql, q->labels.data[i].key);
		strbuf_add(sql, STR(")] = "));
		clickhouse_put_literal(sql, q->labels.data[i].value);
	}
}

void select_commits(const struct store_query *query, struct strbuf *sql)
{
	strbuf_add(sql,
		STR("SELECT service, toUInt32(time), duration, host, source_id, parts, "
		    "command, format, default_metric, metrics.name, metrics.unit, metrics.total, "
		    "stats.name, stats.value, notes.kind, notes.count, notes.text "
		    "FROM commits FINAL"));
	put_where(query, sql);
	strbuf_add(sql, STR(" ORDER BY service, time, profile_id FORMAT RowBinary"));
}

void select_stacks(const struct store_query *query, struct strbuf *sql)
{
	bool labels = query->by_label, times = query->by_time;

	strbuf_add(sql, STR("SELECT hash, outer_hash, frames, ms, ws"));
	strbuf_add(sql, labels ? STR(", svs, hos, lks, lvs") : STR(""));
	strbuf_add(sql, times ? STR(", ats") : STR(""));
	strbuf_add(sql, STR(" FROM (SELECT hash, groupArray(m) AS ms, groupArray(w) AS ws"));
	strbuf_add(sql, labels ? STR(", groupArray(sv) AS svs, groupArray(ho) AS hos, "
				     "groupArray(lk) AS lks, groupArray(lv) AS lvs")
			       : STR(""));
	strbuf_add(sql, times ? STR(", groupArray(at) AS ats") : STR(""));
	strbuf_add(sql, STR(" FROM (SELECT pair_stack AS hash, metric AS m, sum(pair_value) AS w"));
	strbuf_add(sql, labels ? STR(", service AS sv, host AS ho, labels.k AS lk, labels.v AS lv")
			       : STR(""));
	strbuf_add(sql, times ? STR(", toUInt32(time) AS at") : STR(""));
	strbuf_add(sql, STR(" FROM profiles FINAL "
			    "ARRAY JOIN stack AS pair_stack, value AS pair_value"));
	put_where(query, sql);
	strbuf_add(sql, STR(" AND (profile_id, batch_id) IN (SELECT profile_id, batch_id FROM "
			    "commits FINAL"));
	put_where(query, sql);
	strbuf_add(sql, STR(") GROUP BY hash, m"));
	strbuf_add(sql, labels ? STR(", sv, ho, lk, lv") : STR(""));
	strbuf_add(sql, times ? STR(", at") : STR(""));
	strbuf_add(sql, STR(") AS sums GROUP BY hash) AS weighed ANY LEFT JOIN ("
			    "SELECT stack_hash AS hash, outer_hash, frames FROM stacks "
			    "WHERE is_outer = 0"));
	put_services(query, sql);
	strbuf_add(sql, STR(") AS known USING hash FORMAT RowBinary"));
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
	strbuf_add(sql, STR(" ORDER BY frame_id, depth FORMAT RowBinary"));
}
