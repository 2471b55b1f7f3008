#ifndef SONDE_PAGE_PAGE_H
#define SONDE_PAGE_PAGE_H

/*
 * `sonde report --format html`: one file for a browser that holds a profile and all that is needed
 * to look at it.  Nothing is fetched, and nothing is sent.
 */

#include "base/error.h"
#include "base/sink.h"
#include "code/annotate_code.h"
#include "session/question.h"

struct page_options {
	/* Where the code that the page carries comes from, and which; NULL: it carries none. */
	const struct annotate_wanted *code;
	/*
	 * The name of the profile at the server that sends the page (serve/http.h), which the page
	 * then asks for code; NULL: the page is a file, and asks nobody.
	 */
	const char *served;
	/*
	 * The selection that the profile is of a store (cli/store_options.h), others of which that
	 * server fetches to compare with; NULL: it is of none.
	 */
	const char *selection;
};

/* Whether this program was built with pages. */
bool page_is_built(void);
/*
 * Writes the page of a profile, which first shows what a settled question asks for.
 * ERROR_UNSUPPORTED if this program was built without the page; else errors are those of the
 * profile, and the sink keeps its own.
 */
must_use struct error *page_write(struct sink *sink, const struct profile *profile,
	const struct question *question, const struct page_options *options);

#endif
