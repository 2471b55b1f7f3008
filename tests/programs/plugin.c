/*
 * A shared library for plugins.c: plugin_entry works for so much CPU time, CALLED_NAME is where it
 * does.
 */
#include "cpu_time.h"
#include "spin.h"

uint64_t plugin_entry(double milliseconds, uint64_t x);

KEEP uint64_t CALLED_NAME(uint64_t x)
{
	return spin(250000, x) + 1;
}

__attribute__((visibility("default"))) uint64_t plugin_entry(double milliseconds, uint64_t x)
{
	struct cpu_time time = cpu_time_of_thread(milliseconds);

	do
		x = CALLED_NAME(x);
	while (cpu_time_is_left(&time));
	return x + 1;
}
