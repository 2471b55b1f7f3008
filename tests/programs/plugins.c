/*
 * plugins ROUNDS LIBRARY LIBRARY: loads each in turn, again and again, works in it and unloads it,
 * so that both stand at the same address, one after the other.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "spin.h"

KEEP uint64_t use_plugin(const char *path, uint64_t x)
{
	void *library = dlopen(path, RTLD_NOW);
	uint64_t (*entry)(uint64_t, uint64_t) =
		library ? (uint64_t(*)(uint64_t, uint64_t))dlsym(library, "plugin_entry") : NULL;

	if (!entry)
		exit(1);
	x = entry(500, x);
	dlclose(library);
	return x + 1;
}

int main(int argc, char **argv)
{
	uint64_t x = 1;

	if (argc < 4)
		return 2;
	for (int rounds = atoi(argv[1]); rounds > 0; rounds--)
		x = use_plugin(argv[3], use_plugin(argv[2], x));
	puts("use_plugin 0 1");
	return x == 0;
}
