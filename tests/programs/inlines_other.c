/* The second file of inlines.c: its own `twin`, and the header's functions once more. */
#include "inlines.h"

int other_twin(int x);

static __attribute__((noinline)) int twin(int x)
{
	return middle(x) - x;
}

int other_twin(int x)
{
	return twin(x + 1) * 2;
}
