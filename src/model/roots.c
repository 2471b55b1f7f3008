/*
 * Processes, threads and labels as frames.  The profile is rebuilt, sample by sample; a stack is
 * made once for each root that it is seen under.
 */
#include "model/roots.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/import.h"

const char *const roots_names[ROOTS_COUNT + 1] = {"none", "process", "thread", "label:", NULL};

struct rooting {
	struct import import;
	enum profile_roots roots;
	/* [of from]: the stack of its root frames only; one of the two is NULL. */
	stack_id *thread_top, *label_top;
	struct map stacks;  /* (top, stack of from) → stack */
	VEC(stack_id) path; /* of from, innermost first: still to be made */
};

static stack_id named_stack(struct rooting *r, stack_id parent, struct str name)
{
	struct builder *to = r->import.to;
	function_id function = builder_function(
		to, builder_string(to, name), (object_id){NO_ID}, (string_id){0}, 0);

	return builder_stack(to, parent, builder_frame(to, function, (string_id){0}, 0, false, 0));
}

struct str task_name(struct str name, const char *kind, int64_t id, struct arena *arena)
{
	if (id == 0 && name.size && name.data[0] == '[')
		return name;
	return str_from(arena_printf(
		arena, "%.*s%s(%s%" PRId64 ")", STR_ARG(name), name.size ? " " : "", kind, id));
}

/* The stack of a task's frame below others; a first thread has its process's name and id. */
static stack_id root_stack(
	struct rooting *r, stack_id parent, string_id name, const char *kind, int64_t id)
{
	return named_stack(r, parent,
		task_name(profile_string(r->import.from, name), kind, id, r->import.scratch));
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

/* The name of the root frame of a set of labels; in text. */
static struct str label_name(
	const struct profile *p, struct str key, label_set_id set, struct strbuf *text)
{
	struct strbuf value = {0};
	size_t count = profile_label_count(p, set);
	label_id *labels = xcalloc(count, sizeof(*labels));
	bool is_first = true;

	strbuf_clear(text);
	profile_label_ids(p, set, labels);
	for (size_t i = 0; i < count; i++) {
		if (!str_equal(profile_string(p, p->labels[labels[i].i].key), key))
			continue;
		if (is_first)
			strbuf_add(text, key);
		strbuf_add_char(text, is_first ? '=' : ',');
		strbuf_add(text, profile_label_value(p, labels[i], &value));
		is_first = false;
	}
	if (is_first)
		strbuf_printf(text, "[no %.*s]", STR_ARG(key));
	free(labels);
	strbuf_deinit(&value);
	return strbuf_str(text);
}

/* For the sets that samples have. */
static void make_label_tops(struct rooting *r, struct str key)
{
	const struct profile *p = r->import.from;
	const struct samples *s = &p->samples;
	struct strbuf text = {0};

	r->label_top = ARENA_ARRAY(r->import.scratch, stack_id, p->label_set_count);
	for (size_t i = 0; i < s->count; i++) {
		label_set_id set = s->labels[i];

		if (r->label_top[set.i].i == 0)
			r->label_top[set.i] =
				named_stack(r, (stack_id){0}, label_name(p, key, set, &text));
	}
	strbuf_deinit(&text);
}

static stack_id sample_top(const struct rooting *r, size_t sample)
{
	const struct samples *s = &r->import.from->samples;

	return r->label_top ? r->label_top[s->labels[sample].i]
			    : r->thread_top[s->thread[sample].i];
}

/* The stack below those root frames. */
static stack_id rooted_stack(struct rooting *r, stack_id top, stack_id stack)
{
	const struct profile *from = r->import.from;
	stack_id made = top;
	uint32_t known;

	for (; stack.i != 0; stack = profile_parent(from, stack)) {
		if (map_get(&r->stacks, top.i, stack.i, &known)) {
			made.i = known;
			break;
		}
		vec_push(&r->path, stack);
	}
	while (r->path.count > 0) {
		stack_id next = r->path.data[--r->path.count];

		made = builder_stack(
			r->import.to, made, r->import.frames[from->stack_frame[next.i].i]);
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
		stack_id top = sample_top(r, i);

		for (size_t m = 0; m < p->metric_count; m++)
			weight[m] = s->weight[m][i];
		builder_sample(r->import.to, rooted_stack(r, top, s->stack[i]),
			s->thread ? r->import.threads[s->thread[i].i] : (thread_id){NO_ID},
			s->time_ns ? s->time_ns[i] : UINT64_MAX, weight);
		if (s->zone)
			builder_sample_zone(r->import.to, rooted_stack(r, top, s->zone[i]));
		builder_sample_labels(r->import.to, import_sample_labels(&r->import, i));
	}
}

/* Events of zones belong to threads, and have no labels. */
static void copy_zone_events(struct rooting *r)
{
	const struct zone_events *e = &r->import.from->zone_events;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t thread = e->thread[i].i;
		stack_id top = r->thread_top ? r->thread_top[thread] : (stack_id){0};

		builder_zone_event(r->import.to, r->import.threads[thread], e->time_ns[i],
			rooted_stack(r, top, e->stack[i]));
	}
}

/* key: of ROOTS_LABEL. */
static struct error *make_rooted(
	const struct profile *p, enum profile_roots roots, struct str key, struct profile **rooted)
{
	struct rooting r = {.roots = roots};
	struct arena *scratch = arena_create();
	struct builder *to = builder_create();

	import_init(&r.import, p, to, scratch);
	import_metrics(&r.import);
	import_frames(&r.import);
	import_threads(&r.import);
	import_labels(&r.import);
	if (roots == ROOTS_LABEL)
		make_label_tops(&r, key);
	else
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

struct error *profile_with_roots(
	const struct profile *p, enum profile_roots roots, struct profile **rooted)
{
	struct error *err = profile_needs_threads(p);

	return err ? err : make_rooted(p, roots, STR(""), rooted);
}

struct error *profile_with_label_roots(
	const struct profile *p, struct str key, struct profile **rooted)
{
	struct error *err = profile_needs_label(p, key);

	return err ? err : make_rooted(p, ROOTS_LABEL, key, rooted);
}
