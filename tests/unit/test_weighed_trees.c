/*
 * A tree that is weighed anew for other samples (entity_tree_weigh), and the play that is kept for
 * it, give the rows of a tree that is made for these samples alone: on random profiles, for random
 * filters of stacks and of samples, levels, degrees and limits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../property.h"
#include "../random_profile.h"
#include "../unit.h"
#include "analysis/calltree.h"
#include "base/alloc.h"

enum { ROUNDS = 800, ROUNDS_SANITIZED = 100, QUESTIONS = 6, FILTERS_MAX = 5 };

/* A profile, and a tree of its stacks that is weighed for one question after another. */
struct subject {
	struct random random;
	struct profile *profile;
	struct arena *arena;
	struct filter filters[FILTERS_MAX];
	size_t stack_filters, count; /* those of stacks come first */
	metric_id metric;
	struct entity_spec spec;
	const struct entity_tree *tree;
	struct play *kept;
};

/* What was seen, so that the test knows that it is about something. */
static size_t with_empty, limited, with_stubs, without_rows;

static struct profile *make_profile(struct random *r, uint64_t seed)
{
	struct random_shape shape = random_shape_small;

	if (random_below(r, 4) == 0)
		shape = random_shape_any(r);
	else {
		shape.functions = 1 + random_below(r, 7);
		shape.objects = random_below(r, 4);
		shape.stacks = random_below(r, 60);
		shape.depth_max = 1 + random_below(r, 20);
		shape.weight_max = 1u << random_below(r, 10);
		shape.places = random_below(r, 2);
		shape.labels = random_below(r, 2);
	}
	shape.samples = true;
	shape.negative = shape.no_stacks = false;
	return random_profile(seed, &shape);
}

static void add_filter(struct subject *s, enum filter_kind kind, const char *text)
{
	check(filter_init(&s->filters[s->count++], kind, text) == NULL);
}

static void add_stack_filters(struct subject *s)
{
	static const struct {
		enum filter_kind kind;
		const char *text;
	} some[] = {{FILTER_FOCUS, "f[12]"}, {FILTER_IGNORE, "f3"}, {FILTER_HIDE, "f[02]"},
		{FILTER_INLINE, ""}};

	for (uint32_t i = random_below(&s->random, 3); i > 0; i--) {
		uint32_t k = random_below(&s->random, sizeof(some) / sizeof(some[0]));

		add_filter(s, some[k].kind, some[k].text);
	}
	if (random_below(&s->random, 6) == 0)
		check(filter_init_when(&s->filters[s->count++], ".f1->*", WHEN_OBJECTS) == NULL);
	s->stack_filters = s->count;
}

static uint64_t some_time(struct subject *s)
{
	const struct samples *samples = &s->profile->samples;
	uint32_t sample = random_below(&s->random, (uint32_t)samples->count);

	return samples->time_ns[sample] + random_below(&s->random, 2);
}

/* Drops the filters of samples that there were, and adds others. */
static void change_sample_filters(struct subject *s)
{
	const struct profile *p = s->profile;
	char tid[24];

	while (s->count > s->stack_filters)
		filter_deinit(&s->filters[--s->count]);
	if (p->samples.count == 0 || random_below(&s->random, 8) == 0)
		return;
	if (random_below(&s->random, 4) == 0) {
		(void)snprintf(tid, sizeof(tid), "%" PRId64,
			(int64_t)p->threads[random_below(&s->random, (uint32_t)p->thread_count)]
				.tid);
		add_filter(s, FILTER_THREAD, tid);
		if (random_below(&s->random, 2))
			return;
	}
	uint64_t a = some_time(s), b = some_time(s);

	filter_init_time(&s->filters[s->count++], "", a < b ? a : b, (a < b ? b : a) + 1);
}

static struct selection *select_samples(const struct subject *s, size_t count)
{
	struct selection *selection;

	check(selection_create(s->profile, s->filters, count, s->arena, &selection) == NULL);
	return selection;
}

static void subject_init(struct subject *s, uint64_t seed)
{
	static const enum level levels[] = {LEVEL_FUNCTION, LEVEL_FUNCTION, LEVEL_MODULE,
		LEVEL_FILE, LEVEL_LINE, LEVEL_INSTRUCTION};

	*s = (struct subject){.random = random_from(seed), .arena = arena_create()};
	s->profile = make_profile(&s->random, seed);
	s->metric.i = random_below(&s->random, (uint32_t)s->profile->metric_count);
	s->spec = (struct entity_spec){
		.level = levels[random_below(&s->random, sizeof(levels) / sizeof(levels[0]))],
		.metrics = &s->metric,
		.metric_count = 1,
		.keeps_rows = true};
	add_stack_filters(s);
	s->tree = entity_tree_create(select_samples(s, s->count), &s->spec, s->arena);
}

static void subject_deinit(struct subject *s)
{
	for (size_t i = 0; i < s->count; i++)
		filter_deinit(&s->filters[i]);
	calltree_forget(s->kept);
	arena_destroy(s->arena);
	profile_destroy(s->profile);
}

static void check_row(const struct calltree *x, const struct calltree *y, size_t i)
{
	const struct calltree_row *a = &x->rows[i], *b = &y->rows[i];

	check(a->entity == b->entity && a->level == b->level && a->parent == b->parent);
	check(a->is_stub == b->is_stub && a->target == b->target);
	check(a->direct == b->direct && a->indirect == b->indirect && a->in_only == b->in_only);
	if (x->widths)
		check(x->widths[i] == y->widths[i]);
	if (!a->is_stub)
		return;
	const struct calltree_stub *s = &x->stubs[a->stub], *t = &y->stubs[b->stub];

	check(s->weight == t->weight && s->jumps_max == t->jumps_max);
	check(memcmp(&s->jumps_mean, &t->jumps_mean, sizeof(s->jumps_mean)) == 0);
}

static void check_same(const struct calltree *x, const struct calltree *y)
{
	check(x->count == y->count && x->whole_count == y->whole_count);
	check(x->shown_count == y->shown_count && (x->shown == NULL) == (y->shown == NULL));
	check(x->level_max == y->level_max && x->stub_count == y->stub_count);
	check((x->widths == NULL) == (y->widths == NULL));
	check(calltree_least_weight(x) == calltree_least_weight(y));
	for (size_t i = 0; i < x->count; i++)
		check_row(x, y, i);
	for (size_t i = 0; x->shown && i < x->shown_count; i++)
		check(x->shown[i] == y->shown[i]);
}

static void check_same_tree(const struct entity_tree *weighed, const struct entity_tree *fresh)
{
	check(weighed->total == fresh->total && weighed->spontaneous == fresh->spontaneous);
	check(weighed->entity_count == fresh->entity_count);
	check(!weighed->has_negative && !fresh->has_negative);
	check(weighed->node_count - weighed->empty_count == fresh->node_count);
	check(entity_tree_weight(weighed, 0) == entity_tree_weight(fresh, 0));
	check(entity_tree_weight_below(weighed, 0) == entity_tree_weight_below(fresh, 0));
}

static void ask(struct subject *s)
{
	struct selection *selection = select_samples(s, s->count);
	struct entity_spec spec = s->spec;
	struct calltree_limit limit = {.rows = random_below(&s->random, 3)
						       ? 1 + random_below(&s->random, 40)
						       : random_below(&s->random, 2),
		.keeps_others = random_below(&s->random, 4) == 0,
		.has_widths = random_below(&s->random, 2)};
	enum collapse collapse = (enum collapse)random_below(&s->random, COLLAPSE_COUNT);

	spec.keeps_rows = false;
	const struct entity_tree *weighed =
					 entity_tree_weigh(s->tree, selection, s->metric, s->arena),
				 *fresh = entity_tree_create(selection, &spec, s->arena);
	const struct calltree *kept = calltree_analyse_keeping(weighed, collapse,
				      CALLTREE_BY_WEIGHT, &limit, &s->kept, s->arena),
			      *made = calltree_analyse(
				      fresh, collapse, CALLTREE_BY_WEIGHT, &limit, s->arena);

	check_same_tree(weighed, fresh);
	check_same(kept, made);
	with_empty += weighed->empty_count > 0;
	limited += kept->count < kept->whole_count;
	with_stubs += kept->stub_count > 0;
	without_rows += kept->count == 0;
}

TEST(test_weighed_as_made)
{
	for (struct property_seeds p = property_seeds(ROUNDS, ROUNDS_SANITIZED);
		property_next(&p);) {
		struct subject s;

		subject_init(&s, property_seed);
		for (int i = 0; i < QUESTIONS; i++) {
			change_sample_filters(&s);
			ask(&s);
		}
		subject_deinit(&s);
	}
	if (getenv("SEED"))
		return;
	assert_true(with_empty > ROUNDS_SANITIZED && limited > ROUNDS_SANITIZED);
	assert_true(with_stubs > ROUNDS_SANITIZED && without_rows > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_weighed_as_made)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
