#ifndef SONDE_CLI_ANNOTATE_ASK_H
#define SONDE_CLI_ANNOTATE_ASK_H

/* The answer to a question about one function's code. */

#include "analysis/stack_walk.h"
#include "cli/annotate_code.h"
#include "session/session.h"

struct annotate_answer {
	struct answer *answer;
	/* What it refers to. */
	struct arena *arena;
	struct stack_weights stacks;
	struct metric_list metrics;
	struct remarks remarks;
};

/*
 * question: of view_annotate, settled; it gets its metrics, listing and remarks here, and must
 * outlive the answer, like the session.  ERROR_INPUT if no function has the name.
 */
must_use struct error *annotate_ask(struct session *session, struct question *question,
	const struct annotate_wanted *wanted, const char *name, struct annotate_answer **answer);
void annotate_answer_destroy(struct annotate_answer *answer);

#endif
