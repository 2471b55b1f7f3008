/*
 * A centre by its name.  Each name of the run is looked up among the entities in stacks; an entity
 * is found by the name that reports show.
 */
#include "analysis/centre.h"

#include <stdlib.h>

#include "analysis/entity_id.h"
#include "analysis/name_reading.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/nearest.h"

struct search {
	const struct entity_tree *tree;
	enum level level;
	bool *is_there;	     /* [entity]: some stack has it */
	uint64_t *places;    /* of the centre */
	struct strbuf name;  /* of the centre, as far as known */
	struct strbuf label; /* of the current entity */
};

static void search_init(
	struct search *s, const struct entity_tree *tree, enum level level, struct arena *arena)
{
	*s = (struct search){.tree = tree, .level = level};
	s->is_there = xcalloc(tree->entity_count, sizeof(*s->is_there));
	s->places = ARENA_ARRAY(arena, uint64_t, tree->entity_count);
	for (uint32_t i = 1; i < tree->node_count; i++)
		s->is_there[tree->entity[i]] = true;
	for (size_t i = 0; i < tree->arc_count && !tree->has_stacks; i++) {
		s->is_there[tree->arcs[i].callee] = true;
		if (tree->arcs[i].caller != NO_ID)
			s->is_there[tree->arcs[i].caller] = true;
	}
}

static void search_deinit(struct search *s)
{
	free(s->is_there);
	strbuf_deinit(&s->name);
	strbuf_deinit(&s->label);
}

/* Of a module, or of a source file. */
static bool is_in(const struct entity *e, struct str scope)
{
	return scope.size == 0 || str_equal(e->module, scope) ||
	       str_equal(str_base_name(e->file), scope);
}

static struct error *ambiguous(struct str wanted, struct str one, struct str other)
{
	return error_new(ERROR_INPUT, "'%.*s' may be '%.*s' or '%.*s'; write the name out",
		STR_ARG(wanted), STR_ARG(one), STR_ARG(other));
}

/*
 * Marks the entities that `name` means in that reading; found: their complete name, which all must
 * share.
 */
static struct error *mark_read(struct search *s, struct str name, struct str scope,
	enum reading reading, uint32_t place, struct strbuf *found)
{
	for (uint32_t i = 0; i < s->tree->entity_count; i++) {
		const struct entity *e = &s->tree->entities[i];
		if (!s->is_there[i] || !is_in(e, scope))
			continue;
		struct str label = entity_label(e, &s->label);
		if (name_reading_of_any(label, e->aliases, name) != reading)
			continue;
		if (found->size && !str_equal(strbuf_str(found), label))
			return ambiguous(name, strbuf_str(found), label);
		strbuf_clear(found);
		strbuf_add(found, label);
		s->places[i] |= 1ull << place;
	}
	return NULL;
}

static struct error *mark(
	struct search *s, struct str name, struct str scope, uint32_t place, struct strbuf *found)
{
	struct error *err = NULL;

	for (enum reading r = READING_WHOLE; r < READING_NONE; r++) {
		if (err == NULL && found->size == 0)
			err = mark_read(s, name, scope, r, place, found);
	}
	return err;
}

/* Marks the entities with that id. */
static struct error *mark_id(struct search *s, uint64_t id, uint32_t place, struct strbuf *found)
{
	for (uint32_t i = 0; i < s->tree->entity_count; i++) {
		const struct entity *e = &s->tree->entities[i];

		if (!s->is_there[i] || entity_id(e) != id)
			continue;
		struct str label = entity_label(e, &s->label);
		if (found->size && !str_equal(strbuf_str(found), label))
			return error_new(ERROR_INPUT,
				"this id has both '%.*s' and '%.*s'; write the name out",
				STR_ARG(strbuf_str(found)), STR_ARG(label));
		strbuf_clear(found);
		strbuf_add(found, label);
		s->places[i] |= 1ull << place;
	}
	return NULL;
}

/*
 * The same for a name as typed, optionally after a module, or an id; *found: whether there is any.
 */
static struct error *mark_wanted(
	struct search *s, struct str wanted, uint32_t place, bool *is_found)
{
	const char *tick = memchr(wanted.data, '`', wanted.size);
	struct strbuf found = {0};
	struct error *err = mark(s, wanted, (struct str){0}, place, &found);

	if (err == NULL && found.size == 0 && tick) {
		struct str scope = {wanted.data, (size_t)(tick - wanted.data)};
		struct str name = {tick + 1, wanted.size - scope.size - 1};
		err = mark(s, name, scope, place, &found);
	}
	uint64_t id;
	if (err == NULL && found.size == 0 && entity_id_parse(wanted, &id))
		err = mark_id(s, id, place, &found);
	*is_found = found.size > 0;
	if (*is_found && place > 0)
		strbuf_add_char(&s->name, ';');
	strbuf_add(&s->name, strbuf_str(&found));
	strbuf_deinit(&found);
	return err;
}

/* With a module before the backquote, candidates are written with theirs. */
static struct error *not_there(struct search *s, struct str wanted)
{
	bool with_module = memchr(wanted.data, '`', wanted.size) != NULL;
	struct arena *arena = arena_create();
	struct strbuf near = {0};
	struct nearest_few n;

	nearest_few_init(&n, wanted);
	for (uint32_t i = 0; i < s->tree->entity_count; i++) {
		const struct entity *e = &s->tree->entities[i];
		strbuf_clear(&near);
		if (with_module) {
			strbuf_add(&near, e->module);
			strbuf_add_char(&near, '`');
		}
		struct str label = entity_label(e, &s->label);
		strbuf_add(&near, (struct str){label.data, name_arguments_at(label)});
		if (s->is_there[i])
			nearest_few_offer(&n, arena_str(arena, strbuf_str(&near)));
	}
	strbuf_clear(&near);
	nearest_few_put(&n, &near);
	struct error *err = error_new(ERROR_INPUT, "no stack holds a %s '%.*s'%.*s",
		level_names[s->level], STR_ARG(wanted), STR_ARG(strbuf_str(&near)));
	strbuf_deinit(&near);
	arena_destroy(arena);
	return err;
}

/* Marks the whole wanted name, or its parts between ';'. */
static struct error *mark_run(struct search *s, struct str wanted, uint32_t *length)
{
	struct str rest = wanted;

	bool is_found;
	struct error *err = mark_wanted(s, wanted, 0, &is_found);

	*length = 1;
	if (err || is_found)
		return err;
	for (uint32_t place = 0;; place++) {
		const char *end = memchr(rest.data, ';', rest.size);
		struct str name = {rest.data, end ? (size_t)(end - rest.data) : rest.size};

		if (name.size == 0)
			return error_new(
				ERROR_USAGE, "'%.*s' has a name that is empty", STR_ARG(wanted));
		if (place == CENTRE_LENGTH_MAX)
			return error_new(ERROR_USAGE, "more than %d names", CENTRE_LENGTH_MAX);
		err = mark_wanted(s, name, place, &is_found);
		if (err || !is_found)
			return err ? err : not_there(s, name);
		*length = place + 1;
		if (end == NULL)
			return NULL;
		rest = (struct str){end + 1, rest.size - name.size - 1};
	}
}

/* Whether any path of the tree contains the run. */
static bool occurs(const struct entity_tree *tree, const struct centre *centre)
{
	uint64_t *matched = xcalloc(tree->node_count, sizeof(*matched));
	bool found = false;

	for (uint32_t i = 1; i < tree->node_count && !found; i++) {
		matched[i] =
			centre_step(centre, matched[entity_tree_parent(tree, i)], tree->entity[i]);
		found = centre_ends(centre, matched[i]);
	}
	free(matched);
	return found;
}

/* The centre as one entity. */
static struct entity entity_of(
	const struct search *s, uint32_t length, struct arena *arena, bool *is_entity)
{
	struct entity out = {.occurrence = 1};
	size_t count = 0;

	for (uint32_t i = 0; i < s->tree->entity_count; i++) {
		const struct entity *e = &s->tree->entities[i];
		if (s->places[i] == 0)
			continue;
		if (count++ == 0)
			out = *e;
		else if (!str_equal(out.module, e->module))
			out.module = (struct str){0};
	}
	*is_entity = count == 1 && length == 1;
	if (*is_entity) {
		out.apart = arena_str(arena, out.apart);
		return out;
	}
	return (struct entity){.name = arena_str(arena, strbuf_str(&s->name)),
		.module = out.module,
		.occurrence = 1};
}

struct error *centre_find(const struct entity_tree *tree, enum level level, struct str wanted,
	struct arena *arena, const struct centre **centre)
{
	struct centre *c = ARENA_NEW(arena, struct centre);
	struct search s;

	search_init(&s, tree, level, arena);
	struct error *err = mark_run(&s, wanted, &c->length);
	c->places = s.places;
	c->entity = entity_of(&s, c->length, arena, &c->is_entity);
	search_deinit(&s);
	if (err == NULL && !tree->has_stacks && c->length > 1)
		err = error_new(ERROR_UNSUPPORTED,
			"'%.*s' is a run of calls, which needs call stacks, and there are none",
			STR_ARG(wanted));
	if (err == NULL && tree->has_stacks && !occurs(tree, c))
		err = error_new(
			ERROR_INPUT, "no stack holds '%.*s' one after another", STR_ARG(wanted));
	if (err == NULL)
		*centre = c;
	return err;
}
