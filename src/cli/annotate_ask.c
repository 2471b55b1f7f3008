/*
 * Asks a session for one function's code: finds the function that a name means, weighs its lines
 * and instructions under the question's filters, and joins these figures with the code.
 */
#include "cli/annotate_ask.h"

#include <stdlib.h>

#include "analysis/function_find.h"
#include "base/alloc.h"
#include "view/margins.h"

static struct error *no_function(struct str name, const struct function_matches *matches)
{
	if (matches->nearest.size)
		return error_new(ERROR_INPUT,
			"no function '%.*s' in this profile; did you mean '%.*s'?", STR_ARG(name),
			STR_ARG(matches->nearest));
	return error_new(ERROR_INPUT,
		"no function '%.*s' in this profile; sonde report --view functions lists them",
		STR_ARG(name));
}

#define OTHERS_NAMED 3

/* A name may belong to several functions; the heaviest one is shown, and the others are named. */
static void remark_others(const struct profile *p, const struct function_matches *matches,
	struct arena *arena, struct remarks *remarks)
{
	struct strbuf list = {0};

	for (size_t i = 1; i < matches->count && i <= OTHERS_NAMED; i++) {
		const struct function *f = &p->functions[matches->items[i].function.i];
		struct str module = profile_module(p, f->object);

		strbuf_printf(&list, "%s'%.*s%s%.*s'", i > 1 ? ", " : "", STR_ARG(module),
			module.size ? "`" : "", STR_ARG(profile_string(p, f->name)));
		if (profile_string(p, f->file).size)
			strbuf_printf(&list, " (%.*s:%u)",
				STR_ARG(str_base_name(profile_string(p, f->file))), f->line);
	}
	if (list.size)
		remark(remarks, arena,
			"%zu functions have this name, and this is the heaviest; also "
			"%s%s: module`name or file`name distinguishes them",
			matches->count, list.data, matches->count > OTHERS_NAMED + 1 ? ", …" : "");
	strbuf_deinit(&list);
}

/* The metrics, and with --confidence each stretch of time as one more. */
static struct error *weigh_selection(struct report_query *query, const struct selection *selection,
	const struct metric_list *metrics, struct arena *arena, struct stack_weights *stacks)
{
	const struct profile *profile = selection->profile;
	size_t count = metrics->ids.count;
	struct confidence c;

	if (!query->confidence) {
		*stacks = stack_weights_of(selection, metrics->ids.data, count, arena);
		return NULL;
	}
	struct error *err = confidence_check(profile, query->metric);
	if (err)
		return err;
	confidence_init(&c, selection, query->metric, margins_stretches_max(profile->stack_count));
	selection = confidence_selection(&c, 0, c.stretches, false, arena);
	margins_ask(query, profile->metric_count, c.stretches, arena);
	metric_id *all = ARENA_ARRAY(arena, metric_id, count + c.stretches);

	for (size_t i = 0; i < count + c.stretches; i++)
		all[i] = i < count ? metrics->ids.data[i] : query->others[i - 1];
	*stacks = stack_weights_of(selection, all, count + c.stretches, arena);
	confidence_deinit(&c);
	return NULL;
}

static struct error *weigh(struct question *question, const struct profile *profile,
	const struct metric_list *metrics, struct arena *arena, struct stack_weights *stacks)
{
	struct filter_list list;
	struct selection *selection;
	struct error *err = filter_list_init(&list, &question->filters, profile, NULL);

	if (err)
		return err;
	err = selection_create(profile, list.filters.data, list.filters.count, arena, &selection);
	if (err == NULL)
		err = weigh_selection(&question->queries[0], selection, metrics, arena, stacks);
	filter_list_deinit(&list);
	return err;
}

static bool is_zone(const struct profile *profile, function_id function)
{
	object_id object = profile->functions[function.i].object;

	return object.i != NO_ID && profile->objects[object.i].kind == OBJECT_ZONE;
}

/*
 * A zone is a part of some function and has no code of its own, so zones with that name are left
 * out.
 */
static struct error *leave_out_zones(
	const struct profile *profile, struct function_matches *matches, struct arena *arena)
{
	struct function_match *items = ARENA_ARRAY(arena, struct function_match, matches->count);
	size_t count = 0;

	for (size_t i = 0; i < matches->count; i++)
		if (!is_zone(profile, matches->items[i].function))
			items[count++] = matches->items[i];
	if (matches->count > 0 && count == 0) {
		const struct function *f = &profile->functions[matches->items[0].function.i];

		return error_new(ERROR_INPUT,
			"%s is a zone and has no code of its own; 'sonde report --view zones' "
			"shows it, and 'sonde report --zone %s' what ran in it",
			profile_string(profile, f->name).data,
			profile_string(profile, f->name).data);
	}
	matches->items = items;
	matches->count = count;
	return NULL;
}

/* Joins the function's figures with its code. */
static struct error *answer_function(struct question *question, const struct profile *profile,
	const struct annotate_wanted *wanted, struct str name, struct annotate_answer *a)
{
	struct report_query *query = &question->queries[0];
	struct function_matches matches = function_find(profile, &a->stacks, name, a->arena);
	struct error *err;

	if (matches.count == 0)
		return no_function(name, &matches);
	err = leave_out_zones(profile, &matches, a->arena);
	if (err)
		return err;
	query->listing = annotate_listing(
		profile, &a->stacks, matches.items[0].function, wanted, a->arena, &a->remarks);
	remark_others(profile, &matches, a->arena, &a->remarks);
	query->remarks = a->remarks.items.data;
	query->remark_count = a->remarks.items.count;
	return answer_create(question, profile, &a->answer);
}

struct error *annotate_ask(struct session *session, struct question *question,
	const struct annotate_wanted *wanted, const char *name, struct annotate_answer **answer)
{
	const struct profile *profile = session_profile(session);
	struct annotate_answer *a = xcalloc(1, sizeof(*a));

	a->arena = arena_create();
	struct error *err = question_metrics(question, profile, &a->metrics);

	if (err == NULL)
		err = weigh(question, profile, &a->metrics, a->arena, &a->stacks);
	if (err == NULL)
		err = answer_function(question, profile, wanted, str_from(name), a);
	if (err == NULL)
		*answer = a;
	else
		annotate_answer_destroy(a);
	return err;
}

void annotate_answer_destroy(struct annotate_answer *a)
{
	if (a == NULL)
		return;
	answer_destroy(a->answer);
	vec_deinit(&a->remarks.items);
	vec_deinit(&a->metrics.ids);
	arena_destroy(a->arena);
	free(a);
}
