/*
 * Folded stacks, the text that Brendan Gregg's stackcollapse programs write: one stack a line, root
 * first, frames parted by ';', the last space before the weight.  docs/formats/folded.md says what
 * exactly is read.
 *
 * Most lines of a large file repeat a stack that was seen, or share most of it with the line
 * before. So a line is looked up whole first; if it is new, the frames that it shares with the last
 * new line keep their stacks, and only the rest is taken apart.  Both tables hold pointers into the
 * input.
 */
#include "readers/readers.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/row_table.h"
#include "base/utf16.h"
#include "base/vec.h"

/* Deeper stacks than any real one; a line of only ';' must not cost 50 times its size. */
#define FRAMES_MAX ((size_t)1 << 22)
/* Distinct lines remembered whole; 24 to 40 bytes each. */
#define LINES_MAX ((size_t)1 << 20)
/* Line numbers that a note about malformed lines tells. */
#define TOLD_MAX 8

/* A run of the input's bytes that stands for a frame or a stack. */
struct span {
	const char *data;
	uint32_t size;
	uint32_t hash;
	uint32_t id;
};

static uint64_t span_hash(const void *row)
{
	const struct span *s = row;

	return s->hash;
}

static bool span_same(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->hash == y->hash && x->size == y->size && memcmp(x->data, y->data, x->size) == 0;
}

static const struct row_kind span_rows = {sizeof(struct span), span_hash, span_same};

/* A frame of the last line that was taken apart. */
struct step {
	size_t end; /* where its text ends in the line */
	stack_id stack;
};

struct folded {
	struct builder *builder;
	struct row_table frames, lines; /* of spans */
	struct str last;		/* stack text of the last line that was taken apart */
	VEC(struct step) steps;
	uint64_t line_number;
	uint64_t good, malformed, rounded;
	uint64_t told[TOLD_MAX]; /* numbers of the first malformed lines */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct str strip_end(struct str s)
{
	while (s.size && (is_blank(s.data[s.size - 1]) || s.data[s.size - 1] == '\r'))
		s.size--;
	return s;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits of s from *i on as a number; false if it passes 63 bits. */
static bool parse_digits(struct str s, size_t *i, uint64_t *value)
{
	for (; *i < s.size && is_digit(s.data[*i]); ++*i) {
		if (__builtin_mul_overflow(*value, 10u, value) ||
			__builtin_add_overflow(*value, (uint64_t)(s.data[*i] - '0'), value))
			return false;
	}
	return *value <= INT64_MAX;
}

/* Passes over "." and digits at *i; true if they make up a half or more. */
static bool parse_fraction(struct str s, size_t *i)
{
	size_t first = ++*i;

	while (*i < s.size && is_digit(s.data[*i]))
		++*i;
	return first < *i && s.data[first] >= '5';
}

/* An integer, or a decimal fraction, which is rounded, half away from zero. */
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

/* Parts a line at the last space before the weight; false if it is no folded stack. */
static bool parse_line(struct str line, struct str *stack, int64_t *weight, bool *is_rounded)
{
	line = strip_end(line);
	const char *space = line.size ? memrchr(line.data, ' ', line.size) : NULL;

	if (space == NULL || line.size > UINT32_MAX)
		return false;
	*stack = (struct str){line.data, (size_t)(space - line.data)};
	if (is_too_deep(*stack))
		return false;
	struct str rest = {space + 1, line.size - stack->size - 1};
	return parse_weight(rest, weight, is_rounded);
}

/* Comments, and lines with nothing on them. */
static bool is_passed_over(struct str line)
{
	return (line.size && line.data[0] == '#') || strip_end(line).size == 0;
}

/* The frame of a text seen for the first time. */
static frame_id frame_new(struct builder *b, struct str text)
{
	object_id object = {NO_ID};
	size_t blanks = 0;

	while (blanks < text.size && is_blank(text.data[blanks]))
		blanks++;
	if (blanks == text.size)
		text = STR("[unknown]");
	const char *tick = memchr(text.data, '`', text.size);
	if (tick && tick > text.data && tick + 1 < text.data + text.size) {
		struct str module = {text.data, (size_t)(tick - text.data)};
		enum object_kind kind =
			str_starts_with(module, STR("[kernel")) ? OBJECT_KERNEL : OBJECT_USER;
		object = builder_object(b, module, STR(""), kind);
		text = (struct str){tick + 1, text.size - module.size - 1};
	}
	function_id function =
		builder_function(b, builder_string(b, text), object, (string_id){0}, 0);
	return builder_frame(b, function, (string_id){0}, 0, false, 0);
}

#define SEMICOLONS 0x3b3b3b3b3b3b3b3bu

/* The next 8 bytes, filled up with ';' behind the end. */
static uint64_t load_word(const char *p, size_t left)
{
	uint64_t word = SEMICOLONS;

	if (likely(left >= 8))
		memcpy(&word, p, 8);
	else
		memcpy(&word, p, left);
	return word;
}

/* The lowest set bit is in the byte that is the first ';' of the word. */
static uint64_t find_semicolon(uint64_t word)
{
	uint64_t x = word ^ SEMICOLONS;

	return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

static uint64_t hash_step(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0x8bb84b93962eacc9u;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The frame at the start of s, up to ';' or the end: its end and its hash, found in one go. */
static struct span scan_frame(struct str s)
{
	uint64_t hash = 0x2d358dccaa6c78a5u;
	uint64_t word, found;
	size_t i = 0;

	for (;;) {
		word = load_word(s.data + i, s.size - i);
		found = find_semicolon(word);
		if (found)
			break;
		hash = hash_step(hash, word);
		i += 8;
	}
	unsigned int bits = (unsigned int)__builtin_ctzll(found) & ~7u;
	hash = hash_step(hash, word & (((uint64_t)1 << bits) - 1));
	i += bits / 8;
	return (struct span){
		.data = s.data, .size = (uint32_t)i, .hash = (uint32_t)hash_u64(hash + i)};
}

/* The row of an equal span, added if there is none (then its id is NO_ID). */
static struct span *span_intern(struct row_table *t, struct span span)
{
	span.id = NO_ID;
	uint32_t row = row_table_intern(t, &span_rows, &span);
	return &((struct span *)t->rows)[row];
}

static frame_id frame_of(struct folded *f, struct span text)
{
	struct span *known = span_intern(&f->frames, text);

	if (known->id == NO_ID)
		known->id = frame_new(f->builder, (struct str){text.data, text.size}).i;
	return (frame_id){known->id};
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

/* Drops the steps of the last line that text does not begin with. */
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

/* Takes a stack's text apart, from where it leaves the last one. */
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
		struct span frame = scan_frame((struct str){text.data + at, text.size - at});
		stack = builder_stack(f->builder, stack, frame_of(f, frame));
		at += frame.size;
		vec_push(&f->steps, (struct step){.end = at, .stack = stack});
		at++;
	}
	f->last = text;
	return stack;
}

static stack_id stack_of(struct folded *f, struct str text)
{
	struct span span = {.data = text.data,
		.size = (uint32_t)text.size,
		.hash = (uint32_t)hash_bytes(text.data, text.size)};
	uint32_t row;

	if (f->lines.count < LINES_MAX) {
		struct span *known = span_intern(&f->lines, span);
		if (known->id == NO_ID)
			known->id = stack_new(f, text).i;
		return (stack_id){known->id};
	}
	if (row_table_find(&f->lines, &span_rows, &span, &row))
		return (stack_id){((struct span *)f->lines.rows)[row].id};
	return stack_new(f, text);
}

static void read_line(struct folded *f, struct str line)
{
	struct str stack;
	int64_t weight;
	bool is_rounded;

	f->line_number++;
	if (is_passed_over(line))
		return;
	if (!parse_line(line, &stack, &weight, &is_rounded)) {
		if (f->malformed < TOLD_MAX)
			f->told[f->malformed] = f->line_number;
		f->malformed++;
		return;
	}
	f->good++;
	f->rounded += is_rounded;
	/* A negative weight is a difference: it says nothing about how many samples there were. */
	uint64_t samples = weight < 0 ? UINT64_MAX : (uint64_t)weight;
	builder_weight(f->builder, stack_of(f, stack), &weight, samples);
}

static void add_notes(struct folded *f)
{
	struct strbuf numbers = {0};

	for (size_t i = 0; i < f->malformed && i < TOLD_MAX; i++)
		strbuf_printf(&numbers, "%s%llu", i ? ", " : "", (unsigned long long)f->told[i]);
	if (f->malformed)
		builder_note(f->builder, NOTE_BAD_RECORD, f->malformed,
			"%s malformed and passed over: line%s %s%s",
			f->malformed == 1 ? "a line is" : "lines are", f->malformed == 1 ? "" : "s",
			numbers.data, f->malformed > TOLD_MAX ? ", …" : "");
	if (f->rounded)
		builder_note(f->builder, NOTE_GUESSED, f->rounded,
			"weights with a fraction were rounded to whole numbers");
	strbuf_deinit(&numbers);
}

static struct error *read_lines(struct folded *f, const char *name, struct str text)
{
	(void)builder_metric(f->builder, STR("samples"), STR("count"));
	while (text.size)
		read_line(f, str_take_line(&text));
	if (f->good == 0 && f->malformed)
		return error_new(ERROR_INPUT,
			"%s: no line is a folded stack (line %llu is the first that is not one)",
			name, (unsigned long long)f->told[0]);
	if (f->good == 0)
		return error_new(ERROR_INPUT, "%s: there is no folded stack in it", name);
	add_notes(f);
	return NULL;
}

/* The text of the bytes: without a byte order mark, and as UTF-8 (in buffer) if they were UTF-16.
 */
static struct str text_of(const uint8_t *data, size_t size, struct strbuf *buffer)
{
	struct str text = {(const char *)data, size};

	if (utf16_has_mark(text)) {
		utf16_decode(buffer, text);
		return strbuf_str(buffer);
	}
	if (str_starts_with(text, STR("\xef\xbb\xbf")))
		return (struct str){text.data + 3, size - 3};
	return text;
}

static struct error *folded_read(const struct reader_input *input, struct builder *builder)
{
	struct folded f = {.builder = builder};
	struct strbuf buffer = {0};

	struct error *err = read_lines(&f, input->name, text_of(input->data, input->size, &buffer));
	strbuf_deinit(&buffer);
	row_table_deinit(&f.frames);
	row_table_deinit(&f.lines);
	vec_deinit(&f.steps);
	return err;
}

/*
 * By the first 100 lines.  Any text may have a line that ends in a number, so it takes some of them
 * among many others; a short file, or one that --from folded insists on, may be as bad as it likes.
 */
static int bid_by_lines(struct str text)
{
	unsigned int good = 0, bad = 0;

	while (text.size && good + bad < 100) {
		struct str line = str_take_line(&text), stack;
		int64_t weight;
		bool is_rounded;
		if (is_passed_over(line))
			continue;
		if (parse_line(line, &stack, &weight, &is_rounded))
			good++;
		else
			bad++;
	}
	if (good == 0 || bad > 32 + 8 * good)
		return 0;
	return good >= bad ? 50 : 5;
}

static int folded_bid(const uint8_t *data, size_t size)
{
	struct strbuf buffer = {0};
	struct str start = {(const char *)data, size < 4096 ? size : 4096};
	int bid = 0;

	if (utf16_has_mark(start))
		bid = bid_by_lines(text_of(data, size < 65536 ? size : 65536, &buffer));
	else if (memchr(start.data, '\0', start.size) == NULL)
		bid = bid_by_lines((struct str){start.data, size});
	strbuf_deinit(&buffer);
	return bid;
}

const struct reader reader_folded = {
	.name = "folded",
	.summary = "folded stacks (stackcollapse, flamegraph.pl), one a line",
	.bid = folded_bid,
	.read = folded_read,
};
