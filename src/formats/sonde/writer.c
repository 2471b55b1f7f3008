/*
 * Writes a profile in sonde's own format for recordings (man/sonde-capture.5), as small and as fast
 * to read as these.
 *
 * A recording has addresses, and names for them; a profile has frames.  So every frame becomes a
 * separate address (formats/sonde/writer_keys.h) with one name.  The first fact marks the file as a
 * profile with all its figures: readers must not derive or add any.
 */
#include "formats/writers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/sonde/layout/capture_batch.h"
#include "formats/sonde/writer_keys.h"

/* The same as for finished recordings. */
enum { ZSTD_LEVEL = 5 };

struct sonde_writer {
	const struct profile *profile;
	struct sink *sink;
	struct capture_batch batch;
	struct sonde_keys keys;
	uint64_t rows; /* of SAMPLES */
};

static bool put_chunk(void *context, struct str chunk)
{
	struct sink *sink = context;

	strbuf_add(&sink->text, chunk);
	return sink_settle(sink);
}

/* Call it before adding anything. */
static void make_room(struct sonde_writer *w)
{
	if (capture_batch_is_full(&w->batch))
		(void)capture_batch_write(&w->batch);
}

static struct strbuf *rows_of(struct sonde_writer *w, enum capture_chunk_type type)
{
	make_room(w);
	return &w->batch.rows[type];
}

static struct str text_of(const struct sonde_writer *w, string_id id)
{
	return profile_string(w->profile, id);
}

static void put_number(struct sonde_writer *w, uint32_t key, uint64_t number)
{
	capture_put_fact(rows_of(w, CAPTURE_CHUNK_FACTS),
		&(struct capture_fact){.key = key, .number = number});
}

static void put_text(struct sonde_writer *w, uint32_t key, string_id id)
{
	if (text_of(w, id).size)
		capture_put_fact(rows_of(w, CAPTURE_CHUNK_FACTS),
			&(struct capture_fact){.key = key, .string = text_of(w, id)});
}

static uint64_t flags_of(const struct profile *p)
{
	uint64_t flags = 0;

	if (p->samples.count)
		flags |= CAPTURE_PROFILE_SAMPLES;
	else if (p->row_samples)
		flags |= CAPTURE_PROFILE_COUNTS;
	if (p->samples.thread)
		flags |= CAPTURE_PROFILE_THREADS;
	if (p->samples.time_ns)
		flags |= CAPTURE_PROFILE_TIMES;
	if (p->samples.zone)
		flags |= CAPTURE_PROFILE_ZONES;
	if (p->has_stacks)
		flags |= CAPTURE_PROFILE_STACKS;
	if (p->arc_cost)
		flags |= CAPTURE_PROFILE_COSTS;
	return flags;
}

static void put_facts(struct sonde_writer *w)
{
	const struct profile *p = w->profile;
	uint32_t key = CAPTURE_STAT_FIRST;

	put_number(w, CAPTURE_PROFILE, flags_of(p));
	put_number(w, CAPTURE_DEFAULT_METRIC, p->default_metric.i);
	put_text(w, CAPTURE_COMMAND, p->command);
	put_text(w, CAPTURE_HOST, p->host);
	put_text(w, CAPTURE_WHEN, p->when);
	if (p->start_unix_ns)
		put_number(w, CAPTURE_START_UNIX_NS, p->start_unix_ns);
	for (const struct stat_field *f = stat_fields; f->name; f++, key++) {
		uint64_t value;

		memcpy(&value, (const char *)&p->stats + f->offset, sizeof(value));
		if (value != UINT64_MAX)
			put_number(w, key, value);
	}
}

static void put_metrics(struct sonde_writer *w)
{
	for (uint32_t i = 0; i < w->profile->metric_count; i++)
		capture_put_metric(rows_of(w, CAPTURE_CHUNK_METRICS),
			&(struct capture_metric){i, text_of(w, w->profile->metrics[i].name),
				text_of(w, w->profile->metrics[i].unit)});
}

static uint32_t kind_of(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_USER:
		return CAPTURE_OBJECT_USER;
	case OBJECT_KERNEL:
		return CAPTURE_OBJECT_KERNEL;
	case OBJECT_JIT:
		return CAPTURE_OBJECT_JIT;
	case OBJECT_ZONE:
		return CAPTURE_OBJECT_ZONE;
	case OBJECT_UNKNOWN:
	case OBJECT_KIND_COUNT:
		break;
	}
	return CAPTURE_OBJECT_UNKNOWN;
}

/* The last one is for functions without a load object. */
static void put_objects(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->object_count; i++)
		capture_put_object(rows_of(w, CAPTURE_CHUNK_OBJECTS),
			&(struct capture_object){i, kind_of(p->objects[i].kind),
				text_of(w, p->objects[i].path), text_of(w, p->objects[i].build_id),
				false});
	capture_put_object(rows_of(w, CAPTURE_CHUNK_OBJECTS),
		&(struct capture_object){
			(uint32_t)p->object_count, CAPTURE_OBJECT_NONE, STR(""), STR(""), false});
}

static void put_threads(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->process_count; i++)
		capture_put_process(rows_of(w, CAPTURE_CHUNK_PROCESSES),
			&(struct capture_process){i, CAPTURE_NO_ID, p->processes[i].pid,
				p->processes[i].start_ns, text_of(w, p->processes[i].name)});
	for (uint32_t i = 0; i < p->thread_count; i++)
		capture_put_thread(rows_of(w, CAPTURE_CHUNK_THREADS),
			&(struct capture_thread){i, p->threads[i].process.i, p->threads[i].tid,
				p->threads[i].start_ns, text_of(w, p->threads[i].name)});
}

static void put_notes(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->note_count; i++)
		capture_put_note(rows_of(w, CAPTURE_CHUNK_NOTES),
			&(struct capture_note){(uint32_t)p->notes[i].kind, p->notes[i].count,
				text_of(w, p->notes[i].text)});
}

/* Writes functions with counted calls, and those outside all stacks. */
static void put_functions(struct sonde_writer *w)
{
	const struct profile *p = w->profile;
	bool *has_frame = xcalloc(p->function_count, sizeof(*has_frame));

	for (size_t i = 0; i < p->frame_count; i++)
		has_frame[p->frames[i].function.i] = true;
	for (uint32_t i = 0; i < p->function_count; i++) {
		const struct function *f = &p->functions[i];

		if (p->arc_count || !has_frame[i])
			capture_put_function(rows_of(w, CAPTURE_CHUNK_FUNCTIONS),
				&(struct capture_function_row){i, f->object.i, f->line,
					text_of(w, f->name), text_of(w, f->file),
					text_of(w, f->aliases)});
	}
	free(has_frame);
}

static void put_arcs(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];
		struct capture_arc row = {a->caller.i, a->callee.i, a->calls, .cost_count = 0};

		for (size_t m = 0; p->arc_cost && m < p->metric_count; m++)
			row.cost[row.cost_count++] = p->arc_cost[m][i];
		capture_put_arc(rows_of(w, CAPTURE_CHUNK_ARCS), &row);
	}
}

/* Writes runs of addresses that represent one address. */
static void put_addresses(struct sonde_writer *w)
{
	const struct profile *p = w->profile;
	struct capture_address run = {0};

	for (size_t i = 0; i < p->frame_count; i++) {
		const struct sonde_key *key = &w->keys.of_frame[w->keys.order[i]];
		uint64_t obj_addr = p->frames[w->keys.order[i]].obj_addr;

		if (run.count && key->object == run.object && key->addr == run.first + run.count &&
			obj_addr == run.obj_addr) {
			run.count++;
			continue;
		}
		if (run.count)
			capture_put_address(rows_of(w, CAPTURE_CHUNK_ADDRESSES), &run);
		run = (struct capture_address){
			key->object, key->addr, key->addr != obj_addr, obj_addr};
	}
	if (run.count)
		capture_put_address(rows_of(w, CAPTURE_CHUNK_ADDRESSES), &run);
}

static void put_symbols(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *f = &p->frames[w->keys.order[i]];
		const struct function *function = &p->functions[f->function.i];
		const struct sonde_key *key = &w->keys.of_frame[w->keys.order[i]];
		struct capture_symbol_frame frame = {.function = text_of(w, function->name),
			.file = text_of(w, f->file),
			.function_file = text_of(w, function->file),
			.line = f->line,
			.function_line = function->line,
			.is_inline = f->is_inline,
			.aliases = text_of(w, function->aliases)};

		make_room(w);
		capture_symbols_add(w->batch.symbols, key->object, key->addr, &frame, 1);
	}
}

static void put_stacks(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 1; i < p->stack_count; i++) {
		const struct sonde_key *key = &w->keys.of_frame[p->stack_frame[i].i];

		make_room(w);
		capture_stacks_node(w->batch.stacks, i, profile_stack_parent(p, i),
			capture_stacks_frame(
				w->batch.stacks, (struct capture_frame){key->object, key->addr}));
	}
}

static void put_row(struct sonde_writer *w, const struct capture_sample *row, size_t count)
{
	make_room(w);
	capture_samples_add(w->batch.samples, row, (uint32_t)count);
	w->rows++;
}

/* Microseconds, as in recordings, if all times are multiples. */
static uint64_t time_unit(const struct samples *s)
{
	for (size_t i = 0; s->time_ns && i < s->count; i++)
		if (s->time_ns[i] % 1000)
			return 1;
	return 1000;
}

static void put_labels(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->label_count; i++) {
		const struct label *l = &p->labels[i];

		capture_put_label(rows_of(w, CAPTURE_CHUNK_LABELS),
			&(struct capture_label){text_of(w, l->key), text_of(w, l->text),
				text_of(w, l->unit), l->number});
	}
	for (size_t i = 1; i < p->label_set_count; i++)
		capture_put_label_set(rows_of(w, CAPTURE_CHUNK_LABEL_SETS),
			&(struct capture_label_set){
				p->label_sets[i].rest.i, p->label_sets[i].label.i});
}

static void put_samples(struct sonde_writer *w)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;

	capture_samples_set_unit(w->batch.samples, time_unit(s));
	for (size_t i = 0; i < s->count; i++) {
		struct capture_sample row = {.time_ns = s->time_ns ? s->time_ns[i] : 0,
			.thread = s->thread ? s->thread[i].i : 0,
			.node = s->stack[i].i,
			.zone = s->zone ? s->zone[i].i : 0,
			.labels = s->labels ? s->labels[i].i : 0};

		for (size_t m = 0; m < p->metric_count; m++)
			row.weight[m] = s->weight[m][i];
		put_row(w, &row, p->metric_count);
	}
}

static void put_ticks(struct sonde_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];

		capture_put_tick(rows_of(w, CAPTURE_CHUNK_TICKS),
			&(struct capture_tick){t->process.i, text_of(w, t->stream), t->number,
				t->start_ns, t->end_ns - t->start_ns, t->thread.i});
	}
}

static void put_zone_events(struct sonde_writer *w)
{
	const struct zone_events *e = &w->profile->zone_events;

	for (size_t i = 0; i < e->count; i++) {
		struct capture_sample row = {
			.time_ns = e->time_ns[i], .thread = e->thread[i].i, .node = e->stack[i].i};

		make_room(w);
		capture_samples_add(w->batch.zone_events, &row, 0);
	}
}

/* Stacks without weight need no row, except that a row must show that samples were not counted. */
static void put_sums(struct sonde_writer *w)
{
	const struct profile *p = w->profile;
	size_t count = p->metric_count + (p->row_samples != NULL);

	for (uint32_t i = 0; i < p->stack_count; i++) {
		struct capture_sample row = {.node = i};
		bool weighs = i == 0 && p->row_samples == NULL;

		for (size_t m = 0; m < p->metric_count; m++)
			row.weight[m] = profile_weight(p, m, i);
		if (p->row_samples)
			row.weight[p->metric_count] = (int64_t)profile_samples(p, i);
		for (size_t m = 0; m < count; m++)
			weighs |= row.weight[m] != 0;
		if (weighs)
			put_row(w, &row, count);
	}
}

static void put_end(struct sonde_writer *w)
{
	struct strbuf end = {0};

	(void)capture_batch_write(&w->batch);
	capture_put_end(&end, w->rows, 0);
	(void)capture_batch_write_chunk(&w->batch, CAPTURE_CHUNK_END, strbuf_str(&end));
	strbuf_deinit(&end);
}

static struct error *check_metrics(const struct profile *p)
{
	size_t counts = p->samples.count == 0 && p->row_samples ? 1 : 0;
	size_t most = CAPTURE_METRIC_MAX - counts;

	if (p->metric_count <= most)
		return NULL;
	return error_new(ERROR_UNSUPPORTED,
		"a file of sonde's own holds %zu metrics at most, and here are %zu", most,
		p->metric_count);
}

static struct error *sonde_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct sonde_writer w = {.profile = profile, .sink = sink};
	struct error *err = check_metrics(profile);

	(void)options;
	if (err)
		return err;
	capture_batch_init(&w.batch, ZSTD_LEVEL, put_chunk, sink);
	sonde_keys_init(&w.keys, profile);
	capture_batch_write_file_header(&w.batch);
	put_facts(&w);
	put_metrics(&w);
	put_objects(&w);
	put_threads(&w);
	put_notes(&w);
	put_functions(&w);
	put_arcs(&w);
	put_addresses(&w);
	put_symbols(&w);
	put_stacks(&w);
	put_labels(&w);
	if (profile->samples.count)
		put_samples(&w);
	else
		put_sums(&w);
	put_ticks(&w);
	put_zone_events(&w);
	put_end(&w);
	sonde_keys_deinit(&w.keys);
	capture_batch_deinit(&w.batch);
	return NULL;
}

const struct writer writer_sonde = {
	.name = "sonde",
	.extension = ".prof",
	.summary = "sonde's own format, as recordings are kept in",
	.holds_all = true,
	.write = sonde_write,
};
