/*
 * The column registry: how each column is named and what it reads from a report's row.  The readers
 * only look things up; the single sum, a tree node's direct and indirect visits, is the definition
 * of "in or under" (semantics: every stack counts once per node, on one of the two sides).  Formats
 * that have one figure a field show that sum.
 */
#include "view/columns.h"

#include "model/profile.h"
#include "view/report.h"
#include "view/views.h"

static const struct cell cell_null = {.is_null = true};

static struct cell cell_str(struct str text)
{
	return (struct cell){.is_null = text.data == NULL, .text = text};
}

/* Of one of profile_stats' numbers. */
static struct cell cell_known(uint64_t number)
{
	return (struct cell){.is_null = number == UINT64_MAX, .number = number};
}

/* Columns that every view of entities has. */

static struct cell get_name(const struct report *report, size_t row)
{
	return (struct cell){.entity = report->query.view->entity(report, row)};
}

static struct cell get_module(const struct report *report, size_t row)
{
	return cell_str(report->query.view->entity(report, row)->module);
}

static struct cell get_file(const struct report *report, size_t row)
{
	return cell_str(report->query.view->entity(report, row)->file);
}

static struct cell get_line(const struct report *report, size_t row)
{
	uint32_t line = report->query.view->entity(report, row)->line;

	return (struct cell){.is_null = line == 0, .number = line};
}

/* Columns of the functions and modules views. */

static struct cell get_exclusive(const struct report *report, size_t row)
{
	return (struct cell){
		.weight = report->functions->rows[row].exclusive, .base = report->tree->total};
}

static struct cell get_inclusive(const struct report *report, size_t row)
{
	return (struct cell){
		.weight = report->functions->rows[row].inclusive, .base = report->tree->total};
}

/* Columns of the tree view. */

static const struct calltree_row *tree_row(const struct report *report, size_t row)
{
	return &report->calltree->rows[row];
}

static struct cell get_level(const struct report *report, size_t row)
{
	return (struct cell){.number = tree_row(report, row)->level};
}

static struct cell get_kind(const struct report *report, size_t row)
{
	return cell_str(tree_row(report, row)->is_stub ? STR("stub") : STR("node"));
}

static struct cell get_target(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	if (!r->is_stub)
		return cell_null;
	return (struct cell){.number = report_place(report, r->target)};
}

static struct cell get_direct(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){.is_null = r->is_stub, .weight = r->direct};
}

static struct cell get_indirect(const struct report *report, size_t row)
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

static struct cell get_stub_weight(const struct report *report, size_t row)
{
	const struct calltree_stub *stub = tree_stub(report, row);

	return stub ? (struct cell){.weight = stub->weight} : cell_null;
}

static struct cell get_depth_max(const struct report *report, size_t row)
{
	const struct calltree_stub *stub = tree_stub(report, row);

	return stub ? (struct cell){.number = stub->jumps_max} : cell_null;
}

static struct cell get_depth_mean(const struct report *report, size_t row)
{
	const struct calltree_stub *stub = tree_stub(report, row);

	if (stub == NULL || stub->weight == 0 || report->tree->has_negative)
		return cell_null;
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

static struct cell get_in_or_under(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){.is_null = r->is_stub,
		.weight = r->direct,
		.indirect = r->indirect,
		.base = tree_base(report, r)};
}

static struct cell get_in_only(const struct report *report, size_t row)
{
	const struct calltree_row *r = tree_row(report, row);

	return (struct cell){
		.is_null = r->is_stub, .weight = r->in_only, .base = tree_base(report, r)};
}

/* Columns of the stats view, which has one row. */

static struct cell get_counted(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.counted);
}

static struct cell get_expected(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.expected);
}

static struct cell get_lost(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.lost);
}

static struct cell get_foreign(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.foreign);
}

static struct cell get_critical(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.critical);
}

static struct cell get_excluded(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.excluded);
}

static struct cell get_duration(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.duration_ns);
}

static struct cell get_cpu(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.cpu_ns);
}

static struct cell get_interval(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(report->stats->sampling.interval_ns);
}

static struct cell get_stacks(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.number = report->stats->stack_count};
}

static struct cell get_functions(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.number = report->stats->entity_count};
}

static struct cell get_stack_depth_max(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.number = report->stats->depth_max};
}

static struct cell get_stack_depth_mean(const struct report *report, size_t row)
{
	(void)row;
	if (report->stats->total == 0 || report->tree->has_negative)
		return cell_null;
	return (struct cell){.mean = report->stats->depth_mean};
}

static struct cell get_recursive(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.weight = report->stats->recursive};
}

static const struct stats_metric *stats_metric(const struct report *report)
{
	return &report->stats->metrics[report->query.metric.i];
}

static struct cell get_metric_total(const struct report *report, size_t row)
{
	(void)row;
	return (struct cell){.weight = stats_metric(report)->total};
}

static struct cell get_metric_samples(const struct report *report, size_t row)
{
	(void)row;
	return cell_known(stats_metric(report)->samples);
}

const struct column columns[COLUMN_COUNT] = {
	[COLUMN_NAME] = {.key = "name",
		.heading = "function",
		.help = "of the function or module",
		.kind = COLUMN_KIND_TEXT,
		.get = get_name},
	[COLUMN_MODULE] = {.key = "module",
		.heading = "module",
		.help = "load object the function is in",
		.kind = COLUMN_KIND_TEXT,
		.get = get_module},
	[COLUMN_FILE] = {.key = "file",
		.heading = "file",
		.help = "source file of the definition",
		.kind = COLUMN_KIND_TEXT,
		.get = get_file},
	[COLUMN_LINE] = {.key = "line",
		.heading = "line",
		.help = "line of the definition",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_line},
	[COLUMN_EXCLUSIVE] = {.key = "exclusive",
		.heading = "exclusive",
		.help = "spent in it itself",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_exclusive,
		.is_per_metric = true},
	[COLUMN_EXCLUSIVE_PERCENT] = {.key = "exclusive_percent",
		.heading = "exclusive %",
		.help = "exclusive, of the total",
		.kind = COLUMN_KIND_PERCENT,
		.get = get_exclusive,
		.is_own = true,
		.is_per_metric = true},
	[COLUMN_INCLUSIVE] = {.key = "inclusive",
		.heading = "inclusive",
		.help = "spent in it and what it called",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_inclusive,
		.is_per_metric = true},
	[COLUMN_INCLUSIVE_PERCENT] = {.key = "inclusive_percent",
		.heading = "inclusive %",
		.help = "inclusive, of the total",
		.kind = COLUMN_KIND_PERCENT,
		.get = get_inclusive,
		.is_per_metric = true},
	[COLUMN_LEVEL] = {.key = "level",
		.heading = "level",
		.help = "depth in the tree, from 1",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_level},
	[COLUMN_KIND] = {.key = "kind",
		.heading = "kind",
		.help = "node, or stub of a recursion",
		.kind = COLUMN_KIND_TEXT,
		.get = get_kind},
	[COLUMN_DIRECT] = {.key = "direct",
		.heading = "direct",
		.help = "in or under, reached before any recursion",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_direct,
		.is_per_metric = true},
	[COLUMN_INDIRECT] = {.key = "indirect",
		.heading = "(indirect)",
		.help = "in or under, first reached in a recursion",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_indirect,
		.is_per_metric = true},
	[COLUMN_IN_OR_UNDER] = {.key = "in_or_under",
		.heading = "in or under",
		.help = "direct (indirect)",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_in_or_under,
		.is_pair = true,
		.is_per_metric = true},
	[COLUMN_IN_OR_UNDER_PERCENT] = {.key = "in_or_under_percent",
		.heading = "in or under",
		.help = "direct (indirect), in percent",
		.kind = COLUMN_KIND_PERCENT,
		.get = get_in_or_under,
		.is_pair = true,
		.is_per_metric = true},
	[COLUMN_IN_ONLY] = {.key = "in_only",
		.heading = "in only",
		.help = "spent in it itself",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_in_only,
		.is_per_metric = true},
	[COLUMN_IN_ONLY_PERCENT] = {.key = "in_only_percent",
		.heading = "in only",
		.help = "in only, in percent",
		.kind = COLUMN_KIND_PERCENT,
		.get = get_in_only,
		.is_own = true,
		.is_per_metric = true},
	[COLUMN_TARGET] = {.key = "target",
		.heading = "target",
		.help = "row that a stub stands for, from 0",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_target},
	[COLUMN_STUB_WEIGHT] = {.key = "stub_weight",
		.heading = "stub weight",
		.help = "of the stacks that recur here",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_stub_weight,
		.is_per_metric = true},
	[COLUMN_DEPTH_MAX] = {.key = "depth_max",
		.heading = "depth max",
		.help = "most times that one stack recurs here",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_depth_max,
		.is_per_metric = true},
	[COLUMN_DEPTH_MEAN] = {.key = "depth_mean",
		.heading = "depth mean",
		.help = "times that a stack recurs here, over the stub weight",
		.kind = COLUMN_KIND_MEAN,
		.get = get_depth_mean,
		.is_per_metric = true},
	[COLUMN_COUNTED] = {.key = "counted",
		.heading = "samples counted",
		.help = "in this profile",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_counted},
	[COLUMN_EXPECTED] = {.key = "expected",
		.heading = "expected",
		.help = "by the clock",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_expected},
	[COLUMN_LOST] = {.key = "lost",
		.heading = "lost",
		.help = "taken and not kept",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_lost},
	[COLUMN_FOREIGN] = {.key = "foreign",
		.heading = "in foreign code",
		.help = "of no known function",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_foreign},
	[COLUMN_CRITICAL] = {.key = "critical",
		.heading = "in critical sections",
		.help = "stack not walked whole",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_critical},
	[COLUMN_EXCLUDED] = {.key = "excluded",
		.heading = "excluded",
		.help = "by filters",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_excluded},
	[COLUMN_DURATION] = {.key = "duration_ns",
		.heading = "ran for",
		.help = "from start to end",
		.kind = COLUMN_KIND_TIME,
		.get = get_duration},
	[COLUMN_CPU] = {.key = "cpu_ns",
		.heading = "used CPU for",
		.help = "as the system accounts it",
		.kind = COLUMN_KIND_TIME,
		.get = get_cpu},
	[COLUMN_INTERVAL] = {.key = "interval_ns",
		.heading = "one sample every",
		.help = "as achieved",
		.kind = COLUMN_KIND_TIME,
		.get = get_interval},
	[COLUMN_STACKS] = {.key = "stacks",
		.heading = "distinct stacks",
		.help = "that have weight",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_stacks},
	[COLUMN_FUNCTIONS] = {.key = "functions",
		.heading = "functions",
		.help = "in these stacks",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_functions},
	[COLUMN_STACK_DEPTH_MAX] = {.key = "stack_depth_max",
		.heading = "deepest stack",
		.help = "in frames",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_stack_depth_max},
	[COLUMN_STACK_DEPTH_MEAN] = {.key = "stack_depth_mean",
		.heading = "mean stack",
		.help = "in frames, by weight",
		.kind = COLUMN_KIND_MEAN,
		.get = get_stack_depth_mean},
	[COLUMN_RECURSIVE] = {.key = "recursive",
		.heading = "in recursion",
		.help = "in stacks that hold a function twice",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_recursive},
	[COLUMN_METRIC_TOTAL] = {.key = "total",
		.heading = "total",
		.help = "of the metric",
		.kind = COLUMN_KIND_WEIGHT,
		.get = get_metric_total,
		.is_per_metric = true},
	[COLUMN_METRIC_SAMPLES] = {.key = "samples",
		.heading = "samples of it",
		.help = "that have weight in the metric",
		.kind = COLUMN_KIND_NUMBER,
		.get = get_metric_samples,
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
	case COLUMN_KIND_WEIGHT:
	case COLUMN_KIND_PERCENT:
		return compare_weights(a->weight, b->weight);
	}
	return 0;
}
