/*
 * Load objects of two profiles that differ in name only.  See match.h.
 *
 * A load object that only one side has may be one of the other side's under another name.  The
 * names of its functions decide: each name that both have is a vote for the pair.
 */
#include "model/match.h"

#include "base/map.h"
#include "base/vec.h"

enum { SIDES = 2 };
/* A name in more load objects than this on one side ("main") is not evidence. */
enum { HOMES_MAX = 16 };

/* A side's load objects of one base name. */
struct module {
	uint32_t word;	 /* the name */
	uint32_t object; /* the first of them */
	int side;
	bool is_common; /* the other side has the name too: not a candidate */
	uint32_t names; /* how many different function names are in it */
	uint32_t best;	/* the other side's module that shares the most names with it */
	uint32_t votes; /* how many these are */
	bool is_tied;	/* another one has as many */
	bool is_same;	/* as the best one */
};

/* A function's name, and the modules of each side that have it. */
struct homes {
	uint32_t modules[SIDES][HOMES_MAX];
	uint32_t count[SIDES];
};

struct pair {
	uint32_t modules[SIDES];
	uint32_t votes;
};

struct objects_matcher {
	const struct profile *profiles[SIDES];
	struct arena *scratch;
	struct str_table words; /* base names of load objects, and functions' names */
	struct map module_of;	/* (side, word) → module */
	struct map is_in;	/* (name, module): seen */
	struct map homes_of, pair_of;
	VEC(struct module) modules;
	VEC(struct homes) homes;
	VEC(struct pair) pairs;
};

static void add_modules(struct objects_matcher *m, int side)
{
	const struct profile *p = m->profiles[side];

	for (uint32_t i = 0; i < p->object_count; i++) {
		struct str name = profile_module(p, (object_id){i});
		bool added;

		if (name.size == 0 || p->objects[i].kind != OBJECT_USER)
			continue;
		uint32_t word = str_table_intern(&m->words, name);
		(void)map_at(
			&m->module_of, (uint64_t)side, word, (uint32_t)m->modules.count, &added);
		if (added)
			vec_push(&m->modules,
				(struct module){
					.word = word, .object = i, .side = side, .best = NO_ID});
	}
}

static void mark_common(struct objects_matcher *m)
{
	uint32_t other;

	for (size_t i = 0; i < m->modules.count; i++) {
		struct module *module = &m->modules.data[i];

		module->is_common =
			map_get(&m->module_of, (uint64_t)(1 - module->side), module->word, &other);
	}
}

/* A candidate, by its base name. */
static bool module_of(const struct objects_matcher *m, int side, object_id object, uint32_t *module)
{
	uint32_t word;

	return object.i != NO_ID &&
	       str_table_find(&m->words, profile_module(m->profiles[side], object), &word) &&
	       map_get(&m->module_of, (uint64_t)side, word, module) &&
	       !m->modules.data[*module].is_common;
}

/* "[x+0x1234]" has no name of its own, only a place. */
static bool is_named(struct str name)
{
	return name.size > 0 && name.data[0] != '[';
}

static void add_names(struct objects_matcher *m, int side)
{
	const struct profile *p = m->profiles[side];

	for (uint32_t i = 0; i < p->function_count; i++) {
		struct str name = profile_string(p, p->functions[i].name);
		uint32_t module;
		bool added;

		if (!is_named(name) || !module_of(m, side, p->functions[i].object, &module))
			continue;
		uint32_t word = str_table_intern(&m->words, name);
		(void)map_at(&m->is_in, word, module, 0, &added);
		if (!added)
			continue;
		m->modules.data[module].names++;
		uint32_t place = *map_at(&m->homes_of, word, 0, (uint32_t)m->homes.count, &added);
		if (added)
			vec_push(&m->homes, (struct homes){0});
		struct homes *homes = &m->homes.data[place];
		if (homes->count[side] < HOMES_MAX)
			homes->modules[side][homes->count[side]] = module;
		homes->count[side]++;
	}
}

static void vote(struct objects_matcher *m, uint32_t a, uint32_t b)
{
	bool added;
	uint32_t place = *map_at(&m->pair_of, a, b, (uint32_t)m->pairs.count, &added);

	if (added)
		vec_push(&m->pairs, (struct pair){.modules = {a, b}});
	m->pairs.data[place].votes++;
}

static void count_votes(struct objects_matcher *m)
{
	for (size_t i = 0; i < m->homes.count; i++) {
		const struct homes *h = &m->homes.data[i];

		if (h->count[0] > HOMES_MAX || h->count[1] > HOMES_MAX)
			continue;
		for (uint32_t a = 0; a < h->count[0]; a++)
			for (uint32_t b = 0; b < h->count[1]; b++)
				vote(m, h->modules[0][a], h->modules[1][b]);
	}
}

static void offer(struct module *module, uint32_t other, uint32_t votes)
{
	module->is_tied = votes == module->votes || (votes < module->votes && module->is_tied);
	if (votes <= module->votes)
		return;
	module->best = other;
	module->votes = votes;
}

/* Each other's only choice, with half the names of the one that has fewer. */
static bool is_same(const struct objects_matcher *m, const struct pair *pair)
{
	const struct module *a = &m->modules.data[pair->modules[0]];
	const struct module *b = &m->modules.data[pair->modules[1]];
	uint32_t names = a->names < b->names ? a->names : b->names;

	return a->best == pair->modules[1] && b->best == pair->modules[0] && !a->is_tied &&
	       !b->is_tied && 2 * pair->votes >= names;
}

static void choose(struct objects_matcher *m)
{
	for (size_t i = 0; i < m->pairs.count; i++)
		for (int side = 0; side < SIDES; side++)
			offer(&m->modules.data[m->pairs.data[i].modules[side]],
				m->pairs.data[i].modules[1 - side], m->pairs.data[i].votes);
	for (size_t i = 0; i < m->pairs.count; i++)
		if (is_same(m, &m->pairs.data[i]))
			m->modules.data[m->pairs.data[i].modules[0]].is_same = true;
}

static uint32_t *objects_as(const struct objects_matcher *m)
{
	const struct profile *p = m->profiles[0];
	uint32_t *as = ARENA_ARRAY(m->scratch, uint32_t, p->object_count);
	uint32_t module;

	for (uint32_t i = 0; i < p->object_count; i++) {
		as[i] = NO_ID;
		if (module_of(m, 0, (object_id){i}, &module) && m->modules.data[module].is_same)
			as[i] = m->modules.data[m->modules.data[module].best].object;
	}
	return as;
}

uint32_t *match_objects(
	const struct profile *old_profile, const struct profile *new_profile, struct arena *scratch)
{
	struct objects_matcher m = {.profiles = {old_profile, new_profile}, .scratch = scratch};

	str_table_init(&m.words, scratch);
	for (int side = 0; side < SIDES; side++)
		add_modules(&m, side);
	mark_common(&m);
	for (int side = 0; side < SIDES; side++)
		add_names(&m, side);
	count_votes(&m);
	choose(&m);
	uint32_t *as_new = objects_as(&m);

	vec_deinit(&m.modules);
	vec_deinit(&m.homes);
	vec_deinit(&m.pairs);
	map_deinit(&m.module_of);
	map_deinit(&m.is_in);
	map_deinit(&m.homes_of);
	map_deinit(&m.pair_of);
	str_table_deinit(&m.words);
	return as_new;
}
