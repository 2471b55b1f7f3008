#ifndef SONDE_PAGE_LIBC_H
#define SONDE_PAGE_LIBC_H

/*
 * What Debian's wasi-libc lacks and sonde's rooms use.  Included before each file of the page's
 * module (meson.build).
 */

#include <stddef.h>
#include <stdint.h>

/* As in glibc. */
void qsort_r(void *base, size_t count, size_t size,
	int (*compare)(const void *a, const void *b, void *context), void *context);

/* Of the stack protector. */
extern uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);

#endif
