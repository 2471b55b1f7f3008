/*
 * Functions to entities.  A function is known by what a reader of a report can see of it: name,
 * load object, file and line.  The profile's strings are interned, so their ids stand for their
 * contents; load objects are interned here by base name.
 */
#include "analysis/entity_map.h"

#define UNKNOWN STR("[unknown]")

static struct str str_or_null(struct str s)
{
	return s.size ? s : (struct str){0};
}

static struct str str_or_unknown(struct str s)
{
	return s.size ? s : UNKNOWN;
}

static struct entity entity_of_module(const struct profile *p, const struct function *f)
{
	struct str module = profile_module(p, f->object);

	return (struct entity){
		.name = str_or_unknown(module), .module = str_or_null(module), .occurrence = 1};
}

static struct entity entity_of_function(const struct profile *p, const struct function *f)
{
	return (struct entity){
		.name = str_or_unknown(profile_string(p, f->name)),
		.module = str_or_null(profile_module(p, f->object)),
		.file = str_or_null(profile_string(p, f->file)),
		.line = f->line,
		.occurrence = 1,
	};
}

/* Load objects by base name, so that two copies of a library are one module. */
static void entity_map_modules(struct entity_map *m, struct arena *scratch)
{
	const struct profile *p = m->profile;

	str_table_init(&m->modules, scratch);
	m->unknown_module = str_table_intern(&m->modules, (struct str){0});
	m->module_of_object = ARENA_ARRAY(scratch, uint32_t, p->object_count);
	for (uint32_t i = 0; i < p->object_count; i++)
		m->module_of_object[i] =
			str_table_intern(&m->modules, profile_module(p, (object_id){i}));
}

/* A function without name is the same as one that its source calls "[unknown]". */
static uint32_t unknown_name(const struct profile *p)
{
	for (uint32_t i = 0; i < p->string_count; i++)
		if (str_equal(p->strings[i], UNKNOWN))
			return i;
	return 0;
}

static uint32_t entity_map_add(struct entity_map *m, const struct function *f)
{
	bool at_module = m->level == LEVEL_MODULE;
	uint32_t module =
		f->object.i == NO_ID ? m->unknown_module : m->module_of_object[f->object.i];
	bool is_named = profile_string(m->profile, f->name).size > 0;
	uint32_t name = is_named ? f->name.i : m->unknown_name;
	uint64_t a = at_module ? module : (uint64_t)name << 32 | module;
	uint64_t b = at_module ? 0 : (uint64_t)f->file.i << 32 | f->line;
	bool added;
	uint32_t index = *map_at(&m->by_identity, a, b, (uint32_t)m->entities.count, &added);

	if (added)
		vec_push(&m->entities, at_module ? entity_of_module(m->profile, f)
						 : entity_of_function(m->profile, f));
	return index;
}

void entity_map_init(
	struct entity_map *m, const struct profile *p, enum level level, struct arena *scratch)
{
	*m = (struct entity_map){.profile = p, .level = level, .unknown_name = unknown_name(p)};
	entity_map_modules(m, scratch);
	m->of_function = ARENA_ARRAY(scratch, uint32_t, p->function_count);
	for (size_t i = 0; i < p->function_count; i++)
		m->of_function[i] = entity_map_add(m, &p->functions[i]);
}

void entity_map_deinit(struct entity_map *m)
{
	str_table_deinit(&m->modules);
	map_deinit(&m->by_identity);
	vec_deinit(&m->entities);
}
