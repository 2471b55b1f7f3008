#ifndef SONDE_PRELOAD_FILTER_H
#define SONDE_PRELOAD_FILTER_H

/* How a seccomp filter would respond to the system calls of the preloaded library. */

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the filter allows all calls that the library makes in a thread, so that sampling can
 * continue under it.  It comes from the program, and need not be one that the kernel accepts; then
 * the answer is false.
 */
bool preload_filter_allows(const struct sock_filter *code, size_t count);

#endif
