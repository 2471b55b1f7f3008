/*
 * Questions: the rows of their options, and how they combine.  Contradicting options are refused,
 * not ignored, before any file is read.
 */
#include "session/question.h"

#include <string.h>
#include <strings.h>

#include "base/abbreviation.h"
#include "base/nearest.h"
#include "session/values.h"
#include "view/brief.h"
#include "view/views.h"

enum {
	OPTION_VIEW = QUESTION_OPTION_FIRST,
	OPTION_LEVEL,
	OPTION_COLLAPSE,
	OPTION_ORDER,
	OPTION_SPREAD,
	OPTION_CONFIDENCE,
	OPTION_INVERT,
	OPTION_BRIEF,
	OPTION_BUDGET,
	OPTION_CENTER,
	OPTION_METRIC,
	OPTION_CLOCK,
	OPTION_SORT,
	OPTION_COLUMNS,
	OPTION_LIMIT,
	OPTION_PERCENT,
};

static const char *const order_names[] = {"weight", "first", NULL};

#define ROW_BRIEF                                                                                  \
	{                                                                                          \
		OPTION_BRIEF, 'b', "brief", VALUE_NONE, NULL, {0},                                 \
			"a short answer: few rows, their ids, losses, and what to ask next"        \
	}
#define ROW_BUDGET                                                                                 \
	{                                                                                          \
		OPTION_BUDGET, 0, "budget", VALUE_NUMBER, "N", {0},                                \
			"characters of --brief (default 2000); 0: all, without explanations"       \
	}

const struct option_row question_view_rows[] = {
	{OPTION_VIEW, 'v', "view", VALUE_CHOICE, "VIEW", CHOICES_POINTERS(views),
		"the view; text takes several"},
	{OPTION_LEVEL, 0, "level", VALUE_CHOICE, "LEVEL", CHOICES(level_names),
		"what a row stands for"},
	{OPTION_COLLAPSE, 0, "collapse", VALUE_CHOICE, "DEGREE", CHOICES(collapse_names),
		"which recursive calls the tree collapses; default full"},
	{OPTION_ORDER, 0, "order", VALUE_CHOICE, "ORDER", CHOICES(order_names),
		"order of the tree's rows; default weight"},
	{OPTION_SPREAD, 0, "spread", VALUE_NONE, NULL, {0},
		"make the k-th f in a stack a separate function, f'k"},
	{OPTION_CONFIDENCE, 0, "confidence", VALUE_NONE, NULL, {0},
		"print the margin of error from sampling, at 95 %"},
	{OPTION_INVERT, 0, "invert", VALUE_NONE, NULL, {0},
		"invert the tree: callers, from the leaves outwards"},
	{OPTION_CENTER, 0, "center", VALUE_TEXT, "F[;G...]", {0},
		"callers: show only this function, or F calling G"},
	{QUESTION_OPTION_ROOTS, 0, "roots", VALUE_CHOICE, "OF", CHOICES(roots_names),
		"begin each stack with its process, thread or label (label:KEY)"},
	{OPTION_METRIC, 'm', "metric", VALUE_TEXT, "LIST", {0},
		"the metrics to show: comma-separated names, or all"},
	ROW_BRIEF,
	ROW_BUDGET,
	{OPTION_SORT, 's', "sort", VALUE_TEXT, "COLUMN", {0},
		"exclusive (default), inclusive, name, module, file or line"},
	{OPTION_COLUMNS, 0, "columns", VALUE_TEXT, "LIST", {0},
		"columns to show, comma-separated: exclusive,file,line"},
	{OPTION_LIMIT, 'n', "limit", VALUE_NUMBER, "N", {0},
		"maximum number of rows, 0 for all (default: text 50, others all)"},
	{OPTION_PERCENT, 0, "percent", VALUE_CHOICE, "OF", CHOICES(percent_names),
		"what 100 % is; raw prints no percentages; default total"},
	{0},
};

const struct option_row question_figure_rows[] = {
	{OPTION_METRIC, 'm', "metric", VALUE_TEXT, "LIST", {0},
		"the metrics to show: comma-separated names, or all"},
	{OPTION_COLUMNS, 0, "columns", VALUE_TEXT, "LIST", {0},
		"columns of JSON and CSV, comma-separated names"},
	{OPTION_CONFIDENCE, 0, "confidence", VALUE_NONE, NULL, {0},
		"print the margin of error from sampling, at 95 %"},
	{OPTION_LIMIT, 'n', "limit", VALUE_NUMBER, "N", {0},
		"the N heaviest, 0 for all (default: text 100, others all)"},
	ROW_BRIEF,
	ROW_BUDGET,
	{OPTION_PERCENT, 0, "percent", VALUE_CHOICE, "OF", CHOICES(percent_names),
		"what 100 % is; raw prints no percentages; default total"},
	{0},
};

/* Indexed by enum question_clock. */
static const char *const clock_names[] = {"virtual", "real", NULL};
static const char *const clock_metrics[] = {"cpu-time", "real-time"};

const struct option_row question_clock_rows[] = {
	{OPTION_CLOCK, 0, "clock", VALUE_CHOICE, "CLOCK", CHOICES(clock_names),
		"show CPU time (virtual), or CPU and blocked time (real)"},
	{0},
};

const struct option_row question_drawing_rows[] = {
	QUESTION_FORMAT_ROW("default text"),
	{QUESTION_OPTION_MODULES, 0, "modules", VALUE_NONE, NULL, {0},
		"folded: write frames as module`function"},
	{0},
};

void question_deinit(struct question *options)
{
	filter_options_deinit(&options->filters);
}

struct question question_default(void)
{
	return (struct question){.level = -1,
		.collapse = -1,
		.order = -1,
		.percent = -1,
		.clock = -1,
		.limit = -1,
		.budget = BRIEF_BUDGET};
}

static struct error *set_view(struct question *o, const char *value)
{
	const struct view *view =
		views[choice_find(value, (struct choices)CHOICES_POINTERS(views))];

	for (size_t i = 0; i < o->view_count; i++)
		if (o->views[i] == view)
			return NULL;
	if (o->view_count < QUESTION_VIEWS_MAX)
		o->views[o->view_count++] = view;
	return NULL;
}

static struct error *set_count(int64_t *field, const char *value)
{
	uint64_t count;
	struct error *err = value_count(value, 0, INT32_MAX, &count);

	if (err == NULL)
		*field = (int64_t)count;
	return err;
}

static struct error *set_budget(struct question *o, const char *value)
{
	struct error *err = set_count(&o->budget, value);

	if (err == NULL && o->budget != 0 && o->budget < (int64_t)BRIEF_BUDGET_MIN)
		err = error_new(ERROR_USAGE, "at least %u characters, or 0, not '%s'",
			BRIEF_BUDGET_MIN, value);
	o->brief |= err == NULL;
	return err;
}

struct error *question_set(struct question *question, int id, const char *value)
{
	struct question *o = question;

	if (id >= FILTER_OPTION_FIRST)
		return filter_options_set(&o->filters, id, value);
	switch (id) {
	case OPTION_VIEW:
		return set_view(o, value);
	case OPTION_LEVEL:
		o->level = CHOICE_OF(value, level_names);
		break;
	case OPTION_COLLAPSE:
		o->collapse = CHOICE_OF(value, collapse_names);
		break;
	case OPTION_ORDER:
		o->order = CHOICE_OF(value, order_names);
		break;
	case OPTION_SPREAD:
		o->spread = true;
		break;
	case OPTION_CONFIDENCE:
		o->confidence = true;
		break;
	case OPTION_CENTER:
		o->center = value;
		break;
	case OPTION_INVERT:
		o->invert = true;
		break;
	case OPTION_BRIEF:
		o->brief = true;
		break;
	case OPTION_BUDGET:
		return set_budget(o, value);
	case QUESTION_OPTION_ROOTS:
		o->roots = (enum profile_roots)CHOICE_OF(value, roots_names);
		if (o->roots == ROOTS_LABEL)
			o->root_label = strchr(value, ':') + 1;
		break;
	case OPTION_METRIC:
		o->metric = value;
		break;
	case OPTION_CLOCK:
		o->clock = CHOICE_OF(value, clock_names);
		break;
	case OPTION_SORT:
		o->sort = value;
		break;
	case OPTION_COLUMNS:
		o->columns = value;
		break;
	case OPTION_LIMIT:
		return set_count(&o->limit, value);
	case OPTION_PERCENT:
		o->percent = CHOICE_OF(value, percent_names);
		break;
	case QUESTION_OPTION_FORMAT:
		o->format = CHOICE_OF(value, formats);
		break;
	case QUESTION_OPTION_MODULES:
		o->with_modules = true;
		break;
	}
	return NULL;
}

/* Without --view, an option that only one view has selects that view. */
static void choose_view(struct question *o)
{
	bool is_tree =
		o->collapse >= 0 || o->order >= 0 || o->percent == PERCENT_PARENT || o->invert;

	if (o->view_count == 0)
		o->views[o->view_count++] = is_tree	? &view_tree
					    : o->center ? &view_callers
							: formats[o->format].view;
}

static bool some_view(const struct question *o, bool (*is)(const struct view *view))
{
	for (size_t i = 0; i < o->view_count; i++)
		if (is(o->views[i]))
			return true;
	return false;
}

static bool view_is_tree(const struct view *view)
{
	return view->is_tree;
}

static bool view_sorts(const struct view *view)
{
	return view->sorts;
}

static bool view_has_parents(const struct view *view)
{
	return view->has_parents;
}

static bool view_is_callers(const struct view *view)
{
	return view == &view_callers;
}

/* Refuses options that none of the requested views supports. */
static struct error *check_views(const struct question *o)
{
	const struct format *format = &formats[o->format];
	bool tree = some_view(o, view_is_tree);

	if (o->view_count > 1 && !format->several)
		return error_new(ERROR_USAGE, "--format %s holds one view, not %zu", format->name,
			o->view_count);
	for (size_t i = 0; format->only && i < o->view_count; i++)
		if (o->views[i] != format->only)
			return error_new(ERROR_USAGE, "--format %s has no view but %s",
				format->name, format->only->name);
	if (o->collapse >= 0 && !tree)
		return error_new(ERROR_USAGE, "--collapse is for --view tree");
	if (o->order >= 0 && !tree)
		return error_new(ERROR_USAGE, "--order is for --view tree");
	if (o->invert && !tree)
		return error_new(ERROR_USAGE, "--invert is for --view tree");
	if (o->percent == PERCENT_PARENT && !some_view(o, view_has_parents))
		return error_new(
			ERROR_USAGE, "--percent parent is for --view tree and --view callers");
	if (o->center && !some_view(o, view_is_callers))
		return error_new(ERROR_USAGE, "--center is for --view callers");
	if (o->sort && !some_view(o, view_sorts))
		return error_new(ERROR_USAGE, "--sort is not for --view %s%s", o->views[0]->name,
			tree ? ", which has --order" : "");
	if (o->with_modules && !format->takes_modules)
		return error_new(ERROR_USAGE, "--modules is for --format folded");
	if (format->is_page && (!o->takes_pages || o->is_difference ||
				       (o->view_count && o->views[0] == &view_annotate)))
		return error_new(
			ERROR_USAGE, "--format %s is for one profile: sonde report", format->name);
	if (o->columns && (o->view_count > 1 || !format->takes_columns))
		return error_new(ERROR_USAGE,
			"--columns is for one view, and for --format text, json and csv");
	return NULL;
}

static bool asks_for_margins(const struct report_query *query)
{
	for (size_t i = 0; i < query->column_count; i++)
		if (columns[query->columns[i]].of_confidence)
			return true;
	return false;
}

/* Checks that the views' figures, as shares of all samples, can have margins. */
static struct error *check_confidence(const struct question *o, const struct report_query *query)
{
	if (!view_has_margins(query->view))
		return error_new(
			ERROR_USAGE, "--confidence is not for --view %s", query->view->name);
	if (o->is_difference)
		return error_new(ERROR_USAGE,
			"--confidence is for one profile; differences mark what is beyond chance");
	return NULL;
}

static bool offers_column(const struct question *o, const struct view *view, enum column_id id)
{
	return view_has_column(view, id) && (o->is_difference || !columns[id].of_difference);
}

/* What perf sorts by is often what sonde's rows stand for; NULL: none of these. */
static const char *level_of_sort(struct str name)
{
	static const char *const levels[][2] = {{"comm", "process"}, {"cpu", "cpu"},
		{"dso", "module"}, {"pid", "process"}, {"srcfile", "file"}, {"srcline", "line"},
		{"sym", "function"}, {"symbol", "function"}, {"tid", "thread"}};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (str_equal(str_from(levels[i][0]), name))
			return levels[i][1];
	}
	return NULL;
}

/* For a name that resembles no column: lists all columns. */
static struct error *no_column(
	const struct question *o, const struct view *view, struct str name, const char *option)
{
	struct strbuf all = {0};

	for (enum column_id c = 0; c < COLUMN_COUNT; c++)
		if (offers_column(o, view, c))
			strbuf_printf(&all, "%s%s", all.size ? ", " : "", columns[c].key);
	struct error *err = error_new(ERROR_USAGE, "%s: view %s has no column '%.*s'; it has %s",
		option, view->name, STR_ARG(name), all.data);
	strbuf_deinit(&all);
	return err;
}

static struct error *wrong_column(const struct question *o, const struct view *view,
	struct str name, const char *option, struct str nearest)
{
	const char *level = level_of_sort(name);

	if (level && strcmp(option, "--sort") == 0)
		return error_new(ERROR_USAGE,
			"--sort: '%.*s' is not a column; for such rows, use --level %s",
			STR_ARG(name), level);
	if (nearest.size)
		return error_new(ERROR_USAGE,
			"%s: view %s has no column '%.*s'; did you mean '%.*s'?", option,
			view->name, STR_ARG(name), STR_ARG(nearest));
	return no_column(o, view, name, option);
}

/* The column whose name is meant.  perf's words for levels are no abbreviations. */
static struct error *find_column(const struct question *o, const struct view *view, struct str name,
	const char *option, enum column_id *id)
{
	struct nearest n;
	struct abbreviation a;
	struct error *err = NULL;

	nearest_init(&n, name);
	abbreviation_init(&a, name);
	for (enum column_id c = 0; c < COLUMN_COUNT; c++) {
		struct str key = str_from(columns[c].key);

		if (!offers_column(o, view, c))
			continue;
		nearest_offer(&n, key);
		if (level_of_sort(name) && !str_equal(key, name))
			continue;
		if (abbreviation_offer(&a, key))
			*id = c;
	}
	if (abbreviation_is_ambiguous(&a))
		err = error_new(ERROR_USAGE, "%s: ambiguous column '%.*s': it may be %s", option,
			STR_ARG(name), a.names.data);
	else if (!abbreviation_found(&a))
		err = wrong_column(o, view, name, option, n.best);
	abbreviation_deinit(&a);
	return err;
}

static bool has_id(const struct report_query *query, enum column_id id)
{
	for (size_t i = 0; i < query->column_count; i++)
		if (query->columns[i] == id)
			return true;
	return false;
}

static struct error *set_columns(const struct question *o, struct report_query *query)
{
	const char *list = o->columns;

	for (bool more = true; more;) {
		size_t size = strcspn(list, ",");
		enum column_id id;
		struct error *err =
			find_column(o, query->view, (struct str){list, size}, "--columns", &id);

		if (err)
			return err;
		if (!has_id(query, id))
			query->columns[query->column_count++] = id;
		more = list[size] == ',';
		list += size + more;
	}
	/* The lists of views end with this, and so must this one. */
	query->columns[query->column_count] = COLUMN_END;
	return NULL;
}

static struct error *set_level(const struct question *o, struct report_query *query)
{
	const struct view *view = query->view;

	query->level = o->level < 0 ? view->level : (enum level)o->level;
	if (query->level != view->level && !view->has_levels)
		return error_new(ERROR_USAGE, "--level: view %s is always at level %s", view->name,
			level_names[view->level]);
	if (o->roots != ROOTS_NONE && query->level != LEVEL_FUNCTION)
		return error_new(ERROR_USAGE,
			"--roots: processes, threads and labels are functions and have no %s",
			level_names[query->level]);
	if (o->filters.same_texts.count > 0 && query->level != LEVEL_FUNCTION)
		return error_new(ERROR_USAGE, "--same is for --level function");
	return NULL;
}

static struct error *make_query(const struct question *o, struct report_query *query)
{
	const struct format *format = &formats[o->format];
	struct error *err = set_level(o, query);
	enum column_id id;

	query->spread = o->spread;
	query->center = query->view == &view_callers ? o->center : NULL;
	query->invert = o->invert && query->view->is_tree;
	query->brief = o->brief;
	query->budget = o->brief ? (size_t)o->budget : 0;
	query->part_rows = query->budget ? BRIEF_PART_ROWS : o->part_rows;
	query->same = o->filters.same.data;
	query->same_count = o->filters.same.count;
	query->with_modules = o->with_modules;
	query->has_widths = o->has_widths && query->view->is_tree;
	query->collapse = o->collapse < 0 ? format->collapse : (enum collapse)o->collapse;
	query->order = o->order < 0 ? CALLTREE_BY_WEIGHT : (enum calltree_order)o->order;
	query->percent = o->percent < 0 ? PERCENT_TOTAL : (enum percent)o->percent;
	query->limit = o->limit >= 0   ? (size_t)o->limit
		       : query->budget ? brief_limit(query->view)
				       : format->default_limit;
	if (format->draws_all)
		query->limit = 0;
	if (err == NULL && o->sort && query->view->sorts) {
		err = find_column(o, query->view, str_from(o->sort), "--sort", &id);
		if (err == NULL)
			query->sort = &columns[id];
	}
	if (err == NULL && o->columns)
		err = set_columns(o, query);
	query->confidence = o->confidence || asks_for_margins(query);
	if (err == NULL && query->confidence)
		err = check_confidence(o, query);
	return err;
}

/* ---- by name ---- */

static const struct option_row *row_named(
	const struct option_row *rows, struct nearest *n, struct str name)
{
	for (const struct option_row *row = rows; option_row_exists(row); row++) {
		if (str_equal(str_from(row->long_name), name))
			return row;
		nearest_offer(n, str_from(row->long_name));
	}
	return NULL;
}

static struct error *find_row(const char *name, const struct option_row **row)
{
	const struct option_row *const tables[] = {
		question_view_rows, question_clock_rows, question_drawing_rows, filter_rows};
	struct nearest n;

	nearest_init(&n, str_from(name));
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		*row = row_named(tables[i], &n, str_from(name));
		if (*row)
			return NULL;
	}
	if (n.best.size)
		return error_new(ERROR_USAGE, "%s: unknown option; did you mean '%.*s'?", name,
			STR_ARG(n.best));
	return error_new(ERROR_USAGE, "%s: unknown option", name);
}

struct error *question_put(struct question *question, const char *name, const char *value)
{
	const struct option_row *row;
	struct error *err = find_row(name, &row);

	if (err)
		return err;
	if ((row->value == VALUE_NONE) != (value == NULL))
		return error_new(
			ERROR_USAGE, value ? "%s: takes no value" : "%s: expects a value", name);
	err = option_check(row, &value);
	if (err == NULL)
		err = question_set(question, row->id, value);
	return err ? error_prefix(err, "%s", name) : NULL;
}

/* ---- all together ---- */

struct error *question_settle(struct question *question)
{
	struct question o = *question;
	struct error *err;

	choose_view(&o);
	err = check_views(&o);
	if (err == NULL)
		err = filter_options_compile(&question->filters);
	o.filters = question->filters;
	question->query_count = 0;
	for (size_t i = 0; err == NULL && i < o.view_count; i++) {
		question->queries[i] = (struct report_query){.view = o.views[i]};
		err = make_query(&o, &question->queries[i]);
	}
	if (err == NULL)
		question->query_count = o.view_count;
	return err;
}

static struct error *check_clock(const struct question *o, const struct profile *profile)
{
	metric_id metric;

	if (o->clock < 0)
		return NULL;
	if (o->metric)
		return error_new(ERROR_USAGE, "--clock and --metric both choose a metric");
	if (profile_find_metric(profile, str_from(clock_metrics[o->clock]), &metric))
		return NULL;
	return error_new(ERROR_USAGE, "--clock %s: the file has no %s%s", clock_names[o->clock],
		clock_metrics[o->clock],
		o->clock == QUESTION_CLOCK_REAL ? ", which `sonde record --clock real` takes down"
						: "");
}

const char *question_clock_name(const struct question *question)
{
	return clock_names[question->clock];
}

struct str question_metric_name(const struct question *question, const struct profile *profile)
{
	metric_id own;

	if (question->clock >= 0)
		return str_from(clock_metrics[question->clock]);
	if (question->metric)
		return str_from(question->metric);
	const char *own_name = question->queries[0].view->own_metric;

	if (own_name && profile_find_metric(profile, str_from(own_name), &own))
		return str_from(own_name);
	return profile_string(profile, profile->metrics[profile->default_metric.i].name);
}

struct error *question_metrics(
	struct question *question, const struct profile *profile, struct metric_list *metrics)
{
	const struct format *format = &formats[question->format];
	struct error *err = check_clock(question, profile);

	if (err)
		return err;
	err = metric_list_choose(profile,
		question->clock >= 0 ? clock_metrics[question->clock] : question->metric, metrics);
	if (err)
		return err;
	if (metrics->ids.count > 1 && format->only)
		return error_new(ERROR_USAGE, "--format %s holds one metric, not %zu", format->name,
			metrics->ids.count);
	for (size_t i = 0; i < question->query_count; i++) {
		struct report_query *query = &question->queries[i];

		query->metric = metrics->ids.data[0];
		if (question->metric == NULL && question->clock < 0 && query->view->own_metric)
			(void)profile_find_metric(
				profile, str_from(query->view->own_metric), &query->metric);
		query->others = metrics->ids.data + 1;
		query->other_count = metrics->ids.count - 1;
	}
	return NULL;
}

struct error *question_roots(
	const struct question *question, const struct profile *profile, struct profile **rooted)
{
	return question->roots == ROOTS_LABEL
		       ? profile_with_label_roots(profile, str_from(question->root_label), rooted)
		       : profile_with_roots(profile, question->roots, rooted);
}
