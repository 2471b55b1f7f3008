/*
 * The column registry: how each column is named and what it reads from a report's row.  The readers
 * only look things up; the single sum, a tree node's direct and indirect visits, is the definition
 * of "in or under" (semantics: every stack counts once per node, on one of the two sides).
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

const struct column columns[COLUMN_COUNT] = {
	[COLUMN_NAME] = {"name", "function", "of the function or module", COLUMN_KIND_TEXT,
		get_name},
	[COLUMN_MODULE] = {"module", "module", "load object the function is in", COLUMN_KIND_TEXT,
		get_module},
	[COLUMN_FILE] = {"file", "file", "source file of the definition", COLUMN_KIND_TEXT,
		get_file},
	[COLUMN_LINE] = {"line", "line", "line of the definition", COLUMN_KIND_NUMBER, get_line},
	[COLUMN_EXCLUSIVE] = {"exclusive", "exclusive", "spent in it itself", COLUMN_KIND_WEIGHT,
		get_exclusive},
	[COLUMN_EXCLUSIVE_PERCENT] = {"exclusive_percent", "exclusive %", "exclusive, of the total",
		COLUMN_KIND_PERCENT, get_exclusive, .is_own = true},
	[COLUMN_INCLUSIVE] = {"inclusive", "inclusive", "spent in it and what it called",
		COLUMN_KIND_WEIGHT, get_inclusive},
	[COLUMN_INCLUSIVE_PERCENT] = {"inclusive_percent", "inclusive %", "inclusive, of the total",
		COLUMN_KIND_PERCENT, get_inclusive},
	[COLUMN_LEVEL] = {"level", "level", "depth in the tree, from 1", COLUMN_KIND_NUMBER,
		get_level},
	[COLUMN_KIND] = {"kind", "kind", "node, or stub of a recursion", COLUMN_KIND_TEXT,
		get_kind},
	[COLUMN_DIRECT] = {"direct", "direct", "in or under, reached before any recursion",
		COLUMN_KIND_WEIGHT, get_direct},
	[COLUMN_INDIRECT] = {"indirect", "(indirect)", "in or under, first reached in a recursion",
		COLUMN_KIND_WEIGHT, get_indirect},
	[COLUMN_IN_OR_UNDER] = {"in_or_under", "in or under", "direct (indirect)",
		COLUMN_KIND_WEIGHT, get_in_or_under, .is_pair = true},
	[COLUMN_IN_OR_UNDER_PERCENT] = {"in_or_under_percent", "in or under",
		"direct (indirect), in percent", COLUMN_KIND_PERCENT, get_in_or_under,
		.is_pair = true},
	[COLUMN_IN_ONLY] = {"in_only", "in only", "spent in it itself", COLUMN_KIND_WEIGHT,
		get_in_only},
	[COLUMN_IN_ONLY_PERCENT] = {"in_only_percent", "in only", "in only, in percent",
		COLUMN_KIND_PERCENT, get_in_only, .is_own = true},
	[COLUMN_TARGET] = {"target", "target", "row that a stub stands for, from 0",
		COLUMN_KIND_NUMBER, get_target},
	[COLUMN_COUNTED] = {"counted", "samples counted", "in this profile", COLUMN_KIND_NUMBER,
		get_counted},
	[COLUMN_EXPECTED] = {"expected", "expected", "by the clock", COLUMN_KIND_NUMBER,
		get_expected},
	[COLUMN_LOST] = {"lost", "lost", "taken and not kept", COLUMN_KIND_NUMBER, get_lost},
	[COLUMN_FOREIGN] = {"foreign", "in foreign code", "of no known function",
		COLUMN_KIND_NUMBER, get_foreign},
	[COLUMN_CRITICAL] = {"critical", "in critical sections", "stack not walked whole",
		COLUMN_KIND_NUMBER, get_critical},
	[COLUMN_EXCLUDED] = {"excluded", "excluded", "by filters", COLUMN_KIND_NUMBER,
		get_excluded},
	[COLUMN_DURATION] = {"duration_ns", "ran for", "from start to end", COLUMN_KIND_TIME,
		get_duration},
	[COLUMN_CPU] = {"cpu_ns", "used CPU for", "as the system accounts it", COLUMN_KIND_TIME,
		get_cpu},
	[COLUMN_INTERVAL] = {"interval_ns", "one sample every", "as achieved", COLUMN_KIND_TIME,
		get_interval},
};

static int compare_weights(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
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
	case COLUMN_KIND_WEIGHT:
	case COLUMN_KIND_PERCENT:
		return compare_weights(a->weight, b->weight);
	}
	return 0;
}
