#ifndef SONDE_ANALYSIS_WHEN_H
#define SONDE_ANALYSIS_WHEN_H

/*
 * WHEN patterns (semantics.md section 4): which samples count, by how their stacks ended, and whom
 * each is charged to.
 *
 * 	pattern = thread { | thread }       thread = primary { -> primary }
 * 	primary = ( pattern ) | * | [:] module [ . procedure ] [:] | [:] . procedure [:]
 *
 * A ';' may end a pattern.  The grammar and the meaning of the colons are those of MAINPM's WHEN;
 * semantics.md decides what its manual leaves open.
 */

#include "analysis/shown.h"
#include "base/error.h"
#include "base/str.h"
#include "model/profile.h"

/* What a pattern's module names are compared with. */
enum when_modules {
	WHEN_OBJECTS, /* the base name of the function's load object */
	WHEN_SOURCES, /* the base name of the source file that defines it */
	WHEN_MODULES_COUNT
};
/* "object", "source". */
extern const char *const when_modules_names[WHEN_MODULES_COUNT + 1]; /* NULL at the end */

/* Most names and nested parentheses in a pattern. */
#define WHEN_NAMES_MAX	 1000
#define WHEN_NESTING_MAX 100

struct when;

/*
 * ERROR_USAGE for a bad pattern; the error's detail is the pattern, printable, with a caret below
 * the error.  *out does not keep pattern.
 */
must_use struct error *when_compile(
	struct str pattern, enum when_modules modules, struct when **out);
/* NULL is allowed. */
void when_destroy(struct when *when);

/*
 * Decides for each stack s for which shown[s] is a stack or SHOWN_SPONTANEOUS, which is treated as
 * the empty stack: shown[s] becomes the stack whose last frame is charged, itself or an ancestor,
 * or SHOWN_SPONTANEOUS, or, if the pattern does not match, SHOWN_UNMATCHED.  A stack without a
 * row of weights (profile_row) has nothing to charge, and is SHOWN_UNMATCHED, too.  The others stay
 * unchanged.
 *
 * parent[profile->stack_count]: the stack without its last frame, or without several, if these are
 * hidden; < own index, 0: the empty stack; parent[0] is not used.  shown[profile->stack_count]
 * contains only stacks that parent leads to.
 *
 * However many threads the pattern expands to, S stacks and a pattern of length L take time S * L,
 * and at most S * L * L, if lists of choices have long common parts.  Memory: a few words a stack;
 * at most L ways for each stack that waits while others are visited; and a few times as many lists
 * of choices as these ways have.  That is at most L for each way, and at most L for each stack of
 * the visited chain.  In a chain one stack waits: at most L * L.
 */
void when_apply(const struct when *when, const struct profile *profile, const uint32_t *parent,
	uint32_t *shown);

/*
 * Names one of which every stack that the pattern matches has, as the name of a function, of its
 * module or of its source file, in any case: names[*count], owned by the pattern.  False: there are
 * none, as for "*", so any stack may match.
 */
bool when_needs_one_of(const struct when *when, const struct str **names, size_t *count);

/* A module that no function is in, and what was probably meant; all as written in a pattern. */
struct when_mistake {
	const char *name;
	const char *function; /* a function of that name; NULL: none */
	const char *module;   /* else a module whose name begins so: libc.so.6 for libc */
};

/*
 * Whether the pattern names such a module.  Then *mistake is the first such name, and lives in the
 * arena.
 */
bool when_mistaken_module(const struct when *when, const struct profile *profile,
	struct arena *arena, struct when_mistake *mistake);

#endif
