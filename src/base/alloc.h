#ifndef SONDE_BASE_ALLOC_H
#define SONDE_BASE_ALLOC_H

/*
 * Heap allocation that does not return on failure.  With overcommit, malloc refuses only sizes that
 * no caller can handle, so the process prints one line and exits with ALLOC_EXIT_STATUS.  Parsers
 * check sizes from input before they allocate.  The zones runtime and the sampling path never use
 * this.
 */

#include <stdarg.h>
#include <stddef.h>

#include "base/compiler.h"

#define ALLOC_EXIT_STATUS 125

/*
 * From now on, freed memory stays with the process and serves the next request without page faults;
 * new memory is requested in huge pages.  Tables of at least 1 MiB are excluded: they grow by
 * remapping, so that the old and the new table never exist at once, and are unmapped when freed.
 * For commands that turn one large table into another, then exit.
 */
void alloc_keep_freed(void);
/*
 * The opposite, for processes that must take little memory: no huge pages, which are resident as a
 * whole, and what is freed goes back to the system.  Child processes inherit it.
 */
void alloc_spare(void);
/* Zeroed memory, freed with free(). */
must_use returns_owned void *xalloc(size_t size);
/* Zeroed array of count elements; a product beyond SIZE_MAX counts as out of memory. */
must_use returns_owned void *xcalloc(size_t count, size_t size);
/* Like reallocarray: the grown part is not zeroed. */
must_use returns_owned void *xrealloc_array(void *old, size_t count, size_t size);
must_use returns_owned char *xstrdup(const char *s);
must_use returns_owned char *xstrndup(const char *s, size_t size);
must_use returns_owned char *xasprintf(const char *format, ...) printf_like(1, 2);
must_use returns_owned char *xvasprintf(const char *format, va_list args) printf_like(1, 0);

#endif
