#ifndef SONDE_FORMATS_UFTRACE_SWITCHES_H
#define SONDE_FORMATS_UFTRACE_SWITCHES_H

/*
 * What the kernel told of threads while uftrace recorded (perf-cpuN.dat): when they left the CPU
 * and came back, when they ended, and what they are called.
 */

#include "base/folder.h"
#include "base/map.h"
#include "base/vec.h"

enum uftrace_switch_kind { UFTRACE_IN, UFTRACE_OUT, UFTRACE_PREEMPTED, UFTRACE_END };

struct uftrace_switch {
	uint64_t time_ns;
	uint32_t tid;
	enum uftrace_switch_kind kind;
};

struct uftrace_switches {
	VEC(struct uftrace_switch) all; /* by thread and time */
	struct arena *arena;
	struct str_table names;
	struct map name_of; /* tid → index of name */
	uint64_t bad;	    /* files that end in something else */
};

void uftrace_switches_init(struct uftrace_switches *s, const struct folder *folder);
void uftrace_switches_deinit(struct uftrace_switches *s);
/* The first of a thread; those that follow are of it as long as their tid is. */
size_t uftrace_switches_of(const struct uftrace_switches *s, uint64_t tid);
/* Empty: not known. */
struct str uftrace_switches_name(const struct uftrace_switches *s, uint64_t tid);

#endif
