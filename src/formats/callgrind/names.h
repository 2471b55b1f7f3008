#ifndef SONDE_FORMATS_CALLGRIND_NAMES_H
#define SONDE_FORMATS_CALLGRIND_NAMES_H

/*
 * Names in callgrind files: "(ID) NAME" where a name is seen first, "(ID)" after, or just "NAME".
 * Ids of files, functions and load objects are three spaces of their own.
 */

#include "base/digits.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "obj/demangle.h"

enum callgrind_space { CALLGRIND_FILES, CALLGRIND_FUNCTIONS, CALLGRIND_OBJECTS, CALLGRIND_SPACES };

struct callgrind_names {
	struct builder *builder;
	struct demangler *demangler;
	struct strbuf nameless; /* the name of a function that has none */
	/*
	 * By id, a string_id, of objects an object_id: of those that are counted up, as most
	 * writers do, in arrays; of others in the map of (space, id).
	 */
	VEC(uint32_t) counted[CALLGRIND_SPACES];
	size_t put[CALLGRIND_SPACES]; /* how many are in each */
	struct map ids;
	VEC(string_id) paths;	  /* [object_id] */
	uint32_t function_object; /* whom a function's name is of; NO_ID: not known */
	size_t room;		  /* bytes that new names may still take */
	uint32_t string_most;	  /* the highest string_id so far */
	uint64_t undefined;	  /* ids that no line before has given a name */
	uint64_t too_many;	  /* names beyond the room, which are "[unknown]" */
};

/* In `counted`, where nothing was put. */
#define CALLGRIND_NAME_UNKNOWN (NO_ID - 1)

/* room: how much memory names may take; those beyond it are counted. */
void callgrind_names_init(struct callgrind_names *n, struct builder *b, size_t room);
void callgrind_names_deinit(struct callgrind_names *n);
/*
 * What stands behind "fn=" and its like: the string_id of a file or a function (demangled), the
 * object_id of a load object.  "???" is a file of no name, the function "[unknown]", no object; a
 * function of which callgrind knew its address alone is "[MODULE+0xADDRESS]".
 */
uint32_t callgrind_names_read(
	struct callgrind_names *n, enum callgrind_space space, struct str text);
/*
 * The same of an id in `counted` and the end of the line, "(12)\n", which most are; 12 bytes can be
 * read there.  Behind them; NULL where it is something else.
 */
static inline const char *callgrind_names_quick(const struct callgrind_names *n,
	enum callgrind_space space, const char *at, uint32_t *known)
{
	uint64_t id = 0;

	if (*at != '(')
		return NULL;
	unsigned int digits = digit_run((const uint8_t *)at + 1, &id);
	at += 1 + digits;
	if (digits == 0 || at[0] != ')' || at[1] != '\n' || id >= n->counted[space].count)
		return NULL;
	*known = n->counted[space].data[id];
	return *known == CALLGRIND_NAME_UNKNOWN ? NULL : at + 2;
}

#endif
