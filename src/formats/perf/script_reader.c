/*
 * The text that `perf script` prints: samples one after the other, each a line that says who, when
 * and what, then its frames, leaf first, then an empty line.  There is no specification but
 * perf-script(1), and no file says which fields were asked for; script_head.c and
 * script_frame.c know what a line may be.  docs/formats/perf-script.md says what becomes of
 * it.
 *
 * Most of a large text was seen before: the first lines of samples but for thread and time, the
 * frames below them, all at once, and if not, each by itself.  Those are looked up by a hash that
 * is made while the end is sought (script_repeat.h).  Samples are kept in rows until the end,
 * for only then it is known which events there are and whether all samples have a time.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "formats/common/importer.h"
#include "formats/perf/script_head.h"
#include "formats/perf/script_repeat.h"
#include "formats/perf/script_rows.h"
#include "formats/perf/script_stacks.h"
#include "formats/perf/script_tasks.h"
#include "formats/common/text_input.h"

/* What begins a bid is looked for in. */
#define BID_BYTES ((size_t)65536)

struct perf_script {
	struct builder *builder;
	struct perf_stacks stacks;
	struct perf_tasks tasks;
	struct perf_rows rows;
	struct perf_heads heads;
	struct perf_blocks blocks;
	bool is_open;	     /* a sample has begun */
	bool is_block_ahead; /* and nothing of it was read but its first line */
	struct perf_sample sample;
	struct perf_block block; /* the new one being read line by line; lines 0: none */
	struct perf_waiting waiting[PERF_WAITING_MAX];
	size_t waiting_count;
	uint64_t line_number;
	struct bad_lines bad;
	uint64_t passed_over; /* lines below frames that are none */
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

/* Adds the frame in a line, if there is one. */
static bool read_frame(struct perf_script *p, struct str line)
{
	struct span span = span_scan(line, '\n');
	struct perf_frame frame;

	if (p->is_open && perf_stacks_push_known(&p->stacks, span))
		return true;
	if (!perf_frame_scan(line, &frame))
		return false;
	/* Without a sample above, a word of a to f is none. */
	if (!p->is_open && frame.name.size == 0 && !is_indented(line))
		return false;
	if (!p->is_open)
		open_sample(p, &(struct perf_head){.time_ns = UINT64_MAX, .period = UINT64_MAX});
	if (!perf_stacks_push_known(&p->stacks, span))
		perf_stacks_push_new(&p->stacks, span, &frame);
	return true;
}

/* "PERF_RECORD_LOST lost 12": samples that perf could not write. */
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

/* rest: the text behind the line. */
static bool read_head(struct perf_script *p, struct str line, struct str rest)
{
	struct perf_head head;

	switch (perf_head_scan(line, &head)) {
	case PERF_HEAD_SAMPLE:
		open_sample(p, &head);
		/* Without call chains the one frame stands behind the event. */
		if (head.rest.size && read_frame(p, head.rest))
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

/* A line that says who alone, above one with a frame. */
static bool read_weak_head(struct perf_script *p, struct str line, struct str next)
{
	struct perf_frame frame;
	struct perf_head head;

	if (next.size == 0 || next.data[0] != '\t' || !perf_frame_scan(next, &frame) ||
		!perf_head_scan_weak(line, &head))
		return false;
	open_sample(p, &head);
	return true;
}

/* What "# NAME : VALUE" says where the name is that. */
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

/* The program that perf recorded is what follows "--"; without that, nothing tells it. */
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

/* A line that was not seen before as a frame. */
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
	if (p->is_open && is_indented(line))
		p->passed_over++;
	else if (!read_weak_head(p, line, str_take_line(&rest)))
		bad_lines_add(&p->bad, p->line_number);
}

/* A sample's first line that is like one before, whole. */
static bool take_head(struct perf_script *p, struct str *rest)
{
	if (!perf_heads_take(&p->heads, &p->tasks, rest, &p->sample))
		return false;
	p->is_open = p->is_block_ahead = true;
	p->line_number++;
	return true;
}

/* The frames below a sample's first line, up to the empty line: they wait for the next ones. */
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
 * At a line without anything.  If a block that was not seen before ends there, and all of it is
 * what the sample's stack was made of, that is remembered.
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

/* The next line, by itself. */
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

/* Reads the block of a sample that was not seen before; text ends where the input does. */
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
 * Adds the samples that wait.  Where their blocks were seen before is far away in memory; so all of
 * them are sought at once, and none waits for another's.
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
	counted_note(p->builder, NOTE_INFO, p->passed_over,
		"a line below a frame, of an instruction or the like, was passed over",
		"lines below frames, of instructions or the like, were passed over");
	counted_note(p->builder, NOTE_TRUNCATED, p->stacks.cut, NULL,
		"stacks lack frames, as there are too many different ones for memory");
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
	perf_rows_finish(&p->rows, &p->tasks, input_size);
	add_notes(p);
	return NULL;
}

static struct error *perf_script_read(const struct reader_input *input, struct builder *builder)
{
	struct perf_script p = {
		.builder = builder, .tasks = {.builder = builder}, .rows = {.builder = builder}};
	struct strbuf buffer = {0};

	perf_stacks_init(&p.stacks, builder, input->size);
	perf_blocks_init(&p.blocks, input->size);
	read_lines(&p, text_input(input->data, input->size, &buffer));
	struct error *err = finish(&p, input->name, input->size);
	perf_stacks_deinit(&p.stacks);
	perf_blocks_deinit(&p.blocks);
	perf_tasks_deinit(&p.tasks);
	perf_rows_deinit(&p.rows);
	strbuf_deinit(&buffer);
	return err;
}

/* What the first lines are. */
struct looks {
	unsigned int heads, frames, others;
};

static void look_at(struct looks *looks, struct str line)
{
	struct perf_frame frame;
	struct perf_head head;

	if (line.data[0] == '#')
		return;
	if (perf_head_scan(line, &head) != PERF_HEAD_NONE)
		looks->heads++;
	else if (perf_frame_scan(line, &frame) && frame.name.size)
		looks->frames++;
	else
		looks->others += !is_indented(line);
}

/* A sample's first line, with a frame below or behind it, is hardly anything else. */
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
	return looks.frames ? 30 : 0;
}

const struct reader reader_perf_script = {
	.name = "perf-script",
	.summary = "the text of perf script, with any -F",
	.bid = perf_script_bid,
	.read = perf_script_read,
};
