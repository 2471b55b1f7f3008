/* Code shared by writers, for use before writing.  See exporter.h. */
#include "formats/common/exporter.h"

#include <stdlib.h>

#include "base/alloc.h"

struct error *exporter_check_times(const struct profile *p)
{
	if (p->samples.time_ns || p->tick_count || p->zone_events.count)
		return NULL;
	return error_new(ERROR_UNSUPPORTED, "a trace needs times, and this profile has none");
}

uint32_t *exporter_depths(const struct profile *p)
{
	uint32_t *depth = xcalloc(p->stack_count, sizeof(*depth));

	for (uint32_t i = 1; i < p->stack_count; i++)
		depth[i] = depth[profile_stack_parent(p, i)] + 1;
	return depth;
}

void code_places_init(struct code_places *places, const struct profile *p)
{
	bool added;

	child_table_init(&places->tree, p->frame_count + 1);
	places->of_stack = xcalloc(p->stack_count, sizeof(*places->of_stack));
	for (uint32_t i = 1; i < p->stack_count; i++) {
		frame_id frame = p->stack_frame[i];
		uint32_t outer = p->frames[frame.i].is_inline
					 ? places->of_stack[profile_stack_parent(p, i)]
					 : 0;

		places->of_stack[i] = child_table_at(&places->tree, outer, frame.i, &added);
	}
}

void code_places_deinit(struct code_places *places)
{
	child_table_deinit(&places->tree);
	free(places->of_stack);
}
