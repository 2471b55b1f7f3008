#ifndef SONDE_BASE_ALLOC_H
#define SONDE_BASE_ALLOC_H

/*
 * Heap allocation that does not return on failure: with overcommit an allocation that malloc
 * refuses is a size that no caller can do anything about, so the process says so in one line and
 * exits with status 125.  Sizes that come from input are checked by the parser before they get
 * here.  The zones runtime and the sampling path never come here at all.
 */

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"

/*
 * From here on freed memory stays with the process and serves the next request without page faults;
 * what is new of it is asked for in huge pages.  Tables of 1 MiB and more are not part of that:
 * they grow by being mapped elsewhere, so that the old one and the new one are never there at once,
 * and go when they are freed.  For what makes one large table out of another, and ends.
 */
void alloc_keep_freed(void);
/* Zeroed memory, freed with free(). */
must_use returns_owned void *xalloc(size_t size);
/* Zeroed array of count elements; a product beyond SIZE_MAX counts as out of memory. */
must_use returns_owned void *xcalloc(size_t count, size_t size);
/* As reallocarray: the grown part is not zeroed. */
must_use returns_owned void *xrealloc_array(void *old, size_t count, size_t size);
must_use returns_owned char *xstrdup(const char *s);
must_use returns_owned char *xstrndup(const char *s, size_t size);
must_use returns_owned char *xasprintf(const char *format, ...) printf_like(1, 2);
must_use returns_owned char *xvasprintf(const char *format, va_list args) printf_like(1, 0);

#endif
