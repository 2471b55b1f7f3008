#ifndef SONDE_SESSION_KEPT_TREE_H
#define SONDE_SESSION_KEPT_TREE_H

/*
 * Entity trees that answers share: making one takes half the time of an answer, and questions in a
 * row often differ only in what they do with it, or in the time that they are about.
 */

#include "analysis/entity_tree.h"
#include "session/question.h"

struct kept_tree;

/* What a session keeps.  A zeroed one is empty. */
struct kept_trees {
	struct kept_tree *last; /* of the last question that had one; NULL: none */
	/* Of the last call tree without its filters of samples; NULL: none. */
	struct kept_tree *whole;
};
void kept_trees_forget(struct kept_trees *kept);

/*
 * The tree of a question's query.  kept: trees that are used if they fit, else replaced; NULL:
 * none.  Sets query->kept_play if the tree has one.  The caller gets a reference in *used if the
 * tree refers to one that is kept; otherwise *used is NULL and the tree lives in the arena.
 */
const struct entity_tree *kept_tree_get(struct kept_trees *kept, const struct selection *selection,
	const struct question *question, struct report_query *query, struct arena *arena,
	struct kept_tree **used);
/* Returns a reference; the last one frees the tree.  NULL is allowed. */
void kept_tree_release(struct kept_tree *kept);

#endif
