#ifndef SONDE_MODEL_MATCH_H
#define SONDE_MODEL_MATCH_H

/*
 * The same function in two profiles that describe it differently: code moves between two builds,
 * and one format records files and load objects where another has only names.
 */

#include "base/arena.h"
#include "model/import.h"
#include "model/profile.h"

/*
 * For each load object of old_profile, the same one under another name in new_profile, or NO_ID.
 * Two objects whose base names only one side has are the same if they share at least half the
 * function names of the one with fewer names, and neither shares as many with another.  [old
 * object], in scratch.
 */
uint32_t *match_objects(const struct profile *old_profile, const struct profile *new_profile,
	struct arena *scratch);

/*
 * For each function of either profile which one it counts as: itself, or the same function in the
 * other profile, if more is known about that one or, with as much known, it is from new_profile.
 * Functions that agree in name, load object (by base name), file and line are left as they are.
 * The others are matched by name, if each profile has exactly one candidate: with the same load
 * object and file, else with the same base name of the file, else with a load object or file that
 * one side does not know.  If both sides know it and it differs, there is no match.  Load objects
 * that match_objects considers the same are the same here; objects_as: its result.
 *
 * Addresses in names mean nothing in another build.  Functions that only these distinguish
 * (`step@0xSTART`) are one function, `step`, unless both sides have the same build of their load
 * object.  Those without a name (`[MODULE+0xSTART]`) match nothing if both sides have another one;
 * one with the same name is called "… (old)" then.
 *
 * as_old [old function], as_new [new function]: in scratch.  Returns how many functions of both
 * sides count as one with others because of their addresses.
 */
size_t match_functions(const struct profile *old_profile, const struct profile *new_profile,
	const uint32_t *objects_as, struct arena *scratch, struct import_function **as_old,
	struct import_function **as_new);

#endif
