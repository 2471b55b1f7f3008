#ifndef SONDE_SERVE_HTTP_INDEX_H
#define SONDE_SERVE_HTTP_INDEX_H

#include "serve/served.h"

/*
 * Adds a page of HTML that links to the reports on each file, as text and as flame graphs, and has
 * a form for filters.  It works without script and style; links are relative.
 */
void http_index_put(const struct served *served, struct strbuf *out);

#endif
