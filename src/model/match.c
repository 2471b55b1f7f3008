/*
 * The same function in two profiles.  See match.h.
 *
 * Functions of either side become keys, from what is known of each; a key that both sides have
 * needs no match.  The others are processed name by name, in rounds from strict to lax; in each a
 * key is matched if it and its partner have no other choice.
 */
#include "model/match.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

enum { SIDES = 2 };
/* If a side has this many with the same name, they are not matched. */
enum { NAMESAKES_MAX = 16 };

/* Strings are indices into a table that both sides share; 0 is the empty string. */
struct key {
	uint32_t name, module, file, file_base, line;
	uint32_t function; /* the first that has this key */
	struct str called; /* its name instead of the function's own; empty: none */
	bool on_side[SIDES];
	uint32_t partner; /* a key of the other side; NO_ID: none */
};

struct matcher {
	const struct profile *profiles[SIDES];
	const uint32_t *objects_as; /* [old object]: its name in new, or NO_ID */
	struct arena *scratch;
	struct str_table words;
	struct map key_of;
	VEC(struct key) keys;
	uint32_t *keys_of[SIDES];  /* [function] */
	struct map builds[SIDES];  /* (base name, build ID) of load objects */
	struct map modules[SIDES]; /* base names of those whose build ID is known */
	struct map nameless;	   /* (name, base name of the load object) of new */
	size_t twins;		   /* functions without the addresses in their names */
};

static struct str base_name(struct str path)
{
	const char *slash = path.size ? memrchr(path.data, '/', path.size) : NULL;
	size_t skip = slash ? (size_t)(slash - path.data) + 1 : 0;

	return (struct str){path.data + skip, path.size - skip};
}

/* The base name of a function's load object in the new profile. */
static struct str module_name(const struct matcher *m, const struct profile *p, object_id object)
{
	if (p == m->profiles[0] && object.i != NO_ID && m->objects_as[object.i] != NO_ID)
		return profile_module(m->profiles[1], (object_id){m->objects_as[object.i]});
	return profile_module(p, object);
}

/* ---- names with addresses ---- */

enum same_build { BUILD_UNKNOWN, BUILD_SAME, BUILD_OTHER };

static void add_builds(struct matcher *m, int side)
{
	const struct profile *p = m->profiles[side];

	for (uint32_t i = 0; i < p->object_count; i++) {
		struct str build = profile_string(p, p->objects[i].build_id);
		uint32_t module = str_table_intern(&m->words, module_name(m, p, (object_id){i}));

		if (build.size == 0)
			continue;
		map_put(&m->builds[side],
			(uint64_t)module << 32 | str_table_intern(&m->words, build), 0, 0);
		map_put(&m->modules[side], module, 0, 0);
	}
}

/* Whether the other side has the same build of a function's load object. */
static enum same_build build_of(struct matcher *m, int side, const struct function *f)
{
	const struct profile *p = m->profiles[side];
	uint32_t none;

	if (f->object.i == NO_ID)
		return BUILD_UNKNOWN;
	uint32_t module = str_table_intern(&m->words, module_name(m, p, f->object));
	struct str build = profile_string(p, p->objects[f->object.i].build_id);
	if (build.size == 0 || !map_get(&m->modules[1 - side], module, 0, &none))
		return BUILD_UNKNOWN;
	uint64_t both = (uint64_t)module << 32 | str_table_intern(&m->words, build);
	return map_get(&m->builds[1 - side], both, 0, &none) ? BUILD_SAME : BUILD_OTHER;
}

static bool is_address(struct str text)
{
	if (text.size < 3 || !str_starts_with(text, STR("0x")))
		return false;
	for (size_t i = 2; i < text.size; i++)
		if (!char_is_digit(text.data[i]) && (text.data[i] < 'a' || text.data[i] > 'f'))
			return false;
	return true;
}

/* The name without the address that tells it from others; empty: there is none in it. */
static struct str plain_name(const struct profile *p, const struct function *f)
{
	struct str name = profile_string(p, f->name), aliases = profile_string(p, f->aliases);
	const char *at = name.size ? memrchr(name.data, '@', name.size) : NULL;

	if (at == NULL || f->file.i)
		return STR("");
	struct str plain = {name.data, (size_t)(at - name.data)};
	if (!is_address((struct str){at + 1, name.size - plain.size - 1}))
		return STR("");
	/* A symbol may be called so. */
	while (aliases.size)
		if (str_equal(str_take_item(&aliases), plain))
			return plain;
	return STR("");
}

/* Whether it is called "[MODULE+0xSTART]". */
static bool is_nameless(const struct profile *p, const struct function *f)
{
	struct str name = profile_string(p, f->name), module = profile_module(p, f->object);
	size_t before = 1 + module.size + 1;

	return name.size > before + 1 && name.data[0] == '[' && name.data[name.size - 1] == ']' &&
	       str_starts_with((struct str){name.data + 1, name.size - 1}, module) &&
	       name.data[before - 1] == '+' &&
	       is_address((struct str){name.data + before, name.size - before - 1});
}

static void add_nameless(struct matcher *m)
{
	const struct profile *p = m->profiles[1];

	for (uint32_t i = 0; i < p->function_count; i++)
		if (is_nameless(p, &p->functions[i]))
			map_put(&m->nameless,
				str_table_intern(
					&m->words, profile_string(p, p->functions[i].name)),
				str_table_intern(
					&m->words, module_name(m, p, p->functions[i].object)),
				0);
}

/* Whether the new side has another build of that code, with a function at the same address. */
static bool is_other_nameless(struct matcher *m, const struct function *f)
{
	const struct profile *p = m->profiles[0];
	uint32_t none;

	return is_nameless(p, f) && build_of(m, 0, f) == BUILD_OTHER &&
	       map_get(&m->nameless, str_table_intern(&m->words, profile_string(p, f->name)),
		       str_table_intern(&m->words, module_name(m, p, f->object)), &none);
}

/* What a function is called in the difference; empty: as it is. */
static struct str name_between_builds(struct matcher *m, int side, const struct function *f)
{
	const struct profile *p = m->profiles[side];
	struct str plain = plain_name(p, f);

	if (plain.size && build_of(m, side, f) != BUILD_SAME)
		return plain;
	if (side == 0 && is_other_nameless(m, f)) {
		struct str name = profile_string(p, f->name);

		return str_from(arena_printf(m->scratch, "%.*s (old)", STR_ARG(name)));
	}
	return STR("");
}

/* ---- keys ---- */

static struct key key_of_function(struct matcher *m, int side, uint32_t row)
{
	const struct profile *p = m->profiles[side];
	const struct function *f = &p->functions[row];
	struct str file = profile_string(p, f->file), called = name_between_builds(m, side, f);
	struct str name = called.size ? called : profile_string(p, f->name);

	return (struct key){.name = str_table_intern(&m->words, name),
		.module = str_table_intern(&m->words, module_name(m, p, f->object)),
		.file = str_table_intern(&m->words, file),
		.file_base = str_table_intern(&m->words, base_name(file)),
		.line = f->line,
		.function = row,
		.called = called,
		.partner = NO_ID};
}

static void add_side(struct matcher *m, int side)
{
	const struct profile *p = m->profiles[side];

	m->keys_of[side] = ARENA_ARRAY(m->scratch, uint32_t, p->function_count);
	for (uint32_t i = 0; i < p->function_count; i++) {
		struct key key = key_of_function(m, side, i);
		bool added;
		uint32_t place = *map_at(&m->key_of, (uint64_t)key.name << 32 | key.module,
			(uint64_t)key.file << 32 | key.line, (uint32_t)m->keys.count, &added);

		if (added)
			vec_push(&m->keys, key);
		m->keys.data[place].on_side[side] = true;
		m->keys_of[side][i] = place;
		m->twins += plain_name(p, &p->functions[i]).size && key.called.size;
	}
}

/* ---- namesakes ---- */

static bool agree(uint32_t a, uint32_t b)
{
	return a == b || a == 0 || b == 0;
}

static bool is_likely(const struct key *a, const struct key *b, int round)
{
	switch (round) {
	case 0:
		return a->module == b->module && a->file == b->file;
	case 1:
		return a->module == b->module && a->file_base == b->file_base;
	default:
		return agree(a->module, b->module) && agree(a->file_base, b->file_base);
	}
}

/* The only key of `among` that may be the same as this one; NO_ID: none, or several. */
static uint32_t only_choice(
	const struct matcher *m, uint32_t of, const uint32_t *among, size_t count, int round)
{
	uint32_t choice = NO_ID;

	for (size_t i = 0; i < count; i++) {
		const struct key *key = &m->keys.data[among[i]];

		if (key->partner != NO_ID || !is_likely(&m->keys.data[of], key, round))
			continue;
		if (choice != NO_ID)
			return NO_ID;
		choice = among[i];
	}
	return choice;
}

/* Keys of one name, each on one side only. */
struct namesakes {
	uint32_t keys[SIDES][NAMESAKES_MAX];
	size_t count[SIDES];
};

static void match_namesakes(struct matcher *m, const struct namesakes *n)
{
	enum { ROUNDS = 3 };

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n->count[0]; i++) {
			uint32_t old_key = n->keys[0][i];
			uint32_t new_key =
				m->keys.data[old_key].partner != NO_ID
					? NO_ID
					: only_choice(m, old_key, n->keys[1], n->count[1], round);

			if (new_key == NO_ID ||
				only_choice(m, new_key, n->keys[0], n->count[0], round) != old_key)
				continue;
			m->keys.data[old_key].partner = new_key;
			m->keys.data[new_key].partner = old_key;
		}
}

/* Takes the keys of one name, from begin on in order of names; returns where the next begin. */
static size_t take_name(struct matcher *m, const uint32_t *order, size_t count, size_t begin)
{
	struct namesakes n = {0};
	uint32_t name = m->keys.data[order[begin]].name;
	bool is_room = name != 0;
	size_t i = begin;

	for (; i < count && m->keys.data[order[i]].name == name; i++) {
		const struct key *key = &m->keys.data[order[i]];
		int side = key->on_side[1];

		if (key->on_side[0] && key->on_side[1])
			continue;
		is_room &= n.count[side] < NAMESAKES_MAX;
		if (is_room)
			n.keys[side][n.count[side]++] = order[i];
	}
	if (is_room && n.count[0] && n.count[1])
		match_namesakes(m, &n);
	return i;
}

/* Keys by name: a counting sort, as names are dense numbers. */
static uint32_t *order_by_name(struct matcher *m)
{
	size_t count = m->keys.count;
	uint32_t *order = ARENA_ARRAY(m->scratch, uint32_t, count);
	uint32_t *begin = ARENA_ARRAY(m->scratch, uint32_t, m->words.count + 1);

	for (size_t i = 0; i < count; i++)
		begin[m->keys.data[i].name + 1]++;
	for (size_t w = 0; w < m->words.count; w++)
		begin[w + 1] += begin[w];
	for (uint32_t i = 0; i < count; i++)
		order[begin[m->keys.data[i].name]++] = i;
	return order;
}

/* ---- the result ---- */

static int known_facts(const struct key *key)
{
	return (key->module != 0) + (key->file != 0) + (key->line != 0);
}

static struct import_function *functions_as(struct matcher *m, int side)
{
	const struct profile *p = m->profiles[side];
	struct import_function *as =
		ARENA_ARRAY(m->scratch, struct import_function, p->function_count);

	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct key *key = &m->keys.data[m->keys_of[side][i]];

		as[i] = (struct import_function){.profile = p, .row = i, .name = key->called};
		if (key->partner == NO_ID)
			continue;
		const struct key *other = &m->keys.data[key->partner];
		int more = known_facts(other) - known_facts(key);

		if (more > 0 || (more == 0 && side == 0))
			as[i] = (struct import_function){
				m->profiles[1 - side], other->function, other->called};
	}
	return as;
}

size_t match_functions(const struct profile *old_profile, const struct profile *new_profile,
	const uint32_t *objects_as, struct arena *scratch, struct import_function **as_old,
	struct import_function **as_new)
{
	struct matcher m = {.profiles = {old_profile, new_profile},
		.objects_as = objects_as,
		.scratch = scratch};

	str_table_init(&m.words, scratch);
	(void)str_table_intern(&m.words, STR(""));
	for (int side = 0; side < SIDES; side++)
		add_builds(&m, side);
	add_nameless(&m);
	for (int side = 0; side < SIDES; side++)
		add_side(&m, side);
	const uint32_t *order = order_by_name(&m);

	for (size_t i = 0; i < m.keys.count;)
		i = take_name(&m, order, m.keys.count, i);
	*as_old = functions_as(&m, 0);
	*as_new = functions_as(&m, 1);
	vec_deinit(&m.keys);
	map_deinit(&m.key_of);
	map_deinit(&m.nameless);
	for (int side = 0; side < SIDES; side++) {
		map_deinit(&m.builds[side]);
		map_deinit(&m.modules[side]);
	}
	str_table_deinit(&m.words);
	return m.twins;
}
