/*
 * The entity trees of a session's last questions.
 *
 * A tree is the same for another question if profile, filters, level and metrics are; these are
 * compared as text, which is exact.  Trees that refer to the question itself (rules that merge
 * functions), those of differences, and sums, which cost little, are not kept.
 *
 * Filters of samples, such as --time, change only weights.  So for call trees, which can leave out
 * nodes without weight, the tree without these filters is kept as well, with its play, and each
 * question weighs it anew: about a third of the work of a new tree, for any part of the profile.  A
 * first question of this kind may be the only one, and gets a tree of its own, which has only the
 * nodes it needs; the second one makes the whole tree.
 */
#include "session/kept_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "view/views.h"

struct kept_tree {
	size_t references;
	char *key; /* NULL: the tree is only to be weighed anew */
	/* The key without filters of samples; NULL: not of a call tree that can be weighed. */
	char *whole_key;
	bool is_checked;   /* so has_negative is known */
	bool has_negative; /* samples have negative weights: the tree cannot be weighed anew */
	struct arena *arena;
	const struct entity_tree *tree;
	struct play *play; /* NULL: none */
};

void kept_tree_release(struct kept_tree *kept)
{
	if (kept == NULL || --kept->references > 0)
		return;
	calltree_forget(kept->play);
	arena_destroy(kept->arena);
	free(kept->key);
	free(kept->whole_key);
	free(kept);
}

void kept_trees_forget(struct kept_trees *kept)
{
	kept_tree_release(kept->last);
	kept_tree_release(kept->whole);
	*kept = (struct kept_trees){0};
}

static bool is_worth_it(const struct report_query *query)
{
	return query->same_count == 0 && query->difference == NULL && !query->confidence &&
	       query->level != LEVEL_ZONE && !report_wants_sums(query);
}

static bool is_of_samples(const struct filter *filter)
{
	return filter->kind >= FILTER_THREAD;
}

static bool filters_samples(const struct selection *selection)
{
	for (size_t i = 0; i < selection->step_count; i++)
		if (is_of_samples(selection->steps[i].filter))
			return true;
	return false;
}

/* Weights that cancel in the whole profile need not do so in a part of it. */
static bool has_negative(const struct profile *profile, metric_id metric)
{
	int64_t least = 0;

	for (size_t i = 0; i < profile->samples.count; i++)
		if (profile->samples.weight[metric.i][i] < least)
			least = profile->samples.weight[metric.i][i];
	return least < 0;
}

/*
 * Whether the query is of a tree that can be weighed anew, apart from what samples weigh.  No other
 * view may share such a tree: only call trees leave out nodes without weight.
 */
static bool is_weighable(const struct selection *selection, const struct question *question,
	const struct report_query *query, const struct entity_spec *spec)
{
	return question->query_count == 1 && query->view->is_tree &&
	       query->order == CALLTREE_BY_WEIGHT && !query->spread && !query->invert &&
	       spec->metric_count == 1 && !level_is_of_tasks(spec->level) &&
	       selection->profile->samples.count > 0;
}

/* whole: without filters of samples. */
static char *make_key(const struct selection *selection, const struct report_query *query,
	const struct entity_spec *spec, enum when_modules modules, bool whole)
{
	struct strbuf key = {0};

	strbuf_printf(&key, "%p %d %d %d %d %d %zu", (const void *)selection->profile, spec->level,
		query->spread, query->invert, spec->in_kept_order, modules, spec->order_count);
	for (size_t i = 0; i < spec->metric_count; i++)
		strbuf_printf(&key, " %u", spec->metrics[i].i);
	for (size_t i = 0; i < selection->step_count; i++) {
		const struct filter *filter = selection->steps[i].filter;

		if (!whole || !is_of_samples(filter))
			strbuf_printf(&key, "\n%d %d %s", filter->kind, filter->kernel,
				filter->text ? filter->text : "");
	}
	return key.data;
}

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* What is asked for: the keys, and of what the tree is. */
struct wanted {
	const struct selection *selection;
	struct entity_spec spec;
	char *key, *whole_key; /* as in struct kept_tree */
};

static void wanted_init(struct wanted *w, const struct selection *selection,
	const struct question *question, const struct report_query *query, struct arena *arena)
{
	enum when_modules modules = question->filters.when_modules;

	*w = (struct wanted){
		.selection = selection, .spec = report_spec(selection->profile, query, arena)};
	w->key = make_key(selection, query, &w->spec, modules, false);
	if (is_weighable(selection, question, query, &w->spec))
		w->whole_key = make_key(selection, query, &w->spec, modules, true);
}

static void wanted_deinit(struct wanted *w)
{
	free(w->key);
	free(w->whole_key);
}

/* In place of another one, which goes first, so that there are never two of a kind. */
static struct kept_tree *replace(struct kept_tree **kept, const struct wanted *w)
{
	kept_tree_release(*kept);
	*kept = xcalloc(1, sizeof(**kept));
	(*kept)->references = 1;
	(*kept)->key = xstrdup(w->key);
	(*kept)->whole_key = w->whole_key ? xstrdup(w->whole_key) : NULL;
	(*kept)->arena = arena_create();
	return *kept;
}

/* Makes the tree that can be weighed anew; of all samples, however the selection filters them. */
static void make_whole(struct kept_trees *kept, const struct wanted *w)
{
	const struct profile *profile = w->selection->profile;
	struct selection all = *w->selection;
	struct entity_spec spec = w->spec;
	struct kept_tree *whole = replace(&kept->whole, w);

	spec.keeps_rows = true;
	if (filters_samples(w->selection)) {
		/* Filters of stacks do not depend on weights. */
		all.row_weight = profile->row_weight;
		all.sample_kept = NULL;
		/* Its totals are those of the selection. */
		free(whole->key);
		whole->key = NULL;
	}
	whole->tree = entity_tree_create(&all, &spec, whole->arena);
}

/* The kept tree of exactly this, or NULL. */
static struct kept_tree *find(const struct kept_trees *kept, const struct wanted *w)
{
	if (kept->last && is_same(kept->last->key, w->key))
		return kept->last;
	return kept->whole && is_same(kept->whole->key, w->key) ? kept->whole : NULL;
}

static bool can_be_weighed(struct kept_tree *whole, const struct wanted *w)
{
	if (!whole->is_checked) {
		whole->has_negative = has_negative(w->selection->profile, w->spec.metrics[0]);
		whole->is_checked = true;
	}
	return !whole->has_negative;
}

/* The tree to weigh anew, which is made if the last question was of the same; or NULL. */
static struct kept_tree *find_whole(struct kept_trees *kept, const struct wanted *w)
{
	bool is_there = kept->whole && is_same(kept->whole->whole_key, w->whole_key);

	if (!is_there && kept->last && is_same(kept->last->whole_key, w->whole_key) &&
		can_be_weighed(kept->last, w)) {
		make_whole(kept, w);
		is_there = true;
	}
	return is_there && can_be_weighed(kept->whole, w) ? kept->whole : NULL;
}

/* A kept tree of exactly this, which it makes if there is none. */
static struct kept_tree *take(
	struct kept_trees *kept, const struct wanted *w, const struct report_query *query)
{
	struct kept_tree *found = find(kept, w);

	if (found)
		return found;
	if (w->whole_key && !filters_samples(w->selection)) {
		make_whole(kept, w);
		return kept->whole;
	}
	found = replace(&kept->last, w);
	found->tree = report_tree(w->selection, query, found->arena);
	return found;
}

const struct entity_tree *kept_tree_get(struct kept_trees *kept, const struct selection *selection,
	const struct question *question, struct report_query *query, struct arena *arena,
	struct kept_tree **used)
{
	const struct entity_tree *tree;
	struct kept_tree *whole;
	struct wanted w;

	*used = NULL;
	if (kept == NULL || !is_worth_it(query))
		return report_tree(selection, query, arena);
	wanted_init(&w, selection, question, query, arena);
	whole = find(kept, &w) ? NULL : find_whole(kept, &w);
	*used = whole ? whole : take(kept, &w, query);
	tree = whole ? entity_tree_weigh(whole->tree, selection, query->metric, arena)
		     : (*used)->tree;
	if (w.whole_key)
		query->kept_play = &(*used)->play;
	(*used)->references++;
	wanted_deinit(&w);
	return tree;
}
