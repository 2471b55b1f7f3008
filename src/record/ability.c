/* Finds out what this machine allows, by trying it on sonde itself and on a child. */
#include "record/ability.h"

#include <limits.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/engines/exact/exact.h"
#include "record/engines/perf/perf_event.h"
#include "record/engines/preload/preload_library.h"
#include "record/events/perf_attr.h"
#include "record/switches/waking.h"

static bool kernel_symbols_readable(void)
{
	unsigned long long address = 0;
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f)
		return false;
	if (fscanf(f, "%llx", &address) != 1)
		address = 0;
	fclose(f);
	return address != 0;
}

/* Whether a child's memory can be read, as needed for stacks deeper than their dumps. */
static bool child_readable(void)
{
	uint64_t here = 0x736f6e6465, there = 0;
	struct iovec local = {&there, sizeof(there)}, remote = {&here, sizeof(here)};
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return got == (ssize_t)sizeof(there) && there == here;
}

static bool can_preload(void)
{
	char *library = preload_library_path();
	bool found = library != NULL;

	free(library);
	return found;
}

static void probe_sampling(struct recorder_ability *ability)
{
	struct perf_event_spec spec = {.interval_ns = 1000001};
	struct perf_event_set set;
	struct error *err = perf_event_set_open(&set, &spec, 0, false);

	if (err) {
		ability->perf_errno = err->code;
		error_destroy(err);
		return;
	}
	ability->perf_open = true;
	ability->kernel = set.grant.kernel;
	ability->ring_bytes = set.grant.ring_bytes;
	perf_event_set_close(&set);
}

static void probe_exact(struct recorder_ability *ability)
{
	struct exact_options options = {.dump_bytes = 4096, .ring_bytes = (size_t)1 << 20};
	struct exact *exact;
	struct error *err = exact_open(&options, &exact);

	if (!err) {
		exact_close(exact);
		return;
	}
	snprintf(ability->exact_refusal, sizeof(ability->exact_refusal), "%s", err->message);
	error_destroy(err);
}

static bool has_capability(int number)
{
	unsigned long long effective = 0;
	char *line = NULL;
	size_t capacity = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return false;
	while (getline(&line, &capacity, f) > 0)
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	free(line);
	fclose(f);
	return effective >> number & 1;
}

static void probe_waking(struct recorder_ability *ability)
{
	struct waking_format format;
	struct error *err = waking_format_read(&format);

	if (err)
		snprintf(ability->waking_refusal, sizeof(ability->waking_refusal), "%s",
			err->message);
	error_destroy(err);
}

void recorder_probe(struct recorder_ability *ability)
{
	struct rlimit limit = {0};

	*ability = (struct recorder_ability){0};
	probe_sampling(ability);
	ability->system_wide =
		perf_attr_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, true) == 0;
	ability->hardware =
		perf_attr_try(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false) == 0;
	ability->paranoid = perf_event_paranoid();
	ability->mlock_kb = perf_event_sysctl("perf_event_mlock_kb", 0);
	ability->max_stack = perf_event_sysctl("perf_event_max_stack", 0);
	ability->max_sample_rate = perf_event_sysctl("perf_event_max_sample_rate", 0);
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		ability->memlock_bytes = limit.rlim_cur;
	ability->seccomp = perf_event_is_filtered();
	ability->kallsyms = kernel_symbols_readable();
	ability->remote_reads = child_readable();
	ability->any_process = has_capability(CAP_SYS_PTRACE);
	ability->reads_all = has_capability(CAP_DAC_READ_SEARCH);
	ability->is_root = geteuid() == 0;
	ability->ptrace_scope = perf_event_sysctl("yama/ptrace_scope", 0);
	ability->preload = can_preload();
	probe_exact(ability);
	probe_waking(ability);
}
