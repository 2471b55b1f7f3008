/*
 * Labels of samples: one set whatever the order, kept by sums, parts and roots.
 */
#include <stdio.h>
#include <string.h>

#include "model/builder.h"
#include "model/merge.h"
#include "model/part.h"
#include "model/roots.h"
#include "../unit.h"

static struct label text_label(struct builder *b, const char *key, const char *text)
{
	return (struct label){
		.key = builder_string(b, str_from(key)), .text = builder_string(b, str_from(text))};
}

static struct label number_label(struct builder *b, const char *key, int64_t n, const char *unit)
{
	return (struct label){.key = builder_string(b, str_from(key)),
		.number = n,
		.unit = builder_string(b, str_from(unit))};
}

static struct builder *new_builder(void)
{
	struct builder *b = builder_create();

	(void)builder_metric(b, STR("bytes"), STR("bytes"));
	return b;
}

static void add_sample(struct builder *b, const struct label *labels, size_t count)
{
	label_set_id set = builder_label_set(b, labels, count);

	builder_sample(b, (stack_id){0}, (thread_id){NO_ID}, UINT64_MAX, &(int64_t){1});
	if (count)
		builder_sample_labels(b, set);
}

static struct profile *finish(struct builder *b)
{
	struct profile *p = NULL;

	assert_null(builder_finish(b, &p));
	return p;
}

/* {user=a, size=4096 bytes}, the same the other way round, none, {user=b, user=a}, {user=a} */
static struct profile *labelled(bool other_order)
{
	struct builder *b = new_builder();

	if (other_order)
		(void)builder_label(b, &(struct label){.key = builder_string(b, STR("size")),
					       .number = 4096,
					       .unit = builder_string(b, STR("bytes"))});
	struct label user = text_label(b, "user", "a"), other = text_label(b, "user", "b");
	struct label size = number_label(b, "size", 4096, "bytes");

	add_sample(b, (struct label[]){user, size}, 2);
	add_sample(b, (struct label[]){size, user, size}, 3);
	add_sample(b, NULL, 0);
	add_sample(b, (struct label[]){other, user}, 2);
	add_sample(b, &user, 1);
	return finish(b);
}

/* "key=value key=value", as sets stand in the profile. */
static const char *said(const struct profile *p, size_t sample)
{
	static char text[200];
	struct strbuf value = {0};
	label_id labels[8];
	label_set_id set = p->samples.labels[sample];
	size_t count = profile_label_count(p, set), size = 0;

	profile_label_ids(p, set, labels);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s=%.*s",
			i ? " " : "", STR_ARG(profile_string(p, p->labels[labels[i].i].key)),
			STR_ARG(profile_label_value(p, labels[i], &value)));
	strbuf_deinit(&value);
	return text;
}

TEST(sets_have_no_order)
{
	struct profile *p = labelled(false);
	const label_set_id *of = p->samples.labels;

	assert_int_equal(p->label_count, 3);
	assert_int_equal(of[0].i, of[1].i);
	assert_int_equal(of[2].i, 0);
	assert_string_equal(said(p, 0), "user=a size=4096 bytes");
	assert_string_equal(said(p, 2), "");
	assert_string_equal(said(p, 3), "user=a user=b");
	/* What sets share is there once: {}, {a}, {a, size}, {a, b}. */
	assert_int_equal(p->label_set_count, 4);
	profile_destroy(p);
}

TEST(one_label_more)
{
	struct builder *b = new_builder();
	struct label user = text_label(b, "user", "a"), size = number_label(b, "size", -1, "");
	label_id first = builder_label(b, &user), second = builder_label(b, &size);
	label_set_id none = {0};
	label_set_id both = builder_label_set_of(b, (label_id[]){second, first}, 2);

	assert_int_equal(
		builder_label_set_with(b, builder_label_set_with(b, none, second), first).i,
		both.i);
	assert_int_equal(builder_label_set_with(b, both, first).i, both.i);
	assert_int_equal(builder_label_set_with(b, both, second).i, both.i);
	builder_destroy(b);
}

/* A sample has at most 256 labels, in whichever way it gets them; the others are counted. */
TEST(labels_are_limited)
{
	enum { GIVEN = 300, KEPT = 256 };
	struct builder *b = new_builder();
	struct label labels[GIVEN];
	label_set_id one_by_one = {0};
	char text[16];

	for (size_t i = 0; i < GIVEN; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		labels[i] = text_label(b, "k", text);
	}
	add_sample(b, labels, KEPT);
	add_sample(b, labels, GIVEN);
	for (size_t i = 0; i < GIVEN; i++)
		one_by_one = builder_label_set_with(b, one_by_one, builder_label(b, &labels[i]));
	/* It has this one already. */
	one_by_one = builder_label_set_with(b, one_by_one, builder_label(b, &labels[7]));
	struct profile *p = finish(b);

	assert_int_equal(profile_label_count(p, p->samples.labels[1]), KEPT);
	assert_int_equal(p->samples.labels[0].i, p->samples.labels[1].i);
	assert_int_equal(one_by_one.i, p->samples.labels[1].i);
	assert_int_equal(p->note_count, 1);
	assert_int_equal(p->notes[0].count, 2 * (GIVEN - KEPT));
	assert_non_null(strstr(profile_string(p, p->notes[0].text).data, "first 256 of a sample"));
	profile_destroy(p);
}

TEST(no_labels_no_column)
{
	struct builder *b = new_builder();

	add_sample(b, NULL, 0);
	builder_sample_labels(b, (label_set_id){0});
	struct profile *p = finish(b);
	assert_null(p->samples.labels);
	assert_int_equal(p->label_set_count, 1);
	struct error *err = profile_needs_label(p, STR("user"));
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_destroy(err);
	profile_destroy(p);
}

TEST(sums_and_parts_keep_them)
{
	struct profile *a = labelled(false), *b = labelled(true), *sum = NULL, *part = NULL;
	static const bool kept[] = {false, false, false, true, false};

	assert_null(profile_merge((const struct profile *[]){a, b}, 2, &sum));
	assert_int_equal(sum->label_count, 3);
	assert_int_equal(sum->samples.count, 10);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(sum->samples.labels[i].i, sum->samples.labels[i + 5].i);
	assert_null(profile_part(b, kept, NULL, "a part", &part));
	assert_string_equal(said(part, 0), "user=a user=b");
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
	profile_destroy(part);
}

static struct str root_name(const struct profile *p, size_t sample)
{
	stack_id root = p->samples.stack[sample];

	while (profile_stack_parent(p, root.i))
		root = profile_parent(p, root);
	const struct frame *f = &p->frames[p->stack_frame[root.i].i];

	return profile_string(p, p->functions[f->function.i].name);
}

TEST(roots_are_labels)
{
	struct profile *p = labelled(false), *rooted = NULL;

	assert_null(profile_with_label_roots(p, STR("user"), &rooted));
	assert_string_equal(root_name(rooted, 0).data, "user=a");
	assert_string_equal(root_name(rooted, 2).data, "[no user]");
	assert_string_equal(root_name(rooted, 3).data, "user=a,b");
	assert_string_equal(said(rooted, 0), "user=a size=4096 bytes");
	assert_int_equal(rooted->stack_count, 1 + 2 * 3);
	profile_destroy(rooted);
	assert_null(profile_with_label_roots(p, STR("size"), &rooted));
	assert_string_equal(root_name(rooted, 1).data, "size=4096 bytes");
	assert_string_equal(root_name(rooted, 4).data, "[no size]");
	profile_destroy(rooted);
	rooted = NULL;
	struct error *err = profile_with_label_roots(p, STR("usr"), &rooted);
	assert_non_null(err);
	assert_null(rooted);
	assert_int_equal(err->kind, ERROR_INPUT);
	assert_non_null(strstr(err->message, "has no label 'usr'; did you mean 'user'?"));
	error_destroy(err);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_have_no_order),
		cmocka_unit_test(labels_are_limited),
		cmocka_unit_test(one_label_more),
		cmocka_unit_test(no_labels_no_column),
		cmocka_unit_test(sums_and_parts_keep_them),
		cmocka_unit_test(roots_are_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
