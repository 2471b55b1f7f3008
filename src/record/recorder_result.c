/*
 * What has come of a recording, for whoever asked for it: the recorder's own figures, the engine's
 * counts and the account of CPU time together.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "record/cpu_account.h"
#include "record/recorder_state.h"
#include "record/zones/zones.h"

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_usec * 1000;
}

static struct budget_use use_by(const struct recorder *r, const struct engine_counts *counts)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	return (struct budget_use){
		.time_ns = clock_monotonic_ns(),
		.own_cpu_ns = timeval_ns(own.ru_utime) + timeval_ns(own.ru_stime),
		.stolen_ns = counts->stolen_ns,
		.target_cpu_ns = r->recording.sampled_ns,
	};
}

struct budget_use recorder_use(const struct recorder *r)
{
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	return use_by(r, &counts);
}

static double overhead(const struct budget_use *use, uint64_t cpu_ns)
{
	if (cpu_ns == 0 || cpu_ns == UINT64_MAX)
		return 0;
	return (double)(use->own_cpu_ns + use->stolen_ns) / (double)cpu_ns;
}

/* Whether the kernel has ended the sampling of a target that goes on. */
static bool sampling_has_ended(const struct recorder *r)
{
	const struct target *t = &r->target;
	const char *name;
	bool any_lives = t->kind != TARGET_PROCESSES;

	for (size_t i = 0; i < t->processes.count; i++)
		any_lives |= t->processes.data[i].fd >= 0;
	return any_lives && process_table_denied(r->recording.processes, &name) > 0 &&
	       r->engine->ops->has_ended(r->engine, r->alive_ns);
}

/* Processes of a target that has ended.  Once stopped, we are not told of ends. */
static size_t children_left(const struct recorder *r)
{
	if (!r->target.ended || r->stopped || r->target.kind == TARGET_MACHINE)
		return 0;
	return process_table_living(r->recording.processes);
}

static void fill_end(const struct recorder *r, struct recorder_result *result)
{
	bool detached = r->target.command && !r->target.ended;
	const char *name;
	uint64_t first_ns;

	result->wait_status = r->target.wait_status;
	result->is_attached = r->target.kind == TARGET_PROCESSES;
	result->detached = detached;
	result->detach_signal = detached ? r->control.detach_signal : 0;
	result->duration_ns = r->end_ns - r->recording.start_ns;
	result->off_ns = result->duration_ns - pauses_on_ns(&r->recording.pauses,
						       r->recording.start_ns, r->end_ns, &first_ns);
	result->stopped = r->stopped;
	result->children_left = children_left(r);
	result->sampling_ended = sampling_has_ended(r);
	result->denied = process_table_denied(r->recording.processes, &name);
	snprintf(result->denied_name, sizeof(result->denied_name), "%s", name);
}

static void fill_time(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	struct cpu_account account = cpu_account(&r->recording, &r->target, counts, r->stopped);
	struct budget_use use = use_by(r, counts);

	result->cpu_ns = account.cpu_ns;
	result->kernel_cpu_ns = account.kernel_ns;
	result->lost_cpu_ns = account.lost_ns;
	result->unreached_cpu_ns = account.unreached_ns;
	result->expected = account.expected;
	result->overhead = overhead(&use, account.cpu_ns);
}

static void fill_samples(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	const struct recording *recording = &r->recording;

	result->interval_ns = r->options.interval_ns;
	result->samples = recording->samples;
	result->sampled_ns = recording->sampled_ns;
	result->walked = recording->snapshot.walks;
	result->thinned = counts->thinned;
	result->truncated = snapshot_truncated(&recording->snapshot);
	result->threads = process_table_thread_total(recording->processes);
	result->halvings = r->budget.halvings;
	result->lowest_rate = r->budget.halvings == r->budget.halvings_most;
	result->rate_changes = r->rate_changes;
	result->rate_changed = counts->rate_changed;
	result->is_machine = r->target.kind == TARGET_MACHINE;
	result->kernel_frames = counts->kernel;
	result->by_use = counts->by_use;
	result->left_out = counts->left_out;
	memcpy(result->counters, recording->snapshot.counters, sizeof(result->counters));
}

uint64_t recorder_events(
	const struct recorder *r, const struct engine_counts *counts, size_t counter)
{
	uint64_t events = counts->counters[counter].events, off = r->recording.counter_off[counter];

	if (events == UINT64_MAX)
		return events;
	return events > off ? events - off : 0;
}

/* The events beside time. */
static void fill_counted(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	result->counted_count = r->options.counter_count;
	for (size_t i = 0; i < r->options.counter_count; i++)
		result->counted[i] = (struct recorder_counted){
			.name = r->options.counters[i].name,
			.events = recorder_events(r, counts, i),
			.weight = r->recording.counter_weight[i],
			.samples = r->recording.counter_samples[i],
			.lost = counts->counters[i].lost,
		};
}

void recorder_sum_up(const struct recorder *r, struct recorder_result *result)
{
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	*result = (struct recorder_result){.engine = r->engine->ops->name};
	fill_time(r, &counts, result);
	fill_end(r, result);
	fill_samples(r, &counts, result);
	fill_counted(r, &counts, result);
	if (r->recording.zones)
		result->zones = zones_result(r->recording.zones);
}
