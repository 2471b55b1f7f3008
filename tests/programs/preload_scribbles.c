/*
 * preload_scribbles MILLISECONDS: works for that much CPU time while another thread writes over
 * what the preloaded library tells the recorder of its records.  Prints "done".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/preload/shared.h"
#include "cpu_time.h"
#include "spin.h"

static volatile int over;

/* The memory that the library shares with the recorder; NULL: there is none. */
static uint8_t *find_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	void *begin = NULL;

	while (maps && !begin && fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:sonde-preload"))
			sscanf(line, "%p", &begin);
	if (maps)
		fclose(maps);
	return begin;
}

static void *scribble(void *memory)
{
	uint8_t *places = (uint8_t *)memory + PRELOAD_DATA_OFF + PRELOAD_PLACES_OFF;
	struct timespec pause = {.tv_nsec = 100000};

	while (memory && !over) {
		memset(places, 0xff, PRELOAD_RECORDS_OFF - PRELOAD_PLACES_OFF);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

KEEP uint64_t work_for(double seconds)
{
	uint64_t x = 1;

	struct cpu_time time = cpu_time_of_thread(seconds * 1000);

	while (cpu_time_is_left(&time))
		x = spin(50000, x);
	return x;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) / 1000 : 0.1;
	pthread_t other;

	if (pthread_create(&other, NULL, scribble, find_memory()) != 0 || work_for(seconds) == 0)
		return 3;
	over = 1;
	pthread_join(other, NULL);
	puts("done");
	return 0;
}
