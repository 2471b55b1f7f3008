/*
 * plugins MILLISECONDS LIBRARY LIBRARY: loads each in turn, again and again, works in it for 10 ms
 * and unloads it, until so much CPU time is used, so that both stand at the same address, one after
 * the other.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu_time.h"
#include "spin.h"

KEEP uint64_t use_plugin(const char *path, uint64_t x)
{
	void *library = dlopen(path, RTLD_NOW);
	uint64_t (*entry)(double, uint64_t) =
		library ? (uint64_t(*)(double, uint64_t))dlsym(library, "plugin_entry") : NULL;

	if (!entry)
		exit(1);
	x = entry(10, x);
	dlclose(library);
	return x + 1;
}

int main(int argc, char **argv)
{
	uint64_t x = 1;

	if (argc < 4)
		return 2;
	struct cpu_time time = cpu_time_of_process(atof(argv[1]));

	do
		x = use_plugin(argv[3], use_plugin(argv[2], x));
	while (cpu_time_is_left(&time));
	puts("use_plugin 0 1");
	return x == 0;
}
