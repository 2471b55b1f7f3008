/*
 * Stacks from a copy of the user stack, walked with the unwind rules of the code's load objects, as
 * in sonde's own recordings.  Memory outside the copy is no longer available.
 *
 * If a walk reaches load objects that are not open yet, they are opened and the walk is repeated,
 * which happens once for each object in an address space.
 */
#include "formats/perf/data_stacks.h"

#include "formats/sonde/layout/capture.h"
#include "perfstream/regs.h"

struct stack_source {
	struct perf_data_stacks *stacks;
	uint32_t process;
	uint64_t time_ns;
};

static bool read_code(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size)
{
	const struct stack_source *source = memory->context;
	struct perf_data_stacks *s = source->stacks;

	const struct unwind_mapping *m = perf_data_tasks_find(s->tasks, source->process, va);

	if (m == NULL)
		return false;
	if (m->object == s->anonymous) {
		uint32_t jit = s->tasks->processes.data[source->process].jit;

		return jit != NO_ID &&
		       perf_data_jit_bytes(s->jit, jit, va, source->time_ns, bytes, size);
	}
	/* The space must not change during a walk. */
	uint32_t object = m->object & ~UNWIND_PENDING;
	uint64_t slide = m->object & UNWIND_PENDING ? perf_data_objects_slide(s->objects, object,
							      m->low_va, m->low_va - m->slide)
						    : m->slide;

	return perf_data_objects_code(s->objects, object, va - slide, bytes, size);
}

static bool made_rule(struct unwind_memory *memory, uint64_t va, struct cfi_rule *rule)
{
	const struct stack_source *source = memory->context;
	struct perf_data_stacks *s = source->stacks;
	const struct unwind_mapping *m = perf_data_tasks_find(s->tasks, source->process, va);
	uint32_t jit = s->tasks->processes.data[source->process].jit;

	return m && m->object == s->anonymous && jit != NO_ID &&
	       perf_data_jit_rule(s->jit, jit, va, source->time_ns, rule);
}

/* Drops the walker's cache for code that other code has replaced. */
static void forget_old_code(struct perf_data_stacks *s, uint32_t process, uint64_t time_ns)
{
	const struct perf_data_process *p = &s->tasks->processes.data[process];

	if (p->jit != NO_ID && perf_data_jit_has_turned(s->jit, p->jit, time_ns))
		unwind_space_touch(&p->space->space);
}

/* Opens the unopened objects that the walk met; returns whether there were any. */
static bool learn_from_walk(
	struct perf_data_stacks *s, uint32_t process, const struct unwind_stack *stack)
{
	bool changed = false;

	for (size_t i = 0; i < stack->count; i++)
		changed |= perf_data_stacks_resolve(s, process, stack->frames[i].va);
	return changed;
}

static void walk(struct perf_data_stacks *s, uint32_t process, const struct unwind_regs *regs,
	const struct perfstream_sample *sample, struct unwind_stack *stack)
{
	struct stack_source source = {s, process, sample->time_ns};
	uint64_t low = regs->value[UNWIND_REG_SP];
	uint64_t room = UINT64_MAX - low;

	forget_old_code(s, process, sample->time_ns);

	do {
		struct unwind_memory memory = {.bytes = sample->stack,
			.low_va = low,
			.high_va = low + (sample->stack_size < room ? sample->stack_size : room),
			.read_code = read_code,
			.made_rule = s->objects->arch->decode ? made_rule : NULL,
			.context = &source};

		unwind_walk(s->walker, &s->tasks->processes.data[process].space->space, NULL, regs,
			&memory, stack);
	} while (learn_from_walk(s, process, stack));
}

/* Why the walk did not reach the root; PERF_DATA_CUT_COUNT: it did. */
static enum perf_data_cut cut_of(enum unwind_end end)
{
	switch (end) {
	case UNWIND_ROOT:
	case UNWIND_REUSED:
		return PERF_DATA_CUT_COUNT;
	case UNWIND_NO_MEMORY:
		return PERF_DATA_CUT_MEMORY;
	case UNWIND_NO_RULE:
		return PERF_DATA_CUT_RULE;
	case UNWIND_TOO_DEEP:
	case UNWIND_NO_PROGRESS:
		break;
	}
	return PERF_DATA_CUT_CORRUPT;
}

/* Marks the following callers in scratch as guessed. */
static void take_guess(struct perf_data_stacks *s)
{
	if (s->guessed == 0) {
		struct capture_object object = {.object = s->object_numbers++,
			.kind = CAPTURE_OBJECT_GUESSED,
			.path = STR("[guessed]")};

		capture_names_add_object(s->names, &object);
		s->guessed = (uint32_t)s->frames.count;
		vec_push(&s->frames, (struct capture_frame){object.object, 0});
	}
	s->guesses++;
	vec_push(&s->scratch, s->guessed);
}

/* A guess is kept only if it leads to the root; otherwise the stack is truncated there. */
static void take_frames(struct perf_data_stacks *s, uint32_t process,
	const struct unwind_stack *stack, uint64_t time_ns)
{
	enum perf_data_cut cut = cut_of(stack->end);
	bool is_whole = cut == PERF_DATA_CUT_COUNT;
	size_t count = is_whole || !stack->guessed ? stack->count : stack->guess_at;

	for (size_t i = 0; i < count; i++) {
		if (stack->guessed && stack->guess_at == i)
			take_guess(s);
		vec_push(&s->scratch,
			perf_data_stacks_user_frame(s, process, stack->frames[i].va, time_ns));
	}

	if (!is_whole)
		perf_data_stacks_cut(s, cut);
}

static bool has_walkable_regs(
	const struct perfstream_sample *sample, const struct unwind_regs *regs)
{
	uint32_t needed = 1u << UNWIND_REG_SP | 1u << UNWIND_REG_PC;

	return sample->has_regs && (regs->known & needed) == needed;
}

void perf_data_stacks_unwind(struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample)
{
	const struct arch *arch = s->objects->arch;
	bool in_kernel = sample->mode == PERFSTREAM_MODE_KERNEL;
	struct unwind_regs regs = {0};
	struct unwind_stack stack;

	if (arch && sample->has_regs)
		perfstream_regs(arch, event->layout.user_regs, in_kernel, &sample->regs, &regs);
	bool is_mapped = s->tasks->processes.data[process].space &&
			 perf_data_tasks_find(s->tasks, process, regs.value[UNWIND_REG_PC]);

	if (!arch || !has_walkable_regs(sample, &regs) || !is_mapped) {
		/* Kernel threads have none, and an exec removes it. */
		if (in_kernel)
			return;
		if (s->scratch.count == 0 && sample->ip)
			vec_push(&s->scratch, perf_data_stacks_user_frame(
						      s, process, sample->ip, sample->time_ns));
		perf_data_stacks_cut(s, PERF_DATA_CUT_NO_STACK);
		return;
	}
	walk(s, process, &regs, sample, &stack);
	take_frames(s, process, &stack, sample->time_ns);
}
