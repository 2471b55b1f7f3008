/*
 * Capture files that a profile was written to.  See capture_profile.h.
 */
#include "formats/sonde/capture_profile.h"

#include "formats/sonde/layout/capture_rows.h"

void capture_profile_init(struct capture_profile *p, struct builder *b)
{
	*p = (struct capture_profile){.builder = b};
}

void capture_profile_deinit(struct capture_profile *p)
{
	map_deinit(&p->functions);
}

struct error *capture_profile_read_notes(struct capture_profile *p, struct cursor *payload)
{
	struct capture_note row;

	while (capture_get_note(payload, &row))
		builder_note(p->builder,
			row.kind < NOTE_KIND_COUNT ? (enum note_kind)row.kind : NOTE_INFO,
			row.count, "%.*s", STR_ARG(row.text));
	return cursor_error(payload);
}

struct error *capture_profile_read_functions(
	struct capture_profile *p, struct capture_names *names, struct cursor *payload)
{
	struct capture_function_row row;
	struct builder *b = p->builder;

	while (capture_get_function(payload, &row)) {
		const struct capture_names_object *o = capture_names_object(names, row.object);
		function_id id = builder_function_called(b, builder_string(b, row.name),
			row.aliases, o ? o->id : (object_id){NO_ID}, builder_string(b, row.file),
			row.line);

		map_put(&p->functions, row.function, 0, id.i);
	}
	return cursor_error(payload);
}

static void add_arc(struct capture_profile *p, function_id caller, function_id callee,
	const struct capture_arc *row)
{
	int64_t cost[CAPTURE_METRIC_MAX] = {0};

	if (p->flags & CAPTURE_PROFILE_COSTS) {
		memcpy(cost, row->cost, row->cost_count * sizeof(*cost));
		(void)builder_arc_cost(p->builder, caller, callee, row->calls, cost);
	} else {
		builder_arc(p->builder, caller, callee, row->calls);
	}
}

struct error *capture_profile_read_arcs(struct capture_profile *p, struct cursor *payload)
{
	struct capture_arc row;

	while (capture_get_arc(payload, &row)) {
		function_id caller = {NO_ID}, callee;

		if (row.caller != CAPTURE_NO_ID &&
			!map_get(&p->functions, row.caller, 0, &caller.i))
			cursor_fail(payload, "call from an undefined function");
		else if (!map_get(&p->functions, row.callee, 0, &callee.i))
			cursor_fail(payload, "call to an undefined function");
		else
			add_arc(p, caller, callee, &row);
	}
	return cursor_error(payload);
}

void capture_profile_add_sum(struct capture_profile *p, const struct capture_sample *row,
	stack_id stack, uint32_t metric_count)
{
	int64_t weight[CAPTURE_METRIC_MAX] = {0};
	bool counts = (p->flags & CAPTURE_PROFILE_COUNTS) && metric_count < CAPTURE_METRIC_MAX;

	for (uint32_t i = 0; i < metric_count; i++)
		weight[i] = row->weight[i];
	builder_weight(p->builder, stack, weight,
		counts && row->weight[metric_count] >= 0 ? (uint64_t)row->weight[metric_count]
							 : UINT64_MAX);
}

void capture_profile_set_header(const struct capture_profile *p, const uint64_t *facts)
{
	struct builder_header *header = builder_header(p->builder);
	const uint64_t *stat = facts + CAPTURE_STAT_FIRST;

	for (const struct stat_field *f = stat_fields; f->name; f++)
		memcpy((char *)&header->stats + f->offset, stat++, sizeof(*stat));
	header->has_stacks = p->flags & CAPTURE_PROFILE_STACKS;
	if (facts[CAPTURE_START_UNIX_NS] != UINT64_MAX)
		header->start_unix_ns = facts[CAPTURE_START_UNIX_NS];
}
