/*
 * pprof profiles: each field of profile.proto, in whatever order and encoding, by messages put
 * together here; damage of every kind; and what is written comes back.
 */
#include <stdlib.h>

#include "../later_fields.h"
#include "../profile_checks.h"
#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/alloc.h"
#include "base/protobuf.h"
#include "base/vec.h"
#include "formats/readers.h"

/* ---- messages ---- */

/* Strings of all profiles here; a number is an index. */
enum {
	S_NONE,
	S_SAMPLES,
	S_COUNT,
	S_CPU,
	S_NANOSECONDS,
	S_MAIN,
	S_INNER,
	S_MANGLED,
	S_FILE_C,
	S_BINARY,
	S_BUILD_ID,
	S_KEY,
	S_TEXT,
	S_BYTES,
	S_TID,
	S_THREAD,
	S_PID,
	S_PROCESS,
	S_TIME,
	S_COMMENT,
	S_MILLISECONDS,
	S_TOTAL
};

static const char *const strings[S_TOTAL] = {"", "samples", "count", "cpu", "nanoseconds", "main",
	"inner", "_ZN1a1bEi", "/src/file.c", "/no/such/binary", "AB12cd", "key", "text", "bytes",
	"tid", "worker", "pid", "process", "timestamp_ns", "a comment", "milliseconds"};

static void put_strings(struct strbuf *b)
{
	for (size_t i = 0; i < S_TOTAL; i++)
		proto_put_bytes(b, 6, str_from(strings[i]));
}

static void put_type(struct strbuf *b, uint32_t field, uint64_t type, uint64_t unit)
{
	size_t begun = proto_begin(b, field);

	proto_put_varint(b, 1, type);
	proto_put_varint(b, 2, unit);
	proto_end(b, begun);
}

static void put_function(struct strbuf *b, uint64_t id, uint64_t name)
{
	size_t begun = proto_begin(b, 5);

	proto_put_varint(b, 1, id);
	proto_put_varint(b, 2, name);
	proto_put_varint(b, 4, S_FILE_C);
	proto_put_varint(b, 5, 7);
	proto_end(b, begun);
}

static void put_mapping(struct strbuf *b, uint64_t id)
{
	size_t begun = proto_begin(b, 3);

	proto_put_varint(b, 1, id);
	proto_put_varint(b, 2, 0x7f0000001000);
	proto_put_varint(b, 3, 0x7f0000009000);
	proto_put_varint(b, 4, 0x1000);
	proto_put_varint(b, 5, S_BINARY);
	proto_put_varint(b, 6, S_BUILD_ID);
	proto_end(b, begun);
}

/* With a line of each function that is not 0; innermost first. */
static void put_location(
	struct strbuf *b, uint64_t id, uint64_t address, uint64_t inner, uint64_t outer)
{
	uint64_t functions[] = {inner, outer};
	size_t begun = proto_begin(b, 4);

	proto_put_varint(b, 1, id);
	proto_put_varint(b, 2, 1);
	proto_put_varint(b, 3, address);
	for (size_t i = 0; i < 2; i++) {
		if (functions[i] == 0)
			continue;
		size_t line = proto_begin(b, 4);
		proto_put_varint(b, 1, functions[i]);
		proto_put_varint(b, 2, 10 + i);
		proto_end(b, line);
	}
	proto_end(b, begun);
}

struct test_label {
	uint64_t key, text, number, unit;
};

static void put_sample(struct strbuf *b, const uint64_t *locations, size_t depth, int64_t value,
	const struct test_label *labels, size_t label_count)
{
	size_t begun = proto_begin(b, 2);
	size_t list = proto_begin(b, 1);

	for (size_t i = 0; i < depth; i++)
		proto_put_packed(b, locations[i]);
	proto_end(b, list);
	proto_put_varint(b, 2, (uint64_t)value);
	for (size_t i = 0; i < label_count; i++) {
		size_t label = proto_begin(b, 3);
		proto_put_varint(b, 1, labels[i].key);
		proto_put_varint(b, 2, labels[i].text);
		proto_put_varint(b, 3, labels[i].number);
		proto_put_varint(b, 4, labels[i].unit);
		proto_end(b, label);
	}
	proto_end(b, begun);
}

/* Location 1: main; 2: inner inlined into main; 3: a mangled name. */
static void put_tables(struct strbuf *b)
{
	put_mapping(b, 1);
	put_function(b, 1, S_MAIN);
	put_function(b, 2, S_INNER);
	put_function(b, 3, S_MANGLED);
	put_location(b, 1, 0x7f0000001010, 0, 1);
	put_location(b, 2, 0x7f0000001020, 2, 1);
	put_location(b, 3, 0x7f0000001030, 3, 0);
}

/* ---- reading ---- */

static struct error *try_read(struct str text, const char *from, struct profile **p)
{
	return try_profile(text, "test.pb", from, p);
}

static struct profile *read_bytes(struct strbuf *b)
{
	struct profile *p = NULL;
	struct error *err = try_read(strbuf_str(b), NULL, &p);

	if (err)
		fail_msg("%s", err->message);
	strbuf_deinit(b);
	return p;
}

static void expect_error(struct strbuf *b, const char *part)
{
	struct profile *p = NULL;
	struct error *err = try_read(strbuf_str(b), "pprof", &p);

	assert_non_null(err);
	assert_null(p);
	assert_non_null(strstr(err->message, "test.pb"));
	expect_refusal(err, part);
	strbuf_deinit(b);
}

static char *folded_of(const struct profile *p, const char *metric)
{
	struct writer_options options = {.metric = p->default_metric};

	if (metric)
		assert_true(profile_find_metric(p, str_from(metric), &options.metric));
	return writer_text(&writer_folded, p, &options).data;
}

static void expect_stacks(const struct profile *p, const char *wanted)
{
	char *text = folded_of(p, NULL);

	assert_string_equal(text, wanted);
	free(text);
}

static const struct frame *frame_of(const struct profile *p, const char *function)
{
	for (size_t i = 0; i < p->frame_count; i++)
		if (str_equal(profile_string(p, p->functions[p->frames[i].function.i].name),
			    str_from(function)))
			return &p->frames[i];
	fail_msg("there is no %s", function);
	return NULL;
}

TEST(reads_everything)
{
	static const uint64_t stack[] = {3, 2, 1};
	struct strbuf b = {0};

	put_type(&b, 1, S_CPU, S_MILLISECONDS);
	put_sample(&b, stack, 3, 5, NULL, 0);
	put_sample(&b, stack + 1, 2, 2, NULL, 0);
	put_tables(&b);
	proto_put_varint(&b, 9, 1700000000000000000);
	proto_put_varint(&b, 10, 2000000000);
	put_type(&b, 11, S_CPU, S_MILLISECONDS);
	proto_put_varint(&b, 12, 10);
	proto_put_varint(&b, 13, S_COMMENT);
	proto_put_varint(&b, 15, S_FILE_C);
	put_strings(&b);
	struct profile *p = read_bytes(&b);

	expect_stacks(p, "main;main;inner 2000000\nmain;main;inner;a::b(int) 5000000\n");
	assert_string_equal(profile_string(p, p->format).data, "pprof");
	assert_string_equal(profile_string(p, p->metrics[0].unit).data, "ns");
	assert_int_equal(p->start_unix_ns, 1700000000000000000);
	assert_int_equal(p->stats.duration_ns, 2000000000);
	assert_int_equal(p->stats.interval_ns, 10000000);
	assert_true(p->row_samples == NULL);
	assert_true(has_note_of(p, NOTE_INFO, "a comment"));
	assert_true(has_note_of(p, NOTE_INFO, "documentation: /src/file.c"));
	const struct frame *inner = frame_of(p, "inner");
	assert_true(inner->is_inline);
	assert_int_equal(inner->line, 10);
	assert_int_equal(inner->obj_addr, 0x1020);
	assert_string_equal(profile_string(p, inner->file).data, "/src/file.c");
	const struct function *f = &p->functions[inner->function.i];
	assert_int_equal(f->line, 7);
	assert_string_equal(
		profile_string(p, p->objects[f->object.i].path).data, strings[S_BINARY]);
	assert_string_equal(profile_string(p, p->objects[f->object.i].build_id).data, "ab12cd");
	assert_int_equal(p->note_count, 2);
	profile_destroy(p);
}

/* Fields that are not known yet change nothing, and it is still a pprof profile. */
TEST(fields_of_later_versions)
{
	static const struct message_shape type = {2, NULL}, label = {4, NULL}, line = {2, NULL},
					  mapping = {10, NULL}, function = {5, NULL};
	static const struct message_shape *const in_sample[] = {NULL, NULL, NULL, &label};
	static const struct message_shape sample = {3, in_sample};
	static const struct message_shape *const in_location[] = {
		NULL, NULL, NULL, NULL, &line, NULL};
	static const struct message_shape location = {5, in_location};
	static const struct message_shape *const in_profile[16] = {
		NULL, &type, &sample, &mapping, &location, &function, [11] = &type};
	static const struct message_shape profile = {15, in_profile};
	const struct test_label one = {S_KEY, S_TEXT, 0, 0};
	struct strbuf b = {0}, later = {0};

	put_type(&b, 1, S_CPU, S_NANOSECONDS);
	put_sample(&b, (const uint64_t[]){2, 1}, 2, 10, &one, 1);
	put_tables(&b);
	put_strings(&b);
	put_with_later_fields(&later, strbuf_str(&b), &profile);
	struct profile *p = read_bytes(&b), *q = read_bytes(&later);
	assert_true(str_equal(profile_string(q, q->format), STR("pprof")));
	char *text = folded_of(p, NULL);
	expect_stacks(q, text);
	assert_int_equal(q->note_count, p->note_count);
	free(text);
	profile_destroy(p);
	profile_destroy(q);
	/* Rows with numbers and other fields are any format's. */
	for (uint64_t i = 1; i < 200; i++) {
		size_t begun = proto_begin(&b, 1);
		proto_put_varint(&b, 1, i);
		proto_put_string(&b, 5, STR("name"));
		proto_end(&b, begun);
	}
	assert_int_equal(reader_pprof.bid((const uint8_t *)b.data, b.size), 0);
	strbuf_deinit(&b);
}

/* Without pprof's default_sample_type it is the last; the first counts samples. */
TEST(types_and_default)
{
	static const uint64_t names[] = {S_NONE, S_SAMPLES, S_CPU, S_TEXT};
	static const char *const wanted[] = {"cpu", "samples", "cpu", "cpu"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct strbuf b = {0};
		put_type(&b, 1, S_SAMPLES, S_COUNT);
		put_type(&b, 1, S_CPU, S_NANOSECONDS);
		proto_put_varint(&b, 14, names[i]);
		put_tables(&b);
		put_strings(&b);
		size_t begun = proto_begin(&b, 2);
		proto_put_varint(&b, 1, 1);
		proto_put_varint(&b, 2, 3);
		proto_put_varint(&b, 2, 300);
		proto_end(&b, begun);
		struct profile *p = read_bytes(&b);
		assert_string_equal(
			profile_string(p, p->metrics[p->default_metric.i].name).data, wanted[i]);
		assert_int_equal(p->total[0], 3);
		assert_int_equal(p->total[1], 300);
		assert_int_equal(p->stats.counted, 3);
		profile_destroy(p);
	}
}

/* The list 3 2 1 in each way that it may be encoded. */
TEST(locations_packed_or_not)
{
	static const struct str lists[] = {STR("\x0a\x03\3\2\1"), STR("\x08\3\x08\2\x08\1"),
		STR("\x0a\1\3\x0a\2\2\1"), STR("\x08\3\x0a\2\2\1"), STR("\x0a\2\3\2\x08\1"),
		STR("\x0a\0\x0a\3\3\2\1"), STR("\x0a\5\x83\x80\x00\2\1")};
	struct strbuf b = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_tables(&b);
	put_strings(&b);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		size_t begun = proto_begin(&b, 2);
		strbuf_add(&b, lists[i]);
		proto_put_varint(&b, 2, 1);
		proto_end(&b, begun);
	}
	struct profile *p = read_bytes(&b);
	expect_stacks(p, "main;main;inner;a::b(int) 7\n");
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* Ids that are hashes; ends of lists that are alike byte by byte and not number by number. */
TEST(ids_of_any_size)
{
	static const uint64_t ids[] = {0x85, 5, 0x05 << 7 | 0x05, UINT64_MAX, 1u << 31};
	struct strbuf b = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		put_function(&b, ids[i], S_MAIN + i);
		put_location(&b, ids[i], 0, 0, ids[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		for (size_t k = 0; k < ARRAY_SIZE(ids); k++)
			put_sample(&b, (uint64_t[]){ids[i], ids[k]}, 2, (int64_t)(10 * i + k + 1),
				NULL, 0);
	put_strings(&b);
	struct profile *p = read_bytes(&b);
	char *text = folded_of(p, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		for (size_t k = 0; k < ARRAY_SIZE(ids); k++) {
			static const char *const names[] = {
				"main", "inner", "a::b(int)", "/src/file.c", "/no/such/binary"};
			char *line = xasprintf("%s;%s %zu\n", names[k], names[i], 10 * i + k + 1);
			assert_non_null(strstr(text, line));
			free(line);
		}
	free(text);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(addresses_without_lines)
{
	struct strbuf b = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_sample(&b, (uint64_t[]){4, 1}, 2, 3, NULL, 0);
	put_location(&b, 4, 0x7f0000001040, 0, 0);
	put_tables(&b);
	put_strings(&b);
	struct profile *p = read_bytes(&b);
	expect_stacks(p, "main;[binary+0x1040] 3\n");
	assert_true(has_note_of(p, NOTE_NO_SYMBOLS, "1 address in /no/such/binary has no name"));
	profile_destroy(p);
}

TEST(labels)
{
	static const struct test_label all[] = {{S_KEY, S_TEXT, 0, 0}, {S_KEY, 0, 4096, S_BYTES}};
	struct strbuf b = {0}, value = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_sample(&b, (uint64_t[]){1}, 1, 3, all, 2);
	put_sample(&b, (uint64_t[]){1}, 1, 4, all, 1);
	put_sample(&b, (uint64_t[]){1}, 1, 5, NULL, 0);
	put_tables(&b);
	put_strings(&b);
	struct profile *p = read_bytes(&b);
	assert_int_equal(p->samples.count, 3);
	assert_int_equal(profile_label_count(p, p->samples.labels[0]), 2);
	assert_int_equal(profile_label_count(p, p->samples.labels[1]), 1);
	assert_int_equal(p->samples.labels[2].i, 0);
	assert_int_equal(p->label_count, 2);
	assert_null(p->samples.thread);
	label_id ids[2];
	profile_label_ids(p, p->samples.labels[0], ids);
	assert_true(str_equal(profile_label_value(p, ids[0], &value), STR("text")));
	strbuf_clear(&value);
	assert_true(str_equal(profile_label_value(p, ids[1], &value), STR("4096 bytes")));
	strbuf_deinit(&value);
	assert_int_equal(p->total[0], 12);
	profile_destroy(p);
}

TEST(labels_of_threads)
{
	static const struct test_label one[] = {{S_TID, 0, 11, 0}, {S_THREAD, S_TEXT, 0, 0},
		{S_PID, 0, 10, 0}, {S_PROCESS, S_MAIN, 0, 0}, {S_TIME, 0, 5000, 0},
		{S_KEY, S_TEXT, 0, 0}};
	static const struct test_label two[] = {{S_TIME, 0, 7000, 0}, {S_TID, 0, 12, 0},
		{S_PID, 0, 10, 0}, {S_PROCESS, S_MAIN, 0, 0}};

	for (int with_all = 0; with_all < 2; with_all++) {
		struct strbuf b = {0};
		put_type(&b, 1, S_SAMPLES, S_COUNT);
		put_sample(&b, (uint64_t[]){1}, 1, 3, one, ARRAY_SIZE(one));
		put_sample(&b, (uint64_t[]){1}, 1, 4, two, ARRAY_SIZE(two));
		if (!with_all)
			put_sample(&b, (uint64_t[]){1}, 1, 5, NULL, 0);
		put_tables(&b);
		proto_put_varint(&b, 9, 4000);
		put_strings(&b);
		struct profile *p = read_bytes(&b);
		if (!with_all) {
			assert_null(p->samples.thread);
			assert_null(p->samples.time_ns);
			assert_int_equal(profile_label_count(p, p->samples.labels[0]), 6);
			profile_destroy(p);
			continue;
		}
		assert_int_equal(p->thread_count, 2);
		assert_int_equal(p->process_count, 1);
		assert_int_equal(p->threads[0].tid, 11);
		assert_int_equal(p->processes[0].pid, 10);
		assert_string_equal(profile_string(p, p->processes[0].name).data, "main");
		assert_int_equal(p->samples.time_ns[0], 1000);
		assert_int_equal(p->samples.time_ns[1], 3000);
		assert_int_equal(profile_label_count(p, p->samples.labels[0]), 2);
		profile_destroy(p);
	}
}

TEST(differences_are_negative)
{
	struct strbuf b = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_sample(&b, (uint64_t[]){1}, 1, -3, NULL, 0);
	put_tables(&b);
	put_strings(&b);
	struct profile *p = read_bytes(&b);
	expect_stacks(p, "main -3\n");
	assert_true(p->row_samples == NULL);
	profile_destroy(p);
}

TEST(sums_past_63_bits)
{
	struct strbuf b = {0};

	put_type(&b, 1, S_CPU, S_MILLISECONDS);
	put_sample(&b, (uint64_t[]){1}, 1, INT64_MAX / 1000, NULL, 0);
	put_tables(&b);
	put_strings(&b);
	expect_error(&b, "64 bits");
}

/* ---- damage ---- */

TEST(bad_rows_are_counted)
{
	struct strbuf b = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_sample(&b, (uint64_t[]){1}, 1, 3, NULL, 0);
	put_sample(&b, (uint64_t[]){99, 1}, 2, 4, NULL, 0); /* no such location */
	size_t begun = proto_begin(&b, 2);		    /* two values */
	proto_put_varint(&b, 1, 1);
	proto_put_varint(&b, 2, 1);
	proto_put_varint(&b, 2, 1);
	proto_end(&b, begun);
	proto_put_bytes(&b, 2, STR("\x0a\1\x81\x10\1")); /* half a number */
	put_tables(&b);
	put_function(&b, 1, S_INNER); /* the same id */
	put_function(&b, 0, S_INNER); /* none */
	put_function(&b, 9, 1000);    /* no such name */
	put_location(&b, 9, 0, 0, 9);
	put_sample(&b, (uint64_t[]){9}, 1, 5, NULL, 0);
	put_strings(&b);
	struct profile *p = read_bytes(&b);
	expect_stacks(p, "main 3\nmain;[unknown] 4\n[unknown] 5\n");
	assert_true(has_note_of(p, NOTE_BAD_RECORD, "samples are malformed"));
	assert_true(has_note_of(p, NOTE_BAD_RECORD, "reference leads to no location"));
	assert_true(has_note_of(p, NOTE_BAD_RECORD, "mappings, locations or functions"));
	assert_true(has_note_of(p, NOTE_BAD_RECORD, "not in the table of strings"));
	profile_destroy(p);
}

TEST(refusals)
{
	struct strbuf b = {0};

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	expect_error(&b, "before any name");
	put_strings(&b);
	expect_error(&b, "no sample types");
	put_type(&b, 1, S_SAMPLES, S_COUNT);
	proto_put_bytes(&b, 2, STR("\x0a\1\1"));
	put_strings(&b);
	expect_error(&b, "each must have 1 values");
	proto_put_varint(&b, 9, 5);
	put_strings(&b);
	proto_put_varint(&b, 9, 5);
	expect_error(&b, "a second profile");
	for (size_t i = 0; i < 65; i++)
		put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_strings(&b);
	expect_error(&b, "more than 64 types");
}

/* At every place: a note, or an error that says so. */
TEST(cut_anywhere)
{
	struct strbuf b = {0};
	size_t notes = 0;

	put_strings(&b);
	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_tables(&b);
	for (size_t i = 0; i < 10; i++)
		put_sample(&b, (uint64_t[]){3, 2, 1}, 3, 1, NULL, 0);
	for (size_t size = 1; size < b.size; size++) {
		struct profile *p = NULL;
		struct error *err = try_read((struct str){b.data, size}, "pprof", &p);
		assert_true((err == NULL) == (p != NULL));
		notes += p && has_note_of(p, NOTE_INCOMPLETE, "the file ends early");
		error_destroy(err);
		profile_destroy(p);
	}
	assert_true(notes > 50);
	strbuf_deinit(&b);
}

/* One byte a frame, and each of them new: the file bounds memory, and a note counts the rest. */
TEST(frames_for_a_byte_each)
{
	enum { DEPTH = 40000, SAMPLES = 100 };
	struct strbuf b = {0};
	uint64_t *list = xcalloc(DEPTH, sizeof(*list));
	struct random random = random_from(1);

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_tables(&b);
	put_strings(&b);
	for (size_t i = 0; i < SAMPLES; i++) {
		for (size_t k = 0; k < DEPTH; k++)
			list[k] = 1 + random_below(&random, 3);
		put_sample(&b, list, DEPTH, 1, NULL, 0);
	}
	struct profile *p = read_bytes(&b);
	assert_int_equal(p->total[0], SAMPLES);
	assert_true(has_note_of(p, NOTE_TRUNCATED, "truncated: the file has too many frames"));
	assert_true(p->stack_count < 3900000);
	profile_destroy(p);
	free(list);
}

/* A byte that stands for thousands of inlined calls, all known: time is bounded by the file, too.
 */
TEST(calls_for_a_byte_each)
{
	enum { LINES = 5000, DEPTH = 28, SAMPLES = 3000 };
	struct strbuf b = {0};
	uint64_t list[DEPTH + 1];

	put_type(&b, 1, S_SAMPLES, S_COUNT);
	put_tables(&b);
	put_strings(&b);
	size_t row = proto_begin(&b, 4);
	proto_put_varint(&b, 1, 9);
	for (uint64_t i = 0; i < LINES; i++) {
		size_t line = proto_begin(&b, 4);
		proto_put_varint(&b, 1, 1);
		proto_put_varint(&b, 2, i);
		proto_end(&b, line);
	}
	proto_end(&b, row);
	for (size_t i = 0; i < DEPTH; i++)
		list[i] = 9;
	/* Every second one has another root, so that none ends as the one before. */
	for (size_t i = 0; i < SAMPLES; i++) {
		list[DEPTH] = 1;
		put_sample(&b, list, DEPTH + i % 2, 1, NULL, 0);
	}
	struct profile *p = read_bytes(&b);
	assert_int_equal(p->total[0], SAMPLES);
	assert_true(has_note_of(p, NOTE_TRUNCATED, "truncated: the file has too many frames"));
	assert_int_equal(p->depth_max, DEPTH * LINES + 1);
	profile_destroy(p);
}

TEST(other_files_are_none)
{
	/* Text; OTLP and Perfetto, whose messages hold messages; gmon.out; zeros. */
	static const struct str other[] = {STR("main;a 3\n"),
		STR("\x0a\x06\x0a\x04\x0a\x02\x0a\x00"), STR("\x0a\x05\x40\x01\x52\x01\x01"),
		STR("gmon\1\0\0\0"), STR("\0\0\0\0\0\0\0\0"), STR("{}"),
		STR("\x12\x02\x12\x00\x0a\x02\x0a\x00")};

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(
			reader_find("pprof")->bid((const uint8_t *)other[i].data, other[i].size),
			0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_everything),
		cmocka_unit_test(fields_of_later_versions),
		cmocka_unit_test(types_and_default),
		cmocka_unit_test(locations_packed_or_not),
		cmocka_unit_test(ids_of_any_size),
		cmocka_unit_test(addresses_without_lines),
		cmocka_unit_test(labels),
		cmocka_unit_test(labels_of_threads),
		cmocka_unit_test(differences_are_negative),
		cmocka_unit_test(sums_past_63_bits),
		cmocka_unit_test(bad_rows_are_counted),
		cmocka_unit_test(refusals),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(frames_for_a_byte_each),
		cmocka_unit_test(calls_for_a_byte_each),
		cmocka_unit_test(other_files_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
