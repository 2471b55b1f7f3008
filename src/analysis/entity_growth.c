/*
 * The groups of stacks that become the nodes of an entity tree, and their weights.
 *
 * The profile's stacks are a prefix tree of frames already; what remains is to merge nodes that
 * differ only in frames, or at coarse levels only in repeated neighbours.  They are found in the
 * order of stack ids, where a parent comes before its children and most often right before.  If no
 * two can merge, or it does not matter whether they do, the stacks are the groups: nothing is
 * looked up, and their weights are the profile's.
 */
#include "analysis/entity_growth.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Allocates the groups' columns, once all groups exist. */
static void growth_ready(struct growth *g)
{
	size_t metrics = g->spec->metric_count;

	if (!g->is_stacks)
		g->count = g->table.nodes.count;
	g->first = xcalloc(g->count, sizeof(*g->first));
	for (size_t i = 0; i < g->count; i++)
		g->first[i] = NO_ID;
	g->is_by_row = false;
	g->sums = xcalloc(metrics, sizeof(*g->sums));
	/* With one metric, a group has weight if it has `first`. */
	g->passed = metrics > 1 ? xcalloc(metrics, sizeof(*g->passed)) : NULL;
	for (size_t k = 0; k < metrics; k++) {
		g->sums[k] = xcalloc(g->count, sizeof(**g->sums));
		g->weight[k] = g->sums[k];
		if (g->passed)
			g->passed[k] = xcalloc(g->count, sizeof(**g->passed));
	}
}

/* The weight of stack or sample `index`, which is shown in that group. */
static void growth_weigh(struct growth *g, size_t k, uint32_t group, uint32_t index, int64_t weight)
{
	if (weight == 0)
		return;
	g->sums[k][group] += weight;
	if (index < g->first[group])
		g->first[group] = index;
	if (g->passed)
		g->passed[k][group] = true;
}

/* [stack]: whether anything is shown there. */
static bool *stacks_used(const struct growth *g)
{
	const struct selection *s = g->selection;
	uint32_t count = (uint32_t)s->profile->stack_count;
	bool *used = xcalloc(count, sizeof(*used));

	for (size_t k = 0; k < g->spec->metric_count; k++) {
		size_t metric = g->spec->metrics[k].i;

		for (uint32_t i = 0; i < count; i++)
			if (selection_weight(s, metric, i) != 0 &&
				SHOWN_IS_STACK(selection_shown(s, i)))
				used[selection_shown(s, i)] = true;
	}
	return used;
}

/* Whether neighbours in a stack can be one node. */
static bool level_joins(enum level level)
{
	return level == LEVEL_MODULE || level == LEVEL_FILE || level == LEVEL_INSTRUCTION;
}

/* Whether a frame joins its caller's node, if that has the same entity. */
static bool joins_parent(const struct entity_map *map, const struct frame *frame)
{
	return level_joins(map->level) &&
	       (map->level != LEVEL_INSTRUCTION || (frame->is_inline && frame->obj_addr != 0));
}

/* [stack]: its group, for stacks used themselves or below; takes over `used`. */
static uint32_t *growth_group(struct growth *g, bool *used)
{
	const struct selection *s = g->selection;
	const struct profile *p = s->profile;
	uint32_t *group = xcalloc(p->stack_count, sizeof(*group));
	bool added;

	for (uint32_t i = (uint32_t)p->stack_count; i-- > 1;)
		if (used[i])
			used[selection_parent(s, i)] = true;
	for (uint32_t i = 1, before = 0; i < p->stack_count; i++) {
		if (!used[i])
			continue;
		frame_id frame = p->stack_frame[i];
		uint32_t parent = group[selection_parent(s, i)];
		uint32_t entity = g->map->of_frame[frame.i];
		const struct child *last = &g->table.nodes.data[before];

		if (entity == g->table.nodes.data[parent].key &&
			joins_parent(g->map, &p->frames[frame.i]))
			group[i] = parent;
		else if (before && last->parent == parent && last->key == entity)
			group[i] = before; /* places of one function mostly come together */
		else
			group[i] = child_table_at(&g->table, parent, entity, &added);
		before = group[i];
	}
	free(used);
	return group;
}

/* No two stacks under one parent have the same frame, unless some are hidden. */
static bool stacks_are_groups(const struct growth *g)
{
	return g->spec->sums_only || (g->map->is_one_to_one && !level_joins(g->map->level) &&
					     g->selection->standing == NULL);
}

/* [row] of the profile: the group in which it is shown.  group: [stack], or NULL. */
static void growth_keep_rows(struct growth *g, const uint32_t *group)
{
	const struct selection *s = g->selection;
	const struct rank_set *weighted = &s->profile->weighted;

	g->row_group = xcalloc(s->profile->row_count, sizeof(*g->row_group));
	for (size_t row = 0; row < s->profile->row_count; row++)
		g->row_group[row] = NO_ID;
	for (uint32_t i = rank_set_next(weighted, 0); i < s->profile->stack_count;
		i = rank_set_next(weighted, i + 1)) {
		uint32_t shown = selection_shown(s, i);

		if (SHOWN_IS_STACK(shown))
			g->row_group[profile_row(s->profile, i)] = group ? group[shown] : shown;
	}
}

static bool in_kept_order(const struct growth *g)
{
	return g->spec->in_kept_order && g->selection->row_first && !g->spec->sums_only;
}

/*
 * When a stack is first seen: stacks are numbered in that order, unless filters keep only some
 * samples, whose order then counts.
 */
static uint32_t first_of(const struct growth *g, uint32_t stack)
{
	const struct selection *s = g->selection;

	return in_kept_order(g) ? s->row_first[profile_row(s->profile, stack)] : stack;
}

static void growth_run(struct growth *g)
{
	const struct selection *s = g->selection;
	uint32_t *group = NULL;

	g->is_stacks = stacks_are_groups(g);
	g->count = s->profile->stack_count;
	for (size_t k = 0; k < g->spec->metric_count; k++)
		g->weight[k] = s->row_weight[g->spec->metrics[k].i];
	g->is_by_row = true;
	if (!g->is_stacks) {
		child_table_init(&g->table, s->profile->stack_count);
		group = growth_group(g, stacks_used(g));
	}
	if (g->spec->keeps_rows)
		growth_keep_rows(g, group);
	if (g->is_stacks && s->shown == NULL && !in_kept_order(g))
		return;
	growth_ready(g);
	for (size_t k = 0; k < g->spec->metric_count; k++) {
		size_t metric = g->spec->metrics[k].i;

		for (uint32_t i = 0; i < s->profile->stack_count; i++) {
			uint32_t shown = selection_shown(s, i);

			if (SHOWN_IS_STACK(shown))
				growth_weigh(g, k, group ? group[shown] : shown, first_of(g, i),
					selection_weight(s, metric, i));
		}
	}
	free(group);
}

/* The thread or CPU of a shown sample, or NO_ID. */
static uint32_t sample_entity(const struct growth *g, size_t sample)
{
	const struct samples *samples = &g->selection->profile->samples;

	if (!selection_shows_sample(g->selection, sample))
		return NO_ID;
	if (g->map->of_labels)
		return g->map->of_labels[samples->labels ? samples->labels[sample].i : 0];
	return g->map->of_thread[samples->thread[sample].i];
}

static bool sample_has_weight(const struct growth *g, size_t sample)
{
	const struct samples *samples = &g->selection->profile->samples;

	for (size_t k = 0; k < g->spec->metric_count; k++)
		if (samples->weight[g->spec->metrics[k].i][sample] != 0)
			return true;
	return false;
}

/* Samples by thread, process or CPU: one node each. */
static void growth_run_samples(struct growth *g)
{
	const struct samples *samples = &g->selection->profile->samples;
	bool added;

	child_table_init(&g->table, 0);
	for (uint32_t i = 0; i < samples->count; i++) {
		uint32_t entity = sample_entity(g, i);

		if (entity != NO_ID && sample_has_weight(g, i))
			(void)child_table_at(&g->table, 0, entity, &added);
	}
	growth_ready(g);
	for (uint32_t i = 0; i < samples->count; i++) {
		uint32_t entity = sample_entity(g, i);

		for (size_t k = 0; k < g->spec->metric_count && entity != NO_ID; k++) {
			int64_t weight = samples->weight[g->spec->metrics[k].i][i];

			if (weight != 0)
				growth_weigh(g, k, child_table_at(&g->table, 0, entity, &added), i,
					weight);
		}
	}
}

/* [stack]: whether shown samples were taken in that zone stack; [0]: in no zone. */
static bool *zones_used(const struct growth *g)
{
	const struct selection *s = g->selection;
	bool *used = xcalloc(s->profile->stack_count, sizeof(*used));

	for (size_t i = 0; i < s->profile->samples.count; i++)
		if (selection_shows_sample(s, i) && sample_has_weight(g, i))
			used[selection_zone(s, i)] |=
				selection_zone(s, i) != 0 || selection_whole_zone(s, i) == 0;
	return used;
}

/* If all of a sample's zones are hidden, the sample is at the root. */
static uint32_t sample_zone_group(const struct growth *g, size_t sample)
{
	const struct selection *s = g->selection;
	uint32_t zone = selection_zone(s, sample);

	return zone == 0 && selection_whole_zone(s, sample) != 0 ? 0 : g->zone_group[zone];
}

/* Samples by their zone stacks; those in no zone get an entity of their own. */
static void growth_run_zones(struct growth *g)
{
	const struct selection *s = g->selection;
	const struct samples *samples = &s->profile->samples;
	bool *used = zones_used(g), added, any_outside = used[0];

	child_table_init(&g->table, 0);
	g->zone_group = growth_group(g, used);
	if (any_outside)
		g->zone_group[0] = child_table_at(&g->table, 0, g->map->no_zone, &added);
	growth_ready(g);
	for (uint32_t i = 0; i < samples->count; i++)
		for (size_t k = 0; k < g->spec->metric_count && selection_shows_sample(s, i); k++)
			growth_weigh(g, k, sample_zone_group(g, i), i,
				samples->weight[g->spec->metrics[k].i][i]);
}

void growth_init(struct growth *g, const struct selection *selection, const struct entity_map *map,
	const struct entity_spec *spec)
{
	*g = (struct growth){.selection = selection, .map = map, .spec = spec};
	g->weight = xcalloc(spec->metric_count, sizeof(*g->weight));
	if (level_is_of_tasks(spec->level))
		growth_run_samples(g);
	else if (spec->level == LEVEL_ZONE)
		growth_run_zones(g);
	else
		growth_run(g);
}

void growth_deinit(struct growth *g)
{
	for (size_t k = 0; k < g->spec->metric_count; k++) {
		if (g->sums)
			free(g->sums[k]);
		if (g->passed)
			free(g->passed[k]);
	}
	free(g->weight);
	free(g->sums);
	free(g->passed);
	free(g->first);
	free(g->row_group);
	free(g->zone_group);
	child_table_deinit(&g->table);
}
