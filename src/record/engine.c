/*
 * Which engine records.
 */
#include "record/engine.h"

#include "record/ability.h"

struct error *engine_open(const struct engine_setup *setup, struct engine **engine)
{
	struct error *err = target_start(setup->target, NULL);

	if (err)
		return err;
	err = engine_perf_open(setup, engine);
	if (!err)
		return NULL;
	struct error *refusal = ability_refusal(err);

	error_destroy(err);
	target_cancel(setup->target);
	return refusal;
}
