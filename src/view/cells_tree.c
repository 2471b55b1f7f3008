/*
 * Cells of the call tree.
 */
#include "view/cells.h"

static const struct calltree_row *tree_row(const struct report *report, size_t row)
{
	return &report->calltree->rows[row];
}

struct cell cells_level(const struct report *report, size_t row)
{
	return (struct cell){.number = tree_row(report, row)->level};
}

struct cell cells_kind(const struct report *report, size_t row)
{
	return cell_str(tree_row(report, row)->is_stub ? STR("stub") : STR("node"));
}

struct cell cells_target(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	if (!r->is_stub)
		return (struct cell){.is_null = true};
	return (struct cell){.number = report_place(report, r->target)};
}

struct cell cells_direct(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){.is_null = r->is_stub, .weight = r->direct};
}

struct cell cells_indirect(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){.is_null = r->is_stub, .weight = r->indirect};
}

/* The figures of a stub, or NULL for a node. */
static const struct calltree_stub *tree_stub(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return r->is_stub ? &report->calltree->stubs[r->stub] : NULL;
}

struct cell cells_stub_weight(const struct report *report, size_t row)
{
	const struct calltree_stub *stub = tree_stub(report, row);

	return stub ? (struct cell){.weight = stub->weight} : (struct cell){.is_null = true};
}

struct cell cells_depth_max(const struct report *report, size_t row)
{
	const struct calltree_stub *stub = tree_stub(report, row);

	return stub ? (struct cell){.number = stub->jumps_max} : (struct cell){.is_null = true};
}

struct cell cells_depth_mean(const struct report *report, size_t row)
{
	const struct calltree_stub *stub = tree_stub(report, row);

	if (stub == NULL || stub->weight == 0 || report->tree->has_negative)
		return (struct cell){.is_null = true};
	return (struct cell){.mean = stub->jumps_mean};
}

/* What 100 % is for a row. */
static int64_t tree_base(const struct report *report, const struct calltree_row *r)
{
	if (report->query.percent != PERCENT_PARENT || r->parent == NO_ID)
		return report->tree->total;
	r = tree_row(report, r->parent);
	return r->direct + r->indirect;
}

struct cell cells_in_or_under(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){.is_null = r->is_stub,
		.weight = r->direct,
		.indirect = r->indirect,
		.base = tree_base(report, r)};
}

struct cell cells_in_only(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){
		.is_null = r->is_stub, .weight = r->in_only, .base = tree_base(report, r)};
}
