#ifndef SONDE_SESSION_SESSION_H
#define SONDE_SESSION_SESSION_H

/*
 * The one way from a file, a folder, bytes or a profile to reports: loaded once, queried often.  No
 * command line, terminal, exit(), environment or global state; messages about an answer are in its
 * reports.  The command line is one caller; a page, a server and tests are others.
 *
 *	err = session_open("sonde.prof", NULL, &session);
 *	…
 *	err = session_ask(session, &question, &answer);     (session/question.h)
 *	answer_draw(answer, &style, &sink);                 (session/answer.h)
 *	answer_destroy(answer);
 *	session_close(session);
 *
 * Only one thread may use a session at a time.  An error leaves it unchanged.
 */

#include "formats/readers.h"
#include "session/answer.h"

struct session;

/* path: a file, a folder, or "-"; options may be NULL.  Errors are profile_read_with's. */
must_use struct error *session_open(
	const char *path, const struct read_options *options, struct session **session);
/* The same for bytes in memory, which may be freed afterwards; from: as in profile_read. */
must_use struct error *session_open_bytes(
	const struct reader_input *input, const char *from, struct session **session);
/* A session of a profile, which the session frees. */
returns_owned struct session *session_of(struct profile *profile);
void session_close(struct session *session);

/* The profile as it was read, whatever roots questions asked for. */
const struct profile *session_profile(const struct session *session);

/*
 * Answers a settled question.  The question and the session must outlive the answer.  Destroy an
 * answer before asking a question with other roots.
 */
must_use struct error *session_ask(
	struct session *session, struct question *question, struct answer **answer);

#endif
