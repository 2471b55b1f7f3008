/* A function that is zoned by the compiler's hooks: see src/zonehook. */
#include <stddef.h>

#include "zones_bench.h"

#define UNHOOKED __attribute__((no_instrument_function))

static __attribute__((noinline)) void hooked(void)
{
	KEEP();
}

static UNHOOKED void run_hooked(int pairs)
{
	for (int i = 0; i < pairs; i++)
		hooked();
}

const struct variant zones_hooked[] = {
	{"hooked", run_hooked, NULL, 0, 0},
	{NULL, NULL, NULL, 0, 0},
};
