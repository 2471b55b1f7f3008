#ifndef SONDE_SESSION_ANSWER_H
#define SONDE_SESSION_ANSWER_H

/* The answer to a question: reports, and drawing them. */

#include "base/sink.h"
#include "session/kept_tree.h"
#include "session/question.h"

struct answer {
	struct arena *arena; /* holds all that follows */
	const struct format *format;
	const struct report *const
		*reports; /* [count]: one for each view, in the order requested */
	size_t count;
	/* Data that reports refer to. */
	struct filter_list filters;
	struct metric_list metrics;
	struct kept_tree *kept; /* a tree that it shares with others; NULL: none */
};

/*
 * Answers a settled question, whose queries have their metrics, from a profile.  (session.h does
 * this for its own profile; this is for queries with additions: differences, listings.) The profile
 * and the question must outlive the answer.  ERROR_USAGE or ERROR_INPUT if the profile does not
 * have what is requested.
 */
must_use struct error *answer_create(
	const struct question *question, const struct profile *profile, struct answer **answer);
/* The same with a tree that is kept for the next question about the same profile. */
must_use struct error *answer_create_keeping(const struct question *question,
	const struct profile *profile, struct kept_trees *kept, struct answer **answer);
void answer_destroy(struct answer *answer);

/* Draws the reports in the question's format; style applies only to text. */
void answer_draw(const struct answer *answer, const struct text_style *style, struct sink *sink);

#endif
