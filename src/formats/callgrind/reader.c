/*
 * callgrind.out, what valgrind's callgrind and cachegrind write, and others for KCachegrind: costs
 * by function and line, and calls with what they cost.  The valgrind manual, "Callgrind Format
 * Specification" (cl-format.xml), version 1; docs/formats/callgrind.md says what exactly is read.
 *
 * There are no stacks in it: each place with costs is a stack of one frame; who called whom, and
 * what that took, is in arcs.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/callgrind/line.h"
#include "formats/callgrind/names.h"
#include "formats/callgrind/places.h"

/* Line numbers that a note about malformed lines tells. */
#define TOLD_MAX 8
/* Memory for places and calls, and for names, beside so many times the file. */
#define ROOM_FIXED ((size_t)16 << 20)
#define ROOM_RATIO 2

/* What the line behind this one is. */
enum expect {
	EXPECT_COST,
	EXPECT_CALL, /* what the calls of a `calls=` line cost */
	EXPECT_JUMP, /* from where a `jump=` is */
};

/* A function as lines name it: where its costs belong, or who is called. */
struct callgrind_function {
	uint32_t object, file, name;
	function_id id;
	bool is_known; /* id is that of the three */
};

/* Of what name and id belong to: 12 bytes, as they are sought in no order that a cache knows. */
struct callgrind_named {
	uint32_t object, file;
	function_id id; /* NO_ID: nobody */
};

struct callgrind {
	const struct reader_input *input;
	struct builder *builder;
	struct callgrind_events events;
	struct callgrind_names names;
	struct callgrind_places places;
	struct callgrind_line line;
	struct callgrind_function caller, callee;
	/* By name, as of files and objects there mostly is but one of it: whom it named last. */
	VEC(struct callgrind_named) named;
	struct frame place; /* of costs; inlining makes its file another than the function's */
	enum expect expect;
	uint64_t calls;
	int64_t *weight; /* [metric] of one line */
	/* [metric]: what the lines before this part sum up to; what the part says it has. */
	int64_t *sum_before, *stated;
	bool has_stated, is_callgrind;
	uint64_t part_lines; /* costs in this part */
	uint64_t parts, threads, line_number, good, bad, differing, jumps;
	uint64_t told[TOLD_MAX];
};

static void bad_line(struct callgrind *c)
{
	if (c->bad < TOLD_MAX)
		c->told[c->bad] = c->line_number;
	c->bad++;
}

/* Whom that name was of last, nobody at first. */
static struct callgrind_named *last_named(struct callgrind *c, uint32_t name)
{
	while (c->named.count <= name)
		vec_push(&c->named, (struct callgrind_named){.id = {NO_ID}});
	return &c->named.data[name];
}

static void find_function(struct callgrind *c, struct callgrind_function *f)
{
	struct callgrind_named *last = last_named(c, f->name);

	if (last->id.i == NO_ID || last->object != f->object || last->file != f->file)
		*last = (struct callgrind_named){.object = f->object,
			.file = f->file,
			.id = builder_function(c->builder, (string_id){f->name},
				(object_id){f->object}, (string_id){f->file}, 0)};
	f->id = last->id;
	f->is_known = true;
}

static function_id function_of(struct callgrind *c, struct callgrind_function *f)
{
	if (!f->is_known)
		find_function(c, f);
	return f->id;
}

static const int64_t *line_weight(struct callgrind *c)
{
	if (c->events.is_plain)
		return c->line.numbers;
	callgrind_events_weigh(&c->events, c->line.numbers, c->weight);
	return c->weight;
}

static inline void add_place(struct callgrind *c)
{
	uint64_t line = c->line.place.position[CALLGRIND_LINE];
	const int64_t *weight = line_weight(c);

	c->place.function = function_of(c, &c->caller);
	c->place.line = line < UINT32_MAX ? (uint32_t)line : 0;
	c->place.obj_addr =
		c->events.has_weights_as_calls ? 0 : c->line.place.position[CALLGRIND_ADDRESS];
	callgrind_places_add(&c->places, &c->place, weight);
}

/* Whom a call is of when the next one says nothing else. */
static void reset_callee(struct callgrind *c)
{
	c->callee.object = c->caller.object;
	c->callee.file = c->caller.file;
	c->callee.is_known = false;
}

static void add_call(struct callgrind *c)
{
	callgrind_places_call(&c->places, function_of(c, &c->caller), function_of(c, &c->callee),
		c->events.has_weights_as_calls ? 0 : c->calls, line_weight(c));
	reset_callee(c);
}

/* A line of costs was read, of a call or of a place. */
static inline void take_cost(struct callgrind *c)
{
	c->good++;
	c->part_lines++;
	if (c->expect == EXPECT_CALL)
		add_call(c);
	else
		add_place(c);
	c->expect = EXPECT_COST;
}

static void read_cost(struct callgrind *c, struct str line)
{
	bool is_jump = c->expect == EXPECT_JUMP;

	if (!callgrind_line_read(&c->line, line, is_jump ? 0 : c->events.column_count))
		bad_line(c);
	else if (!is_jump)
		take_cost(c);
	c->expect = EXPECT_COST;
}

/* ---- lines that name something ---- */

static void set_function(struct callgrind *c, uint32_t id)
{
	c->caller.name = id;
	c->caller.is_known = false;
	c->place.file.i = c->caller.file;
	reset_callee(c);
}

static void set_object(struct callgrind *c, uint32_t id)
{
	c->caller.object = id;
	c->caller.is_known = false;
	reset_callee(c);
}

static void set_file(struct callgrind *c, uint32_t id)
{
	c->caller.file = id;
	c->caller.is_known = false;
	c->place.file.i = id;
	reset_callee(c);
}

static void set_line_file(struct callgrind *c, uint32_t id)
{
	c->place.file.i = id;
}

static void set_called_function(struct callgrind *c, uint32_t id)
{
	c->callee.name = id;
	c->callee.is_known = false;
}

static void set_called_object(struct callgrind *c, uint32_t id)
{
	c->callee.object = id;
	c->callee.is_known = false;
}

static void set_called_file(struct callgrind *c, uint32_t id)
{
	c->callee.file = id;
	c->callee.is_known = false;
}

/* Targets of jumps are of no use here, but for the names that they give to ids. */
static void pass_name(struct callgrind *c, uint32_t id)
{
	(void)c;
	(void)id;
}

/* What stands before a name.  The text fills the eight bytes that a line's start is taken as. */
static const struct mark {
	char text[8];
	enum callgrind_space space;
	void (*set)(struct callgrind *c, uint32_t id);
} marks[] = {
	/* The more frequent ones first. */
	{"cfn=", CALLGRIND_FUNCTIONS, set_called_function},
	{"cfi=", CALLGRIND_FILES, set_called_file},
	{"fi=", CALLGRIND_FILES, set_line_file},
	{"fe=", CALLGRIND_FILES, set_line_file},
	{"fn=", CALLGRIND_FUNCTIONS, set_function},
	{"cob=", CALLGRIND_OBJECTS, set_called_object},
	{"fl=", CALLGRIND_FILES, set_file},
	{"ob=", CALLGRIND_OBJECTS, set_object},
	{"cfl=", CALLGRIND_FILES, set_called_file},
	{"jfi=", CALLGRIND_FILES, pass_name},
	{"jfn=", CALLGRIND_FUNCTIONS, pass_name},
	{"job=", CALLGRIND_OBJECTS, pass_name},
};

static inline uint64_t load_8(const char *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return bytes;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* The mark that a line begins with, by its first 8 bytes, and its size; NULL: it has none. */
static inline const struct mark *find_mark(uint64_t first, size_t *size)
{
	/* The lowest bit that is left is that of the first '='; before it are 2 or 3 letters. */
	uint64_t others = first ^ EACH_BYTE * '=';
	uint64_t equals = (others - EACH_BYTE) & ~others & UINT64_C(0x80800000);

	if (equals == 0)
		return NULL;
	*size = (size_t)__builtin_ctzll(equals) / 8 + 1;
	uint64_t text = first & (UINT64_MAX >> (64 - 8 * *size));
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (load_8(marks[i].text) == text)
			return &marks[i];
	return NULL;
}

static bool read_name(struct callgrind *c, struct str line)
{
	char begin[8] = {0};
	size_t size;

	memcpy(begin, line.data, line.size < sizeof(begin) ? line.size : sizeof(begin));
	const struct mark *mark = find_mark(load_8(begin), &size);
	if (mark == NULL)
		return false;
	struct str text = {line.data + size, line.size - size};
	bool is_callee = mark->set == set_called_function;
	c->names.function_object = is_callee ? c->callee.object : c->caller.object;
	mark->set(c, callgrind_names_read(&c->names, mark->space, text));
	return true;
}

/* ---- the header, and what stands at the end of a part ---- */

/* What the file says that a part sums up to is worth a note where it does not. */
static void end_part(struct callgrind *c)
{
	size_t count = c->events.metric_count;
	bool differs = false;

	for (uint32_t m = 0; m < count; m++) {
		/* Where it wraps, builder_finish refuses the profile. */
		uint64_t sum = (uint64_t)builder_place_sum(c->builder, (metric_id){m});

		differs |=
			c->has_stated && (uint64_t)c->stated[m] != sum - (uint64_t)c->sum_before[m];
		c->sum_before[m] = (int64_t)sum;
	}
	c->differing += differs;
	c->has_stated = false;
	c->part_lines = 0;
}

static void begin_part(struct callgrind *c, struct str text)
{
	(void)text;
	if (c->part_lines)
		end_part(c);
	c->parts++;
}

/* Dumps of several parts or threads in one file begin with their number. */
static void begin_thread(struct callgrind *c, struct str text)
{
	(void)text;
	if (c->part_lines)
		end_part(c);
	c->threads++;
}

/* `totals:` behind the costs are what they are; `summary:` before them may count a little more. */
static void set_stated(struct callgrind *c, struct str text)
{
	int64_t numbers[CALLGRIND_EVENTS_MAX];

	if (!callgrind_line_read_numbers(&c->line, text, numbers, c->events.column_count)) {
		bad_line(c);
		return;
	}
	callgrind_events_weigh(&c->events, numbers, c->stated);
	c->has_stated = true;
}

static void set_events(struct callgrind *c, struct str text)
{
	callgrind_events_select(&c->events, text);
	callgrind_line_forget_numbers(&c->line);
}

static void set_positions(struct callgrind *c, struct str text)
{
	callgrind_line_columns(&c->line, text);
}

static struct str trimmed(struct str text)
{
	while (text.size && text.data[0] == ' ')
		text = (struct str){text.data + 1, text.size - 1};
	return text;
}

static void set_command(struct callgrind *c, struct str text)
{
	struct builder_header *header = builder_header(c->builder);

	if (header->command.i == 0)
		header->command = builder_string(c->builder, trimmed(text));
}

static void set_creator(struct callgrind *c, struct str text)
{
	c->is_callgrind = str_starts_with(trimmed(text), STR("callgrind"));
	c->line.has_negatives = str_starts_with(trimmed(text), STR("xdebug"));
}

/* "calls=COUNT TARGET": where in the callee is of no use. */
static void set_calls(struct callgrind *c, struct str text)
{
	if (callgrind_line_take_number(&text, &c->calls))
		c->expect = EXPECT_CALL;
	else
		bad_line(c);
}

static void pass_jump(struct callgrind *c, struct str text)
{
	(void)text;
	c->jumps++;
	c->expect = EXPECT_JUMP;
}

/* STR, where a constant must stand. */
#define WORD(literal)                                                                              \
	{                                                                                          \
		(literal), sizeof(literal) - 1                                                     \
	}
static const struct word {
	struct str name;
	void (*read)(struct callgrind *c, struct str text);
} words[] = {
	{WORD("calls="), set_calls},
	{WORD("jump="), pass_jump},
	{WORD("jcnd="), pass_jump},
	{WORD("events:"), set_events},
	{WORD("positions:"), set_positions},
	{WORD("summary:"), set_stated},
	{WORD("totals:"), set_stated},
	{WORD("part:"), begin_part},
	{WORD("thread:"), begin_thread},
	{WORD("cmd:"), set_command},
	{WORD("creator:"), set_creator},
};

/* "word:" of letters: a header line, of those that nobody here needs or some later version's. */
static bool is_header(struct str line)
{
	for (size_t i = 0; i < line.size; i++) {
		char letter = (char)(line.data[i] | 0x20);

		if (line.data[i] == ':')
			return i > 0;
		if ((letter < 'a' || letter > 'z') && line.data[i] != '-' && line.data[i] != '_')
			return false;
	}
	return false;
}

static const struct word *find_word(struct str line)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_starts_with(line, words[i].name))
			return &words[i];
	return NULL;
}

static void read_words(struct callgrind *c, struct str line)
{
	/* The line that was to come has not come. */
	if (c->expect != EXPECT_COST)
		bad_line(c);
	c->expect = EXPECT_COST;
	if (read_name(c, line))
		return;
	const struct word *word = find_word(line);
	if (word) {
		size_t size = word->name.size;

		word->read(c, (struct str){line.data + size, line.size - size});
	} else if (!is_header(line)) {
		bad_line(c);
	}
}

static void read_line(struct callgrind *c, struct str line)
{
	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	if (line.size == 0 || line.data[0] == '#')
		return;
	if (callgrind_line_begins(line.data[0]))
		read_cost(c, line);
	else
		read_words(c, line);
}

/* ---- lines as most are, without a look for their ends ---- */

/* "calls=2 20\n": what stands behind the first number is passed over. */
static inline const char *quick_calls(struct callgrind *c, const char *at)
{
	uint64_t calls = 0;
	unsigned int digits = digits_run((const uint8_t *)at, &calls);

	if (digits == 0 || digits > DIGITS_MAX)
		return NULL;
	const char *end = memchr(at + digits, '\n', CALLGRIND_LINE_QUICK / 2);
	if (end == NULL)
		return NULL;
	c->calls = calls;
	c->expect = EXPECT_CALL;
	return end + 1;
}

#define CALLS UINT64_C(0x3d736c6c6163) /* "calls=" */

/*
 * The line that begins there, CALLGRIND_LINE_QUICK bytes before the end of the file at the least.
 * Behind it; NULL where it is not as most are, and nothing was done.
 */
static inline const char *read_quick(struct callgrind *c, const char *at)
{
	const char *behind;
	uint32_t id;
	size_t size;

	if (c->expect != EXPECT_JUMP && callgrind_line_begins(*at)) {
		behind = callgrind_line_quick(&c->line, at, c->events.column_count);
		if (behind)
			take_cost(c);
		return behind;
	}
	if (*at == '\n')
		return at + 1;
	if (c->expect != EXPECT_COST)
		return NULL;
	uint64_t first = load_8(at);
	if ((first & UINT64_C(0xffffffffffff)) == CALLS)
		return quick_calls(c, at + 6);
	const struct mark *mark = find_mark(first, &size);
	if (mark == NULL)
		return NULL;
	behind = callgrind_names_quick(&c->names, mark->space, at + size, &id);
	if (behind)
		mark->set(c, id);
	return behind;
}

static void read_file(struct callgrind *c, struct str file)
{
	const char *at = file.data, *end = file.data + file.size;

	while (at < end) {
		const char *behind = NULL;

		c->line_number++;
		if (likely(end - at > CALLGRIND_LINE_QUICK))
			behind = read_quick(c, at);
		if (unlikely(behind == NULL)) {
			struct str rest = {at, (size_t)(end - at)};

			read_line(c, str_take_line(&rest));
			behind = rest.data;
		}
		at = behind;
	}
}

/* ---- the whole ---- */

static void note_bad_lines(struct callgrind *c)
{
	struct strbuf numbers = {0};

	for (size_t i = 0; i < c->bad && i < TOLD_MAX; i++)
		strbuf_printf(&numbers, "%s%llu", i ? ", " : "", (unsigned long long)c->told[i]);
	if (c->bad)
		builder_note(c->builder, NOTE_BAD_RECORD, c->bad,
			"%s malformed and passed over: line%s %s%s",
			c->bad == 1 ? "a line is" : "lines are", c->bad == 1 ? "" : "s",
			numbers.data, c->bad > TOLD_MAX ? ", …" : "");
	strbuf_deinit(&numbers);
}

static void note_limits(struct callgrind *c)
{
	struct builder *b = c->builder;

	if (c->names.undefined)
		builder_note(b, NOTE_BAD_RECORD, c->names.undefined,
			"names are given by numbers that no line before has named");
	if (c->names.too_many)
		builder_note(b, NOTE_BAD_RECORD, c->names.too_many,
			"names are too many for a file of this size, and shown as [unknown]");
	if (c->places.folded)
		builder_note(b, NOTE_BAD_RECORD, c->places.folded,
			"costs are of more places than a file of this size may have, and summed on "
			"functions");
	if (c->places.dropped)
		builder_note(b, NOTE_BAD_RECORD, c->places.dropped,
			"calls are of more pairs than a file of this size may have, and left out");
	if (c->events.too_many)
		builder_note(b, NOTE_BAD_RECORD, c->events.too_many,
			"events beyond the first %d were left out", CALLGRIND_EVENTS_MAX);
	if (c->events.bad_formulas)
		builder_note(b, NOTE_BAD_RECORD, c->events.bad_formulas,
			"formulas of events are of events that are not there, or malformed");
}

static void add_notes(struct callgrind *c)
{
	struct builder *b = c->builder;
	const uint8_t *data = c->input->data;

	note_bad_lines(c);
	note_limits(c);
	if (c->line.fractions)
		builder_note(b, NOTE_GUESSED, c->line.fractions,
			"numbers with a fraction were rounded to whole ones");
	if (c->expect == EXPECT_CALL || (c->is_callgrind && data[c->input->size - 1] != '\n'))
		builder_note(b, NOTE_INCOMPLETE, 1, "the file ends within a line, at offset 0x%llx",
			(unsigned long long)c->input->size);
	if (c->differing)
		builder_note(b, NOTE_INFO, c->differing,
			"the file says of its costs that they sum up to something else");
	if (c->parts > 1 || c->threads > 1)
		builder_note(
			b, NOTE_INFO, 1, "the dumps of all parts and threads in it are summed");
	if (c->events.has_weights_as_calls)
		builder_note(b, NOTE_INFO, 1, "its writer counted no calls");
}

static struct error *check(const struct callgrind *c)
{
	const char *name = c->input->name;

	if (c->good == 0 && c->bad)
		return error_new(ERROR_INPUT,
			"%s: no line is a cost (line %llu is the first that is malformed)", name,
			(unsigned long long)c->told[0]);
	return NULL;
}

static struct error *read_lines(struct callgrind *c)
{
	struct str rest = {(const char *)c->input->data, c->input->size};

	callgrind_events_find(&c->events, rest);
	if (c->events.metric_count == 0)
		return error_new(ERROR_INPUT,
			"%s: is no callgrind file: no line begins with 'events:'", c->input->name);
	size_t count = c->events.metric_count, size = c->input->size;
	c->weight = xcalloc(3 * count, sizeof(*c->weight));
	c->sum_before = c->weight + count;
	c->stated = c->sum_before + count;
	callgrind_places_init(&c->places, c->builder, count, ROOM_FIXED + ROOM_RATIO * size);
	callgrind_line_init(&c->line);
	builder_header(c->builder)->has_stacks = false;
	c->caller.object = NO_ID;
	set_function(c, callgrind_names_read(&c->names, CALLGRIND_FUNCTIONS, STR("???")));
	read_file(c, rest);
	end_part(c);
	add_notes(c);
	return check(c);
}

static struct error *callgrind_read(const struct reader_input *input, struct builder *builder)
{
	struct callgrind c = {.input = input, .builder = builder};

	callgrind_events_init(&c.events, builder);
	callgrind_names_init(&c.names, builder, ROOM_FIXED + input->size);
	struct error *err = read_lines(&c);
	callgrind_names_deinit(&c.names);
	callgrind_events_deinit(&c.events);
	vec_deinit(&c.named);
	free(c.weight);
	return err;
}

/* By the first lines: `events:` must be there, and something else that this format has. */
static int callgrind_bid(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size < 65536 ? size : 65536};
	bool has_events = false, has_function = false, has_header = false;

	if (str_starts_with(rest, STR("# callgrind format")))
		return 100;
	while (rest.size && !(has_events && has_function)) {
		struct str line = str_take_line(&rest);

		has_events |= str_starts_with(line, STR("events:"));
		has_function |= str_starts_with(line, STR("fn=")) ||
				str_starts_with(line, STR("fl=")) ||
				str_starts_with(line, STR("ob="));
		has_header |= str_starts_with(line, STR("positions:")) ||
			      str_starts_with(line, STR("creator:")) ||
			      str_starts_with(line, STR("summary:"));
	}
	return !has_events ? 0 : has_function ? 90 : has_header ? 70 : 0;
}

const struct reader reader_callgrind = {
	.name = "callgrind",
	.summary = "callgrind.out and cachegrind.out of valgrind, xdebug, pprof …",
	.bid = callgrind_bid,
	.read = callgrind_read,
};
