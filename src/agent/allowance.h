#ifndef SONDE_AGENT_ALLOWANCE_H
#define SONDE_AGENT_ALLOWANCE_H

/*
 * What the agent may cost.  CPU time is an account: each second adds eleven twelfths of a share of
 * a CPU, and the agent's own time is taken off.  The rest of an hour's share is for bursts: 200
 * seconds' worth can be saved up, and 100 owed.  So in any hour the agent uses at most its share,
 * however expensive samples are, and what it has begun when it pauses.
 *
 * An account that is empty halves the sampling rate as long as more is spent than comes in.  At the
 * lowest rate, or with as much debt as is allowed, sampling pauses until a fifth is saved.  Too
 * much memory first leaves names out, whose tables are the largest, and then does the same.  Two
 * minutes that cost little double the rate, and at the full rate, bring names back.  Pure: no
 * clock, no process.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * The defaults for a machine: 1 % of a CPU for each 32 CPUs or part of it; 64 MiB, and 1 MiB for
 * each CPU.
 */
double allowance_cpu_share(uint32_t cpus);
uint64_t allowance_memory_bytes(uint32_t cpus);

#define ALLOWANCE_HALVINGS_MAX 4

enum allowance_change {
	ALLOWANCE_SAME,
	ALLOWANCE_RATE,	  /* halvings has changed, up or down by one */
	ALLOWANCE_NAMES,  /* leaves_names has become true */
	ALLOWANCE_PAUSE,  /* is_paused has become true, and the rate may be halved as well */
	ALLOWANCE_RESUME, /* is_paused has become false */
};

struct allowance {
	double share; /* of one CPU */
	uint64_t memory_most;
	int64_t saved_ns;		   /* CPU time; negative: debt */
	uint64_t time_ns, cpu_ns;	   /* at the last look */
	uint64_t window_ns, window_cpu_ns; /* when the trend was last judged, and the time used */
	uint64_t resume_ns;		   /* not before; 0: as soon as enough is saved */
	uint32_t halvings, calm;	   /* calm: windows in a row that cost little */
	uint64_t peak_bytes;		   /* of memory, since the trend was last judged */
	bool leaves_names; /* they take too much memory; until a calm time or allowance_set */
	bool is_paused;
	uint32_t halvings_total, pauses_total;
};

/* Begins with all that can be saved; cpu_ns: used so far. */
void allowance_init(
	struct allowance *a, double share, uint64_t memory_most, uint64_t time_ns, uint64_t cpu_ns);
/* Other limits, from now on. */
void allowance_set(struct allowance *a, double share, uint64_t memory_most);
/*
 * Call it about every second.  cpu_ns: the agent's CPU time so far; memory_bytes: what it has now.
 */
enum allowance_change allowance_look(
	struct allowance *a, uint64_t time_ns, uint64_t cpu_ns, uint64_t memory_bytes);
/* The most that can be saved up; half of it can be owed. */
int64_t allowance_saved_most_ns(const struct allowance *a);

#endif
