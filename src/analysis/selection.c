/*
 * The part of a profile that filters keep.
 *
 * Every table is an array by stack.  As a stack's parent has a smaller number, one forward loop
 * derives from the parent whether a stack contains a function, or which frame is the next one
 * shown.  Filters of samples only change which samples count; their weights are summed once, after
 * the last such filter.
 */
#include "analysis/selection.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/name_reading.h"
#include "analysis/selection_state.h"
#include "base/alloc.h"

static void selecting_init(struct selecting *s, const struct profile *profile, struct arena *arena)
{
	*s = (struct selecting){.profile = profile,
		.arena = arena,
		.row_weight = profile->row_weight,
		.row_samples = profile->row_samples};
}

/* For filters that change how stacks are shown: until one does, they are the profile's own. */
static void selecting_need_stacks(struct selecting *s)
{
	const struct profile *profile = s->profile;

	if (s->parent)
		return;
	s->parent = ARENA_ARRAY(s->arena, uint32_t, profile->stack_count);
	s->shown = ARENA_ARRAY(s->arena, uint32_t, profile->stack_count);
	for (uint32_t i = 1; i < profile->stack_count; i++) {
		s->parent[i] = profile_stack_parent(profile, i);
		s->shown[i] = i;
	}
}

/* Drops the stacks that contain such a function, or those that do not. */
static void keep_holding(struct selecting *s, struct name_pattern *names, bool wanted)
{
	const struct profile *p = s->profile;
	bool *matches = name_pattern_matches(names, p, s->arena);
	bool *holds = xcalloc(p->stack_count, sizeof(*holds));

	for (uint32_t i = 1; i < p->stack_count; i++)
		holds[i] = holds[s->parent[i]] || matches[selecting_function(p, i).i];
	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t shown = s->shown[i];
		bool held = SHOWN_IS_STACK(shown) && holds[shown];

		/* Stacks that WHEN left out stay so: they still belong to the total. */
		if (shown != SHOWN_UNMATCHED && held != wanted)
			s->shown[i] = SHOWN_DROPPED;
	}
	free(holds);
}

/* Functions that are in one of the namespaces. */
static bool *functions_in(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	bool *is_in = ARENA_ARRAY(s->arena, bool, p->function_count);

	for (size_t i = 0; i < p->function_count; i++)
		for (size_t k = 0; k < f->ids.count; k++)
			is_in[i] |=
				name_is_in(profile_string(p, p->functions[i].name), f->ids.data[k]);
	return is_in;
}

/* [frame]: whether a filter removes it from all stacks. */
static bool *frames_without(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	bool *without = ARENA_ARRAY(s->arena, bool, p->frame_count);
	const bool *functions = f->kind == FILTER_HIDE ? name_pattern_matches(f->names, p, s->arena)
				: f->kind == FILTER_FOLD ? functions_in(s, f)
							 : NULL;

	for (size_t i = 0; i < p->frame_count; i++)
		without[i] =
			functions ? functions[p->frames[i].function.i] : p->frames[i].is_inline;
	return without;
}

/* parent[i] becomes the nearest caller that is not hidden, as its parent's is already known. */
static void hide_stacks(struct selecting *s, const bool *is_hidden)
{
	const struct profile *p = s->profile;
	/* [stack]: itself, or its nearest caller that is not hidden. */
	uint32_t *standing = ARENA_ARRAY(s->arena, uint32_t, p->stack_count);

	for (uint32_t i = 1; i < p->stack_count; i++) {
		s->parent[i] = standing[s->parent[i]];
		standing[i] = is_hidden[i] ? s->parent[i] : i;
	}
	for (uint32_t i = 0; i < p->stack_count; i++)
		if (SHOWN_IS_STACK(s->shown[i]))
			s->shown[i] = standing[s->shown[i]];
	for (uint32_t i = 0; s->standing && i < p->stack_count; i++)
		standing[i] = standing[s->standing[i]];
	s->standing = standing;
}

static void hide(struct selecting *s, const struct filter *f)
{
	const struct profile *p = s->profile;
	const bool *without = frames_without(s, f);
	bool *is_hidden = xcalloc(p->stack_count, sizeof(*is_hidden));

	for (uint32_t i = 1; i < p->stack_count; i++)
		is_hidden[i] = without[p->stack_frame[i].i];
	hide_stacks(s, is_hidden);
	free(is_hidden);
}

static bool is_of_kernel(const struct profile *p, uint32_t stack)
{
	object_id object = p->functions[selecting_function(p, stack).i].object;

	return object.i != NO_ID && p->objects[object.i].kind == OBJECT_KERNEL;
}

/* Where the kernel is entered: "__x64_sys_futex", "ksys_read", "exc_page_fault". */
static bool is_entry(const struct profile *p, uint32_t stack)
{
	struct str name = profile_string(p, p->functions[selecting_function(p, stack).i].name);
	const struct str sys = STR("_sys_");

	if (str_starts_with(name, STR("sys_")) || str_starts_with(name, STR("ksys_")) ||
		str_starts_with(name, STR("exc_")))
		return true;
	/* After two underscores and the name of a processor. */
	return str_starts_with(name, STR("__")) &&
	       memmem(name.data, name.size < 16 ? name.size : 16, sys.data, sys.size) != NULL;
}

/*
 * Among the kernel's frames called from the program's own, those that do the work of a system call
 * are not what the program requested.  What the kernel does on its own stays.
 */
static void hide_kernel(struct selecting *s, enum filter_kernel kernel)
{
	const struct profile *p = s->profile;
	bool *is_hidden = xcalloc(p->stack_count, sizeof(*is_hidden));
	bool *is_called =
		xcalloc(p->stack_count, sizeof(*is_called)); /* by the program, if not its own */
	bool *is_entered = xcalloc(p->stack_count, sizeof(*is_entered));

	for (uint32_t i = 1; i < p->stack_count; i++) {
		uint32_t parent = s->parent[i];
		bool is_kernel = is_of_kernel(p, i);

		is_called[i] = !is_kernel || is_called[parent];
		if (!is_kernel || !is_called[i])
			continue;
		bool is_first = kernel == KERNEL_SYSCALLS && !is_entered[parent] && is_entry(p, i);
		is_entered[i] = is_entered[parent] || is_first;
		is_hidden[i] = !is_first;
	}
	hide_stacks(s, is_hidden);
	free(is_hidden);
	free(is_called);
	free(is_entered);
}

/* [metric]: the shown weight; with_unmatched: plus the weight that WHEN leaves out. */
static int64_t *kept_weight(const struct selecting *s, bool with_unmatched)
{
	const struct profile *p = s->profile;
	int64_t *kept = ARENA_ARRAY(s->arena, int64_t, p->metric_count);

	for (uint32_t row = 1, i = 0; row < p->row_count; row++, i++) {
		i = rank_set_next(&p->weighted, i);
		uint32_t shown = selecting_shown(s, i);

		if (shown != SHOWN_DROPPED && (with_unmatched || shown != SHOWN_UNMATCHED))
			for (size_t m = 0; m < p->metric_count; m++)
				kept[m] += s->row_weight[m][row];
	}
	return kept;
}

static struct error *apply(struct selecting *s, const struct filter *f)
{
	struct error *err = NULL;

	s->outside = NULL;
	if (f->kind < FILTER_THREAD)
		selecting_need_stacks(s);
	switch (f->kind) {
	case FILTER_WHEN:
		err = profile_needs_stacks(s->profile, "--when");
		if (err == NULL)
			when_apply(f->when, s->profile, s->parent, s->shown);
		break;
	case FILTER_FOCUS:
	case FILTER_IGNORE:
		keep_holding(s, f->names, f->kind == FILTER_FOCUS);
		break;
	case FILTER_HIDE:
	case FILTER_FOLD:
	case FILTER_INLINE:
		hide(s, f);
		break;
	case FILTER_KERNEL:
		hide_kernel(s, f->kernel);
		break;
	case FILTER_THREAD:
	case FILTER_PID:
		err = selecting_keep_threads(s, f);
		break;
	case FILTER_TIME:
		err = selecting_keep_times(s, f);
		break;
	case FILTER_ZONE:
		err = selecting_keep_zones(s, f);
		break;
	case FILTER_TICK:
	case FILTER_TICK_OVER:
	case FILTER_TICK_UNDER:
		err = selecting_keep_ticks(s, f);
		break;
	case FILTER_LABEL:
	case FILTER_CGROUP:
		err = selecting_keep_labels(s, f);
		break;
	case FILTER_COUNT:
		abort();
	}
	if (err == NULL && f->kind >= FILTER_THREAD)
		selecting_sum_samples(s);
	return err;
}

static struct selection *selecting_finish(struct selecting *s)
{
	struct selection *out = ARENA_NEW(s->arena, struct selection);
	struct selection_step *steps = ARENA_ARRAY(s->arena, struct selection_step, s->steps.count);

	if (s->steps.count)
		memcpy(steps, s->steps.data, s->steps.count * sizeof(*steps));
	*out = (struct selection){
		.profile = s->profile,
		.parent = s->parent,
		.shown = s->shown,
		.standing = s->standing,
		.row_weight = s->row_weight,
		.row_samples = s->row_samples,
		.sample_kept = s->sample_kept,
		.row_first = s->row_first,
		.tick_kept = s->tick_kept,
		.tick_stream = s->tick_stream,
		.total = s->steps.count ? kept_weight(s, true) : s->profile->total,
		.steps = steps,
		.step_count = s->steps.count,
	};
	return out;
}

struct selection *selection_all(const struct profile *profile, struct arena *arena)
{
	struct selecting s;

	selecting_init(&s, profile, arena);
	return selecting_finish(&s);
}

struct error *selection_create(const struct profile *profile, const struct filter *filters,
	size_t count, struct arena *arena, struct selection **selection)
{
	struct selecting s;
	struct error *err = NULL;

	selecting_init(&s, profile, arena);
	for (size_t i = 0; i < count && err == NULL; i++) {
		err = apply(&s, &filters[i]);
		if (err == NULL && filters[i].names)
			err = name_pattern_refusal(filters[i].names);
		if (err == NULL)
			vec_push(&s.steps, (struct selection_step){
						   &filters[i], kept_weight(&s, false), s.outside});
	}
	if (err == NULL)
		*selection = selecting_finish(&s);
	vec_deinit(&s.steps);
	return err;
}

static uint64_t count_samples(const struct selection *s, bool unmatched)
{
	uint64_t count = 0;

	if (s->row_samples == NULL)
		return UINT64_MAX;
	for (uint32_t i = 0; i < s->profile->stack_count; i++) {
		uint32_t shown = selection_shown(s, i);

		if (shown != SHOWN_DROPPED && (shown == SHOWN_UNMATCHED) == unmatched)
			count += selection_samples(s, i);
	}
	return count;
}

uint64_t selection_shown_samples(const struct selection *s)
{
	return count_samples(s, false);
}

uint64_t selection_unmatched_samples(const struct selection *s)
{
	return count_samples(s, true);
}

uint64_t selection_total_samples(const struct selection *s)
{
	return s->row_samples ? count_samples(s, false) + count_samples(s, true) : UINT64_MAX;
}
