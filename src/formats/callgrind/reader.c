/*
 * callgrind.out, written by valgrind's callgrind and cachegrind, and by other tools for
 * KCachegrind: costs by function and line, and calls with their costs.  The valgrind manual,
 * "Callgrind Format Specification" (cl-format.xml), version 1; docs/formats/callgrind.md defines
 * exactly what is read.
 *
 * It has no stacks: each location with costs is a stack of one frame; arcs have calls and their
 * costs.
 */
#include "formats/readers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "obj/demangle.h"
#include "formats/callgrind/line.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"

/* ---- names ---- */

/*
 * Name compression of callgrind files ("Name Compression" in the format's manual).
 */

enum callgrind_space { CALLGRIND_FILES, CALLGRIND_FUNCTIONS, CALLGRIND_OBJECTS, CALLGRIND_SPACES };

struct callgrind_names {
	struct builder *builder;
	struct demangler *demangler;
	struct strbuf nameless; /* the name of a function that has none */
	/*
	 * By id, a string_id, of objects an object_id: of those that are counted up, as most
	 * writers do, in arrays; of others in the map of (space, id).
	 */
	VEC(uint32_t) counted[CALLGRIND_SPACES];
	size_t put[CALLGRIND_SPACES]; /* how many are in each */
	struct map ids;
	VEC(string_id) paths;	  /* [object_id] */
	uint32_t function_object; /* whom a function's name is of; NO_ID: not known */
	size_t room;		  /* bytes that new names may still take */
	uint32_t string_most;	  /* the highest string_id so far */
	uint64_t undefined;	  /* ids that no line before has given a name */
	uint64_t too_many;	  /* names beyond the room, which are "[unknown]" */
};

/* In `counted`, where nothing was put. */
#define CALLGRIND_NAME_UNKNOWN (NO_ID - 1)

/*
 * The same of an id in `counted` and the end of the line, "(12)\n", which most are; 12 bytes can be
 * read there.  Behind them; NULL where it is something else.
 */
static inline const char *callgrind_names_quick(const struct callgrind_names *n,
	enum callgrind_space space, const char *at, uint32_t *known)
{
	uint64_t id = 0;

	if (*at != '(')
		return NULL;
	unsigned int digits = digit_run((const uint8_t *)at + 1, &id);
	at += 1 + digits;
	if (digits == 0 || at[0] != ')' || at[1] != '\n' || id >= n->counted[space].count)
		return NULL;
	*known = n->counted[space].data[id];
	return *known == CALLGRIND_NAME_UNKNOWN ? NULL : at + 2;
}

/* What a name costs beside its bytes, in the tables of builder and ids. */
#define NAME_COST 160
/* What an id takes in the map while it grows. */
#define FAR_ID_COST (4 * sizeof(struct map_slot))

/* room: how much memory names may take; those beyond it are counted. */
static void callgrind_names_init(struct callgrind_names *n, struct builder *b, size_t room)
{
	*n = (struct callgrind_names){.builder = b,
		.demangler = demangler_create(),
		.function_object = NO_ID,
		.room = room};
}

static void callgrind_names_deinit(struct callgrind_names *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(n->counted); i++)
		vec_deinit(&n->counted[i]);
	map_deinit(&n->ids);
	vec_deinit(&n->paths);
	strbuf_deinit(&n->nameless);
	demangler_destroy(n->demangler);
}

static bool is_unknown(struct str name)
{
	return name.size == 0 || str_equal(name, STR("???"));
}

static void take_room(struct callgrind_names *n, size_t cost)
{
	n->room = n->room > cost ? n->room - cost : 0;
}

/* Takes the cost of a string that is new; it is if its number is the highest so far. */
static string_id charge(struct callgrind_names *n, string_id id, size_t size)
{
	if (id.i <= n->string_most)
		return id;
	n->string_most = id.i;
	take_room(n, size + NAME_COST);
	return id;
}

/*
 * Of a function without a name callgrind writes where in its load object it is, in 16 digits, and
 * maybe how deep in a recursion ("'2").  sonde says "[MODULE+0xADDRESS]" of such ones.
 */
static struct str say_nameless(struct callgrind_names *n, struct str name)
{
	size_t at = 2, end = 2;

	if (n->function_object >= n->paths.count || !str_starts_with(name, STR("0x")))
		return name;
	while (end < name.size && text_hex_value(name.data[end]) < 16)
		end++;
	if (end - 2 < 8 || end - 2 > 16 || (end < name.size && name.data[end] != '\''))
		return name;
	while (at + 1 < end && name.data[at] == '0')
		at++;
	struct str path = builder_string_bytes(n->builder, n->paths.data[n->function_object]);
	strbuf_clear(&n->nameless);
	strbuf_printf(&n->nameless, "[%.*s+0x%.*s]", STR_ARG(str_base_name(path)), (int)(end - at),
		name.data + at);
	strbuf_add(&n->nameless, (struct str){name.data + end, name.size - end});
	return strbuf_str(&n->nameless);
}

static uint32_t intern_function(struct callgrind_names *n, struct str name)
{
	name = say_nameless(n, name);
	/* What is demangled is there twice, and may be much longer. */
	struct str shown = demangle(n->demangler, name);
	size_t cost = shown.data == name.data ? name.size : name.size + 2 * shown.size;

	return charge(n, builder_string(n->builder, shown), cost).i;
}

static uint32_t intern_object(struct callgrind_names *n, struct str name)
{
	string_id path = charge(n, builder_string(n->builder, name), name.size);
	object_id object = builder_object(n->builder, name, STR(""), OBJECT_USER);

	/* They are numbered by first sight. */
	if (object.i == n->paths.count)
		vec_push(&n->paths, path);
	return object.i;
}

static uint32_t intern(struct callgrind_names *n, enum callgrind_space space, struct str name)
{
	if (!is_unknown(name) && n->room == 0) {
		n->too_many++;
		name.size = 0;
	}
	switch (space) {
	case CALLGRIND_FILES:
		return is_unknown(name) ? 0
					: charge(n, builder_string(n->builder, name), name.size).i;
	case CALLGRIND_OBJECTS:
		if (is_unknown(name))
			return NO_ID;
		return intern_object(n, name);
	case CALLGRIND_FUNCTIONS:
	case CALLGRIND_SPACES:
		break;
	}
	return intern_function(n, is_unknown(name) ? STR("[unknown]") : name);
}

/* "(12)" at the start of text: true, and text goes on behind it. */
static bool take_id(struct str *text, uint64_t *id)
{
	size_t at = 1;

	*id = 0;
	if (text->size < 3 || text->data[0] != '(')
		return false;
	for (; at < text->size && text->data[at] >= '0' && text->data[at] <= '9' && at < 19; at++)
		*id = 10 * *id + (uint64_t)(text->data[at] - '0');
	if (at == 1 || at == text->size || text->data[at] != ')')
		return false;
	at++;
	while (at < text->size && text->data[at] == ' ')
		at++;
	*text = (struct str){text->data + at, text->size - at};
	return true;
}

/* No more of an array of ids is free than is used, or than so many. */
#define COUNTED_FREE 64

static bool get_id(
	const struct callgrind_names *n, enum callgrind_space space, uint64_t id, uint32_t *known)
{
	if (id < n->counted[space].count) {
		*known = n->counted[space].data[id];
		if (*known != CALLGRIND_NAME_UNKNOWN)
			return true;
	}
	return n->ids.count && map_get(&n->ids, space, id, known);
}

static void put_far_id(
	struct callgrind_names *n, enum callgrind_space space, uint64_t id, uint32_t known)
{
	bool added;

	/* Its name is counted as one too many already. */
	if (n->room == 0)
		return;
	*map_at(&n->ids, space, id, known, &added) = known;
	if (added)
		take_room(n, FAR_ID_COST);
}

/* An id that was put into the map is found there until one is put into the array, once it may be.
 */
static void put_id(
	struct callgrind_names *n, enum callgrind_space space, uint64_t id, uint32_t known)
{
	if (id > 2 * (uint64_t)n->put[space] + COUNTED_FREE) {
		put_far_id(n, space, id, known);
		return;
	}
	while (n->counted[space].count <= id)
		vec_push(&n->counted[space], CALLGRIND_NAME_UNKNOWN);
	n->put[space] += n->counted[space].data[id] == CALLGRIND_NAME_UNKNOWN;
	n->counted[space].data[id] = known;
}

/*
 * What stands behind "fn=" and its like: the string_id of a file or a function (demangled), the
 * object_id of a load object.  "???" is a file of no name, the function "[unknown]", no object; a
 * function that callgrind knew by its address alone is "[MODULE+0xADDRESS]".
 */
static uint32_t callgrind_names_read(
	struct callgrind_names *n, enum callgrind_space space, struct str text)
{
	uint64_t id;
	uint32_t known;

	if (!take_id(&text, &id))
		return intern(n, space, text);
	bool is_known = get_id(n, space, id, &known);
	if (text.size == 0) {
		n->undefined += !is_known;
		return is_known ? known : intern(n, space, STR("???"));
	}
	known = intern(n, space, text);
	put_id(n, space, id, known);
	return known;
}

/* ---- places and arcs ---- */

struct callgrind_places {
	struct builder *builder;
	size_t row_cost;		/* bytes that a place or an arc takes */
	size_t room;			/* bytes that new ones may still take */
	uint32_t place_count, arc_most; /* one more than the highest numbers so far */
	uint64_t folded;		/* lines whose place is not kept, */
	uint64_t dropped;		/* and calls that are not */
};

/* Frame, stack and what finds them, while their tables grow; and each weight. */
#define ROW_COST    128
#define WEIGHT_COST 24

static void callgrind_places_init(
	struct callgrind_places *p, struct builder *b, size_t metric_count, size_t room)
{
	*p = (struct callgrind_places){
		.builder = b, .row_cost = ROW_COST + metric_count * WEIGHT_COST, .room = room};
}

static void take_row(struct callgrind_places *p)
{
	p->room = p->room > p->row_cost ? p->room - p->row_cost : 0;
}

/* For callgrind_places_add: takes room for a new place; adds where there is none any more. */
static void callgrind_places_count(struct callgrind_places *p, frame_id place)
{
	p->place_count = place.i + 1;
	take_row(p);
}

static void callgrind_places_fold(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight)
{
	struct frame whole = {.function = place->function};

	p->folded += place->line != 0 || place->obj_addr != 0;
	frame_id frame = builder_place(p->builder, &whole, weight);
	if (frame.i >= p->place_count)
		callgrind_places_count(p, frame);
}

/* weight[metric_count], spent at that place itself. */
static inline void callgrind_places_add(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight)
{
	if (unlikely(p->room == 0)) {
		callgrind_places_fold(p, place, weight);
		return;
	}
	frame_id frame = builder_place(p->builder, place, weight);
	/* A number that is beyond all others is new. */
	if (unlikely(frame.i >= p->place_count))
		callgrind_places_count(p, frame);
}

/* cost[metric_count], spent from call to return. */
static void callgrind_places_call(struct callgrind_places *p, function_id caller,
	function_id callee, uint64_t calls, const int64_t *cost)
{
	if (p->room == 0) {
		p->dropped++;
		return;
	}
	uint32_t arc = builder_arc_cost(p->builder, caller, callee, calls, cost);
	if (arc < p->arc_most)
		return;
	p->arc_most = arc + 1;
	take_row(p);
}

/* ---- the file ---- */

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
	uint64_t parts, threads, line_number, good, differing, jumps;
	struct bad_lines bad;
};

static void bad_line(struct callgrind *c)
{
	bad_lines_add(&c->bad, c->line_number);
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

static void note_limits(struct callgrind *c)
{
	struct builder *b = c->builder;

	counted_note(b, NOTE_BAD_RECORD, c->names.undefined, NULL,
		"names are given by numbers that no line before has named");
	counted_note(b, NOTE_BAD_RECORD, c->names.too_many, NULL,
		"names are too many for a file of this size, and shown as [unknown]");
	counted_note(b, NOTE_BAD_RECORD, c->places.folded, NULL,
		"costs are of more places than a file of this size may have, and summed on "
		"functions");
	counted_note(b, NOTE_BAD_RECORD, c->places.dropped, NULL,
		"calls are of more pairs than a file of this size may have, and left out");
	if (c->events.too_many)
		builder_note(b, NOTE_BAD_RECORD, c->events.too_many,
			"events beyond the first %d were left out", CALLGRIND_EVENTS_MAX);
	counted_note(b, NOTE_BAD_RECORD, c->events.bad_formulas, NULL,
		"formulas of events are malformed, or use unknown events");
}

static void add_notes(struct callgrind *c)
{
	struct builder *b = c->builder;
	const uint8_t *data = c->input->data;

	bad_lines_note(&c->bad, c->builder);
	note_limits(c);
	counted_note(b, NOTE_GUESSED, c->line.fractions, NULL,
		"numbers with a fraction were rounded to whole ones");
	if (c->expect == EXPECT_CALL || (c->is_callgrind && data[c->input->size - 1] != '\n'))
		builder_note(b, NOTE_INCOMPLETE, 1, "the file ends within a line, at offset 0x%llx",
			(unsigned long long)c->input->size);
	counted_note(b, NOTE_INFO, c->differing, NULL,
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

	if (c->good == 0 && c->bad.count)
		return error_new(ERROR_INPUT,
			"%s: no line is a cost (line %llu is the first that is malformed)", name,
			(unsigned long long)c->bad.told[0]);
	return NULL;
}

static struct error *read_lines(struct callgrind *c)
{
	struct str rest = {(const char *)c->input->data, c->input->size};

	callgrind_events_find(&c->events, rest);
	if (c->events.metric_count == 0)
		return error_new(
			ERROR_INPUT, "%s: not a callgrind file: no 'events:' line", c->input->name);
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
