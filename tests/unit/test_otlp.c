/*
 * OTLP profiles read and written: files made by hand with figures known by hand, older layouts, and
 * random profiles written and read back.
 */
#include <stdlib.h>
#include <string.h>

#include "../later_fields.h"
#include "../property.h"
#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/alloc.h"
#include "base/protobuf.h"
#include "base/vec.h"
#include "formats/readers.h"

static struct error *try_read(struct str bytes, struct profile **p)
{
	*p = NULL;
	return try_profile(bytes, "in.otlp", "otlp", p);
}

static struct profile *read_good(struct str bytes)
{
	struct profile *p;
	struct error *err = try_read(bytes, &p);

	if (err)
		fail_msg("%s", err->message);
	return p;
}

static void expect_refused(const struct strbuf *bytes, enum error_kind kind, const char *part)
{
	struct profile *p;
	struct error *err = try_read(strbuf_str(bytes), &p);

	assert_non_null(err);
	assert_null(p);
	assert_int_equal(err->kind, kind);
	if (strstr(err->message, part) == NULL)
		fail_msg("wanted '%s' in '%s'", part, err->message);
	error_destroy(err);
}

/* ---- by hand ---- */

#define T "17000000000000000"
static const char two_metrics[] =
	"{\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"host.name\",\"value\":"
	"{\"stringValue\":\"box\"}},{\"key\":\"process.pid\",\"value\":{\"intValue\":\"7\"}}]},"
	"\"scopeProfiles\":[{\"profiles\":["
	"{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},"
	"\"timeUnixNano\":\"" T "00\",\"durationNano\":\"5000\",\"samples\":["
	"{\"stackIndex\":1,\"attributeIndices\":[1,2],\"linkIndex\":1,\"values\":[\"3\",\"4\"],"
	"\"timestampsUnixNano\":[\"" T "10\",\"" T "20\"]},"
	"{\"stackIndex\":2,\"attributeIndices\":[2],\"values\":[5],"
	"\"timestampsUnixNano\":[\"" T "30\"]},"
	"{\"stackIndex\":2,\"values\":[5,6],\"timestampsUnixNano\":[\"" T "30\"]},"
	"{\"stackIndex\":9,\"values\":[5]}]},"
	"{\"sample_type\":{\"type_strindex\":3,\"unit_strindex\":4},"
	"\"time_unix_nano\":\"" T "00\",\"duration_nano\":5000,\"samples\":["
	"{\"stackIndex\":1,\"attributeIndices\":[1,2],\"linkIndex\":1,"
	"\"timestampsUnixNano\":[\"" T "10\",\"" T "20\"]}]}]}]}],"
	"\"dictionary\":{\"mappingTable\":[{},{\"memoryStart\":\"4096\",\"memoryLimit\":\"8192\","
	"\"fileOffset\":\"4096\",\"filenameStrindex\":5,\"attributeIndices\":[3]}],"
	"\"locationTable\":[{},{\"mappingIndex\":1,\"address\":\"4100\",\"lines\":["
	"{\"functionIndex\":1,\"line\":\"12\"},{\"functionIndex\":2,\"line\":34}]},"
	"{\"address\":\"18446744071578845184\"}],"
	"\"functionTable\":[{},{\"nameStrindex\":6,\"filenameStrindex\":8,\"startLine\":\"10\"},"
	"{\"systemNameStrindex\":7}],"
	"\"linkTable\":[{},{\"traceId\":\"000102030405060708090a0b0c0d0e0f\","
	"\"spanId\":\"0001020304050607\"}],"
	"\"stringTable\":[\"\",\"cpu\",\"microseconds\",\"samples\",\"count\",\"/no/such/prog\","
	"\"inner\",\"_ZN1a1bEv\",\"a.c\",\"user\",\"thread.id\","
	"\"process.executable.build_id.gnu\"],"
	"\"attributeTable\":[{},{\"keyStrindex\":9,\"value\":{\"arrayValue\":{\"values\":["
	"{\"stringValue\":\"a\"},{\"intValue\":\"5\"}]}}},"
	"{\"keyStrindex\":10,\"value\":{\"intValue\":\"8\"}},"
	"{\"keyStrindex\":11,\"value\":{\"stringValue\":\"0123ABCD\"}}],"
	"\"stackTable\":[{},{\"locationIndices\":[1,2]},{\"locationIndices\":[2]}]}}";
#undef T

static const struct frame *frame_at(const struct profile *p, stack_id stack)
{
	return &p->frames[p->stack_frame[stack.i].i];
}

static const char *name_at(const struct profile *p, stack_id stack)
{
	return profile_string(p, p->functions[frame_at(p, stack)->function.i].name).data;
}

static uint64_t noted(const struct profile *p, enum note_kind kind, const char *part)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind &&
			strstr(profile_string(p, p->notes[i].text).data, part))
			return p->notes[i].count;
	return 0;
}

TEST(metrics_of_one_sample_are_one)
{
	struct profile *p = read_good(str_from(two_metrics));

	assert_int_equal(p->metric_count, 2);
	assert_string_equal(profile_string(p, p->metrics[0].name).data, "cpu");
	assert_string_equal(profile_string(p, p->metrics[0].unit).data, "ns");
	assert_int_equal(p->default_metric.i, 0);
	assert_int_equal(p->samples.count, 3);
	assert_int_equal(p->total[0], 12000);
	assert_int_equal(p->total[1], 2);
	assert_int_equal(p->samples.weight[1][0], 1);
	assert_int_equal(p->samples.weight[0][1], 4000);
	assert_int_equal(p->samples.time_ns[2], 30);
	assert_int_equal(p->stats.duration_ns, 5000);
	assert_true(p->start_unix_ns == 1700000000000000000u);
	/* One with other numbers of values and times, one of a stack that is not there. */
	assert_int_equal(noted(p, NOTE_BAD_RECORD, "different numbers"), 1);
	assert_int_equal(noted(p, NOTE_BAD_RECORD, "missing row of a table"), 1);
	profile_destroy(p);
}

TEST(rows_become_tables)
{
	struct profile *p = read_good(str_from(two_metrics));
	stack_id inner = p->samples.stack[0];
	stack_id outer = profile_parent(p, inner);
	struct strbuf value = {0};

	assert_string_equal(name_at(p, inner), "inner");
	assert_true(frame_at(p, inner)->is_inline);
	assert_int_equal(frame_at(p, inner)->line, 12);
	assert_string_equal(name_at(p, outer), "a::b()");
	assert_false(frame_at(p, outer)->is_inline);
	assert_true(frame_at(p, outer)->obj_addr == 4100);
	/* All 64 bits of an address. */
	assert_string_equal(name_at(p, profile_parent(p, outer)), "[0xffffffff81000000]");
	assert_string_equal(profile_string(p, p->objects[0].build_id).data, "0123abcd");
	assert_string_equal(profile_string(p, p->host).data, "box");
	assert_int_equal(p->processes[0].pid, 7);
	assert_int_equal(p->threads[p->samples.thread[0].i].tid, 8);
	assert_int_equal(profile_label_count(p, p->samples.labels[0]), 4);
	assert_int_equal(profile_label_count(p, p->samples.labels[2]), 0);
	assert_string_equal(profile_label_value(p, (label_id){0}, &value).data, "a");
	assert_string_equal(profile_label_value(p, (label_id){1}, &value).data, "5");
	assert_string_equal(profile_string(p, p->labels[2].key).data, "trace_id");
	assert_string_equal(profile_string(p, p->labels[3].text).data, "0001020304050607");
	strbuf_deinit(&value);
	profile_destroy(p);
}

/* ---- layouts ---- */

/* The start of a message up to a Profile; end_profile closes it. */
static void begin_profile(struct strbuf *out, size_t begun[3])
{
	begun[0] = proto_begin(out, 1);
	begun[1] = proto_begin(out, 2);
	begun[2] = proto_begin(out, 2);
}

static void end_profile(struct strbuf *out, const size_t begun[3])
{
	for (int i = 2; i >= 0; i--)
		proto_end(out, begun[i]);
}

static void put_dictionary(struct strbuf *out)
{
	size_t begun = proto_begin(out, 2);

	for (uint32_t table = 1; table <= 7; table++)
		proto_put_bytes(out, table, STR(""));
	proto_put_bytes(out, 5, STR("cpu"));
	proto_end(out, begun);
}

static void put_list(struct strbuf *out, uint32_t number, uint64_t value)
{
	size_t begun = proto_begin(out, number);

	proto_put_packed(out, value);
	proto_end(out, begun);
}

TEST(old_layouts_are_refused_by_name)
{
	struct strbuf out = {0};
	size_t begun[3];

	begin_profile(&out, begun); /* a ProfileContainer */
	proto_put_fixed64(&out, 2, 1);
	end_profile(&out, begun);
	expect_refused(&out, ERROR_UNSUPPORTED, "1.3 or 1.4");
	strbuf_clear(&out);
	begin_profile(&out, begun); /* with a table of strings */
	proto_put_bytes(&out, 10, STR("cpu"));
	end_profile(&out, begun);
	expect_refused(&out, ERROR_UNSUPPORTED, "opentelemetry-proto 1.5");
	strbuf_clear(&out);
	begin_profile(&out, begun);
	end_profile(&out, begun);
	proto_put_bytes(&out, 6, STR("cpu")); /* tables next to the resources */
	expect_refused(&out, ERROR_UNSUPPORTED, "opentelemetry-proto 1.6");
	strbuf_clear(&out);
	begin_profile(&out, begun); /* with a list of locations */
	put_list(&out, 3, 1);
	end_profile(&out, begun);
	put_dictionary(&out);
	expect_refused(&out, ERROR_UNSUPPORTED, "opentelemetry-proto 1.7");
	strbuf_deinit(&out);
}

/* A profile of one sample with a list in `values` and, if not 0, another in `attributes`. */
static int64_t total_of(uint32_t values, uint32_t attributes)
{
	struct strbuf out = {0};
	size_t begun[3];

	begin_profile(&out, begun);
	size_t sample = proto_begin(&out, 2);
	put_list(&out, values, 42);
	if (attributes)
		put_list(&out, attributes, 0);
	proto_end(&out, sample);
	end_profile(&out, begun);
	put_dictionary(&out);
	struct profile *p = read_good(strbuf_str(&out));
	int64_t total = p->total[0];
	profile_destroy(p);
	strbuf_deinit(&out);
	return total;
}

TEST(layouts_are_told_by_types)
{
	assert_int_equal(total_of(4, 0), 42);
	assert_int_equal(total_of(4, 2), 42);
	assert_int_equal(total_of(2, 0), 42); /* 1.8 and 1.9 */
	assert_int_equal(total_of(2, 3), 42);
}

TEST(other_files_are_refused)
{
	struct strbuf out = {0};

	strbuf_add(&out, STR("what is this"));
	expect_refused(&out, ERROR_INPUT, "offset 0: no OTLP profiles");
	strbuf_clear(&out);
	proto_put_bytes(&out, 2, STR("\x2a\x00"));
	expect_refused(&out, ERROR_INPUT, "contains no profile");
	strbuf_deinit(&out);
}

/* ---- told by its first bytes ---- */

TEST(the_first_bytes_tell)
{
	struct strbuf one = {0};
	const uint8_t *json = (const uint8_t *)two_metrics;
	const uint8_t *dictionary = (const uint8_t *)strstr(two_metrics, "\"dictionary\"") - 1;
	uint8_t *other = (uint8_t *)xstrndup((const char *)dictionary, 200);
	struct profile *p = read_good(str_from(two_metrics));

	one = writer_text(&writer_otlp, p, &(struct writer_options){.with_modules = false});
	for (size_t size = 12; size < one.size; size += 7)
		assert_true(reader_otlp.bid((const uint8_t *)one.data, size) >= 85);
	assert_true(reader_otlp.bid(json, 100) >= 85);
	other[0] = '{';
	assert_true(reader_otlp.bid(other, 100) >= 85);
	assert_int_equal(reader_otlp.bid((const uint8_t *)"{\"profiles\":[", 13), 0);
	assert_int_equal(reader_otlp.bid((const uint8_t *)"main;a 1", 8), 0);
	free(other);
	profile_destroy(p);
	strbuf_deinit(&one);
}

/* ---- framed, cut ---- */

static struct strbuf written(const struct profile *p)
{
	return writer_text(&writer_otlp, p, &(struct writer_options){.with_modules = false});
}

static struct strbuf small_file(void)
{
	struct profile *p = read_good(str_from(two_metrics));
	struct strbuf bytes = written(p);

	profile_destroy(p);
	return bytes;
}

/* Fields that are not known yet change nothing, and it is still OTLP. */
TEST(fields_of_later_versions)
{
	static const struct message_shape row = {9, NULL};
	static const struct message_shape *const in_profile[] = {
		NULL, &row, &row, NULL, NULL, &row, NULL, NULL, NULL};
	static const struct message_shape profile = {8, in_profile};
	static const struct message_shape *const in_scope[] = {NULL, NULL, &profile, NULL};
	static const struct message_shape scope = {3, in_scope};
	static const struct message_shape *const in_resource[] = {NULL, NULL, &scope, NULL};
	static const struct message_shape resource = {3, in_resource};
	static const struct message_shape *const in_dictionary[] = {
		NULL, &row, &row, &row, &row, NULL, &row, &row};
	static const struct message_shape dictionary = {7, in_dictionary};
	static const struct message_shape *const in_data[] = {NULL, &resource, &dictionary};
	static const struct message_shape data = {2, in_data};
	struct strbuf plain = small_file(), later = {0};
	struct writer_options options = {0};

	put_with_later_fields(&later, strbuf_str(&plain), &data);
	/* Cut anywhere as well. */
	for (size_t size = 12; size < later.size; size += 7)
		assert_true(reader_otlp.bid((const uint8_t *)later.data, size) >= 85);
	struct profile *p = read_profile(strbuf_str(&plain), "in", NULL);
	struct profile *q = read_profile(strbuf_str(&later), "in", NULL);
	assert_true(str_equal(profile_string(q, q->format), STR("otlp")));
	struct strbuf wanted = writer_text(&writer_folded, p, &options);
	struct strbuf found = writer_text(&writer_folded, q, &options);
	assert_string_equal(found.data, wanted.data);
	assert_int_equal(q->note_count, p->note_count);
	profile_destroy(p);
	profile_destroy(q);
	strbuf_deinit(&plain);
	strbuf_deinit(&later);
	strbuf_deinit(&wanted);
	strbuf_deinit(&found);
}

TEST(messages_behind_their_lengths)
{
	struct strbuf one = small_file(), framed = {0};

	for (int i = 0; i < 2; i++) {
		strbuf_add_char(&framed, 0);
		strbuf_add_char(&framed, 0);
		strbuf_add_char(&framed, (char)(one.size >> 8));
		strbuf_add_char(&framed, (char)one.size);
		strbuf_add(&framed, strbuf_str(&one));
	}
	struct profile *p = read_good(strbuf_str(&framed));
	assert_int_equal(p->total[0], 2 * 12000);
	assert_int_equal(p->samples.count, 6);
	assert_int_equal(p->thread_count, 1);
	profile_destroy(p);
	strbuf_deinit(&one);
	strbuf_deinit(&framed);
}

/* At each byte: what is there, with a note, or one line of error. */
TEST(cut_files_give_what_is_there)
{
	struct strbuf whole = small_file();
	size_t good = 0;

	for (size_t size = 0; size < whole.size; size++) {
		struct profile *p;
		struct error *err = try_read((struct str){whole.data, size}, &p);

		if (err == NULL) {
			/* Without their names both metrics are one. */
			assert_true(p->total[0] <= 12000 + 2);
			if (noted(p, NOTE_INCOMPLETE, "cut off"))
				good++;
		}
		error_destroy(err);
		profile_destroy(p);
	}
	assert_true(good > 50);
	strbuf_deinit(&whole);
}

/* ---- written and read back ---- */

static int64_t total_of_name(const struct profile *p, struct str name)
{
	metric_id id;

	return profile_find_metric(p, name, &id) ? p->total[id.i] : -1;
}

static void expect_same_sums(const struct profile *p, const struct profile *q, uint64_t seed)
{
	for (size_t m = 0; m < p->metric_count; m++) {
		struct str name = profile_string(p, p->metrics[m].name);

		if (total_of_name(q, name) != p->total[m] && p->total[m])
			fail_msg("seed %llu: %.*s", (unsigned long long)seed, STR_ARG(name));
	}
	/* Sums need not agree with a metric that is called "samples". */
	if (p->samples.count && q->stats.counted != p->stats.counted)
		fail_msg("seed %llu: counted %llu, read %llu", (unsigned long long)seed,
			(unsigned long long)p->stats.counted, (unsigned long long)q->stats.counted);
}

static int line_compare(const void *a, const void *b)
{
	return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct lines {
	struct strbuf text;
	VEC(struct str) list;
};

/* A dump's lines, sorted, but for those that tell an order; free with lines_deinit. */
static void lines_init(struct lines *l, const struct profile *p)
{
	l->text = writer_text(&writer_dump, p, &(struct writer_options){.with_modules = false});
	struct str rest = strbuf_str(&l->text);

	while (rest.size) {
		struct str line = str_take_line(&rest);

		if (!str_starts_with(line, STR("order ")))
			vec_push(&l->list, line);
	}
	qsort(l->list.data, l->list.count, sizeof(*l->list.data), line_compare);
}

static void lines_deinit(struct lines *l)
{
	strbuf_deinit(&l->text);
	vec_deinit(&l->list);
}

static void expect_same_profile(const struct profile *p, const struct profile *q, uint64_t seed)
{
	struct lines a = {0}, b = {0};

	lines_init(&a, p);
	lines_init(&b, q);
	for (size_t i = 0; i < a.list.count && i < b.list.count; i++)
		if (!str_equal(a.list.data[i], b.list.data[i]))
			fail_msg("seed %llu: '%.*s' is '%.*s'", (unsigned long long)seed,
				STR_ARG(a.list.data[i]), STR_ARG(b.list.data[i]));
	assert_int_equal(a.list.count, b.list.count);
	lines_deinit(&a);
	lines_deinit(&b);
}

/* Times since a start that is not known stay what they are, and nothing happened in 1970. */
TEST(times_without_a_start)
{
	static const struct str text =
		STR("sonde-dump 1\nmetric \"cpu-time\" \"ns\" default\nfunction \"a\"\nframe\n"
		    "stack 0\nstack 1 \"a\"\nsample 1 time 10000000 weight 5\n"
		    "sample 1 time 30000000 weight 7\nend\n");
	struct reader_input input = {
		.name = "in.dump", .data = (const uint8_t *)text.data, .size = text.size};
	struct profile *p;

	assert_null(profile_read_bytes(&input, "dump", &p));
	struct strbuf bytes = written(p);
	struct profile *q = read_good(strbuf_str(&bytes));

	assert_true(q->start_unix_ns == 0);
	assert_int_equal(q->samples.count, 2);
	assert_int_equal(q->samples.time_ns[0], 10000000);
	assert_int_equal(q->samples.time_ns[1], 30000000);
	strbuf_deinit(&bytes);
	profile_destroy(p);
	profile_destroy(q);
}

/* What OTLP does not hold is lost once; what was read is written and read as it is. */
TEST(random_profiles_round_trip)
{
	for (struct property_seeds each = property_seeds(300, 75); property_next(&each);) {
		uint64_t seed = property_seed;
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		shape.negative = false;
		struct profile *p = random_profile(seed, &shape);
		struct strbuf first = written(p), again = written(p);

		assert_true(str_equal(strbuf_str(&first), strbuf_str(&again)));
		struct profile *q = read_good(strbuf_str(&first));
		struct strbuf second = written(q);
		struct profile *s = read_good(strbuf_str(&second));
		expect_same_sums(p, q, seed);
		if (!shape.hostile)
			expect_same_profile(q, s, seed);
		strbuf_deinit(&first);
		strbuf_deinit(&again);
		strbuf_deinit(&second);
		profile_destroy(p);
		profile_destroy(q);
		profile_destroy(s);
	}
}

/* Values without attributes or times: a list of one in JSON is no link of an older layout. */
TEST(json_of_values_alone)
{
	struct profile *p = read_good(STR(
		"{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":"
		"{\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":1,"
		"\"values\":[\"7\"]},{\"stackIndex\":1,\"values\":[\"5\"]}]}]}]}],"
		"\"dictionary\":{\"mappingTable\":[{}],\"linkTable\":[{}],\"attributeTable\":[{}],"
		"\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1}]}],"
		"\"functionTable\":[{},{\"nameStrindex\":3}],"
		"\"stringTable\":[\"\",\"samples\",\"count\",\"main\"],"
		"\"stackTable\":[{},{\"locationIndices\":[1]}]}}"));

	assert_int_equal(p->total[0], 12);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_of_values_alone),
		cmocka_unit_test(metrics_of_one_sample_are_one),
		cmocka_unit_test(rows_become_tables),
		cmocka_unit_test(times_without_a_start),
		cmocka_unit_test(old_layouts_are_refused_by_name),
		cmocka_unit_test(layouts_are_told_by_types),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(the_first_bytes_tell),
		cmocka_unit_test(fields_of_later_versions),
		cmocka_unit_test(messages_behind_their_lengths),
		cmocka_unit_test(cut_files_give_what_is_there),
		cmocka_unit_test(random_profiles_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
