#ifndef SONDE_RECORD_CARRIED_OLD_GLIBC_H
#define SONDE_RECORD_CARRIED_OLD_GLIBC_H

/*
 * Included before the sources of the libraries that a static program carries: they go into programs
 * of other distributions, whose C library may be as old as glibc 2.28.  Functions that have a new
 * version in a newer one without being another function are bound to their first version;
 * release/static checks what is left.  Of libpthread and libdl, which are part of libc since 2.34,
 * the libraries name the old files, which are still there.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* FIRST_GLIBC: the first version for this processor. */
#define OF_FIRST_GLIBC(name) __asm__(".symver " #name "," #name "@" FIRST_GLIBC)

OF_FIRST_GLIBC(dladdr);
OF_FIRST_GLIBC(dlsym);
OF_FIRST_GLIBC(pthread_attr_getstacksize);
OF_FIRST_GLIBC(pthread_key_create);
OF_FIRST_GLIBC(pthread_key_delete);
OF_FIRST_GLIBC(pthread_setspecific);
#ifndef DEFINES_SIGMASK
OF_FIRST_GLIBC(pthread_sigmask);
#endif
__asm__(".symver pthread_getattr_default_np,pthread_getattr_default_np@GLIBC_2.18");

/* Before 2.33 these were no functions of the library; struct stat is the kernel's. */
#define fstat(fd, st)	((int)syscall(SYS_fstat, fd, st))
#define lstat(path, st) ((int)syscall(SYS_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW))

#endif
