/*
 * Mergers and differences: sums of stacks as a plain list gives them, whatever the profiles; views
 * that do not depend on the order of the inputs; and what becomes of metrics, times, notes and
 * statistics that the inputs do not have in common.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../profile_checks.h"
#include "../random_profile.h"
#include "../slow/stack_list.h"
#include "../unit.h"
#include "../writer_text.h"
#include "analysis/calltree.h"
#include "analysis/functions.h"
#include "base/vec.h"
#include "model/common_notes.h"
#include "model/merge.h"

#define ROUNDS (getenv("SONDE_LONG") ? 400u : 100u)

static uint64_t current_seed;

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("SEED=%" PRIu64 ": line %d: %s", current_seed, __LINE__,          \
				#condition);                                                       \
	} while (0)

/* Whether stacks of p weigh sign_a · a + sign_b · b, by metric of that name (in p: in_p). */
static void check_sum(const struct profile *p, const char *in_p, const struct profile *a,
	int64_t sign_a, const struct profile *b, int64_t sign_b, const char *metric)
{
	struct arena *arena = arena_create();
	struct stack_list sum = {.arena = arena}, got = {.arena = arena};

	stack_list_add(&sum, a, str_from(metric), sign_a);
	stack_list_add(&sum, b, str_from(metric), sign_b);
	stack_list_add(&got, p, str_from(in_p), 1);
	stack_list_sum(&sum);
	stack_list_sum(&got);
	check(sum.lines.count == got.lines.count);
	for (size_t i = 0; i < sum.lines.count; i++) {
		check(str_equal(sum.lines.data[i].path, got.lines.data[i].path));
		check(sum.lines.data[i].weight == got.lines.data[i].weight);
	}
	vec_deinit(&sum.lines);
	vec_deinit(&got.lines);
	arena_destroy(arena);
}

/* ---- pairs of random profiles ---- */

struct pair {
	struct profile *a, *b;
};

static const char *const metric_names[] = {"samples", "cpu-time", "bytes"};

/*
 * Two profiles that share stacks: of one shape, but with weights of their own.  Alike: both say the
 * same of functions (what a difference makes of others is in test_match.c).
 */
static struct pair pair_of(uint64_t seed, bool alike)
{
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_any(&r);

	current_seed = seed;
	shape.when = seed % 2; /* those of other patterns are not merged */
	/* Of more, two have one name. */
	shape.functions = 1 + shape.functions % (alike ? 6 : 9);
	if (alike) {
		shape.objects = 0;
		shape.hostile = false;
	}
	shape.negative = false;
	struct pair pair = {.a = random_profile(seed, &shape)};
	if (random_below(&r, 4) == 0)
		shape.metrics = 1 + random_below(&r, 3);
	if (random_below(&r, 4) == 0)
		shape.samples = !shape.samples;
	pair.b = random_profile(seed + 1000000, &shape);
	return pair;
}

static struct pair pair_create(uint64_t seed)
{
	return pair_of(seed, false);
}

static void pair_destroy(struct pair *pair)
{
	profile_destroy(pair->a);
	profile_destroy(pair->b);
}

static struct profile *merge2(const struct profile *a, const struct profile *b)
{
	const struct profile *const both[] = {a, b};
	struct profile *merged = NULL;
	struct error *err = profile_merge(both, 2, &merged);

	if (err)
		fail_msg("SEED=%" PRIu64 ": %s", current_seed, err->message);
	return merged;
}

static struct profile *difference(const struct profile *a, const struct profile *b)
{
	struct profile *d = NULL;
	struct error *err = profile_difference(a, b, &d);

	if (err)
		fail_msg("SEED=%" PRIu64 ": %s", current_seed, err->message);
	return d;
}

static struct strbuf dump_of(const struct profile *p)
{
	return writer_text(&writer_dump, p, &(struct writer_options){.with_modules = false});
}

static void check_same_dump(const struct profile *p, const struct profile *q)
{
	struct strbuf a = dump_of(p), b = dump_of(q);

	if (!str_equal(strbuf_str(&a), strbuf_str(&b)))
		fail_msg("SEED=%" PRIu64 ": these differ:\n%s\n%s", current_seed, a.data, b.data);
	strbuf_deinit(&a);
	strbuf_deinit(&b);
}

static metric_id metric_of(const struct profile *p, const char *name)
{
	metric_id m = {NO_ID};

	check(profile_find_metric(p, str_from(name), &m));
	return m;
}

/* ---- views ---- */

static void check_same_functions(const struct profile *p, metric_id in_p, const struct profile *q,
	metric_id in_q, int64_t sign)
{
	struct arena *arena = arena_create();
	const struct functions *f =
		functions_analyse(entity_tree_of(p, LEVEL_FUNCTION, in_p, arena), arena);
	const struct functions *g =
		functions_analyse(entity_tree_of(q, LEVEL_FUNCTION, in_q, arena), arena);

	check(f->count == g->count);
	for (size_t i = 0; i < f->count; i++) {
		const struct entity *e = &f->tree->entities[f->rows[i].entity];
		size_t k = 0;

		/* Rows of one sign come in the same order; of the other one they are looked for. */
		while (k < g->count &&
			entity_compare(e, &g->tree->entities[g->rows[k].entity]) != 0)
			k++;
		check(k < g->count && (sign < 0 || k == i));
		check(f->rows[i].exclusive == sign * g->rows[k].exclusive);
		check(f->rows[i].inclusive == sign * g->rows[k].inclusive);
	}
	arena_destroy(arena);
}

static struct calltree *calltree_of(
	const struct profile *p, metric_id m, enum collapse collapse, struct arena *arena)
{
	return calltree_analyse(entity_tree_of(p, LEVEL_FUNCTION, m, arena), collapse,
		CALLTREE_BY_WEIGHT, NULL, arena);
}

static void check_same_calltree(
	const struct profile *p, metric_id in_p, const struct profile *q, metric_id in_q)
{
	struct arena *arena = arena_create();

	for (int collapse = 0; collapse < COLLAPSE_COUNT; collapse++) {
		const struct calltree *t = calltree_of(p, in_p, (enum collapse)collapse, arena);
		const struct calltree *u = calltree_of(q, in_q, (enum collapse)collapse, arena);

		check(t->count == u->count);
		for (size_t i = 0; i < t->count; i++) {
			check(t->rows[i].level == u->rows[i].level);
			check(t->rows[i].direct == u->rows[i].direct);
			check(t->rows[i].indirect == u->rows[i].indirect);
			check(t->rows[i].in_only == u->rows[i].in_only);
		}
	}
	arena_destroy(arena);
}

/* ---- properties ---- */

TEST(one_profile_stays_itself)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *p = random_profile(seed, &shape), *merged = NULL;
		const struct profile *const one[] = {p};

		current_seed = seed;
		assert_null(profile_merge(one, 1, &merged));
		check_same_dump(p, merged);
		profile_destroy(merged);
		profile_destroy(p);
	}
}

TEST(a_merger_is_the_sum_of_its_stacks)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair = pair_create(seed);
		struct profile *sum = merge2(pair.a, pair.b);

		for (size_t i = 0; i < ARRAY_SIZE(metric_names); i++)
			check_sum(sum, metric_names[i], pair.a, 1, pair.b, 1, metric_names[i]);
		check(sum->stats.counted == pair.a->stats.counted + pair.b->stats.counted);
		check((sum->samples.count > 0) ==
			((pair.a->samples.count && pair.b->samples.count) ||
				(pair.a->samples.count && pair.b->stack_count == 1) ||
				(pair.b->samples.count && pair.a->stack_count == 1)));
		profile_destroy(sum);
		pair_destroy(&pair);
	}
}

TEST(the_order_of_files_does_not_matter)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair = pair_create(seed);
		struct profile *ab = merge2(pair.a, pair.b), *ba = merge2(pair.b, pair.a);

		check(ab->metric_count == ba->metric_count);
		for (uint32_t m = 0; m < ab->metric_count; m++) {
			metric_id same =
				metric_of(ba, profile_string(ab, ab->metrics[m].name).data);

			check_same_functions(ab, (metric_id){m}, ba, same, 1);
			check_same_calltree(ab, (metric_id){m}, ba, same);
		}
		profile_destroy(ab);
		profile_destroy(ba);
		pair_destroy(&pair);
	}
}

TEST(three_files_are_merged_in_any_grouping)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair = pair_create(seed), other = pair_create(seed + 5000);
		const struct profile *const all[] = {pair.a, pair.b, other.a};
		struct profile *at_once = NULL, *half = merge2(pair.a, pair.b);
		struct profile *in_turn = merge2(half, other.a);

		assert_null(profile_merge(all, 3, &at_once));
		for (uint32_t m = 0; m < at_once->metric_count; m++)
			check_same_functions(at_once, (metric_id){m}, in_turn,
				metric_of(in_turn,
					profile_string(at_once, at_once->metrics[m].name).data),
				1);
		profile_destroy(at_once);
		profile_destroy(half);
		profile_destroy(in_turn);
		pair_destroy(&pair);
		pair_destroy(&other);
	}
}

TEST(a_difference_is_new_less_old)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair = pair_of(seed, true);
		struct profile *d = difference(pair.a, pair.b);

		for (uint32_t m = 0; m < d->metric_count; m += DIFFERENCE_METRICS) {
			const char *name = profile_string(d, d->metrics[m].name).data;
			metric_id before = difference_old((metric_id){m});
			metric_id after = difference_new((metric_id){m});

			check(d->total[m] == d->total[after.i] - d->total[before.i]);
			if (strcmp(name, "samples") == 0)
				continue; /* also of files without that metric */
			check_sum(d, name, pair.a, -1, pair.b, 1, name);
			check_sum(d, profile_string(d, d->metrics[before.i].name).data, pair.a, 1,
				pair.a, 0, name);
			check_sum(d, profile_string(d, d->metrics[after.i].name).data, pair.b, 1,
				pair.b, 0, name);
		}
		check(d->stats.counted == pair.b->stats.counted);
		profile_destroy(d);
		pair_destroy(&pair);
	}
}

/* All shares of a side come to the whole, and each function's is its part of the total. */
static void check_shares(const struct profile *d, metric_id shares, metric_id of)
{
	struct arena *arena = arena_create();
	const struct functions *share =
		functions_analyse(entity_tree_of(d, LEVEL_FUNCTION, shares, arena), arena);
	const struct functions *weight =
		functions_analyse(entity_tree_of(d, LEVEL_FUNCTION, of, arena), arena);
	double total = (double)d->total[of.i];

	check(d->total[shares.i] == SHARE_WHOLE);
	for (size_t i = 0; i < share->count; i++)
		for (size_t k = 0; k < weight->count; k++) {
			if (share->rows[i].entity != weight->rows[k].entity)
				continue;
			double wanted = (double)weight->rows[k].exclusive / total * 1e9;

			check(fabs((double)share->rows[i].exclusive - wanted) <=
				(double)d->stack_count);
		}
	arena_destroy(arena);
}

TEST(shares_come_to_the_whole)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair = pair_of(seed, false);
		struct str name =
			profile_string(pair.b, pair.b->metrics[pair.b->default_metric.i].name);
		struct profile *d = NULL;
		struct error *err = profile_difference_of_shares(pair.a, pair.b, name, &d);

		if (err) {
			check(err->kind == ERROR_UNSUPPORTED);
			check(strstr(err->message, "there are no shares of it") != NULL);
			error_destroy(err);
		} else {
			metric_id of = metric_of(d, name.data);
			metric_id shares = {(uint32_t)d->metric_count - DIFFERENCE_METRICS};

			check(str_equal(profile_string(d, d->metrics[shares.i].unit), SHARE_UNIT));
			check(d->total[shares.i] == 0);
			check_shares(d, difference_old(shares), difference_old(of));
			check_shares(d, difference_new(shares), difference_new(of));
			profile_destroy(d);
		}
		pair_destroy(&pair);
	}
}

/* The metric of reverse that must hold what m of d holds: old is new there. */
static metric_id counterpart(const struct profile *d, uint32_t m, const struct profile *reverse)
{
	const struct metric *first = &d->metrics[m - m % DIFFERENCE_METRICS];
	metric_id same = metric_of(reverse, profile_string(d, first->name).data);

	if (m % DIFFERENCE_METRICS == 0)
		return same;
	return difference_old((metric_id){m}).i == m ? difference_new(same) : difference_old(same);
}

TEST(differences_are_antisymmetric)
{
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct pair pair = pair_of(seed, true);
		struct profile *d = difference(pair.a, pair.b);
		struct profile *reverse = difference(pair.b, pair.a);
		struct profile *none = difference(pair.a, pair.a);

		for (uint32_t m = 0; m < d->metric_count; m++)
			check_same_functions(d, (metric_id){m}, reverse, counterpart(d, m, reverse),
				m % DIFFERENCE_METRICS ? 1 : -1);
		for (uint32_t m = 0; m < none->metric_count; m += DIFFERENCE_METRICS)
			for (uint32_t i = 0; i < none->stack_count; i++)
				check(profile_weight(none, m, i) == 0);
		profile_destroy(d);
		profile_destroy(reverse);
		profile_destroy(none);
		pair_destroy(&pair);
	}
}

/* ---- what inputs do not have in common ---- */

struct maker {
	struct builder *builder;
	stack_id stack; /* main */
};

static struct maker maker_create(const char *source, const char *metric, const char *unit)
{
	struct maker m = {.builder = builder_create()};
	struct builder *b = m.builder;
	string_id none = {0};
	function_id function =
		builder_function(b, builder_string(b, STR("main")), (object_id){NO_ID}, none, 0);

	builder_header(b)->source = builder_string(b, str_from(source));
	(void)builder_metric(b, str_from(metric), str_from(unit));
	m.stack = builder_stack(b, (stack_id){0}, builder_frame(b, function, none, 0, false, 0));
	return m;
}

static struct profile *maker_finish(struct maker *m)
{
	struct profile *p = NULL;

	assert_null(builder_finish(m->builder, &p));
	return p;
}

/* One sample, at that time, of thread 7; start_unix_ns as the header has it. */
static struct profile *timed_profile(const char *source, uint64_t start_ns, uint64_t time_ns)
{
	struct maker m = maker_create(source, "cpu-time", "ns");
	struct builder *b = m.builder;
	process_id process = builder_process(b, 7, 5, STR("prog"));
	thread_id thread = builder_thread(b, 7, process, 6, STR("prog"));

	builder_header(b)->start_unix_ns = start_ns;
	builder_sample(b, m.stack, thread, time_ns, &(int64_t){1000});
	return maker_finish(&m);
}

static struct profile *total_profile(const char *metric, const char *unit, int64_t weight)
{
	struct maker m = maker_create("totals", metric, unit);

	builder_weight(m.builder, m.stack, &weight, 4);
	return maker_finish(&m);
}

TEST(times_come_onto_one_line)
{
	struct profile *a = timed_profile("a", 5000, 10), *b = timed_profile("b", 2000, 20);
	struct profile *sum = merge2(a, b);

	assert_int_equal(sum->start_unix_ns, 2000);
	assert_int_equal(sum->samples.count, 2);
	assert_int_equal(sum->samples.time_ns[0], 3010);
	assert_int_equal(sum->samples.time_ns[1], 20);
	assert_int_equal(sum->thread_count, 2);
	assert_int_equal(sum->threads[0].start_ns, 3006);
	assert_int_equal(sum->processes[1].start_ns, 5);
	assert_int_equal(sum->note_count, 0);
	assert_string_equal(profile_string(sum, sum->source).data, "a, b");
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
}

TEST(times_without_a_start_stay)
{
	struct profile *a = timed_profile("a", 0, 10),
		       *b = timed_profile("b", 2000, UINT64_MAX - 1);
	struct profile *sum = merge2(a, b);

	assert_int_equal(sum->start_unix_ns, 0);
	assert_int_equal(sum->samples.time_ns[0], 10);
	assert_true(has_note(sum, "times count from each one's start"));
	profile_destroy(a);
	profile_destroy(sum);
	a = timed_profile("a", 1000, 10);
	sum = merge2(a, b);
	/* The latest time that there is, and not "not known". */
	assert_true(sum->samples.time_ns[1] == UINT64_MAX - 1);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
}

TEST(samples_are_kept_if_all_have_them)
{
	struct profile *a = timed_profile("a", 1, 10), *b = total_profile("cpu-time", "ns", 3000);
	struct profile *empty = maker_finish(
		&(struct maker){.builder = maker_create("empty", "cpu-time", "ns").builder});
	struct profile *sum = merge2(a, b), *alone = merge2(a, empty);

	assert_int_equal(sum->samples.count, 0);
	assert_int_equal(sum->total[0], 4000);
	assert_int_equal(sum->stats.counted, 5);
	assert_true(has_note(sum, "single samples are not in all files"));
	assert_int_equal(alone->samples.count, 1);
	assert_non_null(alone->samples.thread);
	assert_false(has_note(alone, "single samples"));
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(empty);
	profile_destroy(sum);
	profile_destroy(alone);
}

TEST(metrics_go_by_name_and_unit)
{
	struct profile *a = total_profile("cpu-time", "ns", 9),
		       *b = total_profile("bytes", "bytes", 5);
	struct profile *other = total_profile("bytes", "pages", 5), *sum = merge2(a, b),
		       *none = NULL;
	const struct profile *const clash[] = {a, b, other};

	assert_int_equal(sum->metric_count, 2);
	assert_int_equal(sum->total[0], 9);
	assert_int_equal(sum->total[1], 5);
	assert_true(has_note(sum, "cpu-time is in 1 of the 2 files only"));
	assert_true(has_note(sum, "bytes is in 1 of the 2 files only"));
	struct error *err = profile_merge(clash, 3, &none);

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_INPUT);
	assert_non_null(strstr(err->message, "its unit is 'bytes' in totals, and 'pages'"));
	assert_null(none);
	error_destroy(err);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(other);
	profile_destroy(sum);
}

/* Files that have no such metric know how many samples there were nevertheless. */
TEST(samples_are_counted_where_known)
{
	struct profile *a = total_profile("samples", "count", 9),
		       *b = total_profile("cpu-time", "ns", 5);
	struct profile *sum = merge2(a, b);

	assert_int_equal(sum->total[metric_of(sum, "samples").i], 13);
	assert_false(has_note(sum, "samples is in"));
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
}

TEST(sums_beyond_63_bits_are_refused)
{
	struct profile *a = total_profile("bytes", "bytes", INT64_MAX), *sum = NULL;
	const struct profile *const twice[] = {a, a};
	struct error *err = profile_merge(twice, 2, &sum);

	assert_non_null(err);
	assert_non_null(strstr(err->message, "exceeds 64 bits"));
	error_destroy(err);
	profile_destroy(a);
}

/* A change may be as large as either side, and both ways at once. */
TEST(differences_of_63_bits)
{
	struct profile *a = total_profile("bytes", "bytes", INT64_MAX), *d = difference(a, a);

	for (size_t m = 0; m < 3; m++)
		assert_int_equal(d->total[m], m == 0 ? 0 : INT64_MAX); /* change, old, new */
	profile_destroy(a);
	profile_destroy(d);
}

TEST(a_metric_cannot_play_a_difference)
{
	struct profile *a = total_profile("cpu-time", "ns", 1);
	struct profile *b = total_profile("cpu-time (old)", "ns", 1), *d = NULL;
	struct error *err = profile_difference(a, b, &d);

	assert_non_null(err);
	assert_null(d);
	error_destroy(err);
	profile_destroy(a);
	profile_destroy(b);
}

static struct profile *selected_profile(struct str when)
{
	struct maker m = maker_create("selected", "cpu-time", "ns");

	builder_weight(m.builder, m.stack, &(int64_t){10}, 1);
	builder_header(m.builder)->when = builder_string(m.builder, when);
	return maker_finish(&m);
}

TEST(different_selections_do_not_add_up)
{
	struct profile *a = selected_profile(STR("a\0*\0")), *b = selected_profile(STR("b\0"));
	struct profile *sum = merge2(a, a), *none = NULL;
	const struct profile *const mixed[] = {a, b};
	struct error *err = profile_merge(mixed, 2, &none);
	struct str rest = profile_string(sum, sum->when);

	assert_true(str_equal(str_take_item(&rest), STR("a")));
	assert_true(str_equal(str_take_item(&rest), STR("*")));
	assert_int_equal(rest.size, 0);
	assert_string_equal(err->message, "selected and selected were recorded with different "
					  "--when: they cannot be put together");
	error_destroy(err);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
}

static struct profile *noted_profile(uint64_t lost, uint64_t interval_ns, uint64_t cpu_ns)
{
	struct maker m = maker_create("noted", "cpu-time", "ns");
	struct builder_header *header = builder_header(m.builder);

	builder_weight(m.builder, m.stack, &(int64_t){10}, lost);
	builder_note(m.builder, NOTE_LOST, 1, "a sample was lost");
	builder_note(m.builder, NOTE_LOST, lost, "samples were late");
	builder_note(m.builder, NOTE_NO_SYMBOLS, 2, "no symbols for a, b");
	header->stats.interval_ns = interval_ns;
	header->stats.cpu_ns = cpu_ns;
	header->stats.lost = lost;
	return maker_finish(&m);
}

static const struct note *find_note(const struct profile *p, const char *text)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (str_equal(profile_string(p, p->notes[i].text), str_from(text)))
			return &p->notes[i];
	fail_msg("no note '%s'", text);
	return NULL;
}

/* The singular and plural of a loss are one note, whichever comes first; numbers tell apart. */
TEST(singular_and_plural_are_one_note)
{
	static const struct {
		enum note_kind kind;
		uint64_t count;
		const char *text;
	} given[] = {{NOTE_LOST, 1, "a sample was lost: the ring was full"},
		{NOTE_LOST, 7, "samples were lost: the ring was full"},
		{NOTE_LOST, 2, "samples were lost: the ring was full"},
		{NOTE_LOST, 1, "it did not sample for 2.5 s"},
		{NOTE_LOST, 1, "it did not sample for 3.5 s"},
		{NOTE_INFO, 1, "a stack is inverted"}, {NOTE_INFO, 2, "stacks are inverted"}};
	struct maker m = maker_create("common", "cpu-time", "ns");
	struct common_notes notes;

	common_notes_init(&notes);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		common_notes_add(&notes, given[i].kind, given[i].count, str_from(given[i].text));
	builder_weight(m.builder, m.stack, &(int64_t){10}, 1);
	common_notes_put(&notes, m.builder, "files");
	common_notes_deinit(&notes);
	struct profile *p = maker_finish(&m);

	assert_int_equal(p->note_count, 5);
	assert_int_equal(find_note(p, "samples were lost: the ring was full")->count, 10);
	assert_int_equal(find_note(p, "it did not sample for 2.5 s")->count, 1);
	assert_int_equal(find_note(p, "stacks are inverted")->count, 2);
	profile_destroy(p);
}

TEST(notes_and_statistics_add_up)
{
	struct profile *a = noted_profile(3, 1000, 7000), *b = noted_profile(9, 5000, UINT64_MAX);
	struct profile *sum = merge2(a, b);

	assert_int_equal(sum->stats.lost, 12);
	assert_int_equal(sum->stats.counted, 12);
	assert_true(sum->stats.cpu_ns == UINT64_MAX);
	assert_true(sum->stats.duration_ns == UINT64_MAX);
	assert_int_equal(sum->stats.interval_ns, (3 * 1000 + 9 * 5000) / 12);
	assert_int_equal(find_note(sum, "samples were late")->count, 12);
	assert_int_equal(find_note(sum, "in 2 of the files: a sample was lost")->count, 1);
	assert_int_equal(find_note(sum, "no symbols for a, b")->count, 2);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
}

TEST(many_sources_are_not_all_named)
{
	static const char *const names[] = {"a", "b", "b", "c", "d", "e", "a"};
	struct profile *files[ARRAY_SIZE(names)], *sum = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		files[i] = timed_profile(names[i], 1, 1);
	assert_null(profile_merge((const struct profile *const *)files, ARRAY_SIZE(names), &sum));
	assert_string_equal(profile_string(sum, sum->source).data, "a, b, c, d, …");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		profile_destroy(files[i]);
	profile_destroy(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_profile_stays_itself),
		cmocka_unit_test(a_merger_is_the_sum_of_its_stacks),
		cmocka_unit_test(the_order_of_files_does_not_matter),
		cmocka_unit_test(three_files_are_merged_in_any_grouping),
		cmocka_unit_test(a_difference_is_new_less_old),
		cmocka_unit_test(shares_come_to_the_whole),
		cmocka_unit_test(differences_are_antisymmetric),
		cmocka_unit_test(times_come_onto_one_line),
		cmocka_unit_test(times_without_a_start_stay),
		cmocka_unit_test(samples_are_kept_if_all_have_them),
		cmocka_unit_test(metrics_go_by_name_and_unit),
		cmocka_unit_test(samples_are_counted_where_known),
		cmocka_unit_test(sums_beyond_63_bits_are_refused),
		cmocka_unit_test(differences_of_63_bits),
		cmocka_unit_test(a_metric_cannot_play_a_difference),
		cmocka_unit_test(different_selections_do_not_add_up),
		cmocka_unit_test(singular_and_plural_are_one_note),
		cmocka_unit_test(notes_and_statistics_add_up),
		cmocka_unit_test(many_sources_are_not_all_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
