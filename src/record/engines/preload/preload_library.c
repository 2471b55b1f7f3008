/*
 * Finds libsonde-preload.so relative to our own program: next to it in a build, or in LIBDIR/sonde
 * of the same prefix if installed, even if the prefix was moved.  A static program carries it.
 */
#include "record/engines/preload/preload_library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "preload/shared.h"
#include "record/carried/carried_libraries.h"

static char *format(const char *pattern, const char *a, const char *b)
{
	char *text = NULL;

	if (asprintf(&text, pattern, a, b) < 0)
		abort();
	return text;
}

static char *real_path(char *path)
{
	char *real = realpath(path, NULL);

	free(path);
	return real;
}

/* As built or installed with our own program; NULL: neither. */
static char *path_beside(const char *room, const char *name)
{
	char self[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (size <= 0)
		return NULL;
	self[size] = '\0';
	char *slash = strrchr(self, '/');

	if (!slash)
		return NULL;
	*slash = '\0';
	/* From the program's folder; the second is set by the build. */
	static const char *const folders[] = {"src", SONDE_PRELOAD_FROM_BIN, "."};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char *real =
			real_path(i == 0 ? xasprintf("%s/%s/%s/%s", self, folders[i], room, name)
					 : xasprintf("%s/%s/%s", self, folders[i], name));

		if (real)
			return real;
	}
	return NULL;
}

char *library_path(const char *room, const char *name)
{
	char *path = path_beside(room, name), *folder = path ? NULL : carried_libraries();

	if (folder)
		path = real_path(xasprintf("%s/src/%s/%s", folder, room, name));
	free(folder);
	return path;
}

char *preload_library_path(void)
{
	return library_path("preload", "libsonde-preload.so");
}

struct error *preload_variables_init(
	struct preload_variables *p, const struct preload_memory *memory, const char *before)
{
	char *library = preload_library_path();

	if (!library)
		return error_new(ERROR_UNSUPPORTED, "libsonde-preload.so %s", library_missing);
	/* The separators of LD_PRELOAD cannot be quoted. */
	if (strpbrk(library, " :")) {
		struct error *err = error_new(ERROR_UNSUPPORTED,
			"%s can't be preloaded, as its path has a blank or a colon", library);

		free(library);
		return err;
	}
	p->variables[0] = before && *before ? format("LD_PRELOAD=%s:%s", before, library)
					    : format("LD_PRELOAD=%s%s", library, "");
	p->variables[1] = format("%s=%s", PRELOAD_VARIABLE, preload_memory_address(memory).text);
	free(library);
	return NULL;
}

void preload_variables_deinit(struct preload_variables *p)
{
	free(p->variables[0]);
	free(p->variables[1]);
	*p = (struct preload_variables){0};
}
