#ifndef SONDE_BASE_COMPILER_H
#define SONDE_BASE_COMPILER_H

/* Spellings for the few compiler attributes that sonde uses. */

#define must_use	  __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))
#define returns_owned	  __attribute__((returns_nonnull))
/* The result depends on the arguments and on memory alone, and nothing is changed. */
#define has_no_effects __attribute__((pure))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Fetches memory that will be read, or written, soon.  WebAssembly has no instruction for it, so
 * there not even the address is computed.
 */
#ifdef __wasm__
#define prefetch(address)	   ((void)sizeof(address))
#define prefetch_to_write(address) ((void)sizeof(address))
#else
#define prefetch(address)	   __builtin_prefetch(address)
#define prefetch_to_write(address) __builtin_prefetch(address, 1)
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
