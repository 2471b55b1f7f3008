#ifndef SONDE_ANALYSIS_ENTITY_MAP_H
#define SONDE_ANALYSIS_ENTITY_MAP_H

/*
 * Which entity each function of a profile belongs to, at one level: the only place that knows what
 * makes two functions the same.
 *
 * To add a level: a row in enum level and level_names (entity_tree.h), its identity in
 * entity_map_add and what is shown of it beside entity_of_function, both in entity_map.c.
 */

#include "analysis/entity_tree.h"
#include "base/map.h"
#include "base/vec.h"

struct entity_map {
	const struct profile *profile;
	enum level level;
	uint32_t *of_function;	    /* [function] */
	uint32_t *module_of_object; /* [object]: index into modules */
	struct str_table modules;   /* base names; those not known are the empty one */
	uint32_t unknown_module;    /* that of functions without load object */
	uint32_t unknown_name;	    /* string that functions without name share; 0: the empty one */
	struct map by_identity;
	VEC(struct entity) entities;
};

/* What the map points to lives in scratch; strings are the profile's. */
void entity_map_init(
	struct entity_map *m, const struct profile *p, enum level level, struct arena *scratch);
void entity_map_deinit(struct entity_map *m);

#endif
