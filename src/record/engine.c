/*
 * Which engine records.
 */
#include "record/engine.h"

#include "record/ability.h"

/* What to say of a failure, unless it says so itself. */
static struct error *refusal_of(const struct target *target, struct error *cause)
{
	if (cause->kind == ERROR_UNSUPPORTED)
		return cause;
	struct error *refusal = target->kind == TARGET_MACHINE ? ability_refusal_machine(cause)
							       : ability_refusal(cause);

	error_destroy(cause);
	return refusal;
}

struct error *engine_open(const struct engine_setup *setup, struct engine **engine)
{
	struct error *err = target_start(setup->target, NULL);

	if (err)
		return err;
	err = engine_perf_open(setup, engine);
	if (!err)
		return NULL;
	target_cancel(setup->target);
	return refusal_of(setup->target, err);
}
