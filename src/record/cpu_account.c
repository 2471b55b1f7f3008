/*
 * Two accounts are held against each other: the system's, by rusage and /proc/PID/stat, and the
 * engine's clocks.  Each leaves something out, so which of them holds is for the target to say.
 */
#include "record/cpu_account.h"

#include <math.h>

/* Less is missing of most recordings: no thread ends with a tick, and none begins with one. */
#define MISSING_PART	  400
#define MISSING_INTERVALS 10
/* The system's account is as good as the clocks' if it has so much of that. */
#define WHOLE_SHARE 0.95
/* What the system tells kernel code and the rest apart by; its ticks are rarely longer. */
#define SYSTEM_TICK_NS 4e6
/* Of the machine's account: user and system time, at the begin and at the end; and of what is more,
 * this part at most. */
#define MACHINE_ROUNDING_NS 4e7
#define MACHINE_CHANCE_MAX  0.01

/*
 * What the engine's clocks say, by the system's measure; UINT64_MAX: nothing.  Clocks run ahead of
 * it where the host takes the CPU away, and never behind: where samples are worth more than their
 * period, ticks have not come, but the clocks went on.
 */
static uint64_t counted_ns(const struct recording *recording, const struct engine_counts *counts)
{
	if (counts->cpu_ns == UINT64_MAX)
		return UINT64_MAX;
	return (uint64_t)((double)counts->cpu_ns * fmin(1, weights_ratio(&recording->weights)));
}

/* What samples weigh, with those that were left out in pauses. */
static uint64_t taken_ns(const struct recording *recording)
{
	return recording->sampled_ns + recording->off_ns;
}

/* Samples, and those that were lost, weighed as they would have been. */
static uint64_t found_ns(const struct recording *recording, const struct engine_counts *counts)
{
	double mean_ns = recording->samples > 0
				 ? (double)recording->sampled_ns / (double)recording->samples
				 : (double)recording->weights.interval_ns;

	return taken_ns(recording) + (uint64_t)((double)counts->lost * mean_ns);
}

/*
 * Of a command and all its children.  The system has only children that were waited for, and nobody
 * while the target lives.  The engine's clocks counted everybody, but for programs that the kernel
 * does not let them follow.
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

/* Of attached ones; of their descendants that have ended the system has no account. */
static uint64_t processes_cpu_ns(const struct recording *recording, const struct target *target,
	uint64_t counted, uint64_t found)
{
	uint64_t own_ns = target_processes_cpu_ns(target);
	bool is_all = process_table_process_total(recording->processes) <= target->processes.count;

	/* The last of those that have ended was perhaps not seen. */
	if (is_all && (counted == UINT64_MAX || (double)own_ns >= WHOLE_SHARE * (double)counted))
		return own_ns;
	if (counted != UINT64_MAX)
		return counted;
	return own_ns > found ? own_ns : found;
}

/*
 * Of the whole machine.  The system tells it in hundredths of a second, and by its ticks, so that
 * what short tasks used is known by chance: a difference that this explains is none.
 */
static uint64_t machine_cpu_ns(uint64_t system_ns, uint64_t found)
{
	double all = (double)system_ns;
	double chance_ns = fmin(3 * sqrt(all * SYSTEM_TICK_NS), all * MACHINE_CHANCE_MAX);

	return fabs(all - (double)found) <= MACHINE_ROUNDING_NS + chance_ns ? found : system_ns;
}

uint64_t cpu_account_used_ns(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, bool gave_up)
{
	struct target_cpu used = target_cpu(target);
	uint64_t system_ns = used.user_ns + used.system_ns;
	uint64_t counted = counted_ns(recording, counts), found = found_ns(recording, counts);

	/* The system's has programs too that the engine can't reach. */
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
	/* A stopped clock counts no more. */
	if (gave_up && target->ended)
		return system_ns;
	return command_cpu_ns(recording, target, system_ns, counted, found);
}

/*
 * The kernel's part of what is missing.  How CPU time divides between the kernel and the rest, the
 * system tells by its ticks, and so by chance, and wrongly of threads that wake with ticks: what
 * that explains is all the kernel's.  Where programs are known that could not be sampled, it is
 * less likely, and only chance is allowed for.
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

/* What is in no sample is lost as far as losses were counted, then the kernel's, then lost. */
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

/* Of the CPU time that was sampled or lost, at the mean weight of samples. */
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
