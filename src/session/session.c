/* A session: a profile, and the profile derived from it for the last question's roots. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "session/kept_tree.h"

struct session {
	struct profile *profile;
	/*
	 * The profile with processes, threads or values of a label as roots; NULL: no question
	 * asked for roots.
	 */
	struct profile *rooted;
	enum profile_roots roots;
	char *root_label;
	char *path; /* as the caller named it; NULL: none */
	struct kept_trees kept;
};

struct session *session_of(struct profile *profile)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->profile = profile;
	return session;
}

struct error *session_open(
	const char *path, const struct read_options *options, struct session **session)
{
	static const struct read_options none = {0};
	struct profile *profile;
	struct error *err = profile_read_with(path, options ? options : &none, &profile);

	if (err)
		return err;
	*session = session_of(profile);
	(*session)->path = xstrdup(path);
	return NULL;
}

struct error *session_open_bytes(
	const struct reader_input *input, const char *from, struct session **session)
{
	struct profile *profile;
	struct error *err = profile_read_bytes(input, from, &profile);

	if (err == NULL)
		*session = session_of(profile);
	return err;
}

void session_close(struct session *session)
{
	if (session == NULL)
		return;
	kept_trees_forget(&session->kept);
	profile_destroy(session->profile);
	profile_destroy(session->rooted);
	free(session->root_label);
	free(session->path);
	free(session);
}

const struct profile *session_profile(const struct session *session)
{
	return session->profile;
}

static bool has_roots(const struct session *session, const struct question *question)
{
	return session->rooted && session->roots == question->roots &&
	       (question->roots != ROOTS_LABEL ||
		       strcmp(session->root_label, question->root_label) == 0);
}

static struct error *make_roots(struct session *session, const struct question *question)
{
	struct profile *rooted;
	struct error *err = question_roots(question, session->profile, &rooted);

	if (err)
		return err;
	kept_trees_forget(&session->kept);
	profile_destroy(session->rooted);
	free(session->root_label);
	session->rooted = rooted;
	session->roots = question->roots;
	session->root_label = question->roots == ROOTS_LABEL ? xstrdup(question->root_label) : NULL;
	return NULL;
}

/*
 * A refusal names the profile's source; for a dump, that is the original file, so this names the
 * dump.
 */
static struct error *name_file(const struct session *session, struct error *err)
{
	const struct profile *p = session->profile;
	const char *path = session->path;

	if (err->kind == ERROR_USAGE || path == NULL || strcmp(path, "-") == 0 ||
		str_equal(profile_string(p, p->source), str_from(path)))
		return err;
	return error_prefix(err, "%s", path);
}

struct error *session_ask(
	struct session *session, struct question *question, struct answer **answer)
{
	const struct profile *profile = session->profile;
	struct metric_list metrics = {0};
	struct error *err = NULL;

	if (question->roots != ROOTS_NONE) {
		if (!has_roots(session, question))
			err = make_roots(session, question);
		profile = session->rooted;
	}
	if (err == NULL)
		err = question_metrics(question, profile, &metrics);
	if (err == NULL)
		err = answer_create_keeping(question, profile, &session->kept, answer);
	if (err) {
		vec_deinit(&metrics.ids);
		return name_file(session, err);
	}
	(*answer)->metrics = metrics;
	return NULL;
}
