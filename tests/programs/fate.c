/*
 * fate MILLISECONDS WHAT: works for about that much CPU time, then ends as told: "exit N",
 * "signal N", or "file PATH", which writes PATH and exits with 0.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spin.h"

KEEP uint64_t work_for(double seconds)
{
	uint64_t x = 1;

	for (clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC); clock() < end;)
		x = spin(50000, x);
	return x;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	if (work_for(atof(argv[1]) / 1000) == 0)
		return 3;
	if (strcmp(argv[2], "signal") == 0)
		raise(atoi(argv[3]));
	if (strcmp(argv[2], "exit") == 0)
		return atoi(argv[3]);
	FILE *f = fopen(argv[3], "w");

	return f && fputs("done\n", f) >= 0 && fclose(f) == 0 ? 0 : 4;
}
