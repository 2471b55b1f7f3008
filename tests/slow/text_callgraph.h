#ifndef SONDE_TESTS_SLOW_TEXT_CALLGRAPH_H
#define SONDE_TESTS_SLOW_TEXT_CALLGRAPH_H

/* Call graphs printed as text, so that a test reads like the worked examples of the manuals. */

#include "analysis/callgraph.h"

/*
 * An entry as "name<cycle>:self/children(outside+inside) < callers | members > callees", a line as
 * "name<cycle>:self/children(calls/of)"; what is not known is left out, <spontaneous> is "*".
 * Lives in out.
 */
const char *text_callgraph_entry(const struct callgraph *g, size_t i, struct strbuf *out);

#endif
