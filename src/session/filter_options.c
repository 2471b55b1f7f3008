/*
 * Filters and --same on the command line.  They are compiled after all options are read, because
 * --module-by changes the meaning of WHEN patterns, but before any file is read.
 */
#include "session/filter_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "session/values.h"

enum {
	/* Ids of filters are FILTER_OPTION_FIRST + enum filter_kind. */
	OPTION_MODULE_BY = FILTER_OPTION_FIRST + FILTER_COUNT,
	OPTION_SAME,
};

#define ID(kind) (FILTER_OPTION_FIRST + (int)(kind))

/* Filters that only look at samples are also options of convert. */
#define ROW_PID                                                                                    \
	{                                                                                          \
		ID(FILTER_PID), 0, "pid", VALUE_TEXT, "LIST", {0},                                 \
			"only samples of these processes, by number or name"                       \
	}
#define ROW_THREAD                                                                                 \
	{                                                                                          \
		ID(FILTER_THREAD), 0, "thread", VALUE_TEXT, "LIST", {0},                           \
			"only samples of these threads: comma-separated numbers or names"          \
	}
#define ROW_TIME                                                                                   \
	{                                                                                          \
		ID(FILTER_TIME), 0, "time", VALUE_TEXT, "FROM:TO", {0},                            \
			"only this part of the run: 1.5s:2s, 30s:, :100ms"                         \
	}
#define ROW_LABEL                                                                                  \
	{                                                                                          \
		ID(FILTER_LABEL), 0, "label", VALUE_TEXT, "KEY[=REGEX]", {0},                      \
			"only samples with this label: cpu, cgroup, or another file's labels"      \
	}
#define ROW_CGROUP                                                                                 \
	{                                                                                          \
		ID(FILTER_CGROUP), 0, "cgroup", VALUE_TEXT, "LIST", {0},                           \
			"only processes of these control groups, units or containers"              \
	}
#define ROWS_OF_ZONES                                                                              \
	{ID(FILTER_ZONE), 0, "zone", VALUE_TEXT, "REGEX", {0},                                     \
		"only samples taken in a matching zone, or below it"},                             \
		{ID(FILTER_TICK), 0, "tick", VALUE_TEXT, "[STREAM=]FROM:TO", {0},                  \
			"only these ticks (frames), by number: 100:200, 7, -10:"},                 \
		{ID(FILTER_TICK_OVER), 0, "tick-over", VALUE_TEXT, "[STREAM=]TIME", {0},           \
			"only ticks that took at least TIME: 20ms"},                               \
	{                                                                                          \
		ID(FILTER_TICK_UNDER), 0, "tick-under", VALUE_TEXT, "[STREAM=]TIME", {0},          \
			"only ticks that took less than TIME"                                      \
	}

static const char *const yes_no[] = {"yes", "no", NULL};

const struct option_row filter_rows[] = {
	{ID(FILTER_WHEN), 0, "when", VALUE_TEXT, "PATTERN", {0},
		"only stacks that match the pattern (sonde help when)"},
	{OPTION_MODULE_BY, 0, "module-by", VALUE_CHOICE, "WHAT", CHOICES(when_modules_names),
		"what modules in patterns are: load objects or source files"},
	ROW_PID,
	ROW_CGROUP,
	{ID(FILTER_FOCUS), 0, "focus", VALUE_TEXT, "REGEX", {0},
		"only stacks that contain a matching function"},
	{ID(FILTER_IGNORE), 0, "ignore", VALUE_TEXT, "REGEX", {0},
		"only stacks without a "
		"matching function"},
	{ID(FILTER_HIDE), 0, "hide", VALUE_TEXT, "REGEX", {0},
		"remove matching functions; their time counts for their callers"},
	{ID(FILTER_KERNEL), 0, "kernel", VALUE_CHOICE, "WHAT", CHOICES(filter_kernel_names),
		"kernel frames: all, only system calls (default for blocked-time and "
		"wakeup-delay), or none"},
	{ID(FILTER_FOLD), 0, "fold", VALUE_TEXT, "LIST", {0},
		"remove functions in these namespaces: std,boost"},
	{ID(FILTER_INLINE), 0, "inline", VALUE_CHOICE, "WHETHER", CHOICES(yes_no),
		"no: treat inlined calls as code of their callers"},
	ROW_THREAD,
	ROW_TIME,
	ROW_LABEL,
	ROWS_OF_ZONES,
	{OPTION_SAME, 0, "same", VALUE_TEXT, "REGEX=NAME", {0},
		"treat functions that match as one, called NAME"},
	{0},
};

const struct option_row filter_sample_rows[] = {
	ROW_PID, ROW_CGROUP, ROW_THREAD, ROW_TIME, ROW_LABEL, ROWS_OF_ZONES, {0}};

struct error *filter_options_set(struct filter_options *o, int id, const char *value)
{
	if (id == OPTION_MODULE_BY)
		o->when_modules = (enum when_modules)CHOICE_OF(value, when_modules_names);
	else if (id == ID(FILTER_INLINE) && CHOICE_OF(value, yes_no) == 0)
		return NULL;
	else if (id == OPTION_SAME)
		vec_push(&o->same_texts, value);
	else
		vec_push(
			&o->requests, (struct filter_request){
					      (enum filter_kind)(id - FILTER_OPTION_FIRST), value});
	return NULL;
}

/* One end of FROM:TO; an empty one leaves *time_ns. */
static struct error *read_end(struct str text, uint64_t *time_ns)
{
	if (text.size == 0)
		return NULL;
	char *copy = xstrndup(text.data, text.size);
	struct error *err = value_time(copy, time_ns);

	free(copy);
	return err;
}

static struct error *compile_time(struct filter *f, const char *text)
{
	const char *colon = strchr(text, ':');
	uint64_t from_ns = 0, to_ns = UINT64_MAX;

	if (colon == NULL)
		return error_new(ERROR_USAGE, "invalid range '%s': expected FROM:TO", text);
	struct error *err = read_end((struct str){text, (size_t)(colon - text)}, &from_ns);

	if (err == NULL)
		err = read_end(str_from(colon + 1), &to_ns);
	if (err == NULL && from_ns >= to_ns)
		err = error_new(
			ERROR_USAGE, "invalid time range '%s': the end is before the start", text);
	if (err == NULL)
		filter_init_time(f, text, from_ns, to_ns);
	return err;
}

/* One end of a range of ticks; an empty one leaves *number. */
static struct error *read_number(struct str text, int64_t *number)
{
	bool is_negative = text.size > 0 && text.data[0] == '-';
	uint64_t count;

	if (text.size == 0)
		return NULL;
	char *copy = xstrndup(text.data + is_negative, text.size - is_negative);
	struct error *err = value_count(copy, 0, INT64_MAX - 1, &count);

	free(copy);
	if (err == NULL)
		*number = is_negative ? -(int64_t)count : (int64_t)count;
	return err;
}

/* FROM:TO, or the number of one tick. */
static struct error *read_ticks(const char *text, struct filter_ticks *ticks)
{
	const char *colon = strchr(text, ':');
	struct str from = colon ? (struct str){text, (size_t)(colon - text)} : str_from(text);

	ticks->from = INT64_MIN;
	ticks->to = INT64_MAX;
	if (*text == '\0')
		return error_new(ERROR_USAGE, "invalid range '%s': expected FROM:TO", text);
	struct error *err = read_number(from, &ticks->from);

	if (err == NULL && colon)
		err = read_number(str_from(colon + 1), &ticks->to);
	else if (err == NULL)
		ticks->to = ticks->from == -1 ? INT64_MAX : ticks->from + 1;
	if (err == NULL && (ticks->from < 0) == (ticks->to < 0) && ticks->from >= ticks->to)
		err = error_new(ERROR_USAGE,
			"invalid range of ticks '%s': the end is before the start", text);
	return err;
}

static struct error *compile_ticks(struct filter *f, const struct filter_request *request)
{
	const char *text = request->text;
	struct filter_ticks ticks = {.stream = value_stream(&text)};
	struct error *err = request->kind == FILTER_TICK ? read_ticks(text, &ticks)
							 : value_time(text, &ticks.duration_ns);

	if (err == NULL)
		filter_init_ticks(f, request->kind, request->text, &ticks);
	return err;
}

static struct error *compile_filter(
	const struct filter_options *o, const struct filter_request *request, struct filter *f)
{
	switch (request->kind) {
	case FILTER_WHEN:
		return value_when_error(filter_init_when(f, request->text, o->when_modules));
	case FILTER_TIME:
		return compile_time(f, request->text);
	case FILTER_TICK:
	case FILTER_TICK_OVER:
	case FILTER_TICK_UNDER:
		return compile_ticks(f, request);
	case FILTER_KERNEL:
		filter_init_kernel(
			f, (enum filter_kernel)CHOICE_OF(request->text, filter_kernel_names));
		return NULL;
	case FILTER_ZONE:
	case FILTER_FOCUS:
	case FILTER_IGNORE:
	case FILTER_HIDE:
	case FILTER_FOLD:
	case FILTER_INLINE:
	case FILTER_THREAD:
	case FILTER_PID:
	case FILTER_LABEL:
	case FILTER_CGROUP:
	case FILTER_COUNT:
		break;
	}
	return filter_init(f, request->kind, request->text);
}

/* The last = is the separator, as names contain none except in operators, which come before it. */
static struct error *compile_same(struct filter_options *o, const char *text)
{
	const char *equals = strrchr(text, '=');
	struct name_pattern *pattern;

	if (equals == NULL || equals == text || equals[1] == '\0')
		return error_new(ERROR_USAGE, "invalid value '%s': expected REGEX=NAME", text);
	char *regex = xstrndup(text, (size_t)(equals - text));
	struct error *err = name_pattern_create(regex, &pattern);

	free(regex);
	if (err)
		return err;
	vec_push(&o->same,
		(struct same_rule){.text = text, .pattern = pattern, .name = str_from(equals + 1)});
	return NULL;
}

/* Frees the result of filter_options_compile. */
static void forget_compiled(struct filter_options *o)
{
	for (size_t i = 0; i < o->filters.count; i++)
		filter_deinit(&o->filters.data[i]);
	for (size_t i = 0; i < o->same.count; i++)
		name_pattern_destroy(o->same.data[i].pattern);
	o->filters.count = o->same.count = 0;
	o->names_kernel = false;
}

struct error *filter_options_compile(struct filter_options *o)
{
	struct error *err = NULL;

	forget_compiled(o);
	for (size_t i = 0; i < o->requests.count && err == NULL; i++) {
		struct filter f;

		err = compile_filter(o, &o->requests.data[i], &f);
		if (err) {
			err = error_prefix(err, "--%s", filter_names[o->requests.data[i].kind]);
			break;
		}
		o->names_kernel |= f.kind == FILTER_KERNEL;
		if (f.kind != FILTER_KERNEL || f.kernel != KERNEL_ALL)
			vec_push(&o->filters, f);
	}
	for (size_t i = 0; i < o->same_texts.count && err == NULL; i++) {
		err = compile_same(o, o->same_texts.data[i]);
		if (err)
			err = error_prefix(err, "--same");
	}
	return err;
}

void filter_options_deinit(struct filter_options *o)
{
	forget_compiled(o);
	vec_deinit(&o->requests);
	vec_deinit(&o->same_texts);
	vec_deinit(&o->filters);
	vec_deinit(&o->same);
}

static struct error *add_recorded(struct filter_list *list, const struct profile *profile)
{
	struct str rest = profile_string(profile, profile->when);
	struct error *err = NULL;

	while (rest.size > 0 && err == NULL) {
		struct filter f;

		err = filter_init_when(&f, str_take_item(&rest).data, WHEN_OBJECTS);
		if (err == NULL)
			vec_push(&list->filters, f);
	}
	list->recorded = list->filters.count;
	if (err)
		err->kind = ERROR_INPUT;
	return err ? error_prefix(err, "%.*s: recorded with --when",
			     STR_ARG(profile_string(profile, profile->source)))
		   : NULL;
}

static bool knows_kernel(const struct profile *profile)
{
	for (size_t i = 0; i < profile->object_count; i++)
		if (profile->objects[i].kind == OBJECT_KERNEL)
			return true;
	return false;
}

static bool wants_syscalls(
	const struct filter_options *o, const struct profile *profile, metric_id metric)
{
	struct str name = profile_string(profile, profile->metrics[metric.i].name);

	return !o->names_kernel &&
	       (str_equal(name, STR("blocked-time")) || str_equal(name, STR("wakeup-delay"))) &&
	       knows_kernel(profile);
}

struct error *filter_list_init(struct filter_list *list, const struct filter_options *o,
	const struct profile *profile, const metric_id *metric)
{
	*list = (struct filter_list){0};
	struct error *err = add_recorded(list, profile);

	for (size_t i = 0; i < o->filters.count && err == NULL; i++)
		vec_push(&list->filters, o->filters.data[i]);
	if (err == NULL && metric && wants_syscalls(o, profile, *metric)) {
		struct filter f;

		/* Last, so that other filters see all frames. */
		filter_init_kernel(&f, KERNEL_SYSCALLS);
		vec_push(&list->filters, f);
	}
	if (err)
		filter_list_deinit(list);
	return err;
}

void filter_list_deinit(struct filter_list *list)
{
	for (size_t i = 0; i < list->recorded; i++)
		filter_deinit(&list->filters.data[i]);
	vec_deinit(&list->filters);
}
