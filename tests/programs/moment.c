/*
 * moment: prints the time at its start, by CLOCK_MONOTONIC, in nanoseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	return 0;
}
