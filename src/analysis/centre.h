#ifndef SONDE_ANALYSIS_CENTRE_H
#define SONDE_ANALYSIS_CENTRE_H

/*
 * What a callers view can be about: an entity, several of one name, or a fragment, a run of
 * consecutive ones in a stack.
 */

#include "analysis/entity_tree.h"

/* Most entities in a run. */
#define CENTRE_LENGTH_MAX 64

struct centre {
	/*
	 * As shown: its only entity, or one made up with the name "F" or "F;G" and the module that
	 * all its entities share.
	 */
	struct entity entity;
	bool is_entity;	 /* it is the tree's, not made up */
	uint32_t length; /* of the run, at least 1 */
	/* [tree->entity_count] Bit i: the entity may be at place i of the run. */
	const uint64_t *places;
};

/*
 * Finds the centre called `wanted`, in a tree at that level: entities by name, outermost first, ';'
 * between them.  NAME is every entity of that name, module`NAME those of that module or source
 * file; a name that itself contains ';' or '`' is found as written.  @ID
 * is the entity with that id (analysis/entity_id.h).  If no entity has the whole
 * name, a name without arguments or scope is accepted if it is unambiguous
 * (analysis/name_reading.h).
 *
 * ERROR_INPUT, with similar names, if no entity of a stack has a name, or the name is ambiguous, or
 * no stack contains the run; ERROR_USAGE if wanted names nothing, or more than CENTRE_LENGTH_MAX.
 * *centre lives in the arena.
 */
must_use struct error *centre_find(const struct entity_tree *tree, enum level level,
	struct str wanted, struct arena *arena, const struct centre **centre);

/*
 * Which prefixes of the centre's run end at a node of that entity, given its parent's, `above` (0
 * at the root): bit i is set if the i + 1 nodes that end here match the first places.  The whole
 * run ends here if bit length - 1 is set.  (Shift-and: R. Baeza-Yates and G. Gonnet, "A new
 * approach to text searching", CACM 35(10), 1992.)
 */
static inline uint64_t centre_step(const struct centre *centre, uint64_t above, uint32_t entity)
{
	return (above << 1 | 1) & centre->places[entity];
}

static inline bool centre_ends(const struct centre *centre, uint64_t matched)
{
	return matched >> (centre->length - 1) & 1;
}

#endif
