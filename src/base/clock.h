#ifndef SONDE_BASE_CLOCK_H
#define SONDE_BASE_CLOCK_H

#include <stdint.h>

#define SECOND_NS UINT64_C(1000000000)

/* CLOCK_MONOTONIC outside all time namespaces, the clock of samples and all records. */
uint64_t clock_monotonic_ns(void);
/* The CPU time of this thread; not in a browser. */
uint64_t clock_thread_cpu_ns(void);
/* Since 1970, UTC. */
uint64_t clock_unix_ns(void);

#endif
