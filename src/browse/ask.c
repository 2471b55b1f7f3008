/*
 * Questions of the views, and their answers.  Each view keeps its last answer, and asks again only
 * if the question has changed: filters, metric, selected function, or the number of rows.
 */
#include <inttypes.h>

#include "browse/state.h"
#include "view/views.h"

const char *const browser_view_names[BROWSER_VIEWS] = {
	[BROWSER_FLAME] = "flame",
	[BROWSER_TREE] = "tree",
	[BROWSER_FUNCTIONS] = "functions",
	[BROWSER_CALLERS] = "callers",
	[BROWSER_GRAPH] = "graph",
	[BROWSER_SOURCE] = "source",
	[BROWSER_THREADS] = "threads",
	[BROWSER_ZONES] = "zones",
	[BROWSER_STATS] = "stats",
};

static const struct view *const views_asked[BROWSER_VIEWS] = {
	[BROWSER_FLAME] = &view_tree,
	[BROWSER_TREE] = &view_tree,
	[BROWSER_FUNCTIONS] = &view_functions,
	[BROWSER_CALLERS] = &view_callers,
	[BROWSER_GRAPH] = &view_graph,
	[BROWSER_SOURCE] = &view_annotate,
	[BROWSER_THREADS] = &view_threads,
	[BROWSER_ZONES] = &view_zones,
	[BROWSER_STATS] = &view_stats,
};

/* Of the functions view, in the order in which the keys go through them. */
static const char *const sort_keys[] = {"exclusive", "inclusive", "name", "module"};
static const enum level levels[] = {LEVEL_FUNCTION, LEVEL_MODULE, LEVEL_FILE, LEVEL_LINE};

static enum browser_view answer_view(const struct browser *b)
{
	return b->view == BROWSER_FLAME ? BROWSER_TREE : b->view;
}

struct browser_asked *browser_asked(struct browser *b)
{
	return &b->asked[answer_view(b)];
}

void browser_asked_deinit(struct browser *b, struct browser_asked *asked)
{
	if (asked->source.kept)
		b->options.source_free(&asked->source);
	else
		answer_destroy(asked->answer);
	if (asked->key)
		question_deinit(&asked->question);
	free(asked->key);
	free(asked->problem);
	*asked = (struct browser_asked){0};
}

bool browser_has_view(const struct browser *b, enum browser_view view)
{
	const struct profile *p = b->profile;
	struct error *err = NULL;

	if (view == BROWSER_THREADS)
		err = level_check(LEVEL_THREAD, p);
	else if (view == BROWSER_ZONES)
		err = level_check(LEVEL_ZONE, p);
	else if (view == BROWSER_FLAME || view == BROWSER_TREE || view == BROWSER_SOURCE)
		return p->has_stacks;
	bool has = err == NULL;

	error_destroy(err);
	return has;
}

char *browser_center(const struct browser *b)
{
	if (b->name.size == 0)
		return NULL;
	if (b->module.size == 0)
		return xstrdup(b->name.data);
	return xasprintf("%s`%s", b->module.data, b->name.data);
}

struct question browser_filters_question(const struct browser *b)
{
	const struct question *given = b->options.question;
	struct browser_stack filters = browser_filters(b);
	struct question q = question_default();

	for (size_t i = 0; i < filters.count; i++)
		vec_push(&q.filters.requests,
			(struct filter_request){filters.items[i].kind, filters.items[i].text});
	for (size_t i = 0; i < given->filters.same_texts.count; i++)
		vec_push(&q.filters.same_texts, given->filters.same_texts.data[i]);
	q.filters.when_modules = given->filters.when_modules;
	q.metric = b->metric;
	q.clock = b->metric ? -1 : given->clock;
	return q;
}

/* *center: for the callers view and the source, which the caller frees. */
static struct question make_question(struct browser *b, char **center)
{
	enum browser_view view = answer_view(b);
	struct question q = browser_filters_question(b);

	q.views[q.view_count++] = views_asked[view];
	q.limit = view == BROWSER_SOURCE || view == BROWSER_CALLERS ? 0
								    : (int64_t)b->pages[view].limit;
	*center = NULL;
	switch (view) {
	case BROWSER_TREE:
		q.collapse = (int)b->collapse;
		q.invert = b->is_inverted;
		q.roots = b->roots;
		q.root_label = b->options.question->root_label;
		q.has_widths = true;
		break;
	case BROWSER_FUNCTIONS:
		q.level = (int)b->level;
		q.sort = b->sort ? sort_keys[b->sort] : NULL;
		break;
	case BROWSER_CALLERS:
	case BROWSER_SOURCE:
		*center = browser_center(b);
		q.center = view == BROWSER_CALLERS ? *center : NULL;
		break;
	case BROWSER_GRAPH:
		q.brief = true, q.budget = 0;
		break;
	case BROWSER_FLAME:
	case BROWSER_THREADS:
	case BROWSER_ZONES:
	case BROWSER_STATS:
	case BROWSER_VIEWS:
		break;
	}
	return q;
}

static char *question_words(const struct question *q, const char *center)
{
	struct strbuf words = {0};

	strbuf_printf(&words, "%d %d %d %d %d %s %s %" PRId64 " %s", q->level, q->collapse,
		q->invert, (int)q->roots, q->clock, q->metric ? q->metric : "",
		q->sort ? q->sort : "", q->limit, center ? center : "");
	for (size_t i = 0; i < q->filters.requests.count; i++)
		strbuf_printf(&words, "\n%d %s", (int)q->filters.requests.data[i].kind,
			q->filters.requests.data[i].text);
	return words.data;
}

static struct error *ask(struct browser *b, struct browser_asked *asked, const char *center)
{
	enum browser_view view = answer_view(b);

	if ((view == BROWSER_CALLERS || view == BROWSER_SOURCE) && center == NULL)
		return error_new(ERROR_INPUT, "select a function first, in another view");
	struct error *err = question_settle(&asked->question);

	if (err || view != BROWSER_SOURCE)
		return err ? err : session_ask(b->session, &asked->question, &asked->answer);
	err = b->options.source(b->session, &asked->question, center, &asked->source);
	asked->answer = asked->source.answer;
	return err;
}

bool browser_is_answered(struct browser *b)
{
	char *center;
	struct question q = make_question(b, &center);
	char *words = question_words(&q, center);
	struct browser_asked *asked = browser_asked(b);
	bool is_known = asked->key && strcmp(asked->key, words) == 0;

	question_deinit(&q);
	free(words);
	free(center);
	return is_known;
}

const struct report *browser_report(struct browser *b)
{
	struct browser_asked *asked = browser_asked(b);

	if (!browser_is_answered(b)) {
		char *center;
		struct question q = make_question(b, &center);

		browser_asked_deinit(b, asked);
		asked->question = q;
		asked->key = question_words(&q, center);
		if (q.center)
			asked->question.center = arena_str(b->arena, str_from(q.center)).data;
		asked->serial = ++b->serial;
		struct error *err = ask(b, asked, center);

		if (err)
			asked->problem = xstrdup(err->message);
		error_destroy(err);
		free(center);
	}
	return asked->answer ? asked->answer->reports[0] : NULL;
}

/* ---- what is asked ---- */

void browser_next_sort(struct browser *b, int by)
{
	size_t count = ARRAY_SIZE(sort_keys);

	b->sort = (b->sort + (by > 0 ? 1 : count - 1)) % count;
	browser_say(b, TUI_GOOD, "sorted by %s", sort_keys[b->sort]);
}

void browser_next_level(struct browser *b)
{
	size_t at = 0;

	while (levels[at] != b->level)
		at++;
	b->level = levels[(at + 1) % ARRAY_SIZE(levels)];
	browser_say(b, TUI_GOOD, "rows are %ss", level_names[b->level]);
}

void browser_next_roots(struct browser *b)
{
	static const char *const words[] = {[ROOTS_NONE] = "the first functions are the roots",
		[ROOTS_PROCESS] = "processes are the roots",
		[ROOTS_THREAD] = "processes and their threads are the roots"};
	const char *label = b->options.question->root_label;

	/* Only one answer with roots at a time. */
	browser_asked_deinit(b, &b->asked[BROWSER_TREE]);
	if (b->roots == ROOTS_NONE)
		b->roots = label ? ROOTS_LABEL : ROOTS_PROCESS;
	else
		b->roots = b->roots == ROOTS_PROCESS ? ROOTS_THREAD : ROOTS_NONE;
	if (b->roots == ROOTS_LABEL)
		browser_say(b, TUI_GOOD, "the roots are %s=...", label);
	else
		browser_say(b, TUI_GOOD, "%s", words[b->roots]);
}

void browser_next_metric(struct browser *b, int by)
{
	const struct profile *p = b->profile;
	size_t count = p->metric_count, at = p->default_metric.i;
	const struct report *report = browser_report(b);

	if (report)
		at = report->query.metric.i;
	at = (at + (by > 0 ? 1 : count - 1)) % count;
	b->metric = arena_str(b->arena, profile_string(p, p->metrics[at].name)).data;
	browser_say(b, TUI_GOOD, count > 1 ? "metric: %s" : "there is no metric but %s", b->metric);
}
