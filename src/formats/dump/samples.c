/*
 * The lines of a dump that tell when: samples with their labels, ticks, and events of zones.
 */
#include "formats/dump/reader.h"

struct dump_sample {
	thread_id thread; /* NO_ID: not told */
	uint64_t time_ns; /* UINT64_MAX: not told */
	bool has_zone;
	stack_id zone;
};

/* thread N, time N and zone N: in all samples or in none. */
static void scan_sample_columns(struct dump *d, struct dump_sample *s)
{
	if (line_scan_is(&d->line, "thread"))
		s->thread = dump_thread_of(d);
	if (line_scan_is(&d->line, "time"))
		s->time_ns = line_scan_number(&d->line, UINT64_MAX - 1);
	s->has_zone = line_scan_is(&d->line, "zone");
	if (s->has_zone)
		s->zone = dump_stack_of(d);
	bool has_thread = s->thread.i != NO_ID, has_time = s->time_ns != UINT64_MAX;
	if (d->sample_count &&
		(has_thread != d->samples_have_thread || has_time != d->samples_have_time ||
			s->has_zone != d->samples_have_zone))
		line_scan_fail(&d->line, "not the same columns as the sample before");
	d->samples_have_thread = has_thread;
	d->samples_have_time = has_time;
	d->samples_have_zone = s->has_zone;
}

/* "KEY" "TEXT" or "KEY" number N, with unit "UNIT" or without. */
void dump_read_label(struct dump *d)
{
	struct label label = {.key = dump_string(d)};

	bool is_number = line_scan_is(&d->line, "number");
	if (!is_number) {
		label.text = dump_string(d);
		is_number = line_scan_is(&d->line, "number");
	}
	if (is_number)
		label.number = line_scan_signed(&d->line);
	if (line_scan_is(&d->line, "unit"))
		label.unit = dump_string(d);
	if (d->line.problem == NULL)
		vec_push(&d->labels, builder_label(d->builder, &label));
}

/* Numbers of labels up to the word "weight". */
static label_set_id scan_labels(struct dump *d)
{
	d->sample_labels.count = 0;
	while (line_scan_more(&d->line) && !str_starts_with(d->line.rest, STR("weight "))) {
		uint64_t number = line_scan_number(&d->line, UINT32_MAX);

		if (d->line.problem == NULL && number >= d->labels.count)
			line_scan_fail(&d->line, "a label that no line before has told of");
		if (d->line.problem)
			return (label_set_id){0};
		vec_push(&d->sample_labels, d->labels.data[number]);
	}
	return builder_label_set_of(d->builder, d->sample_labels.data, d->sample_labels.count);
}

void dump_read_sample(struct dump *d)
{
	struct dump_sample sample = {.thread = {NO_ID}, .time_ns = UINT64_MAX};
	label_set_id labels = {0};

	if (d->metric_count == 0)
		line_scan_fail(&d->line, "a sample before any metric");
	if (d->weights.count)
		line_scan_fail(&d->line, "samples, though the stacks have weights");
	dump_build_stacks(d);
	stack_id stack = dump_stack_of(d);
	scan_sample_columns(d, &sample);
	if (line_scan_is(&d->line, "labels"))
		labels = scan_labels(d);
	if (!line_scan_is(&d->line, "weight"))
		line_scan_fail(&d->line, "the weight is missing");
	vec_reserve(&d->sample_weight, d->metric_count);
	if (!dump_weights(d, d->sample_weight.data))
		return;
	builder_sample(d->builder, stack, sample.thread, sample.time_ns, d->sample_weight.data);
	if (sample.has_zone)
		builder_sample_zone(d->builder, sample.zone);
	builder_sample_labels(d->builder, labels);
	d->sample_count++;
}

/* A word that must come, and the number behind it. */
static uint64_t scan_named_number(struct dump *d, const char *word)
{
	if (!line_scan_is(&d->line, word))
		line_scan_fail(&d->line, "a number's name is missing");
	return line_scan_number(&d->line, UINT64_MAX - 1);
}

void dump_read_tick(struct dump *d)
{
	uint64_t process = scan_named_number(d, "process");
	string_id stream = dump_string(d);
	uint64_t number = line_scan_number(&d->line, UINT64_MAX);
	uint64_t start_ns = scan_named_number(d, "start");
	uint64_t end_ns = scan_named_number(d, "end");

	if (process >= d->processes.count)
		line_scan_fail(&d->line, "a process that no line before has told of");
	else if (end_ns < start_ns)
		line_scan_fail(&d->line, "a tick that ends before it starts");
	if (d->line.problem == NULL)
		builder_tick(
			d->builder, d->processes.data[process], stream, number, start_ns, end_ns);
}

void dump_read_zone_event(struct dump *d)
{
	dump_build_stacks(d);
	bool has_thread = line_scan_is(&d->line, "thread");
	thread_id thread = dump_thread_of(d);
	uint64_t time_ns = scan_named_number(d, "time");

	if (!has_thread || !line_scan_is(&d->line, "stack"))
		line_scan_fail(&d->line, "its thread or stack is missing");
	stack_id stack = dump_stack_of(d);
	if (d->line.problem == NULL)
		builder_zone_event(d->builder, thread, time_ns, stack);
}
