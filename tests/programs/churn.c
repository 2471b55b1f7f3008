/*
 * churn COUNT: threads that live for about half a millisecond, COUNT in all, four at a time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "spin.h"

KEEP uint64_t brief(uint64_t x)
{
	return spin(300000, x) + 1;
}

static void *thread_main(void *context)
{
	return (void *)(uintptr_t)brief((uint64_t)(uintptr_t)context + 1);
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	for (int left = argc > 1 ? atoi(argv[1]) : 4; left > 0; left -= 4) {
		for (int i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, thread_main, NULL) != 0)
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	puts("brief 1 1");
	return 0;
}
