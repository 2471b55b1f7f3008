/*
 * Functions that Debian's wasi-libc lacks: qsort_r, as a merge sort like glibc's, which is stable
 * and takes n log n steps whatever the order.
 */
#include "page/libc.h"

#include <stdlib.h>
#include <string.h>

#include <stdbool.h>

#include "base/alloc.h"

typedef int compare_fn(const void *a, const void *b, void *context);

static void merge(char *base, char *from, size_t half, size_t count, size_t size,
	compare_fn *compare, void *context)
{
	const char *left = from, *right = from + half * size;
	const char *left_end = right, *right_end = from + count * size;

	memcpy(from, base, count * size);
	while (left < left_end || right < right_end) {
		bool takes_left = left < left_end &&
				  (right == right_end || compare(left, right, context) <= 0);
		const char **next = takes_left ? &left : &right;

		memcpy(base, *next, size);
		*next += size;
		base += size;
	}
}

static void sort(
	char *base, char *scratch, size_t count, size_t size, compare_fn *compare, void *context)
{
	size_t half = count / 2;

	if (count < 2)
		return;
	sort(base, scratch, half, size, compare, context);
	sort(base + half * size, scratch, count - half, size, compare, context);
	merge(base, scratch, half, count, size, compare, context);
}

void qsort_r(void *base, size_t count, size_t size, compare_fn *compare, void *context)
{
	char *scratch = xcalloc(count + 1, size);

	sort(base, scratch, count, size, compare, context);
	free(scratch);
}

struct without_context {
	int (*compare)(const void *a, const void *b);
};

static int compare_without(const void *a, const void *b, void *context)
{
	const struct without_context *c = context;

	return c->compare(a, b);
}

/* wasi-libc's own is not stable, and would give rows that compare equal another order. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	struct without_context context = {compare};

	qsort_r(base, count, size, compare_without, &context);
}

/* Debian's compiler-rt for WebAssembly is built with the stack protector, which wasi-libc lacks. */
uintptr_t __stack_chk_guard = 0x00000aff;

_Noreturn void __stack_chk_fail(void)
{
	abort();
}
