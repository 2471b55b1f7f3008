/*
 * Reads perf.data, which Linux's perf record writes, into samples of a profile.
 *
 * A first pass finds events and the positions of records.  Then records are processed by time:
 * mappings, names, starts and ends of tasks change the meaning of addresses, and samples become
 * nodes of a tree of addresses.  At the end, each address is named once, and nodes of samples
 * become stacks.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, perf_event_open(2).
 */
#include "formats/perf/data_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

/*
 * A sample has a weight in each metric.  Beyond this size, files with many events would take too
 * much memory, so events are left out.
 */
#define WEIGHT_BYTES_FREE ((uint64_t)32 << 20)
#define WEIGHT_BYTES_PER  2

static size_t measures_most(const struct perf_data *p)
{
	uint64_t room = WEIGHT_BYTES_FREE + WEIGHT_BYTES_PER * p->file.size +
			WEIGHT_BYTES_PER * p->file.unpacked.size;
	uint64_t most = room / (sizeof(int64_t) * (p->file.sample_count + 1));

	return most < 1 ? 1 : most > 256 ? 256 : (size_t)most;
}

static uint32_t add_measure(struct perf_data *p, const struct perf_data_event *event)
{
	for (uint32_t i = 0; i < p->measures.count; i++)
		if (str_equal(p->measures.data[i].name, event->name) &&
			str_equal(p->measures.data[i].unit, event->unit))
			return i;
	if (p->measures.count >= measures_most(p))
		return NO_ID;
	vec_push(
		&p->measures, (struct perf_data_measure){.name = event->name, .unit = event->unit});
	return (uint32_t)(p->measures.count - 1);
}

/* Events without samples, such as dummies for mappings, do not become metrics. */
static void choose_measures(struct perf_data *p)
{
	struct perf_data_event *events = p->file.events.rows.data;
	size_t count = p->file.events.rows.count;

	p->has_time = p->has_threads = true;
	for (size_t i = 0; i < count; i++) {
		bool is_member = events[i].samples == 0 &&
				 (events[i].layout.read_format & PERFSTREAM_READ_GROUP);

		events[i].metric = NO_ID;
		if (events[i].samples || is_member)
			events[i].metric = add_measure(p, &events[i]);
		if (events[i].samples == 0)
			continue;
		p->has_time &= (events[i].layout.sample_type & PERFSTREAM_FIELD_TIME) != 0;
		p->has_threads &= (events[i].layout.sample_type & PERFSTREAM_FIELD_TID) != 0;
	}
	if (p->measures.count == 0)
		events[0].metric = add_measure(p, &events[0]);
}

/* ---- records ---- */

static void take_mmap(struct perf_data *p, const struct perfstream_record *record, uint64_t time_ns)
{
	unsigned int mode = record->misc & PERFSTREAM_MISC_CPUMODE;
	struct perfstream_mmap mmap;

	if (mode == PERFSTREAM_MODE_GUEST_KERNEL || mode == PERFSTREAM_MODE_GUEST_USER)
		return;
	if (perfstream_mmap_decode(record, &mmap))
		perf_data_stacks_map(&p->stacks, &mmap, mode == PERFSTREAM_MODE_KERNEL, time_ns);
	else
		perf_data_bad(&p->file, record);
}

static void take_task(struct perf_data *p, const struct perfstream_record *record, uint64_t time_ns)
{
	struct perfstream_task task;

	if (!perfstream_task_decode(record, &task))
		perf_data_bad(&p->file, record);
	else if (record->type == PERFSTREAM_COMM)
		perf_data_tasks_comm(&p->tasks, task.pid, task.tid,
			record->misc & PERFSTREAM_MISC_COMM_EXEC, task.name, time_ns);
	else if (record->type == PERFSTREAM_FORK)
		perf_data_tasks_fork(&p->tasks, task.pid, task.parent_pid, task.tid, time_ns);
}

static void take_records(struct perf_data *p)
{
	vec_reserve(&p->rows, p->file.sample_count);
	for (size_t i = 0; i < p->file.record_count; i++) {
		struct perfstream_record record = perf_data_record(&p->file, i);
		uint64_t time_ns = perf_data_time(&p->file, i);

		if (record.type == PERFSTREAM_SAMPLE) {
			perf_data_take_sample(p, &record);
			continue;
		}
		/* The meaning of samples depends on the records before them. */
		perf_data_finish_samples(p);
		if (record.type == PERFSTREAM_MMAP || record.type == PERFSTREAM_MMAP2)
			take_mmap(p, &record, time_ns);
		else
			take_task(p, &record, time_ns);
	}
	perf_data_finish_samples(p);
}

/* ---- the profile ---- */

static void add_metrics(struct perf_data *p)
{
	struct builder *b = p->builder;

	p->samples = builder_metric(b, STR("samples"), STR("count"));
	for (size_t i = 0; i < p->measures.count; i++)
		p->measures.data[i].id =
			builder_metric(b, p->measures.data[i].name, p->measures.data[i].unit);
	builder_header(b)->default_metric = p->measures.data[0].id;
}

static void count_flags(struct perf_data *p, uint8_t flags)
{
	p->critical += (flags & CAPTURE_STACK_NOT_WHOLE) != 0;
	p->guessed += (flags & CAPTURE_STACK_NOT_WHOLE) == CAPTURE_STACK_GUESSED;
	p->foreign += (flags & CAPTURE_STACK_FOREIGN) != 0;
}

static label_set_id cpu_label(struct perf_data *p, uint32_t cpu)
{
	struct builder *b = p->builder;
	label_set_id set;
	char text[16];

	if (map_get(&p->cpu_labels, cpu, 0, &set.i))
		return set;
	snprintf(text, sizeof(text), "%u", cpu);
	set = builder_label_set(b,
		&(struct label){.key = builder_string(b, STR("cpu")),
			.text = builder_string(b, str_from(text))},
		1);
	map_put(&p->cpu_labels, cpu, 0, set.i);
	return set;
}

static void add_sample(struct perf_data *p, const struct perf_data_row *row, int64_t *weight)
{
	metric_id metric = p->measures.data[row->metric].id;
	uint64_t time_ns = p->has_time ? builder_time(row->time_ns - p->start_ns) : UINT64_MAX;
	thread_id thread = {NO_ID};
	uint8_t flags;
	stack_id stack = capture_tree_stack(&p->tree, row->node, &flags);

	count_flags(p, flags);
	/* An event may have the same name as the metric of the number of samples. */
	weight[metric.i] = row->weight;
	weight[p->samples.i] = 1;
	if (p->has_threads)
		thread = perf_data_tasks_id(&p->tasks, p->builder, row->thread, p->start_ns);
	if (p->has_time || p->has_threads) {
		builder_sample(p->builder, stack, thread, time_ns, weight);
		if (row->cpu != PERFSTREAM_NO_CPU)
			builder_sample_labels(p->builder, cpu_label(p, row->cpu));
	} else {
		builder_weight(p->builder, stack, weight, 1);
	}
	weight[metric.i] = 0;
}

static void build(struct perf_data *p)
{
	int64_t *weight = xcalloc(p->measures.count + 1, sizeof(*weight));

	perf_data_objects_check_kernel(&p->objects);
	p->names.is_this_kernel = p->objects.is_this_kernel;
	capture_tree_fill(
		&p->tree, p->stacks.frames.data, p->stacks.frames.count, &p->stacks.nodes);
	p->tree.stacks_left = 4000000 + 16 * p->file.size;
	capture_tree_build(&p->tree, &p->names, true);
	if (p->has_time || p->has_threads)
		builder_expect_samples(p->builder, p->rows.count);
	for (size_t i = 0; i < p->rows.count; i++)
		add_sample(p, &p->rows.data[i], weight);
	free(weight);
}

/* ---- the reader ---- */

static void perf_data_init(struct perf_data *p)
{
	size_t size = (size_t)p->file.size + p->file.unpacked.size;

	perf_data_objects_init(&p->objects, &p->file, p->arena);
	perf_data_tasks_init(&p->tasks, p->arena, p->objects.arch, size);
	perf_data_jit_init(&p->jit, &p->file);
	capture_names_init(&p->names, p->builder, p->arena);
	p->objects.source = p->names.source = p->file.input.source;
	capture_tree_init(&p->tree, p->builder);
	perf_data_stacks_init(
		&p->stacks, &p->tasks, &p->objects, &p->jit, &p->names, p->arena, size);
}

static void perf_data_deinit(struct perf_data *p)
{
	perf_data_stacks_deinit(&p->stacks);
	capture_tree_deinit(&p->tree);
	capture_names_deinit(&p->names);
	perf_data_jit_deinit(&p->jit);
	perf_data_tasks_deinit(&p->tasks);
	perf_data_objects_deinit(&p->objects);
	vec_deinit(&p->measures);
	map_deinit(&p->counter_values);
	vec_deinit(&p->last_values);
	vec_deinit(&p->rows);
	map_deinit(&p->cpu_labels);
}

static bool has_stacks(const struct perf_data *p)
{
	for (size_t i = 0; i < p->file.events.rows.count; i++)
		if (p->file.events.rows.data[i].layout.sample_type & PERFSTREAM_FIELD_STACK_USER)
			return true;
	return false;
}

static void read_profile(struct perf_data *p)
{
	choose_measures(p);
	add_metrics(p);
	perf_data_init(p);
	p->objects.keeps_open = has_stacks(p);
	p->stacks.branch_depth = p->file.facts.branch_depth;
	take_records(p);
	build(p);
	perf_data_say(p);
	perf_data_deinit(p);
}

static struct error *perf_data_read(const struct reader_input *input, struct builder *builder)
{
	struct perf_data p = {.builder = builder, .arena = arena_create()};
	struct error *err = perf_data_open(input, p.arena, &p.file);

	if (err == NULL)
		read_profile(&p);
	perf_data_close(&p.file);
	arena_destroy(p.arena);
	return err;
}

const struct reader reader_perf_data = {
	.name = "perf-data",
	.summary = "what Linux's perf record writes",
	.bid = perf_data_bid,
	.bid_folder = perf_data_bid_folder,
	.read = perf_data_read,
};
