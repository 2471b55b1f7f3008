/*
 * Copies the tables of a profile into a builder.  The builder interns, so rows that several
 * profiles share become one; this file only keeps the maps from old ids to new ones.
 */
#include "model/import.h"

void import_init(
	struct import *im, const struct profile *from, struct builder *to, struct arena *scratch)
{
	*im = (struct import){.from = from, .to = to, .scratch = scratch};
}

string_id import_string(struct import *im, string_id id)
{
	return builder_string(im->to, profile_string(im->from, id));
}

void import_metrics(struct import *im)
{
	const struct profile *p = im->from;

	for (size_t i = 0; i < p->metric_count; i++)
		(void)builder_metric(im->to, profile_string(p, p->metrics[i].name),
			profile_string(p, p->metrics[i].unit));
}

static object_id import_object(struct import *im, const struct profile *p, object_id id)
{
	const struct import_objects *other = im->objects_as;

	if (id.i == NO_ID)
		return id;
	if (other && other->from == p && other->as[id.i] != NO_ID) {
		id.i = other->as[id.i];
		p = other->to;
	}
	const struct object *o = &p->objects[id.i];

	return builder_object(
		im->to, profile_string(p, o->path), profile_string(p, o->build_id), o->kind);
}

static void import_functions(struct import *im)
{
	const struct profile *from = im->from;

	/* In their order, including those without functions. */
	for (uint32_t i = 0; i < from->object_count; i++)
		(void)import_object(im, from, (object_id){i});
	im->functions = ARENA_ARRAY(im->scratch, function_id, from->function_count);
	for (uint32_t i = 0; i < from->function_count; i++) {
		struct import_function as =
			im->functions_as ? im->functions_as[i]
					 : (struct import_function){.profile = from, .row = i};
		const struct profile *p = as.profile;
		const struct function *f = &p->functions[as.row];

		im->functions[i] = builder_function_called(im->to,
			builder_string(im->to, as.name.size ? as.name : profile_string(p, f->name)),
			profile_string(p, f->aliases), import_object(im, p, f->object),
			builder_string(im->to, profile_string(p, f->file)), f->line);
	}
}

void import_frames(struct import *im)
{
	const struct profile *p = im->from;

	import_functions(im);
	im->frames = ARENA_ARRAY(im->scratch, frame_id, p->frame_count);
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *f = &p->frames[i];

		im->frames[i] = builder_frame(im->to, im->functions[f->function.i],
			import_string(im, f->file), f->line, f->is_inline, f->obj_addr);
	}
}

void import_stacks(struct import *im)
{
	const struct profile *p = im->from;

	im->stacks = ARENA_ARRAY(im->scratch, stack_id, p->stack_count);
	for (uint32_t i = 1; i < p->stack_count; i++)
		im->stacks[i] = builder_stack(im->to, im->stacks[profile_stack_parent(p, i)],
			im->frames[p->stack_frame[i].i]);
}

void import_arcs(struct import *im)
{
	const struct profile *p = im->from;
	int64_t *cost = p->arc_cost ? ARENA_ARRAY(im->scratch, int64_t, p->metric_count) : NULL;

	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];
		function_id caller = a->caller.i == NO_ID ? a->caller : im->functions[a->caller.i];

		if (cost == NULL) {
			builder_arc(im->to, caller, im->functions[a->callee.i], a->calls);
			continue;
		}
		for (size_t m = 0; m < p->metric_count; m++)
			cost[m] = p->arc_cost[m][i];
		(void)builder_arc_cost(im->to, caller, im->functions[a->callee.i], a->calls, cost);
	}
}

uint64_t import_time(const struct import *im, uint64_t time_ns)
{
	uint64_t sum;

	if (__builtin_add_overflow(time_ns, im->shift_ns, &sum) || sum == UINT64_MAX)
		return UINT64_MAX - 1;
	return sum;
}

void import_threads(struct import *im)
{
	const struct profile *p = im->from;

	im->processes = ARENA_ARRAY(im->scratch, process_id, p->process_count);
	for (size_t i = 0; i < p->process_count; i++) {
		const struct process *process = &p->processes[i];

		im->processes[i] = builder_process(im->to, process->pid,
			import_time(im, process->start_ns), profile_string(p, process->name));
	}
	im->threads = ARENA_ARRAY(im->scratch, thread_id, p->thread_count);
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct thread *t = &p->threads[i];

		im->threads[i] = builder_thread(im->to, t->tid, im->processes[t->process.i],
			import_time(im, t->start_ns), profile_string(p, t->name));
	}
}

/* Each as its rest with one more label: for labels that keep their order. */
static void import_sets_in_order(struct import *im, const label_id *labels)
{
	const struct profile *p = im->from;

	for (size_t i = 1; i < p->label_set_count; i++)
		im->label_sets[i] = builder_label_set_with(im->to,
			im->label_sets[p->label_sets[i].rest.i], labels[p->label_sets[i].label.i]);
}

/* Only sets that samples have: in another order each may need a chain of its own. */
static void import_sets_of_samples(struct import *im, const label_id *labels)
{
	const struct profile *p = im->from;
	const struct samples *s = &p->samples;
	label_id *of_set = ARENA_ARRAY(im->scratch, label_id, p->label_count);

	for (size_t i = 0; s->labels && i < s->count; i++) {
		label_set_id set = s->labels[i];
		size_t count = 0;

		if (set.i == 0 || im->label_sets[set.i].i)
			continue;
		for (; set.i; set = p->label_sets[set.i].rest)
			of_set[count++] = labels[p->label_sets[set.i].label.i];
		im->label_sets[s->labels[i].i] = builder_label_set_of(im->to, of_set, count);
	}
}

void import_labels(struct import *im)
{
	const struct profile *p = im->from;
	label_id *labels = ARENA_ARRAY(im->scratch, label_id, p->label_count);
	bool in_order = true;

	for (size_t i = 0; i < p->label_count; i++) {
		const struct label *l = &p->labels[i];
		struct label label = {.key = import_string(im, l->key),
			.text = import_string(im, l->text),
			.number = l->number,
			.unit = import_string(im, l->unit)};

		labels[i] = builder_label(im->to, &label);
		in_order &= i == 0 || labels[i - 1].i < labels[i].i;
	}
	im->label_sets = ARENA_ARRAY(im->scratch, label_set_id, p->label_set_count);
	if (in_order)
		import_sets_in_order(im, labels);
	else
		import_sets_of_samples(im, labels);
}

label_set_id import_sample_labels(const struct import *im, size_t sample)
{
	const struct samples *s = &im->from->samples;

	return s->labels ? im->label_sets[s->labels[sample].i] : (label_set_id){0};
}

void import_sample(struct import *im, size_t sample, label_set_id labels)
{
	const struct samples *s = &im->from->samples;
	size_t metrics = im->from->metric_count;

	if (im->weight == NULL)
		im->weight = ARENA_ARRAY(im->scratch, int64_t, metrics);
	for (size_t m = 0; m < metrics; m++)
		im->weight[m] = s->weight[m][sample];
	builder_sample(im->to, im->stacks[s->stack[sample].i],
		s->thread ? im->threads[s->thread[sample].i] : (thread_id){NO_ID},
		s->time_ns ? s->time_ns[sample] : UINT64_MAX, im->weight);
	if (s->zone)
		builder_sample_zone(im->to, im->stacks[s->zone[sample].i]);
	builder_sample_labels(im->to, labels);
}

thread_id import_tick_thread(const struct import *im, const struct tick *tick)
{
	bool is_known = im->threads && tick->thread.i != NO_ID;

	return is_known ? im->threads[tick->thread.i] : (thread_id){NO_ID};
}

void import_ticks(struct import *im)
{
	const struct profile *p = im->from;

	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];

		builder_tick(im->to, &(struct tick){.process = im->processes[t->process.i],
					     .stream = import_string(im, t->stream),
					     .number = t->number,
					     .start_ns = import_time(im, t->start_ns),
					     .end_ns = import_time(im, t->end_ns),
					     .thread = import_tick_thread(im, t)});
	}
}

void import_zone_events(struct import *im)
{
	const struct zone_events *e = &im->from->zone_events;

	for (size_t i = 0; i < e->count; i++)
		builder_zone_event(im->to, im->threads[e->thread[i].i],
			import_time(im, e->time_ns[i]), im->stacks[e->stack[i].i]);
}

void import_notes(struct import *im)
{
	const struct profile *p = im->from;

	for (size_t i = 0; i < p->note_count; i++)
		builder_note(im->to, p->notes[i].kind, p->notes[i].count, "%.*s",
			STR_ARG(profile_string(p, p->notes[i].text)));
}

void import_header(struct import *im)
{
	const struct profile *p = im->from;
	struct builder_header *header = builder_header(im->to);

	header->stats = p->stats;
	header->source = import_string(im, p->source);
	header->format = import_string(im, p->format);
	header->command = import_string(im, p->command);
	header->host = import_string(im, p->host);
	header->when = import_string(im, p->when);
	header->start_unix_ns = p->start_unix_ns;
	header->default_metric = p->default_metric;
	header->has_stacks = p->has_stacks;
}
