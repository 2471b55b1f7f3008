/*
 * One sample: walks the user stack and appends the kernel's frames to it.
 *
 * A walk may go through load objects that are not open yet.  Then these are opened and the stack is
 * walked again.  That happens once for each object in a process, so it costs little, and the
 * objects of a program that is never sampled are never read.
 */
#include "record/stacks/snapshot.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/uio.h>

#include "arch/arch.h"
#include "obj/cfi.h"

void snapshot_init(struct snapshot *s, struct capture_writer *writer, struct object_table *objects,
	struct process_table *processes)
{
	*s = (struct snapshot){
		.writer = writer,
		.objects = objects,
		.processes = processes,
		.walker = unwind_walker_create(),
	};
	kernel_map_init(&s->kernel, objects);
	generated_names_init(&s->names, objects, processes);
	jit_table_init(&s->jit, objects, &s->names);
	stack_tree_init(&s->tree, writer);
	stack_memory_init(&s->memory, objects);
	s->memory.jit = &s->jit;
}

void snapshot_deinit(struct snapshot *s)
{
	unwind_walker_destroy(s->walker);
	vec_deinit(&s->rest.pieces);
	vec_deinit(&s->rest.others);
	stack_memory_deinit(&s->memory);
	stack_tree_deinit(&s->tree);
	jit_table_deinit(&s->jit);
	generated_names_deinit(&s->names);
	kernel_map_deinit(&s->kernel);
}

uint64_t snapshot_truncated(const struct snapshot *s)
{
	return s->counters[CAPTURE_TRUNCATED_MEMORY] + s->counters[CAPTURE_TRUNCATED_RACE] +
	       s->counters[CAPTURE_TRUNCATED_RULE] + s->counters[CAPTURE_TRUNCATED_CORRUPT] +
	       s->counters[CAPTURE_TRUNCATED_DEPTH] + s->counters[CAPTURE_TRUNCATED_32BIT] +
	       s->counters[CAPTURE_GUESSED_STACKS];
}

/* If other code has replaced a process's code, invalidates the walker's cache for it. */
static bool learn_of_jit(struct snapshot *s, struct process *p, uint32_t object, uint64_t time_ns)
{
	if (!jit_table_has_turned(&s->jit, object, time_ns))
		return false;
	unwind_space_touch(&p->space);
	return true;
}

/*
 * Opens the unopened objects that the walk met, and reads mappings that were missing.  True: walk
 * the stack again.
 */
static bool learn_from_walk(struct snapshot *s, struct process *p, const struct perf_sample *sample,
	const struct unwind_stack *stack)
{
	bool changed = false;

	for (size_t i = 0; i < stack->count; i++) {
		const struct unwind_frame *frame = &stack->frames[i];

		if (frame->object == UINT32_MAX)
			changed |= process_table_read_maps(s->processes, p, sample->time_ns) &&
				   unwind_space_find(&p->space, frame->va) != NULL;
		else if (frame->object & UNWIND_PENDING)
			changed |=
				process_table_resolve(s->processes, p, frame->va, sample->time_ns);
		else if (object_table_is_jit(s->objects, frame->object))
			changed |= learn_of_jit(s, p, frame->object, sample->time_ns);
	}
	return changed;
}

/*
 * A walk that fails while reading the live process has most likely read frames that were left after
 * the sample: popping them does not change the part that is compared.
 */
static enum capture_counter truncation_cause(
	const struct snapshot *s, const struct unwind_stack *stack)
{
	bool is_remote = s->memory.asked && stack->outer_sp >= s->memory.dump_high_va;

	switch (stack->end) {
	case UNWIND_NO_MEMORY:
		return s->memory.raced ? CAPTURE_TRUNCATED_RACE : CAPTURE_TRUNCATED_MEMORY;
	case UNWIND_NO_RULE:
		return is_remote || s->memory.raced || (stack->misses_stack && s->memory.asked)
			       ? CAPTURE_TRUNCATED_RACE
			       : CAPTURE_TRUNCATED_RULE;
	case UNWIND_TOO_DEEP:
		return CAPTURE_TRUNCATED_DEPTH;
	case UNWIND_NO_PROGRESS:
		return is_remote ? CAPTURE_TRUNCATED_RACE : CAPTURE_TRUNCATED_CORRUPT;
	case UNWIND_ROOT:
	case UNWIND_REUSED:
		break;
	}
	return CAPTURE_TRUNCATED_CORRUPT;
}

uint32_t snapshot_no_stack(struct snapshot *s)
{
	uint32_t object =
		object_table_named(s->objects, CAPTURE_OBJECT_TRUNCATED, STR("[truncated]"));

	return stack_tree_intern(&s->tree, 0, object, 0);
}

static uint32_t truncated_root(struct snapshot *s, enum capture_counter cause)
{
	s->counters[cause]++;
	return snapshot_no_stack(s);
}

/* The node between a frame and its caller if the caller is guessed. */
static uint32_t guessed_node(struct snapshot *s, uint32_t node)
{
	uint32_t object = object_table_named(s->objects, CAPTURE_OBJECT_GUESSED, STR("[guessed]"));

	s->counters[CAPTURE_GUESSED_STACKS]++;
	return stack_tree_intern(&s->tree, node, object, 0);
}

static bool is_whole(const struct unwind_stack *stack)
{
	return stack->end == UNWIND_ROOT || stack->end == UNWIND_REUSED;
}

/*
 * The node of the walked stack; also sets each frame's own node.  A guess is kept only if it leads
 * to the root; otherwise the stack is truncated there.
 */
static uint32_t intern_user(struct snapshot *s, const struct process *p,
	const struct unwind_stack *stack, uint64_t time_ns)
{
	bool whole = is_whole(stack);
	uint32_t node = whole ? stack->reused_node : truncated_root(s, truncation_cause(s, stack));
	size_t count = whole || !stack->guessed ? stack->count : stack->guess_at;

	if (whole && stack->guessed && stack->guess_at == count)
		node = guessed_node(s, node);
	for (size_t i = count; i-- > 0;) {
		struct unwind_frame *frame = &stack->frames[i];
		uint32_t object = frame->object;
		uint64_t obj_addr = frame->obj_addr;

		if (object == UINT32_MAX) {
			object = object_table_named(
				s->objects, CAPTURE_OBJECT_UNKNOWN, STR("[unknown]"));
			obj_addr = frame->va;
		} else if (object_table_is_jit(s->objects, object)) {
			object = jit_table_object(&s->jit, p, object, frame->va, time_ns);
		}
		node = stack_tree_intern(&s->tree, node, object, obj_addr);
		frame->node = node;
		if (whole && stack->guessed && stack->guess_at == i)
			node = guessed_node(s, node);
	}
	return node;
}

static void walk(struct snapshot *s, struct process *p, struct thread *thread,
	const struct perf_sample *sample, struct unwind_stack *stack)
{
	do {
		stack_memory_restart(&s->memory);
		unwind_walk(s->walker, &p->space, thread->history, &sample->regs, &s->memory.memory,
			stack);
	} while (learn_from_walk(s, p, sample, stack));
}

/*
 * A signal handler may run on a separate stack, which is in the dump; the interrupted stack is only
 * in the live process.  It is used if the handler's signal frame is still there.  Handlers have
 * often returned by now, so it is also used if the interrupted function's callers equal those of
 * the thread's last stack, and so did not change in between.
 *
 * Go calls functions on the thread's own stack, and C on that of a goroutine.  Such a call is the
 * same one if its return address and the bp that was saved below are.  If not, the callers of such
 * a call in an earlier stack are a guess (guess_other_stack); without one, the call before or after
 * it mostly has the same callers.
 */
static void walk_interrupted_stack(struct snapshot *s, struct process *p, struct thread *thread,
	const struct perf_sample *sample, size_t inner, struct unwind_stack *stack)
{
	enum { CALL_BYTES = 16 };
	bool is_call = unwind_frame_has_called(&stack->frames[inner]);

	stack_memory_check_frame(
		&s->memory, stack->frames[inner - 1].sp - (is_call ? CALL_BYTES : 0));
	walk(s, p, thread, sample, stack);
	if (!s->memory.raced)
		return;
	stack_memory_check_nothing(&s->memory);
	walk(s, p, thread, sample, stack);
	if (stack->end == UNWIND_REUSED ||
		(stack->end == UNWIND_ROOT &&
			unwind_history_ends_like(thread->history, stack, inner + 1)))
		return;
	struct unwind_stack cut = *stack;

	cut.count = inner < stack->count ? inner : stack->count;
	bool was_seen = is_call && unwind_crossings_find(&s->crossings, p->number, &cut);

	if (is_call && !was_seen && is_whole(stack) && !stack->guessed && inner < stack->count) {
		s->late_guesses++;
		stack->guessed = 1;
		stack->guess_at = inner;
		return;
	}
	s->memory.raced = true;
	stack->end = UNWIND_NO_MEMORY;
	stack->count = cut.count;
	stack->misses_stack = is_call;
}

/*
 * The goroutine's stack has changed since the sample, but there was such a call from the same frame
 * before, or the thread's last stack was in a call from there: its callers are a guess.
 */
static void guess_other_stack(struct snapshot *s, const struct process *p,
	const struct thread *thread, struct unwind_stack *stack)
{
	if (is_whole(stack) || !stack->misses_stack || !s->memory.asked)
		return;
	uint32_t node = unwind_crossings_find(&s->crossings, p->number, stack);

	if (!node)
		node = unwind_history_other_stack(thread->history, stack);
	if (!node)
		return;
	s->late_guesses++;
	stack->end = UNWIND_REUSED;
	stack->reused_node = node;
	stack->guessed = 1;
	stack->guess_at = stack->count;
}

/*
 * If frames were left and cleared after the sample, the live process has zeros there.  These do not
 * end the stack, unless the last stack ended likewise.
 */
static void doubt_zero(struct snapshot *s, const struct thread *thread, struct unwind_stack *stack)
{
	if (!stack->returns_to_zero || !stack_memory_shows_live(&s->memory) ||
		unwind_history_ends_like(thread->history, stack, stack->count - 1))
		return;
	s->memory.raced = true;
	stack->end = UNWIND_NO_MEMORY;
}

/*
 * A new thread returns 0 from the clone system call, at a place without unwind rules, because these
 * would be wrong either for the parent or for the child.  Nothing called it: its stack is complete.
 */
static bool is_new_thread(struct snapshot *s, const struct perf_sample *sample)
{
	uint8_t result = arch_here()->syscall_result;
	struct str code = arch_syscall_code(arch_here());
	uint64_t pc = sample->regs.value[UNWIND_REG_PC];
	uint8_t before[16];

	return result != ARCH_REG_NONE && (sample->regs.known >> result & 1) &&
	       sample->regs.value[result] == 0 &&
	       s->memory.memory.read_code(
		       &s->memory.memory, pc - sizeof(before), before, sizeof(before)) &&
	       memmem(before, sizeof(before), code.data, code.size);
}

/*
 * The memory of Go's other stack was missing, behind that frame: finds out where the process keeps
 * its threads' g, from which the stack is found at the next samples.
 */
static void learn_go(struct snapshot *s, struct process *p, const struct unwind_frame *frame)
{
	const struct unwind_mapping *mapping = unwind_space_find(&p->space, frame->va);
	const struct cfi_go *go = mapping && mapping->table ? cfi_table_go(mapping->table) : NULL;

	if (!go)
		return;
	int64_t offset = go->g_offset;
	struct iovec local = {&offset, sizeof(offset)};
	struct iovec remote = {(void *)(uintptr_t)(go->g_slot + mapping->slide), sizeof(offset)};

	if (go->g_slot && process_vm_readv((pid_t)p->pid, &local, 1, &remote, 1, 0) !=
				  (ssize_t)sizeof(offset))
		return;
	if (offset >= 0 || offset < INT32_MIN)
		return;
	p->go_below = (uint32_t)-offset;
	if (s->exact)
		exact_learn_go(s->exact, p->pid, p->go_below);
}

static uint32_t user_stack(struct snapshot *s, struct process *p, struct thread *thread,
	const struct perf_sample *sample)
{
	struct unwind_stack stack;
	uint64_t late_guesses = s->late_guesses;
	size_t inner;

	s->walks++;
	stack_memory_begin(&s->memory, &p->space, sample);
	if (s->exact)
		exact_rest(s->exact, sample, &s->rest);
	if (s->exact || s->is_copied)
		stack_memory_add_rest(&s->memory, &s->rest);
	walk(s, p, thread, sample, &stack);
	inner = stack_memory_other_stack(&s->memory, &stack);
	if (inner > 0)
		walk_interrupted_stack(s, p, thread, sample, inner, &stack);
	doubt_zero(s, thread, &stack);
	guess_other_stack(s, p, thread, &stack);
	inner = s->late_guesses > late_guesses ? stack.guess_at : stack.count;
	if (inner > 0 && (s->late_guesses > late_guesses || stack.misses_stack))
		learn_go(s, p, &stack.frames[inner - 1]);
	if (stack.end == UNWIND_NO_RULE && stack.count == 1 && is_new_thread(s, sample))
		stack.end = UNWIND_ROOT;
	s->reach_bytes = stack.outer_sp - sample->regs.value[UNWIND_REG_SP];
	uint32_t node = intern_user(s, p, &stack, sample->time_ns);

	if (is_whole(&stack) && !stack.guessed)
		unwind_crossings_keep(&s->crossings, p->number, &stack);
	unwind_history_keep(thread->history, &stack);
	if (s->exact)
		exact_learn(s->exact, sample, &s->rest, thread->history,
			stack.end == UNWIND_NO_MEMORY || s->memory.asked);
	return node;
}

/*
 * A return address is looked up one byte earlier: the call may be the last instruction of its
 * function.
 */
static uint64_t kernel_frame_address(const struct perf_sample *sample, size_t i)
{
	return sample->kernel_chain[i] - (i > 0);
}

static uint32_t kernel_stack(struct snapshot *s, const struct perf_sample *sample, uint32_t node)
{
	for (size_t i = sample->kernel_count; i-- > 0;) {
		uint64_t va = kernel_frame_address(sample, i);

		if (sample->kernel_chain[i] >= PERF_CONTEXT_MAX)
			continue;
		node = stack_tree_intern(&s->tree, node, kernel_map_object(&s->kernel, va), va);
	}
	return node;
}

/*
 * Whether the sample has a user stack that can be walked.  During an exec, in the kernel, the
 * registers are still those of the old program: their stack is gone, or their pc is in no mapping.
 */
static bool has_user_stack(struct snapshot *s, struct process *p, const struct perf_sample *sample)
{
	uint64_t pc = sample->regs.value[UNWIND_REG_PC];

	if (!sample->has_user || (sample->in_kernel && sample->stack_size == 0))
		return false;
	if (!sample->in_kernel || unwind_space_find(&p->space, pc))
		return true;
	return process_table_read_maps(s->processes, p, sample->time_ns) &&
	       unwind_space_find(&p->space, pc);
}

struct snapshot_place snapshot_walk(struct snapshot *s, const struct perf_sample *sample)
{
	struct process *p = process_table_get(s->processes, sample->pid, sample->time_ns);
	struct thread *thread = process_table_thread(s->processes, p, sample->tid, sample->time_ns);
	uint32_t node = 0;

	if (has_user_stack(s, p, sample))
		node = user_stack(s, p, thread, sample);
	else if (sample->in_kernel)
		s->counters[CAPTURE_NO_USER_STACK] += !p->is_kernel;
	else /* a 32-bit program, which cannot be walked */
		node = truncated_root(s, CAPTURE_TRUNCATED_32BIT);
	return (struct snapshot_place){thread, kernel_stack(s, sample, node)};
}
