/* Heap allocation that ends the process when memory runs out.  See alloc.h for why. */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void *check(void *p)
{
	if (p == NULL) {
		fputs("sonde: out of memory\n", stderr);
		exit(ALLOC_EXIT_STATUS);
	}
	return p;
}

/* A block with its own mapping begins at most this far after the start of a page. */
#define HEADER_BYTES   32
#define KEPT_PAD_BYTES (16 << 20)
/* Tables of at least this size have their own mapping. */
#define APART_BYTES ((size_t)1 << 20)
#define LARGE_BYTES ((size_t)64 << 10)
/* A huge page. */
#define HUGE_BYTES ((size_t)2 << 20)
/*
 * Blocks of at least this size are rounded up to whole huge pages.  Smaller ones
 * would waste too much.
 */
#define WHOLE_BYTES ((size_t)8 << 20)
/* If memory is spared, blocks of at least this size go back as soon as they are freed. */
#define SPARE_BYTES (128 << 10)
#if defined(MADV_HUGEPAGE) && !defined(MADV_COLLAPSE)
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

static bool is_sparing;

/*
 * Advises whole pages, so that a table's mapping is uniform.  Otherwise the kernel splits it in
 * two; mremap cannot move these, and realloc would copy.
 */
static void want_huge_pages(uintptr_t from, uintptr_t to)
{
#ifdef MADV_HUGEPAGE
	uintptr_t page = (uintptr_t)getpagesize();
	uintptr_t start = from & ~(page - 1);
	uintptr_t end = (to + page - 1) & ~(page - 1);

	(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
	(void)from;
	(void)to;
#endif
}

/*
 * The size of a large block whose mapping is a whole number of huge pages: the kernel aligns such a
 * mapping to huge pages if it can.
 */
static size_t whole_pages(size_t bytes)
{
	if (is_sparing || bytes < WHOLE_BYTES || bytes > SIZE_MAX / 2)
		return bytes;
	return ((bytes + HEADER_BYTES + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1)) - HEADER_BYTES;
}

/*
 * malloc has written its header before huge pages can be requested.  If one small page is in use,
 * its neighbours become small as well, with 512 faults, unless they are collapsed immediately.
 */
static void *gather(void *p, size_t bytes)
{
#ifdef MADV_COLLAPSE
	uintptr_t start = (uintptr_t)p & ~(HUGE_BYTES - 1);

	if (!is_sparing && bytes >= WHOLE_BYTES - HEADER_BYTES &&
		(uintptr_t)p - start <= HEADER_BYTES)
		(void)madvise((void *)start, HUGE_BYTES, MADV_COLLAPSE);
#else
	(void)bytes;
#endif
	return p;
}

/* The end of the heap when huge pages were last requested; 0: freed memory is not kept. */
#ifdef __GLIBC__
static uintptr_t kept_until;
#endif

/*
 * Requests huge pages for large allocations, because a page fault for every 4 KiB of a large table
 * or input costs as much as filling it.  If freed memory is kept, smaller tables are in one heap
 * that grows by at least the pad; its new part is requested at once, before any of it is used in
 * small pages.
 */
static void *advise(void *p, size_t size)
{
	if (is_sparing || size < LARGE_BYTES)
		return p;
#ifdef __GLIBC__
	uintptr_t end = kept_until ? (uintptr_t)sbrk(0) : 0;

	if (end > kept_until) {
		want_huge_pages(kept_until, end);
		kept_until = end;
	}
	size = malloc_usable_size(p);
#endif
	if (size >= APART_BYTES)
		want_huge_pages((uintptr_t)p, (uintptr_t)p + size);
	return p;
}

void alloc_keep_freed(void)
{
#ifdef __GLIBC__
	/* These are only requests; if they are refused, it just takes longer. */
	(void)mallopt(M_MMAP_THRESHOLD, (int)APART_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, -1);
	(void)mallopt(M_TOP_PAD, KEPT_PAD_BYTES);
	/* What a thread has freed serves the others, too. */
	(void)mallopt(M_ARENA_MAX, 1);
	kept_until = (uintptr_t)sbrk(0);
#endif
}

void alloc_spare(void)
{
	is_sparing = true;
#ifdef __GLIBC__
	/* A value that is set stays: glibc would raise the first by what is freed. */
	(void)mallopt(M_MMAP_THRESHOLD, SPARE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
#endif
}

void *xalloc(size_t size)
{
	return xcalloc(1, size);
}

void *xcalloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return check(NULL);
	bytes = whole_pages(bytes ? bytes : 1);
	return gather(advise(check(calloc(1, bytes)), bytes), bytes);
}

/*
 * Whether realloc would have to copy: a block with its own mapping, which begins with malloc's
 * header, is remapped instead.
 */
static bool would_copy(void *old, size_t bytes)
{
#ifdef __GLIBC__
	return old && ((uintptr_t)old & ((uintptr_t)getpagesize() - 1)) > HEADER_BYTES &&
	       malloc_usable_size(old) < bytes;
#else
	(void)old;
	(void)bytes;
	return false;
#endif
}

static bool is_large(void *p)
{
#ifdef __GLIBC__
	return p && malloc_usable_size(p) >= WHOLE_BYTES - HEADER_BYTES;
#else
	return p != NULL;
#endif
}

/* Like realloc, but copies to huge pages. */
static void *moved(void *old, size_t bytes)
{
	void *new = gather(advise(check(malloc(bytes)), bytes), bytes);

#ifdef __GLIBC__
	memcpy(new, old, malloc_usable_size(old));
#endif
	free(old);
	return new;
}

void *xrealloc_array(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return check(NULL);
	bytes = whole_pages(bytes);
	if (bytes >= APART_BYTES && would_copy(old, bytes))
		return moved(old, bytes);
	bool was_large = is_large(old);
	void *p = advise(check(realloc(old, bytes ? bytes : 1)), bytes);
	return was_large ? p : gather(p, bytes);
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
