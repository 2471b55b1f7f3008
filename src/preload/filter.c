/*
 * Runs a seccomp filter as the kernel would, on each system call that the library makes, with its
 * arguments.  A filter is a classic BPF program that can only jump forward, so it terminates; the
 * kernel accepts only the few instructions handled here: see seccomp_check_filter in
 * kernel/seccomp.c.
 */
#include "preload/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* One of the library's calls, with the arguments that filters inspect. */
struct call {
	int number;
	bool may_fail; /* an error is acceptable */
	long a, b, c;
};

static const struct call calls[] = {
	{SYS_rt_sigreturn, false, 0, 0, 0},
	{SYS_gettid, false, 0, 0, 0},
	{SYS_getpid, false, 0, 0, 0},
	{SYS_clock_gettime, false, CLOCK_THREAD_CPUTIME_ID, 0, 0},
	{SYS_clock_gettime, false, CLOCK_MONOTONIC, 0, 0},
	{SYS_timer_create, false, CLOCK_MONOTONIC, 0, 0},
	{SYS_timer_create, false, CLOCK_THREAD_CPUTIME_ID, 0, 0},
	{SYS_timer_settime, false, 0, 0, 0},
	{SYS_getrusage, true, 0, 0, 0},
	{SYS_timer_delete, false, 0, 0, 0},
	{SYS_madvise, false, 0, 0, MADV_POPULATE_WRITE},
	{SYS_rt_sigprocmask, false, SIG_BLOCK, 0, 0},
	{SYS_rt_sigprocmask, false, SIG_UNBLOCK, 0, 0},
	{SYS_rt_sigprocmask, false, SIG_SETMASK, 0, 0},
	{SYS_prctl, true, PR_GET_NAME, 0, 0},
	{SYS_process_vm_readv, true, 0, 0, 0},
	{SYS_openat, true, AT_FDCWD, 0, O_RDONLY | O_CLOEXEC},
	{SYS_read, true, 0, 0, 0},
	{SYS_close, true, 0, 0, 0},
	{SYS_readlinkat, true, AT_FDCWD, 0, 0},
	{SYS_kill, true, 0, 0, 0},
	{SYS_rt_tgsigqueueinfo, true, 0, 0, SIGURG},
};

/* ---- the machine ---- */

struct machine {
	const struct seccomp_data *data;
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

/* A 32-bit word of the data; false: the kernel would not have accepted the filter. */
static bool load_data(struct machine *m, uint32_t offset)
{
	if (offset % sizeof(m->a) != 0 || offset > sizeof(*m->data) - sizeof(m->a))
		return false;
	memcpy(&m->a, (const char *)m->data + offset, sizeof(m->a));
	return true;
}

static bool load(struct machine *m, const struct sock_filter *f)
{
	bool to_x = BPF_CLASS(f->code) == BPF_LDX;
	uint32_t value;

	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		return !to_x && load_data(m, f->k);
	case BPF_IMM:
		value = f->k;
		break;
	case BPF_LEN:
		value = sizeof(*m->data);
		break;
	case BPF_MEM:
		if (f->k >= BPF_MEMWORDS)
			return false;
		value = m->memory[f->k];
		break;
	default:
		return false;
	}
	*(to_x ? &m->x : &m->a) = value;
	return true;
}

static bool calculate(struct machine *m, const struct sock_filter *f)
{
	uint32_t b = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		m->a += b;
		return true;
	case BPF_SUB:
		m->a -= b;
		return true;
	case BPF_MUL:
		m->a *= b;
		return true;
	case BPF_DIV:
		m->a = b ? m->a / b : 0;
		return b != 0;
	case BPF_AND:
		m->a &= b;
		return true;
	case BPF_OR:
		m->a |= b;
		return true;
	case BPF_XOR:
		m->a ^= b;
		return true;
	case BPF_LSH:
		m->a = b < 32 ? m->a << b : 0;
		return true;
	case BPF_RSH:
		m->a = b < 32 ? m->a >> b : 0;
		return true;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	default:
		return false;
	}
}

/* How many instructions a jump skips. */
static bool jump(const struct machine *m, const struct sock_filter *f, uint64_t *skip)
{
	uint32_t b = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		*skip = f->k;
		return true;
	case BPF_JEQ:
		*skip = m->a == b ? f->jt : f->jf;
		return true;
	case BPF_JGT:
		*skip = m->a > b ? f->jt : f->jf;
		return true;
	case BPF_JGE:
		*skip = m->a >= b ? f->jt : f->jf;
		return true;
	case BPF_JSET:
		*skip = m->a & b ? f->jt : f->jf;
		return true;
	default:
		return false;
	}
}

static bool store(struct machine *m, const struct sock_filter *f)
{
	if (f->k >= BPF_MEMWORDS)
		return false;
	m->memory[f->k] = BPF_CLASS(f->code) == BPF_STX ? m->x : m->a;
	return true;
}

static bool move(struct machine *m, const struct sock_filter *f)
{
	if (BPF_MISCOP(f->code) == BPF_TAX)
		m->x = m->a;
	else
		m->a = m->x;
	return true;
}

static bool step(struct machine *m, const struct sock_filter *f, uint64_t *skip)
{
	*skip = 0;
	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
	case BPF_LDX:
		return load(m, f);
	case BPF_ST:
	case BPF_STX:
		return store(m, f);
	case BPF_ALU:
		return calculate(m, f);
	case BPF_JMP:
		return jump(m, f, skip);
	case BPF_MISC:
		return move(m, f);
	default:
		return false;
	}
}

/* The filter's result; an invalid one kills. */
static uint32_t run(const struct sock_filter *code, size_t count, const struct seccomp_data *data)
{
	struct machine m = {.data = data};
	uint64_t skip;

	for (uint64_t at = 0; at < count; at += 1 + skip) {
		const struct sock_filter *f = &code[at];

		if (BPF_CLASS(f->code) == BPF_RET)
			return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		if (!step(&m, f, &skip))
			break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* ---- the library's calls ---- */

static bool allows(const struct sock_filter *code, size_t count, const struct call *call)
{
	struct seccomp_data data = {.nr = call->number,
		.arch = AUDIT_ARCH_X86_64,
		.instruction_pointer = (uint64_t)(uintptr_t)calls,
		.args = {(uint64_t)call->a, (uint64_t)call->b, (uint64_t)call->c}};
	uint32_t action = run(code, count, &data) & SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
	       (call->may_fail && action == SECCOMP_RET_ERRNO);
}

bool preload_filter_allows(const struct sock_filter *code, size_t count)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!allows(code, count, &calls[i]))
			return false;
	return true;
}
