#ifndef SONDE_ANALYSIS_ENTITY_MAP_H
#define SONDE_ANALYSIS_ENTITY_MAP_H

/*
 * Which entity each frame of a profile belongs to, at one level: the only place that knows what
 * makes two frames the same.
 *
 * To add a level: a row in enum level and level_names (entity_tree.h), and in entity_map.c its row
 * in `kinds`: its identity, and what is shown for it.
 */

#include "analysis/entity_tree.h"
#include "base/map.h"
#include "base/row_table.h"
#include "base/vec.h"

struct entity_map {
	const struct profile *profile;
	enum level level;
	uint32_t *of_frame;    /* [frame]; none at levels of tasks */
	uint32_t *of_function; /* [function], for those in arcs, where arcs have a meaning; else
				  NULL */
	uint32_t *of_thread;   /* [thread], at the levels thread and process; else none */
	uint32_t *of_labels;   /* [label set], LEVEL_CPU; else none */
	uint32_t *module_of_object; /* [object]: index into modules */
	struct str_table modules;   /* base names; an unknown one is empty */
	uint32_t unknown_module;    /* the module of functions without load object */
	uint32_t unknown_name;	    /* string shared by functions without name; 0: the empty one */
	uint32_t no_zone;	    /* LEVEL_ZONE: entity of samples in no zone */
	/* Each frame has its own entity; set at levels of frames. */
	bool is_one_to_one;
	VEC(struct entity) entities;

	/* While the map is made. */
	struct row_table identities; /* [entity] what makes two frames the same */
	VEC(bool) is_inline;	     /* [entity]: what is shown is from an inlined call */
};

/*
 * The map's tables live in scratch; new entities and names live in `arena`, other strings are the
 * profile's and the spec's.  Only the arenas need to be freed.
 */
void entity_map_init(struct entity_map *m, const struct profile *p, const struct entity_spec *spec,
	struct arena *scratch, struct arena *arena);

#endif
