/*
 * Processes and threads as frames.  The profile is built once more, sample by sample; a stack is
 * made anew once for each root that it is seen under.
 */
#include "model/roots.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/import.h"

const char *const roots_names[ROOTS_COUNT + 1] = {"none", "process", "thread", NULL};

struct rooting {
	struct import import;
	enum profile_roots roots;
	stack_id *thread_top; /* [of from]: the stack of its root frames alone */
	struct map stacks;    /* (top, stack of from) → stack */
	VEC(stack_id) path;   /* of from, innermost first: still to be made */
};

/*
 * The stack of a frame "NAME (KIND ID)" below others; a first thread has its process's name and id.
 */
static stack_id root_stack(
	struct rooting *r, stack_id parent, string_id name, const char *kind, int64_t id)
{
	struct builder *to = r->import.to;
	char *text = arena_printf(r->import.scratch, "%.*s (%s%" PRId64 ")",
		STR_ARG(profile_string(r->import.from, name)), kind, id);
	string_id none = builder_string(to, STR(""));
	function_id function = builder_function(
		to, builder_string(to, str_from(text)), (object_id){NO_ID}, none, 0);

	return builder_stack(to, parent, builder_frame(to, function, none, 0, false, 0));
}

static void make_thread_tops(struct rooting *r)
{
	const struct profile *p = r->import.from;

	r->thread_top = ARENA_ARRAY(r->import.scratch, stack_id, p->thread_count);
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct thread *t = &p->threads[i];
		const struct process *process = &p->processes[t->process.i];

		r->thread_top[i] = root_stack(r, (stack_id){0}, process->name, "", process->pid);
		if (r->roots == ROOTS_THREAD)
			r->thread_top[i] =
				root_stack(r, r->thread_top[i], t->name, "thread ", t->tid);
	}
}

/* The stack below those root frames. */
static stack_id rooted_stack(struct rooting *r, stack_id top, stack_id stack)
{
	const struct stack *stacks = r->import.from->stacks;
	stack_id made = top;
	uint32_t known;

	for (; stack.i != 0; stack = stacks[stack.i].parent) {
		if (map_get(&r->stacks, top.i, stack.i, &known)) {
			made.i = known;
			break;
		}
		vec_push(&r->path, stack);
	}
	while (r->path.count > 0) {
		stack_id next = r->path.data[--r->path.count];

		made = builder_stack(r->import.to, made, r->import.frames[stacks[next.i].frame.i]);
		map_put(&r->stacks, top.i, next.i, made.i);
	}
	return made;
}

static void copy_samples(struct rooting *r)
{
	const struct profile *p = r->import.from;
	const struct samples *s = &p->samples;
	int64_t *weight = ARENA_ARRAY(r->import.scratch, int64_t, p->metric_count);

	for (size_t i = 0; i < s->count; i++) {
		uint32_t thread = s->thread[i].i;

		for (size_t m = 0; m < p->metric_count; m++)
			weight[m] = s->weight[m][i];
		builder_sample(r->import.to, rooted_stack(r, r->thread_top[thread], s->stack[i]),
			r->import.threads[thread], s->time_ns ? s->time_ns[i] : UINT64_MAX, weight);
		if (s->zone)
			builder_sample_zone(
				r->import.to, rooted_stack(r, r->thread_top[thread], s->zone[i]));
	}
}

static void copy_zone_events(struct rooting *r)
{
	const struct zone_events *e = &r->import.from->zone_events;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t thread = e->thread[i].i;

		builder_zone_event(r->import.to, r->import.threads[thread], e->time_ns[i],
			rooted_stack(r, r->thread_top[thread], e->stack[i]));
	}
}

struct error *profile_with_roots(
	const struct profile *p, enum profile_roots roots, struct profile **rooted)
{
	struct rooting r = {.roots = roots};

	struct error *err = profile_needs_threads(p);

	if (err)
		return err;
	struct arena *scratch = arena_create();
	struct builder *to = builder_create();
	import_init(&r.import, p, to, scratch);
	import_metrics(&r.import);
	import_frames(&r.import);
	import_threads(&r.import);
	make_thread_tops(&r);
	copy_samples(&r);
	import_ticks(&r.import);
	copy_zone_events(&r);
	import_arcs(&r.import);
	import_notes(&r.import);
	import_header(&r.import);
	vec_deinit(&r.path);
	map_deinit(&r.stacks);
	arena_destroy(scratch);
	return builder_finish(to, rooted);
}
