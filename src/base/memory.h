#ifndef SONDE_BASE_MEMORY_H
#define SONDE_BASE_MEMORY_H

/*
 * What a process has in memory for itself, and a limit to it that the kernel enforces.
 *
 * The limit is RLIMIT_DATA: private writable mappings, by their size (Linux 4.7).  What is not
 * counted are pages of programs and libraries that became private when they were relocated; their
 * number does not change once all libraries are loaded.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* AddressSanitizer maps terabytes of its own, so nothing is limited with it. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_IS_SANITIZED true
#else
#define MEMORY_IS_SANITIZED false
#endif

struct memory_use {
	/* Resident pages that belong to no file; those shared with a parent since a fork, too. */
	uint64_t resident_bytes;
	/* Private writable mappings, touched or not. */
	uint64_t mapped_bytes;
};

/* All 0: the process is gone. */
struct memory_use memory_of(pid_t pid);
/* The most that a process can have with a limit of so many mapped bytes; 0: without growing. */
uint64_t memory_most(struct memory_use use, uint64_t limit_bytes);
/* The peak of resident_bytes of the calling process so far. */
uint64_t memory_own_peak(void);

/*
 * Limits the mapped bytes of a child, or of the calling process (0); what it has already stays.
 * False: the kernel refuses that.
 */
bool memory_limit(pid_t pid, uint64_t mapped_bytes);
/* Whether memory_limit can work; changes nothing. */
bool memory_can_limit(void);
/* New threads of this process get small stacks, as their whole size is mapped. */
void memory_small_stacks(void);
/* Whether a process that was waited for ended because memory was refused. */
bool memory_was_refused(int status);

#endif
