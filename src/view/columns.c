/*
 * The column registry: what each column is called, and how cells compare.  Where cells come from is
 * in cells.h.
 */
#include "view/columns.h"

#include "analysis/entity_tree.h"
#include "view/cells.h"

const struct column columns[COLUMN_COUNT] = {
	[COLUMN_NAME] = {.key = "name",
		.heading = "function",
		.help = "of the function or module",
		.kind = COLUMN_KIND_TEXT,
		.get = cells_name},
	[COLUMN_MODULE] = {.key = "module",
		.heading = "module",
		.help = "load object the function is in",
		.kind = COLUMN_KIND_TEXT,
		.get = cells_module},
	[COLUMN_FILE] = {.key = "file",
		.heading = "file",
		.help = "source file of the definition",
		.kind = COLUMN_KIND_TEXT,
		.get = cells_file},
	[COLUMN_LINE] = {.key = "line",
		.heading = "line",
		.help = "line of the definition",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_line},
	[COLUMN_EXCLUSIVE] = {.key = "exclusive",
		.heading = "exclusive",
		.help = "spent in it itself",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_exclusive,
		.is_per_metric = true},
	[COLUMN_EXCLUSIVE_PERCENT] = {.key = "exclusive_percent",
		.heading = "exclusive %",
		.help = "exclusive, of the total",
		.kind = COLUMN_KIND_PERCENT,
		.get = cells_exclusive,
		.is_own = true,
		.is_per_metric = true},
	[COLUMN_INCLUSIVE] = {.key = "inclusive",
		.heading = "inclusive",
		.help = "spent in it and what it called",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_inclusive,
		.is_per_metric = true},
	[COLUMN_INCLUSIVE_PERCENT] = {.key = "inclusive_percent",
		.heading = "inclusive %",
		.help = "inclusive, of the total",
		.kind = COLUMN_KIND_PERCENT,
		.get = cells_inclusive,
		.is_per_metric = true},
	[COLUMN_LEVEL] = {.key = "level",
		.heading = "level",
		.help = "depth in the tree, from 1",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_level},
	[COLUMN_KIND] = {.key = "kind",
		.heading = "kind",
		.help = "node, or stub of a recursion",
		.kind = COLUMN_KIND_TEXT,
		.get = cells_kind},
	[COLUMN_DIRECT] = {.key = "direct",
		.heading = "direct",
		.help = "in or under, reached before any recursion",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_direct,
		.is_per_metric = true},
	[COLUMN_INDIRECT] = {.key = "indirect",
		.heading = "(indirect)",
		.help = "in or under, first reached in a recursion",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_indirect,
		.is_per_metric = true},
	[COLUMN_IN_OR_UNDER] = {.key = "in_or_under",
		.heading = "in or under",
		.help = "direct (indirect)",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_in_or_under,
		.is_pair = true,
		.is_per_metric = true},
	[COLUMN_IN_OR_UNDER_PERCENT] = {.key = "in_or_under_percent",
		.heading = "in or under",
		.help = "direct (indirect), in percent",
		.kind = COLUMN_KIND_PERCENT,
		.get = cells_in_or_under,
		.is_pair = true,
		.is_per_metric = true},
	[COLUMN_IN_ONLY] = {.key = "in_only",
		.heading = "in only",
		.help = "spent in it itself",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_in_only,
		.is_per_metric = true},
	[COLUMN_IN_ONLY_PERCENT] = {.key = "in_only_percent",
		.heading = "in only",
		.help = "in only, in percent",
		.kind = COLUMN_KIND_PERCENT,
		.get = cells_in_only,
		.is_own = true,
		.is_per_metric = true},
	[COLUMN_TARGET] = {.key = "target",
		.heading = "target",
		.help = "row that a stub stands for, from 0",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_target},
	[COLUMN_STUB_WEIGHT] = {.key = "stub_weight",
		.heading = "stub weight",
		.help = "of the stacks that recur here",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_stub_weight,
		.is_per_metric = true},
	[COLUMN_DEPTH_MAX] = {.key = "depth_max",
		.heading = "depth max",
		.help = "most times that one stack recurs here",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_depth_max,
		.is_per_metric = true},
	[COLUMN_DEPTH_MEAN] = {.key = "depth_mean",
		.heading = "depth mean",
		.help = "times that a stack recurs here, over the stub weight",
		.kind = COLUMN_KIND_MEAN,
		.get = cells_depth_mean,
		.is_per_metric = true},
	[COLUMN_COUNTED] = {.key = "counted",
		.heading = "samples counted",
		.help = "in this profile",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_counted},
	[COLUMN_EXPECTED] = {.key = "expected",
		.heading = "expected",
		.help = "by the clock",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_expected},
	[COLUMN_LOST] = {.key = "lost",
		.heading = "lost",
		.help = "taken and not kept",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_lost},
	[COLUMN_FOREIGN] = {.key = "foreign",
		.heading = "in foreign code",
		.help = "of no known function",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_foreign},
	[COLUMN_CRITICAL] = {.key = "critical",
		.heading = "in critical sections",
		.help = "stack not walked whole",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_critical},
	[COLUMN_EXCLUDED] = {.key = "excluded",
		.heading = "excluded",
		.help = "by filters",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_excluded},
	[COLUMN_DURATION] = {.key = "duration_ns",
		.heading = "ran for",
		.help = "from start to end",
		.kind = COLUMN_KIND_TIME,
		.get = cells_duration},
	[COLUMN_CPU] = {.key = "cpu_ns",
		.heading = "used CPU for",
		.help = "as the system accounts it",
		.kind = COLUMN_KIND_TIME,
		.get = cells_cpu},
	[COLUMN_INTERVAL] = {.key = "interval_ns",
		.heading = "one sample every",
		.help = "as achieved",
		.kind = COLUMN_KIND_TIME,
		.get = cells_interval},
	[COLUMN_STACKS] = {.key = "stacks",
		.heading = "distinct stacks",
		.help = "that have weight",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_stacks},
	[COLUMN_FUNCTIONS] = {.key = "functions",
		.heading = "functions",
		.help = "in these stacks",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_functions},
	[COLUMN_STACK_DEPTH_MAX] = {.key = "stack_depth_max",
		.heading = "deepest stack",
		.help = "in frames",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_stack_depth_max},
	[COLUMN_STACK_DEPTH_MEAN] = {.key = "stack_depth_mean",
		.heading = "mean stack",
		.help = "in frames, by weight",
		.kind = COLUMN_KIND_MEAN,
		.get = cells_stack_depth_mean},
	[COLUMN_RECURSIVE] = {.key = "recursive",
		.heading = "in recursion",
		.help = "in stacks that hold a function twice",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_recursive},
	[COLUMN_METRIC_TOTAL] = {.key = "total",
		.heading = "total",
		.help = "of the metric",
		.kind = COLUMN_KIND_WEIGHT,
		.get = cells_metric_total,
		.is_per_metric = true},
	[COLUMN_METRIC_SAMPLES] = {.key = "samples",
		.heading = "samples of it",
		.help = "that have weight in the metric",
		.kind = COLUMN_KIND_NUMBER,
		.get = cells_metric_samples,
		.is_per_metric = true},
};

static int compare_weights(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

double cell_percent(const struct cell *cell)
{
	return 100.0 * (double)(cell->weight + cell->indirect) / (double)cell->base;
}

struct str cell_text(const struct cell *cell, struct strbuf *scratch)
{
	return cell->entity ? entity_label(cell->entity, scratch) : cell->text;
}

static int compare_texts(const struct cell *a, const struct cell *b)
{
	return a->entity ? entity_compare(a->entity, b->entity) : str_compare(a->text, b->text);
}

int cell_compare(enum column_kind kind, const struct cell *a, const struct cell *b)
{
	if (a->is_null || b->is_null)
		return a->is_null - b->is_null;
	switch (kind) {
	case COLUMN_KIND_TEXT:
		return compare_texts(a, b);
	case COLUMN_KIND_NUMBER:
		/* Lines and the like: in reading order. */
		return (a->number > b->number) - (a->number < b->number);
	case COLUMN_KIND_TIME:
		return (a->number < b->number) - (a->number > b->number);
	case COLUMN_KIND_MEAN:
		return (a->mean < b->mean) - (a->mean > b->mean);
	case COLUMN_KIND_FLAG:
		return b->flag - a->flag;
	case COLUMN_KIND_CALLS:
		return (a->number + a->inside < b->number + b->inside) -
		       (a->number + a->inside > b->number + b->inside);
	case COLUMN_KIND_WEIGHT:
	case COLUMN_KIND_PERCENT:
		return compare_weights(a->weight, b->weight);
	}
	return 0;
}
