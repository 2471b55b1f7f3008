/*
 * Matches functions with the names in a WHEN pattern, once for each function, not for each frame.
 */
#include "analysis/when_pattern.h"

#define UNKNOWN STR("[unknown]")

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool same_in_any_case(struct str a, struct str b)
{
	if (a.size != b.size)
		return false;
	for (size_t i = 0; i < a.size; i++)
		if (lower(a.data[i]) != lower(b.data[i]))
			return false;
	return true;
}

/* An unknown name is matched by the one that reports show instead. */
static bool name_fits(const struct when_name *name, struct str s)
{
	if (name->text.data == NULL)
		return true;
	if (s.size == 0)
		s = UNKNOWN;
	return name->exact ? str_equal(name->text, s) : same_in_any_case(name->text, s);
}

static struct str module_of(
	const struct when *when, const struct profile *p, const struct function *f)
{
	switch (when->modules) {
	case WHEN_SOURCES:
		return str_base_name(profile_string(p, f->file));
	case WHEN_OBJECTS:
	case WHEN_MODULES_COUNT:
		break;
	}
	return profile_module(p, f->object);
}

/* Whether it is the name of that function, or one of its aliases. */
static bool name_fits_function(
	const struct when_name *name, const struct profile *p, const struct function *f)
{
	bool fits = name_fits(name, profile_string(p, f->name));

	for (struct str rest = profile_string(p, f->aliases); rest.size && !fits;)
		fits = name_fits(name, str_take_item(&rest));
	return fits;
}

uint64_t *when_fits(const struct when *when, const struct profile *profile)
{
	size_t words = when_word_count(when);
	uint64_t *fits = xcalloc(profile->function_count * words + 1, sizeof(*fits));

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *f = &profile->functions[i];
		struct str module = module_of(when, profile, f);

		for (size_t k = 0; k < when->positions.count; k++) {
			const struct when_names *names = &when->positions.data[k];

			if (name_fits(&names->module, module) &&
				name_fits_function(&names->procedure, profile, f))
				fits[i * words + k / 64] |= UINT64_C(1) << k % 64;
		}
	}
	return fits;
}

/* Whether every way through the group at *at has a name; *at: the step after its end. */
static bool group_needs_name(const struct when *when, size_t *at)
{
	bool all_do = true, this_does = true;

	for (++*at; when->steps.data[*at].kind != WHEN_GROUP_END;) {
		const struct when_step *step = &when->steps.data[*at];

		if (step->kind == WHEN_GROUP) {
			this_does |= group_needs_name(when, at);
			continue;
		}
		if (step->kind == WHEN_ALTERNATIVE) {
			all_do &= this_does;
			this_does = false;
		} else if (step->kind != WHEN_STAR) {
			const struct when_names *names = &when->positions.data[step->number];

			this_does |= names->module.text.data || names->procedure.text.data;
		}
		++*at;
	}
	++*at;
	return all_do && this_does;
}

bool when_needs_one_of(const struct when *when, const struct str **names, size_t *count)
{
	size_t at = 0, found = 0;
	struct str *list = ARENA_ARRAY(when->arena, struct str, 2 * when->positions.count);

	if (!group_needs_name(when, &at))
		return false;
	for (size_t i = 0; i < when->positions.count; i++) {
		const struct when_name *of[] = {
			&when->positions.data[i].module, &when->positions.data[i].procedure};

		for (size_t k = 0; k < ARRAY_SIZE(of); k++) {
			if (of[k]->text.data == NULL)
				continue;
			/* It also stands for names that are empty. */
			if (name_fits(of[k], STR("")))
				return false;
			list[found++] = of[k]->text;
		}
	}
	*names = list;
	*count = found;
	return found > 0;
}

/* Whether some function has that module, or that name. */
static bool some_function(const struct when *when, const struct profile *p,
	const struct when_name *name, bool by_module)
{
	for (size_t i = 0; i < p->function_count; i++) {
		const struct function *f = &p->functions[i];

		if (by_module ? name_fits(name, module_of(when, p, f))
			      : name_fits_function(name, p, f))
			return true;
	}
	return false;
}

/* Whether a person may call the module that: libc.so.6 is "libc", [kernel] is "kernel". */
static bool is_short_for(struct str typed, struct str module)
{
	if (module.size > 1 && module.data[0] == '[')
		module = (struct str){module.data + 1, module.size - 1};
	if (typed.size == 0 || typed.size >= module.size ||
		!same_in_any_case(typed, (struct str){module.data, typed.size}))
		return false;
	return module.data[typed.size] == '.' || module.data[typed.size] == '-' ||
	       module.data[typed.size] == ']';
}

/* The first module that it is short for; size 0: none. */
static struct str long_module(const struct when *when, const struct profile *p, struct str typed)
{
	for (size_t i = 0; i < p->function_count; i++) {
		struct str module = module_of(when, p, &p->functions[i]);

		if (is_short_for(typed, module))
			return module;
	}
	return (struct str){0};
}

/* As it is written in a pattern. */
static const char *written(struct str text, bool quoted, struct arena *arena)
{
	return arena_printf(arena, quoted ? "'%.*s'" : "%.*s", STR_ARG(text));
}

bool when_mistaken_module(const struct when *when, const struct profile *profile,
	struct arena *arena, struct when_mistake *mistake)
{
	for (size_t k = 0; k < when->positions.count; k++) {
		const struct when_names *names = &when->positions.data[k];
		const struct when_name *module = &names->module;

		if (module->text.data == NULL || some_function(when, profile, module, true))
			continue;
		const char *name = written(module->text, module->exact, arena);
		struct str meant = long_module(when, profile, module->text);

		*mistake = (struct when_mistake){.name = name};
		if (names->procedure.text.data == NULL &&
			some_function(when, profile, module, false))
			mistake->function = arena_printf(arena, ".%s", name);
		else if (meant.size)
			mistake->module = written(meant, true, arena);
		else
			continue;
		return true;
	}
	return false;
}
