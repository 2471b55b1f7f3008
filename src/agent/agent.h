#ifndef SONDE_AGENT_AGENT_H
#define SONDE_AGENT_AGENT_H

/*
 * The agent: samples the whole machine for as long as it runs, and writes a segment each minute.
 *
 * It is a small process that starts, ends and waits for others: one for each segment, which records
 * and then resolves names, and one for each that is sent.  It never samples itself, so what it has
 * in memory does not grow.
 */

#include "agent/segment.h"
#include "agent/settings.h"
#include "base/error.h"

struct agent_hooks {
	struct segment_hooks segment;
	/*
	 * Reads the settings again; texts stay valid as long as the agent runs.  On failure the old
	 * ones stay.
	 */
	struct error *(*reload)(void *context, struct agent_settings *settings);
	void *context;
};

/*
 * Runs until SIGTERM or SIGINT; SIGHUP reloads.  Fails if it cannot begin: the folder, the store,
 * or the first recording.
 */
must_use struct error *agent_run(
	const struct agent_settings *settings, const struct agent_hooks *hooks);

#endif
