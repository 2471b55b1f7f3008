/*
 * From a profile to its report: makes the reports of all queries in one arena, opens the way out,
 * and has the format draw.
 */
#include "cli/report_print.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/certificate.h"
#include "base/alloc.h"
#include "cli/fail_over.h"
#include "cli/output.h"
#include "cli/note_messages.h"
#include "cli/pager.h"
#include "cli/values.h"
#include "view/views.h"

#define WIDTH_DEFAULT 80u

/* COLUMNS, where the shell exports it, is what the user wants; else the terminal knows. */
static size_t terminal_width(void)
{
	const char *columns_text = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (columns_text) {
		struct error *err = value_count(columns_text, 1, INT32_MAX, &width);

		if (err == NULL)
			return (size_t)width;
		error_destroy(err);
	}
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

static bool wants_color(enum color color, bool terminal)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return terminal && term && strcmp(term, "dumb") != 0;
}

/* By the environment rather than setlocale, which knows only locales that are installed. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static struct text_style make_style(
	const struct report_options *options, const struct output *output, const char *hint)
{
	bool terminal = output->fd == STDOUT_FILENO && isatty(STDOUT_FILENO);
	struct text_style style = {
		.color = wants_color(options->color, terminal),
		.utf8 = locale_is_utf8(),
		.all_notes = options->all_notes,
		.hint = hint,
	};

	if (options->width >= 0)
		style.width = (size_t)options->width;
	else if (terminal)
		style.width = terminal_width();
	return style;
}

/* Whether the tree of entities that was made for a is the one that b looks at, too. */
static bool shares_tree(const struct report_query *a, const struct report_query *b)
{
	return a->level == b->level && a->invert == b->invert &&
	       (!report_wants_sums(a) || report_wants_sums(b)) &&
	       a->view->joins_metrics == b->view->joins_metrics &&
	       a->view->adds_entries == b->view->adds_entries && a->metric.i == b->metric.i;
}

/* What --center asks for, in the tree of the query. */
static struct error *find_centre(
	struct report_query *query, const struct entity_tree *tree, struct arena *arena)
{
	struct error *err;

	if (query->center == NULL)
		return NULL;
	err = centre_find(tree, query->level, str_from(query->center), arena, &query->centre);
	return err ? error_prefix(err, "--center") : NULL;
}

static void add_remark(struct report_query *query, const char *remark, struct arena *arena)
{
	const char **remarks = ARENA_ARRAY(arena, const char *, query->remark_count + 1);

	if (query->remark_count)
		memcpy(remarks, query->remarks, query->remark_count * sizeof(*remarks));
	remarks[query->remark_count++] = remark;
	query->remarks = remarks;
}

/* "19.0% of the total" or, where shares mean nothing, "some weight". */
static const char *share_text(const struct entity_tree *tree, int64_t weight, struct arena *arena)
{
	if (tree->has_negative || weight < 0 || tree->total <= 0)
		return "some weight";
	return arena_printf(
		arena, "%.1f%% of the total", 100.0 * (double)weight / (double)tree->total);
}

/* What is kept and is in no row all the same is said: nothing is lost in silence. */
static void remark_rowless(
	struct report_query *query, const struct entity_tree *tree, struct arena *arena)
{
	const struct view *view = query->view;
	int64_t frameless = entity_tree_weight(tree, 0);

	if (view->entity == NULL || query->listing)
		return;
	if (frameless != 0)
		add_remark(query,
			arena_printf(arena, "%s is in no row: no frame of its stacks is shown",
				share_text(tree, frameless, arena)),
			arena);
	if (tree->spontaneous != 0 && (view->is_tree || view->part_count > 0))
		add_remark(query,
			arena_printf(arena,
				"%s is in no row: --when charges it to <spontaneous>, which "
				"--view deep shows",
				share_text(tree, tree->spontaneous, arena)),
			arena);
}

/* Statistics say whether the recording is evidence. */
static void remark_unfit(
	struct report_query *query, const struct profile *profile, struct arena *arena)
{
	struct certificate c = certificate_of(profile);

	if (query->view == &view_stats && !certificate_is_fit(&c))
		add_remark(query,
			arena_printf(arena, "not fit as evidence: %s", certificate_text(&c, arena)),
			arena);
}

/* A function's name without the dot in front of it is a module's, and then matches nothing. */
static void remark_mistaken(
	struct report_query *query, const struct selection *selection, struct arena *arena)
{
	for (size_t i = 0; i < selection->step_count; i++) {
		const struct filter *f = selection->steps[i].filter;
		const char *name;

		if (f->kind == FILTER_WHEN &&
			when_mistaken_module(f->when, selection->profile, arena, &name))
			add_remark(query,
				arena_printf(arena,
					"--when: no module is called %s; the function of that name "
					"is .%s",
					name, name),
				arena);
	}
}

/* "12.3%", "less than 0.1%". */
static const char *percent_text(int64_t weight, int64_t base, struct arena *arena)
{
	double percent = base ? 100.0 * (double)weight / (double)base : 100;

	return percent < 0.05 ? "less than 0.1%" : arena_printf(arena, "%.1f%%", percent);
}

/* What happened in no tick is left out by filters of ticks, and not in silence. */
static void remark_outside(
	struct report_query *query, const struct selection *selection, struct arena *arena)
{
	uint32_t metric = query->metric.i;

	for (size_t i = 0; i < selection->step_count; i++) {
		const struct selection_step *step = &selection->steps[i];
		int64_t before = i > 0 ? selection->steps[i - 1].kept[metric]
				       : selection->profile->total[metric];

		if (step->outside == NULL || step->outside[metric] == 0)
			continue;
		add_remark(query,
			arena_printf(arena,
				"%s of %.*s was outside of every tick, and is left out by "
				"--%s",
				percent_text(step->outside[metric], before, arena),
				STR_ARG(profile_string(selection->profile,
					selection->profile->metrics[metric].name)),
				filter_names[step->filter->kind]),
			arena);
	}
}

/* *made: [count], in the arena. */
/* Of patterns that gave up, what they would have put together is not known. */
static struct error *same_refusal(const struct report_query *query)
{
	struct error *err = NULL;

	for (size_t i = 0; i < query->same_count && !err; i++)
		err = name_pattern_refusal(query->same[i].pattern);
	return err;
}

static struct error *make_reports(const struct selection *selection,
	const struct report_query *queries, size_t count, struct arena *arena,
	const struct report ***made)
{
	const struct report **reports = ARENA_ARRAY(arena, const struct report *, count);

	for (size_t i = 0; i < count; i++) {
		struct report_query query = queries[i];
		const struct entity_tree *tree = NULL;
		struct error *err;

		for (size_t k = 0; k < i && tree == NULL; k++)
			if (shares_tree(&queries[k], &queries[i]))
				tree = reports[k]->tree;
		if (tree == NULL)
			tree = report_tree(selection, &queries[i], arena);
		err = same_refusal(&query);
		if (!err)
			err = find_centre(&query, tree, arena);
		if (err)
			return err;
		remark_rowless(&query, tree, arena);
		remark_mistaken(&query, selection, arena);
		remark_outside(&query, selection, arena);
		remark_unfit(&query, selection->profile, arena);
		reports[i] = report_create(selection, tree, &query, arena);
	}
	*made = reports;
	return NULL;
}

static struct error *draw(const struct format *format, const struct text_style *style,
	struct sink *sink, const struct report *const *reports, size_t count)
{
	struct error *err;

	format->draw(sink, style, reports, count);
	err = sink_finish(sink);
	if (err && err->kind == ERROR_SYSTEM && err->code == EPIPE) {
		error_destroy(err);
		err = NULL;
	}
	return err;
}

static struct error *print_to(struct output *output, const struct report_options *options,
	const struct report *const *reports, size_t count, const char *hint)
{
	const struct format *format = &formats[options->format];
	struct text_style style = make_style(options, output, hint);
	bool terminal = output->fd == STDOUT_FILENO && isatty(STDOUT_FILENO);
	struct pager pager;
	struct sink sink;
	struct error *err;

	if (!terminal || options->no_pager || !pager_start(&pager)) {
		output_sink(output, PACKING_NONE, &sink);
		return draw(format, &style, &sink, reports, count);
	}
	sink_init(&sink, pager.fd, "the pager");
	err = draw(format, &style, &sink, reports, count);
	pager_finish(&pager);
	return err;
}

static struct error *print_reports(const struct report_options *options,
	const struct report *const *reports, size_t count, const char *hint)
{
	struct output output;
	struct error *err;

	/* A broken pipe is for draw() to see, not an end by signal that leaves files behind. */
	signal(SIGPIPE, SIG_IGN);
	err = output_open(&output, options->output);
	if (err)
		return err;
	err = print_to(&output, options, reports, count, hint);
	if (err == NULL)
		return output_commit(&output);
	output_abandon(&output);
	return err;
}

/* Whether a profile without stacks has what is asked for. */
static struct error *check_stacks(const struct report_options *options,
	const struct profile *profile, const struct report_query *query)
{
	const struct filter_options *f = &options->filters;
	struct error *err = NULL;

	if (query->view->needs_stacks && !(query->view->takes_costs && profile->arc_cost)) {
		char *what = xasprintf("--view %s", query->view->name);

		err = profile_needs_stacks(profile, what);
		free(what);
	}
	if (err == NULL && query->view->needs_times)
		err = profile_needs_times(profile);
	if (err == NULL && query->spread)
		err = profile_needs_stacks(profile, "--spread");
	if (err == NULL && query->confidence)
		err = confidence_check(profile);
	for (size_t i = 0; err == NULL && i < f->filters.count; i++)
		if (f->filters.data[i].kind == FILTER_WHEN)
			err = profile_needs_stacks(profile, "--when");
	return err;
}

static struct error *check_queries(const struct report_options *options,
	const struct profile *profile, const struct report_query *queries, size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; i < count && err == NULL; i++) {
		err = level_check(queries[i].level, profile);
		if (err == NULL)
			err = check_stacks(options, profile, &queries[i]);
	}
	return err;
}

struct error *report_print(const struct report_options *options, const struct report_query *queries,
	size_t count, const struct profile *profile, const char *hint)
{
	struct arena *arena = arena_create();
	struct filter_list list = {0};
	const struct report **reports;
	struct selection *selection;
	struct error *err = check_queries(options, profile, queries, count);

	if (err == NULL)
		err = filter_list_init(&list, &options->filters, profile, &queries->metric);
	if (err == NULL)
		err = selection_create(
			profile, list.filters.data, list.filters.count, arena, &selection);
	if (err == NULL)
		err = make_reports(selection, queries, count, arena, &reports);
	if (err == NULL)
		err = print_reports(options, reports, count, hint);
	if (err == NULL && formats[options->format].notes_apart)
		note_messages_reports(reports, count);
	for (size_t i = 0; err == NULL && options->fail_over && i < count; i++)
		err = fail_over_check(options->fail_over, reports[i]);
	arena_destroy(arena);
	filter_list_deinit(&list);
	return err;
}
