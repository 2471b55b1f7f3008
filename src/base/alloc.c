/*
 * Heap allocation that ends the process when there is no memory.  See alloc.h for why.
 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void *check(void *p)
{
	if (p == NULL) {
		fputs("sonde: out of memory\n", stderr);
		exit(125);
	}
	return p;
}

#define HUGE_PAGE_BYTES ((uintptr_t)2 << 20)

/*
 * Asks for huge pages where a large allocation has room for them: a page fault for every 4 KiB of a
 * large table or input costs as much as filling it.
 */
static void *advise(void *p, size_t size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t start = ((uintptr_t)p + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
	uintptr_t end = ((uintptr_t)p + size) & ~(HUGE_PAGE_BYTES - 1);

	if (size >= 2 * HUGE_PAGE_BYTES && start < end)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#endif
	return p;
}

void alloc_keep_freed(void)
{
#ifdef __GLIBC__
	/* They only ask; where they are refused nothing is lost but time. */
	(void)mallopt(M_MMAP_MAX, 0);
	(void)mallopt(M_TRIM_THRESHOLD, -1);
	(void)mallopt(M_TOP_PAD, 64 << 20);
#endif
}

void *xalloc(size_t size)
{
	return xcalloc(1, size);
}

void *xcalloc(size_t count, size_t size)
{
	void *p = check(calloc(count ? count : 1, size ? size : 1));

	return advise(p, count * size);
}

void *xrealloc_array(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return check(NULL);
	return advise(check(realloc(old, bytes ? bytes : 1)), bytes);
}

char *xstrdup(const char *s)
{
	return check(strdup(s));
}

char *xstrndup(const char *s, size_t size)
{
	char *copy = xalloc(size + 1);

	memcpy(copy, s, size);
	return copy;
}

char *xvasprintf(const char *format, va_list args)
{
	char *s = NULL;

	if (vasprintf(&s, format, args) < 0)
		s = NULL;
	return check(s);
}

char *xasprintf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *s = xvasprintf(format, args);
	va_end(args);
	return s;
}
