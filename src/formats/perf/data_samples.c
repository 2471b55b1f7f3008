/*
 * Samples: each becomes a row with its weight and its stack's node.
 *
 * Most stacks occurred before, and finding one takes two cache misses: the hash slot, and the chain
 * that it refers to, somewhere in the file.  So samples are processed in batches, and memory for
 * one is prefetched while others are decoded.
 */
#include "formats/perf/data_reader.h"

static void add_row(struct perf_data *p, uint32_t metric, uint64_t weight,
	const struct perfstream_sample *sample, uint32_t node, uint32_t thread)
{
	if (metric == NO_ID) {
		p->left_out++;
		return;
	}
	struct perf_data_measure *measure = &p->measures.data[metric];

	if (weight > INT64_MAX - measure->sum) {
		p->too_heavy++;
		weight = 0;
	}
	measure->sum += weight;
	vec_push(&p->rows, (struct perf_data_row){sample->time_ns, (int64_t)weight, node, thread,
				   metric, sample->cpu});
}

/* The difference of a counter from its previous value. */
static uint64_t counted_since(struct perf_data *p, const struct perfstream_read *read, int64_t tid)
{
	bool added;
	uint32_t place = *map_at(&p->counter_values, read->id, (uint64_t)tid,
		(uint32_t)p->last_values.count, &added);

	if (added)
		vec_push(&p->last_values, 0);
	uint64_t before = p->last_values.data[place];

	p->last_values.data[place] = read->value;
	return read->value >= before ? read->value - before : read->value;
}

/* Adds a sample of one counter or of a group: the weight is the counters' increase. */
static void add_counted(struct perf_data *p, const struct perf_data_event *event,
	struct perfstream_sample *sample, uint32_t node, uint32_t thread)
{
	struct perfstream_read read;

	while (perfstream_next_read(sample, &event->layout, &read)) {
		const struct perf_data_event *of =
			read.id ? perf_data_events_find(&p->file.events, read.id) : event;
		uint64_t weight = counted_since(p, &read, sample->tid);

		if (of && (weight || of == event))
			add_row(p, of->metric, weight, sample, node, thread);
	}
}

/* Begins a sample, whose stack is found later. */
static void begin_sample(struct perf_data *p, struct perf_data_pending *pending)
{
	const struct perfstream_sample *sample = &pending->sample;
	uint32_t thread =
		perf_data_tasks_thread(&p->tasks, sample->pid, sample->tid, sample->time_ns);

	pending->thread = thread;
	pending->process = p->tasks.threads.data[thread].process;
	perf_data_stacks_expect(
		&p->stacks, pending->process, pending->event, sample, &pending->chain);
}

static void finish_sample(struct perf_data *p, struct perf_data_pending *pending)
{
	const struct perf_data_event *event = pending->event;
	struct perfstream_sample *sample = &pending->sample;
	uint32_t node =
		perf_data_stacks_node(&p->stacks, pending->process, event, sample, &pending->chain);
	uint64_t period = event->is_freq ? 1 : event->period;

	if (sample->branches.count && !perf_data_event_has_calls(event))
		p->plain_branches++;
	if (p->rows.count == 0)
		p->start_ns = sample->time_ns;
	p->end_ns = sample->time_ns;
	if (sample->read_count)
		add_counted(p, event, sample, node, pending->thread);
	else
		add_row(p, event->metric, sample->has_period ? sample->period : period, sample,
			node, pending->thread);
}

void perf_data_finish_samples(struct perf_data *p)
{
	for (size_t i = 0; i < p->pending_count; i++)
		perf_data_stacks_fetch(&p->stacks, &p->pending[i].chain);
	for (size_t i = 0; i < p->pending_count; i++)
		finish_sample(p, &p->pending[i]);
	p->pending_count = 0;
}

void perf_data_take_sample(struct perf_data *p, const struct perfstream_record *record)
{
	struct perf_data_pending *pending = &p->pending[p->pending_count];

	pending->event = perf_data_events_find(
		&p->file.events, perfstream_record_id(record, &p->file.events.rows.data[0].layout));
	if (pending->event == NULL ||
		!perfstream_sample_decode(record, &pending->event->layout, &pending->sample)) {
		perf_data_bad(&p->file, record);
		return;
	}
	begin_sample(p, pending);
	if (++p->pending_count == ARRAY_SIZE(p->pending))
		perf_data_finish_samples(p);
}
