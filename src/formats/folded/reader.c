/*
 * Reads folded stacks, the text that Brendan Gregg's stackcollapse programs write: one stack per
 * line, root first, frames separated by ';', with the last blank before the weight.
 * docs/formats/folded.md defines exactly what is read.
 *
 * Most lines of a large file repeat an earlier stack, or share most of it with the previous line.
 * So a line is first looked up as a whole; if it is new, the frames that it shares with the last
 * new line keep their stacks, and only the rest is parsed, many frames at a time.  Both tables hold
 * pointers into the input or to stored names.
 *
 * Lines are separated, weighed and hashed in blocks, which several threads scan ahead; one adds
 * them, in order.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/escape.h"
#include "base/jobs.h"
#include "base/vec.h"
#include "model/merge.h"
#include "formats/common/importer.h"
#include "formats/common/spans.h"
#include "formats/common/text_field.h"
#include "formats/common/text_input.h"

/* Deeper than any real stack; a line of only ';' must not take 50 times its size in memory. */
#define FRAMES_MAX ((size_t)1 << 22)
/* Distinct lines remembered. */
#define LINES_MAX ((size_t)1 << 20)
/* Memory per remembered line or frame, including its index while it grows. */
#define SPAN_BYTES (sizeof(struct span) + 56)
/* Lines looked up together. */
#define LINES_AT_ONCE 16
/*
 * Blocks that are scanned while the lines of as many others are added.  A block is at least this
 * long, up to the end of a line; with the shortest lines its list takes eight times its size, or
 * sixteen when it has just grown.
 */
#define BLOCKS	    8
#define BLOCK_BYTES ((size_t)1 << 16)
#define LISTS_BYTES (2 * BLOCKS * BLOCK_BYTES * 16)
/* Adding lines takes some four times as long as scanning them. */
#define THREADS_MAX 4
/* How much of a remembered line is prefetched; the processor's prefetcher does the rest. */
#define WARM_BYTES 1024
/* The number of lines checked to decide whether the text is a difference. */
#define DIFFERENCE_LINES 1000
/* Bids look at this many bytes. */
#define BID_BYTES ((size_t)8192)
/* Frames of a line looked up together. */
#define FRAMES_AT_ONCE 64

/* A frame of the last parsed line. */
struct step {
	size_t end; /* end of its text in the line */
	stack_id stack;
};

/* The weights of a line; for a difference: new minus old, old, and new. */
struct weights {
	int64_t of[DIFFERENCE_METRICS];
	bool is_rounded;
};

/* A line that has been scanned but not added yet. */
struct line {
	const char *stack; /* its text and hash, as in struct span */
	uint32_t size, hash;
	int64_t weight, old; /* of a difference: the new weight, and the old one */
};

/* Some lines of the text. */
struct block {
	struct str text;
	VEC(struct line) lines; /* the good ones */
	uint64_t line_count;
	uint64_t rounded;
	struct bad_lines bad; /* by their numbers in the block */
};

struct folded {
	struct builder *builder;
	struct row_table frames, lines; /* of spans */
	struct str last;		/* stack text of the last parsed line */
	VEC(struct step) steps;
	bool is_difference; /* two weights per line */
	uint64_t line_number;
	uint64_t good, rounded;
	struct bad_lines bad;
	struct str rest; /* the text that is not in a block yet */
};

static struct str strip_end(struct str s)
{
	while (s.size && (text_is_blank(s.data[s.size - 1]) || s.data[s.size - 1] == '\r'))
		s.size--;
	return s;
}

/* Parses the digits from s[*i] on; false if the number exceeds 63 bits. */
static bool parse_digits(struct str s, size_t *i, uint64_t *value)
{
	for (; *i < s.size && char_is_digit(s.data[*i]); ++*i) {
		if (__builtin_mul_overflow(*value, 10u, value) ||
			__builtin_add_overflow(*value, (uint64_t)(s.data[*i] - '0'), value))
			return false;
	}
	return *value <= INT64_MAX;
}

/* Skips "." and digits at *i; true if they amount to a half or more. */
static bool parse_fraction(struct str s, size_t *i)
{
	size_t first = ++*i;

	while (*i < s.size && char_is_digit(s.data[*i]))
		++*i;
	return first < *i && s.data[first] >= '5';
}

/* Parses an integer or a decimal fraction, which is rounded, half away from zero. */
static bool parse_weight(struct str s, int64_t *weight, bool *is_rounded)
{
	uint64_t value = 0;
	size_t i = s.size && s.data[0] == '-';
	bool negative = i == 1;
	size_t start = i;

	if (!parse_digits(s, &i, &value))
		return false;
	size_t digits = i - start;
	*is_rounded = i < s.size && s.data[i] == '.';
	if (*is_rounded) {
		size_t dot = i;
		value += parse_fraction(s, &i);
		digits += i - dot - 1;
	}
	if (digits == 0 || i != s.size || value > INT64_MAX)
		return false;
	*weight = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

static bool is_too_deep(struct str stack)
{
	size_t frames = 1;

	if (stack.size < FRAMES_MAX)
		return false;
	for (size_t i = 0; i < stack.size; i++)
		frames += stack.data[i] == ';';
	return frames > FRAMES_MAX;
}

/* Takes the last word, if it is a weight, and the blank before it off the line. */
static bool take_weight(struct str *line, int64_t *weight, bool *is_rounded)
{
	const char *space = line->size ? memrchr(line->data, ' ', line->size) : NULL;
	size_t start = space ? (size_t)(space - line->data) + 1 : 0;
	const char *tab = memrchr(line->data + start, '\t', line->size - start);

	if (tab)
		start = (size_t)(tab - line->data) + 1;
	struct str word = {line->data + start, line->size - start};
	if (start == 0 || !parse_weight(word, weight, is_rounded))
		return false;
	line->size = start - 1;
	return true;
}

/* Splits a line at the blank before the weight; false if it is not a folded stack. */
static bool parse_line(struct str line, struct str *stack, struct weights *weights)
{
	*stack = strip_end(line);
	return stack->size && stack->size <= UINT32_MAX &&
	       take_weight(stack, &weights->of[0], &weights->is_rounded) && !is_too_deep(*stack);
}

/* The same for a line of a difference, "STACK OLD NEW" (difffolded.pl). */
static bool parse_difference(struct str line, struct str *stack, struct weights *weights)
{
	int64_t old_weight, new_weight;
	bool is_old_rounded;

	if (!parse_line(line, stack, weights))
		return false;
	new_weight = weights->of[0];
	*stack = strip_end(*stack);
	if (stack->size == 0 || !take_weight(stack, &old_weight, &is_old_rounded))
		return false;
	weights->is_rounded |= is_old_rounded;
	weights->of[1] = old_weight;
	weights->of[2] = new_weight;
	return !__builtin_sub_overflow(new_weight, old_weight, &weights->of[0]);
}

/* Whether to skip the line: a comment, or blank. */
static bool is_skipped(struct str line)
{
	return (line.size && line.data[0] == '#') || strip_end(line).size == 0;
}

/* A part of a frame without its escapes, which is in buffer if it has any. */
static struct str unescaped(struct str text, struct strbuf *buffer)
{
	if (!memchr(text.data, '\\', text.size) && !memchr(text.data, '`', text.size))
		return text;
	strbuf_clear(buffer);
	unescape_folded(buffer, text);
	return strbuf_str(buffer);
}

/* Makes the frame of a text seen for the first time. */
static frame_id frame_new(struct builder *b, struct str text)
{
	size_t blanks = 0, module = folded_module_size(text);
	object_id object = {NO_ID};
	struct strbuf buffer = {0};

	while (blanks < text.size && text_is_blank(text.data[blanks]))
		blanks++;
	if (blanks == text.size)
		text = STR("[unknown]");
	if (module) {
		object = object_of_module(b, unescaped((struct str){text.data, module}, &buffer));
		text = (struct str){text.data + module + 1, text.size - module - 1};
	}
	frame_id frame = frame_of_name(b, builder_string(b, unescaped(text, &buffer)), object, 0);
	strbuf_deinit(&buffer);
	return frame;
}

static frame_id frame_of(struct folded *f, struct span text)
{
	uint32_t id = span_find(&f->frames, text);

	if (likely(id != NO_ID))
		return (frame_id){id};
	id = frame_new(f->builder, (struct str){text.data, text.size}).i;
	if (builder_has_room(f->builder, SPAN_BYTES)) {
		struct str name = builder_frame_name(f->builder, (frame_id){id});

		builder_charge(f->builder, SPAN_BYTES);
		/*
		 * Point to the stored name, as names are close together in memory, unlike the lines
		 * of the input.
		 */
		if (str_equal(name, (struct str){text.data, text.size}))
			text.data = name.data;
		span_intern(&f->frames, text)->id = id;
	}
	return (frame_id){id};
}

/* Looks up the frames of texts; false if any is new. */
static bool frames_known(struct folded *f, const struct span *texts, size_t count, frame_id *frames)
{
	for (size_t i = 0; i < count; i++)
		(void)row_table_warm_row(&f->frames, &span_rows, texts[i].hash);
	for (size_t i = 0; i < count; i++) {
		frames[i].i = span_find(&f->frames, texts[i]);
		if (unlikely(frames[i].i == NO_ID))
			return false;
	}
	return true;
}

/*
 * Makes the stacks of the frames below `stack`.  If a frame is new, or stacks run out of room, they
 * are made one by one, so that the room left goes to the first ones.
 */
static void stacks_below(
	struct folded *f, stack_id stack, const struct span *texts, size_t count, stack_id *stacks)
{
	frame_id frames[FRAMES_AT_ONCE];
	size_t done = 0;

	if (likely(frames_known(f, texts, count, frames)))
		done = builder_stack_path(f->builder, stack, frames, count, count, stacks);
	if (done)
		stack = stacks[done - 1];
	for (; done < count; done++)
		stacks[done] = stack = builder_stack(f->builder, stack, frame_of(f, texts[done]));
}

static size_t common_size(struct str a, struct str b)
{
	size_t most = a.size < b.size ? a.size : b.size;
	size_t i = 0;
	uint64_t x, y;

	for (; most - i >= 8; i += 8) {
		memcpy(&x, a.data + i, 8);
		memcpy(&y, b.data + i, 8);
		if (x != y)
			return i + (size_t)__builtin_ctzll(x ^ y) / 8;
	}
	while (i < most && a.data[i] == b.data[i])
		i++;
	return i;
}

/* Drops the steps of the last line that are not a common prefix with text. */
static void keep_common_steps(struct folded *f, struct str text)
{
	size_t common = common_size(f->last, text);

	while (f->steps.count) {
		size_t end = f->steps.data[f->steps.count - 1].end;
		if (end <= common && (end == text.size || text.data[end] == ';'))
			break;
		f->steps.count--;
	}
}

/* Parses a stack's text, from where it differs from the last one. */
static stack_id stack_new(struct folded *f, struct str text)
{
	stack_id stack = {0};
	size_t at = 0;

	keep_common_steps(f, text);
	if (f->steps.count) {
		stack = f->steps.data[f->steps.count - 1].stack;
		at = f->steps.data[f->steps.count - 1].end + 1;
	}
	while (at <= text.size) {
		struct span frames[FRAMES_AT_ONCE];
		stack_id stacks[FRAMES_AT_ONCE];
		size_t count = 0;

		for (; at <= text.size && count < FRAMES_AT_ONCE; count++) {
			frames[count] =
				span_scan((struct str){text.data + at, text.size - at}, ';');
			row_table_warm_slot(&f->frames, frames[count].hash);
			at += frames[count].size;
			vec_push(&f->steps, (struct step){.end = at++});
		}
		stacks_below(f, stack, frames, count, stacks);
		for (size_t i = 0; i < count; i++)
			f->steps.data[f->steps.count - count + i].stack = stacks[i];
		stack = stacks[count - 1];
	}
	f->last = text;
	return stack;
}

static stack_id stack_of(struct folded *f, struct span span)
{
	uint32_t id = span_find(&f->lines, span);

	if (likely(id != NO_ID))
		return (stack_id){id};
	id = stack_new(f, (struct str){span.data, span.size}).i;
	if (f->lines.count < LINES_MAX && builder_has_room(f->builder, SPAN_BYTES)) {
		builder_charge(f->builder, SPAN_BYTES);
		span_intern(&f->lines, span)->id = id;
	}
	return (stack_id){id};
}

/* The number of samples of a line; unknown if negative, which a difference's weights can be. */
static uint64_t samples_of(const struct line *line)
{
	return line->weight < 0 ? UINT64_MAX : (uint64_t)line->weight;
}

/* Prefetches the remembered text that a line will be compared with. */
static void warm_text(const struct span *known)
{
	for (uint32_t k = 0; known && k < WARM_BYTES && k < known->size; k += 64)
		prefetch(known->data + k);
}

static void add_weights(struct folded *f, stack_id stack, const struct line *line)
{
	int64_t weights[DIFFERENCE_METRICS] = {line->weight, line->old, line->weight};

	if (f->is_difference)
		weights[0] -= line->old;
	builder_weight(f->builder, stack, weights, samples_of(line));
}

/*
 * Adds lines.  Their earlier occurrences are far away in memory, so some lines are looked up
 * together, step by step, to overlap the cache misses.
 */
static void add_lines(struct folded *f, const struct line *lines, size_t count)
{
	const struct span *known[LINES_AT_ONCE];
	stack_id stacks[LINES_AT_ONCE];

	for (size_t i = 0; i < count; i++)
		row_table_warm_slot(&f->lines, lines[i].hash);
	for (size_t i = 0; i < count; i++)
		known[i] = row_table_warm_row(&f->lines, &span_rows, lines[i].hash);
	for (size_t i = 0; i < count; i++)
		warm_text(known[i]);
	for (size_t i = 0; i < count; i++) {
		stacks[i] = stack_of(f, (struct span){.data = lines[i].stack,
						.size = lines[i].size,
						.hash = lines[i].hash});
		builder_warm_weight(f->builder, stacks[i]);
	}
	for (size_t i = 0; i < count; i++)
		add_weights(f, stacks[i], &lines[i]);
}

static void add_block(void *folded, void *block)
{
	struct folded *f = folded;
	const struct block *b = block;
	size_t count;

	for (size_t i = 0; i < b->lines.count; i += count) {
		count = b->lines.count - i;
		count = count < LINES_AT_ONCE ? count : LINES_AT_ONCE;
		add_lines(f, b->lines.data + i, count);
	}
	f->good += b->lines.count;
	f->rounded += b->rounded;
	bad_lines_append(&f->bad, &b->bad, f->line_number);
	f->line_number += b->line_count;
}

static void scan_line(struct block *b, struct str text, bool is_difference)
{
	struct str stack;
	struct weights weights;

	b->line_count++;
	if (is_skipped(text))
		return;
	if (!(is_difference ? parse_difference : parse_line)(text, &stack, &weights)) {
		bad_lines_add(&b->bad, b->line_count);
		return;
	}
	struct span span = span_of(stack);

	vec_push(&b->lines, (struct line){.stack = span.data,
				    .size = span.size,
				    .hash = span.hash,
				    .weight = weights.of[is_difference ? 2 : 0],
				    .old = is_difference ? weights.of[1] : 0});
	b->rounded += weights.is_rounded;
}

static void scan_block(void *folded, void *block)
{
	bool is_difference = ((const struct folded *)folded)->is_difference;
	struct block *b = block;
	struct str rest = b->text;

	b->lines.count = 0;
	b->line_count = b->rounded = 0;
	b->bad = (struct bad_lines){0};
	while (rest.size)
		scan_line(b, str_take_line(&rest), is_difference);
}

/* Takes whole lines, some BLOCK_BYTES of them. */
static bool next_block(void *folded, void *next)
{
	struct folded *f = folded;
	struct str block = f->rest;

	if (block.size > BLOCK_BYTES) {
		const char *newline =
			memchr(block.data + BLOCK_BYTES - 1, '\n', block.size - BLOCK_BYTES + 1);

		block.size = newline ? (size_t)(newline - block.data) + 1 : block.size;
	}
	f->rest.data += block.size;
	f->rest.size -= block.size;
	((struct block *)next)->text = block;
	return block.size > 0;
}

static void block_deinit(void *block)
{
	struct block *b = block;

	vec_deinit(&b->lines);
}

static const struct jobs_ahead blocks = {
	.item_bytes = sizeof(struct block),
	.next = next_block,
	.prepare = scan_block,
	.use = add_block,
	.deinit = block_deinit,
};

static void add_text(struct folded *f, struct str text, size_t threads)
{
	builder_charge(f->builder, text.size < LISTS_BYTES / 16 ? text.size * 16 : LISTS_BYTES);
	f->rest = text;
	jobs_run_ahead(threads < THREADS_MAX ? threads : THREADS_MAX, BLOCKS, &blocks, f);
}

/*
 * Whether the text is a difference: all lines near its start, and more than one, end in two
 * weights.  In a single line, the first number may be part of a frame's name.
 */
static bool is_difference(struct str text)
{
	unsigned int good = 0;

	for (unsigned int i = 0; text.size && i < DIFFERENCE_LINES; i++) {
		struct str line = str_take_line(&text), stack;
		struct weights weights;
		if (is_skipped(line) || !parse_line(line, &stack, &weights))
			continue;
		if (!parse_difference(line, &stack, &weights))
			return false;
		good++;
	}
	return good > 1;
}

static void add_notes(struct folded *f)
{
	bad_lines_note(&f->bad, f->builder);
	counted_note(f->builder, NOTE_GUESSED, f->rounded,
		"a weight with a fraction was rounded to a whole number",
		"weights with a fraction were rounded to whole numbers");
}

static struct error *read_lines(struct folded *f, const struct reader_input *input, struct str text)
{
	const char *name = input->name;

	f->is_difference = input->weight_name == NULL && is_difference(text);
	(void)builder_metric(f->builder,
		input->weight_name ? str_from(input->weight_name) : STR("samples"),
		input->weight_unit ? str_from(input->weight_unit) : STR("count"));
	if (f->is_difference) {
		(void)builder_metric(f->builder, STR("samples (old)"), STR("count"));
		(void)builder_metric(f->builder, STR("samples (new)"), STR("count"));
	}
	add_text(f, text, input->threads);
	if (f->good == 0 && f->bad.count)
		return error_new(ERROR_INPUT,
			"%s: no line is a folded stack of at most %zu frames with a weight that "
			"fits in 63 bits (line %llu is the first malformed one)",
			name, FRAMES_MAX, (unsigned long long)f->bad.told[0]);
	if (f->good == 0)
		return error_new(ERROR_INPUT, "%s: contains no folded stack", name);
	add_notes(f);
	return bad_lines_refuse(&f->bad, f->good, name, "folded stacks");
}

static struct error *folded_read(const struct reader_input *input, struct builder *builder)
{
	struct folded f = {.builder = builder};
	struct strbuf buffer = {0};

	struct error *err = read_lines(&f, input, text_input(input->data, input->size, &buffer));
	strbuf_deinit(&buffer);
	row_table_deinit(&f.frames);
	row_table_deinit(&f.lines);
	vec_deinit(&f.steps);
	return err;
}

/* Whether the line is at least similar to a folded stack: its weight may be out of range. */
static bool looks_folded(struct str line)
{
	struct str stack, rest = strip_end(line);
	struct weights weights;

	if (parse_line(line, &stack, &weights))
		return true;
	while (rest.size && char_is_digit(rest.data[rest.size - 1]))
		rest.size--;
	return rest.size > 1 && rest.size < strip_end(line).size &&
	       text_is_blank(rest.data[rest.size - 1]);
}

/*
 * Bids by the first 100 lines.  Any text may have a line that ends in a number, so several of them
 * are needed among many others.  A short file, or one read with --from folded, may have any share
 * of bad lines.
 */
static int bid_by_lines(struct str text)
{
	unsigned int good = 0, bad = 0;

	while (text.size && good + bad < 100) {
		struct str line = str_take_line(&text);
		if (is_skipped(line))
			continue;
		if (looks_folded(line))
			good++;
		else
			bad++;
	}
	if (good == 0 || bad > 32 + 8 * good)
		return 0;
	return good >= bad ? 50 : 5;
}

static bool ends_in_weight(const uint8_t *data, size_t size)
{
	while (size && (data[size - 1] <= ' ')) /* also UTF-16 */
		size--;
	return size && data[size - 1] >= '0' && data[size - 1] <= '9';
}

static int folded_bid(const uint8_t *data, size_t size)
{
	struct strbuf buffer = {0};
	struct str start = text_input_start(data, size, BID_BYTES, &buffer);

	/* The stack of a deep recursion may be a line of megabytes, with its weight at the end. */
	if (size > BID_BYTES && start.size && ends_in_weight(data, size) &&
		memchr(start.data, '\n', start.size) == NULL) {
		strbuf_clear(&buffer);
		start = text_input_start(data, size, size, &buffer);
	}
	int bid = bid_by_lines(start);
	strbuf_deinit(&buffer);
	return bid;
}

const struct reader reader_folded = {
	.name = "folded",
	.summary = "folded stacks (stackcollapse, flamegraph.pl), one a line",
	.bid = folded_bid,
	.read = folded_read,
};
