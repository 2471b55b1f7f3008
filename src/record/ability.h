#ifndef SONDE_RECORD_ABILITY_H
#define SONDE_RECORD_ABILITY_H

/*
 * What this machine allows us to record, for `sonde doctor`.
 */

#include <stdbool.h>
#include <stdint.h>

struct recorder_ability {
	bool perf_open;	  /* perf_event_open for our own processes works */
	int perf_errno;	  /* if not */
	bool kernel;	  /* kernel frames too */
	bool system_wide; /* other users' processes and whole CPUs */
	int paranoid;	  /* kernel.perf_event_paranoid, INT_MIN: unknown */
	int mlock_kb;	  /* kernel.perf_event_mlock_kb */
	uint64_t memlock_bytes;
	bool hardware;	     /* a PMU with cycles */
	bool seccomp;	     /* this process has a seccomp filter */
	uint64_t ring_bytes; /* the largest ring buffer per CPU that mmap granted */
	int max_stack;	     /* kernel.perf_event_max_stack */
	int max_sample_rate;
	bool kallsyms;	   /* kernel addresses readable */
	bool remote_reads; /* process_vm_readv of a child works */
	bool any_process;  /* may inspect all processes: CAP_SYS_PTRACE */
	bool reads_all;	   /* may read all files: CAP_DAC_READ_SEARCH */
	bool is_root;	   /* in a container it may still lack capabilities */
	int ptrace_scope;  /* kernel.yama.ptrace_scope; 0 also without Yama */
	bool preload;	   /* if perf events are refused: the preloaded library is installed */
	/* Why the exact engine is not available; "": it is. */
	char exact_refusal[256];
	/* Why wakers cannot be recorded; "": they can. */
	char waking_refusal[256];
};
void recorder_probe(struct recorder_ability *ability);

#endif
