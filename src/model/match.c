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
	uint32_t *keys_of[SIDES]; /* [function] */
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

static struct key key_of_function(struct matcher *m, const struct profile *p, uint32_t row)
{
	const struct function *f = &p->functions[row];
	struct str file = profile_string(p, f->file);

	return (struct key){.name = str_table_intern(&m->words, profile_string(p, f->name)),
		.module = str_table_intern(&m->words, module_name(m, p, f->object)),
		.file = str_table_intern(&m->words, file),
		.file_base = str_table_intern(&m->words, base_name(file)),
		.line = f->line,
		.function = row,
		.partner = NO_ID};
}

static void add_side(struct matcher *m, int side)
{
	const struct profile *p = m->profiles[side];

	m->keys_of[side] = ARENA_ARRAY(m->scratch, uint32_t, p->function_count);
	for (uint32_t i = 0; i < p->function_count; i++) {
		struct key key = key_of_function(m, p, i);
		bool added;
		uint32_t place = *map_at(&m->key_of, (uint64_t)key.name << 32 | key.module,
			(uint64_t)key.file << 32 | key.line, (uint32_t)m->keys.count, &added);

		if (added)
			vec_push(&m->keys, key);
		m->keys.data[place].on_side[side] = true;
		m->keys_of[side][i] = place;
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

		as[i] = (struct import_function){p, i};
		if (key->partner == NO_ID)
			continue;
		const struct key *other = &m->keys.data[key->partner];
		int more = known_facts(other) - known_facts(key);

		if (more > 0 || (more == 0 && side == 0))
			as[i] = (struct import_function){m->profiles[1 - side], other->function};
	}
	return as;
}

void match_functions(const struct profile *old_profile, const struct profile *new_profile,
	const uint32_t *objects_as, struct arena *scratch, struct import_function **as_old,
	struct import_function **as_new)
{
	struct matcher m = {.profiles = {old_profile, new_profile},
		.objects_as = objects_as,
		.scratch = scratch};

	str_table_init(&m.words, scratch);
	(void)str_table_intern(&m.words, STR(""));
	add_side(&m, 0);
	add_side(&m, 1);
	const uint32_t *order = order_by_name(&m);

	for (size_t i = 0; i < m.keys.count;)
		i = take_name(&m, order, m.keys.count, i);
	*as_old = functions_as(&m, 0);
	*as_new = functions_as(&m, 1);
	vec_deinit(&m.keys);
	map_deinit(&m.key_of);
	str_table_deinit(&m.words);
}
