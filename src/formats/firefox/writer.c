/*
 * Writes profiles for profiler.firefox.com, in its processed format; docs/formats/firefox.md
 * defines the output exactly.
 *
 * Source: src/types/profile.ts and docs-developer/CHANGELOG-formats.md of
 * firefox-devtools/profiler.  The version is 66, which its front end upgrades; later ones need
 * binary containers or concern only the browser.
 *
 * First the stacks of samples are marked, then everything they refer to is numbered, then each
 * table is written column by column.  This keeps a few numbers per stack, frame and sample.
 */
#include "formats/firefox/writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

#define VERSION	      66 /* preprocessedProfileVersion */
#define GECKO_VERSION 24 /* of the browser's own format; samply writes it too */

/* A browser holds a profile in one string of at most 2^29 characters. */
#define TEXT_MAX    ((size_t)400 << 20)
#define ROW_TEXT    28	/* approximate characters per row */
#define MARKER_TEXT 150 /* per marker */
#define STACK_TEXT  60	/* per stack, with its share of frames and functions */
#define ROWS_MIN    ((size_t)200000)

/* ---- meta */

static void put_category(struct firefox_writer *w, const char *name, const char *color,
	const char *second, const char *third)
{
	struct json_writer *json = &w->json;

	json_put_object(json);
	json_put_key(json, "name"), json_put_string(json, str_from(name));
	json_put_key(json, "color"), json_put_string(json, str_from(color));
	json_put_key(json, "subcategories");
	json_put_array(json);
	json_put_string(json, STR("Other"));
	if (second) {
		json_put_string(json, str_from(second));
		json_put_string(json, str_from(third));
	}
	json_put_end(json);
	json_put_end(json);
}

/* In the order of enum firefox_category. */
static void write_categories(struct firefox_writer *w)
{
	json_put_key(&w->json, "categories");
	json_put_array(&w->json);
	put_category(w, "Other", "grey", NULL, NULL);
	put_category(w, "User", "yellow", NULL, NULL);
	put_category(w, "Kernel", "orange", NULL, NULL);
	put_category(w, "JIT", "green", NULL, NULL);
	put_category(w, "Unknown", "darkgrey", NULL, NULL);
	put_category(w, "Zone", "purple", NULL, NULL);
	put_category(w, "Off-CPU", "blue", "Blocked", "Preempted");
	json_put_end(&w->json);
}

static void put_entry(struct firefox_writer *w, const char *label, struct str value)
{
	struct json_writer *json = &w->json;

	json_put_object(json);
	json_put_key(json, "label"), json_put_string(json, str_from(label));
	json_put_key(json, "format"), json_put_string(json, STR("string"));
	json_put_key(json, "value"), json_put_string(json, value);
	json_put_end(json);
}

static void put_number_entry(struct firefox_writer *w, const char *label, uint64_t number)
{
	struct strbuf text = {0};

	strbuf_printf(&text, "%" PRIu64, number);
	put_entry(w, label, strbuf_str(&text));
	strbuf_deinit(&text);
}

static void put_notes(struct firefox_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->note_count; i++) {
		struct strbuf text = {0};

		profile_note_text(p, &p->notes[i], &text);
		put_entry(w, note_kind_names[p->notes[i].kind], strbuf_str(&text));
		strbuf_deinit(&text);
	}
}

/* Writes what was changed or omitted in this file. */
static void put_own_notes(struct firefox_writer *w)
{
	struct strbuf text = {0};

	if (w->slot_ns) {
		strbuf_printf(&text,
			"samples of one stack within %" PRIu64
			" ms are one, as a browser could not hold them all",
			w->slot_ns / 1000000);
		put_entry(w, "summed", strbuf_str(&text));
		strbuf_clear(&text);
	}
	if (w->shortest_ns) {
		strbuf_printf(&text,
			"times off the CPU below %" PRIu64
			" us have no markers, as a browser could not hold them all",
			w->shortest_ns / 1000);
		put_entry(w, "left out", strbuf_str(&text));
	}
	strbuf_deinit(&text);
	if (w->lacks_zones)
		put_entry(w, "left out", STR("zones, as a browser could not hold them all"));
	if (!w->has_times)
		put_entry(w, "times",
			STR("the profile has none: each sample is as long as its weight"));
	if (!w->profile->has_stacks)
		put_entry(w, "stacks", STR("the profile has none: functions stand alone"));
}

static void write_extra(struct firefox_writer *w)
{
	const struct profile *p = w->profile;

	json_put_line(&w->json);
	json_put_key(&w->json, "extra");
	json_put_array(&w->json);
	json_put_object(&w->json);
	json_put_key(&w->json, "label"), json_put_string(&w->json, STR("sonde"));
	json_put_key(&w->json, "entries");
	json_put_array(&w->json);
	put_entry(w, "weights are of the metric", profile_string(p, p->metrics[w->metric.i].name));
	if (profile_string(p, p->host).size)
		put_entry(w, "host", profile_string(p, p->host));
	for (const struct stat_field *f = stat_fields; f->name; f++) {
		uint64_t value;
		memcpy(&value, (const char *)&p->stats + f->offset, sizeof(value));
		if (value != UINT64_MAX)
			put_number_entry(w, f->name, value);
	}
	put_own_notes(w);
	put_notes(w);
	json_put_end(&w->json);
	json_put_end(&w->json);
	json_put_end(&w->json);
}

/* For sonde's reader: the format has no names for weights. */
static void write_own(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	const struct metric *m = &p->metrics[w->metric.i];

	json_put_line(&w->json);
	json_put_key(&w->json, "sonde");
	json_put_object(&w->json);
	json_put_key(&w->json, "metric"), json_put_string(&w->json, profile_string(p, m->name));
	json_put_key(&w->json, "unit"), json_put_string(&w->json, profile_string(p, m->unit));
	json_put_key(&w->json, "madeUpTimes"), json_put_bool(&w->json, !w->has_times);
	json_put_end(&w->json);
}

/* The program's name: the first word of the command. */
static struct str product_name(const struct profile *p)
{
	struct str command = profile_string(p, p->command);
	const char *space = command.size ? memchr(command.data, ' ', command.size) : NULL;

	if (space)
		command.size = (size_t)(space - command.data);
	command = str_base_name(command);
	return command.size ? command : str_base_name(profile_string(p, p->source));
}

static void write_units(struct firefox_writer *w)
{
	json_put_key(&w->json, "sampleUnits");
	json_put_object(&w->json);
	json_put_key(&w->json, "time"), json_put_string(&w->json, STR("ms"));
	json_put_key(&w->json, "eventDelay"), json_put_string(&w->json, STR("ms"));
	json_put_key(&w->json, "threadCPUDelta"), json_put_string(&w->json, STR("ns"));
	json_put_end(&w->json);
}

static void write_extensions(struct firefox_writer *w)
{
	json_put_key(&w->json, "extensions");
	json_put_object(&w->json);
	json_put_key(&w->json, "length"), json_put_int(&w->json, 0);
	firefox_column_of(w, "id", 0, 0);
	firefox_column_of(w, "name", 0, 0);
	firefox_column_of(w, "baseURL", 0, 0);
	json_put_end(&w->json);
}

static void write_flags(struct firefox_writer *w)
{
	static const struct {
		const char *name;
		bool value;
	} flags[] = {{"debug", false}, {"symbolicated", true}, {"usesOnlyOneStackType", true},
		{"sourceCodeIsNotOnSearchfox", true}};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		json_put_key(&w->json, flags[i].name), json_put_bool(&w->json, flags[i].value);
}

static void write_meta(struct firefox_writer *w)
{
	struct json_writer *json = &w->json;
	const struct profile *p = w->profile;
	uint64_t interval_ns = p->stats.interval_ns;

	json_put_key(json, "meta");
	json_put_object(json);
	json_put_key(json, "version"), json_put_int(json, GECKO_VERSION);
	json_put_key(json, "preprocessedProfileVersion"), json_put_int(json, VERSION);
	json_put_key(json, "product"), json_put_string(json, product_name(p));
	json_put_key(json, "arguments"), json_put_string(json, profile_string(p, p->command));
	json_put_key(json, "importedFrom"), json_put_string(json, STR("sonde"));
	json_put_key(json, "oscpu"), json_put_string(json, STR("Linux"));
	json_put_key(json, "startTime"), firefox_put_ms(w, p->start_unix_ns);
	json_put_key(json, "interval");
	firefox_put_ms(w, interval_ns == UINT64_MAX || interval_ns == 0 ? 1000000 : interval_ns);
	if (w->has_times && p->stats.duration_ns != UINT64_MAX) {
		json_put_key(json, "profilingStartTime"), json_put_int(json, 0);
		json_put_key(json, "profilingEndTime"), firefox_put_ms(w, p->stats.duration_ns);
	}
	json_put_key(json, "processType"), json_put_int(json, 0);
	json_put_key(json, "stackwalk"), json_put_int(json, 1);
	write_flags(w);
	if (w->has_cpu)
		write_units(w);
	write_extensions(w);
	json_put_line(json);
	write_categories(w);
	json_put_line(json);
	json_put_key(json, "markerSchema");
	firefox_markers_write_schema(w);
	write_own(w);
	write_extra(w);
	json_put_end(json);
}

/* ---- Threads */

/* Writes an id as text.  Ids must differ, so the second 12 is "12.1". */
static void put_id(struct firefox_writer *w, int64_t number, struct map *seen)
{
	struct strbuf text = {0};
	bool added;
	uint32_t *repeats = map_at(seen, (uint64_t)number, 0, 0, &added);

	strbuf_printf(&text, "%" PRId64, number);
	if (!added)
		strbuf_printf(&text, ".%" PRIu32, ++*repeats);
	json_put_string(&w->json, strbuf_str(&text));
	strbuf_deinit(&text);
}

static void put_pid(struct firefox_writer *w, uint32_t process)
{
	struct strbuf text = {0};

	strbuf_printf(&text, "%" PRId64, w->profile->processes[process].pid);
	if (w->pid_repeats[process])
		strbuf_printf(&text, ".%" PRIu32, w->pid_repeats[process]);
	json_put_string(&w->json, strbuf_str(&text));
	strbuf_deinit(&text);
}

/* [process]: how many earlier ones have the same pid. */
static void count_pids(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	struct map seen = {0};

	w->pid_repeats = xcalloc(p->process_count, sizeof(*w->pid_repeats));
	for (size_t i = 0; i < p->process_count; i++) {
		bool added;
		uint32_t *repeats = map_at(&seen, (uint64_t)p->processes[i].pid, 0, 0, &added);
		w->pid_repeats[i] = added ? 0 : ++*repeats;
	}
	map_deinit(&seen);
}

/* [process]: its main thread, which has the process's id, else its first; NO_ID: it has none. */
static void find_main_threads(struct firefox_writer *w)
{
	const struct profile *p = w->profile;

	w->main_thread = xcalloc(p->process_count, sizeof(*w->main_thread));
	for (size_t i = 0; i < p->process_count; i++)
		w->main_thread[i] = NO_ID;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct thread *t = &p->threads[i];
		uint32_t *main_thread = &w->main_thread[t->process.i];
		bool has_main = *main_thread != NO_ID &&
				p->threads[*main_thread].tid == p->processes[t->process.i].pid;

		if (*main_thread == NO_ID ||
			(!has_main && t->tid == p->processes[t->process.i].pid))
			*main_thread = i;
	}
}

static void begin_thread(struct firefox_writer *w, struct str name, bool is_main)
{
	struct json_writer *json = &w->json;

	json_put_line(json);
	json_put_object(json);
	json_put_key(json, "name"), json_put_string(json, name);
	json_put_key(json, "isMainThread"), json_put_bool(json, is_main);
	json_put_key(json, "processType"), json_put_string(json, STR("default"));
	json_put_key(json, "processShutdownTime"), json_put_null(json);
	json_put_key(json, "unregisterTime"), json_put_null(json);
	json_put_key(json, "pausedRanges"), json_put_array(json), json_put_end(json);
	json_put_key(json, "showMarkersInTimeline"), json_put_bool(json, true);
}

static void end_thread(struct firefox_writer *w, uint32_t thread, bool is_main)
{
	size_t count;
	struct firefox_row *rows = firefox_rows(w, thread, &count);

	json_put_key(&w->json, "samples");
	firefox_rows_write(w, rows, count);
	free(rows);
	json_put_key(&w->json, "markers");
	firefox_markers_write(w, thread, is_main);
	json_put_end(&w->json);
	(void)sink_settle(w->sink);
}

static void write_thread(struct firefox_writer *w, uint32_t thread, struct map *tids)
{
	const struct profile *p = w->profile;
	const struct thread *t = &p->threads[thread];
	const struct process *process = &p->processes[t->process.i];
	bool is_main = w->main_thread[t->process.i] == thread;

	begin_thread(w, profile_string(p, t->name), is_main);
	json_put_key(&w->json, "pid"), put_pid(w, t->process.i);
	json_put_key(&w->json, "tid"), put_id(w, t->tid, tids);
	json_put_key(&w->json, "processName");
	json_put_string(&w->json, profile_string(p, process->name));
	json_put_key(&w->json, "processStartupTime"), firefox_put_ms(w, process->start_ns);
	json_put_key(&w->json, "registerTime"), firefox_put_ms(w, t->start_ns);
	end_thread(w, thread, is_main);
}

/* Writes all samples as one thread, if threads are unknown. */
static void write_only_thread(struct firefox_writer *w)
{
	begin_thread(w, product_name(w->profile), true);
	json_put_key(&w->json, "pid"), json_put_string(&w->json, STR("0"));
	json_put_key(&w->json, "tid"), json_put_string(&w->json, STR("0"));
	json_put_key(&w->json, "processName");
	json_put_string(&w->json, product_name(w->profile));
	json_put_key(&w->json, "processStartupTime"), json_put_int(&w->json, 0);
	json_put_key(&w->json, "registerTime"), json_put_int(&w->json, 0);
	end_thread(w, 0, true);
}

static void write_threads(struct firefox_writer *w)
{
	struct map tids = {0};

	json_put_line(&w->json);
	json_put_key(&w->json, "threads");
	json_put_array(&w->json);
	if (w->profile->samples.thread == NULL)
		write_only_thread(w);
	for (uint32_t i = 0; w->profile->samples.thread && i < w->profile->thread_count; i++)
		write_thread(w, i, &tids);
	json_put_end(&w->json);
	map_deinit(&tids);
}

/* ---- The whole file */

static uint32_t find_metric(const struct profile *p, struct str name)
{
	metric_id id;

	return profile_find_metric(p, name, &id) ? id.i : NO_ID;
}

static void choose_weights(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	struct str unit = profile_string(p, p->metrics[w->metric.i].unit);

	w->is_ns = str_equal(unit, STR("ns"));
	w->weight_type = w->is_ns			 ? "tracing-ms"
			 : str_equal(unit, STR("bytes")) ? "bytes"
							 : "samples";
	w->samples = find_metric(p, STR("samples"));
	w->cpu = find_metric(p, STR("cpu-time"));
	w->off_cpu[FIREFOX_RUNNING] = NO_ID;
	w->off_cpu[FIREFOX_BLOCKED] = find_metric(p, STR("blocked-time"));
	w->off_cpu[FIREFOX_PREEMPTED] = find_metric(p, STR("preempted-time"));
	w->off_cpu[FIREFOX_WOKEN] = find_metric(p, STR("wakeup-delay"));
	w->has_times = p->samples.count && p->samples.time_ns;
	w->has_cpu = w->has_times && w->cpu != NO_ID;
}

/* Divides the part of a browser's string that tables leave between rows and markers. */
static void choose_limits(struct firefox_writer *w)
{
	size_t stacks = w->profile->stack_count * STACK_TEXT;
	size_t room = stacks < TEXT_MAX ? TEXT_MAX - stacks : 0;

	w->row_limit = room / 4 * 3 / ROW_TEXT;
	w->marker_limit = room / 4 / MARKER_TEXT;
	if (w->row_limit < ROWS_MIN)
		w->row_limit = ROWS_MIN;
	if (w->marker_limit < ROWS_MIN / 4)
		w->marker_limit = ROWS_MIN / 4;
}

void firefox_write_limited(struct firefox_writer *w)
{
	w->json = json_writer(&w->sink->text);
	for (unsigned int state = 0; state < FIREFOX_STATE_COUNT; state++)
		w->state_name[state] = NO_ID;
	choose_weights(w);
	count_pids(w);
	find_main_threads(w);
	firefox_rows_plan(w);
	firefox_markers_plan(w);
	firefox_tables_number(w);
	json_put_object(&w->json);
	write_meta(w);
	json_put_line(&w->json);
	firefox_tables_write_libs(w);
	write_threads(w);
	json_put_line(&w->json);
	json_put_key(&w->json, "shared");
	json_put_object(&w->json);
	firefox_tables_write_shared(w);
	json_put_end(&w->json);
	json_put_end(&w->json);
	strbuf_add_char(&w->sink->text, '\n');
	firefox_tables_deinit(w);
	firefox_rows_deinit(w);
	firefox_markers_deinit(w);
	free(w->pid_repeats);
	free(w->main_thread);
}

static struct error *firefox_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct firefox_writer w = {.profile = profile, .sink = sink, .metric = options->metric};

	choose_limits(&w);
	firefox_write_limited(&w);
	return NULL;
}

const struct writer writer_firefox = {
	.name = "firefox",
	.extension = ".firefox.json",
	.summary = "profiles for profiler.firefox.com: stacks, threads and off-CPU time over time",
	.write = firefox_write,
};
