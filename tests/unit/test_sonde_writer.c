/*
 * Profiles written in sonde's own format: reading gives them back, whatever they are; what was
 * damaged is missed and told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"

static struct strbuf text_of(const struct writer *writer, const struct profile *p)
{
	return writer_text(writer, p, &(struct writer_options){.with_modules = false});
}

static struct error *try_read(struct str bytes, struct profile **p)
{
	return try_profile(bytes, "test.prof", NULL, p);
}

static struct profile *written_and_read(const struct profile *p)
{
	struct strbuf bytes = text_of(&writer_sonde, p);
	struct profile *q = NULL;
	struct error *err = try_read(strbuf_str(&bytes), &q);

	if (err)
		fail_msg("%s", err->message);
	strbuf_deinit(&bytes);
	return q;
}

/* Where it was read from is not what it is. */
static void cut_source(struct strbuf *dump)
{
	static const char *const prefixes[] = {"source ", "format "};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		char *line = strstr(dump->data, prefixes[i]);
		char *end = line ? strchr(line, '\n') : NULL;

		if (end == NULL || (line != dump->data && line[-1] != '\n'))
			continue;
		memmove(line, end + 1, strlen(end + 1) + 1);
		dump->size -= (size_t)(end + 1 - line);
	}
}

static void assert_comes_back(const struct profile *p, uint64_t seed)
{
	struct profile *q = written_and_read(p);
	struct strbuf a = text_of(&writer_dump, p), b = text_of(&writer_dump, q);

	cut_source(&a);
	cut_source(&b);
	if (!str_equal(strbuf_str(&a), strbuf_str(&b)))
		fail_msg("SEED=%" PRIu64 ": these differ:\n%s\n%s", seed, a.data, b.data);
	strbuf_deinit(&a);
	strbuf_deinit(&b);
	profile_destroy(q);
}

TEST(random_profiles_come_back)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *p = random_profile(seed, &shape);

		assert_comes_back(p, seed);
		profile_destroy(p);
	}
}

static struct profile *finish(struct builder *b)
{
	struct profile *p = NULL;

	assert_null(builder_finish(b, &p));
	return p;
}

static stack_id one_frame(struct builder *b, const char *name, uint64_t obj_addr, bool is_inline)
{
	string_id none = {0};
	function_id f =
		builder_function(b, builder_string(b, str_from(name)), (object_id){NO_ID}, none, 0);

	return builder_stack(b, (stack_id){0}, builder_frame(b, f, none, 0, is_inline, obj_addr));
}

/* Several frames at one address, addresses that others would be given, the largest one. */
TEST(addresses_are_kept)
{
	static const uint64_t addresses[] = {0, 0, 1, 1, 1, 3, 0, UINT64_MAX, UINT64_MAX, 2};
	struct builder *b = builder_create();

	(void)builder_metric(b, STR("bytes"), STR("bytes"));
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "f%zu", i);
		builder_weight(b, one_frame(b, name, addresses[i], i % 2),
			&(int64_t){(int64_t)i + 1}, UINT64_MAX);
	}
	struct profile *p = finish(b);

	assert_null(p->row_samples);
	assert_comes_back(p, 0);
	profile_destroy(p);
}

TEST(times_are_kept_to_the_nanosecond)
{
	static const uint64_t times[] = {1001, 3, UINT64_MAX - 1, 0, 5000};
	struct builder *b = builder_create();

	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		builder_sample(b, one_frame(b, "f", 0, false), (thread_id){NO_ID}, times[i],
			&(int64_t){-7});
	struct profile *p = finish(b), *q = written_and_read(p);

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		assert_true(q->samples.time_ns[i] == times[i]);
	assert_null(q->samples.thread);
	assert_int_equal(q->total[0], -35);
	profile_destroy(p);
	profile_destroy(q);
}

TEST(calls_and_unused_functions_are_kept)
{
	struct builder *b = builder_create();
	string_id file = builder_string(b, STR("a.c"));
	object_id object = builder_object(b, STR("/bin/a"), STR("12"), OBJECT_USER);

	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	function_id f = builder_function(b, builder_string(b, STR("f")), object, file, 3);
	function_id g =
		builder_function(b, builder_string(b, STR("")), (object_id){NO_ID}, file, 4);

	builder_header(b)->has_stacks = false;
	builder_weight(b, one_frame(b, "h", 0, false), &(int64_t){1}, 1);
	builder_arc(b, (function_id){NO_ID}, f, 1);
	builder_arc(b, f, g, UINT32_MAX);
	struct profile *p = finish(b);

	assert_comes_back(p, 0);
	profile_destroy(p);
}

TEST(empty_profiles_come_back)
{
	for (int known = 0; known < 2; known++) {
		struct builder *b = builder_create();

		(void)builder_metric(b, STR("samples"), STR("count"));
		builder_weight(b, (stack_id){0}, &(int64_t){0}, known ? 0 : UINT64_MAX);
		struct profile *p = finish(b);

		assert_comes_back(p, 0);
		profile_destroy(p);
	}
}

TEST(too_many_metrics_are_refused)
{
	struct builder *b = builder_create();
	char name[8];

	for (int i = 0; i < 17; i++) {
		(void)snprintf(name, sizeof(name), "m%d", i);
		(void)builder_metric(b, str_from(name), STR("count"));
	}
	struct profile *p = finish(b);
	struct sink sink;

	sink_init(&sink, -1, "nowhere");
	struct error *err =
		writer_sonde.write(&sink, p, &(struct writer_options){.with_modules = false});

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_destroy(err);
	error_destroy(sink_finish(&sink));
	profile_destroy(p);
}

/* A byte turned anywhere: never a crash, and a profile is read only with a note of the damage. */
TEST(damage_is_told)
{
	struct random r = random_from(7);
	struct random_shape shape = random_shape_any(&r);

	shape.stacks = 40;
	shape.samples = shape.places = true;
	struct profile *p = random_profile(7, &shape);
	struct strbuf bytes = text_of(&writer_sonde, p);

	for (size_t i = 16; i < bytes.size; i++) {
		struct profile *q = NULL;

		bytes.data[i] = (char)(bytes.data[i] ^ 0x20);
		struct error *err = try_read(strbuf_str(&bytes), &q);
		bytes.data[i] = (char)(bytes.data[i] ^ 0x20);
		assert_true(err || q->note_count > p->note_count || q->note_count > 0);
		error_destroy(err);
		profile_destroy(q);
	}
	strbuf_deinit(&bytes);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_profiles_come_back),
		cmocka_unit_test(addresses_are_kept),
		cmocka_unit_test(times_are_kept_to_the_nanosecond),
		cmocka_unit_test(calls_and_unused_functions_are_kept),
		cmocka_unit_test(empty_profiles_come_back),
		cmocka_unit_test(too_many_metrics_are_refused),
		cmocka_unit_test(damage_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
