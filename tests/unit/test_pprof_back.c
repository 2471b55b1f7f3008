/*
 * Random profiles as pprof and back: stacks and weights stay, and what came back once is the same
 * each time after.
 */
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/vec.h"

static struct error *try_read(struct str text, const char *from, struct profile **p)
{
	return try_profile(text, "test.pb", from, p);
}

static char *folded_of(const struct profile *p, const char *metric)
{
	struct writer_options options = {.metric = p->default_metric};

	if (metric)
		assert_true(profile_find_metric(p, str_from(metric), &options.metric));
	struct strbuf text = writer_text(&writer_folded, p, &options);

	folded_for_people(&text);
	return text.data;
}

static struct strbuf written(const struct profile *p)
{
	return writer_text(&writer_pprof, p, &(struct writer_options){.metric = p->default_metric});
}

static char *dump_of(const struct profile *p)
{
	return writer_text(&writer_dump, p, &(struct writer_options){0}).data;
}

static struct profile *read_back(const struct profile *p)
{
	struct strbuf bytes = written(p), again = written(p);
	struct profile *back = NULL;

	assert_int_equal(bytes.size, again.size);
	assert_memory_equal(bytes.data, again.data, again.size);
	strbuf_deinit(&again);
	struct error *err = try_read(strbuf_str(&bytes), "pprof", &back);
	if (err)
		fail_msg("seed %llu: %s", (unsigned long long)property_seed, err->message);
	strbuf_deinit(&bytes);
	return back;
}

static int line_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in order, since stacks that have no weight may have come first. */
static void sort_lines(char *text)
{
	VEC(char *) lines = {0};
	struct strbuf sorted = {0};
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		vec_push(&lines, line);
	qsort(lines.data, lines.count, sizeof(*lines.data), line_compare);
	for (size_t i = 0; i < lines.count; i++)
		if (lines.data[i][0])
			strbuf_printf(&sorted, "%s\n", lines.data[i]);
	if (sorted.size)
		memcpy(text, sorted.data, sorted.size);
	text[sorted.size] = '\0';
	strbuf_deinit(&sorted);
	vec_deinit(&lines);
}

static void same_stacks(const struct profile *p, const struct profile *back)
{
	for (size_t m = 0; m < p->metric_count; m++) {
		const char *name = profile_string(p, p->metrics[m].name).data;
		char *before = folded_of(p, name), *after = folded_of(back, name);
		sort_lines(before);
		sort_lines(after);
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
}

/* Stacks and weights come back; what has come back once is the same each time after. */
TEST(random_profiles_come_back)
{
	for (struct property_seeds seeds = property_seeds(400, 100); property_next(&seeds);) {
		struct random r = random_from(property_seed);
		struct random_shape shape = random_shape_any(&r);

		shape.when = false; /* the format can't tell */
		struct profile *p = random_profile(property_seed, &shape);
		struct profile *once = read_back(p), *twice = read_back(once);
		char *first = dump_of(once), *second = dump_of(twice);
		same_stacks(p, once);
		assert_string_equal(first, second);
		assert_true(p->samples.thread == NULL || once->samples.count == 0 ||
			    once->samples.thread);
		free(first);
		free(second);
		profile_destroy(p);
		profile_destroy(once);
		profile_destroy(twice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_profiles_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
