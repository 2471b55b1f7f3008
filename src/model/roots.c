/*
 * Processes and threads as frames.  The profile is built once more, sample by sample; a stack is
 * made anew once for each root that it is seen under.
 */
#include "model/roots.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"

const char *const roots_names[ROOTS_COUNT + 1] = {"none", "process", "thread", NULL};

struct rooting {
	const struct profile *from;
	struct builder *to;
	struct arena *scratch;
	enum profile_roots roots;
	frame_id *frames;     /* [of from] */
	thread_id *threads;   /* [of from] */
	stack_id *thread_top; /* [of from]: the stack of its root frames alone */
	struct map stacks;    /* (top, stack of from) → stack */
	VEC(stack_id) path;   /* of from, innermost first: still to be made */
};

static string_id copy_string(struct rooting *r, string_id id)
{
	return builder_string(r->to, profile_string(r->from, id));
}

static void copy_metrics(struct rooting *r)
{
	for (size_t i = 0; i < r->from->metric_count; i++) {
		const struct metric *m = &r->from->metrics[i];

		builder_metric(
			r->to, profile_string(r->from, m->name), profile_string(r->from, m->unit));
	}
}

static object_id copy_object(struct rooting *r, object_id id)
{
	if (id.i == NO_ID)
		return id;
	const struct object *o = &r->from->objects[id.i];

	return builder_object(r->to, profile_string(r->from, o->path),
		profile_string(r->from, o->build_id), o->kind);
}

static function_id copy_function(struct rooting *r, function_id id)
{
	if (id.i == NO_ID)
		return id;
	const struct function *f = &r->from->functions[id.i];

	return builder_function(r->to, copy_string(r, f->name), copy_object(r, f->object),
		copy_string(r, f->file), f->line);
}

static void copy_arcs(struct rooting *r)
{
	for (size_t i = 0; i < r->from->arc_count; i++) {
		const struct arc *a = &r->from->arcs[i];

		builder_arc(
			r->to, copy_function(r, a->caller), copy_function(r, a->callee), a->calls);
	}
}

static void copy_frames(struct rooting *r)
{
	r->frames = ARENA_ARRAY(r->scratch, frame_id, r->from->frame_count);
	for (size_t i = 0; i < r->from->frame_count; i++) {
		const struct frame *f = &r->from->frames[i];

		r->frames[i] = builder_frame(r->to, copy_function(r, f->function),
			copy_string(r, f->file), f->line, f->is_inline, f->obj_addr);
	}
}

/*
 * The stack of a frame "NAME (KIND ID)" below others; a first thread has its process's name and id.
 */
static stack_id root_stack(
	struct rooting *r, stack_id parent, string_id name, const char *kind, int64_t id)
{
	char *text = arena_printf(r->scratch, "%.*s (%s%" PRId64 ")",
		STR_ARG(profile_string(r->from, name)), kind, id);
	string_id none = builder_string(r->to, STR(""));
	function_id function = builder_function(
		r->to, builder_string(r->to, str_from(text)), (object_id){NO_ID}, none, 0);

	return builder_stack(r->to, parent, builder_frame(r->to, function, none, 0, false, 0));
}

static void copy_threads(struct rooting *r)
{
	const struct profile *p = r->from;
	process_id *processes = ARENA_ARRAY(r->scratch, process_id, p->process_count);

	for (size_t i = 0; i < p->process_count; i++)
		processes[i] = builder_process(r->to, p->processes[i].pid, p->processes[i].start_ns,
			profile_string(p, p->processes[i].name));
	r->threads = ARENA_ARRAY(r->scratch, thread_id, p->thread_count);
	r->thread_top = ARENA_ARRAY(r->scratch, stack_id, p->thread_count);
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct thread *t = &p->threads[i];
		const struct process *process = &p->processes[t->process.i];

		r->threads[i] = builder_thread(r->to, t->tid, processes[t->process.i], t->start_ns,
			profile_string(p, t->name));
		r->thread_top[i] = root_stack(r, (stack_id){0}, process->name, "", process->pid);
		if (r->roots == ROOTS_THREAD)
			r->thread_top[i] =
				root_stack(r, r->thread_top[i], t->name, "thread ", t->tid);
	}
}

/* The stack below those root frames. */
static stack_id rooted_stack(struct rooting *r, stack_id top, stack_id stack)
{
	stack_id made = top;
	uint32_t known;

	for (; stack.i != 0; stack = r->from->stacks[stack.i].parent) {
		if (map_get(&r->stacks, top.i, stack.i, &known)) {
			made.i = known;
			break;
		}
		vec_push(&r->path, stack);
	}
	while (r->path.count > 0) {
		stack_id next = r->path.data[--r->path.count];

		made = builder_stack(r->to, made, r->frames[r->from->stacks[next.i].frame.i]);
		map_put(&r->stacks, top.i, next.i, made.i);
	}
	return made;
}

static void copy_samples(struct rooting *r)
{
	const struct samples *s = &r->from->samples;
	int64_t *weight = ARENA_ARRAY(r->scratch, int64_t, r->from->metric_count);

	for (size_t i = 0; i < s->count; i++) {
		uint32_t thread = s->thread[i].i;

		for (size_t m = 0; m < r->from->metric_count; m++)
			weight[m] = s->weight[m][i];
		builder_sample(r->to, rooted_stack(r, r->thread_top[thread], s->stack[i]),
			r->threads[thread], s->time_ns ? s->time_ns[i] : UINT64_MAX, weight);
	}
}

static void copy_rest(struct rooting *r)
{
	const struct profile *p = r->from;
	struct builder_header *header = builder_header(r->to);

	for (size_t i = 0; i < p->note_count; i++)
		builder_note(r->to, p->notes[i].kind, p->notes[i].count, "%.*s",
			STR_ARG(profile_string(p, p->notes[i].text)));
	header->stats = p->stats;
	header->source = copy_string(r, p->source);
	header->format = copy_string(r, p->format);
	header->command = copy_string(r, p->command);
	header->host = copy_string(r, p->host);
	header->start_unix_ns = p->start_unix_ns;
	header->default_metric = p->default_metric;
	header->has_stacks = p->has_stacks;
}

struct error *profile_with_roots(
	const struct profile *p, enum profile_roots roots, struct profile **rooted)
{
	struct rooting r = {.from = p, .roots = roots};

	if (p->samples.count > 0 ? !p->samples.thread : p->stack_count > 1)
		return error_new(ERROR_UNSUPPORTED,
			"%.*s does not tell which processes and threads were sampled",
			STR_ARG(profile_string(p, p->source)));
	r.scratch = arena_create();
	r.to = builder_create();
	copy_metrics(&r);
	copy_frames(&r);
	copy_threads(&r);
	copy_samples(&r);
	copy_arcs(&r);
	copy_rest(&r);
	vec_deinit(&r.path);
	map_deinit(&r.stacks);
	arena_destroy(r.scratch);
	return builder_finish(r.to, rooted);
}
