/*
 * Profiles of the Firefox Profiler (profiler.firefox.com): the "gecko" format captured by Firefox,
 * and the "processed" format, which the profiler saves and samply and others write.
 * docs/formats/firefox.md defines what is read.
 *
 * Source: docs-developer/CHANGELOG-formats.md, gecko-profile-format.md and src/types/profile.ts of
 * firefox-devtools/profiler; for versions before the documented ones, its
 * src/profile-logic/processed-profile-versioning.ts and gecko-profile-versioning.ts.
 *
 * The layout does not depend on the version: a table is read by the names of its columns.  The text
 * is read twice: first for the positions of its parts and the metrics, then part by part, in
 * dependency order.
 */
#include "formats/firefox/reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/saturate.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"
#include "formats/readers.h"

/* ---- samples of a thread ---- */

/*
 * The samples of a thread.
 *
 * Each column has its own reader, and all are read in parallel, so columns are not stored; tables
 * of rows are read row by row.
 */

enum { STACK, TIME, TIME_DELTA, WEIGHT, CPU, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = {[STACK] = "stack",
	[TIME] = "time",
	[TIME_DELTA] = "timeDeltas",
	[WEIGHT] = "weight",
	[CPU] = "threadCPUDelta"};

/* One sample, as in the file. */
struct row {
	bool has[FIELD_COUNT];
	int64_t value[FIELD_COUNT];
};

struct sample_reader {
	struct firefox *f;
	thread_id thread;
	int64_t delta_ns; /* converts this process's times to those of the whole profile */
	uint32_t metric;  /* of the weights; NO_ID: they are numbers of samples */
	unsigned int digits[FIELD_COUNT];
	uint64_t time_ns; /* of the previous sample */
	bool has_before;  /* there was a previous sample, so CPU time can be computed */
};

/* The time since the profile's start; earlier times count as 0. */
static uint64_t row_time(struct sample_reader *s, const struct row *row)
{
	int64_t time_ns = (int64_t)s->time_ns;

	if (row->has[TIME])
		time_ns = sum_saturating(row->value[TIME], s->delta_ns);
	else if (row->has[TIME_DELTA])
		time_ns = sum_saturating(time_ns,
			s->has_before ? row->value[TIME_DELTA]
				      : sum_saturating(row->value[TIME_DELTA], s->delta_ns));
	if (time_ns < 0) {
		s->f->early++;
		time_ns = 0;
	}
	return (uint64_t)time_ns;
}

static void add_row(struct sample_reader *s, const struct row *row)
{
	struct firefox *f = s->f;
	int64_t weight[4] = {0};
	int64_t given = row->has[WEIGHT] ? row->value[WEIGHT] : 1;
	bool has_stack = row->has[STACK] && row->value[STACK] >= 0;

	s->time_ns = row_time(s, row);
	weight[f->samples] = s->metric == NO_ID ? given : f->own == NO_ID || given != 0;
	if (s->metric != NO_ID)
		weight[s->metric] = row->has[WEIGHT] ? given : 0;
	if (f->cpu != NO_ID && s->has_before && row->has[CPU] && row->value[CPU] > 0)
		weight[f->cpu] = row->value[CPU];
	s->has_before = true;
	if (!has_stack && row->has[WEIGHT] && given == 0)
		return;
	uint32_t number = !has_stack		      ? NO_ID
			  : row->value[STACK] < NO_ID ? (uint32_t)row->value[STACK]
						      : NO_ID - 1;
	stack_id stack = firefox_stack(f, number, true);
	if (!f->is_totals)
		builder_sample(f->builder, stack, s->thread, s->time_ns, weight);
	else
		builder_weight(f->builder, stack, weight,
			weight[f->samples] < 0 ? UINT64_MAX : (uint64_t)weight[f->samples]);
}

static void read_value(
	struct sample_reader *s, struct json_reader *r, size_t field, struct row *row)
{
	row->has[field] = json_peek(r) == JSON_NUMBER &&
			  json_decimal(r, s->digits[field], &row->value[field]);
}

static void read_rows(struct sample_reader *s, size_t place, const uint8_t *position)
{
	struct json_reader *r = &s->f->json;

	json_seek(r, place);
	if (!json_array(r))
		return;
	while (json_element(r)) {
		struct row row = {0};
		unsigned int at = 0;
		if (!json_array(r))
			continue;
		for (; json_element(r); at++)
			for (size_t field = 0; field < FIELD_COUNT; field++)
				if (position[field] == at && at < FIREFOX_SCHEMA_MAX)
					read_value(s, r, field, &row);
		if (json_ok(r))
			add_row(s, &row);
	}
}

/* The number of rows read at once from each column. */
#define BLOCK 256

/* A reader per column, to read all of them in parallel. */
struct columns {
	struct json_reader reader[FIELD_COUNT];
	bool has[FIELD_COUNT];
	int64_t value[FIELD_COUNT][BLOCK];
};

static void columns_init(struct columns *c, const struct reader_input *input, const size_t *places)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		struct json_reader *r = &c->reader[i];
		json_reader_init(r, input->data, input->size, input->name);
		json_seek(r, places[i]);
		c->has[i] = places[i] && json_peek(r) == JSON_ARRAY && json_array(r);
	}
}

/* Reads the next rows.  A column that ends early has no values from there on. */
static size_t columns_next(struct columns *c, const unsigned int *digits)
{
	size_t rows = 0;

	if (c->has[STACK])
		rows = json_numbers(&c->reader[STACK], digits[STACK], c->value[STACK], BLOCK);
	for (size_t i = STACK + 1; i < FIELD_COUNT; i++) {
		size_t count = 0;
		if (c->has[i])
			count = json_numbers(&c->reader[i], digits[i], c->value[i], rows);
		c->has[i] = count == rows;
		while (count < rows)
			c->value[i][count++] = JSON_NO_NUMBER;
	}
	return rows;
}

/* Copies the first fault of any column to the main reader. */
static void columns_deinit(struct columns *c, struct json_reader *whole)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (json_ok(whole) && !json_ok(&c->reader[i])) {
			whole->bad = c->reader[i].bad;
			whole->problem = c->reader[i].problem;
		}
		json_reader_deinit(&c->reader[i]);
	}
}

static void read_columns(struct sample_reader *s, const size_t *places)
{
	struct columns c;
	size_t rows;

	columns_init(&c, s->f->input, places);
	do {
		rows = columns_next(&c, s->digits);
		firefox_stacks_expect(s->f, c.value[STACK], rows);
		for (size_t i = 0; i < rows; i++) {
			struct row row;
			for (size_t k = 0; k < FIELD_COUNT; k++) {
				row.value[k] = c.value[k][i];
				row.has[k] = row.value[k] != JSON_NO_NUMBER;
			}
			add_row(s, &row);
		}
	} while (rows == BLOCK);
	columns_deinit(&c, &s->f->json);
}

static void read_weight_type(struct sample_reader *s)
{
	struct firefox *f = s->f;
	struct str type;

	if (!json_string(&f->json, &type))
		return;
	if (str_equal(type, STR("tracing-ms"))) {
		s->metric = f->own == NO_ID ? f->tracing : f->own;
		s->digits[WEIGHT] = 6;
	} else if (str_equal(type, STR("bytes"))) {
		s->metric = f->own == NO_ID ? f->bytes : f->own;
	}
}

/* Reads the samples of a thread, at `place`. */
static void firefox_samples(struct firefox *f, size_t place, thread_id thread, int64_t delta_ns)
{
	struct sample_reader s = {.f = f,
		.thread = thread,
		.delta_ns = delta_ns,
		.metric = f->own,
		.digits = {[TIME] = 6, [TIME_DELTA] = 6, [CPU] = f->cpu_digits}};
	uint8_t position[FIELD_COUNT];
	size_t places[FIELD_COUNT] = {0}, data = 0;
	bool has_schema = false;
	struct str key;

	json_seek(&f->json, place);
	if (!json_object(&f->json))
		return;
	while (json_key(&f->json, &key)) {
		if (str_equal(key, STR("schema"))) {
			firefox_schema_read(&f->json, field_names, FIELD_COUNT, position);
			has_schema = true;
		} else if (str_equal(key, STR("data"))) {
			data = json_offset(&f->json);
		} else if (str_equal(key, STR("weightType"))) {
			read_weight_type(&s);
		}
		for (size_t i = 0; i < FIELD_COUNT; i++)
			if (str_equal(key, str_from(field_names[i])))
				places[i] = json_offset(&f->json);
	}
	(void)firefox_is_whole(f);
	if (has_schema && data)
		read_rows(&s, data, position);
	else
		read_columns(&s, places);
	(void)firefox_is_whole(f);
}

#define MIB ((size_t)1 << 20)
/* A limit on threads without samples, which take more memory than their text. */
#define IDLE_THREADS_MAX 65536

/* ---- Data about the whole profile */

static enum object_kind kind_of_category(struct str name)
{
	if (str_equal(name, STR("Kernel")))
		return OBJECT_KERNEL;
	if (str_equal(name, STR("JIT")))
		return OBJECT_JIT;
	if (str_equal(name, STR("Zone")))
		return OBJECT_ZONE;
	if (str_equal(name, STR("Unknown")))
		return OBJECT_UNKNOWN;
	return OBJECT_KIND_COUNT;
}

static void read_categories(struct firefox *f)
{
	struct str key, name;
	size_t i = 0;

	if (!json_array(&f->json))
		return;
	for (; json_element(&f->json); i++) {
		if (i == STRINGS_OF_CATEGORIES_MAX || json_peek(&f->json) != JSON_OBJECT ||
			!json_object(&f->json))
			continue;
		while (json_key(&f->json, &key))
			if (str_equal(key, STR("name")) && json_string(&f->json, &name))
				f->category_kind[i] = (uint8_t)kind_of_category(name);
	}
}

static void read_units(struct firefox *f)
{
	struct str key, unit;

	if (!json_object(&f->json))
		return;
	while (json_key(&f->json, &key)) {
		if (!str_equal(key, STR("threadCPUDelta")) || !json_string(&f->json, &unit))
			continue;
		bool is_us = str_equal(unit, STR("µs")) || str_equal(unit, STR("us"));
		f->is_cpu_time = is_us || str_equal(unit, STR("ns"));
		f->cpu_digits = is_us ? 3 : 0;
	}
}

static void take_text(struct firefox *f, struct strbuf *to)
{
	struct str text;

	if (!json_string(&f->json, &text))
		return;
	strbuf_clear(to);
	strbuf_add(to, text);
}

/* Reads what sonde's writer adds: the metric of the weights, and whether times are real. */
static void read_own(struct firefox *f)
{
	struct str key;

	if (!json_object(&f->json))
		return;
	while (json_key(&f->json, &key)) {
		if (str_equal(key, STR("metric")))
			take_text(f, &f->metric_name);
		else if (str_equal(key, STR("unit")))
			take_text(f, &f->metric_unit);
		else if (str_equal(key, STR("madeUpTimes")))
			(void)json_bool(&f->json, &f->has_no_times);
	}
}

static void read_meta_member(struct firefox *f, struct str key)
{
	struct json_reader *r = &f->json;

	if (str_equal(key, STR("preprocessedProfileVersion"))) {
		f->is_processed = json_int(r, &f->version);
	} else if (str_equal(key, STR("version"))) {
		int64_t version;
		if (json_int(r, &version) && !f->is_processed)
			f->version = version;
	} else if (str_equal(key, STR("startTime"))) {
		(void)json_decimal(r, 3, &f->start_us);
	} else if (str_equal(key, STR("profilingStartTime"))) {
		(void)json_decimal(r, 6, &f->origin_ns);
	} else if (str_equal(key, STR("profilingEndTime"))) {
		(void)json_decimal(r, 6, &f->end_ns);
	} else if (str_equal(key, STR("interval"))) {
		(void)json_decimal(r, 6, &f->interval_ns);
	} else if (str_equal(key, STR("categories"))) {
		read_categories(f);
	} else if (str_equal(key, STR("sampleUnits"))) {
		read_units(f);
	} else if (str_equal(key, STR("product"))) {
		take_text(f, &f->product);
	} else if (str_equal(key, STR("arguments"))) {
		take_text(f, &f->arguments);
	} else if (str_equal(key, STR("sonde"))) {
		read_own(f);
	}
}

static void read_meta(struct firefox *f, size_t place)
{
	struct str key;

	json_seek(&f->json, place);
	if (place == 0 || !json_object(&f->json))
		return;
	while (json_key(&f->json, &key))
		read_meta_member(f, key);
	(void)firefox_is_whole(f);
}

/* ---- Metrics */

static uint32_t add_metric(struct firefox *f, struct str name, struct str unit)
{
	f->metric_count++;
	return builder_metric(f->builder, name, unit).i;
}

static bool is_own_metric(const struct firefox *f)
{
	return f->metric_name.size &&
	       !metric_counts_samples(strbuf_str(&f->metric_name), strbuf_str(&f->metric_unit));
}

static void add_metrics(struct firefox *f)
{
	const struct firefox_scan *s = &f->scan;
	struct builder_header *header = builder_header(f->builder);
	struct str cpu_name = f->is_cpu_time ? STR("cpu-time") : STR("cycles");
	bool is_own = is_own_metric(f);

	f->samples = add_metric(f, STR("samples"), STR("count"));
	f->tracing = f->bytes = f->cpu = f->own = NO_ID;
	if (is_own)
		f->own = add_metric(f, strbuf_str(&f->metric_name), strbuf_str(&f->metric_unit));
	if (s->tracing && !is_own)
		f->tracing = add_metric(f, STR("time"), STR("ns"));
	if (s->bytes && !is_own)
		f->bytes = add_metric(f, STR("bytes"), STR("bytes"));
	if (s->has_cpu && !(is_own && str_equal(strbuf_str(&f->metric_name), cpu_name)))
		f->cpu = add_metric(f, cpu_name, f->is_cpu_time ? STR("ns") : STR("count"));
	header->default_metric.i = is_own			      ? f->own
				   : s->tracing * 2 > s->sample_count ? f->tracing
				   : s->bytes * 2 > s->sample_count   ? f->bytes
								      : f->samples;
}

/*
 * A sample can take more memory than its text.  If there is not enough for all, samples are summed.
 * Stacks get the rest of the memory.
 */
static void plan_memory(struct firefox *f)
{
	size_t size = f->input->size, rows = f->scan.sample_count;
	size_t row_size = 16 + 8 * f->metric_count;
	size_t room = 32 * MIB + 2 * size + size / 2;

	f->row_max = MIB + size / 10;
	f->is_totals = f->scan.lacks_times || f->has_no_times;
	if (!f->is_totals && rows > room / row_size) {
		f->is_totals = true;
		builder_note(f->builder, NOTE_INFO, rows,
			"samples were summed, as there are too many for the size of the file: "
			"their times and threads are left out");
	}
	if (!f->is_totals)
		builder_expect_samples(f->builder, rows);
	if (!f->is_totals)
		room = room > rows * row_size ? room - rows * row_size + 8 * MIB : 8 * MIB;
	f->stack_max = room / (40 + 16 * f->metric_count);
}

/* ---- Threads */

/* The data of a thread and its process. */
struct thread_facts {
	struct strbuf name, process_name, process_type, pid;
	int64_t tid, register_ns, startup_ns;
	size_t samples;
	bool has_tables; /* has its own tables */
};

static void facts_deinit(struct thread_facts *t)
{
	strbuf_deinit(&t->name);
	strbuf_deinit(&t->process_name);
	strbuf_deinit(&t->process_type);
	strbuf_deinit(&t->pid);
}

/* The number at the start of a text such as "123.1"; -1: none. */
static int64_t leading_number(struct str s)
{
	int64_t value = 0;
	size_t i = 0;

	for (; i < s.size && i < 18 && s.data[i] >= '0' && s.data[i] <= '9'; i++)
		value = value * 10 + (s.data[i] - '0');
	return i ? value : -1;
}

/*
 * Reads an id: a number, or a text that begins with one.  samply writes "12.1" for the second 12.
 */
static void read_id(struct firefox *f, struct strbuf *text, int64_t *number)
{
	struct json_reader *r = &f->json;

	if (json_peek(r) == JSON_STRING) {
		take_text(f, text);
		*number = leading_number(strbuf_str(text));
	} else if (json_peek(r) == JSON_NUMBER && json_int(r, number)) {
		strbuf_clear(text);
		strbuf_printf(text, "%" PRId64, *number);
	}
}

static void read_facts(struct firefox *f, size_t place, struct thread_facts *t)
{
	struct json_reader *r = &f->json;
	struct strbuf scratch = {0};
	struct str key;
	int64_t ignored;

	json_seek(r, place);
	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		if (str_equal(key, STR("name")))
			take_text(f, &t->name);
		else if (str_equal(key, STR("processName")))
			take_text(f, &t->process_name);
		else if (str_equal(key, STR("processType")))
			take_text(f, &t->process_type);
		else if (str_equal(key, STR("pid")))
			read_id(f, &t->pid, &ignored);
		else if (str_equal(key, STR("tid")))
			read_id(f, &scratch, &t->tid);
		else if (str_equal(key, STR("registerTime")))
			(void)json_decimal(r, 6, &t->register_ns);
		else if (str_equal(key, STR("processStartupTime")))
			(void)json_decimal(r, 6, &t->startup_ns);
		else if (str_equal(key, STR("samples")))
			t->samples = json_offset(r);
		else
			t->has_tables |= firefox_code_is_part(key);
	}
	strbuf_deinit(&scratch);
}

static uint64_t since_start(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns : 0;
}

static struct str process_name(const struct firefox *f, const struct thread_facts *t)
{
	if (t->process_name.size)
		return strbuf_str(&t->process_name);
	if (t->process_type.size && !str_equal(strbuf_str(&t->process_type), STR("default")))
		return strbuf_str(&t->process_type);
	return strbuf_str(&f->product);
}

static process_id process_of(struct firefox *f, const struct thread_facts *t, int64_t delta_ns)
{
	struct str pid = strbuf_str(&t->pid);
	uint32_t number = str_table_intern(&f->pids, pid);

	if (number == f->processes.count) {
		process_id id = builder_process(f->builder, leading_number(pid),
			since_start(t->startup_ns + delta_ns), process_name(f, t));
		vec_push(&f->processes, id);
	}
	return f->processes.data[number];
}

/* Reads samples with the thread's own tables, or with the shared ones if it has none. */
static void read_samples(
	struct firefox *f, size_t place, const struct thread_facts *facts, int64_t delta_ns)
{
	struct firefox_code own;
	process_id process = {0};
	thread_id thread = {NO_ID};

	if (facts->samples == 0 && f->idle_threads++ >= IDLE_THREADS_MAX) {
		f->cut_stacks++;
		return;
	}
	if (!f->is_totals) {
		process = process_of(f, facts, delta_ns);
		thread = builder_thread(f->builder, facts->tid, process,
			since_start(facts->register_ns + delta_ns), strbuf_str(&facts->name));
	}
	if (facts->samples == 0)
		return;
	firefox_code_init(&own);
	own.base = &f->shared;
	if (facts->has_tables)
		firefox_code_read(f, &own, place);
	f->code = firefox_code_has_stacks(&own) ? &own : &f->shared;
	firefox_samples(f, facts->samples, thread, delta_ns);
	firefox_code_deinit(&own);
	f->code = NULL;
}

static void read_threads(struct firefox *f, size_t place, int64_t delta_ns)
{
	json_seek(&f->json, place);
	if (place == 0 || !json_array(&f->json))
		return;
	while (json_element(&f->json)) {
		struct thread_facts facts = {.tid = -1};
		struct json_mark mark = json_mark(&f->json);
		size_t at = json_offset(&f->json);

		if (json_peek(&f->json) != JSON_OBJECT)
			continue;
		read_facts(f, at, &facts);
		/* Continue after the thread, to avoid skipping it again. */
		if (firefox_is_whole(f)) {
			mark.at = f->json.start + json_offset(&f->json);
			mark.at_value = mark.is_first = false;
		}
		read_samples(f, at, &facts, delta_ns);
		facts_deinit(&facts);
		json_return(&f->json, &mark);
	}
	(void)firefox_is_whole(f);
}

/* Subprocesses have their own start times, and their times count from these. */
static void read_process(struct firefox *f, const struct firefox_process *p)
{
	int64_t whole_us = f->start_us, origin_ns = f->origin_ns, delta_us, delta_ns = 0;

	if (p->level) {
		read_meta(f, p->meta);
		if (__builtin_sub_overflow(f->start_us, whole_us, &delta_us) ||
			__builtin_mul_overflow(delta_us, 1000, &delta_ns))
			delta_ns = 0;
		f->start_us = whole_us;
		f->origin_ns = origin_ns;
	}
	if (p->libs)
		firefox_libs_read(f, &f->shared, p->libs);
	read_threads(f, p->threads, delta_ns - origin_ns);
}

/* ---- Notes */

static void add_reference_notes(struct firefox *f)
{
	struct builder *b = f->builder;

	counted_note(b, NOTE_BAD_RECORD, f->bad_references,
		"a reference between tables leads nowhere, and was skipped",
		"references between tables lead nowhere, and were skipped");
	counted_note(b, NOTE_BAD_RECORD, f->cycles,
		"a stack is its own caller, and is truncated there",
		"stacks are their own callers, and are truncated there");
	counted_note(b, NOTE_BAD_RECORD, f->scan.bad,
		"a thread or process is malformed, and was skipped",
		"threads or processes are malformed, and were skipped");
	counted_note(b, NOTE_GUESSED, f->early,
		"a sample is from before the profile's start, and was moved to it",
		"samples are from before the profile's start, and were moved to it");
	counted_note(b, NOTE_BAD_RECORD, f->cut_stacks + f->has_cut_table,
		"a row or stack was left out: there are too many for a file of this size",
		"rows or stacks were left out: there are too many for a file of this size");
}

static void add_notes(struct firefox *f)
{
	struct builder *b = f->builder;
	int64_t known = f->is_processed ? FIREFOX_PROCESSED_MAX : FIREFOX_GECKO_MAX;

	if (f->is_cut)
		builder_note(b, NOTE_INCOMPLETE, 1, "the file ends early");
	if (f->faults)
		builder_note(b, NOTE_BAD_RECORD, f->faults,
			"parts are not JSON, the first at byte %zu: %s", f->fault_offset,
			f->problem);
	if (f->version > known)
		builder_note(b, NOTE_GUESSED, 1,
			"the file is of version %" PRId64
			", which is newer than the newest known, %" PRId64,
			f->version, known);
	add_reference_notes(f);
}

/* ---- The whole */

static void fill_header(struct firefox *f)
{
	struct builder_header *h = builder_header(f->builder);
	int64_t start_ns;

	h->command = builder_string(f->builder,
		f->arguments.size ? strbuf_str(&f->arguments) : strbuf_str(&f->product));
	if (f->start_us > 0 && !__builtin_mul_overflow(f->start_us, 1000, &start_ns) &&
		!__builtin_add_overflow(start_ns, f->origin_ns, &start_ns) && start_ns > 0)
		h->start_unix_ns = (uint64_t)start_ns;
	if (f->interval_ns > 0 && !f->has_no_times)
		h->stats.interval_ns = (uint64_t)f->interval_ns;
	if (f->end_ns > f->origin_ns && !f->has_no_times)
		h->stats.duration_ns = (uint64_t)(f->end_ns - f->origin_ns);
}

static struct error *not_a_profile(struct firefox *f)
{
	if (!json_ok(&f->json))
		return json_error(&f->json);
	return error_new(ERROR_INPUT,
		"%s: at byte %zu: no threads, which a profile of the Firefox Profiler must have",
		f->input->name, f->scan.processes.count ? f->scan.processes.data[0].at : 0);
}

/* Finds the profile, or the wrapper around it that old developer tools write; false: neither. */
static bool find_root(struct firefox *f, size_t *root)
{
	struct str key;

	*root = json_offset(&f->json);
	if (json_peek(&f->json) != JSON_OBJECT || !json_object(&f->json))
		return false;
	while (json_key(&f->json, &key)) {
		if (str_equal(key, STR("profile")) && json_peek(&f->json) == JSON_OBJECT)
			*root = json_offset(&f->json);
		if (str_equal(key, STR("threads")) || str_equal(key, STR("profile")))
			break;
	}
	return true;
}

static struct error *read_all(struct firefox *f)
{
	size_t root;

	if (!find_root(f, &root))
		return json_ok(&f->json) ? error_new(ERROR_INPUT,
						   "%s: is not a JSON object, as a profile of the "
						   "Firefox Profiler is",
						   f->input->name)
					 : json_error(&f->json);
	firefox_scan(f, root);
	if (f->scan.processes.data[0].threads == 0)
		return not_a_profile(f);
	read_meta(f, f->scan.processes.data[0].meta);
	add_metrics(f);
	plan_memory(f);
	fill_header(f);
	if (f->scan.processes.data[0].shared) {
		firefox_code_read(f, &f->shared, f->scan.processes.data[0].shared);
	}
	for (size_t i = 0; i < f->scan.processes.count; i++)
		read_process(f, &f->scan.processes.data[i]);
	add_notes(f);
	return NULL;
}

static struct error *firefox_read(const struct reader_input *input, struct builder *builder)
{
	struct firefox f = {.input = input, .builder = builder};

	memset(f.category_kind, OBJECT_KIND_COUNT, sizeof(f.category_kind));
	f.arena = arena_create();
	f.demangler = demangler_create();
	str_table_init(&f.pids, f.arena);
	firefox_code_init(&f.shared);
	json_reader_init(&f.json, input->data, input->size, input->name);
	json_reader_init(&f.text, input->data, input->size, input->name);
	struct error *err = read_all(&f);
	json_reader_deinit(&f.json);
	json_reader_deinit(&f.text);
	firefox_code_deinit(&f.shared);
	firefox_scan_deinit(&f.scan);
	str_table_deinit(&f.pids);
	demangler_destroy(f.demangler);
	arena_destroy(f.arena);
	vec_deinit(&f.processes);
	strbuf_deinit(&f.metric_name);
	strbuf_deinit(&f.metric_unit);
	strbuf_deinit(&f.product);
	strbuf_deinit(&f.arguments);
	return err;
}

/* ---- Bid */

/*
 * Bids by names that only this JSON format has.  Members have no order, so looks near the start and
 * near the end.
 */
static int bid_by_names(const uint8_t *data, size_t size)
{
	struct str file = {(const char *)data, size};

	if (text_contains(file, "\"preprocessedProfileVersion\""))
		return 95;
	if (text_contains(file, "\"stackTable\"") && text_contains(file, "\"frameTable\""))
		return 90;
	if (text_contains(file, "\"threads\"") && text_contains(file, "\"stackwalk\""))
		return 80;
	return 0;
}

static int firefox_bid(const uint8_t *data, size_t size)
{
	size_t i = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < size && i < 4096 && strchr(" \t\r\n", data[i]) && data[i])
		i++;
	if (i == size || data[i] != '{')
		return 0;
	int bid = bid_by_names(data, size < MIB ? size : MIB);
	if (bid == 0 && size > MIB)
		bid = bid_by_names(data + size - MIB / 4, MIB / 4);
	return bid;
}

const struct reader reader_firefox = {
	.name = "firefox",
	.summary = "profiles of the Firefox Profiler, as Firefox, samply and others write them",
	.bid = firefox_bid,
	.read = firefox_read,
};
