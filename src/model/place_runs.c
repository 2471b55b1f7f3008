/*
 * The order of each function's places.  See place_runs.h.
 */
#include "model/place_runs.h"

#include <string.h>

#include "model/row_kinds.h"

void place_runs_deinit(struct place_runs *r)
{
	vec_deinit(&r->of_function);
	r->count = 0;
}

struct place_run *place_runs_of(struct place_runs *r, function_id function)
{
	while (r->of_function.count <= function.i)
		vec_push(&r->of_function, (struct place_run){0});
	return &r->of_function.data[function.i];
}

static bool is_before(uint64_t address, uint32_t line, const struct frame *f)
{
	return address < f->obj_addr || (address == f->obj_addr && line < f->line);
}

bool place_run_is_behind(const struct place_run *run, const struct frame *f)
{
	return run->end == 0 || is_before(run->address, run->line, f);
}

bool place_run_find(const struct place_run *run, const struct frame *frames, const struct frame *f,
	frame_id *id)
{
	uint32_t low = run->begin, high = run->end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(frames[middle].obj_addr, frames[middle].line, f))
			low = middle + 1;
		else
			high = middle;
	}
	id->i = low;
	return low < run->end && frame_same(&frames[low], f);
}

void place_runs_add(struct place_runs *r, const struct frame *f)
{
	struct place_run *run = place_runs_of(r, f->function);
	uint32_t id = (uint32_t)r->count++;
	bool is_behind = place_run_is_behind(run, f);

	if (run->end != id || !is_behind)
		run->begin = id;
	run->end = id + 1;
	if (!is_behind)
		return;
	run->address = f->obj_addr;
	run->line = f->line;
}
