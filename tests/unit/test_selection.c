/*
 * Filters alone and in chains, every level, --same and --invert, against lists of stacks written
 * out; and what must hold of totals.
 *
 * Each property runs over many random profiles.  A failure names the profile's number; SEED=number
 * in the environment runs that one alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/slow_selection.h"
#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/functions.h"
#include "base/alloc.h"

/* As in test_properties.c. */
#define ROUNDS		 400
#define ROUNDS_SANITIZED 50
#define FILTERS_MAX	 4

/* One random profile, and filters for it. */
struct subject {
	struct random random;
	struct random_shape shape;
	struct profile *profile;
	struct arena *arena;
	struct filter filters[FILTERS_MAX];
	size_t filter_count;
	struct slow_lines slow; /* filtered as far as `applied` */
	size_t applied;
	int64_t outside[SLOW_METRICS_MAX]; /* of all ticks, at the last filter of ticks */
	char *slow_when[FILTERS_MAX];	   /* a pattern in letters */
};

static struct random_shape subject_shape(struct random *r)
{
	struct random_shape s = random_shape_small;

	s.functions = 1 + random_below(r, 8);
	s.objects = random_below(r, 4);
	s.stacks = random_below(r, 30);
	s.depth_max = 1 + random_below(r, 9);
	s.metrics = 1 + random_below(r, 3);
	s.weight_max = 1u << random_below(r, 10);
	s.negative = random_below(r, 3) == 0;
	s.places = random_below(r, 3) > 0;
	s.samples = random_below(r, 3) > 0;
	s.zones = s.samples && random_below(r, 2);
	s.labels = s.samples && random_below(r, 2);
	return s;
}

static void for_each_subject(void (*test)(struct subject *))
{
	for (struct property_seeds p = property_seeds(ROUNDS, ROUNDS_SANITIZED);
		property_next(&p);) {
		struct random r = random_from(property_seed);
		struct subject s = {.arena = arena_create()};
		s.shape = subject_shape(&r);
		s.profile = random_profile(property_seed, &s.shape);
		s.random = r;
		slow_lines_init(&s.slow, s.profile, s.arena);
		test(&s);
		for (size_t i = 0; i < s.filter_count; i++) {
			filter_deinit(&s.filters[i]);
			free(s.slow_when[i]);
		}
		vec_deinit(&s.slow.lines);
		profile_destroy(s.profile);
		arena_destroy(s.arena);
	}
}

/* ---- filters ---- */

static const char *random_regex(struct subject *s)
{
	uint32_t f = random_below(&s->random, 8), o = random_below(&s->random, 3);

	switch (random_below(&s->random, 7)) {
	case 0:
		return arena_printf(s->arena, "^f%u$", f);
	case 1:
		return arena_printf(s->arena, "o%u`", o);
	case 2:
		return arena_printf(s->arena, "^o%u`f%u$", o, f);
	case 3:
		return "^`"; /* of no known load object */
	case 4:
		return random_below(&s->random, 2) ? "no such" : "";
	default:
		return arena_printf(s->arena, "f%u", f);
	}
}

static void add_frame_pattern(struct subject *s, struct strbuf *out)
{
	struct random *r = &s->random;

	if (random_below(r, 3) == 0) {
		strbuf_add_char(out, '*');
		return;
	}
	if (random_below(r, 4) == 0)
		strbuf_add_char(out, ':');
	bool has_module = random_below(r, 3) == 0;
	if (has_module)
		strbuf_add_char(out, (char)('a' + random_below(r, 3)));
	if (!has_module || random_below(r, 2)) {
		strbuf_add_char(out, '.');
		strbuf_add_char(out, (char)('a' + random_below(r, s->shape.functions)));
	}
	if (random_below(r, 4) == 0)
		strbuf_add_char(out, ':');
}

/* In the letters of slow_when. */
static char *random_when(struct subject *s)
{
	struct strbuf out = {0};

	for (uint32_t threads = 1 + random_below(&s->random, 2); threads > 0; threads--) {
		for (uint32_t n = 1 + random_below(&s->random, 3); n > 0; n--) {
			add_frame_pattern(s, &out);
			strbuf_add(&out, n > 1 ? STR("->") : STR(""));
		}
		strbuf_add(&out, threads > 1 ? STR("|") : STR(""));
	}
	char *pattern = xstrndup(out.data, out.size);
	strbuf_deinit(&out);
	return pattern;
}

/* With the names that functions have: ":a.b" is ":o0.f1". */
static const char *spell_out(struct subject *s, const char *pattern)
{
	struct strbuf out = {0};

	for (const char *c = pattern; *c; c++) {
		if (*c >= 'a' && *c <= 'z')
			strbuf_printf(
				&out, "%c%d", c > pattern && c[-1] == '.' ? 'f' : 'o', *c - 'a');
		else
			strbuf_add_char(&out, *c);
	}
	const char *text = arena_str(s->arena, strbuf_str(&out)).data;
	strbuf_deinit(&out);
	return text;
}

static const char *random_ids(struct subject *s, const char *const *ids, uint32_t count)
{
	const char *id = ids[random_below(&s->random, count)];

	if (random_below(&s->random, 2))
		return id;
	return arena_printf(s->arena, "%s,%s", id, ids[random_below(&s->random, count)]);
}

/* Of zones, or KEY[=REGEX] of labels. */
static const char *random_text(struct subject *s, enum filter_kind kind)
{
	static const char *const texts[2][8] = {
		{"^_global$", "zone", "s]`", "^zone3$", "unknown", "zone4", "_", "no such"},
		{"key0", "size", "key0=text1$", "key0=", "size=2048", "size=^1024 bytes$", "key1=-",
			"size=no such"}};

	return texts[kind == FILTER_LABEL][random_below(&s->random, ARRAY_SIZE(texts[0]))];
}

/* Random ticks are numbered from 0 to 3 and take 10 µs each. */
static struct filter_ticks random_ticks(struct subject *s)
{
	struct random *r = &s->random;

	return (struct filter_ticks){
		.from = random_below(r, 3) ? (int64_t)random_below(r, 7) - 3 : INT64_MIN,
		.to = random_below(r, 3) ? (int64_t)random_below(r, 7) - 3 : INT64_MAX,
		.duration_ns = 9999 + random_below(r, 3),
	};
}

static void add_filter(struct subject *s, enum filter_kind kind)
{
	static const char *const threads[] = {"200", "202", "thread1", "thread2"};
	static const char *const processes[] = {"100", "102", "thread0"};
	struct filter *f = &s->filters[s->filter_count];
	struct filter_ticks ticks = random_ticks(s);
	uint64_t from_ns = 1000 * random_below(&s->random, 20);

	switch (kind) {
	case FILTER_WHEN:
		s->slow_when[s->filter_count] = random_when(s);
		assert_null(filter_init_when(
			f, spell_out(s, s->slow_when[s->filter_count]), WHEN_OBJECTS));
		break;
	case FILTER_FOCUS:
	case FILTER_IGNORE:
	case FILTER_HIDE:
		assert_null(filter_init(f, kind, random_regex(s)));
		break;
	case FILTER_KERNEL:
		filter_init_kernel(f, random_below(&s->random, 2) ? KERNEL_SYSCALLS : KERNEL_NONE);
		break;
	case FILTER_FOLD:
		/* No random function is in a namespace; names are in test_name_reading.c. */
		assert_null(filter_init(f, kind, "std"));
		break;
	case FILTER_INLINE:
		assert_null(filter_init(f, kind, "no"));
		break;
	case FILTER_THREAD:
		assert_null(filter_init(f, kind, random_ids(s, threads, ARRAY_SIZE(threads))));
		break;
	case FILTER_PID:
		assert_null(filter_init(f, kind, random_ids(s, processes, ARRAY_SIZE(processes))));
		break;
	case FILTER_TIME:
		filter_init_time(
			f, "time", from_ns, from_ns + 1000 * (1 + random_below(&s->random, 20)));
		break;
	case FILTER_ZONE:
	case FILTER_LABEL:
		assert_null(filter_init(f, kind, random_text(s, kind)));
		break;
	case FILTER_TICK:
	case FILTER_TICK_OVER:
	case FILTER_TICK_UNDER:
		filter_init_ticks(f, kind, "ticks", &ticks);
		break;
	case FILTER_CGROUP: /* random samples are in none; see test_cgroup.c */
	case FILTER_COUNT:
		abort();
	}
	s->filter_count++;
}

/* Those that the profile knows enough for. */
static enum filter_kind random_kind(struct subject *s)
{
	bool knows_samples = s->profile->samples.count > 0;
	uint32_t zones = s->shape.zones ? FILTER_LABEL : FILTER_ZONE;

	if (s->profile->samples.labels && random_below(&s->random, 4) == 0)
		return FILTER_LABEL;
	return (enum filter_kind)random_below(&s->random, knows_samples ? zones : FILTER_THREAD);
}

static void apply_slow(struct subject *s)
{
	const struct filter *f = &s->filters[s->applied];

	switch (f->kind) {
	case FILTER_WHEN:
		slow_lines_when(&s->slow, s->slow_when[s->applied]);
		break;
	case FILTER_FOCUS:
	case FILTER_IGNORE:
		slow_focus(&s->slow, f->text, f->kind == FILTER_FOCUS);
		break;
	case FILTER_HIDE:
		slow_hide(&s->slow, f->text);
		break;
	case FILTER_KERNEL:
		slow_kernel(&s->slow, f->kernel == KERNEL_SYSCALLS);
		break;
	case FILTER_FOLD:
		break;
	case FILTER_INLINE:
		slow_without_inlined(&s->slow);
		break;
	case FILTER_THREAD:
		slow_threads(&s->slow, f->text);
		break;
	case FILTER_PID:
		slow_processes(&s->slow, f->text);
		break;
	case FILTER_TIME:
		slow_times(&s->slow, f->from_ns, f->to_ns);
		break;
	case FILTER_ZONE:
		slow_zone(&s->slow, f->text);
		break;
	case FILTER_LABEL:
		slow_label(&s->slow, arena_str(s->arena, f->ids.data[0]).data,
			f->names ? strchr(f->text, '=') + 1 : NULL);
		break;
	case FILTER_TICK:
	case FILTER_TICK_OVER:
	case FILTER_TICK_UNDER:
		memset(s->outside, 0, sizeof(s->outside));
		slow_ticks(&s->slow, f->kind, &f->ticks, s->outside);
		break;
	case FILTER_CGROUP:
	case FILTER_COUNT:
		abort();
	}
	s->applied++;
}

static struct selection *select_all(struct subject *s)
{
	struct selection *selection = NULL;
	struct error *err =
		selection_create(s->profile, s->filters, s->filter_count, s->arena, &selection);

	if (err)
		fail_msg("SEED=%" PRIu64 ": %s", property_seed, err->message);
	return selection;
}

/* ---- trees ---- */

struct comparison {
	const struct subject *subject;
	const struct entity_tree *fast;
	const struct slow_tree *slow;
	size_t metrics;
	uint32_t *fast_of; /* [node of slow] */
};

static const struct entity_tree *tree_of_metric(const struct entity_tree *tree, size_t m)
{
	return m ? tree->others[m - 1] : tree;
}

static void compare_nodes(struct comparison *c, uint32_t fast, uint32_t slow)
{
	const struct slow_tree_node *node = &c->slow->nodes.data[slow];
	uint32_t next = fast + 1, end = entity_tree_end(c->fast, fast);

	c->fast_of[slow] = fast;
	if (slow != 0)
		check(slow_same_entity(&c->fast->entities[c->fast->entity[fast]],
			&c->slow->names.data[node->name]));
	for (size_t m = 0; m < c->metrics; m++) {
		const struct entity_tree *of = tree_of_metric(c->fast, m);
		check(entity_tree_weight(of, fast) == node->weight[m]);
		if (of->is_passed)
			check(of->is_passed[fast] == node->passed[m]);
	}
	for (uint32_t i = slow + 1; i < c->slow->nodes.count; i++) {
		if (c->slow->nodes.data[i].parent != slow)
			continue;
		check(next < end);
		compare_nodes(c, next, i);
		next = entity_tree_end(c->fast, next);
	}
	check(next == end);
}

static void compare_trees(const struct subject *s, const struct entity_tree *fast,
	const struct slow_tree *slow, size_t metrics)
{
	struct comparison c = {
		s, fast, slow, metrics, xcalloc(slow->nodes.count, sizeof(*c.fast_of))};
	uint32_t depth_max = 0, *first_seen = entity_tree_first_seen(fast);

	check(fast->node_count == slow->nodes.count && fast->other_count == metrics - 1);
	compare_nodes(&c, 0, 0);
	for (size_t i = 0; i < slow->nodes.count; i++) {
		if (slow->nodes.data[i].level > depth_max)
			depth_max = slow->nodes.data[i].level;
		/* In the order in which stacks got there. */
		if (i > 0)
			check(first_seen[c.fast_of[i]] > first_seen[c.fast_of[i - 1]]);
	}
	check(fast->depth_max == depth_max);
	free(first_seen);
	free(c.fast_of);
}

/* What is left of a tree's total behind its nodes. */
static void check_total(const struct subject *s, const struct entity_tree *tree, size_t m)
{
	int64_t shown = slow_weight_in(&s->slow, m, SLOW_SHOWN);

	check(entity_tree_weight_below(tree, 0) == shown);
	check(tree->spontaneous == slow_weight_in(&s->slow, m, SLOW_SPONTANEOUS));
	check(tree->total ==
		shown + tree->spontaneous + slow_weight_in(&s->slow, m, SLOW_UNMATCHED));
}

static uint32_t find_name(const struct slow_tree *t, const struct entity *e)
{
	for (uint32_t i = 0; i < t->names.count; i++)
		if (slow_same_entity(&t->names.data[i], e))
			return i;
	return NO_ID;
}

static void check_functions(
	const struct subject *s, const struct entity_tree *tree, const struct slow_tree *slow)
{
	struct functions *f = functions_analyse(tree, s->arena);

	for (size_t m = 0; m <= tree->other_count; m++) {
		const struct functions *of = m ? f->others[m - 1] : f;
		const struct entity_tree *its = tree_of_metric(tree, m);
		int64_t sum = entity_tree_weight(its, 0);
		for (size_t i = 0; i < of->count; i++) {
			const struct function_row *row = &of->rows[i];
			if (row->entity == tree->entity_count) {
				check(row->exclusive == its->spontaneous && row->inclusive == 0);
				continue;
			}
			uint32_t name = find_name(slow, &tree->entities[row->entity]);
			check(name != NO_ID);
			check(row->exclusive == slow_tree_exclusive(slow, m, name));
			check(row->inclusive == slow_tree_inclusive(slow, m, name));
			if (!s->shape.negative)
				check(row->exclusive >= 0 && row->exclusive <= row->inclusive &&
					row->inclusive <= its->total);
			sum += row->exclusive;
		}
		/* Sums alone are of whole profiles. */
		check(sum == (its->sums ? its->total : entity_tree_weight_below(its, 0)));
	}
}

/* A tree of all that a selection shows, at one level, upright, for sums alone, and inverted. */
static void check_level(struct subject *s, const struct selection *selection, enum level level)
{
	static const metric_id all[] = {{0}, {1}, {2}, {3}, {4}};
	size_t metrics = 1 + random_below(&s->random, (uint32_t)s->profile->metric_count);
	struct entity_spec spec = {
		.in_kept_order = true, .level = level, .metrics = all, .metric_count = metrics};
	struct slow_tree slow, inverted;
	struct entity_tree *tree = entity_tree_create(selection, &spec, s->arena);

	slow_tree_init(&slow, &s->slow, level, metrics, NULL, 0);
	slow_tree_invert(&inverted, &slow, metrics);
	compare_trees(s, tree, &slow, metrics);
	for (size_t m = 0; m < metrics; m++)
		check_total(s, tree_of_metric(tree, m), m);
	check_functions(s, tree, &slow);
	spec.sums_only = true;
	check_functions(s, entity_tree_create(selection, &spec, s->arena), &slow);
	tree = entity_tree_invert(tree, s->arena);
	compare_trees(s, tree, &inverted, metrics);
	for (size_t m = 0; m < metrics; m++)
		check_total(s, tree_of_metric(tree, m), m);
	slow_tree_deinit(&slow);
	slow_tree_deinit(&inverted);
}

static bool has_level(const struct subject *s, enum level level)
{
	struct error *err = level_check(level, s->profile);
	bool has = err == NULL;

	if (err)
		error_destroy(err);
	return has;
}

static void check_levels(struct subject *s, const struct selection *selection)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		if (has_level(s, level))
			check_level(s, selection, level);
}

/* ---- properties ---- */

/* Without filters. */
static void test_levels(struct subject *s)
{
	check_levels(s, selection_all(s->profile, s->arena));
}

static void check_steps(struct subject *s, const struct selection *selection)
{
	check(selection->step_count == s->filter_count);
	for (size_t i = 0; i < s->filter_count; i++) {
		apply_slow(s);
		for (size_t m = 0; m < s->profile->metric_count; m++)
			if (selection->steps[i].outside)
				check(selection->steps[i].outside[m] == s->outside[m]);
		for (size_t m = 0; m < s->profile->metric_count; m++)
			check(selection->steps[i].kept[m] ==
				slow_weight_in(&s->slow, m, SLOW_SHOWN) +
					slow_weight_in(&s->slow, m, SLOW_SPONTANEOUS));
	}
}

static void check_samples(const struct subject *s, const struct selection *selection)
{
	uint64_t shown =
		slow_samples_in(&s->slow, SLOW_SHOWN) + slow_samples_in(&s->slow, SLOW_SPONTANEOUS);
	uint64_t unmatched = slow_samples_in(&s->slow, SLOW_UNMATCHED);

	if (s->profile->row_samples == NULL)
		return;
	check(selection_shown_samples(selection) == shown);
	check(selection_unmatched_samples(selection) == unmatched);
	check(selection_total_samples(selection) == shown + unmatched);
}

static void check_chain(struct subject *s)
{
	struct selection *selection = select_all(s);

	check_steps(s, selection);
	check_samples(s, selection);
	for (size_t m = 0; m < s->profile->metric_count; m++)
		check(selection->total[m] == slow_weight_in(&s->slow, m, SLOW_SHOWN) +
						     slow_weight_in(&s->slow, m, SLOW_SPONTANEOUS) +
						     slow_weight_in(&s->slow, m, SLOW_UNMATCHED));
	check_levels(s, selection);
}

static void test_one_filter(struct subject *s)
{
	add_filter(s, random_kind(s));
	check_chain(s);
}

static void test_chains(struct subject *s)
{
	size_t count = 2 + random_below(&s->random, FILTERS_MAX - 1);

	while (s->filter_count < count)
		add_filter(s, random_kind(s));
	check_chain(s);
}

/* One more WHEN, and every percentage is still of the same. */
static void test_when_keeps_totals(struct subject *s)
{
	while (s->filter_count < FILTERS_MAX - 1)
		add_filter(s, random_kind(s));
	struct selection *before = select_all(s);
	add_filter(s, FILTER_WHEN);
	struct selection *after = select_all(s);
	for (size_t m = 0; m < s->profile->metric_count; m++)
		check(before->total[m] == after->total[m]);
	check(selection_total_samples(before) == selection_total_samples(after));
}

/* Filters that keep everything are none. */
static void test_everything(struct subject *s)
{
	assert_null(filter_init(&s->filters[0], FILTER_IGNORE, "no such"));
	assert_null(filter_init(&s->filters[1], FILTER_HIDE, "no such"));
	assert_null(filter_init_when(&s->filters[2], "*", WHEN_OBJECTS));
	s->filter_count = 3;
	if (s->profile->samples.count > 0) {
		filter_init_time(&s->filters[3], ":", 0, UINT64_MAX);
		s->filter_count = 4;
	}
	struct selection *all = selection_all(s->profile, s->arena), *kept = select_all(s);
	size_t count = s->profile->stack_count;
	for (uint32_t i = 0; i < count; i++) {
		check(selection_parent(all, i) == selection_parent(kept, i));
		/* WHEN decides nothing for stacks without weights. */
		bool is_decided = profile_row(s->profile, i) != 0;
		check(selection_shown(kept, i) ==
			(is_decided ? selection_shown(all, i) : SHOWN_UNMATCHED));
	}
	for (size_t i = 0; i < s->profile->samples.count; i++)
		check(profile_row(s->profile, s->profile->samples.stack[i].i) != 0);
	for (size_t m = 0; m < s->profile->metric_count; m++) {
		check(all->total[m] == kept->total[m]);
		assert_memory_equal(all->row_weight[m], kept->row_weight[m],
			s->profile->row_count * sizeof(**kept->row_weight));
	}
}

static void test_same(struct subject *s)
{
	static const metric_id metric = {0};
	const struct slow_same slow_rules[] = {
		{random_regex(s), "one"}, {random_regex(s), "f1"}, {random_regex(s), "one"}};
	struct same_rule rules[ARRAY_SIZE(slow_rules)];
	struct slow_tree slow;
	size_t count = 1 + random_below(&s->random, ARRAY_SIZE(rules));

	for (size_t i = 0; i < count; i++) {
		struct name_pattern *pattern;
		assert_null(name_pattern_create(slow_rules[i].regex, &pattern));
		rules[i] = (struct same_rule){
			slow_rules[i].regex, pattern, str_from(slow_rules[i].name)};
	}
	add_filter(s, random_kind(s));
	struct selection *selection = select_all(s);
	apply_slow(s);
	struct entity_spec spec = {.in_kept_order = true,
		.level = LEVEL_FUNCTION,
		.metrics = &metric,
		.metric_count = 1,
		.same = rules,
		.same_count = count};
	struct entity_tree *tree = entity_tree_create(selection, &spec, s->arena);
	slow_tree_init(&slow, &s->slow, LEVEL_FUNCTION, 1, slow_rules, count);
	compare_trees(s, tree, &slow, 1);
	check_functions(s, tree, &slow);
	slow_tree_deinit(&slow);
	for (size_t i = 0; i < count; i++)
		name_pattern_destroy(rules[i].pattern);
}

/* What is shown of an instruction is the function whose code it is, not an inlined one. */
static void test_instruction_shows_function(struct subject *s)
{
	const struct profile *p = s->profile;
	struct entity_tree *tree = entity_tree_of(p, LEVEL_INSTRUCTION, (metric_id){0}, s->arena);

	for (size_t i = 0; i < tree->entity_count; i++) {
		const struct entity *e = &tree->entities[i];
		bool has_own = false, is_own = false;
		for (size_t k = 0; k < p->frame_count; k++) {
			const struct function *fn = &p->functions[p->frames[k].function.i];
			if (p->frames[k].obj_addr != e->address || p->frames[k].is_inline ||
				!str_equal(profile_module(p, fn->object), e->module))
				continue;
			has_own = true;
			is_own |= str_equal(profile_string(p, fn->name), e->name);
		}
		check(e->address == 0 || !has_own || is_own);
	}
}

#define PROPERTY(name)                                                                             \
	TEST(run_##name)                                                                           \
	{                                                                                          \
		for_each_subject(test_##name);                                                     \
	}

PROPERTY(levels)
PROPERTY(one_filter)
PROPERTY(chains)
PROPERTY(when_keeps_totals)
PROPERTY(everything)
PROPERTY(same)
PROPERTY(instruction_shows_function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_levels),
		cmocka_unit_test(run_one_filter),
		cmocka_unit_test(run_chains),
		cmocka_unit_test(run_when_keeps_totals),
		cmocka_unit_test(run_everything),
		cmocka_unit_test(run_same),
		cmocka_unit_test(run_instruction_shows_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
