/*
 * A shared library for plugins.c: PLUGIN_NAME does the work, CALLED_NAME is where it is done.
 */
#include "spin.h"

uint64_t plugin_entry(uint64_t rounds, uint64_t x);

KEEP uint64_t CALLED_NAME(uint64_t rounds, uint64_t x)
{
	for (uint64_t i = 0; i < rounds; i++)
		x = spin(20000, x);
	return x;
}

__attribute__((visibility("default"))) uint64_t plugin_entry(uint64_t rounds, uint64_t x)
{
	return CALLED_NAME(rounds, x) + 1;
}
