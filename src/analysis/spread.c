/*
 * Spread: the k-th occurrence of an entity in a stack becomes a separate entity.
 *
 * Children of one node stay different when renamed, so the tree keeps its shape and only entities
 * change.  For each entity, its nodes on the current path form a chain, innermost first; nodes
 * whose subtree has ended are dropped from it when they are next met, so each is dropped once.
 */
#include "analysis/entity_tree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"

struct spread {
	VEC(struct entity) entities;
	VEC(uint32_t) next;  /* [entity]: the next occurrence's; NO_ID: not met yet */
	uint32_t *innermost; /* [entity before]: the last node met that has it, or NO_ID */
	uint32_t *outer;     /* [node]: the next node up the path that holds the same one */
	const struct entity_tree *tree;
	uint32_t *entity; /* [node]: the entity after */
};

static void spread_init(struct spread *s, const struct entity_tree *tree, struct arena *arena)
{
	*s = (struct spread){0};
	s->innermost = xcalloc(tree->entity_count, sizeof(*s->innermost));
	s->outer = xcalloc(tree->node_count, sizeof(*s->outer));
	s->tree = tree;
	s->entity = ARENA_ARRAY(arena, uint32_t, tree->node_count);
	memcpy(s->entity, tree->entity, tree->node_count * sizeof(*s->entity));
	for (size_t i = 0; i < tree->entity_count; i++) {
		vec_push(&s->entities, tree->entities[i]);
		vec_push(&s->next, NO_ID);
		s->innermost[i] = NO_ID;
	}
}

static void spread_deinit(struct spread *s)
{
	free(s->innermost);
	free(s->outer);
	vec_deinit(&s->next);
	vec_deinit(&s->entities);
}

static uint32_t spread_next_entity(struct spread *s, uint32_t entity)
{
	if (s->next.data[entity] == NO_ID) {
		struct entity e = s->entities.data[entity];
		e.occurrence++;
		s->next.data[entity] = (uint32_t)s->entities.count;
		vec_push(&s->entities, e);
		vec_push(&s->next, NO_ID);
	}
	return s->next.data[entity];
}

static void spread_node(struct spread *s, uint32_t i)
{
	uint32_t entity = s->entity[i];
	uint32_t outer = s->innermost[entity];

	while (outer != NO_ID && entity_tree_end(s->tree, outer) <= i)
		outer = s->outer[outer];
	if (outer != NO_ID)
		s->entity[i] = spread_next_entity(s, s->entity[outer]);
	s->outer[i] = outer;
	s->innermost[entity] = i;
}

/* The other metrics' trees with the entities of this one. */
static void spread_others(struct entity_tree *tree, struct arena *arena)
{
	const struct entity_tree **others =
		ARENA_ARRAY(arena, const struct entity_tree *, tree->other_count);

	for (size_t k = 0; k < tree->other_count; k++) {
		struct entity_tree *other = ARENA_NEW(arena, struct entity_tree);

		*other = *tree->others[k];
		other->entity = tree->entity;
		other->entities = tree->entities;
		other->entity_count = tree->entity_count;
		others[k] = other;
	}
	tree->others = others;
}

struct entity_tree *entity_tree_spread(const struct entity_tree *tree, struct arena *arena)
{
	struct entity_tree *out = ARENA_NEW(arena, struct entity_tree);
	struct spread s;

	spread_init(&s, tree, arena);
	for (uint32_t i = 1; i < tree->node_count; i++)
		spread_node(&s, i);
	struct entity *entities = ARENA_ARRAY(arena, struct entity, s.entities.count);
	if (s.entities.count)
		memcpy(entities, s.entities.data, s.entities.count * sizeof(*entities));
	*out = *tree;
	out->entities = entities;
	out->entity_count = s.entities.count;
	out->entity = s.entity;
	out->arcs = NULL; /* calls are not counted for each f' */
	out->arc_count = 0;
	spread_others(out, arena);
	spread_deinit(&s);
	return out;
}
