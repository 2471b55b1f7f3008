/*
 * sleepers COUNT SECONDS: COUNT threads that sleep, and one, the first, that works; something to
 * attach to.  Prints a line when all are there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int seconds;

static void *sleep_through(void *context)
{
	sleep((unsigned int)seconds);
	return context;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	seconds = atoi(argv[2]);
	time_t end = time(NULL) + seconds;

	for (int left = atoi(argv[1]); left > 0; left--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, sleep_through, NULL) != 0)
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (time(NULL) < end)
		;
	return 0;
}
