/*
 * Reads the text in which tracers print how often each stack occurred: bpftrace's maps with stacks
 * as keys, the tools of bcc (profile, offcputime, stackcount), and DTrace's aggregations.  There is
 * no specification; docs/formats/stack-counts.md defines what is read.
 *
 * An entry is the frames of one or two stacks, one a line, leaf first, and a number.  bpftrace puts
 * it between "@[" and "]: 12"; in the others the number stands alone below the frames.  Names and
 * ids of the process are further keys: before or behind the stacks, or in a line of their own.
 *
 * The maps that have entries are the metrics.  They are known only at the end, so entries are kept
 * in rows until then.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/vec.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"
#include "formats/common/text_input.h"
#include "formats/perf/script_text.h"

/* Bids look at this many bytes. */
#define BID_BYTES ((size_t)65536)
/* Frames of one entry; kernels keep 127, or as many as a setting says. */
#define FRAMES_MAX ((size_t)1 << 20)
/* DTrace indents frames by at least so much, and keys before them by less than this. */
#define DTRACE_INDENT 10

struct row {
	stack_id stack;
	thread_id thread; /* NO_ID: unknown */
	uint32_t map;
	int64_t value;
};

/* The entry being read; strings point into the input. */
struct entry {
	bool is_bracketed; /* between "@[" and "]" */
	struct str map;
	VEC(struct str) frames; /* lines, leaf first; DTrace's keys are among them */
	struct str comm;	/* data NULL: unknown */
	int64_t ids[2];		/* of process and thread; -1: unknown */
};

struct stack_counts {
	struct builder *builder;
	struct entry entry;
	struct task_ids tasks;
	VEC(string_id) maps;
	struct map map_of;
	VEC(struct row) rows;
	bool has_threads, are_microseconds;
	bool in_histogram; /* its lines follow */
	uint64_t line_number, good;
	struct bad_lines bad;
	uint64_t without_stack; /* entries of other maps */
	uint64_t histograms;	/* of stacks */
	uint64_t unfinished;	/* stacks without a value, with other ones behind them */
	uint64_t cut;		/* stacks with too many frames */
};

/* ---- lines ---- */

static size_t indent_of(struct str line)
{
	size_t i = 0;

	while (i < line.size && text_is_blank(line.data[i]))
		i++;
	return i;
}

static bool is_number(struct str text)
{
	(void)text_take(&text, STR("-"));
	for (size_t i = 0; i < text.size; i++)
		if (!char_is_digit(text.data[i]))
			return false;
	return text.size > 0;
}

/* False for what is not a number, and for one beyond 63 bits. */
static bool take_signed(struct str text, int64_t *value)
{
	bool is_negative = text_take(&text, STR("-"));
	uint64_t number;

	if (!text_take_number(&text, &number) || text.size || number > INT64_MAX)
		return false;
	*value = is_negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* Takes a whole number of digits, as the last word and two blanks before it, off the end. */
static bool take_last_number(struct str *line, int64_t *value)
{
	size_t i = line->size;

	while (i && char_is_digit(line->data[i - 1]))
		i--;
	if (i < 2 || i == line->size || !text_is_blank(line->data[i - 1]) ||
		!text_is_blank(line->data[i - 2]) ||
		!take_signed((struct str){line->data + i, line->size - i}, value))
		return false;
	*line = str_trim((struct str){line->data, i});
	return line->size > 0;
}

/* Takes "(12)" or "[12]" off the end of a process's name. */
static bool take_pid(struct str *text, char open, char close, int64_t *pid)
{
	struct str inner = *text;
	size_t i = inner.size;

	if (i < 3 || inner.data[i - 1] != close)
		return false;
	while (--i && char_is_digit(inner.data[i - 1]))
		continue;
	if (i < 2 || inner.data[i - 1] != open || inner.data[i - 2] != ' ' ||
		!take_signed((struct str){inner.data + i, inner.size - i - 1}, pid))
		return false;
	*text = str_trim((struct str){inner.data, i - 1});
	return true;
}

/* What the tools print about themselves, and DTrace about the probe that printed. */
static bool is_message(struct str line)
{
	static const char *const begins[] = {"Attaching ", "Attached ", "Sampling at ", "Tracing ",
		"^C", "dtrace: ", "CPU ", "Hit Ctrl-C", "Detaching", "Lost ",
		"WARNING: ", "Found "};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (str_starts_with(line, str_from(begins[i])))
			return true;
	return false;
}

/* "  0  79535   :tick-10s" */
static bool is_probe(struct str line)
{
	uint64_t number;
	struct str word = text_take_word(&line);

	if (!text_take_number(&word, &number) || word.size)
		return false;
	word = text_take_word(&line);
	if (!text_take_number(&word, &number) || word.size)
		return false;
	word = text_take_word(&line);
	return text_contains(word, ":") && str_trim(line).size == 0;
}

/* ---- histograms ---- */

/* What DTrace's quantize() and the histograms of bcc print above their lines. */
static bool is_histogram_head(struct str text)
{
	return (str_starts_with(text, STR("value ")) && str_ends_with(text, STR(" count")) &&
		       text_contains(text, "- Distribution -")) ||
	       (str_ends_with(text, STR(" distribution")) && text_contains(text, " : count "));
}

/*
 * A line of a histogram: "[4, 8)  2 |@@  |" of bpftrace, "4 |@@@@   2" and ">= 100 |  0" of DTrace,
 * "4 -> 7 : 2 |**  |" of bcc.
 */
static bool is_bucket(struct str text)
{
	const char *bar = text.size ? memchr(text.data, '|', text.size) : NULL;
	size_t at = bar ? (size_t)(bar - text.data) : 0;

	if (at == 0 || text.data[at - 1] != ' ')
		return false;
	if (text.data[text.size - 1] == '|')
		return text.data[0] == '[' || text.data[0] == '(' ||
		       text_contains((struct str){text.data, at}, " -> ");
	/* Bars, and the count. */
	size_t i = at + 1;
	while (i < text.size && (text.data[i] == '@' || text_is_blank(text.data[i])))
		i++;
	for (size_t k = i; k < text.size; k++)
		if (!char_is_digit(text.data[k]) && text.data[k] != '-')
			return false;
	return i < text.size;
}

/* ---- frames ---- */

/* Takes "+12" or "+0x1f" off the end. */
static void take_offset(struct str *name)
{
	size_t i = name->size;

	while (i && text_hex_value(name->data[i - 1]) < 16)
		i--;
	if (i > 2 && i < name->size && memcmp(name->data + i - 2, "0x", 2) == 0)
		i -= 2;
	else
		for (size_t k = i; k < name->size; k++)
			if (!char_is_digit(name->data[k]))
				return;
	if (i > 1 && i < name->size && name->data[i - 1] == '+')
		name->size = i - 1;
}

/* Takes " [libc.so.6]" off the end, which is no part of a name. */
static struct str take_module(struct str *name)
{
	const char *open = memrchr(name->data, '[', name->size);
	size_t at = open ? (size_t)(open - name->data) : 0;
	struct str module;

	if (at < 2 || name->data[name->size - 1] != ']' || name->data[at - 1] != ' ')
		return (struct str){0};
	module = (struct str){open + 1, name->size - at - 2};
	if (memchr(module.data, ' ', module.size))
		return (struct str){0};
	*name = str_trim((struct str){name->data, at});
	return module;
}

static frame_id frame_of(struct builder *b, struct str line)
{
	struct str name = str_trim(line), module = {0};
	struct perf_frame perf;
	uint64_t address = 0;

	if (perf_frame_scan(name, &perf) && perf.name.size) {
		name = perf.name; /* ADDRESS NAME+0xOFFSET (OBJECT), as perf prints */
		module = perf.object;
		address = perf.address;
	} else {
		size_t size = folded_module_size(name);

		if (name.size > 3 && name.data[0] == 'b' && name.data[1] == '\'' &&
			name.data[name.size - 1] == '\'')
			name = (struct str){name.data + 2, name.size - 3};
		if (size) {
			module = (struct str){name.data, size};
			name = (struct str){name.data + size + 1, name.size - size - 1};
		} else {
			module = take_module(&name);
		}
		take_offset(&name);
	}
	if (name.size == 0)
		name = STR("[unknown]");
	return frame_of_name(b, builder_string(b, name), object_of_module(b, module), address);
}

/* ---- entries ---- */

static void entry_clear(struct entry *e)
{
	e->frames.count = 0;
	e->is_bracketed = false;
	e->map = e->comm = (struct str){0};
	e->ids[0] = e->ids[1] = -1;
}

static void add_frame(struct stack_counts *s, struct str line)
{
	if (s->entry.frames.count < FRAMES_MAX)
		vec_push(&s->entry.frames, line);
	else
		s->cut += s->entry.frames.count == FRAMES_MAX;
}

/* A further key: an id, or a name. */
static void add_key(struct entry *e, struct str key)
{
	int64_t id;

	if (key.size == 0)
		return;
	if (take_signed(key, &id))
		e->ids[e->ids[0] >= 0] = id;
	else if (e->comm.data == NULL)
		e->comm = key;
}

/* Keys between ", " of a bpftrace map. */
static void add_keys(struct entry *e, struct str keys)
{
	while (keys.size) {
		const char *comma = memmem(keys.data, keys.size, ", ", 2);
		size_t size = comma ? (size_t)(comma - keys.data) : keys.size;
		struct str key = str_trim((struct str){keys.data, size});

		if (!str_equal(key, STR(",")))
			add_key(e, key);
		size += comma ? 2 : 0;
		keys = (struct str){keys.data + size, keys.size - size};
	}
}

/* Takes DTrace's keys, which are less indented than its frames, out of an entry's lines. */
static void take_indented_keys(struct entry *e)
{
	size_t most = 0, kept = 0;

	for (size_t i = 0; i < e->frames.count; i++)
		most = indent_of(e->frames.data[i]) > most ? indent_of(e->frames.data[i]) : most;
	if (most < DTRACE_INDENT)
		return;
	for (size_t i = 0; i < e->frames.count; i++) {
		if (indent_of(e->frames.data[i]) < DTRACE_INDENT)
			add_key(e, str_trim(e->frames.data[i]));
		else
			e->frames.data[kept++] = e->frames.data[i];
	}
	e->frames.count = kept;
}

static thread_id thread_of(struct stack_counts *s)
{
	const struct entry *e = &s->entry;
	struct builder *b = s->builder;

	if (e->comm.data == NULL && e->ids[0] < 0)
		return (thread_id){NO_ID};
	string_id name = builder_string(b, e->comm);
	int64_t tid = e->ids[1] >= 0 ? e->ids[1] : e->ids[0];

	s->has_threads = true;
	process_id process =
		task_process(&s->tasks, b, e->ids[0], e->ids[0] < 0 ? name : (string_id){0}, name);
	return task_thread(&s->tasks, b, process, tid, name, name);
}

static uint32_t map_of(struct stack_counts *s, struct str name)
{
	string_id id = builder_string(s->builder, name);
	bool is_new;
	uint32_t map = *map_at(&s->map_of, id.i, 0, (uint32_t)s->maps.count, &is_new);

	if (is_new) {
		vec_push(&s->maps, id);
		builder_charge(s->builder, sizeof(id) + MAP_ENTRY_BYTES);
	}
	return map;
}

static void close_entry(struct stack_counts *s, int64_t value)
{
	struct entry *e = &s->entry;
	stack_id stack = {0};

	if (!e->is_bracketed)
		take_indented_keys(e);
	for (size_t i = e->frames.count; i-- > 0;)
		stack = builder_stack(s->builder, stack, frame_of(s->builder, e->frames.data[i]));
	vec_push(&s->rows, (struct row){.stack = stack,
				   .thread = thread_of(s),
				   .map = map_of(s, e->map),
				   .value = value});
	builder_charge(s->builder, sizeof(struct row));
	entry_clear(e);
}

/* ---- bpftrace ---- */

/* Finds "]: VALUE" at the end of a line, or "]:" of a histogram; false: the line has none. */
static bool find_close(struct str line, size_t *at)
{
	struct str text = str_trim(line);

	if (str_ends_with(text, STR("]:"))) {
		*at = (size_t)(text.data - line.data) + text.size - 2;
		return true;
	}
	for (size_t i = line.size; i-- > 2;)
		if (memcmp(line.data + i - 2, "]: ", 3) == 0) {
			*at = i - 2;
			return true;
		}
	return false;
}

/* The value of an entry; of a map of statistics, their total. */
static bool take_value(struct str text, int64_t *value)
{
	struct str total;

	if (str_starts_with(text, STR("count ")) && text_find(text, STR(", total "), &total))
		text = total;
	return take_signed(str_trim(text), value);
}

/* "@NAME[" begins an entry; "@NAME: 5" and "@NAME[KEYS]: 5" are maps without stacks. */
static bool open_bracket(struct stack_counts *s, struct str line)
{
	const char *open = memchr(line.data, '[', line.size);
	size_t at = open ? (size_t)(open - line.data) : line.size, close;

	if (find_close(line, &close) || open == NULL) {
		struct str text = str_trim(line);

		s->without_stack++;
		s->in_histogram = text.data[text.size - 1] == ':';
		return open || s->in_histogram || text_contains(line, ": ");
	}
	s->unfinished += s->entry.frames.count > 0;
	entry_clear(&s->entry);
	s->entry.is_bracketed = true;
	s->entry.map = (struct str){line.data + 1, at - 1};
	add_keys(&s->entry, (struct str){open + 1, line.size - at - 1});
	return true;
}

/* The value of the entry is a histogram. */
static void begin_histogram(struct stack_counts *s)
{
	s->in_histogram = true;
	if (s->entry.frames.count)
		s->histograms++;
	else
		s->without_stack++;
	entry_clear(&s->entry);
}

static bool read_bracketed(struct stack_counts *s, struct str line)
{
	int64_t value;
	size_t close;

	if (indent_of(line)) {
		add_frame(s, line);
		return true;
	}
	if (!find_close(line, &close)) {
		bool is_key = line.data[0] == ',';
		if (is_key)
			add_keys(&s->entry, line);
		else
			entry_clear(&s->entry);
		return is_key;
	}
	add_keys(&s->entry, (struct str){line.data, close});
	struct str text = str_trim((struct str){line.data + close + 2, line.size - close - 2});
	if (text.size == 0) {
		begin_histogram(s);
		return true;
	}
	if (take_value(text, &value)) {
		close_entry(s, value);
		return true;
	}
	entry_clear(&s->entry);
	return false;
}

/* ---- bcc and DTrace ---- */

/* Whether the next line goes on with an entry, so that a number before it is a key. */
static bool goes_on(struct str rest)
{
	struct str line = str_take_line(&rest);

	return str_trim(line).size && indent_of(line);
}

static bool scaled_value(const struct stack_counts *s, int64_t *value)
{
	return !s->are_microseconds || !__builtin_mul_overflow(*value, 1000, value);
}

static bool read_number(struct stack_counts *s, int64_t value, struct str rest)
{
	struct entry *e = &s->entry;

	if (e->frames.count == 0 && e->comm.data == NULL && goes_on(rest)) {
		e->ids[e->ids[0] >= 0] = value;
		return true;
	}
	if (scaled_value(s, &value)) {
		close_entry(s, value);
		return true;
	}
	entry_clear(e);
	return false;
}

/* "-     COMM (PID)" of bcc, "COMM [PID]" of its stackcount. */
static bool read_process(struct entry *e, struct str text)
{
	bool is_marked = str_starts_with(text, STR("-  "));

	if (is_marked)
		text = str_trim((struct str){text.data + 1, text.size - 1});
	if (!take_pid(&text, is_marked ? '(' : '[', is_marked ? ')' : ']', &e->ids[0]))
		return false;
	e->comm = text;
	return true;
}

static bool read_indented(struct stack_counts *s, struct str line, struct str rest)
{
	struct str text = str_trim(line);
	int64_t value;

	if (take_signed(text, &value))
		return read_number(s, value, rest);
	if (is_number(text) || is_bucket(text)) {
		entry_clear(&s->entry);
		return false;
	}
	if (is_histogram_head(text)) {
		begin_histogram(s);
		return true;
	}
	if (is_probe(text) || str_equal(text, STR("--")))
		return true;
	if (s->entry.frames.count && take_last_number(&text, &value)) {
		add_key(&s->entry, text);
		return read_number(s, value, (struct str){0});
	}
	if (!read_process(&s->entry, text))
		add_frame(s, line);
	return true;
}

/* ---- the text ---- */

/* Whether the line is understood; rest: the text after it. */
static bool read_line(struct stack_counts *s, struct str line, struct str rest)
{
	s->in_histogram &= is_bucket(str_trim(line));
	if (s->in_histogram)
		return true;
	if (s->entry.is_bracketed)
		return read_bracketed(s, line);
	if (line.data[0] == '@')
		return open_bracket(s, line);
	if (indent_of(line))
		return read_indented(s, line, rest);
	if (str_starts_with(line, STR("Tracing off-CPU time (us)")))
		s->are_microseconds = true;
	return is_message(line);
}

static void read_lines(struct stack_counts *s, struct str rest)
{
	entry_clear(&s->entry);
	while (rest.size) {
		struct str line = str_take_line(&rest);

		s->line_number++;
		if (str_trim(line).size == 0)
			continue;
		if (read_line(s, line, rest))
			s->good++;
		else
			bad_lines_add(&s->bad, s->line_number);
	}
	if (s->entry.frames.count)
		builder_note(s->builder, NOTE_INCOMPLETE, 1,
			"the text ends within a stack, whose count is missing");
}

/* The number of maps that memory suffices for: each has a weight for every row. */
static size_t maps_max(const struct stack_counts *s, size_t input_size)
{
	size_t most = (((size_t)32 << 20) + 2 * input_size) / 8 / (s->rows.count + 1);

	return most < 1 ? 1 : most < s->maps.count ? most : s->maps.count;
}

/* The map "@" counts samples, unless a tool says what it measures. */
static void add_metrics(struct stack_counts *s, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct str name = builder_string_bytes(s->builder, s->maps.data[i]);

		if (name.size == 0)
			name = s->are_microseconds ? STR("offcpu-time") : STR("samples");
		(void)builder_metric(
			s->builder, name, s->are_microseconds ? STR("ns") : STR("count"));
	}
}

static thread_id unknown_thread(struct builder *b)
{
	process_id process = builder_process(b, -1, 0, STR("[unknown]"));

	return builder_thread(b, -1, process, 0, STR("[unknown]"));
}

/* Adds the rows: as samples if any names a thread, else as totals. */
static void add_rows(struct stack_counts *s, size_t maps)
{
	int64_t *weight = xcalloc(maps, sizeof(*weight));
	thread_id unknown = {NO_ID};
	uint64_t left_out = 0;

	for (size_t i = 0; i < s->rows.count; i++) {
		struct row row = s->rows.data[i];

		if (row.map >= maps) {
			left_out++;
			continue;
		}
		weight[row.map] = row.value;
		if (s->has_threads && row.thread.i == NO_ID && unknown.i == NO_ID)
			unknown = unknown_thread(s->builder);
		if (s->has_threads)
			builder_sample(s->builder, row.stack,
				row.thread.i == NO_ID ? unknown : row.thread, UINT64_MAX, weight);
		else
			builder_weight(s->builder, row.stack, weight,
				maps > 1 || s->are_microseconds || row.value < 0
					? UINT64_MAX
					: (uint64_t)row.value);
		weight[row.map] = 0;
	}
	free(weight);
	counted_note(s->builder, NOTE_BAD_RECORD, left_out, "a stack of too many maps was left out",
		"stacks of too many maps were left out");
}

static struct error *finish(struct stack_counts *s, const struct reader_input *input)
{
	size_t maps = maps_max(s, input->size);

	if (s->rows.count == 0 && s->histograms)
		return error_new(ERROR_INPUT,
			"%s: its stacks have histograms, which sonde does not read, and no counts: "
			"use count() or sum()",
			input->name);
	if (s->rows.count == 0)
		return error_new(ERROR_INPUT, "%s: contains no stack with a count", input->name);
	struct error *err = bad_lines_refuse(&s->bad, s->good, input->name, "stacks with counts");
	if (err)
		return err;
	add_metrics(s, maps);
	add_rows(s, maps);
	bad_lines_note(&s->bad, s->builder);
	cut_stacks_note(s->builder, s->cut);
	counted_note(s->builder, NOTE_BAD_RECORD, s->unfinished,
		"a stack was left out: its count is missing",
		"stacks were left out: their counts are missing");
	counted_note(s->builder, NOTE_LOST, s->histograms,
		"a stack was left out: its value is a histogram, which sonde does not read",
		"stacks were left out: their values are histograms, which sonde does not read");
	counted_note(s->builder, NOTE_INFO, s->without_stack,
		"a value of a map without stacks was skipped",
		"values of maps without stacks were skipped");
	return NULL;
}

static struct error *stack_counts_read(const struct reader_input *input, struct builder *builder)
{
	struct stack_counts s = {.builder = builder};
	struct strbuf buffer = {0};

	read_lines(&s, text_input(input->data, input->size, &buffer));
	struct error *err = finish(&s, input);
	vec_deinit(&s.entry.frames);
	vec_deinit(&s.maps);
	vec_deinit(&s.rows);
	map_deinit(&s.map_of);
	task_ids_deinit(&s.tasks);
	strbuf_deinit(&buffer);
	return err;
}

/* What the lines at the start look like. */
struct looks {
	bool in_histogram;
	unsigned int entries, frames, others;
	bool is_bracketed, has_brackets;
	unsigned int pending; /* frames since the last entry */
};

static void look_at(struct looks *looks, struct str line)
{
	struct str text = str_trim(line);
	int64_t value;
	size_t close;

	looks->in_histogram &= is_bucket(text);
	if (looks->in_histogram)
		return;
	looks->in_histogram = is_histogram_head(text) || text.data[text.size - 1] == ':';
	if (looks->is_bracketed && !indent_of(line) && find_close(line, &close)) {
		looks->has_brackets |= looks->pending > 0;
		looks->is_bracketed = false;
	} else if (line.data[0] == '@') {
		looks->is_bracketed =
			memchr(line.data, '[', line.size) && !find_close(line, &close);
		looks->pending = 0;
	} else if (looks->is_bracketed) {
		looks->pending++;
	} else if (!indent_of(line)) {
		looks->others += !is_message(line);
	} else if (take_signed(text, &value) ||
		   (looks->pending && take_last_number(&text, &value))) {
		looks->entries += looks->pending > 0;
		looks->pending = 0;
	} else if (is_histogram_head(text)) {
		looks->entries += looks->pending > 0;
		looks->pending = 0;
	} else if (!is_probe(text)) {
		looks->pending++;
		looks->frames++;
		looks->others += text.data[text.size - 1] == ',' || text.data[text.size - 1] == '{';
	}
}

/* The brackets of bpftrace are unmistakable; a number below names may be many things. */
static int stack_counts_bid(const uint8_t *data, size_t size)
{
	struct strbuf buffer = {0};
	struct str rest = text_input_start(data, size, BID_BYTES, &buffer);
	struct looks looks = {0};

	while (rest.size) {
		struct str line = str_take_line(&rest);
		if (str_trim(line).size)
			look_at(&looks, line);
	}
	strbuf_deinit(&buffer);
	if (looks.has_brackets)
		return 85;
	return looks.entries && looks.frames >= looks.entries && looks.others == 0 ? 60 : 0;
}

const struct reader reader_stack_counts = {
	.name = "stack-counts",
	.summary = "stacks with counts, as bpftrace, bcc and DTrace print them",
	.bid = stack_counts_bid,
	.read = stack_counts_read,
};
