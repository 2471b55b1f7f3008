#ifndef SONDE_PRELOAD_RAW_H
#define SONDE_PRELOAD_RAW_H

/*
 * System calls without libc: they do not change errno, take no lock and cannot be interposed, so
 * they are safe in a signal handler.  They return -errno.  And the thread pointer, which gcc before
 * 11 and clang before 14 have no builtin for.
 */

#include <stdint.h>
#include <sys/syscall.h>

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* The thread control block, whose first word is its own address. */
static inline char *raw_thread_pointer(void)
{
	char *pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

#define raw0(n)		    raw_call((n), 0, 0, 0, 0, 0, 0)
#define raw1(n, a)	    raw_call((n), (long)(a), 0, 0, 0, 0, 0)
#define raw2(n, a, b)	    raw_call((n), (long)(a), (long)(b), 0, 0, 0, 0)
#define raw3(n, a, b, c)    raw_call((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define raw4(n, a, b, c, d) raw_call((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define raw6(n, a, b, c, d, e, f)                                                                  \
	raw_call((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
