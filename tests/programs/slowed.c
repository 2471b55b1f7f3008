/*
 * slowed MS: three functions that use CPU time, by their thread's own clock: `steady` and `calm`
 * 300 ms each, `slowed` as many as MS says.
 */
#include <stdlib.h>
#include <time.h>

#include "spin.h"

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#define FOR_MS(name)                                                                               \
	KEEP uint64_t name(int ms, uint64_t x)                                                     \
	{                                                                                          \
		int64_t end_ns = cpu_ns() + ms * INT64_C(1000000);                                 \
		while (cpu_ns() < end_ns)                                                          \
			for (int i = 0; i < 20000; i++)                                            \
				x ^= x << 13, x ^= x >> 7, x ^= x << 17;                           \
		return x + 1;                                                                      \
	}
FOR_MS(steady)
FOR_MS(calm)
FOR_MS(slowed)

int main(int argc, char **argv)
{
	uint64_t x = slowed(argc > 1 ? atoi(argv[1]) : 0, 1);

	return steady(300, calm(300, x)) == 0;
}
