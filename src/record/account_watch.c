/*
 * Where kernel code is sampled, samples are of all CPU time, and each thread's are held against its
 * own account; or against its process's, where threads are too short to be asked.  Where it is not,
 * nobody tells how much of a thread's account they should come to: then the clocks of the events,
 * which go on in the kernel too, are held against the accounts of the processes, while these are
 * the same ones.
 */
#include "record/account_watch.h"

#include "base/clock.h"
#include "record/cpu_account.h"
#include "record/processes/proc_stat.h"

/* So many are asked in a look: each takes some microseconds. */
#define THREADS_MAX   64
#define PROCESSES_MAX 64
/* Clocks and accounts go on between being asked: for so long, or such a part, it does not matter.
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
	/* If there are more, it goes on where it ended. */
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

/* Whether clocks and accounts were asked at the same time, as far as it matters for that much. */
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
	weights_look(&recording->weights, counts->lost);
}

void account_watch_end(struct recording *recording, const struct target *target,
	const struct engine_counts *counts)
{
	if (!counts->kernel || counts->cpu_ns == UINT64_MAX)
		return;
	weights_end(&recording->weights, cpu_account_used_ns(recording, target, counts, false),
		counts->cpu_ns, counts->lost);
}
