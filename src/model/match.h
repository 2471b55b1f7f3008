#ifndef SONDE_MODEL_MATCH_H
#define SONDE_MODEL_MATCH_H

/*
 * The same function in two profiles, where they do not say the same of it: code moves between two
 * builds, and one format tells files and load objects where another has names alone.
 */

#include "base/arena.h"
#include "model/import.h"
#include "model/profile.h"

/*
 * For each load object of old_profile the one of new_profile that it is under another name, or
 * NO_ID.  Of those whose base name only one side has, two are the same if they have names of
 * functions in common, at least half as many as the one with fewer names has, and neither has as
 * many in common with another.  [old object], of scratch.
 */
uint32_t *match_objects(const struct profile *old_profile, const struct profile *new_profile,
	struct arena *scratch);

/*
 * For each function of either profile which one it counts as: itself, or the one of the
 * other profile that it is, if that is known better or, known as well, is of new_profile. Functions
 * that agree in name, load object (by base name), file and line are left as they are.  The others
 * are matched by name, if exactly one of each profile comes into question: with the same load
 * object and file, else with the same base name of the file, else with a load object or file that
 * one side does not tell.  What both tell, and differently, matches nowhere.  Load objects that
 * match_objects takes for one are one here; objects_as: what it said.
 *
 * as_old [old function], as_new [new function]: of scratch.
 */
void match_functions(const struct profile *old_profile, const struct profile *new_profile,
	const uint32_t *objects_as, struct arena *scratch, struct import_function **as_old,
	struct import_function **as_new);

#endif
