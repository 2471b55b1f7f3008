/* A tail call from one file to another, and back. */
#include "tails.h"

/* Not tails.c's: a name alone does not tell which function is called. */
KEPT static int single(int x)
{
	return inner(x - 1);
}

KEPT int other(int x)
{
	return single(x - 2);
}
