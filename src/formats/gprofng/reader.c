/*
 * Reads an experiment of gprofng (`gprofng collect app`), a folder NAME.er: turns its packets into
 * samples with threads and times. docs/formats/gprofng.md defines the mapping.
 *
 * Experiments of processes that the program started are in the folder, named _f1.er, _x1.er …; each
 * of these is also read, as a process.
 *
 * There is no written specification; this follows gprofng/src/Experiment.cc, ExpXML and
 * data_pckts.h of binutils 2.40 and later: format 12.4, which Oracle Developer Studio 12.5 also
 * writes.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/folder.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "model/builder.h"
#include "formats/gprofng/experiment.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"
#include "formats/gprofng/names.h"
#include "formats/gprofng/stacks.h"

/* ---- packets as samples ---- */

/*
 * The names of metrics are those of gprofng's metrics command; the numbers are from
 * gprofng/src/data_pckts.h and common/cc_libcollector.h.
 */

/* Metrics, with gprofng's names; those without packets are not in the profile. */
enum gprofng_metric {
	GP_SAMPLES,
	GP_STATE, /* the time in each of 16 thread states */
	GP_STATE_END = GP_STATE + 16,
	GP_SYNC_TIME = GP_STATE_END,
	GP_SYNC_COUNT,
	GP_BYTES_ALLOCATED,
	GP_ALLOCATIONS,
	GP_BYTES_LEAKED,
	GP_LEAKS,
	GP_COUNTER, /* 16 hardware counters */
	GP_COUNTER_END = GP_COUNTER + 16,
	GP_METRICS = GP_COUNTER_END
};

struct gprofng_metrics {
	bool is_used[GP_METRICS];
	metric_id id[GP_METRICS];
	size_t count;
};

/* The contents of a packet. */
struct gprofng_event {
	uint64_t thread, time_ns, frinfo;
	enum gprofng_metric metric[2]; /* GP_METRICS: none */
	int64_t weight[2];
	bool is_sample; /* from a clock or counter; otherwise it records an event */
};

static const char *const state_names[GP_STATE_END - GP_STATE] = {"User CPU Time", "System CPU Time",
	"Trap CPU Time", "Text Page Fault Time", "Data Page Fault Time", "Kernel Page Fault Time",
	"User Lock Time", "Sleep Time", "Wait CPU Time", "Stopped Time", "Total CPU Time",
	"Kernel CPU Time"};

static bool is_count(size_t metric)
{
	return metric == GP_SAMPLES || metric == GP_SYNC_COUNT || metric == GP_ALLOCATIONS ||
	       metric == GP_LEAKS || metric >= GP_COUNTER;
}

static struct str metric_name(size_t metric, struct strbuf *buffer)
{
	static const char *const names[] = {"Sync Wait Time", "Sync Wait Count", "Bytes Allocated",
		"Allocations", "Bytes Leaked", "Leaks"};

	strbuf_clear(buffer);
	if (metric == GP_SAMPLES)
		return STR("samples");
	if (metric >= GP_COUNTER)
		strbuf_printf(buffer, "Hardware Counter %zu", metric - GP_COUNTER);
	else if (metric >= GP_SYNC_TIME)
		return str_from(names[metric - GP_SYNC_TIME]);
	else if (state_names[metric - GP_STATE])
		return str_from(state_names[metric - GP_STATE]);
	else
		strbuf_printf(buffer, "Time in State %zu", metric - GP_STATE);
	return strbuf_str(buffer);
}

/* Adds the metrics in use to the builder, and sets the default one. */
static void gprofng_metrics_add(struct gprofng_metrics *metrics, struct builder *builder)
{
	struct strbuf buffer = {0};
	bool has_default = false;

	metrics->is_used[GP_SAMPLES] = true;
	for (size_t i = 0; i < GP_METRICS; i++) {
		bool is_bytes = i == GP_BYTES_ALLOCATED || i == GP_BYTES_LEAKED;
		if (!metrics->is_used[i])
			continue;
		metrics->id[i] = builder_metric(builder, metric_name(i, &buffer),
			is_count(i) ? STR("count") : (is_bytes ? STR("bytes") : STR("ns")));
		metrics->count++;
		if (i != GP_SAMPLES && !has_default) {
			builder_header(builder)->default_metric = metrics->id[i];
			has_default = true;
		}
	}
	strbuf_deinit(&buffer);
}

static int64_t bounded(uint64_t number)
{
	return number <= INT64_MAX ? (int64_t)number : INT64_MAX;
}

static bool clock_event(const struct gprofng_kind *kind, const struct gprofng_packet *p,
	uint64_t interval_ns, struct gprofng_event *e)
{
	uint64_t state = gprofng_field(kind, p->data, p->size, FIELD_MSTATE);
	uint64_t ticks = gprofng_field(kind, p->data, p->size, FIELD_NTICK), time_ns;

	if (state >= GP_STATE_END - GP_STATE)
		return false;
	if (__builtin_mul_overflow(ticks, interval_ns, &time_ns))
		time_ns = UINT64_MAX;
	e->metric[0] = (enum gprofng_metric)(GP_STATE + state);
	e->weight[0] = bounded(time_ns);
	e->is_sample = true;
	return true;
}

static bool sync_event(
	const struct gprofng_kind *kind, const struct gprofng_packet *p, struct gprofng_event *e)
{
	uint64_t from_ns = gprofng_field(kind, p->data, p->size, FIELD_SRQST);

	e->metric[0] = GP_SYNC_TIME;
	e->weight[0] = e->time_ns > from_ns ? bounded(e->time_ns - from_ns) : 0;
	e->metric[1] = GP_SYNC_COUNT;
	e->weight[1] = 1;
	return true;
}

enum heap_type { HEAP_MALLOC, HEAP_FREE, HEAP_REALLOC, HEAP_MMAP, HEAP_MUNMAP };

static bool is_allocation(uint64_t type)
{
	return type == HEAP_MALLOC || type == HEAP_REALLOC || type == HEAP_MMAP;
}

static bool heap_event(
	const struct gprofng_kind *kind, const struct gprofng_packet *p, struct gprofng_event *e)
{
	if (!is_allocation(gprofng_field(kind, p->data, p->size, FIELD_HTYPE)))
		return false;
	e->metric[0] = GP_BYTES_ALLOCATED;
	e->weight[0] = bounded(gprofng_field(kind, p->data, p->size, FIELD_HSIZE));
	e->metric[1] = GP_ALLOCATIONS;
	e->weight[1] = 1;
	return true;
}

static bool counter_event(
	const struct gprofng_kind *kind, const struct gprofng_packet *p, struct gprofng_event *e)
{
	uint64_t tag = gprofng_field(kind, p->data, p->size, FIELD_HWCTAG);

	if (tag >= GP_COUNTER_END - GP_COUNTER)
		return false;
	e->metric[0] = (enum gprofng_metric)(GP_COUNTER + tag);
	e->weight[0] = bounded(gprofng_field(kind, p->data, p->size, FIELD_HWCINT));
	e->is_sample = true;
	return true;
}

/*
 * False: the packet has no figures.  Freeing has none either: leaks are counted at the allocation.
 */
static bool gprofng_event_of(const struct gprofng_kind *kind, const struct gprofng_packet *p,
	uint64_t interval_ns, struct gprofng_event *e)
{
	*e = (struct gprofng_event){.metric = {GP_METRICS, GP_METRICS}};
	e->time_ns = gprofng_field(kind, p->data, p->size, FIELD_TSTAMP);
	e->frinfo = gprofng_field(kind, p->data, p->size, FIELD_FRINFO);
	e->thread = gprofng_field(
		kind, p->data, p->size, kind->fields[FIELD_LWPID].size ? FIELD_LWPID : FIELD_THRID);
	switch (kind->number) {
	case KIND_CLOCK:
		return clock_event(kind, p, interval_ns, e);
	case KIND_SYNC:
		return sync_event(kind, p, e);
	case KIND_HEAP:
		return heap_event(kind, p, e);
	case KIND_HWC:
	case KIND_MHWC:
		return counter_event(kind, p, e);
	default:
		return false;
	}
}

/* ---- leaks ---- */

struct heap_packet {
	uint64_t time_ns, number;
	const uint8_t *data;
	size_t size;
};

static int heap_compare(const void *a, const void *b)
{
	const struct heap_packet *x = a, *y = b;

	return COMPARE(x->time_ns, y->time_ns) ?: COMPARE(x->number, y->number);
}

/* The memory at that address is no longer in use. */
static void release(struct map *owners, uint64_t addr, uint8_t *leaked)
{
	uint32_t owner;

	if (!map_get(owners, addr, 0, &owner))
		return;
	leaked[owner] = 0;
	map_remove(owners, addr, 0);
}

static void play_heap(const struct gprofng_kind *kind, const struct heap_packet *p,
	struct map *owners, uint8_t *leaked)
{
	uint64_t type = gprofng_field(kind, p->data, p->size, FIELD_HTYPE);
	uint64_t addr = gprofng_field(kind, p->data, p->size, FIELD_HVADDR);
	uint64_t old = gprofng_field(kind, p->data, p->size, FIELD_HOVADDR);

	if (type == HEAP_REALLOC)
		release(owners, old, leaked);
	if (type == HEAP_FREE || type == HEAP_MUNMAP)
		release(owners, addr, leaked);
	if (is_allocation(type) && addr) {
		leaked[p->number] = 1;
		map_put(owners, addr, 0, (uint32_t)p->number);
	}
}

/*
 * [packet of the file]: whether it is an allocation that was never freed; the caller frees the
 * array.
 */
static uint8_t *gprofng_leaks(
	const struct gprofng_kind *kind, const struct file_bytes *bytes, size_t *count)
{
	VEC(struct heap_packet) all = {0};
	struct gprofng_packets packets;
	struct gprofng_packet p;
	struct map owners = {0};

	gprofng_packets_init(&packets, bytes);
	while (gprofng_packets_next(&packets, &p)) {
		struct heap_packet packet = {.number = all.count, .data = p.data, .size = p.size};
		if (p.kind != kind->number)
			continue;
		packet.time_ns = gprofng_field(kind, p.data, p.size, FIELD_TSTAMP);
		vec_push(&all, packet);
	}
	/* Each thread has its own blocks. */
	if (all.count)
		qsort(all.data, all.count, sizeof(*all.data), heap_compare);
	uint8_t *leaked = xcalloc(all.count + 1, 1);
	for (size_t i = 0; i < all.count; i++)
		play_heap(kind, &all.data[i], &owners, leaked);
	*count = all.count;
	map_deinit(&owners);
	vec_deinit(&all);
	return leaked;
}

/* ---- experiments ---- */

#define LOG_NAME   "log.xml"
#define MAP_NAME   "map.xml"
#define STACK_NAME "data.frameinfo"
/* Memory for a distinct address, in addition to a sample for each packet of 40 bytes. */
#define BYTES_AN_ADDRESS 256
#define ADDRESSES_ANY	 100000u

/* One process. */
struct experiment {
	struct folder *folder;
	struct gprofng_log log;
};

struct gprofng {
	const struct reader_input *input;
	struct builder *builder;
	struct arena *arena;
	struct symbolizer *symbolizer;
	struct folder *archive;
	VEC(struct experiment)
	experiments; /* the founder, the process that gprofng started,
					       first */
	struct gprofng_metrics metrics;
	uint64_t packets, stackless, truncated, bad, missing, incomplete;
};

/* ---- experiments ---- */

/* Reads a file; empty if it is missing. */
static struct file_bytes read_optional(
	struct gprofng *g, const struct folder *folder, const char *name)
{
	struct file_bytes bytes = {0};

	if (!folder_has(folder, name))
		return bytes;
	struct error *err = folder_read(folder, name, 0, &bytes);
	if (err) {
		builder_note(g->builder, NOTE_BAD_RECORD, 1, "%s", err->message);
		error_destroy(err);
		bytes = (struct file_bytes){0};
	}
	return bytes;
}

static struct str text_of(const struct file_bytes *bytes)
{
	return (struct str){(const char *)bytes->data, bytes->size};
}

/* Takes ownership of the folder. */
static struct error *add_experiment(struct gprofng *g, struct folder *folder)
{
	struct experiment e = {.folder = folder};
	struct file_bytes bytes;

	struct error *err = folder_read(folder, LOG_NAME, 0, &bytes);
	if (err) {
		folder_close(folder);
		return err;
	}
	gprofng_log_read(&e.log, text_of(&bytes), g->arena);
	file_bytes_deinit(&bytes);
	vec_push(&g->experiments, e);
	return NULL;
}

/*
 * Adds the experiments of processes that it started; an unreadable one does not affect the others.
 */
static void add_descendants(struct gprofng *g)
{
	const struct folder *founder = g->experiments.data[0].folder;

	for (size_t i = 0; i < folder_count(founder); i++) {
		struct str name = str_from(folder_name(founder, i));
		struct folder *folder;
		if (!str_starts_with(name, STR("_")) || !str_ends_with(name, STR(".er")))
			continue;
		struct error *err = folder_open_in(founder, name.data, &folder);
		if (err == NULL)
			err = add_experiment(g, folder);
		g->incomplete += err != NULL;
		error_destroy(err);
	}
}

static struct error *check_version(const struct gprofng *g)
{
	struct str version = g->experiments.data[0].log.version;

	if (version.size == 0)
		return error_new(ERROR_INPUT, "%s: its log.xml is not that of an experiment",
			folder_path(g->experiments.data[0].folder));
	if (!str_equal(version, STR("12.4")))
		return error_new(ERROR_UNSUPPORTED,
			"%s: an experiment of version %.*s, and only 12.4 is known",
			folder_path(g->experiments.data[0].folder), STR_ARG(version));
	return NULL;
}

/* ---- kinds of packets ---- */

static void look_at_kind(
	struct gprofng *g, const struct experiment *e, const struct gprofng_kind *kind)
{
	struct file_bytes bytes = read_optional(g, e->folder, kind->file.data);
	struct gprofng_packets packets;
	struct gprofng_packet p;
	struct gprofng_event event;

	gprofng_packets_init(&packets, &bytes);
	while (gprofng_packets_next(&packets, &p)) {
		if (p.kind != kind->number ||
			!gprofng_event_of(kind, &p, e->log.interval_ns, &event))
			continue;
		g->packets++;
		for (int i = 0; i < 2; i++)
			if (event.metric[i] < GP_METRICS)
				g->metrics.is_used[event.metric[i]] = true;
		if (kind->number == KIND_HEAP)
			g->metrics.is_used[GP_BYTES_LEAKED] = g->metrics.is_used[GP_LEAKS] = true;
	}
	file_bytes_deinit(&bytes);
}

static void look_at_packets(struct gprofng *g)
{
	for (size_t i = 0; i < g->experiments.count; i++) {
		const struct experiment *e = &g->experiments.data[i];
		for (size_t k = 0; k < e->log.kinds.count; k++)
			if (e->log.kinds.data[k].file.size)
				look_at_kind(g, e, &e->log.kinds.data[k]);
	}
}

/* ---- samples ---- */

/* An experiment whose packets become samples. */
struct played {
	struct gprofng *gprofng;
	const struct experiment *experiment;
	struct gprofng_stacks stacks;
	process_id process;
	struct str name; /* of the process */
	struct map thread_of;
	stack_id unknown; /* for packets with an unknown stack; 0: not made yet */
};

static uint64_t since_start(const struct gprofng *g, uint64_t time_ns)
{
	uint64_t start_ns = g->experiments.data[0].log.start_ns;

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

static thread_id thread_at(struct played *p, const struct gprofng_event *event)
{
	thread_id thread;

	if (!map_get(&p->thread_of, event->thread, 0, &thread.i)) {
		thread = builder_thread(p->gprofng->builder, (int64_t)event->thread, p->process,
			since_start(p->gprofng, event->time_ns), p->name);
		map_put(&p->thread_of, event->thread, 0, thread.i);
	}
	return thread;
}

static stack_id stack_at(struct played *p, const struct gprofng_event *event)
{
	struct builder *b = p->gprofng->builder;
	stack_id stack;

	if (gprofng_stacks_find(&p->stacks, event->frinfo, &stack) && stack.i)
		return stack;
	p->gprofng->stackless++;
	if (p->unknown.i == 0) {
		p->unknown = builder_stack(b, (stack_id){0}, frame_unknown(b));
	}
	return p->unknown;
}

static void add_sample(struct played *p, const struct gprofng_event *event, bool is_leak)
{
	const struct gprofng_metrics *m = &p->gprofng->metrics;
	int64_t weight[GP_METRICS] = {0};

	weight[m->id[GP_SAMPLES].i] = event->is_sample;
	for (int i = 0; i < 2; i++)
		if (event->metric[i] < GP_METRICS)
			weight[m->id[event->metric[i]].i] = event->weight[i];
	if (is_leak) {
		weight[m->id[GP_BYTES_LEAKED].i] = event->weight[0];
		weight[m->id[GP_LEAKS].i] = 1;
	}
	builder_sample(p->gprofng->builder, stack_at(p, event), thread_at(p, event),
		builder_time(since_start(p->gprofng, event->time_ns)), weight);
}

static void play_kind(struct played *p, const struct gprofng_kind *kind)
{
	struct gprofng *g = p->gprofng;
	struct file_bytes bytes = read_optional(g, p->experiment->folder, kind->file.data);
	struct gprofng_packets packets;
	struct gprofng_packet packet;
	struct gprofng_event event;
	uint8_t *leaks = NULL;
	size_t leak_count = 0, number = 0;

	if (kind->number == KIND_HEAP)
		leaks = gprofng_leaks(kind, &bytes, &leak_count);
	gprofng_packets_init(&packets, &bytes);
	while (gprofng_packets_next(&packets, &packet)) {
		if (packet.kind != kind->number)
			continue;
		bool is_leak = number < leak_count && leaks[number];
		number++;
		if (gprofng_event_of(kind, &packet, p->experiment->log.interval_ns, &event))
			add_sample(p, &event, is_leak);
	}
	g->bad += packets.bad;
	free(leaks);
	file_bytes_deinit(&bytes);
}

static void read_stacks(struct played *p)
{
	struct gprofng *g = p->gprofng;
	const struct experiment *e = p->experiment;
	struct file_bytes map_bytes = read_optional(g, e->folder, MAP_NAME);
	struct file_bytes bytes = read_optional(g, e->folder, STACK_NAME);
	struct arena *arena = arena_create();
	struct gprofng_map map;

	gprofng_map_read(&map, text_of(&map_bytes), arena);
	struct gprofng_names *names = gprofng_names_create(g->builder, &map, g->archive,
		g->symbolizer, ADDRESSES_ANY + bytes.size / BYTES_AN_ADDRESS);
	builder_answer_for(g->builder, map_bytes.size);
	builder_answer_for(g->builder, bytes.size);
	gprofng_stacks_read(&p->stacks, &bytes, e->log.word_size == 32 ? 4 : 8, names);
	file_bytes_deinit(&bytes);
	gprofng_names_resolve(names);
	gprofng_stacks_build(&p->stacks, names, g->builder);
	g->missing += gprofng_names_missing(names);
	g->truncated += p->stacks.truncated;
	g->bad += p->stacks.bad;
	gprofng_names_destroy(names);
	gprofng_map_deinit(&map);
	arena_destroy(arena);
	file_bytes_deinit(&map_bytes);
}

/* The program of a process; a forked process has no command, and runs the founder's program. */
static struct str program_of(const struct gprofng *g, const struct experiment *e)
{
	struct str command = e->log.command;

	if (str_starts_with(command, STR("(")))
		command = g->experiments.data[0].log.command;
	return str_base_name(text_take_word(&command));
}

static void play_experiment(struct gprofng *g, const struct experiment *e)
{
	struct played p = {.gprofng = g, .experiment = e};

	p.name = program_of(g, e);
	p.process = builder_process(
		g->builder, (int64_t)e->log.pid, since_start(g, e->log.start_ns), p.name);
	read_stacks(&p);
	for (size_t k = 0; k < e->log.kinds.count; k++)
		if (e->log.kinds.data[k].file.size)
			play_kind(&p, &e->log.kinds.data[k]);
	gprofng_stacks_deinit(&p.stacks);
	map_deinit(&p.thread_of);
}

/* ---- the profile ---- */

static void add_header(struct gprofng *g)
{
	struct builder_header *header = builder_header(g->builder);
	const struct gprofng_log *log = &g->experiments.data[0].log;

	gprofng_metrics_add(&g->metrics, g->builder);
	header->command = builder_string(g->builder, log->command);
	header->host = builder_string(g->builder, log->host);
	header->start_unix_ns = log->start_unix_ns;
	if (log->duration_ns)
		header->stats.duration_ns = log->duration_ns;
	if (log->interval_ns)
		header->stats.interval_ns = header->stats.interval_asked_ns = log->interval_ns;
}

static void add_notes(struct gprofng *g)
{
	struct builder *b = g->builder;

	counted_note(b, NOTE_TRUNCATED, g->truncated, "a stack was not walked to its root",
		"stacks were not walked to their root");
	counted_note(b, NOTE_TRUNCATED, g->stackless, "a packet has no stack, or an undefined one",
		"packets have no stack, or an undefined one");
	counted_note(b, NOTE_NO_SYMBOLS, g->missing,
		"an object has no copy in the experiment's archive; gp-archive makes one",
		"objects have no copy in the experiment's archive; gp-archive makes them");
	counted_note(b, NOTE_BAD_RECORD, g->bad, "a place in the data holds no packet",
		"places in the data hold no packet");
	counted_note(b, NOTE_INCOMPLETE, g->incomplete,
		"the experiment of a process that it started could not be read",
		"experiments of processes that it started could not be read");
}

static void open_archive(struct gprofng *g)
{
	error_destroy(folder_open_in(g->experiments.data[0].folder, "archives", &g->archive));
}

static struct error *build(struct gprofng *g)
{
	struct symbolize_options options = {0};

	add_descendants(g);
	look_at_packets(g);
	if (g->packets == 0)
		return error_new(ERROR_INPUT, "%s: it contains no packets with figures",
			folder_path(g->experiments.data[0].folder));
	add_header(g);
	open_archive(g);
	g->symbolizer = symbolizer_create(&options);
	builder_expect_samples(g->builder, g->packets);
	for (size_t i = 0; i < g->experiments.count; i++)
		play_experiment(g, &g->experiments.data[i]);
	add_notes(g);
	return NULL;
}

static struct error *gprofng_read(const struct reader_input *input, struct builder *builder)
{
	struct gprofng g = {.input = input, .builder = builder, .arena = arena_create()};
	struct folder *folder;

	struct error *err = folder_open(input->path, &folder);
	if (err == NULL)
		err = add_experiment(&g, folder);
	if (err == NULL)
		err = check_version(&g);
	if (err == NULL)
		err = build(&g);
	for (size_t i = 0; i < g.experiments.count; i++) {
		folder_close(g.experiments.data[i].folder);
		gprofng_log_deinit(&g.experiments.data[i].log);
	}
	vec_deinit(&g.experiments);
	folder_close(g.archive);
	symbolizer_destroy(g.symbolizer);
	arena_destroy(g.arena);
	return err;
}

static int log_bid(const uint8_t *data, size_t size)
{
	static const char element[] = "<experiment ";

	return memmem(data, size < 256 ? size : 256, element, strlen(element)) ? 90 : 0;
}

/* Bids by the beginning of log.xml. */
static int gprofng_bid_folder(const char *path)
{
	return folder_bid(path, LOG_NAME, log_bid);
}

const struct reader reader_gprofng = {
	.name = "gprofng",
	.summary = "an experiment of gprofng collect app (a folder, NAME.er)",
	.bid_folder = gprofng_bid_folder,
	.read = gprofng_read,
};
