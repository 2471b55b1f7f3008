/*
 * What makes symbols hard: calls inlined through two levels and from a header, a recursion that is
 * partly inlined into itself, a static function that another file has too, code split into a hot
 * and a cold part.  It is built in many ways and read, not run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "inlines.h"

int other_twin(int x);

static __attribute__((noinline)) int twin(int x)
{
	return x * 3 + step(x);
}

static inline __attribute__((always_inline)) int outer(int x)
{
	int sum = 0;

	for (int i = 0; i < x; i++)
		sum += middle(i);
	return sum;
}

__attribute__((noinline)) int work(int x)
{
	return outer(x) + twin(x);
}

/* GCC inlines a few rounds of it into itself. */
int recurse(int n)
{
	if (n < 2)
		return n;
	return recurse(n - 1) + recurse(n - 2) + step(n);
}

static __attribute__((cold, noinline)) void complain(int x)
{
	fprintf(stderr, "%d\n", x);
	exit(1);
}

/* The unlikely part goes to another section. */
__attribute__((noinline)) int checked(int x)
{
	if (__builtin_expect(x < 0, 0)) {
		int y = outer(-x);
		printf("%d\n", y);
		complain(y);
	}
	return middle(x);
}

static __attribute__((noinline)) int constant(int x, int y)
{
	return x * y + step(y);
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", work(argc * 1000) + other_twin(argc) + recurse(argc) + checked(argc) +
			       constant(argc, 7) + constant(argc + 1, 7));
	return 0;
}
