/*
 * Error objects: a kind, an errno, one line of text.  See error.h.
 */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct error *error_take(enum error_kind kind, int code, char *message)
{
	struct error *err = xalloc(sizeof(*err));

	err->kind = kind;
	err->code = code;
	err->message = message;
	err->detail = NULL;
	return err;
}

struct error *error_new(enum error_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *message = xvasprintf(format, args);
	va_end(args);
	return error_take(kind, 0, message);
}

struct error *error_system(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *what = xvasprintf(format, args);
	va_end(args);
	char *message = xasprintf("%s: %s", what, strerror(code));
	free(what);
	return error_take(ERROR_SYSTEM, code, message);
}

struct error *error_input(const char *name, uint64_t offset, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *what = xvasprintf(format, args);
	va_end(args);
	char *message =
		xasprintf("%s: at offset 0x%llx: %s", name, (unsigned long long)offset, what);
	free(what);
	return error_take(ERROR_INPUT, 0, message);
}

struct error *error_prefix(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *prefix = xvasprintf(format, args);
	va_end(args);
	char *message = xasprintf("%s: %s", prefix, err->message);
	free(prefix);
	free(err->message);
	err->message = message;
	return err;
}

struct error *error_detail(struct error *err, const char *format, ...)
{
	va_list args;

	free(err->detail);
	va_start(args, format);
	err->detail = xvasprintf(format, args);
	va_end(args);
	return err;
}

void error_destroy(struct error *err)
{
	if (err == NULL)
		return;
	free(err->detail);
	free(err->message);
	free(err);
}
