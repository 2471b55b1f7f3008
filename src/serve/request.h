#ifndef SONDE_SERVE_REQUEST_H
#define SONDE_SERVE_REQUEST_H

/*
 * One question to what is served, put together from names and values as they come in a URL or a
 * call of a tool: the options of `sonde report`, `annotate` and `diff`, by the same names, and
 *
 *	profile, old, new	a served file
 *	function		annotate: a name or an id
 *	normalize, source, asm	as the commands' options
 *	file			source: a path that the profile names
 *	select			recording: a selection of the store that is served (serve --store)
 *
 *	request_init(&r, REQUEST_REPORT, &served, BRIEF_TOOLS);
 *	err = request_put(&r, "profile", "sonde.prof"); …
 *	err = request_settle(&r);
 *	err = request_answer(&r, &sink, begin_answer);
 *	request_deinit(&r);
 */

#include "code/annotate_session.h"
#include "serve/served.h"

enum request_kind {
	REQUEST_REPORT,
	REQUEST_ANNOTATE,
	REQUEST_DIFF,
	REQUEST_RECORDING, /* the profile as sonde writes it */
	REQUEST_SOURCE,	   /* a source file that the profile names, below the root */
	REQUEST_PAGE,	   /* the page of the profile, which asks this server for code */
};

struct request {
	enum request_kind kind;
	const struct served *served;
	struct arena *arena; /* of values, which the question borrows */
	struct served_file *file, *old_file, *new_file;
	const char *function, *source_file;
	const char *selection; /* of the store, in place of a served file; NULL: none */
	bool normalize, source, instructions;
	struct question question;
};

void request_init(struct request *r, enum request_kind kind, const struct served *served,
	enum brief_form form);
void request_deinit(struct request *r);
/* value: copied; NULL for flags.  ERROR_USAGE as question_put. */
must_use struct error *request_put(struct request *r, const char *name, const char *value);
/*
 * Checks the whole, and opens the files that stay open.  ERROR_USAGE for contradictions; else the
 * errors of reading.
 */
must_use struct error *request_settle(struct request *r);
/* Whether the answer may ask other servers, and so take as long as they do. */
bool request_fetches(const struct request *r);
/*
 * Answers the settled request, and draws the answer.  begin is called before the first byte, once
 * nothing can fail any more.
 */
must_use struct error *request_answer(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink));

#endif
