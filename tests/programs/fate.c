/*
 * fate MILLISECONDS WHAT: works for about that much CPU time, then ends as told: "exit N",
 * "signal N", or "file PATH", which writes PATH and exits with 0.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_time.h"
#include "spin.h"

KEEP uint64_t work_for(double milliseconds)
{
	uint64_t x = 1;

	struct cpu_time time = cpu_time_of_process(milliseconds);

	while (cpu_time_is_left(&time))
		x = spin(50000, x);
	return x;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	if (work_for(atof(argv[1])) == 0)
		return 3;
	if (strcmp(argv[2], "signal") == 0)
		raise(atoi(argv[3]));
	if (strcmp(argv[2], "exit") == 0)
		return atoi(argv[3]);
	FILE *f = fopen(argv[3], "w");

	return f && fputs("done\n", f) >= 0 && fclose(f) == 0 ? 0 : 4;
}
