#ifndef SONDE_PRELOAD_CALLS_H
#define SONDE_PRELOAD_CALLS_H

/*
 * System calls that the program makes through libc's `syscall`.
 */

#include "preload/preload.h"

typedef long syscall_fn(long, long, long, long, long, long, long);

/* Makes the call with the real function, and repeats it if only our signal has ended a wait. */
long preload_call(syscall_fn *real, long number, const long a[6]);

#endif
