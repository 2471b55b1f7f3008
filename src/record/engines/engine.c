/*
 * Chooses the engine: perf events, or a preloaded library where these are refused.
 */
#include "record/engines/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/engines/exact/exact.h"
#include "record/engines/preload/preload_library.h"
#include "record/engines/preload/preload_wake.h"
#include "record/events/event_ability.h"

/* The message for a failure; an ERROR_UNSUPPORTED already has one. */
static struct error *refusal_of(const struct target *target, struct error *cause)
{
	if (cause->kind == ERROR_UNSUPPORTED)
		return cause;
	struct error *refusal = target->kind == TARGET_MACHINE ? ability_refusal_machine(cause)
							       : ability_refusal(cause);

	error_destroy(cause);
	return refusal;
}

/* Whether a policy refuses perf events: the kernel's, or a container's. */
static bool is_refusal(const struct error *err)
{
	return err->kind == ERROR_SYSTEM &&
	       (err->code == EACCES || err->code == EPERM || err->code == ENOSYS);
}

/* Whether stacks may be truncated that only a library in the target could copy completely. */
static bool wants_library(const struct engine_setup *setup)
{
	return setup->options->engine == RECORDER_ENGINE_AUTO &&
	       setup->target->kind == TARGET_COMMAND && exact_lacks();
}

/*
 * The library for the target, and the environment that loads it.  On failure, recording continues
 * without it.
 */
static void prepare_library(struct engine_setup *setup, struct preload_variables *variables)
{
	struct error *err = preload_wake_open(setup->options->interval_ns, &setup->wake);

	if (!err)
		err = preload_variables_init(variables, preload_wake_memory(setup->wake),
			setup->target->preload ? setup->target->preload : getenv("LD_PRELOAD"));
	if (!err)
		return;
	error_destroy(err);
	preload_wake_close(setup->wake);
	setup->wake = NULL;
}

static void say_library(const struct engine_setup *setup)
{
	if (setup->wake && setup->options->say)
		setup->options->say(
			"a preloaded library is in the command's environment: it sleeps "
			"unless stacks are cut, as BPF is not allowed");
}

static struct error *open_perf(const struct engine_setup *given, struct engine **engine)
{
	struct engine_setup setup = *given;
	struct preload_variables variables = {0};

	if (wants_library(&setup))
		prepare_library(&setup, &variables);
	struct error *err = target_start(setup.target, setup.wake ? variables.variables : NULL);

	preload_variables_deinit(&variables);
	if (!err) {
		err = engine_perf_open(&setup, engine);
		if (err)
			target_cancel(setup.target);
	}
	if (err)
		preload_wake_close(setup.wake);
	else
		say_library(&setup);
	return err;
}

/* If the library fails too, the error states how to allow perf events. */
static struct error *open_preload_instead(
	const struct engine_setup *setup, struct error *cause, struct engine **engine)
{
	struct error *err = engine_preload_open(setup, engine);
	char line[160];

	if (err) {
		error_destroy(err);
		return refusal_of(setup->target, cause);
	}
	snprintf(line, sizeof(line),
		"perf_event_open is refused (%s): sampling by a preloaded library",
		strerror(cause->code));
	if (setup->options->say)
		setup->options->say(line);
	error_destroy(cause);
	return NULL;
}

struct error *engine_open(const struct engine_setup *setup, struct engine **engine)
{
	struct error *err;

	if (setup->options->engine == RECORDER_ENGINE_PRELOAD)
		return engine_preload_open(setup, engine);
	err = open_perf(setup, engine);
	if (!err)
		return NULL;
	/* The library samples only time, and only threads of its own processes. */
	if (setup->options->engine == RECORDER_ENGINE_AUTO && is_refusal(err) &&
		setup->target->kind == TARGET_COMMAND && setup->options->counter_count == 0 &&
		!setup->options->wakers && !setup->options->locks)
		return open_preload_instead(setup, err, engine);
	return refusal_of(setup->target, err);
}
