/*
 * The single-step oracle: runs programs one instruction at a time, keeps the true call stack by
 * watching them, unwinds at every instruction and compares all frames.
 *
 *	oracle [--instructions N] [--seconds N] [--entry] PROGRAM...
 *
 * Programs after --entry run freely up to their own entry point, so that the dynamic loader's start
 * is left out; N bounds the instructions of each.  It prints TAP; status 1 if a stack was wrong.
 *
 * Two stretches of code are not what their rules say, by design, and are counted apart:
 * - When the C++ runtime's own unwinder (libgcc's _Unwind_ functions) installs the context of a
 *   handler, it overwrites its own saved registers and return address, then adjusts sp itself.
 * - glibc's longjmp describes the place that it is about to go to as its caller, once it holds the
 *   new registers.  What is outside of that place is compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "calls.h"
#include "obj/cfi.h"
#include "target.h"

enum { WRONG_SHOWN = 10 };

struct oracle {
	struct target target;
	struct calls calls;
	struct unwind_walker *walker;
	uint64_t instructions, frames, wrong, in_unwinder, in_longjmp, signals;
	size_t depth_max;
	time_t begin;
};

enum verdict { RIGHT, WRONG, IN_UNWINDER, IN_LONGJMP };

/* ---- comparing ---- */

/* The walk's i-th frame against the true stack. */
static bool frame_is_right(
	const struct calls *c, const struct unwind_stack *stack, size_t i, size_t calls_inside)
{
	const struct call *call = &c->stack.data[c->stack.count - 1 - calls_inside];

	return stack->frames[i].pc == call->pc && stack->frames[i].sp == call->sp;
}

/* Compares frames from the given one on; the index of the first wrong one, or SIZE_MAX. */
static size_t first_wrong(
	const struct calls *c, const struct unwind_stack *stack, size_t frame, size_t calls_inside)
{
	for (; calls_inside < c->stack.count; frame++, calls_inside++) {
		if (frame >= stack->count || !frame_is_right(c, stack, frame, calls_inside))
			return frame;
	}
	return stack->end == UNWIND_ROOT && frame == stack->count ? SIZE_MAX : frame;
}

/* The rules of glibc's longjmp: the return address and sp are in registers. */
static bool is_in_longjmp(const struct oracle *o, const struct unwind_frame *leaf)
{
	if (leaf->object >= o->target.objects.count)
		return false;
	struct cfi_table *table = o->target.objects.data[leaf->object].table;
	const struct cfi_rule *rule = cfi_table_find(table, leaf->obj_addr);
	if (rule->kind != CFI_SLOW)
		return false;
	const struct cfi_slow_rule *slow = cfi_table_slow(table, rule->slow);
	return slow->how[CFI_REGISTER_RA] == CFI_REGISTER &&
	       slow->how[CFI_REGISTER_SP] == CFI_REGISTER;
}

/*
 * musl's have no rules: longjmp's last instruction, sigsetjmp between taking its return address off
 * the stack and putting it back, the loader's jump to the program.  When sigsetjmp returns for the
 * second time, that address was pushed, and no call was seen: there all that is further out is
 * compared.
 */
static bool is_in_musl_jump(const struct oracle *o, const struct unwind_stack *stack)
{
	static const char *const names[] = {"longjmp", "sigsetjmp", "__sigsetjmp", "__dls3"};

	if (stack->count > 1 && !target_has_sections(&o->target, &stack->frames[0]) &&
		first_wrong(&o->calls, stack, 2, 0) == SIZE_MAX)
		return true;
	for (size_t frame = 0; frame < stack->count && frame < 2; frame++) {
		struct str name = target_function(&o->target, &stack->frames[frame]);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (str_equal(name, str_from(names[i])))
				return !target_has_sections(&o->target, &stack->frames[frame]);
	}
	return false;
}

/* Whether all outside of the place that longjmp goes to is right. */
static bool is_right_longjmp(const struct oracle *o, const struct unwind_stack *stack)
{
	const struct calls *c = &o->calls;
	size_t inside = 0;

	if (is_in_musl_jump(o, stack))
		return true;
	if (stack->count < 2 || !is_in_longjmp(o, &stack->frames[0]))
		return false;
	while (inside < c->stack.count &&
		c->stack.data[c->stack.count - 1 - inside].slot < stack->frames[1].sp)
		inside++;
	return first_wrong(c, stack, 2, inside) == SIZE_MAX;
}

static bool is_of_unwinder(const struct oracle *o, const struct unwind_stack *stack, size_t frame)
{
	return str_starts_with(target_function(&o->target, &stack->frames[frame]), STR("_Unwind_"));
}

/*
 * Whether the frame from which the walk went wrong is libgcc's, or that of its caller, whose frame
 * pointer it has overwritten.
 */
static bool is_own_unwinder(const struct oracle *o, const struct unwind_stack *stack, size_t wrong)
{
	return (wrong > 0 && is_of_unwinder(o, stack, wrong - 1)) ||
	       (wrong > 1 && is_of_unwinder(o, stack, wrong - 2));
}

static void show_wrong(const struct oracle *o, const struct unwind_stack *stack, size_t wrong)
{
	const struct calls *c = &o->calls;
	size_t shown = wrong < stack->count ? wrong + 1 : stack->count;

	printf("# wrong: frame %zu of %zu (end %d), true depth %zu\n", wrong, stack->count,
		(int)stack->end, c->stack.count + 1);
	for (size_t i = 0; i < shown; i++) {
		const struct unwind_frame *f = &stack->frames[i];
		struct str name = target_function(&o->target, f);
		printf("#   %s+%" PRIx64 " %.*s sp %" PRIx64 "\n",
			target_object_path(&o->target, f), f->obj_addr, STR_ARG(name), f->sp);
	}
	if (wrong && wrong <= c->stack.count) {
		const struct call *call = &c->stack.data[c->stack.count - wrong];
		printf("#   should be pc %" PRIx64 " sp %" PRIx64 "\n", call->pc, call->sp);
	}
}

static enum verdict judge(struct oracle *o, const struct unwind_stack *stack)
{
	size_t wrong = first_wrong(&o->calls, stack, 1, 0);

	if (wrong == SIZE_MAX)
		return RIGHT;
	if (is_own_unwinder(o, stack, wrong))
		return IN_UNWINDER;
	if (is_right_longjmp(o, stack))
		return IN_LONGJMP;
	if (o->wrong < WRONG_SHOWN)
		show_wrong(o, stack, wrong);
	return WRONG;
}

static void unwind_and_compare(struct oracle *o)
{
	struct unwind_regs regs = target_regs(&o->target);
	struct unwind_stack stack;

	unwind_walk(o->walker, &o->target.space, NULL, &regs, &o->target.memory, &stack);
	enum verdict verdict = judge(o, &stack);
	o->wrong += verdict == WRONG;
	o->in_unwinder += verdict == IN_UNWINDER;
	o->in_longjmp += verdict == IN_LONGJMP;
	o->instructions++;
	o->frames += stack.count;
	o->depth_max = stack.count > o->depth_max ? stack.count : o->depth_max;
}

/* ---- watching ---- */

static bool changes_mappings(const struct user_regs_struct *before, const uint8_t code[16])
{
	return code[0] == 0x0f && code[1] == 0x05 &&
	       (before->rax == SYS_mmap || before->rax == SYS_mprotect ||
		       before->rax == SYS_munmap);
}

static void watch_step(
	struct oracle *o, const struct user_regs_struct *before, const uint8_t code[16])
{
	calls_step(&o->calls, before, &o->target.regs, code, target_top(&o->target));
	if (changes_mappings(before, code))
		target_reload(&o->target);
}

/* Whether a signal's delivery has led into a handler: it has its arguments then. */
static bool entered_handler(const struct target *t, int signal)
{
	return (int)t->regs.rdi == signal && t->regs.rdx == t->regs.rsp + 8;
}

static void watch_signal(struct oracle *o, const struct user_regs_struct *before)
{
	/* In the ucontext: where the alternate stack begins, and its size. */
	enum { STACK_LOW = 16, STACK_SIZE = 32 };
	uint64_t ucontext = o->target.regs.rdx, low = 0, size = 0;

	(void)target_read(&o->target, ucontext + STACK_LOW, &low, sizeof(low));
	(void)target_read(&o->target, ucontext + STACK_SIZE, &size, sizeof(size));
	calls_signal(&o->calls, before, &o->target.regs, low, size, target_top(&o->target));
	o->signals++;
}

/* What a program may take. */
struct budget {
	uint64_t instructions;
	time_t seconds;
};

static bool is_spent(const struct oracle *o, const struct budget *budget)
{
	return o->instructions >= budget->instructions || time(NULL) - o->begin > budget->seconds;
}

static void watch_program(struct oracle *o, const struct budget *budget)
{
	int signal = 0;

	unwind_and_compare(o);
	while (!is_spent(o, budget)) {
		struct user_regs_struct before = o->target.regs;
		const uint8_t *code = target_code(&o->target, before.rip);
		int next_signal;
		enum target_event event = target_step(&o->target, signal, &next_signal);
		if (event == TARGET_ENDED)
			return;
		if (signal && entered_handler(&o->target, signal))
			watch_signal(o, &before);
		else if (o->target.regs.rip != before.rip || o->target.regs.rsp != before.rsp)
			watch_step(o, &before, code);
		signal = next_signal;
		unwind_and_compare(o);
	}
}

/* ---- main ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ended_well(const struct oracle *o, const struct budget *budget)
{
	if (is_spent(o, budget))
		return true;
	return WIFEXITED(o->target.exit_status) && WEXITSTATUS(o->target.exit_status) == 0;
}

/* One program; false: a stack was wrong. */
static bool check_program(
	const char *path, bool from_entry, const struct budget *budget, unsigned int number)
{
	struct oracle *o = xalloc(sizeof(*o));

	if (!target_launch(&o->target, path)) {
		printf("ok %u - %s # SKIP ptrace is not permitted here\n", number, base_name(path));
		free(o);
		return true;
	}
	o->walker = unwind_walker_create();
	if (from_entry)
		target_run_to_entry(&o->target);
	o->begin = time(NULL);
	watch_program(o, budget);
	bool good = o->wrong == 0 && ended_well(o, budget);
	printf("%sok %u - %s: %" PRIu64 " instructions, %" PRIu64 " frames, deepest %zu, %" PRIu64
	       " signals; %" PRIu64 " wrong, %" PRIu64 " in the C++ runtime's unwinder, %" PRIu64
	       " in longjmp\n",
		good ? "" : "not ", number, base_name(path), o->instructions, o->frames,
		o->depth_max, o->signals, o->wrong, o->in_unwinder, o->in_longjmp);
	unwind_walker_destroy(o->walker);
	target_destroy(&o->target);
	calls_deinit(&o->calls);
	free(o);
	return good;
}

int main(int argc, char **argv)
{
	struct budget budget = {.instructions = UINT64_MAX, .seconds = INT32_MAX};
	bool from_entry = false, good = true;
	unsigned int number = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--instructions") == 0 && i + 1 < argc)
			budget.instructions = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
			budget.seconds = (time_t)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--entry") == 0)
			from_entry = true;
		else
			good &= check_program(argv[i], from_entry, &budget, ++number);
	}
	printf("1..%u\n", number);
	return good ? 0 : 1;
}
