/*
 * At the end, two accounts are compared: the system's, from rusage and /proc/PID/stat, and the
 * engine's clocks.  Each omits something; the kind of target decides which one to use.
 *
 * During the recording, if kernel code is sampled, samples cover all CPU time, so each thread's
 * samples are compared with the thread's account, or with its process's if threads are too
 * short-lived to be read.  If kernel code is not sampled, it is unknown how much of a thread's
 * account its samples should cover.  Then the events' clocks, which also run in the kernel, are
 * compared with the accounts of the processes, as long as the processes stay the same.
 */
#include "record/cpu_account.h"

#include <math.h>

#include "base/clock.h"
#include "record/processes/proc.h"

/* ---- at the end ---- */

/* Most recordings miss this much: threads do not begin and end at ticks. */
#define MISSING_PART	  400
#define MISSING_INTERVALS 10
/* The system's account is preferred to the clocks if it has at least this part of their time. */
#define WHOLE_SHARE 0.95
/* The tick with which the system divides time between the kernel and user code; rarely longer. */
#define SYSTEM_TICK_NS 4e6
/*
 * Rounding of the machine's account: user and system time, at the beginning and at the end.  In
 * addition, at most this part of it is random.
 */
#define MACHINE_ROUNDING_NS 4e7
#define MACHINE_CHANCE_MAX  0.01

/*
 * The CPU time counted by the engine's clocks, in the system's measure; UINT64_MAX: unknown.
 * Clocks are ahead of the system's account if the host takes the CPU away, and never behind it.  If
 * samples weigh more than their period, ticks were missed, but the clocks continued.
 */
static uint64_t counted_ns(const struct recording *recording, const struct engine_counts *counts)
{
	if (counts->cpu_ns == UINT64_MAX)
		return UINT64_MAX;
	return (uint64_t)((double)counts->cpu_ns * fmin(1, weights_ratio(&recording->weights)));
}

/* The weight of samples, including those left out in pauses. */
static uint64_t taken_ns(const struct recording *recording)
{
	return recording->sampled_ns + recording->off_ns;
}

/* The weight of samples, including lost ones. */
static uint64_t found_ns(const struct recording *recording, const struct engine_counts *counts)
{
	double mean_ns = recording->samples > 0
				 ? (double)recording->sampled_ns / (double)recording->samples
				 : (double)recording->weights.interval_ns;

	return taken_ns(recording) + (uint64_t)((double)counts->lost * mean_ns);
}

/*
 * For a command and all its children.  The system only accounts for children that were waited for,
 * and for nothing while the target lives.  The engine's clocks count all of them, except for
 * programs that the kernel does not let them follow.
 */
static uint64_t command_cpu_ns(const struct recording *recording, const struct target *target,
	uint64_t system_ns, uint64_t counted, uint64_t found)
{
	if (target->ended && process_table_process_total(recording->processes) == 1)
		return system_ns;
	if (counted == UINT64_MAX)
		return system_ns > found ? system_ns : found;
	if ((double)system_ns >= WHOLE_SHARE * (double)counted)
		return system_ns;
	return counted;
}

/* For attached processes.  The system has no account of their descendants that have ended. */
static uint64_t processes_cpu_ns(const struct recording *recording, const struct target *target,
	uint64_t counted, uint64_t found)
{
	uint64_t own_ns = target_processes_cpu_ns(target);
	bool is_all = process_table_process_total(recording->processes) <= target->processes.count;

	/* For processes that have ended, the last CPU time may be missing. */
	if (is_all && (counted == UINT64_MAX || (double)own_ns >= WHOLE_SHARE * (double)counted))
		return own_ns;
	if (counted != UINT64_MAX)
		return counted;
	return own_ns > found ? own_ns : found;
}

/*
 * For the whole machine.  The system counts in hundredths of a second, and by its ticks, so the
 * time of short tasks is random.  A difference that this explains is ignored.
 */
static uint64_t machine_cpu_ns(uint64_t system_ns, uint64_t found)
{
	double all = (double)system_ns;
	double chance_ns = fmin(3 * sqrt(all * SYSTEM_TICK_NS), all * MACHINE_CHANCE_MAX);

	return fabs(all - (double)found) <= MACHINE_ROUNDING_NS + chance_ns ? found : system_ns;
}

static uint64_t cpu_account_used_ns(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up)
{
	struct target_cpu used = target_cpu(target);
	uint64_t system_ns = used.user_ns + used.system_ns;
	uint64_t counted = counted_ns(recording, counts), found = found_ns(recording, counts);

	/* The system's account includes programs that the engine cannot reach. */
	if (counts->by_use)
		return system_ns > counted ? system_ns : counted;
	switch (target->kind) {
	case TARGET_PROCESSES:
		return processes_cpu_ns(recording, target, counted, found);
	case TARGET_MACHINE:
		return machine_cpu_ns(system_ns, found);
	case TARGET_COMMAND:
		break;
	}
	/* The clocks stopped before the end. */
	if (gave_up && target->ended)
		return system_ns;
	return command_cpu_ns(recording, target, system_ns, counted, found);
}

/*
 * The kernel's part of the missing time.  The system divides CPU time between the kernel and user
 * code by its ticks, so randomly, and wrongly for threads that wake at ticks.  A difference that
 * this explains is attributed to the kernel.  If some programs are known that could not be sampled,
 * that is less likely, and only randomness is allowed for.
 */
static uint64_t kernel_part_ns(
	struct target_cpu used, uint64_t cpu_ns, uint64_t missing_ns, bool is_denied)
{
	double user = (double)used.user_ns, system = (double)used.system_ns;

	if (user + system <= 0)
		return missing_ns;
	double kernel_ns = (double)cpu_ns * system / (user + system);
	double chance_ns = 3 * sqrt(kernel_ns * SYSTEM_TICK_NS) + SYSTEM_TICK_NS;
	double in_step_ns = is_denied ? 0 : kernel_ns / 2 + (double)cpu_ns / 20;

	if ((double)missing_ns <= kernel_ns + chance_ns + in_step_ns)
		return missing_ns;
	return (uint64_t)kernel_ns;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Time without samples is lost as far as losses were counted; the next part is the kernel's, and
 * the rest is lost.
 */
static void divide_missing(struct cpu_account *account, const struct recording *recording,
	const struct engine_counts *counts, struct target_cpu used)
{
	uint64_t found = found_ns(recording, counts), interval_ns = recording->weights.interval_ns;

	if (account->cpu_ns <= taken_ns(recording))
		return;
	uint64_t missing = account->cpu_ns - taken_ns(recording);
	uint64_t counted_lost = smaller(missing, found - taken_ns(recording));
	const char *name;

	if (!counts->kernel)
		account->kernel_ns = kernel_part_ns(used, account->cpu_ns, missing - counted_lost,
			process_table_denied(recording->processes, &name) > 0);
	account->lost_ns = missing - account->kernel_ns;
	if (account->lost_ns < account->cpu_ns / MISSING_PART ||
		account->lost_ns < MISSING_INTERVALS * interval_ns)
		account->lost_ns = counted_lost;
}

/* The number of samples in the sampled and lost CPU time, at the mean weight of samples. */
static uint64_t expected_samples(const struct recording *recording,
	const struct engine_counts *counts, const struct cpu_account *account)
{
	uint64_t interval_ns = recording->weights.interval_ns;

	if (account->cpu_ns == UINT64_MAX)
		return UINT64_MAX;
	uint64_t lost = account->lost_ns / interval_ns;

	if (recording->sampled_ns > 0)
		lost = (uint64_t)((double)account->lost_ns * (double)recording->samples /
				  (double)recording->sampled_ns);
	return recording->samples + (lost > counts->lost ? lost : counts->lost);
}

struct cpu_account cpu_account(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up)
{
	struct cpu_account account = {
		.cpu_ns = cpu_account_used_ns(recording, target, counts, gave_up)};

	if (counts->by_use && account.cpu_ns > counts->cpu_ns)
		account.unreached_ns = account.cpu_ns - counts->cpu_ns;
	if (account.cpu_ns != UINT64_MAX)
		divide_missing(&account, recording, counts, target_cpu(target));
	if (account.cpu_ns != UINT64_MAX)
		account.cpu_ns -= smaller(account.cpu_ns, recording->off_ns);
	account.expected = expected_samples(recording, counts, &account);
	return account;
}

/* ---- during the recording ---- */

/* The number of threads read per check; each takes several microseconds. */
#define THREADS_MAX   64
#define PROCESSES_MAX 64
/*
 * Clocks and accounts advance between the two readings.  This much time, or this part, does not
 * matter.
 */
#define APART_MOST_NS (SECOND_NS / 2000)
#define APART_PART    200

struct asking {
	uint32_t left, at, first;
};

static void ask_thread(void *context, struct thread *thread)
{
	struct asking *asking = context;
	struct proc_sched sched;

	if (asking->at++ < asking->first || asking->left == 0 || !weights_wants(&thread->account))
		return;
	asking->left--;
	uint64_t now_ns = clock_monotonic_ns();

	if (proc_sched_read(thread->tid, &sched))
		weights_ask(&thread->account, now_ns, sched.ran_ns);
}

static void ask_threads(struct account_watch *w, struct recording *recording)
{
	struct asking asking = {.left = THREADS_MAX, .first = w->first};

	process_table_each_thread(recording->processes, ask_thread, &asking);
	/* If there are more, the next check continues here. */
	w->first = asking.left > 0 ? 0 : w->first + THREADS_MAX;
}

static void ask_process(void *context, struct process *process)
{
	uint32_t *left = context;

	if (*left == 0 || !weights_wants(&process->account))
		return;
	uint64_t now_ns = clock_monotonic_ns(), ran_ns = proc_cpu_ns(process->pid);

	*left -= 1;
	if (ran_ns > 0)
		weights_ask(&process->account, now_ns, ran_ns);
}

/* Whether clocks and accounts were read at the same time, as far as it matters for clocked_ns. */
static bool is_at_once(const struct engine_counts *counts, uint64_t clocked_ns)
{
	uint64_t apart_ns = clock_monotonic_ns() - counts->asked_ns;

	return apart_ns < APART_MOST_NS || apart_ns < clocked_ns / APART_PART;
}

static void compare_processes(
	struct account_watch *w, struct recording *recording, const struct engine_counts *counts)
{
	struct account_watch last = *w, now = {.clocked_ns = counts->cpu_ns};

	now.total = process_table_process_total(recording->processes);
	now.accounted_ns = process_table_cpu_ns(recording->processes, PROCESSES_MAX, &now.living);
	if (!is_at_once(counts, last.clocked_ns ? now.clocked_ns - last.clocked_ns : 0))
		return;
	*w = now;
	if (last.clocked_ns == 0 || w->living == 0 || w->total != last.total ||
		w->living != last.living || w->accounted_ns < last.accounted_ns)
		return;
	weights_compare(&recording->weights, w->accounted_ns - last.accounted_ns,
		w->clocked_ns - last.clocked_ns);
}

void account_watch_look(struct account_watch *w, struct recording *recording,
	const struct target *target, const struct engine_counts *counts)
{
	if (target->kind == TARGET_MACHINE) {
		uint64_t now_ns = clock_monotonic_ns();
		struct target_cpu cpu = target_cpu(target);

		weights_ask(&recording->machine, now_ns, cpu.user_ns + cpu.system_ns);
	} else if (recording->by_process) {
		uint32_t left = PROCESSES_MAX;

		process_table_each_process(recording->processes, ask_process, &left);
	} else if (counts->kernel) {
		ask_threads(w, recording);
	} else if (counts->cpu_ns != UINT64_MAX) {
		compare_processes(w, recording, counts);
	}
	weights_look(&recording->weights, clock_monotonic_ns(), counts->lost);
}

void account_watch_end(struct recording *recording, const struct target *target,
	const struct engine_counts *counts)
{
	if (!counts->kernel || counts->cpu_ns == UINT64_MAX)
		return;
	weights_end(&recording->weights, cpu_account_used_ns(recording, target, counts, false),
		counts->cpu_ns, counts->lost);
}
