#ifndef SONDE_SESSION_KEPT_TREE_H
#define SONDE_SESSION_KEPT_TREE_H

/*
 * An entity tree that answers share: making it takes half the time of an answer, and questions in a
 * row often differ only in what they do with it.
 */

#include "analysis/entity_tree.h"
#include "view/report.h"

struct kept_tree;

/*
 * The tree of a query.  *kept: the last one, or NULL; it is used if it is the same, else replaced.
 * The caller owns one reference to *kept, and gets another one in *used, if the tree is kept;
 * otherwise *used is NULL and the tree lives in the arena.
 */
const struct entity_tree *kept_tree_get(struct kept_tree **kept, const struct selection *selection,
	const struct report_query *query, enum when_modules modules, struct arena *arena,
	struct kept_tree **used);
/* Returns a reference; the last one frees the tree.  NULL is allowed. */
void kept_tree_release(struct kept_tree *kept);

#endif
