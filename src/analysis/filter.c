/*
 * Parses filters.  Each function's name is matched once, however many frames it has.
 */
#include "analysis/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "model/profile.h"

/* For one name. */
#define STEPS_MAX 1000000

const char *const filter_names[FILTER_COUNT + 1] = {"when", "focus", "ignore", "hide", "fold",
	"inline", "kernel", "thread", "pid", "time", "zone", "tick", "tick-over", "tick-under",
	"label", "cgroup", NULL};

const char *const filter_kernel_names[] = {"all", "syscalls", "none", NULL};

struct error *name_pattern_create(const char *text, struct name_pattern **pattern)
{
	struct regex *regex;
	struct error *err = regex_create(str_from(text), REGEX_ANYWHERE, &regex);

	if (err) {
		struct error *refusal = error_new(ERROR_USAGE, "%s", err->message);

		error_destroy(err);
		return refusal;
	}
	*pattern = xalloc(sizeof(**pattern));
	**pattern = (struct name_pattern){.text = xstrndup(text, strlen(text)),
		.regex = regex,
		.with_module = strchr(text, '`') != NULL};
	return NULL;
}

bool name_pattern_matches_text(struct name_pattern *pattern, const char *text)
{
	uint64_t work = STEPS_MAX;

	if (pattern->gave_up)
		return false;
	enum regex_verdict verdict = regex_match(pattern->regex, str_from(text), &work);

	pattern->gave_up = verdict == REGEX_GAVE_UP;
	return verdict == REGEX_YES;
}

struct error *name_pattern_refusal(const struct name_pattern *pattern)
{
	if (!pattern->gave_up)
		return NULL;
	return error_new(ERROR_USAGE,
		"'%s' takes more than %d steps to match a name: repeat less within what is "
		"repeated",
		pattern->text, STEPS_MAX);
}

void name_pattern_destroy(struct name_pattern *pattern)
{
	if (pattern == NULL)
		return;
	regex_destroy(pattern->regex);
	free(pattern->text);
	free(pattern);
}

/* Whether it matches a function by that name. */
static bool matches_name(struct name_pattern *pattern, const struct profile *profile,
	const struct function *function, struct str name, struct strbuf *scratch)
{
	strbuf_clear(scratch);
	if (pattern->with_module) {
		strbuf_add(scratch, profile_module(profile, function->object));
		strbuf_add_char(scratch, '`');
	}
	strbuf_add(scratch, name);
	strbuf_add_char(scratch, '\0');
	return name_pattern_matches_text(pattern, scratch->data);
}

bool *name_pattern_matches(
	struct name_pattern *pattern, const struct profile *profile, struct arena *arena)
{
	bool *matches = ARENA_ARRAY(arena, bool, profile->function_count);
	struct strbuf scratch = {0};

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *f = &profile->functions[i];
		struct str rest = profile_string(profile, f->aliases);

		matches[i] = matches_name(
			pattern, profile, f, profile_string(profile, f->name), &scratch);
		while (rest.size && !matches[i])
			matches[i] =
				matches_name(pattern, profile, f, str_take_item(&rest), &scratch);
	}
	strbuf_deinit(&scratch);
	return matches;
}

/* The items of a list with commas; false if one is empty. */
static bool filter_split(struct filter *f)
{
	for (const char *at = f->text;; at++) {
		size_t size = strcspn(at, ",");

		if (size == 0)
			return false;
		vec_push(&f->ids, (struct str){at, size});
		at += size;
		if (*at == '\0')
			return true;
	}
}

/* KEY or KEY=REGEX. */
static struct error *init_label(struct filter *f)
{
	size_t size = strcspn(f->text, "=");

	if (size == 0)
		return error_new(
			ERROR_USAGE, "invalid label '%s': expected KEY or KEY=REGEX", f->text);
	if (f->text[size]) {
		struct error *err = name_pattern_create(f->text + size + 1, &f->names);

		if (err)
			return err;
	}
	vec_push(&f->ids, (struct str){f->text, size});
	return NULL;
}

struct error *filter_init(struct filter *f, enum filter_kind kind, const char *text)
{
	*f = (struct filter){.kind = kind, .text = text};
	switch (kind) {
	case FILTER_FOCUS:
	case FILTER_IGNORE:
	case FILTER_HIDE:
	case FILTER_ZONE:
		return name_pattern_create(text, &f->names);
	case FILTER_THREAD:
	case FILTER_PID:
		if (filter_split(f))
			return NULL;
		vec_deinit(&f->ids);
		return error_new(ERROR_USAGE,
			"invalid list '%s': expected numbers or names, with commas", text);
	case FILTER_FOLD:
		if (filter_split(f))
			return NULL;
		vec_deinit(&f->ids);
		return error_new(ERROR_USAGE, "'%s' is not a list of namespaces", text);
	case FILTER_INLINE:
		return NULL;
	case FILTER_CGROUP:
		if (filter_split(f))
			return NULL;
		vec_deinit(&f->ids);
		return error_new(ERROR_USAGE, "'%s' is not a list of control groups", text);
	case FILTER_LABEL:
		return init_label(f);
	case FILTER_WHEN:
	case FILTER_KERNEL:
	case FILTER_TIME:
	case FILTER_TICK:
	case FILTER_TICK_OVER:
	case FILTER_TICK_UNDER:
	case FILTER_COUNT:
		break;
	}
	abort();
}

void filter_init_kernel(struct filter *f, enum filter_kernel kernel)
{
	*f = (struct filter){
		.kind = FILTER_KERNEL, .kernel = kernel, .text = filter_kernel_names[kernel]};
}

struct error *filter_init_when(struct filter *f, const char *text, enum when_modules by)
{
	*f = (struct filter){.kind = FILTER_WHEN, .text = text};
	return when_compile(str_from(text), by, &f->when);
}

void filter_init_time(struct filter *f, const char *text, uint64_t from_ns, uint64_t to_ns)
{
	*f = (struct filter){.kind = FILTER_TIME, .text = text, .from_ns = from_ns, .to_ns = to_ns};
}

void filter_init_ticks(
	struct filter *f, enum filter_kind kind, const char *text, const struct filter_ticks *ticks)
{
	*f = (struct filter){.kind = kind, .text = text, .ticks = *ticks};
}

void filter_deinit(struct filter *f)
{
	name_pattern_destroy(f->names);
	when_destroy(f->when);
	vec_deinit(&f->ids);
}
