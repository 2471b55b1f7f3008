/*
 * Two accounts are held against each other: the system's, by rusage and /proc/PID/stat, and the
 * engine's clocks.  Each leaves something out, so which of them holds is for the target to say.
 */
#include "record/cpu_account.h"

/*
 * Of a command and all its children.  The system's own account leaves out what a hypervisor took
 * for others, in which no timer could fire; but it has only children that were waited for, and
 * nobody while the target lives.  The engine's clocks counted everybody.
 */
static uint64_t command_cpu_ns(const struct recording *recording, const struct target *target,
	uint64_t system_ns, uint64_t counted_ns, bool gave_up)
{
	/* A stopped clock counts no more. */
	if (counted_ns == UINT64_MAX || (gave_up && target->ended))
		return system_ns;
	bool is_all = (target->ended && process_table_process_total(recording->processes) == 1) ||
		      system_ns >= counted_ns - counted_ns / 20;

	return is_all && system_ns < counted_ns ? system_ns : counted_ns;
}

/* Of descendants that have ended the system has no account. */
static uint64_t processes_cpu_ns(
	const struct recording *recording, const struct target *target, uint64_t counted_ns)
{
	if (counted_ns == UINT64_MAX &&
		process_table_process_total(recording->processes) <= target->processes.count)
		return target_processes_cpu_ns(target);
	return counted_ns;
}

/* Of what was recorded; UINT64_MAX: not known. */
static uint64_t cpu_time_ns(const struct recording *recording, const struct target *target,
	uint64_t system_ns, uint64_t counted_ns, bool gave_up)
{
	switch (target->kind) {
	case TARGET_PROCESSES:
		return processes_cpu_ns(recording, target, counted_ns);
	case TARGET_MACHINE:
		return system_ns;
	case TARGET_COMMAND:
		break;
	}
	return command_cpu_ns(recording, target, system_ns, counted_ns, gave_up);
}

/* How it divides between the kernel and the rest, only the system's account tells. */
static uint64_t unsampled_kernel_ns(
	const struct engine_counts *counts, struct target_cpu used, uint64_t cpu_ns)
{
	double user = (double)used.user_ns, system = (double)used.system_ns;

	if (counts->kernel || user + system <= 0 || cpu_ns == UINT64_MAX)
		return 0;
	return (uint64_t)((double)cpu_ns * system / (user + system));
}

/* Of that CPU time. Where the rate changed, samples of the mean weight that they had. */
static uint64_t expected_samples(
	const struct recording *recording, uint64_t interval_ns, bool rate_changed, uint64_t cpu_ns)
{
	if (cpu_ns == UINT64_MAX)
		return UINT64_MAX;
	if (!rate_changed || recording->sampled_ns == 0)
		return cpu_ns / interval_ns;
	return (uint64_t)((double)cpu_ns * (double)recording->samples /
			  (double)recording->sampled_ns);
}

struct cpu_account cpu_account(const struct recording *recording, const struct target *target,
	const struct engine_counts *counts, uint64_t interval_ns, bool gave_up)
{
	struct target_cpu used = target_cpu(target);
	uint64_t system_ns = used.user_ns + used.system_ns;
	struct cpu_account account = {
		.cpu_ns = cpu_time_ns(recording, target, system_ns, counts->cpu_ns, gave_up)};

	/* The system's has programs too that the engine can't reach. */
	if (counts->by_use && system_ns > account.cpu_ns)
		account.cpu_ns = system_ns;
	if (counts->by_use && account.cpu_ns > counts->cpu_ns)
		account.unreached_ns = account.cpu_ns - counts->cpu_ns;
	account.kernel_ns = unsampled_kernel_ns(counts, used, account.cpu_ns);
	account.expected = expected_samples(
		recording, interval_ns, counts->rate_changed, account.cpu_ns - account.kernel_ns);
	return account;
}
