/*
 * Finds functions by a typed name, by the strictest reading that finds any.
 */
#include "analysis/function_find.h"

#include <stdlib.h>

#include "analysis/entity_id.h"
#include "analysis/name_reading.h"
#include "base/alloc.h"
#include "base/nearest.h"
#include "base/vec.h"

/* A name, and the module or file before it, empty if none. */
struct wanted {
	struct str scope, name;
};

static enum reading function_reading(
	const struct profile *p, const struct function *f, const struct wanted *w)
{
	if (w->scope.size && !str_equal(profile_module(p, f->object), w->scope) &&
		!str_equal(str_base_name(profile_string(p, f->file)), w->scope))
		return READING_NONE;
	return name_reading_of_any(
		profile_string(p, f->name), profile_string(p, f->aliases), w->name);
}

struct finder {
	const struct profile *profile;
	uint32_t *match_of; /* [function]: NO_ID, or which match */
	VEC(struct function_match) matches;
	VEC(uint32_t) on_path; /* [match] */
};

static void find_read_as(struct finder *f, const struct wanted *w, enum reading reading)
{
	for (uint32_t i = 0; i < f->profile->function_count; i++) {
		if (function_reading(f->profile, &f->profile->functions[i], w) != reading)
			continue;
		f->match_of[i] = (uint32_t)f->matches.count;
		vec_push(&f->matches, (struct function_match){.function = {i}});
		vec_push(&f->on_path, 0);
	}
}

static void find_wanted(struct finder *f, const struct wanted *w)
{
	for (enum reading r = READING_WHOLE; r < READING_NONE && f->matches.count == 0; r++)
		find_read_as(f, w, r);
}

static void find_id(struct finder *f, uint64_t id)
{
	for (uint32_t i = 0; i < f->profile->function_count; i++) {
		struct entity e = entity_of_function(f->profile, (function_id){i});

		if (entity_id(&e) != id)
			continue;
		f->match_of[i] = (uint32_t)f->matches.count;
		vec_push(&f->matches, (struct function_match){.function = {i}});
		vec_push(&f->on_path, 0);
	}
}

static uint32_t match_of_stack(const struct finder *f, uint32_t stack)
{
	frame_id frame = f->profile->stack_frame[stack];

	return f->match_of[f->profile->frames[frame.i].function.i];
}

static void leave(void *context, uint32_t stack)
{
	struct finder *f = context;
	uint32_t match = match_of_stack(f, stack);

	if (match != NO_ID)
		f->on_path.data[match]--;
}

static void weigh(struct finder *f, const struct stack_weights *stacks)
{
	int64_t *below = stack_weights_below(f->profile, stacks, 0);
	struct stack_walk walk;
	uint32_t stack;

	stack_walk_init(&walk, f->profile, stacks);
	while ((stack = stack_walk_next(&walk, leave, f)) != NO_ID) {
		uint32_t match = match_of_stack(f, stack);

		if (match == NO_ID)
			continue;
		f->matches.data[match].exclusive += stacks->weight[0][stack];
		if (f->on_path.data[match]++ == 0)
			f->matches.data[match].inclusive += below[stack];
	}
	stack_walk_deinit(&walk);
	free(below);
}

static int compare_matches(const void *px, const void *py)
{
	const struct function_match *x = px, *y = py;

	if (x->exclusive != y->exclusive)
		return (x->exclusive < y->exclusive) - (x->exclusive > y->exclusive);
	if (x->inclusive != y->inclusive)
		return (x->inclusive < y->inclusive) - (x->inclusive > y->inclusive);
	return (x->function.i > y->function.i) - (x->function.i < y->function.i);
}

/* Typing errors are in a function's name, before its arguments. */
static struct str find_nearest(const struct profile *p, struct str name)
{
	struct nearest n;

	nearest_init(&n, name);
	for (size_t i = 0; i < p->function_count; i++) {
		struct str whole = profile_string(p, p->functions[i].name);

		nearest_offer(&n, (struct str){whole.data, name_arguments_at(whole)});
	}
	return n.best;
}

struct function_matches function_find(const struct profile *profile,
	const struct stack_weights *stacks, struct str name, struct arena *arena)
{
	struct finder f = {.profile = profile};
	struct wanted wanted = {.name = name};
	const char *quote = memchr(name.data, '`', name.size);
	struct function_matches result = {0};

	f.match_of = xcalloc(profile->function_count, sizeof(*f.match_of));
	for (size_t i = 0; i < profile->function_count; i++)
		f.match_of[i] = NO_ID;
	find_wanted(&f, &wanted);
	if (f.matches.count == 0 && quote) {
		size_t size = (size_t)(quote - name.data);

		wanted.scope = (struct str){name.data, size};
		wanted.name = (struct str){quote + 1, name.size - size - 1};
		find_wanted(&f, &wanted);
	}
	uint64_t id;
	if (f.matches.count == 0 && entity_id_parse(name, &id))
		find_id(&f, id);
	if (f.matches.count)
		weigh(&f, stacks);
	else
		result.nearest = find_nearest(profile, wanted.name);
	struct function_match *items = ARENA_ARRAY(arena, struct function_match, f.matches.count);

	for (size_t i = 0; i < f.matches.count; i++)
		items[i] = f.matches.data[i];
	qsort(items, f.matches.count, sizeof(*items), compare_matches);
	result.items = items;
	result.count = f.matches.count;
	free(f.match_of);
	vec_deinit(&f.matches);
	vec_deinit(&f.on_path);
	return result;
}
