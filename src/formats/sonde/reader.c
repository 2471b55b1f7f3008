/*
 * sonde's own recordings (man/sonde-capture.5).
 *
 * The file is scanned once for valid chunks, whatever is between them.  Then they are read by type,
 * not in file order: definitions before references, samples last.  So a missing chunk loses only
 * its own contents.
 */
#include "formats/readers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/saturate.h"
#include "formats/sonde/layout/capture_chunk.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_samples.h"
#include "formats/sonde/capture_labels.h"
#include "formats/sonde/capture_nodes.h"
#include "formats/sonde/capture_profile.h"
#include "formats/sonde/capture_tasks.h"
#include "formats/sonde/capture_time.h"
#include "formats/sonde/capture_tree.h"
#include "formats/sonde/capture_trouble.h"
#include "formats/sonde/capture_zones.h"

struct capture {
	const struct reader_input *input;
	struct builder *builder;
	struct arena *arena;
	struct capture_scan scan;
	VEC(struct capture_chunk) chunks;
	struct capture_unpacker *unpacker;
	struct capture_names names;
	struct capture_tails tails;
	struct capture_tree tree;
	struct capture_profile profile;
	bool is_profile; /* a written profile, not a recording */
	struct capture_tasks tasks;
	struct capture_zones_reader zones;
	struct capture_labels labels;
	uint64_t lost_labels;	      /* samples whose labels are missing */
	VEC(struct str) metric_names; /* in the arena, like the units */
	VEC(struct str) metric_units;
	metric_id metric_ids[CAPTURE_METRIC_MAX];
	metric_id samples_metric;
	bool counts_samples;   /* the file lacks this metric */
	metric_id cpu_time;    /* or NO_ID */
	metric_id off_cpu[3];  /* blocked and preempted time, wake-up delay, or NO_ID */
	uint32_t metric_count; /* of the builder */
	uint64_t facts[128];   /* by key; UINT64_MAX: missing */
	uint64_t counters[CAPTURE_COUNTER_COUNT];
	/* By number of the file's metric. */
	uint64_t metric_lost[CAPTURE_METRIC_MAX], metric_counted[CAPTURE_METRIC_MAX];
	uint64_t metric_sum[CAPTURE_METRIC_MAX];
	bool has_end;
	bool is_real; /* real time was requested */
	uint64_t end_samples, end_dropped;
	/* Samples: all, and those in the metric "samples". */
	uint64_t samples, counted, critical, guessed, restored, foreign, orphans, last_ns;
	uint64_t counted_ns;	    /* CPU time of the counted samples */
	int64_t off_cpu_ns, cut_ns; /* cut: under [truncated] */
	uint64_t bad_chunks, first_bad_offset;
};

static int capture_bid(const uint8_t *data, size_t size)
{
	return capture_recognise(data, size) ? 100 : 0;
}

/* Joins NUL-terminated arguments with spaces. */
static string_id command_line(struct capture *c, struct str arguments)
{
	struct strbuf line = {0};

	while (arguments.size && arguments.data[arguments.size - 1] == '\0')
		arguments.size--;
	for (size_t i = 0; i < arguments.size; i++)
		strbuf_add_char(&line, arguments.data[i] ? arguments.data[i] : ' ');
	string_id id = builder_string(c->builder, strbuf_str(&line));
	strbuf_deinit(&line);
	return id;
}

static void read_string_fact(struct capture *c, const struct capture_fact *fact)
{
	struct builder_header *header = builder_header(c->builder);

	if (fact->key == CAPTURE_COMMAND) {
		header->command = c->is_profile ? builder_string(c->builder, fact->string)
						: command_line(c, fact->string);
	} else if (fact->key == CAPTURE_HOST) {
		header->host = builder_string(c->builder, fact->string);
		c->names.host = arena_str(c->arena, fact->string);
	} else if (fact->key == CAPTURE_KERNEL) {
		c->names.kernel = arena_str(c->arena, fact->string);
	} else if (fact->key == CAPTURE_WHEN) {
		header->when = builder_string(c->builder, fact->string);
	} else if (fact->key == CAPTURE_CLOCK) {
		c->is_real = str_equal(fact->string, STR("real"));
	}
}

static void read_number_fact(struct capture *c, const struct capture_fact *fact)
{
	if (fact->key >= ARRAY_SIZE(c->facts))
		return;
	c->facts[fact->key] = fact->number;
	if (fact->key == CAPTURE_PROFILE) {
		c->is_profile = c->names.is_profile = true;
		c->profile.flags = fact->number;
	}
}

static void read_facts(struct capture *c, struct cursor *payload)
{
	struct capture_fact fact;

	while (capture_get_fact(payload, &fact))
		if (capture_fact_is_number(fact.key))
			read_number_fact(c, &fact);
		else
			read_string_fact(c, &fact);
}

static void read_metrics(struct capture *c, struct cursor *payload)
{
	struct capture_metric row;

	while (capture_get_metric(payload, &row)) {
		if (row.metric < c->metric_names.count)
			continue;
		if (row.metric > c->metric_names.count || row.metric >= CAPTURE_METRIC_MAX) {
			cursor_fail(payload, "a metric has an impossible number");
			break;
		}
		vec_push(&c->metric_names, arena_str(c->arena, row.name));
		vec_push(&c->metric_units, arena_str(c->arena, row.unit));
	}
}

static void read_metric_counter(struct capture *c, const struct capture_count *row)
{
	for (uint32_t i = 0; i < CAPTURE_METRIC_MAX; i++) {
		if (row->counter == CAPTURE_METRIC_LOST(i))
			c->metric_lost[i] = row->value;
		if (row->counter == CAPTURE_METRIC_COUNTED(i))
			c->metric_counted[i] = row->value;
	}
}

static void read_counters(struct capture *c, struct cursor *payload)
{
	struct capture_count row;

	while (capture_get_count(payload, &row))
		if (row.counter < CAPTURE_COUNTER_COUNT)
			c->counters[row.counter] = row.value;
		else
			read_metric_counter(c, &row);
}

static struct error *read_end(struct capture *c, struct cursor *payload)
{
	uint64_t samples, dropped;

	if (!capture_get_end(payload, &samples, &dropped))
		return cursor_error(payload);
	c->has_end = true;
	c->end_samples = samples;
	c->end_dropped = dropped;
	return NULL;
}

static void add_off_cpu(struct capture *c, int64_t time_ns, uint8_t flags)
{
	c->off_cpu_ns = sum_saturating(c->off_cpu_ns, time_ns);
	if (flags & CAPTURE_STACK_TRUNCATED)
		c->cut_ns = sum_saturating(c->cut_ns, time_ns);
}

/* A block of samples to add to the builder. */
struct row_block {
	struct capture_samples_block in;
	stack_id stack[CAPTURE_SAMPLES_BLOCK], zone[CAPTURE_SAMPLES_BLOCK];
	thread_id thread[CAPTURE_SAMPLES_BLOCK];
	label_set_id labels[CAPTURE_SAMPLES_BLOCK];
	uint8_t flags[CAPTURE_SAMPLES_BLOCK], zone_flags[CAPTURE_SAMPLES_BLOCK];
	const int64_t *weight[CAPTURE_METRIC_MAX + 3]; /* by the builder's metric */
	int64_t zeros[CAPTURE_SAMPLES_BLOCK], ones[CAPTURE_SAMPLES_BLOCK];
};

static struct row_block *row_block_create(void)
{
	struct row_block *r = xalloc(sizeof(*r));

	for (size_t i = 0; i < CAPTURE_SAMPLES_BLOCK; i++)
		r->ones[i] = 1;
	return r;
}

static void find_weights(struct capture *c, struct row_block *r, uint32_t metric_count)
{
	for (size_t m = 0; m < ARRAY_SIZE(r->weight); m++)
		r->weight[m] = r->zeros;
	/* Metrics with the same name and unit are one. */
	for (uint32_t m = 0; m < metric_count; m++) {
		r->weight[c->metric_ids[m].i] = r->in.weight[m];
		for (size_t i = 0; i < r->in.count; i++)
			c->metric_sum[m] += (uint64_t)r->in.weight[m][i];
	}
	if (c->counts_samples)
		r->weight[c->samples_metric.i] = r->ones;
}

static void find_threads(struct capture *c, struct row_block *r)
{
	for (size_t i = 0; i < r->in.count; i++)
		r->thread[i] = i && r->in.thread[i] == r->in.thread[i - 1]
				       ? r->thread[i - 1]
				       : capture_tasks_thread(&c->tasks, r->in.thread[i]);
}

/* Whether some sample was taken in a zone. */
static bool find_zones(struct capture *c, struct row_block *r)
{
	uint32_t any = 0;

	for (size_t i = 0; r->in.has_zones && i < r->in.count; i++)
		any |= r->in.zone[i];
	if (any == 0)
		return false;
	capture_tree_stacks(&c->tree, r->in.zone, r->in.count, r->zone, r->zone_flags);
	for (size_t i = 0; i < r->in.count; i++)
		c->zones.orphans += (r->zone_flags[i] & CAPTURE_STACK_ORPHAN) != 0;
	return true;
}

static void count_samples(struct capture *c, const struct row_block *r)
{
	const int64_t *counts = r->weight[c->samples_metric.i];
	const int64_t *cpu = c->cpu_time.i == NO_ID ? r->zeros : r->weight[c->cpu_time.i];

	for (size_t i = 0; i < r->in.count; i++) {
		uint8_t flags = r->flags[i];
		bool is_counted = counts[i] > 0;

		c->orphans += (flags & CAPTURE_STACK_ORPHAN) != 0;
		c->counted += is_counted;
		c->counted_ns += is_counted ? (uint64_t)cpu[i] : 0;
		c->restored += is_counted && (flags & CAPTURE_STACK_RESTORED);
		c->critical += is_counted && (flags & CAPTURE_STACK_NOT_WHOLE);
		c->guessed +=
			is_counted && (flags & CAPTURE_STACK_NOT_WHOLE) == CAPTURE_STACK_GUESSED;
		c->foreign += is_counted && (flags & CAPTURE_STACK_FOREIGN);
		if (r->in.time_ns[i] > c->last_ns)
			c->last_ns = r->in.time_ns[i];
	}
	c->samples += r->in.count;
}

static void count_off_cpu(struct capture *c, const struct row_block *r)
{
	const int64_t *weight[ARRAY_SIZE(c->off_cpu)];

	for (size_t k = 0; k < ARRAY_SIZE(weight); k++)
		weight[k] = c->off_cpu[k].i == NO_ID ? r->zeros : r->weight[c->off_cpu[k].i];
	for (size_t i = 0; i < r->in.count; i++)
		if (weight[0][i] | weight[1][i] | weight[2][i])
			for (size_t k = 0; k < ARRAY_SIZE(weight); k++)
				add_off_cpu(c, weight[k][i], r->flags[i]);
}

static void add_samples(struct capture *c, struct row_block *r, uint32_t metric_count)
{
	bool has_labels = false;

	capture_tree_stacks(&c->tree, r->in.node, r->in.count, r->stack, r->flags);
	find_weights(c, r, metric_count);
	find_threads(c, r);
	bool has_zones = find_zones(c, r);
	if (r->in.has_labels)
		c->lost_labels += capture_labels_sets(
			&c->labels, r->in.labels, r->in.count, r->labels, &has_labels);
	builder_samples(c->builder, &(struct sample_columns){
					    .count = r->in.count,
					    .stack = r->stack,
					    .thread = r->thread,
					    .time_ns = r->in.time_ns,
					    .weight = r->weight,
					    .zone = has_zones ? r->zone : NULL,
					    .labels = has_labels ? r->labels : NULL,
				    });
	count_samples(c, r);
	count_off_cpu(c, r);
}

/* Adds samples of a profile, which know what its flags say. */
static void add_profile_samples(struct capture *c, struct row_block *r, uint32_t metric_count)
{
	uint64_t flags = c->profile.flags;
	bool has_labels = false;

	for (uint32_t m = 0; m < ARRAY_SIZE(r->weight); m++)
		r->weight[m] = m < metric_count ? r->in.weight[m] : r->zeros;
	/* If samples have no threads, none are requested. */
	if (flags & CAPTURE_PROFILE_THREADS)
		find_threads(c, r);
	for (size_t i = 0; i < r->in.count; i++)
		r->in.time_ns[i] = builder_time(r->in.time_ns[i]);
	if ((flags & CAPTURE_PROFILE_ZONES) && !find_zones(c, r))
		memset(r->zone, 0, sizeof(r->zone));
	if (r->in.has_labels)
		c->lost_labels += capture_labels_sets(
			&c->labels, r->in.labels, r->in.count, r->labels, &has_labels);
	builder_samples(
		c->builder, &(struct sample_columns){
				    .count = r->in.count,
				    .stack = r->stack,
				    .thread = flags & CAPTURE_PROFILE_THREADS ? r->thread : NULL,
				    .time_ns = flags & CAPTURE_PROFILE_TIMES ? r->in.time_ns : NULL,
				    .weight = r->weight,
				    .zone = flags & CAPTURE_PROFILE_ZONES ? r->zone : NULL,
				    .labels = has_labels ? r->labels : NULL,
			    });
}

/* Adds rows of a profile: samples, or the sums of stacks. */
static void add_rows(struct capture *c, struct row_block *r,
	const struct capture_samples_decoder *d, uint32_t metric_count)
{
	capture_tree_stacks(&c->tree, r->in.node, r->in.count, r->stack, r->flags);
	for (size_t i = 0; i < r->in.count; i++)
		c->orphans += (r->flags[i] & CAPTURE_STACK_ORPHAN) != 0;
	c->samples += r->in.count;
	if (c->profile.flags & CAPTURE_PROFILE_SAMPLES) {
		add_profile_samples(c, r, metric_count);
		return;
	}
	for (size_t i = 0; i < r->in.count; i++) {
		struct capture_sample row = {0};

		capture_samples_of_block(&r->in, i, d->metric_count, &row);
		capture_profile_add_sum(&c->profile, &row, r->stack[i], metric_count);
	}
}

static struct error *read_samples(struct capture *c, struct cursor *payload)
{
	struct capture_samples_decoder d;
	struct error *err = capture_samples_begin(&d, payload);

	if (err)
		return err;
	uint32_t metric_count = d.metric_count < c->metric_names.count
					? d.metric_count
					: (uint32_t)c->metric_names.count;
	struct row_block *r = row_block_create();

	while (capture_samples_take(&d, &r->in))
		if (c->is_profile)
			add_rows(c, r, &d, metric_count);
		else
			add_samples(c, r, metric_count);
	free(r);
	return capture_samples_error(&d);
}

static struct error *read_payload(struct capture *c, uint8_t type, struct cursor *payload)
{
	switch (type) {
	case CAPTURE_CHUNK_FACTS:
		read_facts(c, payload);
		break;
	case CAPTURE_CHUNK_METRICS:
		read_metrics(c, payload);
		break;
	case CAPTURE_CHUNK_OBJECTS:
		return capture_names_read_objects(&c->names, payload);
	case CAPTURE_CHUNK_PROCESSES:
		return capture_tasks_read_processes(&c->tasks, payload);
	case CAPTURE_CHUNK_THREADS:
		return capture_tasks_read_threads(&c->tasks, payload);
	case CAPTURE_CHUNK_COUNTERS:
		read_counters(c, payload);
		break;
	case CAPTURE_CHUNK_SYMBOLS:
		return capture_names_read_symbols(&c->names, payload);
	case CAPTURE_CHUNK_TAILS:
		return capture_tails_read(&c->tails, payload);
	case CAPTURE_CHUNK_SAMPLES:
		return read_samples(c, payload);
	case CAPTURE_CHUNK_END:
		return read_end(c, payload);
	case CAPTURE_CHUNK_NOTES:
		return capture_profile_read_notes(&c->profile, payload);
	case CAPTURE_CHUNK_ADDRESSES:
		return capture_names_read_addresses(&c->names, payload);
	case CAPTURE_CHUNK_FUNCTIONS:
		return capture_profile_read_functions(&c->profile, &c->names, payload);
	case CAPTURE_CHUNK_ARCS:
		return capture_profile_read_arcs(&c->profile, payload);
	case CAPTURE_CHUNK_LABELS:
		return capture_labels_read(&c->labels, payload);
	case CAPTURE_CHUNK_LABEL_SETS:
		return capture_labels_read_sets(&c->labels, payload);
	case CAPTURE_CHUNK_TICKS:
		return capture_zones_read_ticks(&c->zones, payload);
	case CAPTURE_CHUNK_ZONE_ROWS:
		return capture_zones_read_rows(&c->zones, payload);
	case CAPTURE_CHUNK_ZONE_EVENTS:
		return capture_zones_read_events(&c->zones, payload);
	default: /* of a later version, or not needed here */
		break;
	}
	return cursor_error(payload);
}

/* Reads all chunks of a type, in file order.  Adds a note about bad ones. */
static void read_chunks(struct capture *c, enum capture_chunk_type type)
{
	for (size_t i = 0; i < c->chunks.count; i++) {
		const struct capture_chunk *chunk = &c->chunks.data[i];
		struct cursor payload;
		if (chunk->type != type)
			continue;
		struct error *err = capture_unpack(c->unpacker, chunk, c->input->name, &payload);
		if (err == NULL)
			err = read_payload(c, chunk->type, &payload);
		if (err && c->bad_chunks++ == 0)
			c->first_bad_offset = chunk->offset;
		error_destroy(err);
	}
}

static void read_stacks(struct capture *c)
{
	uint64_t offset;
	uint64_t bad = capture_tree_read(
		&c->tree, c->chunks.data, c->chunks.count, c->input->threads, &offset);

	if (bad && c->bad_chunks == 0)
		c->first_bad_offset = offset;
	c->bad_chunks += bad;
}

/* The file's metric with that name, or NO_ID. */
static metric_id find_metric(const struct capture *c, struct str name)
{
	for (size_t i = 0; i < c->metric_names.count; i++)
		if (str_equal(c->metric_names.data[i], name))
			return c->metric_ids[i];
	return (metric_id){NO_ID};
}

/* A written profile has only the metrics in the file. */
static void add_profile_metrics(struct capture *c)
{
	for (size_t i = 0; i < c->metric_names.count; i++)
		c->metric_ids[i] = builder_metric(
			c->builder, c->metric_names.data[i], c->metric_units.data[i]);
	if (c->facts[CAPTURE_DEFAULT_METRIC] < c->metric_names.count)
		builder_header(c->builder)->default_metric =
			c->metric_ids[c->facts[CAPTURE_DEFAULT_METRIC]];
}

static bool has_chunk(const struct capture *c, enum capture_chunk_type type)
{
	for (size_t i = 0; i < c->chunks.count; i++)
		if (c->chunks.data[i].type == type)
			return true;
	return false;
}

static void add_metrics(struct capture *c)
{
	struct builder *b = c->builder;
	struct builder_header *header = builder_header(b);

	c->samples_metric = builder_metric(b, STR("samples"), STR("count"));
	header->default_metric = c->samples_metric;
	for (size_t i = 0; i < c->metric_names.count; i++) {
		struct str name = c->metric_names.data[i];
		c->metric_ids[i] = builder_metric(b, name, c->metric_units.data[i]);
		if (i == 0 || str_equal(name, STR("cpu-time")))
			header->default_metric = c->metric_ids[i];
	}
	c->counts_samples = true;
	for (size_t i = 0; i < c->metric_names.count; i++)
		c->counts_samples &= c->metric_ids[i].i != c->samples_metric.i;
	c->cpu_time = find_metric(c, STR("cpu-time"));
	c->off_cpu[0] = find_metric(c, STR("blocked-time"));
	c->off_cpu[1] = find_metric(c, STR("preempted-time"));
	c->off_cpu[2] = find_metric(c, STR("wakeup-delay"));
	if (has_chunk(c, CAPTURE_CHUNK_ZONE_ROWS))
		capture_zones_add_metrics(&c->zones);
}

/* If real time was requested, the recording's default metric is real time. */
static void choose_metric(struct capture *c)
{
	metric_id real = find_metric(c, STR("real-time"));

	if (c->is_real && real.i != NO_ID)
		builder_header(c->builder)->default_metric = real;
}

static bool is_damaged(const struct capture *c)
{
	return c->scan.damaged_places > 0 || c->scan.missing_chunks > 0 || c->bad_chunks > 0;
}

/*
 * Reserves room for all samples at once, as moving a growing column touches all its pages.  The
 * file states their number; each takes at least two bytes.
 */
static void expect_samples(struct capture *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < c->chunks.count; i++)
		if (c->chunks.data[i].type == CAPTURE_CHUNK_SAMPLES)
			most += c->chunks.data[i].raw_size / 2;
	if (c->has_end && c->end_samples < most)
		most = c->end_samples;
	if (!c->is_profile || (c->profile.flags & CAPTURE_PROFILE_SAMPLES))
		builder_expect_samples(c->builder, (size_t)most);
}

static void read_all(struct capture *c)
{
	read_chunks(c, CAPTURE_CHUNK_FACTS);
	read_chunks(c, CAPTURE_CHUNK_METRICS);
	if (c->is_profile) {
		add_profile_metrics(c);
	} else {
		add_metrics(c);
		choose_metric(c);
	}
	read_chunks(c, CAPTURE_CHUNK_COUNTERS);
	read_chunks(c, CAPTURE_CHUNK_END);
	read_chunks(c, CAPTURE_CHUNK_PROCESSES);
	read_chunks(c, CAPTURE_CHUNK_THREADS);
	capture_tasks_build(&c->tasks);
	read_chunks(c, CAPTURE_CHUNK_OBJECTS);
	read_chunks(c, CAPTURE_CHUNK_NOTES);
	if (c->is_profile) {
		read_chunks(c, CAPTURE_CHUNK_ADDRESSES);
		read_chunks(c, CAPTURE_CHUNK_FUNCTIONS);
		read_chunks(c, CAPTURE_CHUNK_ARCS);
	}
	/* They are numbered by order, so those after a gap would have the wrong number. */
	if (!is_damaged(c)) {
		read_chunks(c, CAPTURE_CHUNK_LABELS);
		read_chunks(c, CAPTURE_CHUNK_LABEL_SETS);
	}
	read_chunks(c, CAPTURE_CHUNK_SYMBOLS);
	read_chunks(c, CAPTURE_CHUNK_TAILS);
	read_stacks(c);
	/* A complete file has all the names that it is to have (record --no-symbols). */
	bool ask_local = !c->has_end;
	c->tree.tails = &c->tails;
	c->tree.stacks_left = 4000000 + 16 * (uint64_t)c->input->size;
	capture_tree_build(&c->tree, &c->names, ask_local);
	expect_samples(c);
	read_chunks(c, CAPTURE_CHUNK_SAMPLES);
	if (!c->is_profile)
		read_chunks(c, CAPTURE_CHUNK_ZONE_ROWS);
	read_chunks(c, CAPTURE_CHUNK_TICKS);
	read_chunks(c, CAPTURE_CHUNK_ZONE_EVENTS);
}

static void note_damaged_places(struct capture *c)
{
	uint64_t places = c->scan.damaged_places + c->bad_chunks;
	uint64_t first = c->scan.damaged_places ? c->scan.damaged_first : UINT64_MAX;

	if (c->bad_chunks && c->first_bad_offset < first)
		first = c->first_bad_offset;
	if (places)
		builder_note(c->builder, NOTE_BAD_RECORD, places,
			places == 1 ? "a damaged place in the file was skipped, at offset 0x%llx"
				    : "damaged places in the file were skipped, the first at "
				      "offset 0x%llx",
			(unsigned long long)first);
}

static void note_time(struct capture *c)
{
	const struct capture_time time = {
		.counters = c->counters,
		.cpu_ns = c->has_end ? c->facts[CAPTURE_CPU_NS] : UINT64_MAX,
		.interval_ns = c->facts[CAPTURE_INTERVAL_NS],
		.sampled_ns = c->counted_ns,
		.has_rows = c->names.has_unsampled,
		.off_cpu_ns = c->off_cpu_ns > 0 ? (uint64_t)c->off_cpu_ns : 0,
		.cut_ns = c->cut_ns > 0 ? (uint64_t)c->cut_ns : 0,
	};

	capture_time_note(&time, c->builder);
}

static void note_metric(struct capture *c, size_t i)
{
	capture_trouble_metric(c->builder, c->metric_names.data[i], c->metric_lost[i],
		c->metric_sum[i], c->metric_counted[i]);
}

/* Adds notes about damage to the file. */
static void note_damage(struct capture *c)
{
	if (!c->has_end)
		builder_note(c->builder, NOTE_INCOMPLETE, 1,
			"the recording was cut off: the file has no end mark; a recorder that was "
			"killed leaves out at most 250 ms");
	note_damaged_places(c);
	capture_trouble_note(c->builder, CAPTURE_MISSING_PARTS, c->scan.missing_chunks);
	capture_trouble_note(c->builder, CAPTURE_ORPHANS, c->orphans + c->zones.orphans);
	capture_trouble_note(c->builder, CAPTURE_LOST_LABELS, c->lost_labels);
	capture_trouble_note(c->builder, CAPTURE_LEFT_OUT_FRAMES, c->tree.left_out);
	if (c->has_end && c->end_samples > c->samples)
		capture_trouble_note(
			c->builder, CAPTURE_MISSING_SAMPLES, c->end_samples - c->samples);
	capture_trouble_note(c->builder, CAPTURE_DROPPED_SAMPLES, c->end_dropped);
}

/* Adds notes about problems during recording. */
static void note_loss(struct capture *c)
{
	capture_trouble_counters(c->builder, c->counters);
	note_time(c);
	capture_zones_note(c->builder, c->counters);
	for (size_t i = 0; i < c->metric_names.count; i++)
		note_metric(c, i);
	capture_names_note(&c->names);
	capture_trouble_note(c->builder, CAPTURE_RESTORED_CALLERS, c->restored);
}

static void set_stats(struct capture *c)
{
	struct profile_stats *stats = &builder_header(c->builder)->stats;
	uint64_t asked_ns = c->facts[CAPTURE_INTERVAL_NS];
	uint64_t cpu_ns = c->facts[CAPTURE_CPU_NS];

	stats->lost = c->counters[CAPTURE_LOST_RING] + c->end_dropped;
	stats->foreign = c->foreign;
	stats->critical = c->critical;
	stats->guessed = c->guessed;
	stats->cpu_ns = cpu_ns;
	stats->duration_ns = c->facts[CAPTURE_DURATION_NS];
	if (stats->duration_ns == UINT64_MAX)
		stats->duration_ns = c->last_ns;
	if (cpu_ns != UINT64_MAX && asked_ns != UINT64_MAX && asked_ns)
		stats->expected = cpu_ns / asked_ns;
	if (c->facts[CAPTURE_EXPECTED] != UINT64_MAX)
		stats->expected = c->facts[CAPTURE_EXPECTED];
	stats->interval_ns = stats->interval_asked_ns = asked_ns;
	if (cpu_ns != UINT64_MAX && c->counted)
		stats->interval_ns = cpu_ns / c->counted;
	/*
	 * In old files, samples had their period as weight, whatever was accounted; newer ones have
	 * the actual times.
	 */
	if (c->facts[CAPTURE_EXPECTED] != UINT64_MAX && c->counted && c->counted_ns)
		stats->interval_ns = c->counted_ns / c->counted;
	if (cpu_ns != UINT64_MAX && c->names.has_unsampled)
		stats->cpu_ns += c->counters[CAPTURE_UNSAMPLED_KERNEL_NS];
	if (c->facts[CAPTURE_START_UNIX_NS] != UINT64_MAX)
		builder_header(c->builder)->start_unix_ns = c->facts[CAPTURE_START_UNIX_NS];
}

static void scan_chunks(struct capture *c)
{
	struct capture_chunk chunk;

	capture_scan_init(&c->scan, c->input->data, c->input->size);
	while (capture_scan_next(&c->scan, &chunk))
		vec_push(&c->chunks, chunk);
}

static void capture_init(
	struct capture *c, const struct reader_input *input, struct builder *builder)
{
	*c = (struct capture){.input = input, .builder = builder};
	memset(c->facts, 0xff, sizeof(c->facts));
	c->arena = arena_create();
	c->unpacker = capture_unpacker_create();
	capture_tasks_init(&c->tasks, builder, c->arena);
	capture_names_init(&c->names, builder, c->arena);
	capture_tree_init(&c->tree, builder);
	capture_profile_init(&c->profile, builder);
	capture_zones_init(&c->zones, builder, &c->tasks, &c->tree);
	capture_labels_init(&c->labels, builder);
}

static void capture_deinit(struct capture *c)
{
	vec_deinit(&c->chunks);
	vec_deinit(&c->metric_names);
	vec_deinit(&c->metric_units);
	capture_tasks_deinit(&c->tasks);
	capture_names_deinit(&c->names);
	capture_tree_deinit(&c->tree);
	capture_tails_deinit(&c->tails);
	capture_profile_deinit(&c->profile);
	capture_labels_deinit(&c->labels);
	capture_unpacker_destroy(c->unpacker);
	arena_destroy(c->arena);
}

/* nodes: receives the stacks of the file's nodes; may be NULL. */
static struct error *capture_read_into(
	const struct reader_input *input, struct builder *builder, struct capture_nodes *nodes)
{
	struct capture c;
	struct error *err = capture_check_file_header(input->data, input->size, input->name);

	if (err)
		return err;
	capture_init(&c, input, builder);
	scan_chunks(&c);
	if (c.chunks.count) {
		read_all(&c);
		note_damage(&c);
		if (c.is_profile) {
			capture_profile_set_header(&c.profile, c.facts);
		} else {
			note_loss(&c);
			set_stats(&c);
		}
	} else {
		err = error_input(input->name, CAPTURE_FILE_HEADER_SIZE,
			"the recording has nothing in it that can be read");
	}
	if (nodes && !err && !capture_tree_take(&c.tree, nodes))
		err = error_new(ERROR_INPUT, "parts of the recording are missing");
	capture_deinit(&c);
	return err;
}

static struct error *capture_read(const struct reader_input *input, struct builder *builder)
{
	/*
	 * What sonde recorded or wrote is always shown completely.  A compressed stack may take
	 * less than two bytes, so the file's size gives no limit.
	 */
	builder_answer_for(builder, UINT64_MAX);
	return capture_read_into(input, builder, NULL);
}

struct error *capture_read_nodes(
	const struct reader_input *input, struct profile **profile, struct capture_nodes *nodes)
{
	struct capture_nodes found = {0};
	struct builder *b = builder_create();
	struct error *err = capture_read_into(input, b, &found);

	if (err)
		builder_destroy(b);
	else
		err = builder_finish(b, profile);
	if (err)
		free(found.stacks);
	else
		*nodes = found;
	return err;
}

const struct reader reader_capture = {
	.name = "sonde",
	.summary = "sonde's own recordings",
	.bid = capture_bid,
	.read = capture_read,
};
