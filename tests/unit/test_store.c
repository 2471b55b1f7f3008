/*
 * Profiles through a store: what is fetched is what was sent, to the integer, however often and in
 * whatever pieces.  The servers here keep the rows that they get, and answer as ClickHouse does;
 * tests/e2e/store.py asks real ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../profile_checks.h"
#include "../property.h"
#include "../random_profile.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/wire.h"
#include "formats/sonde/capture_trouble.h"
#include "formats/sonde/layout/capture.h"
#include "model/builder.h"
#include "model/merge.h"
#include "store/address.h"
#include "store/fetch.h"
#include "store/fit.h"
#include "store/identity.h"
#include "model/note_key.h"
#include "store/loss_text.h"
#include "store/otlp_send.h"
#include "store/rows.h"
#include "store/send.h"

/* ---- servers ---- */

enum { TABLES = 4, SHARDS = 2 };
static const char *const table_names[TABLES] = {"frames", "stacks", "profiles", "commits"};

struct server {
	struct strbuf tables[TABLES]; /* rows, as they came */
	bool is_down;
};

struct clickhouse {
	struct server servers[SHARDS];
	size_t inserts, fails_from; /* inserts from that one on fail; 0: none */
	size_t hidden_frames; /* so many statements are answered as if frames were yet to come */
};

size_t clickhouse_shard_count(const struct clickhouse *c)
{
	(void)c;
	return SHARDS;
}

const char *clickhouse_shard_name(const struct clickhouse *c, size_t shard)
{
	(void)c;
	return shard ? "second" : "first";
}

size_t clickhouse_shard_of(const struct clickhouse *c, struct str host)
{
	(void)c;
	return host.size % SHARDS;
}

uint64_t clickhouse_bytes_sent(const struct clickhouse *c)
{
	return c->inserts;
}

void clickhouse_put_literal(struct strbuf *sql, struct str text)
{
	strbuf_add(sql, text);
}

struct error *clickhouse_insert(
	struct clickhouse *c, size_t shard, const char *table, struct str rows, bool *is_refused)
{
	c->inserts++;
	*is_refused = false;
	if (c->fails_from && c->inserts >= c->fails_from)
		return error_new(ERROR_INPUT, "cut off");
	for (size_t i = 0; i < TABLES; i++) {
		if (strcmp(table, table_names[i]) == 0)
			strbuf_add(&c->servers[shard].tables[i], rows);
	}
	return NULL;
}

static void skip_strings(struct cursor *c)
{
	for (uint64_t n = wire_count(c, 1); n > 0; n--)
		(void)wire_str(c);
}

static void skip_numbers(struct cursor *c)
{
	cursor_skip(c, wire_count(c, 8) * 8);
}

static struct cursor read_table(const struct server *s, size_t table)
{
	struct cursor c;

	cursor_init(&c, s->tables[table].data, s->tables[table].size, table_names[table], 0);
	return c;
}

/* Commits by (profile, batch): the last one of a profile counts. */
static void answer_commits(const struct server *s, struct map *batches, struct strbuf *out)
{
	struct cursor c = read_table(s, 3);
	struct map seen = {0};

	/* The newest of each profile, as ReplacingMergeTree has it. */
	for (int pass = 0; pass < 2; pass++) {
		uint32_t number = 0;

		c = read_table(s, 3);
		while (!cursor_at_end(&c)) {
			struct strbuf row = {0};
			struct str service = wire_str(&c);
			uint32_t time_s = cursor_u32(&c);
			uint64_t profile = cursor_u64(&c), batch = cursor_u64(&c);
			uint32_t newest = 0;

			(void)cursor_u32(&c); /* received */
			wire_put_str(&row, service);
			wire_put_u32(&row, time_s);
			wire_put_u64(&row, batch);
			wire_put_u32(&row, cursor_u32(&c));
			wire_put_str(&row, wire_str(&c)); /* host */
			skip_strings(&c);
			skip_strings(&c);
			const uint8_t *rest = c.at;

			(void)cursor_u64(&c);
			(void)cursor_u32(&c);
			for (int i = 0; i < 4; i++)
				(void)wire_str(&c);
			skip_strings(&c);
			skip_strings(&c);
			skip_numbers(&c);
			skip_strings(&c);
			skip_numbers(&c);
			skip_strings(&c);
			skip_numbers(&c);
			skip_strings(&c);
			strbuf_add(&row, (struct str){(const char *)rest, (size_t)(c.at - rest)});
			(void)cursor_u64(&c); /* pairs */
			assert_true(cursor_ok(&c));
			if (pass == 0) {
				map_put(&seen, profile, 0, number);
			} else if (map_get(&seen, profile, 0, &newest) && newest == number) {
				map_put(batches, profile, batch, 1);
				strbuf_add(out, strbuf_str(&row));
			}
			strbuf_deinit(&row);
			number++;
		}
	}
	map_deinit(&seen);
}

/* The sums of committed pairs; rows with equal keys once. */
struct pair_sums {
	struct map index; /* by stack and metric */
	VEC(int64_t) sums;
	VEC(uint64_t) stacks;
	struct str_table names;
	struct arena *arena;
};

static void add_pairs(const struct server *s, const struct map *batches, struct pair_sums *p)
{
	struct cursor c = read_table(s, 2);
	struct map seen = {0};

	while (!cursor_at_end(&c)) {
		uint32_t known;
		bool is_new;

		(void)wire_str(&c);
		uint32_t metric = str_table_intern(&p->names, wire_str(&c));
		(void)cursor_u32(&c);
		uint64_t profile = cursor_u64(&c), batch = cursor_u64(&c);
		uint32_t chunk = cursor_u32(&c);
		(void)wire_str(&c);
		skip_strings(&c);
		skip_strings(&c);
		(void)cursor_u64(&c);
		uint64_t count = wire_count(&c, 8);
		struct cursor stacks = cursor_sub(&c, count * 8);
		assert_int_equal(wire_count(&c, 8), count);
		struct cursor values = cursor_sub(&c, count * 8);
		assert_true(cursor_ok(&c) && count <= STORE_PAIRS_MAX);
		(void)map_at(&seen, profile ^ (uint64_t)chunk << 32, batch ^ metric, 0, &is_new);
		if (!is_new || !map_get(batches, profile, batch, &known))
			continue;
		while (count--) {
			uint64_t stack = cursor_u64(&stacks);
			uint32_t at =
				*map_at(&p->index, stack, metric, (uint32_t)p->sums.count, &is_new);

			if (is_new) {
				vec_push(&p->sums, 0);
				vec_push(&p->stacks, stack);
			}
			p->sums.data[at] += (int64_t)cursor_u64(&values);
		}
	}
	map_deinit(&seen);
}

/*
 * The rows of `stacks`: those of outer pieces, or those of one stack, each with its weights.  A
 * stack that was sent twice comes twice, as in a join without FINAL.
 */
static void answer_pieces(const struct server *s, bool is_outer, uint64_t wanted,
	struct str weights, struct strbuf *out)
{
	struct cursor c = read_table(s, 1);
	size_t found = 0;

	while (!cursor_at_end(&c)) {
		(void)wire_str(&c);
		uint64_t hash = cursor_u64(&c);
		(void)cursor_u32(&c);
		uint64_t outer = cursor_u64(&c);
		bool is_piece = cursor_u8(&c) != 0;
		uint64_t count = wire_count(&c, 8);
		const uint8_t *frames = cursor_bytes(&c, count * 8);

		assert_true(cursor_ok(&c) && count <= STORE_FRAMES_MAX);
		if (is_piece != is_outer || (!is_outer && hash != wanted))
			continue;
		found++;
		wire_put_u64(out, hash);
		wire_put_u64(out, outer);
		wire_put_uleb(out, count);
		strbuf_add(out, (struct str){(const char *)frames, count * 8});
		strbuf_add(out, weights);
	}
	if (!is_outer && found == 0) {
		wire_put_u64(out, wanted);
		wire_put_u64(out, 0);
		wire_put_uleb(out, 0);
		strbuf_add(out, weights);
	}
}

/* The metrics that the statement asks for, in its order. */
static size_t metrics_of(struct str sql, struct str *metrics, size_t most)
{
	const struct str before = STR("sum(if(m = "), after = STR(", part, toInt64(0)))");
	const char *end = sql.data + sql.size, *at = sql.data;
	size_t count = 0;

	while ((at = memmem(at, (size_t)(end - at), before.data, before.size)) != NULL) {
		at += before.size;
		const char *stop = memmem(at, (size_t)(end - at), after.data, after.size);

		assert_true(count < most && stop != NULL);
		metrics[count++] = (struct str){at, (size_t)(stop - at)};
	}
	return count;
}

static void answer_stacks(const struct server *s, struct str sql, struct strbuf *out)
{
	struct strbuf commits = {0}, weights = {0};
	struct map batches = {0};
	struct pair_sums p = {.arena = arena_create()};
	struct str metrics[64];
	size_t count = metrics_of(sql, metrics, ARRAY_SIZE(metrics));

	str_table_init(&p.names, p.arena);
	answer_commits(s, &batches, &commits);
	add_pairs(s, &batches, &p);
	for (size_t i = 0; i < p.sums.count; i++) {
		size_t before = 0;

		for (size_t k = 0; k < i; k++)
			before += p.stacks.data[k] == p.stacks.data[i];
		if (before)
			continue;
		strbuf_clear(&weights);
		for (size_t m = 0; m < count; m++) {
			uint32_t name, at;
			bool has = str_table_find(&p.names, metrics[m], &name) &&
				   map_get(&p.index, p.stacks.data[i], name, &at);

			wire_put_u64(&weights, has ? (uint64_t)p.sums.data[at] : 0);
		}
		answer_pieces(s, false, p.stacks.data[i], strbuf_str(&weights), out);
	}
	map_deinit(&p.index);
	vec_deinit(&p.sums);
	vec_deinit(&p.stacks);
	str_table_deinit(&p.names);
	arena_destroy(p.arena);
	map_deinit(&batches);
	strbuf_deinit(&commits);
	strbuf_deinit(&weights);
}

static bool reads(struct str sql, const char *text)
{
	return memmem(sql.data, sql.size, text, strlen(text)) != NULL;
}

static void answer(struct clickhouse *c, struct clickhouse_statement *q)
{
	const struct server *s = &c->servers[q->shard];
	struct strbuf *out = &q->answer.bytes;
	struct map batches = {0};

	q->answer = (struct clickhouse_answer){0};
	if (s->is_down)
		q->answer.err =
			error_new(ERROR_INPUT, "%s: refused", q->shard ? "second" : "first");
	else if (reads(q->sql, "RIGHT JOIN"))
		answer_stacks(s, q->sql, out);
	else if (reads(q->sql, "is_outer = 1"))
		answer_pieces(s, true, 0, STR(""), out);
	else if (reads(q->sql, "FROM frames") && c->hidden_frames)
		c->hidden_frames--;
	else if (reads(q->sql, "FROM frames"))
		strbuf_add(out, strbuf_str(&s->tables[0]));
	else if (!reads(q->sql, "FROM hour_commits"))
		answer_commits(s, &batches, out);
	map_deinit(&batches);
	q->done(q);
}

/* Answers come in another order than that of the statements. */
void clickhouse_ask_all(
	struct clickhouse *c, struct clickhouse_statement *const *statements, size_t count)
{
	for (size_t i = 1; i < count; i += 2)
		answer(c, statements[i]);
	for (size_t i = count; i-- > 0;)
		if (i % 2 == 0)
			answer(c, statements[i]);
}

static void servers_deinit(struct clickhouse *c)
{
	for (size_t i = 0; i < SHARDS; i++)
		for (size_t k = 0; k < TABLES; k++)
			strbuf_deinit(&c->servers[i].tables[k]);
}

/* ---- cases ---- */

static struct error *send(
	struct clickhouse *c, const struct profile *p, const char *host, uint32_t every_s)
{
	const struct store_rows_options options = {.service = STR("api"),
		.host = str_from(host),
		.every_s = every_s,
		.time_s = 1700000000};
	struct store_rows rows;
	struct store_sent sent = {0};
	struct error *err = store_rows_make(p, &options, &rows);

	if (err == NULL)
		err = send_clickhouse(c, strbuf_str(&rows.host), &rows, &sent);
	free(sent.where);
	store_rows_deinit(&rows);
	return err;
}

static struct profile *fetch(struct clickhouse *c)
{
	struct store_query query = {0};
	struct profile *p = NULL;

	struct error *err = fetch_clickhouse(c, &query, "store", &p);
	if (err)
		fail_msg("SEED=%" PRIu64 ": %s", property_seed, err->message);
	return p;
}

static int compare_lines(const void *a, const void *b)
{
	return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Whether both texts have the same lines, in any order: stacks are numbered as they come. */
static bool same_lines(struct str a, struct str b)
{
	VEC(struct str) lines[2] = {{0}};
	bool same = true;

	while (a.size)
		vec_push(&lines[0], str_take_line(&a));
	while (b.size)
		vec_push(&lines[1], str_take_line(&b));
	for (size_t i = 0; i < 2; i++)
		qsort(lines[i].data, lines[i].count, sizeof(struct str), compare_lines);
	same = lines[0].count == lines[1].count;
	for (size_t i = 0; same && i < lines[0].count; i++)
		same = str_equal(lines[0].data[i], lines[1].data[i]);
	vec_deinit(&lines[0]);
	vec_deinit(&lines[1]);
	return same;
}

/* Every metric of `wanted` has the same stacks and weights in `found`. */
static void check_same(const struct profile *wanted, const struct profile *found)
{
	for (size_t i = 0; i < wanted->metric_count; i++) {
		struct str name = profile_string(wanted, wanted->metrics[i].name);
		struct writer_options options = {.with_modules = true},
				      other = {.with_modules = true};

		options.metric = (metric_id){(uint32_t)i};
		if (!profile_find_metric(found, name, &other.metric))
			fail_msg("SEED=%" PRIu64 ": no metric %.*s", property_seed, STR_ARG(name));
		struct strbuf a = writer_text(&writer_folded, wanted, &options),
			      b = writer_text(&writer_folded, found, &other);

		check(wanted->total[i] == found->total[other.metric.i]);
		check(same_lines(strbuf_str(&a), strbuf_str(&b)));
		strbuf_deinit(&a);
		strbuf_deinit(&b);
	}
}

static struct random_shape shape_of(struct random *r, bool is_deep)
{
	struct random_shape shape = random_shape_any(r);

	shape.no_stacks = shape.arcs = shape.arc_costs = false;
	if (is_deep)
		shape.depth_max = 3 * STORE_FRAMES_MAX;
	return shape;
}

TEST(test_what_is_sent_is_fetched)
{
	for (struct property_seeds s = property_seeds(400, 100); property_next(&s);) {
		struct random r = random_from(property_seed);
		struct random_shape shape = shape_of(&r, property_seed % 8 == 0);
		struct profile *p = random_profile(property_seed, &shape);
		struct clickhouse c = {0};
		uint32_t every_s = random_below(&r, 3) * 30;

		for (uint32_t i = 0; i <= random_below(&r, 3); i++)
			assert_null(send(&c, p, "host", every_s));
		struct profile *found = fetch(&c);
		check_same(p, found);
		check(!has_note_of(found, NOTE_LOST, "store"));
		profile_destroy(found);
		profile_destroy(p);
		servers_deinit(&c);
	}
}

TEST(test_hosts_are_summed)
{
	for (struct property_seeds s = property_seeds(100, 30); property_next(&s);) {
		struct random_shape shape = random_shape_small;
		struct profile *one = random_profile(property_seed, &shape),
			       *other = random_profile(property_seed + 1000, &shape), *sum;
		const struct profile *both[] = {one, other};
		struct clickhouse c = {0};

		assert_null(profile_merge(both, 2, &sum));
		assert_null(send(&c, one, "a", 60));
		assert_null(send(&c, other, "bb", 60));
		struct profile *found = fetch(&c);
		check_same(sum, found);
		profile_destroy(found);
		/* A shard that does not answer is named. */
		c.servers[0].is_down = true;
		found = fetch(&c);
		check_same(one, found);
		expect_note(found, NOTE_LOST, 1, "first: refused");
		assert_non_null(strstr(
			profile_string(found, found->notes[0].text).data, "a shard is missing"));
		profile_destroy(found);
		profile_destroy(sum);
		profile_destroy(one);
		profile_destroy(other);
		servers_deinit(&c);
	}
}

/* A send that fails anywhere changes nothing, and can be repeated. */
TEST(test_half_a_profile_is_never_seen)
{
	for (struct property_seeds s = property_seeds(40, 10); property_next(&s);) {
		struct random_shape shape = random_shape_small;
		struct profile *before = random_profile(property_seed, &shape),
			       *p = random_profile(property_seed + 1000, &shape), *sum;
		const struct profile *both[] = {before, p};
		struct clickhouse c = {0};

		shape.samples = true;
		assert_null(profile_merge(both, 2, &sum));
		assert_null(send(&c, before, "host", 60));
		for (size_t cut = 1; cut <= TABLES; cut++) {
			c.fails_from = c.inserts + cut;
			struct error *err = send(&c, p, "host", 60);
			assert_non_null(err);
			error_destroy(err);
			struct profile *found = fetch(&c);
			check_same(before, found);
			profile_destroy(found);
		}
		c.fails_from = 0;
		assert_null(send(&c, p, "host", 60));
		struct profile *found = fetch(&c);
		check_same(sum, found);
		profile_destroy(found);
		profile_destroy(sum);
		profile_destroy(before);
		profile_destroy(p);
		servers_deinit(&c);
	}
}

/* Stacks that the store has are not sent again, until a day has passed. */
TEST(test_known_stacks_are_not_sent_again)
{
	char path[] = "/tmp/sonde-known-XXXXXX";
	const uint64_t now_s = 1700000000;
	struct profile *p = random_profile(1, &random_shape_small);
	struct store_rows_options options = {.service = STR("api"), .time_s = now_s};
	struct store_rows rows;
	struct known known;
	uint64_t stacks;

	close(mkstemp(path));
	known_load(&known, path, now_s);
	options.known = &known;
	assert_null(store_rows_make(p, &options, &rows));
	stacks = rows.stack_count;
	assert_true(stacks > 0 && rows.frame_count > 0);
	assert_int_equal(rows.sent.count, stacks + rows.frame_count);
	for (size_t i = 0; i < rows.sent.count; i++)
		known_add(&known, rows.sent.data[i]);
	store_rows_deinit(&rows);
	assert_null(known_save(&known, path));
	known_deinit(&known);
	for (uint64_t later_s = 0; later_s <= 2 * 86400; later_s += 43200) {
		bool is_due = later_s >= 86400;

		known_load(&known, path, now_s + later_s);
		assert_null(store_rows_make(p, &options, &rows));
		assert_int_equal(rows.stack_count, is_due ? stacks : 0);
		assert_int_equal(rows.frame_count > 0, is_due);
		assert_true(rows.pair_count > 0);
		store_rows_deinit(&rows);
		known_deinit(&known);
	}
	/* A store that was made anew has none of them; one that is the same has them all. */
	known_load(&known, path, now_s);
	known_check_birth(&known, 1699999999);
	assert_null(store_rows_make(p, &options, &rows));
	assert_int_equal(rows.stack_count, stacks);
	for (size_t i = 0; i < rows.sent.count; i++)
		known_add(&known, rows.sent.data[i]);
	store_rows_deinit(&rows);
	assert_null(known_save(&known, path));
	known_deinit(&known);
	known_load(&known, path, now_s);
	known_check_birth(&known, 1699999999);
	assert_null(store_rows_make(p, &options, &rows));
	assert_int_equal(rows.stack_count, 0);
	store_rows_deinit(&rows);
	known_deinit(&known);
	/* A damaged file is as good as none. */
	assert_int_equal(truncate(path, 60), 0);
	known_load(&known, path, now_s);
	assert_null(store_rows_make(p, &options, &rows));
	assert_int_equal(rows.stack_count, stacks);
	store_rows_deinit(&rows);
	known_deinit(&known);
	unlink(path);
	profile_destroy(p);
}

/* ClickHouse refuses an insert into more than 100 days. */
TEST(test_inserts_have_few_days)
{
	struct random_shape shape = random_shape_small;
	struct store_rows_options options = {
		.service = STR("api"), .every_s = 60, .time_s = 1700000000};
	struct store_rows rows;
	uint64_t days = 0;

	shape.samples = true;
	shape.stacks = 400;
	struct profile *p = random_profile(3, &shape);

	for (size_t i = 0; i < p->samples.count; i++)
		p->samples.time_ns[i] = i * 3 * 86400 * SECOND_NS;
	assert_null(store_rows_make(p, &options, &rows));
	for (size_t i = 0; i < rows.profiles.parts.count; i++) {
		uint32_t last_day = 0, of_part = 0;
		struct cursor c;

		cursor_init(&c, rows.profiles.parts.data[i].data, rows.profiles.parts.data[i].size,
			"", 0);
		while (!cursor_at_end(&c)) {
			(void)wire_str(&c);
			(void)wire_str(&c);
			uint32_t day = cursor_u32(&c) / 86400;
			cursor_skip(&c, 8 + 8 + 4);
			(void)wire_str(&c);
			skip_strings(&c);
			skip_strings(&c);
			(void)cursor_u64(&c);
			skip_numbers(&c);
			skip_numbers(&c);
			assert_true(cursor_ok(&c));
			of_part += day != last_day;
			last_day = day;
		}
		assert_true(of_part > 0 && of_part <= 100);
		days += of_part;
	}
	assert_true(days > 200 && rows.profiles.parts.count > 2);
	assert_int_equal(rows.profiles.parts.count, rows.commits.parts.count);
	store_rows_deinit(&rows);
	profile_destroy(p);
}

/* What was committed and is gone is counted, not left out silently. */
TEST(test_missing_rows_are_noted)
{
	struct profile *p = random_profile(1, &random_shape_small), *found;
	struct clickhouse c = {0};

	assert_null(send(&c, p, "host", 60));
	strbuf_clear(&c.servers[0].tables[1]);
	found = fetch(&c);
	assert_int_equal(found->total[0], p->total[0]);
	assert_true(has_note_of(found, NOTE_LOST, "stacks are not in the store"));
	profile_destroy(found);
	strbuf_clear(&c.servers[0].tables[2]);
	found = fetch(&c);
	assert_int_equal(found->total[0], 0);
	assert_true(has_note_of(found, NOTE_LOST, "are no longer in it"));
	profile_destroy(found);
	profile_destroy(p);
	servers_deinit(&c);
}

/* Frames that came after they were asked for, and before the stacks that have them, are whole. */
TEST(test_frames_that_come_meanwhile)
{
	struct profile *p = random_profile(1, &random_shape_small), *found;
	struct clickhouse c = {0};

	assert_null(send(&c, p, "host", 60));
	c.hidden_frames = SHARDS;
	found = fetch(&c);
	check_same(p, found);
	assert_false(has_note_of(found, NOTE_LOST, "not in the store"));
	profile_destroy(found);
	/* Those that never come are counted once. */
	strbuf_clear(&c.servers[0].tables[0]);
	strbuf_clear(&c.servers[1].tables[0]);
	found = fetch(&c);
	assert_int_equal(found->total[0], p->total[0]);
	assert_true(has_note_of(found, NOTE_LOST, "frames of stacks are not in the store"));
	profile_destroy(found);
	profile_destroy(p);
	servers_deinit(&c);
}

/* ---- what fits ---- */

#define SHAPE(pattern, name, unit)                                                                 \
	{                                                                                          \
		.when = STR(pattern), .has_stacks = true,                                          \
		.names = (const struct str[]){STR(name)},                                          \
		.units = (const struct str[]){STR(unit)}, .metric_count = 1                        \
	}

/* Whatever the order, the units and the pattern of most recordings are those of the sum. */
TEST(test_the_largest_part_is_chosen)
{
	const struct {
		struct fit_shape shape;
		int count;
		bool fits;
	} rows[] = {
		{SHAPE("", "cpu", "ns"), 2, true},
		{SHAPE("", "cpu", "count"), 1, false},
		{SHAPE("", "heap", "bytes"), 1, true},
		{SHAPE("a\0", "cpu", "ns"), 3, false},
		/* Equally many: a count is the less certain. */
		{SHAPE("", "wall", "count"), 1, false},
		{SHAPE("", "wall", "ms"), 1, true},
	};
	size_t count = ARRAY_SIZE(rows);

	for (size_t turn = 0; turn < count; turn++) {
		struct common_notes notes;
		struct fit fit;

		fit_init(&fit);
		common_notes_init(&notes);
		for (size_t i = 0; i < count; i++)
			for (int k = 0; k < rows[(turn + i) % count].count; k++)
				fit_add(&fit, &rows[(turn + i) % count].shape, STR("api"),
					STR("web1"), true);
		assert_true(fit.is_mixed);
		fit_choose(&fit);
		for (size_t i = 0; i < count; i++)
			assert_true(fit_has(&fit, &rows[i].shape) == rows[i].fits);
		fit_note(&fit, &notes);
		assert_int_equal(notes.rows.count, 3);
		common_notes_deinit(&notes);
		fit_deinit(&fit);
	}
}

/* One that fits nothing, not even itself, must not be the one that all others have to fit. */
TEST(test_a_metric_in_two_units)
{
	const struct str names[] = {STR("cpu"), STR("cpu")}, units[] = {STR("ns"), STR("us")};
	const struct fit_shape odd = {
		.has_stacks = true, .names = names, .units = units, .metric_count = 2};
	const struct fit_shape plain = {
		.has_stacks = true, .names = names, .units = units, .metric_count = 1};
	struct fit fit;

	fit_init(&fit);
	fit_add(&fit, &plain, STR("api"), STR("web1"), true);
	assert_false(fit.is_mixed);
	for (int i = 0; i < 3; i++)
		fit_add(&fit, &odd, STR("api"), STR("web2"), true);
	assert_true(fit.is_mixed);
	fit_choose(&fit);
	assert_false(fit_has(&fit, &odd));
	assert_true(fit_has(&fit, &plain));
	fit_deinit(&fit);
}

/* Many are named up to a limit, and the rest is counted. */
TEST(test_notes_of_what_is_left_out)
{
	const struct fit_shape plain = SHAPE("", "cpu", "ns");
	const struct fit_shape odd = SHAPE("", "cpu", "count");
	struct common_notes notes;
	struct fit fit;
	char host[16];

	fit_init(&fit);
	common_notes_init(&notes);
	for (int i = 0; i < 20; i++) {
		snprintf(host, sizeof(host), "web%d", i);
		fit_add(&fit, i < 9 ? &odd : &plain, STR("api"), str_from(host), true);
	}
	fit_choose(&fit);
	fit_note(&fit, &notes);
	assert_int_equal(notes.rows.count, 9);
	assert_string_equal(notes.rows.data[0].text.data,
		"1 recording of service api on host web0 is left out: cpu in count; most have it "
		"in ns");
	assert_non_null(strstr(
		notes.rows.data[8].text.data, "1 more recording is left out for such reasons"));
	common_notes_deinit(&notes);
	fit_deinit(&fit);
}

/* Recordings of one second, with equal totals: known by their stacks, and not by their names. */
TEST(test_recordings_are_identified)
{
	static const struct {
		const char *function;
		uint64_t address;
		bool is_same;
	} rows[] = {{"", 0x10, true}, {"named", 0x10, true}, {"named", 0x20, false}};
	uint64_t first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct builder *b = builder_create();
		struct profile *p;

		(void)builder_metric(b, STR("cpu-time"), STR("ns"));
		object_id object = builder_object(b, STR("/bin/a"), STR("ab12"), OBJECT_USER);
		function_id function =
			builder_function(b, builder_string(b, str_from(rows[i].function)), object,
				builder_string(b, STR("")), 0);
		frame_id frame = builder_frame(
			b, function, builder_string(b, STR("")), 0, false, rows[i].address);

		builder_weight(b, builder_stack(b, (stack_id){0}, frame), &(int64_t){10}, 1);
		assert_null(builder_finish(b, &p));
		uint64_t id = identity_recording(p, STR("web1"), 7 * SECOND_NS);

		first = i ? first : id;
		assert_true((id == first) == rows[i].is_same);
		assert_true(identity_recording(p, STR("web2"), 7 * SECOND_NS) != id);
		assert_true(identity_recording(p, STR("web1"), 8 * SECOND_NS) != id);
		profile_destroy(p);
	}
}

TEST(test_addresses)
{
	static const struct {
		const char *text, *shards, *database;
		bool is_secure;
		const char *exposed;
	} good[] = {
		{"clickhouse://db", "db:8123 ", "sonde", false, "db:8123"},
		{"clickhouse://127.0.0.1/x_1", "127.0.0.1:8123 ", "x_1", false, NULL},
		{"clickhouse://127.0.0.1.example", "127.0.0.1.example:8123 ", "sonde", false,
			"127.0.0.1.example:8123"},
		{"clickhouse://localhost:9,10.0.0.1", "localhost:9 10.0.0.1:8123 ", "sonde", false,
			"10.0.0.1:8123"},
		{"clickhouse://a,b:9,[::1]:7/?secure=true", "a:8443 b:9 [::1]:7 ", "sonde", true,
			NULL},
		{"clickhouse://[::1]?shard=c&shard=d:1", "[::1]:8123 c:8123 d:1 ", "sonde", false,
			"c:8123"},
		{"clickhouse://[::2]", "[::2]:8123 ", "sonde", false, "[::2]:8123"},
	};
	static const char *const bad[] = {"", "http://db", "clickhouse://", "clickhouse://a,",
		"clickhouse://a/x;y", "clickhouse://a?x=1", "clickhouse://a b",
		"clickhouse://u:p@a", "clickhouse://a?secure=maybe", "clickhouse://a/x/../y"};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct store_address a;
		struct strbuf shards = {0};

		assert_null(store_address_parse(good[i].text, &a));
		for (size_t k = 0; k < a.shards.count; k++)
			strbuf_printf(&shards, "%s ", a.shards.data[k]);
		assert_string_equal(shards.data, good[i].shards);
		assert_string_equal(a.database, good[i].database);
		assert_int_equal(a.is_secure, good[i].is_secure);
		const char *exposed = store_address_exposed(&a);
		assert_true(!exposed == !good[i].exposed);
		if (exposed)
			assert_string_equal(exposed, good[i].exposed);
		strbuf_deinit(&shards);
		store_address_deinit(&a);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct store_address a;
		struct error *err = store_address_parse(bad[i], &a);

		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		assert_null(strstr(err->message, "u:p"));
		error_destroy(err);
	}
}

TEST(test_tokens_are_exposed)
{
	static const struct {
		const char *url, *place;
	} rows[] = {{"HTTP://a.example", "a.example"}, {"a.example:1/b@c", "a.example:1"},
		{"http://[fe80::1]:4318", "[fe80::1]:4318"}, {"http://10.0.0.1?x", "10.0.0.1"},
		{"http://localhost.example/", "localhost.example"}, {"HTTPS://a.example", NULL},
		{"http://[::1]", NULL}, {"http://[::1]:4318/x", NULL}, {"http://127.0.0.9", NULL},
		{"localhost:4318", NULL}, {"http://", ""}, {"http://me:secret@a.example", NULL}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *warning = otlp_send_warning(rows[i].url), *place;

		assert_true(!warning == !rows[i].place);
		if (warning) {
			place = xasprintf(" unencrypted to %s;", rows[i].place);
			assert_non_null(strstr(warning, place));
			free(place);
		}
		free(warning);
	}
}

/* The note of a recording of which a counter has this value. */
static char *key_of_counter(size_t counter, uint64_t value)
{
	uint64_t counters[CAPTURE_COUNTER_COUNT] = {0};
	struct builder *b = builder_create();
	struct strbuf key = {0};
	struct profile *p;

	counters[counter] = value;
	builder_metric(b, STR("samples"), STR("count"));
	capture_trouble_counters(b, counters);
	assert_null(builder_finish(b, &p));
	if (p->note_count)
		note_key_put(profile_string(p, p->notes[0].text), &key);
	profile_destroy(p);
	return key.data;
}

TEST(test_losses_have_one_key)
{
	char *keys[CAPTURE_COUNTER_COUNT];
	size_t known = 0;

	for (size_t i = 0; i < CAPTURE_COUNTER_COUNT; i++) {
		char *several = key_of_counter(i, 7);

		keys[i] = key_of_counter(i, 1);
		if (keys[i])
			assert_string_equal(keys[i], several);
		for (size_t k = 0; k < i && keys[i]; k++)
			if (keys[k])
				assert_string_not_equal(keys[i], keys[k]);
		known += keys[i] != NULL;
		free(several);
	}
	assert_true(known > 15);
	for (size_t i = 0; i < CAPTURE_COUNTER_COUNT; i++)
		free(keys[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_sent_is_fetched),
		cmocka_unit_test(test_hosts_are_summed),
		cmocka_unit_test(test_half_a_profile_is_never_seen),
		cmocka_unit_test(test_known_stacks_are_not_sent_again),
		cmocka_unit_test(test_inserts_have_few_days),
		cmocka_unit_test(test_missing_rows_are_noted),
		cmocka_unit_test(test_frames_that_come_meanwhile),
		cmocka_unit_test(test_the_largest_part_is_chosen),
		cmocka_unit_test(test_a_metric_in_two_units),
		cmocka_unit_test(test_notes_of_what_is_left_out),
		cmocka_unit_test(test_recordings_are_identified),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_tokens_are_exposed),
		cmocka_unit_test(test_losses_have_one_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
