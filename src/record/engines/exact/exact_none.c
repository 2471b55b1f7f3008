/*
 * The exact engine in a build without libbpf or a BPF compiler: it cannot be opened, so the other
 * functions are never called.
 */
#include "record/engines/exact/exact.h"

#include <errno.h>

const char *exact_lacks(void)
{
	return "sonde was built without it (libbpf, and clang for BPF)";
}

struct error *exact_open(const struct exact_options *options, struct exact **exact)
{
	(void)options;
	(void)exact;
	return error_new(ERROR_UNSUPPORTED, "%s", exact_lacks());
}

void exact_close(struct exact *x)
{
	(void)x;
}

int exact_attach(struct exact *x, int perf_fd)
{
	(void)x;
	(void)perf_fd;
	return ENOSYS;
}

int exact_fd(const struct exact *x)
{
	(void)x;
	return -1;
}

size_t exact_ring_bytes(const struct exact *x)
{
	(void)x;
	return 0;
}

void exact_rest(struct exact *x, const struct perf_sample *sample, struct stack_rest *rest)
{
	(void)x;
	(void)sample;
	rest->pieces.count = rest->others.count = 0;
}

void exact_keep(struct exact *x)
{
	(void)x;
}

void exact_learn(struct exact *x, const struct perf_sample *sample, const struct stack_rest *rest,
	const struct unwind_history *history, bool is_short)
{
	(void)x;
	(void)sample;
	(void)rest;
	(void)history;
	(void)is_short;
}

void exact_release(struct exact *x, uint64_t horizon_ns)
{
	(void)x;
	(void)horizon_ns;
}

void exact_only_known(struct exact *x)
{
	(void)x;
}

void exact_know(struct exact *x, int64_t pid)
{
	(void)x;
	(void)pid;
}

void exact_learn_go(struct exact *x, int64_t pid, uint32_t below)
{
	(void)x;
	(void)pid;
	(void)below;
}

struct exact_counts exact_counts(const struct exact *x)
{
	(void)x;
	return (struct exact_counts){0};
}
