#ifndef SONDE_SERVE_EXPLAIN_H
#define SONDE_SERVE_EXPLAIN_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Adds what docs/glossary.md and docs/semantics.md say about a term, at most `most` bytes; false:
 * nothing, and similar terms are added instead.
 */
bool explain_term(struct str term, size_t most, struct strbuf *out);

#endif
