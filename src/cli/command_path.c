/*
 * Looks for a program as execvp(3) does.
 */
#include "cli/command_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* 0, or the errno that execve would set for this path. */
static int check_path(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) == 0 ? 0 : errno;
}

/* 0, or the errno: that of an existing file that cannot be run, else ENOENT. */
static int search_path(const char *name)
{
	const char *path = getenv("PATH");
	int code = ENOENT;

	for (const char *at = path ? path : "/bin:/usr/bin"; at;) {
		const char *end = strchrnul(at, ':');
		char *candidate =
			end == at ? xstrdup(name) : xasprintf("%.*s/%s", (int)(end - at), at, name);
		int found = check_path(candidate);

		free(candidate);
		if (found == 0)
			return 0;
		if (found == EACCES)
			code = EACCES;
		at = *end ? end + 1 : NULL;
	}
	return code;
}

struct error *command_path_check(const char *name)
{
	int code = strchr(name, '/') ? check_path(name) : search_path(name);

	if (code == 0)
		return NULL;
	if (code == ENOENT && !strchr(name, '/')) {
		struct error *err = error_new(ERROR_SYSTEM, "%s: no such command", name);

		err->code = code;
		return err;
	}
	return error_system(code, "%s", name);
}
