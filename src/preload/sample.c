/*
 * One sample, in the signal handler.
 *
 * The thread's own stack, which is known to be mapped, is copied directly; any other memory is
 * copied by the kernel, which returns an error where a direct copy would crash the program.
 */
#include "preload/preload.h"

#include <errno.h>
#include <linux/rseq.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/raw.h"

/* This much of the stack is copied, even if the recorder knows it. */
#define STACK_USUAL ((size_t)16 << 10)
/* The maximum that leaves room for other samples. */
#define STACK_MAX(t) ((t)->lane.data_bytes / 2)
/* For a stack with an unknown end. */
#define STACK_OTHER ((size_t)32 << 10)
#define STACK_MIN   ((size_t)2 << 10)
/* The recorder writes its heartbeat more often than this, unless it is stopped or dead. */
#define SILENCE_NS UINT64_C(1000000000)
/* The recorder may be stopped for this long before it counts as dead. */
#define SILENCE_MOST_NS (10 * SILENCE_NS)
/* Samples between reports of the thread's name. */
#define NAME_EVERY 64

/* ---- the recorder ---- */

static bool recorder_is_gone(struct preload_thread *t, uint64_t now_ns)
{
	const struct preload_header *header = preload_process.header;
	uint64_t beat_ns = atomic_load_explicit(&header->heartbeat_ns, memory_order_relaxed);

	if (now_ns < beat_ns + SILENCE_NS || now_ns < t->checked_ns + SILENCE_NS)
		return false;
	t->checked_ns = now_ns;
	return now_ns > beat_ns + SILENCE_MOST_NS ||
	       raw2(SYS_kill, header->recorder_pid, 0) == -ESRCH;
}

/* ---- the stack ---- */

static const int gregs[PRELOAD_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
	REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	REG_RIP};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Copies up to room bytes of the stack from sp on; returns how many. */
static size_t copy_stack(
	const struct preload_thread *t, const ucontext_t *context, uint8_t *out, size_t room)
{
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	uint64_t alternate = (uint64_t)(uintptr_t)context->uc_stack.ss_sp;
	struct iovec to = {out, room}, from = {(void *)(uintptr_t)sp, room};

	if (sp >= t->stack_low_va && sp < t->stack_high_va) {
		room = least(room, t->stack_high_va - sp);
		memcpy(out, from.iov_base, room);
		return room;
	}
	if (!(context->uc_stack.ss_flags & SS_DISABLE) && sp >= alternate &&
		sp < alternate + context->uc_stack.ss_size)
		from.iov_len = least(room, alternate + context->uc_stack.ss_size - sp);
	long got = raw6(SYS_process_vm_readv, raw0(SYS_getpid), &to, 1, &from, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Copies the other parts, each after its head; returns how many bytes that takes. */
static size_t copy_parts(const struct preload_part parts[], size_t count, uint8_t *out)
{
	struct iovec to[PRELOAD_PARTS], from[PRELOAD_PARTS];
	size_t at = 0, end = 0;

	for (size_t i = 0; i < count; i++) {
		at += sizeof(*parts);
		to[i] = (struct iovec){out + at, parts[i].bytes};
		from[i] = (struct iovec){(void *)(uintptr_t)parts[i].va, parts[i].bytes};
		at += parts[i].bytes;
	}
	long got = raw6(SYS_process_vm_readv, raw0(SYS_getpid), to, count, from, count, 0);

	/* What can't be read is missing at the end. */
	for (size_t i = 0; i < count && got > 0; i++) {
		struct preload_part part = {parts[i].va, least(parts[i].bytes, (size_t)got)};

		memcpy(out + end, &part, sizeof(part));
		end += sizeof(part) + part.bytes;
		got -= (long)part.bytes;
	}
	return end;
}

static size_t stack_wanted(struct preload_thread *t, uint64_t sp)
{
	bool is_other = sp < t->stack_low_va || sp >= t->stack_high_va;
	uint64_t from_va = is_other ? t->stack_high_va : sp;
	size_t whole = t->stack_high_va - from_va;
	size_t needed = preload_marks_needed(t, from_va, t->stack_high_va);

	if (is_other)
		return STACK_OTHER;
	if (whole <= STACK_USUAL)
		return whole;
	return least(STACK_MAX(t), needed > STACK_USUAL ? needed : STACK_USUAL);
}

/* ---- records ---- */

static void tell_name(struct preload_thread *t)
{
	char name[sizeof(t->name)] = "";
	char *out;

	if (t->samples++ % NAME_EVERY != 0 || raw2(SYS_prctl, PR_GET_NAME, name) != 0 ||
		memcmp(name, t->name, sizeof(name)) == 0)
		return;
	out = preload_record_begin(t, PRELOAD_NAME, sizeof(name));
	if (!out)
		return;
	memcpy(out, name, sizeof(name));
	memcpy(t->name, name, sizeof(name));
	preload_record_end(t, sizeof(name));
}

/*
 * The kernel keeps it up to date in the C library's area, rseq(2), with glibc 2.35 and later.
 * Otherwise it takes a system call, which a filter may forbid.
 */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static uint32_t this_cpu(void)
{
	if (!&__rseq_size || __rseq_size == 0)
		return UINT32_MAX;
	const volatile struct rseq *area = (const void *)(raw_thread_pointer() + __rseq_offset);
	uint32_t cpu = area->cpu_id;

	return cpu < UINT32_MAX - 1 ? cpu : UINT32_MAX;
}

static void take(
	struct preload_thread *t, uint64_t now_ns, uint64_t cpu_ns, const ucontext_t *context)
{
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	uint64_t bp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
	size_t head = sizeof(struct preload_record) + sizeof(struct preload_sample);
	size_t wanted = stack_wanted(t, sp), others = 0, room;
	struct preload_part parts[PRELOAD_PARTS];
	size_t count = preload_other_stack(t, sp, bp, parts);

	for (size_t i = 0; i < count; i++)
		others += sizeof(parts[i]) + parts[i].bytes;
	uint8_t *out = preload_lane_begin(
		&t->lane, head + least(STACK_MIN, wanted) + others, head + wanted + others, &room);

	if (!out) {
		preload_lane_lose(&t->lane);
		return;
	}
	struct preload_record *record = (void *)out;
	struct preload_sample *sample = (void *)(record + 1);
	size_t copied = copy_stack(t, context, out + head, room - head - others);

	sample->took_ns = t->took_ns;
	sample->cpu = this_cpu();
	sample->stack_bytes = (uint32_t)copied;
	for (size_t i = 0; i < PRELOAD_REGS; i++)
		sample->regs[i] = (uint64_t)context->uc_mcontext.gregs[gregs[i]];
	size_t size = head + copied + copy_parts(parts, count, out + head + copied);

	*record = (struct preload_record){PRELOAD_SAMPLE, (uint32_t)size, now_ns, cpu_ns};
	preload_marks_sampled(t, now_ns);
	preload_lane_end(&t->lane, size);
}

/* ---- the signal ---- */

/*
 * In a handler, the kernel denies all protection keys except the default one, even if the program
 * may read.  V8's code has its own key, and reading it would kill the program.  The return from the
 * signal restores the program's rights.  See pkeys(7).
 */
static void open_keys(void)
{
	if (preload_process.has_keys)
		__asm__ volatile("wrpkru" : : "a"(0), "c"(0), "d"(0) : "memory");
}

/* Our own code, where a delayed signal arrives: the program is elsewhere. */
static bool is_our_code(uint64_t va)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char etext[] __attribute__((visibility("hidden")));

	return va >= (uint64_t)(uintptr_t)__ehdr_start && va < (uint64_t)(uintptr_t)etext;
}

static bool is_syscall(uint64_t va)
{
	static const uint8_t syscall_code[] = {0x0f, 0x05};

	return memcmp((const void *)(uintptr_t)va, syscall_code, sizeof(syscall_code)) == 0;
}

/* Whether the program is at a system call; before the instruction if the kernel restarts it. */
static bool is_in_call(const ucontext_t *context)
{
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP], in_page = pc % 4096;

	/* The neighbouring pages may be missing. */
	return (in_page >= 2 && is_syscall(pc - 2)) || (in_page <= 4094 && is_syscall(pc));
}

/* For a woken thread: the recorder's clock determines the time and the weight of its samples. */
static void tick(struct preload_thread *t, uint64_t now_ns, const ucontext_t *context)
{
	if (is_our_code((uint64_t)context->uc_mcontext.gregs[REG_RIP]))
		return;
	take(t, now_ns, 0, context);
	t->took_ns = preload_now_ns() - now_ns;
}

static bool is_cut(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RAX] == -EINTR &&
	       is_syscall((uint64_t)context->uc_mcontext.gregs[REG_RIP] - 2);
}

static void handle(struct preload_thread *t, const ucontext_t *context, bool in_call)
{
	uint64_t now_ns = preload_now_ns();

	if (preload_process.header->clock_fd_least > 0) {
		tick(t, now_ns, context);
		return;
	}
	if (atomic_load_explicit(&preload_process.header->stop, memory_order_relaxed) ||
		recorder_is_gone(t, now_ns)) {
		preload_timer_end(t);
		return;
	}
	uint64_t cpu_ns = preload_cpu_ns();

	if (!preload_timer_is_due(t, now_ns, cpu_ns, in_call))
		return;
	if (is_our_code((uint64_t)context->uc_mcontext.gregs[REG_RIP])) {
		preload_timer_again(t);
		return;
	}
	preload_timer_sampled(t, cpu_ns);
	preload_maps_notice(t, (uint64_t)context->uc_mcontext.gregs[REG_RIP]);
	tell_name(t);
	take(t, now_ns, cpu_ns, context);
	t->took_ns = preload_now_ns() - now_ns;
}

void preload_sample(void *context)
{
	int code = errno;

	open_keys();
	/*
	 * If a signal with a lower number ended it, its handler runs after ours: we interrupt that
	 * one.
	 */
	preload_self.cuts += is_cut(context);
	struct preload_thread *t = preload_enter();

	if (t) {
		handle(t, context, is_in_call(context));
		preload_leave(t);
	}
	errno = code;
}
