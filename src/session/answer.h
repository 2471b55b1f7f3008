#ifndef SONDE_SESSION_ANSWER_H
#define SONDE_SESSION_ANSWER_H

/*
 * What a question gets: reports, and how they are drawn.
 */

#include "base/sink.h"
#include "session/question.h"

struct answer {
	struct arena *arena; /* of all that follows */
	const struct format *format;
	const struct report *const
		*reports; /* [count]: one for each view, in the order asked for */
	size_t count;
	/* What reports refer to. */
	struct filter_list filters;
	struct metric_list metrics;
};

/*
 * Answers a settled question whose queries have their metrics, from a profile (session.h does so
 * for one that it holds; this is for queries that were added to: differences, listings).  Both must
 * outlive the answer.  ERROR_USAGE and ERROR_INPUT where the profile has not what is asked for.
 */
must_use struct error *answer_create(
	const struct question *question, const struct profile *profile, struct answer **answer);
void answer_destroy(struct answer *answer);

/* Draws the reports in the question's format; style is for text alone. */
void answer_draw(const struct answer *answer, const struct text_style *style, struct sink *sink);

#endif
