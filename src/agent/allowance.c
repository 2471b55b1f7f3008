/*
 * A token bucket, as networks use them to bound a rate with bursts: ATM's and RFC 2697's.  The
 * start of a segment and its names come in bursts; the bucket spreads them.
 *
 * The trend is judged over windows, since a lower rate shows only in the next segment.  Memory does
 * not average: above its limit the rate is halved once a window, and then sampling pauses, which
 * ends the segment and frees what it has.
 */
#include "agent/allowance.h"

#include "base/clock.h"

#define SHARE_PER_GROUP	 0.01
#define CPUS_PER_GROUP	 32
#define MEMORY_BYTES	 ((uint64_t)64 << 20)
#define MEMORY_CPU_BYTES ((uint64_t)1 << 20)

/* Of an hour's share, 200 s can be saved and 100 s owed; the other 3300 s come in steadily. */
#define INCOME_PART   (11.0 / 12)
#define SAVED_TIME_NS (200 * SECOND_NS)
#define DEBT_PART     2
#define WINDOW_NS     (15 * SECOND_NS)
/*
 * This many cheap windows in a row, with everything saved, double the rate again, and then allow
 * names.
 */
#define CALM_WINDOWS 8
/* With less than this part of the share. */
#define CALM_PART 3
/* The part of the savings with which sampling goes on. */
#define RESUME_PART 5
/* A pause because of memory. */
#define MEMORY_PAUSE_NS (60 * SECOND_NS)

double allowance_cpu_share(uint32_t cpus)
{
	uint32_t groups = (cpus + CPUS_PER_GROUP - 1) / CPUS_PER_GROUP;

	return SHARE_PER_GROUP * (groups > 0 ? groups : 1);
}

uint64_t allowance_memory_bytes(uint32_t cpus)
{
	return MEMORY_BYTES + MEMORY_CPU_BYTES * cpus;
}

int64_t allowance_saved_most_ns(const struct allowance *a)
{
	return (int64_t)(a->share * (double)SAVED_TIME_NS);
}

void allowance_init(
	struct allowance *a, double share, uint64_t memory_most, uint64_t time_ns, uint64_t cpu_ns)
{
	*a = (struct allowance){.share = share,
		.memory_most = memory_most,
		.time_ns = time_ns,
		.cpu_ns = cpu_ns,
		.window_ns = time_ns,
		.window_cpu_ns = cpu_ns};
	a->saved_ns = allowance_saved_most_ns(a);
}

void allowance_set(struct allowance *a, double share, uint64_t memory_most)
{
	a->share = share;
	a->memory_most = memory_most;
	a->leaves_names = false;
}

static void spend(struct allowance *a, uint64_t time_ns, uint64_t cpu_ns)
{
	int64_t most_ns = allowance_saved_most_ns(a);

	a->saved_ns += (int64_t)(a->share * INCOME_PART * (double)(time_ns - a->time_ns));
	if (a->saved_ns > most_ns)
		a->saved_ns = most_ns;
	a->saved_ns -= (int64_t)(cpu_ns - a->cpu_ns);
	a->time_ns = time_ns;
	a->cpu_ns = cpu_ns;
}

static enum allowance_change pause_until(struct allowance *a, uint64_t resume_ns)
{
	a->is_paused = true;
	a->resume_ns = resume_ns;
	a->pauses_total++;
	return ALLOWANCE_PAUSE;
}

/* False: the rate is the lowest. */
static bool halve(struct allowance *a)
{
	if (a->halvings == ALLOWANCE_HALVINGS_MAX)
		return false;
	a->halvings++;
	a->halvings_total++;
	return true;
}

static enum allowance_change lower(struct allowance *a, uint64_t resume_ns)
{
	return halve(a) ? ALLOWANCE_RATE : pause_until(a, resume_ns);
}

static enum allowance_change look_at_pause(struct allowance *a)
{
	if (a->saved_ns < allowance_saved_most_ns(a) / RESUME_PART || a->time_ns < a->resume_ns)
		return ALLOWANCE_SAME;
	a->is_paused = false;
	return ALLOWANCE_RESUME;
}

/* Looks at the peak, as resolving names takes memory for a moment only. */
static enum allowance_change judge(
	struct allowance *a, uint64_t used_ns, uint64_t passed_ns, uint64_t memory_bytes)
{
	double due_ns = a->share * INCOME_PART * (double)passed_ns;
	bool is_calm = (double)used_ns * CALM_PART < due_ns && memory_bytes < a->memory_most / 2;

	a->calm = is_calm && a->saved_ns >= allowance_saved_most_ns(a) * 9 / 10 ? a->calm + 1 : 0;
	if (memory_bytes > a->memory_most)
		return lower(a, a->time_ns + MEMORY_PAUSE_NS);
	if (a->saved_ns < 0 && (double)used_ns > due_ns)
		return lower(a, 0);
	if (a->calm < CALM_WINDOWS)
		return ALLOWANCE_SAME;
	/* What was given up last comes back first. */
	a->calm = 0;
	if (a->halvings == 0) {
		a->leaves_names = false;
		return ALLOWANCE_SAME;
	}
	a->halvings--;
	return ALLOWANCE_RATE;
}

enum allowance_change allowance_look(
	struct allowance *a, uint64_t time_ns, uint64_t cpu_ns, uint64_t memory_bytes)
{
	spend(a, time_ns, cpu_ns);
	if (memory_bytes > a->peak_bytes)
		a->peak_bytes = memory_bytes;
	if (a->is_paused) {
		a->peak_bytes = 0;
		a->window_ns = time_ns;
		a->window_cpu_ns = cpu_ns;
		return look_at_pause(a);
	}
	if (a->saved_ns < -allowance_saved_most_ns(a) / DEBT_PART) {
		/* What costs so much would only pause again. */
		(void)halve(a);
		return pause_until(a, 0);
	}
	if (memory_bytes > a->memory_most && !a->leaves_names) {
		a->leaves_names = true;
		a->peak_bytes = 0;
		return ALLOWANCE_NAMES;
	}
	if (memory_bytes > 2 * a->memory_most)
		return pause_until(a, time_ns + MEMORY_PAUSE_NS);
	if (time_ns < a->window_ns + WINDOW_NS)
		return ALLOWANCE_SAME;
	uint64_t used_ns = cpu_ns - a->window_cpu_ns, passed_ns = time_ns - a->window_ns;

	a->window_ns = time_ns;
	a->window_cpu_ns = cpu_ns;
	memory_bytes = a->peak_bytes;
	a->peak_bytes = 0;
	return judge(a, used_ns, passed_ns, memory_bytes);
}
