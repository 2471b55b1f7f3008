/*
 * /proc/PID/syscall, proc(5), shows where a thread off the CPU is.  process_vm_readv(2) reads its
 * stack without stopping or waking it.  Both need permission to trace it, which a process has for
 * its children and for other processes of its user.
 *
 * The result is valid only if the thread slept all the time: it is still in the same place, and did
 * not get the CPU in between (the third number in /proc/PID/schedstat).
 */
#include "record/switches/blocked_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/processes/proc.h"

/* Most sleeping stacks fit into this; the rest is read when the walk needs it. */
#define STACK_BYTES ((size_t)32 << 10)

/* Buffer size for such files. */
enum { TEXT_BYTES = 256 };

void blocked_stack_init(struct blocked_stack *b)
{
	b->bytes = xalloc(STACK_BYTES);
}

void blocked_stack_deinit(struct blocked_stack *b)
{
	free(b->bytes);
	b->bytes = NULL;
}

/* Reads a thread's file as text.  False: nothing could be read. */
static bool read_text(int64_t tid, const char *name, char *text)
{
	char path[64];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, TEXT_BYTES - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size > 0;
}

bool blocked_stack_parse(const char *text, struct blocked_call *call)
{
	uint64_t numbers[9] = {0};
	size_t count = 0;
	char *end;

	for (;; text = end) {
		errno = 0;
		uint64_t number = strtoull(text, &end, 0);

		if (end == text || errno)
			break;
		if (count == 9)
			return false;
		numbers[count++] = number;
	}
	/* A number, sp and pc, optionally with six arguments in between. */
	if (count != 3 && count != 9)
		return false;
	*call = (struct blocked_call){
		.number = (int64_t)numbers[0], .sp = numbers[count - 2], .pc = numbers[count - 1]};
	if (count == 9)
		memcpy(call->arguments, numbers + 1, sizeof(call->arguments));
	return true;
}

/* How often the thread got the CPU; 0: unknown, so only its place is compared. */
static uint64_t turns(int64_t tid)
{
	struct proc_sched sched;

	return proc_sched_read(tid, &sched) ? sched.turns : 0;
}

static void fill_sample(const struct blocked_stack *b, int64_t pid, int64_t tid, size_t size,
	struct perf_sample *sample)
{
	*sample = (struct perf_sample){
		.ip = b->call.pc,
		.time_ns = clock_monotonic_ns(),
		.pid = pid,
		.tid = tid,
		.has_user = true,
		.stack = b->bytes,
		.stack_size = size,
	};
	sample->regs.value[UNWIND_REG_SP] = b->call.sp;
	sample->regs.value[UNWIND_REG_PC] = b->call.pc;
	sample->regs.known = 1u << UNWIND_REG_SP | 1u << UNWIND_REG_PC;
}

enum blocked_state blocked_stack_read(
	struct blocked_stack *b, int64_t pid, int64_t tid, struct perf_sample *sample)
{
	char before[TEXT_BYTES], after[TEXT_BYTES];

	if (!read_text(tid, "syscall", before))
		return BLOCKED_REFUSED;
	if (!blocked_stack_parse(before, &b->call))
		return BLOCKED_RUNNING;
	uint64_t turns_before = turns(tid);
	struct iovec local = {b->bytes, STACK_BYTES},
		     remote = {(void *)(uintptr_t)b->call.sp, STACK_BYTES};
	ssize_t size = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);

	if (size <= 0)
		return BLOCKED_REFUSED;
	if (!read_text(tid, "syscall", after) || strcmp(before, after) != 0 ||
		turns(tid) != turns_before)
		return BLOCKED_RUNNING;
	fill_sample(b, pid, tid, (size_t)size, sample);
	return BLOCKED_ASLEEP;
}
