#ifndef SONDE_PAGE_PAGE_H
#define SONDE_PAGE_PAGE_H

/*
 * `sonde report --format html`: one file for a browser that holds a profile and all that is needed
 * to look at it.  Nothing is fetched, and nothing is sent.
 */

#include "base/error.h"
#include "base/sink.h"
#include "session/question.h"

/*
 * Writes the page of a profile, which first shows what a settled question asks for.
 * ERROR_UNSUPPORTED if this program was built without the page; else errors are those of the
 * profile, and the sink keeps its own.
 */
must_use struct error *page_write(
	struct sink *sink, const struct profile *profile, const struct question *question);

#endif
