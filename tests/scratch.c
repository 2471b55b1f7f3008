/*
 * Temporary folders, and shell commands in them.
 */
#include "scratch.h"

#include <assert.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/alloc.h"

extern char **environ;

char *scratch_create(void)
{
	const char *base = getenv("TMPDIR");
	char *folder = xasprintf("%s/sonde-test-XXXXXX", base ? base : "/tmp");

	if (mkdtemp(folder) == NULL)
		abort();
	return folder;
}

void scratch_destroy(char *folder)
{
	scratch_run("/", "rm -rf '%s'", folder);
	free(folder);
}

bool scratch_run(const char *folder, const char *format, ...)
{
	const char *root = getenv("SOURCE_ROOT");
	va_list args;
	int status = -1;
	pid_t pid;

	va_start(args, format);
	char *command = xvasprintf(format, args);
	va_end(args);
	char *script =
		xasprintf("exec >/dev/null 2>&1 </dev/null; cd '%s' && SRC='%s/tests/programs' "
			  "&& { %s\n}",
			folder, root ? root : ".", command);
	char *const argv[] = {"sh", "-c", script, NULL};
	if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0)
		waitpid(pid, &status, 0);
	free(script);
	free(command);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
