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
	struct strbuf nameless; /* scratch: the name of a nameless function */
	/*
	 * By id, a string_id, or for objects an object_id.  Consecutive ids, which most writers
	 * use, are in arrays; others are in the map by (space, id).
	 */
	VEC(uint32_t) counted[CALLGRIND_SPACES];
	size_t put[CALLGRIND_SPACES]; /* number of ids in each array */
	struct map ids;
	VEC(string_id) paths;	  /* [object_id] */
	uint32_t function_object; /* the object of a function name; NO_ID: unknown */
	size_t room;		  /* bytes left for new names */
	uint32_t string_most;	  /* the highest string_id so far */
	uint64_t undefined;	  /* ids used before a line named them */
	uint64_t too_many;	  /* names beyond the limit, shown as "[unknown]" */
};

/* An unused place in `counted`. */
#define CALLGRIND_NAME_UNKNOWN (NO_ID - 1)

/*
 * The same for an id in `counted` followed by the end of the line, "(12)\n", the common case; 12
 * bytes must be readable.  Returns its end; NULL: another form.
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

/* Memory per name besides its bytes: the builder's tables and the ids. */
#define NAME_COST 160
/* Memory per id in the map while it grows. */
#define FAR_ID_COST (4 * sizeof(struct map_slot))

/* room: the memory for names; names beyond it are counted. */
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

/* Charges for a string if it is new: then its number is the highest so far. */
static string_id charge(struct callgrind_names *n, string_id id, size_t size)
{
	if (id.i <= n->string_most)
		return id;
	n->string_most = id.i;
	take_room(n, size + NAME_COST);
	return id;
}

/*
 * For a nameless function, callgrind writes its address in the load object, as 16 digits, and for
 * recursion levels a suffix ("'2").  sonde names it "[MODULE+0xADDRESS]".
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
	/* The demangled name is stored as well, and can be much longer. */
	struct str shown = demangle(n->demangler, name);
	size_t cost = shown.data == name.data ? name.size : name.size + 2 * shown.size;

	return charge(n, builder_string(n->builder, shown), cost).i;
}

static uint32_t intern_object(struct callgrind_names *n, struct str name)
{
	string_id path = charge(n, builder_string(n->builder, name), name.size);
	object_id object = builder_object(n->builder, name, STR(""), OBJECT_USER);

	/* Objects are numbered as they first appear. */
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

/* Takes "(12)" off the start of text; true if it was there. */
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

/* An id array may have at most this many unused places plus as many as are used. */
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

	/* The name was already counted as too many. */
	if (n->room == 0)
		return;
	*map_at(&n->ids, space, id, known, &added) = known;
	if (added)
		take_room(n, FAR_ID_COST);
}

/*
 * Stores an id.  An id in the map stays there until it is stored in the array, if that ever becomes
 * possible.
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
 * Reads the text after "fn=" and the like; returns the string_id of a file or of a demangled
 * function, or the object_id of a load object.  "???" is an unnamed file, the function "[unknown]"
 * or no object.  A function known by address only is "[MODULE+0xADDRESS]".
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
	size_t row_cost;		/* memory per place or arc */
	size_t room;			/* bytes left for new ones */
	uint32_t place_count, arc_most; /* the highest numbers so far plus 1 */
	uint64_t folded;		/* lines counted without their location */
	uint64_t dropped;		/* calls that were not kept */
};

/* Memory per frame and stack, including their indexes while growing; and per weight. */
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

/* For callgrind_places_add: charges for a new place. */
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

/* Adds weight[metric_count], spent at the place itself. */
static inline void callgrind_places_add(
	struct callgrind_places *p, const struct frame *place, const int64_t *weight)
{
	if (unlikely(p->room == 0)) {
		callgrind_places_fold(p, place, weight);
		return;
	}
	frame_id frame = builder_place(p->builder, place, weight);
	/* A number above all earlier ones is a new place. */
	if (unlikely(frame.i >= p->place_count))
		callgrind_places_count(p, frame);
}

/* Adds cost[metric_count], spent from call to return. */
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

/* Memory for places and calls, and for names: a fixed part, plus so many times the file's size. */
#define ROOM_FIXED ((size_t)16 << 20)
#define ROOM_RATIO 2

/* The kind of the next line. */
enum expect {
	EXPECT_COST,
	EXPECT_CALL, /* the costs of the calls of a `calls=` line */
	EXPECT_JUMP, /* the source of a `jump=` */
};

/* A function as lines refer to it: the current one, or a callee. */
struct callgrind_function {
	uint32_t object, file, name;
	function_id id;
	bool is_known; /* id belongs to object, file and name */
};

/* The last function with a name.  12 bytes, to reduce cache misses: names come in random order. */
struct callgrind_named {
	uint32_t object, file;
	function_id id; /* NO_ID: none */
};

struct callgrind {
	const struct reader_input *input;
	struct builder *builder;
	struct callgrind_events events;
	struct callgrind_names names;
	struct callgrind_places places;
	struct callgrind_line line;
	struct callgrind_function caller, callee;
	/* [name]: the last function with it.  Few names have several. */
	VEC(struct callgrind_named) named;
	struct frame place; /* of costs; its file differs from the function's for inlined code */
	enum expect expect;
	uint64_t calls;
	int64_t *weight; /* [metric] of one line */
	/* [metric]: the sums of the lines before this part; the sums stated by the part. */
	int64_t *sum_before, *stated;
	bool has_stated, is_callgrind;
	uint64_t part_lines; /* cost lines of this part */
	uint64_t parts, threads, line_number, good, differing, jumps;
	struct bad_lines bad;
};

static void bad_line(struct callgrind *c)
{
	bad_lines_add(&c->bad, c->line_number);
}

/* The last function with a name; no function at first. */
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

/* Sets the callee to assume if the next call does not state it. */
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

/* Finishes a cost line, of a call or of a place. */
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

/* Jumps are not used, but their lines may define ids of names. */
static void pass_name(struct callgrind *c, uint32_t id)
{
	(void)c;
	(void)id;
}

/* The prefixes of name lines.  text has the size of the 8 bytes compared. */
static const struct mark {
	char text[8];
	enum callgrind_space space;
	void (*set)(struct callgrind *c, uint32_t id);
} marks[] = {
	/* Most frequent first. */
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

/* The mark at the start of a line, from its first 8 bytes, and the mark's size; NULL: none. */
static inline const struct mark *find_mark(uint64_t first, size_t *size)
{
	/* The lowest bit set is at the first '=', after 2 or 3 letters. */
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

/* ---- the header, and the end of a part ---- */

/* If a part's stated sums differ from its lines, they are counted for a note. */
static void end_part(struct callgrind *c)
{
	size_t count = c->events.metric_count;
	bool differs = false;

	for (uint32_t m = 0; m < count; m++) {
		/* If it overflows, builder_finish rejects the profile. */
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

/* If a file has dumps of several parts or threads, each begins with its number. */
static void begin_thread(struct callgrind *c, struct str text)
{
	(void)text;
	if (c->part_lines)
		end_part(c);
	c->threads++;
}

/* `totals:` after the costs are exact; `summary:` before them may be slightly higher. */
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

/* "calls=COUNT TARGET"; the position in the callee is not used. */
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

/* STR as a constant expression. */
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

/* A "word:" of letters is a header line: one not needed here, or of a later version. */
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
	/* The expected line is missing. */
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

/* ---- the common form of lines, without searching for their ends ---- */

/* "calls=2 20\n"; the second number is skipped. */
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
 * Reads the line at `at`, at least CALLGRIND_LINE_QUICK bytes before the end of the file.  Returns
 * the start of the next line; NULL, with no effect, if it is not of the common form.
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

/* ---- the whole file ---- */

static void note_limits(struct callgrind *c)
{
	struct builder *b = c->builder;

	counted_note(b, NOTE_BAD_RECORD, c->names.undefined,
		"a name is given by a number that no earlier line defines",
		"names are given by numbers that no earlier line defines");
	counted_note(b, NOTE_BAD_RECORD, c->names.too_many,
		"a name is shown as [unknown]: there are too many for a file of this size",
		"names are shown as [unknown]: there are too many for a file of this size");
	counted_note(b, NOTE_BAD_RECORD, c->places.folded,
		"a cost is added to its function: there are too many places for a file of this "
		"size",
		"costs are added to their functions: there are too many places for a file of this "
		"size");
	counted_note(b, NOTE_BAD_RECORD, c->places.dropped,
		"a call is left out: there are too many pairs of functions for a file of this size",
		"calls are left out: there are too many pairs of functions for a file of this "
		"size");
	if (c->events.too_many)
		builder_note(b, NOTE_BAD_RECORD, c->events.too_many,
			"events beyond the first %d were left out", CALLGRIND_EVENTS_MAX);
	counted_note(b, NOTE_BAD_RECORD, c->events.bad_formulas,
		"a formula of an event is malformed, or uses unknown events",
		"formulas of events are malformed, or use unknown events");
}

static void add_notes(struct callgrind *c)
{
	struct builder *b = c->builder;
	const uint8_t *data = c->input->data;

	bad_lines_note(&c->bad, c->builder);
	note_limits(c);
	counted_note(b, NOTE_GUESSED, c->line.fractions,
		"a number with a fraction was rounded to a whole one",
		"numbers with a fraction were rounded to whole ones");
	if (c->expect == EXPECT_CALL || (c->is_callgrind && data[c->input->size - 1] != '\n'))
		builder_note(b, NOTE_INCOMPLETE, 1, "the file ends within a line, at offset 0x%llx",
			(unsigned long long)c->input->size);
	counted_note(b, NOTE_INFO, c->differing,
		"a total in the file differs from the sum of its costs",
		"totals in the file differ from the sums of its costs");
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
			"%s: no valid cost line (the first malformed line is %llu)", name,
			(unsigned long long)c->bad.told[0]);
	return bad_lines_refuse(&c->bad,
		c->line_number > c->bad.count ? c->line_number - c->bad.count : 0, name,
		"a callgrind file");
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

/* By the first lines: `events:` and another line of this format are required. */
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
