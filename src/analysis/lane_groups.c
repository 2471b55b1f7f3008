/* Lanes by process.  See lane_groups.h. */
#include "analysis/lane_groups.h"

static bool is_of_one_process(const struct profile *p, const struct lane *a, const struct lane *b)
{
	return a->thread != NO_ID && b->thread != NO_ID &&
	       p->threads[a->thread].process.i == p->threads[b->thread].process.i;
}

static void add(struct lane *sum, const struct lane *lane, uint32_t slices, struct arena *arena)
{
	for (enum lane_kind kind = 0; kind < LANE_KIND_COUNT; kind++) {
		int64_t *to = (int64_t *)(uintptr_t)sum->weight[kind];

		if (lane->weight[kind] == NULL)
			continue;
		if (to == NULL)
			sum->weight[kind] = to = ARENA_ARRAY(arena, int64_t, slices);
		sum->total[kind] += lane->total[kind];
		for (uint32_t k = 0; k < slices; k++)
			to[k] += lane->weight[kind][k];
	}
}

static int64_t peak_of(const struct lane *lane, uint32_t slices)
{
	int64_t peak = 0;

	for (uint32_t k = 0; k < slices; k++) {
		int64_t here = 0;

		for (enum lane_kind kind = 0; kind < LANE_KIND_COUNT; kind++)
			if (kind != LANE_BLOCKED && lane->weight[kind])
				here += lane->weight[kind][k];
		peak = here > peak ? here : peak;
	}
	return peak;
}

struct lane_groups *lane_groups_analyse(
	const struct lanes *lanes, const struct profile *profile, struct arena *arena)
{
	struct lane_groups *made = ARENA_NEW(arena, struct lane_groups);
	struct lane_group *groups = ARENA_ARRAY(arena, struct lane_group, lanes->count);
	uint32_t slices = lanes->slices.count;

	for (size_t i = 0; i < lanes->count; i++) {
		const struct lane *lane = &lanes->lanes[i];

		if (i == 0 || !is_of_one_process(profile, lane - 1, lane))
			groups[made->count++] =
				(struct lane_group){.first = i, .sum.thread = lane->thread};
		groups[made->count - 1].count++;
	}
	for (size_t g = 0; g < made->count; g++) {
		struct lane_group *group = &groups[g];

		if (group->count == 1)
			group->sum = lanes->lanes[group->first];
		for (size_t i = 0; group->count > 1 && i < group->count; i++)
			add(&group->sum, &lanes->lanes[group->first + i], slices, arena);
		group->peak = peak_of(&group->sum, slices);
	}
	made->groups = groups;
	return made;
}
