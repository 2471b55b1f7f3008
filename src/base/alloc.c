/*
 * Heap allocation that ends the process when there is no memory.  See alloc.h for why.
 */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *p)
{
	if (p == NULL) {
		fputs("sonde: out of memory\n", stderr);
		exit(125);
	}
	return p;
}

void *xalloc(size_t size)
{
	return check(calloc(1, size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return check(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc_array(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return check(NULL);
	return check(realloc(old, bytes ? bytes : 1));
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
	va_list again;

	va_copy(again, args);
	int size = vsnprintf(NULL, 0, format, args);
	char *s = xalloc((size_t)(size < 0 ? 0 : size) + 1);
	if (size >= 0)
		vsnprintf(s, (size_t)size + 1, format, again);
	va_end(again);
	return s;
}

char *xasprintf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *s = xvasprintf(format, args);
	va_end(args);
	return s;
}
