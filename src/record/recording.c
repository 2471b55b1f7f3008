/*
 * What a recording consists of while it is made.  A sample of the clock and a time off the CPU are
 * both stretches of real time, so that cpu + blocked + preempted = real holds for each stack.
 */
#include "record/recording.h"

#include "base/clock.h"
#include "record/zones.h"

static uint32_t add_metric(struct recording *r, struct str name, struct str unit)
{
	capture_writer_metric(r->writer, r->metrics.count, name, unit);
	return r->metrics.count++;
}

void recording_measure(
	struct recording *r, bool real, const struct perf_counter *counters, size_t counter_count)
{
	struct recording_metrics *m = &r->metrics;

	*m = (struct recording_metrics){.samples = CAPTURE_NO_ID,
		.real_time = CAPTURE_NO_ID,
		.blocked_time = CAPTURE_NO_ID,
		.preempted_time = CAPTURE_NO_ID};
	m->cpu_time = add_metric(r, STR("cpu-time"), STR("ns"));
	m->samples = add_metric(r, STR("samples"), STR("count"));
	if (real) {
		m->real_time = add_metric(r, STR("real-time"), STR("ns"));
		m->blocked_time = add_metric(r, STR("blocked-time"), STR("ns"));
		m->preempted_time = add_metric(r, STR("preempted-time"), STR("ns"));
	}
	m->counters = m->count;
	for (size_t i = 0; i < counter_count; i++)
		add_metric(r, counters[i].name, counters[i].unit);
}

void recording_begin(struct recording *r, struct capture_writer *writer)
{
	*r = (struct recording){.writer = writer, .start_ns = clock_monotonic_ns()};
	r->objects = object_table_create(writer);
	r->processes = process_table_create(writer, r->objects, r->start_ns);
	snapshot_init(&r->snapshot, writer, r->objects, r->processes);
	sample_labels_init(&r->labels, writer);
}

void recording_end(struct recording *r)
{
	if (!r->processes)
		return;
	sample_labels_deinit(&r->labels);
	pauses_deinit(&r->pauses);
	snapshot_deinit(&r->snapshot);
	process_table_destroy(r->processes);
	object_table_destroy(r->objects);
}

/* cpu: SAMPLE_LABELS_NO_CPU where it was on none. */
static void write_sample(struct recording *r, uint64_t time_ns, struct thread *thread,
	uint32_t node, uint32_t cpu, const int64_t *weight)
{
	uint32_t zone = r->zones ? zones_at(r->zones, thread, time_ns) : 0;
	uint32_t labels =
		sample_labels_set(&r->labels, process_table_group(r->processes, thread), cpu);

	capture_writer_sample(r->writer, time_ns > r->start_ns ? time_ns - r->start_ns : 0,
		thread->number, node, zone, labels, weight);
}

/* Adds to a weight that may not be recorded. */
static void weigh(int64_t *weight, uint32_t metric, uint64_t value)
{
	if (metric != CAPTURE_NO_ID)
		weight[metric] = (int64_t)value;
}

/* What a sample of that thread is held against. */
static struct weights_account *account_of(struct recording *r, struct thread *thread)
{
	struct process *process =
		r->by_process ? process_table_find_late(r->processes, thread->pid) : NULL;

	if (r->is_machine)
		return &r->machine;
	return process ? &process->account : &thread->account;
}

/* A sample of the clock on that CPU, which stands for period_ns. */
static void write_clock(struct recording *r, struct snapshot_place place, uint32_t cpu,
	uint64_t time_ns, uint64_t period_ns)
{
	int64_t weight[CAPTURE_METRIC_MAX] = {0};
	uint64_t weight_ns =
		weights_take(&r->weights, account_of(r, place.thread), time_ns, period_ns);

	if (pauses_is_off(&r->pauses, time_ns)) {
		r->off_ns += weight_ns;
		return;
	}
	weigh(weight, r->metrics.cpu_time, weight_ns);
	weigh(weight, r->metrics.real_time, weight_ns);
	weigh(weight, r->metrics.samples, 1);
	r->samples++;
	r->sampled_ns += weight_ns;
	write_sample(r, time_ns, place.thread, place.node, cpu, weight);
}

struct snapshot_place recording_take_clock(struct recording *r, const struct perf_sample *sample)
{
	struct snapshot_place place = snapshot_walk(&r->snapshot, sample);
	struct thinned *thinned = &place.thread->thinned;

	write_clock(r, place, sample->cpu, sample->time_ns, sample->period + thinned_take(thinned));
	thinned_keep(thinned, place.node, sample->cpu, sample->time_ns);
	return place;
}

bool recording_take_dropped(struct recording *r, struct thread *thread)
{
	struct thinned *thinned = &thread->thinned;

	if (thinned->carried == 0)
		return false;
	write_clock(r, (struct snapshot_place){thread, thinned->node}, thinned->cpu,
		thinned->time_ns, thinned_take(thinned));
	return true;
}

void recording_take_counter(struct recording *r, const struct perf_sample *sample, uint32_t counter)
{
	int64_t weight[CAPTURE_METRIC_MAX] = {0};
	struct snapshot_place place = snapshot_walk(&r->snapshot, sample);

	if (pauses_is_off(&r->pauses, sample->time_ns)) {
		r->counter_off[counter] += sample->period;
		return;
	}
	weigh(weight, r->metrics.counters + counter, sample->period);
	r->counter_samples[counter]++;
	r->counter_weight[counter] += sample->period;
	write_sample(r, sample->time_ns, place.thread, place.node, sample->cpu, weight);
}

void recording_take_off_cpu(
	struct recording *r, struct thread *thread, const struct offcpu_interval *interval)
{
	int64_t weight[CAPTURE_METRIC_MAX] = {0};
	uint32_t node = interval->node;
	uint64_t begin_ns = interval->begin_ns, ready_ns = begin_ns + interval->blocked_ns;
	uint64_t preempted_begin_ns = ready_ns;
	uint64_t blocked_ns = pauses_on_ns(&r->pauses, begin_ns, ready_ns, &begin_ns);
	uint64_t preempted_ns = pauses_on_ns(
		&r->pauses, ready_ns, ready_ns + interval->preempted_ns, &preempted_begin_ns);

	if (blocked_ns + preempted_ns == 0)
		return;
	if (node == OFFCPU_NO_NODE)
		node = snapshot_no_stack(&r->snapshot);
	weigh(weight, r->metrics.real_time, blocked_ns + preempted_ns);
	weigh(weight, r->metrics.blocked_time, blocked_ns);
	weigh(weight, r->metrics.preempted_time, preempted_ns);
	process_table_number(r->processes, thread);
	write_sample(r, blocked_ns ? begin_ns : preempted_begin_ns, thread, node,
		SAMPLE_LABELS_NO_CPU, weight);
}

/* The thread that such a row is of. */
static uint32_t unsampled_thread(struct recording *r, struct str name)
{
	uint32_t process = 0;

	if (process_table_process_total(r->processes) != 1)
		process = process_table_past_process(r->processes, 0, r->start_ns, name);
	return process_table_past_thread(r->processes, process, 0, r->start_ns, name);
}

void recording_take_unsampled(struct recording *r, struct str name, uint64_t cpu_ns)
{
	int64_t weight[CAPTURE_METRIC_MAX] = {0};
	uint32_t object = object_table_named(r->objects, CAPTURE_OBJECT_UNSAMPLED, name);
	uint32_t node = stack_tree_intern(&r->snapshot.tree, 0, object, 0);

	if (cpu_ns == 0)
		return;
	weigh(weight, r->metrics.cpu_time, cpu_ns);
	weigh(weight, r->metrics.real_time, cpu_ns);
	capture_writer_sample(r->writer, clock_monotonic_ns() - r->start_ns,
		unsampled_thread(r, name), node, 0, 0, weight);
}
