#ifndef SONDE_SYMBOLIZE_KERNEL_NAMES_H
#define SONDE_SYMBOLIZE_KERNEL_NAMES_H

/*
 * Names of the running kernel's functions, kept in the symbol cache's folder from one recording to
 * the next: the kernel takes some 50 ms to print them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct kernel_names;

/* cache_directory NULL: no cache.  Reads nothing yet. */
struct kernel_names *kernel_names_create(const char *cache_directory);
void kernel_names_destroy(struct kernel_names *names);

/* True, with *name set, if the function at va is known; names owns the name. */
bool kernel_names_find(struct kernel_names *names, uint64_t va, struct str *name);
/* A sentence why there are no names at all; NULL: there are, or nothing was requested yet. */
const char *kernel_names_problem(const struct kernel_names *names);

#endif
