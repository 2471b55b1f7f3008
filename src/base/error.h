#ifndef SONDE_BASE_ERROR_H
#define SONDE_BASE_ERROR_H

/*
 * Error objects.  A fallible function returns `struct error *`: NULL means success; anything else
 * is owned by the caller, which returns it in turn (with a prefix for what was being done) or
 * destroys it.  Results go through last parameters, which are untouched on failure.
 *
 * The shape follows drgn's libdrgn/error.h.
 */

#include <stdarg.h>
#include <stdint.h>

#include "base/compiler.h"

enum error_kind {
	ERROR_INPUT,	   /* a file or stream is invalid */
	ERROR_SYSTEM,	   /* a system call failed; error->code is its errno */
	ERROR_USAGE,	   /* the caller, and finally the user, made an invalid request */
	ERROR_UNSUPPORTED, /* valid, but this build cannot do it */
};

struct error {
	enum error_kind kind;
	int code;      /* errno for ERROR_SYSTEM, else 0 */
	char *message; /* one line, no newline at its end; may hold raw bytes of file names */
	/* Lines to print below the message, such as the place of a mistake; NULL: none. */
	char *detail;
};

/* A new error of the given kind.  Never NULL. */
must_use struct error *error_new(enum error_kind kind, const char *format, ...) printf_like(2, 3);

/* A new ERROR_SYSTEM: the message gets ": " and strerror(code) appended. */
must_use struct error *error_system(int code, const char *format, ...) printf_like(2, 3);

/* ERROR_INPUT at a byte offset in a named input: "NAME: at offset 0xOFF: MESSAGE". */
must_use struct error *error_input(const char *name, uint64_t offset, const char *format, ...)
	printf_like(3, 4);

/* Prepends "PREFIX: " to the message of err and returns err. err must not be NULL. */
must_use struct error *error_prefix(struct error *err, const char *format, ...) printf_like(2, 3);

/*
 * Gives err lines to print below its message, separated by newlines, none at the end; returns err.
 */
must_use struct error *error_detail(struct error *err, const char *format, ...) printf_like(2, 3);

/* Frees err; NULL is allowed. */
void error_destroy(struct error *err);

#endif
