/*
 * Reads the text that `perf script` prints: samples one after the other, each with a line for
 * thread, time and event, then its frames, leaf first, then an empty line.  There is no
 * specification except perf-script(1), and the text does not list its fields; script_text.c knows
 * the possible lines. docs/formats/perf-script.md defines the mapping.
 *
 * Most of a large text repeats: the first lines of samples except thread and time, and the frames
 * below them, either as a whole or singly.  These are looked up by a hash that is computed while
 * searching for their end.  Samples are kept in rows until the end, because only then it is known
 * which events exist and whether all samples have a time.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/row_table.h"
#include "formats/common/importer.h"
#include "formats/common/spans.h"
#include "formats/common/text_field.h"
#include "formats/common/text_input.h"
#include "formats/perf/script_rows.h"

/* ---- repeated text ---- */

/*
 * First lines of samples that differ from an earlier one only in thread, CPU, time and period, and
 * blocks of frames that are identical.  These are only recognized here.  New ones are parsed by
 * script_text.h and script_rows.h, and remembered.
 *
 * The result for a recognized first line must equal that of perf_head_scan, which takes the first
 * word with a valid time and a colon as the time.  So nothing before it may look like one, and the
 * rest must be identical to a remembered tail.
 */

#define PERF_WHOS ((size_t)1024)

/* The text before the time in a first line, including blanks; points into the input. */
struct perf_who {
	const char *data; /* NULL: unused */
	uint32_t size;
	uint32_t thread;
};

/* The text after the period in a first line, or after the time if there is no period. */
struct perf_tail {
	struct str text; /* with the newline; points into the input */
	bool has_period;
	uint32_t event;
};

#define PERF_TAILS 8

struct perf_heads {
	struct perf_tail tails[PERF_TAILS]; /* most recently used first */
	size_t tail_count;
	struct perf_who whos[PERF_WHOS]; /* by hash */
};

/* The lines below a sample's first one, up to the empty line, without the last newline. */
struct perf_block {
	struct span span;
	uint32_t lines;
};

/* Samples looked up together. */
#define PERF_WAITING_MAX 16

/* A sample not added yet: its stack is that of the block. */
struct perf_waiting {
	struct perf_sample sample;
	struct perf_block block;
	uint64_t line_number; /* of the first line */
};

struct perf_blocks {
	struct row_table spans; /* ids are stack numbers */
	size_t most;
};

/* False: the block is new. */
static inline bool perf_blocks_find(
	const struct perf_blocks *b, const struct perf_block *block, stack_id *stack)
{
	stack->i = span_find(&b->spans, block->span);
	return stack->i != NO_ID;
}

/* Larger blocks are read line by line. */
#define BLOCK_MAX ((size_t)1 << 20)
/* Approximate memory per block, while the table grows. */
#define BLOCK_COST 96
/* Memory for blocks of a small input. */
#define BLOCKS_MIN ((size_t)1 << 20)

/* In the first line of s, the end of the first word that ends in a colon; s.size: none. */
static size_t find_colon(struct str s)
{
	const uint64_t colons = span_eight(':'), ends = span_eight('\n');

	for (size_t i = 0; s.size - i >= 16; i += 8) {
		uint64_t word = span_load(s.data + i, 8, 0);
		uint64_t found = span_find_byte(word, colons) | span_find_byte(word, ends);

		for (; found; found &= found - 1) {
			size_t at = i + (size_t)__builtin_ctzll(found) / 8;
			char next = s.data[at + 1];
			/* Only the lowest bit found is reliable. */
			if (s.data[at] == '\n' || next == '\t' || next == '\r')
				return s.size;
			if (s.data[at] == ':' && (next == ' ' || next == '\n'))
				return at;
		}
	}
	return s.size;
}

/* The time that ends before the colon, with 6 or 9 decimals and a blank before it; false: none. */
static bool parse_time(const char *line, size_t colon, size_t *start, uint64_t *time_ns)
{
	size_t decimals = colon > 10 && line[colon - 10] == '.' ? 9 : 6;

	if (colon < decimals + 3 || line[colon - decimals - 1] != '.')
		return false;
	size_t dot = colon - decimals - 1, first = dot;
	uint64_t value = 0;
	while (first && char_is_digit(line[first - 1]))
		first--;
	if (first == dot || dot - first > 9 || first == 0 || line[first - 1] != ' ')
		return false;
	for (size_t i = first; i < dot; i++)
		value = value * 10 + (uint64_t)(line[i] - '0');
	for (size_t i = dot + 1; i < colon; i++) {
		if (!char_is_digit(line[i]))
			return false;
		value = value * 10 + (uint64_t)(line[i] - '0');
	}
	*start = first;
	*time_ns = decimals == 6 ? value * 1000 : value;
	return true;
}

/*
 * Takes the number after the blanks at *at as the period; false, and *at unchanged, if there is
 * none.
 */
static bool take_period(struct str s, size_t *at, uint64_t *period)
{
	size_t first = *at, i;
	uint64_t value = 0;

	while (first < s.size && s.data[first] == ' ')
		first++;
	for (i = first; i < s.size && char_is_digit(s.data[i]) && i - first < 18; i++)
		value = value * 10 + (uint64_t)(s.data[i] - '0');
	if (i == first || i == s.size || s.data[i] != ' ')
		return false;
	*at = i;
	*period = value;
	return true;
}

/* The who, time and period of a line, and the offset of the rest. */
struct parts {
	size_t who_end, tail;
	uint64_t time_ns, period;
	bool has_period;
};

static bool take_apart(struct str s, struct parts *parts)
{
	size_t colon = find_colon(s);

	if (colon == s.size || s.data[0] == '#' || s.data[0] == '\t' ||
		!parse_time(s.data, colon, &parts->who_end, &parts->time_ns))
		return false;
	parts->tail = colon + 1;
	parts->period = UINT64_MAX;
	parts->has_period = take_period(s, &parts->tail, &parts->period);
	return true;
}

/* The slot of a who.  8 bytes after its end must be readable; the time is there. */
static struct perf_who *who_at(struct perf_heads *h, const char *data, size_t size)
{
	uint64_t hash = size;
	size_t i = 0;

	for (; size - i >= 8; i += 8)
		hash = span_hash_step(hash, span_load(data + i, 8, 0));
	uint64_t last = span_load(data + i, 8, 0) & (((uint64_t)1 << 8 * (size - i)) - 1);
	hash = span_hash_step(hash, last);
	return &h->whos[hash % PERF_WHOS];
}

/* The thread at the start of a line. */
static uint32_t thread_of(
	struct perf_heads *h, struct perf_tasks *tasks, const char *data, size_t size)
{
	struct perf_who *who = who_at(h, data, size);

	if (who->data == NULL || who->size != size || memcmp(who->data, data, size) != 0) {
		struct perf_head head = {.who = str_trim((struct str){data, size})};
		*who = (struct perf_who){.data = data,
			.size = (uint32_t)size,
			.thread = perf_tasks_find(tasks, &head)};
	}
	return who->thread;
}

/* The remembered tail equal to the rest of a line, moved to the front; NULL: none. */
static const struct perf_tail *tail_of(
	struct perf_heads *h, struct str rest, const struct parts *parts)
{
	size_t left = rest.size - parts->tail;

	for (size_t i = 0; i < h->tail_count; i++) {
		const struct perf_tail tail = h->tails[i];
		if (tail.has_period != parts->has_period || tail.text.size > left ||
			memcmp(rest.data + parts->tail, tail.text.data, tail.text.size) != 0)
			continue;
		h->tails[i] = h->tails[0];
		h->tails[0] = tail;
		return &h->tails[0];
	}
	return NULL;
}

/*
 * Takes a sample's first line off the start of rest if it is complete and has a remembered tail,
 * with the same result as perf_head_scan.
 */
static bool perf_heads_take(struct perf_heads *h, struct perf_tasks *tasks, struct str *rest,
	struct perf_sample *sample)
{
	struct parts parts;

	if (h->tail_count == 0 || !take_apart(*rest, &parts) || parts.who_end > UINT32_MAX)
		return false;
	const struct perf_tail *tail = tail_of(h, *rest, &parts);
	if (tail == NULL)
		return false;
	*sample = (struct perf_sample){.thread = thread_of(h, tasks, rest->data, parts.who_end),
		.event = tail->event,
		.time_ns = parts.time_ns,
		.period = parts.period};
	size_t size = parts.tail + tail->text.size;
	*rest = (struct str){rest->data + size, rest->size - size};
	return true;
}

/*
 * Remembers the first line at the start of text, parsed as head and event, if nothing follows it.
 */
static void perf_heads_remember(
	struct perf_heads *h, struct str text, const struct perf_head *head, uint32_t event)
{
	struct parts parts;

	/* Only if take_apart parses it the same way. */
	if (!take_apart(text, &parts) || parts.time_ns != head->time_ns ||
		parts.period != head->period || head->rest.size)
		return;
	struct str tail = {text.data + parts.tail, text.size - parts.tail};
	const char *end = memchr(tail.data, '\n', tail.size);
	if (end == NULL)
		return;
	tail.size = (size_t)(end - tail.data) + 1;
	if (h->tail_count < PERF_TAILS)
		h->tail_count++;
	h->tails[h->tail_count - 1] = h->tails[0];
	h->tails[0] =
		(struct perf_tail){.text = tail, .has_period = parts.has_period, .event = event};
}

static void perf_blocks_init(struct perf_blocks *b, size_t input_size)
{
	*b = (struct perf_blocks){.most = (BLOCKS_MIN + input_size / 4) / BLOCK_COST};
}

static void perf_blocks_deinit(struct perf_blocks *b)
{
	row_table_deinit(&b->spans);
}

/* Finds the block at the start of text; false if its lines do not all begin with a tab. */
static bool perf_block_scan(struct str text, struct perf_block *block)
{
	const uint64_t ends = span_eight('\n');
	uint64_t hash = 0x2d358dccaa6c78a5u;
	uint32_t lines = 0;

	if (text.size < 8 || text.data[0] != '\t')
		return false;
	for (size_t i = 0; text.size - i > 8 && i < BLOCK_MAX; i += 8) {
		uint64_t word = span_load(text.data + i, 8, 0);

		for (uint64_t found = span_find_byte(word, ends); found; found &= found - 1) {
			unsigned int bits = (unsigned int)__builtin_ctzll(found) & ~7u;
			size_t at = i + bits / 8;
			/* Only the lowest bit found is reliable. */
			if (text.data[at] != '\n')
				continue;
			lines++;
			if (text.data[at + 1] == '\t')
				continue;
			hash = span_hash_step(hash, word & (((uint64_t)1 << bits) - 1));
			*block = (struct perf_block){.span = {.data = text.data,
							     .size = (uint32_t)at,
							     .hash = (uint32_t)hash_u64(hash + at)},
				.lines = lines};
			return text.data[at + 1] == '\n';
		}
		hash = span_hash_step(hash, word);
	}
	return false;
}

/* Prefetches known blocks, for perf_blocks_find. */
static void perf_blocks_warm(
	const struct perf_blocks *b, const struct perf_waiting *waiting, size_t count)
{
	const struct span *known[PERF_WAITING_MAX];

	for (size_t i = 0; i < count; i++)
		row_table_warm_slot(&b->spans, waiting[i].block.span.hash);
	for (size_t i = 0; i < count; i++)
		known[i] = row_table_warm_row(&b->spans, &span_rows, waiting[i].block.span.hash);
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; known[i] && k < 256 && k < known[i]->size; k += 64)
			prefetch(known[i]->data + k);
}

static void perf_blocks_remember(
	struct perf_blocks *b, const struct perf_block *block, stack_id stack)
{
	if (b->spans.count < b->most)
		span_intern(&b->spans, block->span)->id = stack.i;
}

/* ---- the text ---- */

/* Bids look at this many bytes. */
#define BID_BYTES ((size_t)65536)

struct perf_script {
	struct builder *builder;
	struct perf_stacks stacks;
	struct perf_tasks tasks;
	struct perf_rows rows;
	struct perf_heads heads;
	struct perf_blocks blocks;
	bool has_heads;	     /* samples have first lines, so a frame without one is malformed */
	bool is_open;	     /* a sample has begun */
	bool is_block_ahead; /* only its first line was read */
	struct perf_sample sample;
	struct perf_block block; /* the new block being read line by line; lines 0: none */
	struct perf_waiting waiting[PERF_WAITING_MAX];
	size_t waiting_count;
	uint64_t line_number;
	struct bad_lines bad;
	uint64_t skipped; /* lines below frames that are not frames */
	uint64_t lost;
};

static void close_sample(struct perf_script *p)
{
	if (!p->is_open)
		return;
	p->is_open = false;
	p->is_block_ahead = false;
	p->sample.stack = perf_stacks_take(&p->stacks);
	perf_rows_add(&p->rows, &p->sample);
}

static void open_sample(struct perf_script *p, struct perf_head *head)
{
	close_sample(p);
	p->is_open = true;
	p->sample = (struct perf_sample){.thread = perf_tasks_find(&p->tasks, head),
		.event = perf_rows_event(&p->rows, head->event),
		.time_ns = head->time_ns,
		.period = head->period};
	p->is_block_ahead = false;
	p->block.lines = 0;
}

static bool is_indented(struct str line)
{
	return line.data[0] == '\t' || line.data[0] == ' ';
}

/* Adds the frame in a line, if it has one. */
static bool read_frame(struct perf_script *p, struct str line)
{
	struct span span = span_scan(line, '\n');
	struct perf_frame frame;

	if (p->is_open && perf_stacks_push_known(&p->stacks, span))
		return true;
	if (!perf_frame_scan(line, &frame))
		return false;
	/* Outside a sample, a single word of the letters a to f is not a frame. */
	if (!p->is_open && (p->has_heads || (frame.name.size == 0 && !is_indented(line))))
		return false;
	if (!p->is_open)
		open_sample(p, &(struct perf_head){.time_ns = UINT64_MAX, .period = UINT64_MAX});
	if (!perf_stacks_push_known(&p->stacks, span))
		perf_stacks_push_new(&p->stacks, span, &frame);
	return true;
}

/* Reads "PERF_RECORD_LOST lost 12": the number of samples that perf could not write. */
static void read_record(struct perf_script *p, struct str record)
{
	const struct str begin = STR("PERF_RECORD_LOST");
	const char *digits;
	uint64_t lost = 0;

	if (!str_starts_with(record, begin))
		return;
	digits = memmem(record.data, record.size, "lost ", 5);
	for (size_t i = digits ? (size_t)(digits - record.data) + 5 : record.size;
		i < record.size && record.data[i] >= '0' && record.data[i] <= '9' &&
		lost < 1u << 30;
		i++)
		lost = lost * 10 + (uint64_t)(record.data[i] - '0');
	p->lost += lost;
}

/* Whether the next line is a frame of a call chain. */
static bool begins_chain(struct str rest)
{
	struct str line = str_take_line(&rest);
	struct perf_frame frame;

	return line.size && line.data[0] == '\t' && perf_frame_scan(line, &frame);
}

/* rest: the text after the line. */
static bool read_head(struct perf_script *p, struct str line, struct str rest)
{
	struct perf_head head;

	switch (perf_head_scan(line, &head)) {
	case PERF_HEAD_SAMPLE:
		p->has_heads = true;
		open_sample(p, &head);
		/* Without call chains, a single frame follows the event. */
		if (head.rest.size && !begins_chain(rest) &&
			read_frame(p, perf_head_frame(head.rest)))
			close_sample(p);
		p->is_block_ahead = head.rest.size == 0;
		struct str text = {line.data, (size_t)(rest.data - line.data) + rest.size};
		perf_heads_remember(&p->heads, text, &head, p->sample.event);
		return true;
	case PERF_HEAD_RECORD:
		close_sample(p);
		read_record(p, head.record);
		return true;
	case PERF_HEAD_NONE:
		break;
	}
	return false;
}

/* Reads a first line without time and event, if the next line is a frame. */
static bool read_weak_head(struct perf_script *p, struct str line, struct str next)
{
	struct perf_head head;

	if (!begins_chain(next) || !perf_head_scan_weak(line, &head))
		return false;
	p->has_heads = true;
	open_sample(p, &head);
	return true;
}

/* The value in "# NAME : VALUE", if the name matches. */
static bool header_value(struct str line, const char *name, struct str *value)
{
	struct str rest = str_trim((struct str){line.data + 1, line.size - 1});

	if (!str_starts_with(rest, str_from(name)))
		return false;
	rest = str_trim((struct str){rest.data + strlen(name), rest.size - strlen(name)});
	if (rest.size == 0 || rest.data[0] != ':')
		return false;
	*value = str_trim((struct str){rest.data + 1, rest.size - 1});
	return true;
}

/* The recorded command follows "--"; without that, it is unknown. */
static struct str command_of(struct str cmdline)
{
	const char *dashes = memmem(cmdline.data, cmdline.size, " -- ", 4);

	if (dashes == NULL)
		return cmdline;
	size_t start = (size_t)(dashes - cmdline.data) + 4;
	return str_trim((struct str){cmdline.data + start, cmdline.size - start});
}

static void read_comment(struct perf_script *p, struct str line)
{
	struct builder_header *header = builder_header(p->builder);
	struct str value;

	if (header_value(line, "hostname", &value))
		header->host = builder_string(p->builder, value);
	else if (header_value(line, "cmdline", &value))
		header->command = builder_string(p->builder, command_of(value));
}

/* Reads a line that is not a known frame. */
static void read_line(struct perf_script *p, struct str line, struct str rest)
{
	if (line.data[0] == '#') {
		read_comment(p, line);
		return;
	}
	if (line.data[0] != '\t' && read_head(p, line, rest))
		return;
	if (read_frame(p, line))
		return;
	if (p->is_open && perf_stacks_place(&p->stacks, line))
		return;
	p->block.lines = 0;
	if (p->is_open && perf_is_target(line))
		return;
	if (p->is_open && is_indented(line))
		p->skipped++;
	else if (!read_weak_head(p, line, str_take_line(&rest)))
		bad_lines_add(&p->bad, p->line_number);
}

/* Takes a sample's first line if it has a remembered form. */
static bool take_head(struct perf_script *p, struct str *rest)
{
	if (!perf_heads_take(&p->heads, &p->tasks, rest, &p->sample))
		return false;
	p->is_open = p->is_block_ahead = true;
	p->line_number++;
	return true;
}

/* Takes the frames below a sample's first line, up to the empty line, and queues the sample. */
static bool take_block(struct perf_script *p, struct str *rest)
{
	struct perf_waiting *w = &p->waiting[p->waiting_count];

	p->is_block_ahead = false;
	if (!perf_block_scan(*rest, &w->block))
		return false;
	w->sample = p->sample;
	w->line_number = p->line_number;
	p->waiting_count++;
	p->is_open = false;
	p->line_number += w->block.lines + 1;
	size_t size = w->block.span.size + 2;
	*rest = (struct str){rest->data + size, rest->size - size};
	return true;
}

/*
 * Called at an empty line.  If a new block ends here, and the sample's stack was made from all of
 * it, remembers the block.
 */
static void close_block(struct perf_script *p, const char *line)
{
	const struct perf_block block = p->block;
	bool is_whole = p->is_open && block.lines && block.span.data + block.span.size + 1 == line;
	uint64_t cut = p->stacks.cut;

	close_sample(p);
	if (is_whole && p->stacks.cut == cut)
		perf_blocks_remember(&p->blocks, &block, p->sample.stack);
}

/* Takes the next line on its own. */
static void take_line(struct perf_script *p, struct str *rest)
{
	struct span line = span_scan(*rest, '\n');
	size_t taken = line.size + (line.size < rest->size);
	struct str text = {rest->data, line.size};

	*rest = (struct str){rest->data + taken, rest->size - taken};
	p->line_number++;
	if (p->is_open && perf_stacks_push_known(&p->stacks, line))
		return;
	if (str_trim(text).size == 0)
		close_block(p, text.data);
	else
		read_line(p, text, *rest);
}

/* Reads a sample's new block; text extends to the end of the input. */
static void read_block(struct perf_script *p, const struct perf_waiting *w, const char *end)
{
	const char *data = w->block.span.data;
	struct str text = {data, (size_t)(end - data)};

	p->is_open = true;
	p->sample = w->sample;
	p->block = w->block;
	p->line_number = w->line_number;
	for (uint32_t i = 0; i <= w->block.lines; i++)
		take_line(p, &text);
}

/*
 * Adds the queued samples.  Their blocks' earlier occurrences are far away in memory, so all are
 * looked up together, to overlap the cache misses.
 */
static void settle_samples(struct perf_script *p, const char *end)
{
	const struct perf_sample sample = p->sample;
	const uint64_t line_number = p->line_number;
	const bool is_open = p->is_open;
	size_t count = p->waiting_count;

	p->waiting_count = 0;
	perf_blocks_warm(&p->blocks, p->waiting, count);
	for (size_t i = 0; i < count; i++) {
		struct perf_waiting *w = &p->waiting[i];
		if (perf_blocks_find(&p->blocks, &w->block, &w->sample.stack))
			perf_rows_add(&p->rows, &w->sample);
		else
			read_block(p, w, end);
	}
	p->sample = sample;
	p->line_number = line_number;
	p->is_open = is_open;
	p->block.lines = 0;
}

static void read_lines(struct perf_script *p, struct str rest)
{
	const char *end = rest.data + rest.size;

	while (rest.size) {
		if (p->is_open ? p->is_block_ahead && take_block(p, &rest) : take_head(p, &rest)) {
			if (p->waiting_count == PERF_WAITING_MAX)
				settle_samples(p, end);
			continue;
		}
		if (p->waiting_count)
			settle_samples(p, end);
		take_line(p, &rest);
	}
	settle_samples(p, end);
	close_sample(p);
}

static void add_notes(struct perf_script *p)
{
	bad_lines_note(&p->bad, p->builder);
	counted_note(p->builder, NOTE_INFO, p->skipped,
		"a line below a frame, of an instruction or the like, was skipped",
		"lines below frames, of instructions or the like, were skipped");
	counted_note(p->builder, NOTE_TRUNCATED, p->stacks.cut,
		"a stack lacks frames: there are too many distinct stacks",
		"stacks lack frames: there are too many distinct stacks");
	if (p->lost) {
		builder_header(p->builder)->stats.lost = p->lost;
		builder_note(p->builder, NOTE_LOST, p->lost,
			"samples were lost, as perf could not keep up");
	}
}

static struct error *finish(struct perf_script *p, const char *name, size_t input_size)
{
	if (p->rows.count == 0 && p->bad.count)
		return error_new(ERROR_INPUT,
			"%s: no sample of perf script is in it (line %llu is the first that is not "
			"part of one)",
			name, (unsigned long long)p->bad.told[0]);
	if (p->rows.count == 0)
		return error_new(ERROR_INPUT, "%s: no sample of perf script is in it", name);
	struct error *err = bad_lines_refuse(
		&p->bad, p->line_number - p->bad.count, name, "the text of perf script");
	if (err)
		return err;
	perf_rows_finish(&p->rows, &p->tasks, input_size);
	add_notes(p);
	return NULL;
}

/*
 * Whether a first line is near the start.  The text may begin within a sample, whose frames would
 * look like one without first line; a stack is much shorter than this.
 */
static bool has_head_near(struct str rest)
{
	struct perf_head head;

	for (const char *end = rest.data + BID_BYTES; rest.size && rest.data < end;) {
		struct str line = str_take_line(&rest);

		if (line.size && line.data[0] != '\t' && line.data[0] != '#' &&
			perf_head_scan(line, &head) == PERF_HEAD_SAMPLE)
			return true;
	}
	return false;
}

static struct error *perf_script_read(const struct reader_input *input, struct builder *builder)
{
	struct perf_script p = {
		.builder = builder, .tasks = {.builder = builder}, .rows = {.builder = builder}};
	struct strbuf buffer = {0};

	perf_stacks_init(&p.stacks, builder, input->size);
	perf_blocks_init(&p.blocks, input->size);
	struct str text = text_input(input->data, input->size, &buffer);
	p.has_heads = has_head_near(text);
	read_lines(&p, text);
	struct error *err = finish(&p, input->name, input->size);
	perf_stacks_deinit(&p.stacks);
	perf_blocks_deinit(&p.blocks);
	perf_tasks_deinit(&p.tasks);
	perf_rows_deinit(&p.rows);
	strbuf_deinit(&buffer);
	return err;
}

/* What the first lines look like. */
struct looks {
	unsigned int heads, frames, counted, others;
};

/*
 * Whether a line that may be a frame is rather one of `uniq -c`, "   1234 name": perf puts an
 * address in 16 columns, uniq a count in 7.
 */
static bool is_counted(struct str line)
{
	size_t at = 0, digits;

	while (at < line.size && line.data[at] == ' ')
		at++;
	digits = at;
	while (at < line.size && line.data[at] >= '0' && line.data[at] <= '9')
		at++;
	return at > digits && at < 16 && at < line.size && line.data[at] == ' ' &&
	       line.data[line.size - 1] != ')';
}

static void look_at(struct looks *looks, struct str line)
{
	struct perf_frame frame;
	struct perf_head head;

	if (line.data[0] == '#')
		return;
	if (perf_head_scan(line, &head) != PERF_HEAD_NONE) {
		looks->heads++;
	} else if (perf_frame_scan(line, &frame) && frame.name.size) {
		looks->frames++;
		looks->counted += is_counted(line);
	} else {
		looks->others += !is_indented(line);
	}
}

/* A sample's first line, followed by a frame on it or below it, identifies the format. */
static int perf_script_bid(const uint8_t *data, size_t size)
{
	struct strbuf buffer = {0};
	struct str rest = text_input_start(data, size, BID_BYTES, &buffer);
	struct looks looks = {0};

	while (rest.size && looks.heads + looks.frames + looks.others < 200) {
		struct str line = str_take_line(&rest);
		if (str_trim(line).size)
			look_at(&looks, line);
	}
	strbuf_deinit(&buffer);
	if (looks.others > looks.heads + looks.frames)
		return 0;
	if (looks.heads)
		return 70;
	return looks.frames > looks.counted ? 30 : 0;
}

const struct reader reader_perf_script = {
	.name = "perf-script",
	.summary = "the text of perf script, with any -F",
	.bid = perf_script_bid,
	.read = perf_script_read,
};
