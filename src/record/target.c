/*
 * The target: a launched command.  Its end is learned from wait4 alone.
 */
#include "record/target.h"

#include <sys/wait.h>

struct error *target_start(struct target *t, char *const *environment)
{
	return launch_start(&t->launch, t->command, environment, t->state);
}

struct error *target_release(struct target *t)
{
	return launch_release(&t->launch, t->command[0]);
}

void target_cancel(struct target *t)
{
	launch_cancel(&t->launch);
}

void target_look(struct target *t)
{
	if (!t->ended && wait4(t->launch.pid, &t->wait_status, WNOHANG, &t->usage) == t->launch.pid)
		t->ended = true;
}
