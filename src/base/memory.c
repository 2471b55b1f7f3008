/* The figures are those of /proc/PID/statm, the cheapest to read; proc(5). */
#include "base/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

/* Threads of a recorder watch rings and sync files; the usual 8 MiB would be mapped for each. */
#define THREAD_STACK_BYTES ((size_t)256 << 10)
struct memory_use memory_of(pid_t pid)
{
	char path[64];
	unsigned long long resident = 0, shared = 0, data = 0;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	FILE *f = fopen(path, "re");

	if (!f)
		return (struct memory_use){0};
	if (fscanf(f, "%*u %llu %llu %*u %*u %llu", &resident, &shared, &data) != 3 ||
		shared > resident)
		resident = shared = data = 0;
	fclose(f);
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	resident = (resident - shared) * page_bytes;
	return (struct memory_use){resident, MEMORY_IS_SANITIZED ? resident : data * page_bytes};
}

uint64_t memory_most(struct memory_use use, uint64_t limit_bytes)
{
	uint64_t mapped = use.mapped_bytes > limit_bytes ? use.mapped_bytes : limit_bytes;

	return use.resident_bytes > use.mapped_bytes
		       ? mapped + use.resident_bytes - use.mapped_bytes
		       : mapped;
}

uint64_t memory_own_peak(void)
{
	unsigned long long peak_kb = 0, file_kb = 0, shared_kb = 0;
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		(void)sscanf(line, "VmHWM: %llu", &peak_kb);
		(void)sscanf(line, "RssFile: %llu", &file_kb);
		(void)sscanf(line, "RssShmem: %llu", &shared_kb);
	}
	if (f)
		fclose(f);
	return peak_kb > file_kb + shared_kb ? (peak_kb - file_kb - shared_kb) << 10 : 0;
}

bool memory_limit(pid_t pid, uint64_t mapped_bytes)
{
	struct rlimit limit;

	if (MEMORY_IS_SANITIZED)
		return true;

	/* The hard limit stays, so that this one can be raised again. */
	if (prlimit(pid, RLIMIT_DATA, NULL, &limit) != 0)
		return false;
	limit.rlim_cur = mapped_bytes < limit.rlim_max ? (rlim_t)mapped_bytes : limit.rlim_max;
	return prlimit(pid, RLIMIT_DATA, &limit, NULL) == 0;
}

bool memory_can_limit(void)
{
	struct rlimit limit;

	return prlimit(0, RLIMIT_DATA, NULL, &limit) == 0 &&
	       prlimit(0, RLIMIT_DATA, &limit, NULL) == 0;
}

void memory_small_stacks(void)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	(void)pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
	(void)pthread_setattr_default_np(&attributes);
	(void)pthread_attr_destroy(&attributes);
}

bool memory_was_refused(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == ALLOC_EXIT_STATUS;
}
