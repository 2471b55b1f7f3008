/*
 * The shared tables of a Firefox profile: strings, libraries, functions, native symbols, frames,
 * stacks.
 *
 * Everything is numbered on first use, in the profile's order of stacks, where callers come first,
 * as the format requires.  An off-CPU stack ends in a frame of that category and is a separate row,
 * so one stack of the profile may become up to three rows.
 */
#include "formats/firefox/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* A frame of the file: a frame of the profile, plus what depends on the stack it is in. */
struct out_frame {
	uint32_t frame;
	uint32_t depth;	 /* of inlining */
	uint32_t symbol; /* number of a native symbol, or NO_ID */
	uint32_t state;
};

static uint64_t out_frame_hash(const void *row)
{
	const struct out_frame *f = row;

	return hash_pair((uint64_t)f->frame << 32 | f->symbol, (uint64_t)f->depth << 2 | f->state);
}

static bool out_frame_same(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct out_frame)) == 0;
}

static const struct row_kind out_frame_rows = {
	sizeof(struct out_frame), out_frame_hash, out_frame_same};

/* ---- Columns */

void firefox_column_of(struct firefox_writer *w, const char *name, size_t count, int64_t value)
{
	json_put_key(&w->json, name);
	json_put_array(&w->json);
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_int(&w->json, value);
	json_put_end(&w->json);
}

static void firefox_column_of_null(struct firefox_writer *w, const char *name, size_t count)
{
	json_put_key(&w->json, name);
	json_put_array(&w->json);
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_null(&w->json);
	json_put_end(&w->json);
}

void firefox_put_number(struct firefox_writer *w, uint32_t number, bool is_null)
{
	if (number != NO_ID)
		json_put_unsigned(&w->json, number);
	else if (is_null)
		json_put_null(&w->json);
	else
		json_put_int(&w->json, -1);
}

static void column_of_bool(struct firefox_writer *w, const char *name, size_t count)
{
	json_put_key(&w->json, name);
	json_put_array(&w->json);
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_bool(&w->json, false);
	json_put_end(&w->json);
}

static void begin_column(struct firefox_writer *w, const char *name)
{
	json_put_key(&w->json, name);
	json_put_array(&w->json);
}

static void begin_table(struct firefox_writer *w, const char *name, size_t count)
{
	json_put_line(&w->json);
	json_put_key(&w->json, name);
	json_put_object(&w->json);
	json_put_key(&w->json, "length");
	json_put_unsigned(&w->json, count);
}

/* ---- Numbers */

static uint32_t *no_numbers(size_t count)
{
	uint32_t *numbers = xrealloc_array(NULL, count ? count : 1, sizeof(*numbers));

	memset(numbers, 0xff, count * sizeof(*numbers));
	return numbers;
}

uint32_t firefox_literal(struct firefox_writer *w, struct str text)
{
	vec_push(&w->strings, text);
	return (uint32_t)w->strings.count - 1;
}

uint32_t firefox_string_number(struct firefox_writer *w, string_id string)
{
	uint32_t *number = &w->string_number[string.i];

	if (*number == NO_ID)
		*number = firefox_literal(w, profile_string(w->profile, string));
	return *number;
}

static bool is_lib(const struct object *o)
{
	return o->kind == OBJECT_USER || o->kind == OBJECT_KERNEL;
}

static void number_object(struct firefox_writer *w, object_id object)
{
	if (object.i == NO_ID || w->object_number[object.i] != NO_ID)
		return;
	w->object_number[object.i] = (uint32_t)w->objects.count;
	vec_push(&w->objects, object.i);
	if (!is_lib(&w->profile->objects[object.i]))
		return;
	w->lib_number[object.i] = (uint32_t)w->libs.count;
	vec_push(&w->libs, object.i);
}

static void number_function(struct firefox_writer *w, function_id function)
{
	const struct profile *p = w->profile;
	string_id file = w->function_file[function.i];

	if (w->function_number[function.i] != NO_ID)
		return;
	w->function_number[function.i] = (uint32_t)w->functions.count;
	vec_push(&w->functions, function.i);
	number_object(w, p->functions[function.i].object);
	if (profile_string(p, file).size == 0 || w->source_number[file.i] != NO_ID)
		return;
	w->source_number[file.i] = (uint32_t)w->sources.count;
	vec_push(&w->sources, file);
}

/* The number of the function's native symbol: the code that a symbol server is asked for. */
static uint32_t number_symbol(struct firefox_writer *w, function_id function)
{
	object_id object = w->profile->functions[function.i].object;
	uint32_t *number = &w->symbol_number[function.i];

	if (object.i == NO_ID || w->lib_number[object.i] == NO_ID ||
		w->symbol_address[function.i] == UINT64_MAX)
		return NO_ID;
	if (*number == NO_ID) {
		*number = (uint32_t)w->symbols.count;
		vec_push(&w->symbols, function.i);
	}
	return *number;
}

/* The format's addresses have 31 bits. */
static bool has_address(const struct firefox_writer *w, const struct frame *f)
{
	object_id object = w->profile->functions[f->function.i].object;

	return f->obj_addr > 0 && f->obj_addr <= INT32_MAX && object.i != NO_ID &&
	       is_lib(&w->profile->objects[object.i]);
}

static void find_places(struct firefox_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->function_count; i++) {
		w->function_file[i] = p->functions[i].file;
		w->symbol_address[i] = UINT64_MAX;
	}
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *f = &p->frames[i];
		uint32_t function = f->function.i;

		if (profile_string(p, w->function_file[function]).size == 0)
			w->function_file[function] = f->file;
		if (!f->is_inline && has_address(w, f) && f->obj_addr < w->symbol_address[function])
			w->symbol_address[function] = f->obj_addr;
	}
}

/* ---- Stacks */

/* A stack needs its callers, as running stacks. */
static void mark_callers(struct firefox_writer *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = (uint32_t)p->stack_count; i-- > 1;)
		for (unsigned int state = 0; state < FIREFOX_STATE_COUNT; state++)
			if (w->stack_number[state][i] != NO_ID)
				w->stack_number[FIREFOX_RUNNING][profile_stack_parent(p, i)] = 0;
	for (unsigned int state = 0; state < FIREFOX_STATE_COUNT; state++)
		w->stack_number[state][0] = NO_ID;
}

static void number_stack(struct firefox_writer *w, uint32_t stack, unsigned int state,
	uint32_t depth, uint32_t symbol)
{
	const struct profile *p = w->profile;
	struct out_frame out = {p->stack_frame[stack].i, depth, symbol, state};
	uint32_t parent = w->stack_number[FIREFOX_RUNNING][profile_stack_parent(p, stack)];
	uint32_t number = (uint32_t)w->stacks.count;
	struct firefox_out_stack row = {row_table_intern(&w->frames, &out_frame_rows, &out),
		parent == NO_ID ? 0 : number - parent};

	vec_push(&w->stacks, row);
	w->stack_number[state][stack] = number;
}

static void number_stacks(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	uint32_t *depth = xcalloc(p->stack_count, sizeof(*depth));
	uint32_t *symbol = no_numbers(p->stack_count);

	for (uint32_t i = 1; i < p->stack_count; i++) {
		const struct frame *f = &p->frames[p->stack_frame[i].i];
		uint32_t parent = profile_stack_parent(p, i);
		bool is_inline = f->is_inline && parent > 0;

		if (w->stack_number[0][i] == NO_ID && w->stack_number[1][i] == NO_ID &&
			w->stack_number[2][i] == NO_ID)
			continue;
		number_function(w, f->function);
		depth[i] = f->is_inline ? depth[parent] + 1 : 0;
		symbol[i] = is_inline ? symbol[parent] : number_symbol(w, f->function);
		for (unsigned int state = 0; state < FIREFOX_STATE_COUNT; state++)
			if (w->stack_number[state][i] != NO_ID)
				number_stack(w, i, state, depth[i], symbol[i]);
	}
	free(depth);
	free(symbol);
}

void firefox_tables_number(struct firefox_writer *w)
{
	const struct profile *p = w->profile;

	w->string_number = no_numbers(p->string_count);
	w->source_number = no_numbers(p->string_count);
	w->function_number = no_numbers(p->function_count);
	w->symbol_number = no_numbers(p->function_count);
	w->object_number = no_numbers(p->object_count);
	w->lib_number = no_numbers(p->object_count);
	w->function_file = xcalloc(p->function_count, sizeof(*w->function_file));
	w->symbol_address = xcalloc(p->function_count, sizeof(*w->symbol_address));
	find_places(w);
	mark_callers(w);
	number_stacks(w);
}

void firefox_tables_deinit(struct firefox_writer *w)
{
	free(w->string_number);
	free(w->source_number);
	free(w->function_number);
	free(w->symbol_number);
	free(w->object_number);
	free(w->lib_number);
	free(w->function_file);
	free(w->symbol_address);
	vec_deinit(&w->strings);
	vec_deinit(&w->sources);
	vec_deinit(&w->functions);
	vec_deinit(&w->objects);
	vec_deinit(&w->libs);
	vec_deinit(&w->symbols);
	vec_deinit(&w->stacks);
	row_table_deinit(&w->frames);
}

/* ---- Libraries */

/*
 * Writes a build ID in Breakpad's form: its first 16 bytes as a GUID, the first three fields of
 * which are little-endian, and an age of 0.
 */
static void put_breakpad_id(struct firefox_writer *w, struct str build_id)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	char id[33];

	for (size_t i = 0; i < 32; i++) {
		size_t at = (size_t)order[i / 2] * 2 + i % 2;
		char c = at < build_id.size ? build_id.data[at] : '0';
		id[i] = c >= 'a' && c <= 'f' ? (char)(c - 'a' + 'A') : c;
	}
	id[32] = '0';
	json_put_string(&w->json, (struct str){id, sizeof(id)});
}

static void write_lib(struct firefox_writer *w, const struct object *o)
{
	struct json_writer *json = &w->json;
	struct str path = profile_string(w->profile, o->path);
	struct str build_id = profile_string(w->profile, o->build_id);
	struct str name = str_base_name(path);

	json_put_line(json);
	json_put_object(json);
	json_put_key(json, "name"), json_put_string(json, name);
	json_put_key(json, "path"), json_put_string(json, path);
	json_put_key(json, "debugName"), json_put_string(json, name);
	json_put_key(json, "debugPath"), json_put_string(json, path);
	json_put_key(json, "breakpadId"), put_breakpad_id(w, build_id);
	json_put_key(json, "codeId");
	if (build_id.size)
		json_put_string(json, build_id);
	else
		json_put_null(json);
	json_put_key(json, "arch"), json_put_null(json);
	json_put_end(json);
}

void firefox_tables_write_libs(struct firefox_writer *w)
{
	json_put_key(&w->json, "libs");
	json_put_array(&w->json);
	for (size_t i = 0; i < w->libs.count && sink_settle(w->sink); i++)
		write_lib(w, &w->profile->objects[w->libs.data[i]]);
	json_put_end(&w->json);
}

/* ---- Tables */

static void write_stack_table(struct firefox_writer *w)
{
	begin_table(w, "stackTable", w->stacks.count);
	begin_column(w, "frame");
	for (size_t i = 0; i < w->stacks.count && sink_settle(w->sink); i++)
		json_put_unsigned(&w->json, w->stacks.data[i].frame);
	json_put_end(&w->json);
	begin_column(w, "prefixOffset");
	for (size_t i = 0; i < w->stacks.count && sink_settle(w->sink); i++)
		json_put_unsigned(&w->json, w->stacks.data[i].prefix_offset);
	json_put_end(&w->json);
	json_put_end(&w->json);
}

static enum firefox_category category_of(const struct firefox_writer *w, const struct out_frame *f)
{
	static const enum firefox_category of_kind[OBJECT_KIND_COUNT] = {
		[OBJECT_USER] = FIREFOX_USER,
		[OBJECT_KERNEL] = FIREFOX_KERNEL,
		[OBJECT_JIT] = FIREFOX_JIT,
		[OBJECT_UNKNOWN] = FIREFOX_UNKNOWN,
		[OBJECT_ZONE] = FIREFOX_ZONE,
	};
	const struct profile *p = w->profile;
	object_id object = p->functions[p->frames[f->frame].function.i].object;

	if (f->state != FIREFOX_RUNNING)
		return FIREFOX_OFF_CPU;
	return object.i == NO_ID ? FIREFOX_OTHER : of_kind[p->objects[object.i].kind];
}

/* Writes a frame's value in a column of the table. */
static void put_address(struct firefox_writer *w, const struct out_frame *f)
{
	const struct frame *frame = &w->profile->frames[f->frame];

	json_put_int(&w->json, has_address(w, frame) ? (int64_t)frame->obj_addr : -1);
}

static void put_inline_depth(struct firefox_writer *w, const struct out_frame *f)
{
	json_put_unsigned(&w->json, f->depth < UINT8_MAX ? f->depth : UINT8_MAX);
}

static void put_category(struct firefox_writer *w, const struct out_frame *f)
{
	json_put_unsigned(&w->json, category_of(w, f));
}

/* The states are subcategories of "Off-CPU"; 0 is "Other" in every category. */
static void put_subcategory(struct firefox_writer *w, const struct out_frame *f)
{
	json_put_unsigned(&w->json, f->state);
}

static void put_function(struct firefox_writer *w, const struct out_frame *f)
{
	function_id function = w->profile->frames[f->frame].function;

	json_put_unsigned(&w->json, w->function_number[function.i]);
}

static void put_symbol(struct firefox_writer *w, const struct out_frame *f)
{
	firefox_put_number(w, f->symbol, true);
}

/* A line number refers to its function's file, so a line in another file would be misleading. */
static void put_line(struct firefox_writer *w, const struct out_frame *f)
{
	const struct frame *frame = &w->profile->frames[f->frame];
	string_id file = w->function_file[frame->function.i];
	bool is_there =
		profile_string(w->profile, frame->file).size == 0 || frame->file.i == file.i;

	firefox_put_number(w, is_there && frame->line ? frame->line : NO_ID, true);
}

static void write_frame_table(struct firefox_writer *w)
{
	static const struct {
		const char *name;
		void (*put)(struct firefox_writer *w, const struct out_frame *f);
	} columns[] = {{"address", put_address}, {"inlineDepth", put_inline_depth},
		{"category", put_category}, {"subcategory", put_subcategory},
		{"func", put_function}, {"nativeSymbol", put_symbol}, {"line", put_line}};
	const struct out_frame *frames = w->frames.rows;

	begin_table(w, "frameTable", w->frames.count);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		begin_column(w, columns[c].name);
		for (size_t i = 0; i < w->frames.count && sink_settle(w->sink); i++)
			columns[c].put(w, &frames[i]);
		json_put_end(&w->json);
	}
	firefox_column_of(w, "innerWindowID", w->frames.count, 0);
	firefox_column_of_null(w, "column", w->frames.count);
	firefox_column_of_null(w, "originalLocation", w->frames.count);
	json_put_end(&w->json);
}

static void write_function_names(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	uint32_t unknown = NO_ID;

	begin_column(w, "name");
	for (size_t i = 0; i < w->functions.count && sink_settle(w->sink); i++) {
		string_id name = p->functions[w->functions.data[i]].name;
		bool has_name = profile_string(p, name).size > 0;

		if (!has_name && unknown == NO_ID)
			unknown = firefox_literal(w, STR("[unknown]"));
		json_put_unsigned(&w->json, has_name ? firefox_string_number(w, name) : unknown);
	}
	json_put_end(&w->json);
}

static void write_function_table(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	size_t count = w->functions.count;

	begin_table(w, "funcTable", count);
	write_function_names(w);
	begin_column(w, "resource");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++) {
		object_id object = p->functions[w->functions.data[i]].object;
		firefox_put_number(
			w, object.i == NO_ID ? NO_ID : w->object_number[object.i], false);
	}
	json_put_end(&w->json);
	begin_column(w, "source");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		firefox_put_number(
			w, w->source_number[w->function_file[w->functions.data[i]].i], true);
	json_put_end(&w->json);
	begin_column(w, "lineNumber");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++) {
		uint32_t line = p->functions[w->functions.data[i]].line;
		firefox_put_number(w, line ? line : NO_ID, true);
	}
	json_put_end(&w->json);
	column_of_bool(w, "isJS", count);
	column_of_bool(w, "relevantForJS", count);
	firefox_column_of_null(w, "columnNumber", count);
	firefox_column_of_null(w, "originalLocation", count);
	json_put_end(&w->json);
}

static void write_resource_table(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	size_t count = w->objects.count;

	begin_table(w, "resourceTable", count);
	begin_column(w, "lib");
	for (size_t i = 0; i < count; i++)
		firefox_put_number(w, w->lib_number[w->objects.data[i]], true);
	json_put_end(&w->json);
	begin_column(w, "name");
	for (size_t i = 0; i < count; i++) {
		object_id id = {w->objects.data[i]};
		const struct object *o = &p->objects[id.i];
		json_put_unsigned(&w->json, is_lib(o) ? firefox_literal(w, profile_module(p, id))
						      : firefox_string_number(w, o->path));
	}
	json_put_end(&w->json);
	firefox_column_of_null(w, "host", count);
	begin_column(w, "type");
	for (size_t i = 0; i < count; i++)
		json_put_unsigned(&w->json, is_lib(&p->objects[w->objects.data[i]]));
	json_put_end(&w->json);
	json_put_end(&w->json);
}

static void write_symbols(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	size_t count = w->symbols.count;

	begin_table(w, "nativeSymbols", count);
	begin_column(w, "libIndex");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_unsigned(
			&w->json, w->lib_number[p->functions[w->symbols.data[i]].object.i]);
	json_put_end(&w->json);
	begin_column(w, "address");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_unsigned(&w->json, w->symbol_address[w->symbols.data[i]]);
	json_put_end(&w->json);
	begin_column(w, "name");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_unsigned(
			&w->json, firefox_string_number(w, p->functions[w->symbols.data[i]].name));
	json_put_end(&w->json);
	firefox_column_of_null(w, "functionSize", count);
	json_put_end(&w->json);
}

static void write_sources(struct firefox_writer *w)
{
	size_t count = w->sources.count;

	begin_table(w, "sources", count);
	firefox_column_of_null(w, "id", count);
	begin_column(w, "filename");
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_unsigned(&w->json, firefox_string_number(w, w->sources.data[i]));
	json_put_end(&w->json);
	firefox_column_of(w, "startLine", count, 1);
	firefox_column_of(w, "startColumn", count, 1);
	firefox_column_of_null(w, "sourceMapURL", count);
	firefox_column_of_null(w, "content", count);
	json_put_end(&w->json);
}

/* There are no source maps, so their table is empty. */
static void write_source_locations(struct firefox_writer *w)
{
	begin_table(w, "sourceLocationTable", 0);
	firefox_column_of(w, "source", 0, 0);
	firefox_column_of(w, "line", 0, 0);
	firefox_column_of(w, "column", 0, 0);
	json_put_end(&w->json);
}

void firefox_tables_write_shared(struct firefox_writer *w)
{
	write_stack_table(w);
	write_frame_table(w);
	write_function_table(w);
	write_resource_table(w);
	write_symbols(w);
	write_sources(w);
	write_source_locations(w);
	json_put_line(&w->json);
	json_put_key(&w->json, "stringArray");
	json_put_array(&w->json);
	for (size_t i = 0; i < w->strings.count && sink_settle(w->sink); i++) {
		json_put_line(&w->json);
		json_put_string(&w->json, w->strings.data[i]);
	}
	json_put_end(&w->json);
}
