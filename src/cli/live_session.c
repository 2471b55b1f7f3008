/*
 * A running program's zones as a session: the reader of zones memory in files reads a copy of the
 * program's memory, which does not change.  So all views, filters and formats of recordings also
 * work for running programs.
 */
#include "cli/live_session.h"

#include <poll.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/live_names.h"
#include "cli/live_target.h"

struct live_session {
	struct live *live;
	struct live_names *names; /* NULL: a file, which contains the names */
	char *source;
	bool was_final; /* the last session was complete */
};

static bool is_running(const struct live *live)
{
	return live->state == LIVE_RUNNING || live->state == LIVE_STOPPED;
}

struct error *live_session_create(const char *program, struct live_session **result)
{
	struct live_session *l = xcalloc(1, sizeof(*l));
	struct error *err = live_target_open(program, &l->live);

	if (err) {
		free(l);
		return err;
	}
	if (l->live->path) {
		l->source = xstrdup(l->live->path);
	} else {
		const struct live_process *process = &l->live->process;

		l->source = xasprintf("%s (process %d)", process->name, process->pid);
		l->names = live_names_create(process->pid);
	}
	*result = l;
	return NULL;
}

void live_session_destroy(struct live_session *live)
{
	if (live == NULL)
		return;
	live_names_destroy(live->names);
	live_destroy(live->live);
	free(live->source);
	free(live);
}

struct error *live_session_open(struct live_session *live, struct session **session)
{
	struct live_memory copy;
	struct error *err;

	live->was_final = !is_running(live->live);
	err = live_copy(live->live, live_names_namer(live->names), &copy);
	if (err)
		return err;
	err = session_open_bytes(
		&(struct reader_input){.name = live->source, .data = copy.data, .size = copy.size},
		"zones", session);
	live_memory_deinit(&copy);
	return err;
}

bool live_session_wait(struct live_session *live, uint64_t time_ns)
{
	struct pollfd end = {.fd = live->live->pidfd, .events = POLLIN};
	uint64_t until_ns = clock_monotonic_ns() + time_ns, now_ns;

	if (live->was_final)
		return false;
	while ((now_ns = clock_monotonic_ns()) < until_ns && !(end.revents & POLLIN)) {
		uint64_t left_ms = (until_ns - now_ns + 999999) / 1000000;

		/* A signal only needs a check of the clock. */
		(void)poll(&end, 1, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX);
	}
	live_look(live->live);
	return true;
}
