#ifndef SONDE_BASE_COMPILER_H
#define SONDE_BASE_COMPILER_H

/* Spellings for the few compiler attributes that sonde uses. */

#define must_use	  __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))
#define returns_owned	  __attribute__((returns_nonnull))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
