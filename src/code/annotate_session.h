#ifndef SONDE_CODE_ANNOTATE_SESSION_H
#define SONDE_CODE_ANNOTATE_SESSION_H

/*
 * Questions about one function's code: as session_ask, with a function and where to look for its
 * code.
 *
 *	err = annotate_settle(&question, &wanted);
 *	err = annotate_ask(session, &question, &wanted, name, &annotated);
 *	… annotated->answer …
 *	annotated_destroy(annotated);
 */

#include "code/annotate_code.h"
#include "session/session.h"

struct annotated {
	struct answer *answer;
	/* What its reports refer to. */
	struct arena *arena;
	struct metric_list metrics;
	struct remarks remarks;
};

/* Sets the question's view and default limit, and settles it. */
must_use struct error *annotate_settle(struct question *question);
/*
 * Answers the settled question about the function of that name, or id; if several functions have
 * it, about the heaviest.  ERROR_INPUT if there is none.  Question and session must outlive the
 * result.
 */
must_use struct error *annotate_ask(struct session *session, struct question *question,
	const struct annotate_wanted *wanted, struct str name, struct annotated **annotated);
void annotated_destroy(struct annotated *annotated);

#endif
