#ifndef SONDE_ANALYSIS_ENTITY_ID_H
#define SONDE_ANALYSIS_ENTITY_ID_H

/*
 * Ids of entities, so that a follow-up question can name one of several functions of the same name,
 * or one whose name is too long to type: '@' and ten hexadecimal digits, "@3f29ac01d7".
 *
 * An id depends only on what makes the entity that one (its name, module, file, line …), not on the
 * profile.  So it is the same in every recording of the same build, and never changes its meaning.
 */

#include "analysis/entity_tree.h"
#include "base/str.h"

#define ENTITY_ID_SIZE 11 /* characters */

/* Below 2^40. */
uint64_t entity_id(const struct entity *e);
/* The function as the entity that it is at the level of functions, without its aliases. */
struct entity entity_of_function(const struct profile *profile, function_id function);
/* Adds the id as people and programs write it. */
void entity_id_put(struct strbuf *out, const struct entity *e);
/* Whether the text has the form of an id, and which one it is. */
bool entity_id_parse(struct str text, uint64_t *id);

#endif
