/*
 * The state of a recording.  A sample of the clock and a time off the CPU both represent periods of
 * real time, so that cpu + blocked + woken + preempted = real holds for each stack.
 *
 * Pauses are few, so they are searched from the last one, near which all queried times lie.
 */
#include "record/recording.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/zones/zones.h"

/* ---- pauses ---- */

void pauses_deinit(struct pauses *p)
{
	vec_deinit(&p->changes);
}

/* The number of changes up to a time; if odd, recording is off. */
static size_t changes_until(const struct pauses *p, uint64_t time_ns)
{
	size_t count = p->changes.count;

	while (count > 0 && p->changes.data[count - 1] > time_ns)
		count--;
	return count;
}

bool pauses_is_off(const struct pauses *p, uint64_t time_ns)
{
	return (p->end_ns && time_ns >= p->end_ns) || changes_until(p, time_ns) % 2 == 1;
}

void pauses_set(struct pauses *p, uint64_t time_ns, bool off)
{
	p->changes.count = changes_until(p, time_ns);
	if ((p->changes.count % 2 == 1) != off)
		vec_push(&p->changes, time_ns);
}

void pauses_leave_out(struct pauses *p, uint64_t begin_ns, uint64_t until_ns)
{
	size_t past = changes_until(p, until_ns);
	struct pauses left = {.end_ns = p->end_ns};

	vec_push(&left.changes, begin_ns);
	if (past % 2 == 0)
		vec_push(&left.changes, until_ns);
	for (size_t i = past; i < p->changes.count; i++)
		vec_push(&left.changes, p->changes.data[i]);
	pauses_deinit(p);
	*p = left;
}

uint64_t pauses_on_ns(const struct pauses *p, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns)
{
	uint64_t on_ns = 0, at_ns = from_ns;

	if (p->end_ns && p->end_ns < to_ns)
		to_ns = p->end_ns;
	for (size_t i = changes_until(p, from_ns); at_ns < to_ns; i++) {
		uint64_t end_ns = i < p->changes.count && p->changes.data[i] < to_ns
					  ? p->changes.data[i]
					  : to_ns;

		if (i % 2 == 0 && end_ns > at_ns) {
			if (on_ns == 0)
				*first_ns = at_ns;
			on_ns += end_ns - at_ns;
		}
		at_ns = end_ns;
	}
	return on_ns;
}

/* ---- the recording ---- */

static uint32_t add_metric(struct recording *r, struct str name, struct str unit)
{
	capture_writer_metric(r->writer, r->metrics.count, name, unit);
	return r->metrics.count++;
}

void recording_measure(struct recording *r, bool real, bool wakers,
	const struct perf_counter *counters, size_t counter_count)
{
	struct recording_metrics *m = &r->metrics;

	*m = (struct recording_metrics){.samples = CAPTURE_NO_ID,
		.real_time = CAPTURE_NO_ID,
		.blocked_time = CAPTURE_NO_ID,
		.preempted_time = CAPTURE_NO_ID,
		.wakeup_delay = CAPTURE_NO_ID};
	m->cpu_time = add_metric(r, STR("cpu-time"), STR("ns"));
	m->samples = add_metric(r, STR("samples"), STR("count"));
	if (real) {
		m->real_time = add_metric(r, STR("real-time"), STR("ns"));
		m->blocked_time = add_metric(r, STR("blocked-time"), STR("ns"));
		m->preempted_time = add_metric(r, STR("preempted-time"), STR("ns"));
		if (wakers)
			m->wakeup_delay = add_metric(r, STR("wakeup-delay"), STR("ns"));
	}
	m->counters = m->count;
	for (size_t i = 0; i < counter_count; i++)
		add_metric(r, counters[i].name, counters[i].unit);
}

void recording_begin(struct recording *r, struct capture_writer *writer, uint64_t start_ns)
{
	*r = (struct recording){.writer = writer, .start_ns = start_ns};
	r->objects = object_table_create(writer);
	r->processes = process_table_create(writer, r->objects, r->start_ns);
	snapshot_init(&r->snapshot, writer, r->objects, r->processes);
	sample_labels_init(&r->labels, writer);
}

void recording_end(struct recording *r)
{
	if (!r->processes)
		return;
	recent_deinit(&r->recent);
	free(r->wanted);
	sample_labels_deinit(&r->labels);
	pauses_deinit(&r->pauses);
	snapshot_deinit(&r->snapshot);
	process_table_destroy(r->processes);
	object_table_destroy(r->objects);
}

/* Since the recording's start. */
static uint64_t file_time_ns(const struct recording *r, uint64_t time_ns)
{
	return time_ns > r->start_ns ? time_ns - r->start_ns : 0;
}

static void put_sample(struct recording *r, const struct capture_sample *s)
{
	capture_writer_sample(
		r->writer, s->time_ns, s->thread, s->node, s->zone, s->labels, s->weight);
}

/* off_ns: the duration, if it was off the CPU. */
static void write_sample(struct recording *r, uint64_t time_ns, struct thread *thread,
	uint32_t node, struct sample_labeling labels, uint64_t off_ns, const int64_t *weight)
{
	if (r->services)
		labels.owner = process_table_owner(r->processes, thread);
	else
		labels.group = process_table_group(r->processes, thread);

	struct capture_sample sample = {.time_ns = file_time_ns(r, time_ns),
		.thread = thread->number,
		.node = node,
		.zone = r->zones ? zones_at(r->zones, thread, time_ns) : 0,
		.labels = sample_labels_set(&r->labels, labels)};

	memcpy(sample.weight, weight, r->metrics.count * sizeof(*weight));
	if (r->keeps)
		recent_add(&r->recent,
			&(struct recent_entry){sample.time_ns + off_ns, RECENT_SAMPLE, &sample,
				offsetof(struct capture_sample, weight) +
					r->metrics.count * sizeof(*weight)});
	else
		put_sample(r, &sample);
}

static struct sample_labeling on_cpu(const struct recording *r, uint32_t cpu)
{
	struct sample_labeling labels = sample_labeling_none;

	if (!r->services)
		labels.cpu = cpu;
	return labels;
}

/* Sets a weight, unless its metric is not recorded. */
static void weigh(int64_t *weight, uint32_t metric, uint64_t value)
{
	if (metric != CAPTURE_NO_ID)
		weight[metric] = (int64_t)value;
}

/* The account that a sample of that thread follows. */
static struct weights_account *account_of(struct recording *r, struct thread *thread)
{
	struct process *process =
		r->by_process ? process_table_find_late(r->processes, thread->pid) : NULL;

	if (r->is_machine)
		return &r->machine;
	return process ? &process->account : &thread->account;
}

/* A sample of the clock on that CPU that stands for period_ns. */
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
	write_sample(r, time_ns, place.thread, place.node, on_cpu(r, cpu), 0, weight);
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
	write_sample(
		r, sample->time_ns, place.thread, place.node, on_cpu(r, sample->cpu), 0, weight);
}

void recording_take_off_cpu(
	struct recording *r, struct thread *thread, const struct offcpu_interval *interval)
{
	int64_t weight[CAPTURE_METRIC_MAX] = {0};
	const uint64_t span_ns[] = {
		interval->blocked_ns, interval->woken_ns, interval->preempted_ns};
	const uint32_t metric[] = {
		r->metrics.blocked_time, r->metrics.wakeup_delay, r->metrics.preempted_time};
	uint32_t node =
		interval->node == OFFCPU_NO_NODE ? snapshot_no_stack(&r->snapshot) : interval->node;
	uint64_t at_ns = interval->begin_ns, first_ns = 0, off_ns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(span_ns); i++) {
		uint64_t on_ns, begin_ns = at_ns;

		on_ns = pauses_on_ns(&r->pauses, at_ns, at_ns + span_ns[i], &begin_ns);
		at_ns += span_ns[i];
		if (on_ns > 0 && off_ns == 0)
			first_ns = begin_ns;
		off_ns += on_ns;
		weigh(weight, metric[i], on_ns);
	}
	if (off_ns == 0)
		return;
	struct sample_labeling labels = on_cpu(r, SAMPLE_LABELS_NONE);

	labels.waker = interval->waker;
	labels.lock = interval->lock;
	labels.holder = interval->holder;
	weigh(weight, r->metrics.real_time, off_ns);
	process_table_number(r->processes, thread);
	write_sample(r, first_ns, thread, node, labels, off_ns, weight);
}

/* ---- the programs' zones ---- */

void recording_take_zone_row(struct recording *r, const struct capture_zone_row *row)
{
	if (r->keeps)
		recent_add(&r->recent,
			&(struct recent_entry){row->time_ns, RECENT_ZONE_ROW, row, sizeof(*row)});
	else
		capture_writer_zone_row(r->writer, row);
}

void recording_take_tick(struct recording *r, const struct capture_tick *tick)
{
	struct capture_tick kept = *tick;

	if (r->slow_ns > 0 && tick->duration_ns >= r->slow_ns &&
		(r->slow_stream.data == NULL || str_equal(r->slow_stream, tick->stream)))
		r->slow_ticks++;
	if (!r->keeps) {
		capture_writer_tick(r->writer, tick);
		return;
	}
	kept.stream = recent_name(&r->recent, tick->stream);
	recent_add(&r->recent, &(struct recent_entry){tick->start_ns + tick->duration_ns,
				       RECENT_TICK, &kept, sizeof(kept)});
}

/* ---- the queue ---- */

static void sample_of(const struct recent_entry *entry, struct capture_sample *sample)
{
	*sample = (struct capture_sample){0};
	memcpy(sample, entry->data, entry->size);
}

/* Counts a sample as forgotten. */
static void forget_sample(struct recording *r, const struct capture_sample *sample)
{
	struct recording_tally *f = &r->forgotten;

	if (sample->weight[r->metrics.samples] > 0) {
		f->samples++;
		f->ns += (uint64_t)sample->weight[r->metrics.cpu_time];
	}
	for (uint32_t i = r->metrics.counters; i < r->metrics.count; i++) {
		f->counter_samples[i - r->metrics.counters] += sample->weight[i] > 0;
		f->counter_weight[i - r->metrics.counters] += (uint64_t)sample->weight[i];
	}
}

static void forget_entry(struct recording *r, const struct recent_entry *entry)
{
	struct capture_sample sample;

	if (entry->kind != RECENT_SAMPLE)
		return;
	sample_of(entry, &sample);
	forget_sample(r, &sample);
}

void recording_forget(struct recording *r, uint64_t until_ns)
{
	uint64_t until = file_time_ns(r, until_ns);
	struct recent_entry entry;

	while (recent_first(&r->recent, &entry) && entry.end_ns <= until) {
		forget_entry(r, &entry);
		recent_drop_first(&r->recent);
	}
}

/* Removes the part before `until` from a time off the CPU; its parts are consecutive. */
static void trim(const struct recording *r, struct capture_sample *sample, uint64_t until)
{
	const struct recording_metrics *m = &r->metrics;
	const uint32_t parts[] = {m->blocked_time, m->wakeup_delay, m->preempted_time};
	int64_t gone = (int64_t)(until - sample->time_ns);

	if (sample->time_ns >= until || m->real_time == CAPTURE_NO_ID)
		return;
	sample->time_ns = until;
	sample->weight[m->real_time] -= gone;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int64_t *part = &sample->weight[parts[i]];

		if (parts[i] == CAPTURE_NO_ID)
			continue;
		int64_t less = *part < gone ? *part : gone;

		*part -= less;
		gone -= less;
	}
}

static void want(struct recording *r, uint32_t node)
{
	if (node < r->wanted_count)
		r->wanted[node] = true;
}

static void put_entry(struct recording *r, const struct recent_entry *entry, uint64_t until)
{
	struct capture_sample sample;

	switch (entry->kind) {
	case RECENT_SAMPLE:
		sample_of(entry, &sample);
		trim(r, &sample, until);
		put_sample(r, &sample);
		want(r, sample.node);
		want(r, sample.zone);
		break;
	case RECENT_ZONE_ROW:
		want(r, ((const struct capture_zone_row *)entry->data)->node);
		capture_writer_zone_row(r->writer, entry->data);
		break;
	case RECENT_TICK:
		capture_writer_tick(r->writer, entry->data);
		break;
	}
}

/* Forgotten samples count as left out in a pause. */
static void count_forgotten(struct recording *r)
{
	const struct recording_tally *f = &r->forgotten;

	r->samples -= f->samples;
	r->sampled_ns -= f->ns;
	r->off_ns += f->ns;
	for (size_t i = 0; i < CAPTURE_METRIC_MAX; i++) {
		r->counter_samples[i] -= f->counter_samples[i];
		r->counter_weight[i] -= f->counter_weight[i];
		r->counter_off[i] += f->counter_weight[i];
	}
	r->forgotten = (struct recording_tally){0};
}

void recording_write_recent(struct recording *r, uint64_t until_ns)
{
	uint64_t until = file_time_ns(r, until_ns);
	struct recent_entry entry;

	r->wanted_count = r->snapshot.tree.nodes.count;
	r->wanted = xcalloc(r->wanted_count, sizeof(*r->wanted));
	for (; recent_first(&r->recent, &entry); recent_drop_first(&r->recent))
		if (entry.end_ns <= until)
			forget_entry(r, &entry);
		else
			put_entry(r, &entry, until);
	count_forgotten(r);
	r->keeps = false;
}

/* The thread of a row of unsampled time. */
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
