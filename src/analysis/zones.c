/*
 * Zones over ticks.
 *
 * Samples are put in the order of their ticks; each tick is then a small profile of its own, summed
 * on the nodes of the whole tree that its samples are at, and on those above them: each node adds
 * its sum to its parent, inner ones first, and an entity's inclusive weight is that of its
 * outermost nodes (functions.c).  So a tick's cost depends on what was active in it, however large
 * the tree.
 */
#include "analysis/zones.h"

#include <stdlib.h>

#include "analysis/ticks.h"
#include "base/alloc.h"
#include "base/vec.h"

/* The figures of an entity in one tick. */
struct share {
	uint32_t entity, tick;
	int64_t exclusive, inclusive;
};

/* Shared by all metrics. */
struct ticking {
	const struct selection *selection;
	const struct entity_tree *tree;
	size_t tick_count;
	uint32_t *tick; /* [used] whose samples they are, ascending */
	uint32_t *sample;
	size_t used;
	bool *is_outermost; /* [node] */
};

/* One metric. */
struct summing {
	const struct ticking *ticking;
	const int64_t *weight; /* [sample] */
	int64_t *own, *below;  /* [node] in the tick, zero between ticks */
	bool *touched;	       /* [node] */
	VEC(uint32_t) nodes;   /* those that are touched */
	uint32_t *share_of;    /* [entity]: its share of the tick, from 1; 0: none yet */
	VEC(struct share) shares;
};

/* The node of a sample's zone stack; 0: none, as all its zones are hidden. */
static uint32_t sample_node(const struct ticking *t, size_t sample)
{
	uint32_t zone = selection_zone(t->selection, sample);

	if (zone == 0 && selection_whole_zone(t->selection, sample) != 0)
		return 0;
	return t->tree->zone_node[zone];
}

/* [sample]: its tick, if that and the sample are kept; else NO_ID. */
static uint32_t *find_ticks(const struct ticking *t, const struct tick_runs *runs)
{
	const struct selection *s = t->selection;
	size_t count = s->profile->samples.count;
	uint32_t *tick = xcalloc(count, sizeof(*tick));

	for (size_t i = 0; i < count; i++) {
		tick[i] = selection_shows_sample(s, i) ? tick_of_sample(runs, i) : NO_ID;
		if (tick[i] != NO_ID && s->tick_kept && !s->tick_kept[tick[i]])
			tick[i] = NO_ID;
	}
	return tick;
}

/* A counting sort of the samples by tick. */
static void sort_samples(struct ticking *t, const uint32_t *tick)
{
	const struct profile *p = t->selection->profile;
	size_t *at = xcalloc(p->tick_count + 1, sizeof(*at));

	for (size_t i = 0; i < p->samples.count; i++)
		if (tick[i] != NO_ID)
			at[tick[i] + 1]++;
	for (size_t i = 1; i <= p->tick_count; i++)
		at[i] += at[i - 1];
	t->used = at[p->tick_count];
	t->tick = xcalloc(t->used, sizeof(*t->tick));
	t->sample = xcalloc(t->used, sizeof(*t->sample));
	for (uint32_t i = 0; i < p->samples.count; i++) {
		if (tick[i] == NO_ID)
			continue;
		size_t place = at[tick[i]]++;
		t->tick[place] = tick[i];
		t->sample[place] = i;
	}
	free(at);
}

static size_t count_kept(const struct selection *s, const struct tick_runs *runs)
{
	size_t count = 0;

	for (size_t process = 0; process < s->profile->process_count; process++)
		for (uint32_t i = runs->first[process]; i < runs->end[process]; i++)
			count += s->tick_kept == NULL || s->tick_kept[i];
	return count;
}

/* Finds the nodes without another of their entity above them. */
static void find_outermost(struct ticking *t)
{
	const struct entity_tree *tree = t->tree;
	uint32_t *end = xcalloc(tree->entity_count, sizeof(*end));

	t->is_outermost = xcalloc(tree->node_count, sizeof(*t->is_outermost));
	for (uint32_t i = 1; i < tree->node_count; i++) {
		uint32_t entity = tree->entity[i];

		t->is_outermost[i] = i >= end[entity];
		if (t->is_outermost[i])
			end[entity] = entity_tree_end(tree, i);
	}
	free(end);
}

/* A difference has ticks of two recordings, and no average of both makes sense. */
static void ticking_init(struct ticking *t, const struct selection *selection,
	const struct entity_tree *tree, struct arena *arena)
{
	struct tick_runs runs;

	*t = (struct ticking){.selection = selection, .tree = tree};
	if (tree->is_difference || tree->has_negative || selection->profile->tick_count == 0 ||
		selection->profile->samples.count == 0)
		return;
	struct error *err =
		tick_runs_init(&runs, selection->profile, selection->tick_stream, arena);

	if (err) {
		error_destroy(err);
		return;
	}
	uint32_t *tick = find_ticks(t, &runs);

	t->tick_count = count_kept(selection, &runs);
	sort_samples(t, tick);
	find_outermost(t);
	free(tick);
}

static void ticking_deinit(struct ticking *t)
{
	free(t->tick);
	free(t->sample);
	free(t->is_outermost);
}

static void summing_init(struct summing *s, const struct ticking *t, metric_id metric)
{
	size_t count = t->tree->node_count;

	*s = (struct summing){.ticking = t,
		.weight = t->selection->profile->samples.weight[metric.i],
		.own = xcalloc(count, sizeof(*s->own)),
		.below = xcalloc(count, sizeof(*s->below)),
		.touched = xcalloc(count, sizeof(*s->touched)),
		.share_of = xcalloc(t->tree->entity_count, sizeof(*s->share_of))};
}

static void summing_deinit(struct summing *s)
{
	free(s->own);
	free(s->below);
	free(s->touched);
	free(s->share_of);
	vec_deinit(&s->nodes);
	vec_deinit(&s->shares);
}

/* Marks the node and those above it that are not marked yet. */
static void touch(struct summing *s, uint32_t node)
{
	const struct entity_tree *tree = s->ticking->tree;

	for (; node != 0 && !s->touched[node]; node = entity_tree_parent(tree, node)) {
		s->touched[node] = true;
		vec_push(&s->nodes, node);
	}
}

static struct share *share_of(struct summing *s, uint32_t entity, uint32_t tick)
{
	if (s->share_of[entity] == 0) {
		vec_push(&s->shares, (struct share){.entity = entity, .tick = tick});
		s->share_of[entity] = (uint32_t)s->shares.count;
	}
	return &s->shares.data[s->share_of[entity] - 1];
}

static int inner_first(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y) - (x > y);
}

/* Adds the touched nodes' sums to their entities. */
static void end_tick(struct summing *s, uint32_t tick)
{
	const struct entity_tree *tree = s->ticking->tree;
	size_t first = s->shares.count;

	if (s->nodes.count)
		qsort(s->nodes.data, s->nodes.count, sizeof(*s->nodes.data), inner_first);
	for (size_t i = 0; i < s->nodes.count; i++) {
		uint32_t node = s->nodes.data[i], parent = entity_tree_parent(tree, node);
		int64_t all = s->own[node] + s->below[node];
		struct share *share = share_of(s, tree->entity[node], tick);

		share->exclusive += s->own[node];
		if (s->ticking->is_outermost[node])
			share->inclusive += all;
		if (parent != 0)
			s->below[parent] += all;
		s->own[node] = s->below[node] = 0;
		s->touched[node] = false;
	}
	s->nodes.count = 0;
	for (size_t i = first; i < s->shares.count; i++)
		s->share_of[s->shares.data[i].entity] = 0;
}

static void sum_ticks(struct summing *s)
{
	const struct ticking *t = s->ticking;

	for (size_t i = 0; i < t->used; i++) {
		uint32_t node = sample_node(t, t->sample[i]);

		if (s->weight[t->sample[i]] != 0) {
			s->own[node] += s->weight[t->sample[i]];
			touch(s, node);
		}
		if (i + 1 == t->used || t->tick[i + 1] != t->tick[i])
			end_tick(s, t->tick[i]);
	}
}

/* ---- Rows */

static void row_add(
	struct zone_row *row, const struct profile *p, const struct share *share, int64_t *most)
{
	row->exclusive += share->exclusive;
	row->inclusive += share->inclusive;
	row->ticks += share->inclusive != 0;
	if (share->inclusive > *most) {
		*most = share->inclusive;
		row->slowest = p->ticks[share->tick].number;
	}
}

static int compare_weights(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* values[count], sorted: those that are not zero, of `all`. */
static int64_t rank(const int64_t *values, size_t count, uint64_t all, unsigned percent)
{
	uint64_t zeros = all - count, place = (all * percent + 99) / 100;

	return place <= zeros ? 0 : values[place - zeros - 1];
}

static struct zone_ranks ranks_of(int64_t *values, size_t count, uint64_t all)
{
	if (count == 0)
		return (struct zone_ranks){0};
	qsort(values, count, sizeof(*values), compare_weights);
	return (struct zone_ranks){
		rank(values, count, all, 50), rank(values, count, all, 95), values[count - 1]};
}

static int by_entity(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->entity != y->entity)
		return x->entity < y->entity ? -1 : 1;
	return (x->tick > y->tick) - (x->tick < y->tick);
}

/* The figures of one entity, from its shares. */
static void row_finish(
	struct zone_row *row, const struct ticking *t, const struct share *shares, size_t count)
{
	int64_t *exclusive = xcalloc(count, sizeof(*exclusive)), most = 0;
	int64_t *inclusive = xcalloc(count, sizeof(*inclusive));
	size_t exclusives = 0, inclusives = 0;

	for (size_t i = 0; i < count; i++) {
		row_add(row, t->selection->profile, &shares[i], &most);
		if (shares[i].exclusive != 0)
			exclusive[exclusives++] = shares[i].exclusive;
		if (shares[i].inclusive != 0)
			inclusive[inclusives++] = shares[i].inclusive;
	}
	row->exclusive_ranks = ranks_of(exclusive, exclusives, t->tick_count);
	row->inclusive_ranks = ranks_of(inclusive, inclusives, t->tick_count);
	free(exclusive);
	free(inclusive);
}

/* [entity]: one metric's figures over the ticks. */
static struct zone_row *tick_rows(const struct ticking *t, metric_id metric)
{
	struct zone_row *rows = xcalloc(t->tree->entity_count + 1, sizeof(*rows));
	struct summing s;

	for (size_t i = 0; i <= t->tree->entity_count; i++)
		rows[i].slowest = UINT64_MAX;
	if (t->tick_count == 0)
		return rows;
	summing_init(&s, t, metric);
	sum_ticks(&s);
	if (s.shares.count)
		qsort(s.shares.data, s.shares.count, sizeof(*s.shares.data), by_entity);
	for (size_t i = 0, end; i < s.shares.count; i = end) {
		uint32_t entity = s.shares.data[i].entity;

		for (end = i; end < s.shares.count && s.shares.data[end].entity == entity;)
			end++;
		row_finish(&rows[entity], t, &s.shares.data[i], end - i);
	}
	summing_deinit(&s);
	return rows;
}

/* [entity]: how often it occurs below itself, at most. */
static uint32_t *find_depths(const struct entity_tree *tree)
{
	uint32_t *depth = xcalloc(tree->entity_count + 1, sizeof(*depth));
	uint32_t *open = xcalloc(tree->entity_count + 1, sizeof(*open));
	VEC(uint32_t) path = {0};

	for (uint32_t i = 1; i < tree->node_count; i++) {
		uint32_t entity = tree->entity[i];

		while (path.count && entity_tree_end(tree, path.data[path.count - 1]) <= i)
			open[tree->entity[path.data[--path.count]]]--;
		if (open[entity] > depth[entity])
			depth[entity] = open[entity];
		open[entity]++;
		vec_push(&path, i);
	}
	vec_deinit(&path);
	free(open);
	return depth;
}

/* By entity: data shared by all metrics. */
struct common {
	uint32_t *depth;
	int64_t *entries, *entries_in_ticks;
};

static void common_init(struct common *c, const struct ticking *t,
	const struct functions *functions, const metric_id *metrics, size_t entries)
{
	size_t count = t->tree->entity_count + 1;

	*c = (struct common){.depth = find_depths(t->tree),
		.entries = xcalloc(count, sizeof(*c->entries)),
		.entries_in_ticks = xcalloc(count, sizeof(*c->entries_in_ticks))};
	if (entries == SIZE_MAX)
		return;
	const struct functions *of = entries ? functions->others[entries - 1] : functions;
	struct zone_row *rows = tick_rows(t, metrics[entries]);

	for (size_t i = 0; i < of->count; i++)
		c->entries[of->rows[i].entity] = of->rows[i].exclusive;
	for (size_t i = 0; i < count; i++)
		c->entries_in_ticks[i] = rows[i].exclusive;
	free(rows);
}

static void common_deinit(struct common *c)
{
	free(c->depth);
	free(c->entries);
	free(c->entries_in_ticks);
}

static struct zones *zones_of_metric(const struct ticking *t, const struct functions *functions,
	const struct common *c, metric_id metric, struct arena *arena)
{
	struct zones *zones = ARENA_NEW(arena, struct zones);
	struct zone_row *of = tick_rows(t, metric);
	struct zone_row *rows = ARENA_ARRAY(arena, struct zone_row, functions->count);

	for (size_t i = 0; i < functions->count; i++) {
		uint32_t entity = functions->rows[i].entity;

		rows[i] = of[entity];
		rows[i].depth_max = c->depth[entity];
		rows[i].entries = c->entries[entity];
		rows[i].entries_in_ticks = c->entries_in_ticks[entity];
	}
	zones->rows = rows;
	zones->tick_count = t->tick_count;
	zones->stream = t->selection->tick_stream;
	free(of);
	return zones;
}

struct zones *zones_analyse(const struct selection *selection, const struct functions *functions,
	const metric_id *metrics, size_t entries, struct arena *arena)
{
	const struct entity_tree *tree = functions->tree;
	const struct zones **others = ARENA_ARRAY(arena, const struct zones *, tree->other_count);
	struct ticking t;
	struct common c;

	ticking_init(&t, selection, tree, arena);
	common_init(&c, &t, functions, metrics, entries);
	struct zones *zones = zones_of_metric(&t, functions, &c, metrics[0], arena);

	zones->knows_entries = entries != SIZE_MAX;
	for (size_t k = 0; k < tree->other_count; k++) {
		struct zones *other = zones_of_metric(&t, functions, &c, metrics[k + 1], arena);

		other->knows_entries = zones->knows_entries;
		others[k] = other;
	}
	zones->others = others;
	common_deinit(&c);
	ticking_deinit(&t);
	return zones;
}
