#ifndef SONDE_ANALYSIS_CENTRE_H
#define SONDE_ANALYSIS_CENTRE_H

/*
 * What a callers view can be about: an entity, several of one name, or a fragment, a run of
 * consecutive ones in a stack.
 */

#include "analysis/entity_tree.h"

/* Entities in a run at most. */
#define CENTRE_LENGTH_MAX 64

struct centre {
	/*
	 * As it is to be shown: the only entity that it is, or one made up, with the name "F" or
	 * "F;G", and the module that all its entities have.
	 */
	struct entity entity;
	uint32_t length; /* of the run, at least 1 */
	/* [tree->entity_count] Bit i: the entity may stand at place i of the run. */
	const uint64_t *places;
};

/*
 * The centre called `wanted`, of a tree at that level: entities by name, outermost first, ';'
 * between them.  NAME is every entity of that name, module`NAME that of the module, or source file;
 * a name that itself holds ';' or '`' is found as it stands.  Where none has the whole name, one
 * without its arguments or its scope will do, if it is clear (analysis/name_reading.h).
 *
 * ERROR_INPUT, with names like it, where a name is that of no entity of a stack, or may be several,
 * or no stack holds the run; ERROR_USAGE where wanted names nothing, or more than
 * CENTRE_LENGTH_MAX.  *centre lives in the arena.
 */
must_use struct error *centre_find(const struct entity_tree *tree, enum level level,
	struct str wanted, struct arena *arena, const struct centre **centre);

/*
 * Which runs of the centre a path of the tree holds the beginning of, at a node of that entity,
 * whose parent's are `above` (0 at the root): bit i says that the i + 1 nodes that end here match
 * the first places.  The whole run ends here if bit length - 1 is set.  (Shift-and: R. Baeza-Yates
 * and G. Gonnet, "A new approach to text searching", CACM 35(10), 1992.)
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
