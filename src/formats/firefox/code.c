/*
 * Functions, frames and stacks of Firefox profiles.  See reader.h.
 *
 * Only rows that samples refer to go into the profile: each is converted on first use, and cached.
 * A stack is followed up to a known one, so each is followed once; a cyclic stack is cut.
 */
#include "formats/firefox/reader.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/search.h"
#include "base/sort.h"
#include "formats/common/text_field.h"

/* ---- locations ---- */

/*
 * The text that the browser writes for a frame: "0x7fff7d962da1", "name (in library) + 12", "name
 * (http://site/script.js:12:5)[3]", "http://site/script.js:12", "Startup::XRE_Main".
 *
 * The forms and their order are those of src/profile-logic/process-profile.ts of
 * firefox-devtools/profiler.  They are recognized from the end, without regular expressions.
 */

/* A frame of the browser's own format, parsed from its location text. */
struct firefox_place {
	struct str name, module, file;
	uint32_t line;
	bool is_address; /* address is valid, in the lib that contains it, if any */
	uint64_t address;
};

/* Takes the last digits and the character `before` that precedes them off s. */
static bool take_number(struct str *s, char before, uint32_t *value)
{
	size_t i = s->size;

	while (i > 0 && char_is_digit(s->data[i - 1]))
		i--;
	if (i == s->size || i == 0 || s->data[i - 1] != before)
		return false;
	uint64_t number = 0;
	for (size_t k = i; k < s->size && number <= UINT32_MAX; k++)
		number = number * 10 + (uint64_t)(s->data[k] - '0');
	*value = number < NO_ID ? (uint32_t)number : 0;
	s->size = i - 1;
	return true;
}

static bool read_address(struct str s, uint64_t *address)
{
	*address = 0;
	if (!str_starts_with(s, STR("0x")) || s.size == 2 || s.size > 18)
		return false;
	for (size_t i = 2; i < s.size; i++) {
		char c = s.data[i], low = c | 0x20;
		if (char_is_digit(c))
			*address = *address << 4 | (uint64_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			*address = *address << 4 | (uint64_t)(low - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* The offset of the last " (" in s, or SIZE_MAX. */
static size_t last_open(struct str s)
{
	for (size_t i = s.size; i > 1; i--)
		if (s.data[i - 1] == '(' && s.data[i - 2] == ' ')
			return i - 2;
	return SIZE_MAX;
}

/* Parses "name (in library)", optionally followed by " + 12" or " (file:12)". */
static bool read_native(struct str s, struct firefox_place *place)
{
	struct str rest = s;
	uint32_t offset;

	if (take_number(&rest, ' ', &offset))
		(void)text_take_end(&rest, STR(" +"));
	size_t open = last_open(rest);
	if (open != SIZE_MAX && open > 0 && rest.data[open - 1] == ')' && rest.size > open + 2 &&
		memchr(rest.data + open, ':', rest.size - open)) {
		rest.size = open;
		open = last_open(rest);
	}
	if (open == SIZE_MAX || !text_take_end(&rest, STR(")")))
		return false;
	struct str module = {rest.data + open + 2, rest.size - open - 2};
	if (!str_starts_with(module, STR("in ")))
		return false;
	place->name = (struct str){rest.data, open};
	place->module = (struct str){module.data + 3, module.size - 3};
	return true;
}

/* The text after the last " -> ": the script loaded by the loaders before it. */
static struct str real_uri(struct str uri)
{
	for (size_t i = uri.size; i >= 4; i--)
		if (memcmp(uri.data + i - 4, " -> ", 4) == 0)
			return (struct str){uri.data + i, uri.size - i};
	return uri;
}

/* "http://site:80" for a URL, else the whole text. */
static struct str uri_origin(struct str uri)
{
	size_t start = str_starts_with(uri, STR("http://"))    ? 7
		       : str_starts_with(uri, STR("https://")) ? 8
							       : 0;
	const char *slash = start ? memchr(uri.data + start, '/', uri.size - start) : NULL;

	return slash ? (struct str){uri.data, (size_t)(slash - uri.data)} : uri;
}

/* Parses "name (uri:line:column)[source]", or the same without a name. */
static bool read_script(struct str s, struct firefox_place *place)
{
	struct str rest = s;
	uint32_t number, line;

	if (text_take_end(&rest, STR("]")) && !take_number(&rest, '[', &number))
		return false;
	bool has_name = text_take_end(&rest, STR(")"));
	if (!take_number(&rest, ':', &line))
		return false;
	if (take_number(&rest, ':', &number))
		line = number;
	size_t open = has_name ? last_open(rest) : SIZE_MAX;
	if (rest.size == 0 || (has_name && (open == SIZE_MAX || open + 2 == rest.size)))
		return false;
	if (has_name) {
		place->name = (struct str){rest.data, open};
		rest = (struct str){rest.data + open + 2, rest.size - open - 2};
	}
	place->file = real_uri(rest);
	place->module = uri_origin(place->file);
	place->line = line;
	return true;
}

static struct firefox_place firefox_location(struct str text)
{
	struct firefox_place place = {.name = text};

	if (str_starts_with(text, STR("0x"))) {
		place.is_address = read_address(text, &place.address);
		return place;
	}
	if (read_native(text, &place))
		return place;
	place.name = (struct str){text.data, 0};
	if (read_script(text, &place))
		return place;
	return (struct firefox_place){.name = text};
}

#define NOT_MADE NO_ID
#define ON_PATH	 (NO_ID - 1) /* a stack being followed */

#define RESOURCE_LIBRARY 1 /* of a resource's type */

void firefox_code_init(struct firefox_code *c)
{
	*c = (struct firefox_code){
		.functions = {[FUNC_NAME] = {.name = "name"},
			[FUNC_RESOURCE] = {.name = "resource"},
			[FUNC_FILE] = {.name = "fileName"},
			[FUNC_SOURCE] = {.name = "source"},
			[FUNC_LINE] = {.name = "lineNumber"}},
		.resources = {[RESOURCE_NAME] = {.name = "name"},
			[RESOURCE_LIB] = {.name = "lib"},
			[RESOURCE_TYPE] = {.name = "type"}},
		.frames = {[FRAME_FUNC] = {.name = "func"},
			[FRAME_ADDRESS] = {.name = "address"},
			[FRAME_LINE] = {.name = "line"},
			[FRAME_INLINE] = {.name = "inlineDepth"},
			[FRAME_LIB] = {.name = "lib"},
			[FRAME_CATEGORY] = {.name = "category"},
			[FRAME_LOCATION] = {.name = "location"}},
		.stacks = {[STACK_FRAME] = {.name = "frame"},
			[STACK_PREFIX] = {.name = "prefix"},
			[STACK_OFFSET] = {.name = "prefixOffset"}},
		.sources = {[SOURCE_FILE] = {.name = "filename"}},
	};
}

void firefox_code_deinit(struct firefox_code *c)
{
	firefox_table_deinit(c->functions);
	firefox_table_deinit(c->resources);
	firefox_table_deinit(c->frames);
	firefox_table_deinit(c->stacks);
	firefox_table_deinit(c->sources);
	vec_deinit(&c->strings.places);
	vec_deinit(&c->libs);
	vec_deinit(&c->libs_by_start);
	vec_deinit(&c->path);
	free(c->function_ids);
	free(c->frame_ids[0]);
	free(c->frame_ids[1]);
	free(c->stack_ids);
}

/* ---- Tables */

static uint32_t *ids_not_made(size_t count)
{
	uint32_t *ids = xrealloc_array(NULL, count, sizeof(*ids));

	memset(ids, 0xff, count * sizeof(*ids));
	return ids;
}

static size_t frame_count(const struct firefox_code *c)
{
	size_t funcs = c->frames[FRAME_FUNC].values.count;
	size_t locations = c->frames[FRAME_LOCATION].values.count;

	return funcs > locations ? funcs : locations;
}

static void read_strings(struct firefox *f, struct firefox_code *c, size_t place)
{
	if (c->strings.places.count == 0)
		f->has_cut_table |= firefox_strings_read(&f->json, place, &c->strings, f->row_max);
}

/* The columns of the table with that name; NULL: not a table about code. */
static struct firefox_column *table_of(struct firefox_code *c, struct str name)
{
	if (str_equal(name, STR("funcTable")))
		return c->functions;
	if (str_equal(name, STR("frameTable")))
		return c->frames;
	if (str_equal(name, STR("stackTable")))
		return c->stacks;
	if (str_equal(name, STR("resourceTable")))
		return c->resources;
	return str_equal(name, STR("sources")) ? c->sources : NULL;
}

static bool is_string_list(struct str name)
{
	return str_equal(name, STR("stringArray")) || str_equal(name, STR("stringTable"));
}

bool firefox_code_is_part(struct str name)
{
	struct firefox_code none;

	return table_of(&none, name) != NULL || is_string_list(name) ||
	       str_equal(name, STR("libs"));
}

void firefox_code_read(struct firefox *f, struct firefox_code *c, size_t place)
{
	struct str key;

	json_seek(&f->json, place);
	if (!json_object(&f->json))
		return;
	while (json_key(&f->json, &key)) {
		struct firefox_column *columns = table_of(c, key);
		bool is_list = is_string_list(key);
		bool is_libs = str_equal(key, STR("libs"));
		if (columns == NULL && !is_list && !is_libs)
			continue;
		struct json_mark mark = json_mark(&f->json);
		size_t at = json_offset(&f->json);
		if (columns && !columns[0].is_there)
			f->has_cut_table |= firefox_table_read(&f->json, at, columns, f->row_max);
		else if (is_list)
			read_strings(f, c, at);
		else if (is_libs)
			firefox_libs_read(f, c, at);
		if (!firefox_is_whole(f))
			break;
		json_return(&f->json, &mark);
	}
	free(c->function_ids);
	free(c->frame_ids[0]);
	free(c->frame_ids[1]);
	free(c->stack_ids);
	c->function_ids = ids_not_made(c->functions[FUNC_NAME].values.count);
	c->frame_ids[0] = ids_not_made(frame_count(c));
	c->frame_ids[1] = c->frames[FRAME_LOCATION].is_there ? ids_not_made(frame_count(c)) : NULL;
	c->stack_ids = ids_not_made(c->stacks[STACK_FRAME].values.count);
}

bool firefox_code_has_stacks(const struct firefox_code *c)
{
	return c->stacks[STACK_FRAME].is_there;
}

/* ---- Libraries */

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (strchr("0123456789abcdefABCDEF", s.data[i]) == NULL || s.data[i] == '\0')
			return false;
	return s.size > 0 && s.size <= 128;
}

static string_id build_id_string(struct builder *b, struct str code_id)
{
	char low[128];

	if (!is_hex(code_id))
		return (string_id){0};
	for (size_t i = 0; i < code_id.size; i++)
		low[i] = code_id.data[i] >= 'A' && code_id.data[i] <= 'F'
				 ? (char)(code_id.data[i] | 0x20)
				 : code_id.data[i];
	return builder_string(b, (struct str){low, code_id.size});
}

static struct firefox_lib read_lib(struct firefox *f)
{
	struct firefox_lib lib = {0};
	struct str key, text;
	string_id name = {0};
	int64_t number;

	if (!json_object(&f->json))
		return lib;
	while (json_key(&f->json, &key)) {
		if (str_equal(key, STR("path")) && json_string(&f->json, &text))
			lib.path = builder_string(f->builder, text);
		else if (str_equal(key, STR("name")) && json_string(&f->json, &text))
			name = builder_string(f->builder, text);
		else if (str_equal(key, STR("codeId")) && json_string(&f->json, &text))
			lib.build_id = build_id_string(f->builder, text);
		else if (str_equal(key, STR("start")) && json_int(&f->json, &number))
			lib.start = (uint64_t)number;
		else if (str_equal(key, STR("end")) && json_int(&f->json, &number))
			lib.end = (uint64_t)number;
		else if (str_equal(key, STR("offset")) && json_int(&f->json, &number))
			lib.offset = (uint64_t)number;
	}
	if (lib.path.i == 0)
		lib.path = name;
	return lib;
}

/* Libraries and their starts, for sorting: qsort's comparison function gets no context. */
struct lib_start {
	uint64_t start;
	uint32_t lib;
};

static int compare_starts(const void *a, const void *b)
{
	const struct lib_start *x = a, *y = b;

	return COMPARE(x->start, y->start) ?: COMPARE(x->lib, y->lib);
}

static void sort_libs(struct firefox_code *c)
{
	struct lib_start *starts = xrealloc_array(NULL, c->libs.count, sizeof(*starts));

	for (uint32_t i = 0; i < c->libs.count; i++)
		starts[i] = (struct lib_start){c->libs.data[i].start, i};
	if (c->libs.count)
		qsort(starts, c->libs.count, sizeof(*starts), compare_starts);
	c->libs_by_start.count = 0;
	for (size_t i = 0; i < c->libs.count; i++)
		vec_push(&c->libs_by_start, starts[i].lib);
	free(starts);
}

void firefox_libs_read(struct firefox *f, struct firefox_code *c, size_t place)
{
	size_t most = 65536 + f->input->size / 64;

	c->libs.count = 0;
	json_seek(&f->json, place);
	if (!json_array(&f->json))
		return;
	while (json_element(&f->json)) {
		if (c->libs.count == most) {
			f->has_cut_table = true;
			break;
		}
		struct firefox_lib lib = read_lib(f);
		vec_push(&c->libs, lib);
	}
	sort_libs(c);
}

/* The library that contains an address of the process; NULL: none. */
static const struct firefox_lib *lib_at(const struct firefox_code *c, uint64_t address)
{
	size_t next = partition_point(i, 0, c->libs_by_start.count,
		c->libs.data[c->libs_by_start.data[i]].start <= address);

	if (next == 0)
		return NULL;
	const struct firefox_lib *lib = &c->libs.data[c->libs_by_start.data[next - 1]];
	return address < lib->end ? lib : NULL;
}

/* ---- Functions */

/* The string with that number, from the tables' own strings or from shared ones. */
static bool string_of(struct firefox *f, uint32_t number, struct str *text)
{
	const struct firefox_code *c = f->code;

	if (c->strings.places.count == 0 && c->base)
		c = c->base;
	return firefox_string(&c->strings, number, &f->text, text);
}

static const struct firefox_code *code_with_libs(const struct firefox_code *c)
{
	return c->libs.count == 0 && c->base ? c->base : c;
}

static bool looks_like_kernel(struct str path)
{
	return str_starts_with(path, STR("[kernel")) || str_ends_with(path, STR(".ko")) ||
	       str_ends_with(path, STR("vmlinux")) || str_ends_with(path, STR(".ko.xz")) ||
	       str_ends_with(path, STR(".ko.zst"));
}

static object_id lib_object(struct firefox *f, const struct firefox_lib *lib, enum object_kind kind)
{
	struct str path = builder_string_bytes(f->builder, lib->path);
	struct str build_id = builder_string_bytes(f->builder, lib->build_id);

	if (path.size == 0)
		return (object_id){NO_ID};
	if (kind == OBJECT_KIND_COUNT)
		kind = looks_like_kernel(path) ? OBJECT_KERNEL : OBJECT_USER;
	return builder_object(f->builder, path, build_id, kind);
}

/* The load object kind that a frame's category implies; OBJECT_KIND_COUNT: unknown. */
static enum object_kind frame_kind(const struct firefox *f, uint32_t frame)
{
	uint32_t category = firefox_column_at(&f->code->frames[FRAME_CATEGORY], frame);

	return category < STRINGS_OF_CATEGORIES_MAX ? f->category_kind[category]
						    : OBJECT_KIND_COUNT;
}

static object_id resource_object(struct firefox *f, uint32_t resource, uint32_t frame)
{
	const struct firefox_code *c = f->code, *with_libs = code_with_libs(c);
	uint32_t lib = firefox_column_at(&c->frames[FRAME_LIB], frame);
	enum object_kind kind = frame_kind(f, frame);
	struct str name;

	if (lib == NO_ID && !c->frames[FRAME_LIB].is_there)
		lib = firefox_column_at(&c->resources[RESOURCE_LIB], resource);
	/* Columns shorter than their table count as filled up with null (before version 41). */
	uint32_t type = firefox_column_at(&c->resources[RESOURCE_TYPE], resource);
	if (lib < with_libs->libs.count && (type == RESOURCE_LIBRARY || resource == NO_ID))
		return lib_object(f, &with_libs->libs.data[lib], kind);
	if (!string_of(f, firefox_column_at(&c->resources[RESOURCE_NAME], resource), &name) ||
		name.size == 0)
		return (object_id){NO_ID};
	if (kind == OBJECT_KIND_COUNT)
		kind = looks_like_kernel(name)					? OBJECT_KERNEL
		       : type == RESOURCE_LIBRARY || type == 0 || type == NO_ID ? OBJECT_USER
										: OBJECT_JIT;
	return builder_object(f->builder, name, STR(""), kind);
}

static string_id function_file(struct firefox *f, uint32_t function)
{
	const struct firefox_code *c = f->code;
	uint32_t file = firefox_column_at(&c->functions[FUNC_FILE], function);
	uint32_t source = firefox_column_at(&c->functions[FUNC_SOURCE], function);
	struct str text;

	if (source != NO_ID)
		file = firefox_column_at(
			&(c->sources[SOURCE_FILE].is_there || !c->base ? c : c->base)->sources[0],
			source);
	if (!string_of(f, file, &text))
		return (string_id){0};
	return builder_string(f->builder, text);
}

static string_id shown_name(struct firefox *f, struct str name)
{
	if (name.size == 0)
		name = STR("[unknown]");
	else if (demangle_is_mangled(name))
		name = demangle(f->demangler, name);
	return builder_string(f->builder, name);
}

static uint32_t line_or_none(uint32_t line)
{
	return line == NO_ID ? 0 : line;
}

/* The memory limit counts stacks; other things cost as much as several of them. */
static void spend(struct firefox *f, size_t stacks)
{
	f->stack_max -= stacks < f->stack_max ? stacks : f->stack_max;
}

/* Charges for a new function, which has a name, and rows in every view. */
static void spend_function(struct firefox *f, function_id id)
{
	enum { STACKS_A_FUNCTION = 3 };

	if (id.i < f->function_count)
		return;
	f->function_count = id.i + 1;
	spend(f, STACKS_A_FUNCTION);
}

/* The function with that number; `frame` is one of its frames. */
static function_id processed_function(struct firefox *f, uint32_t number, uint32_t frame)
{
	struct firefox_code *c = f->code;
	bool is_known = number < c->functions[FUNC_NAME].values.count;
	struct str name = {0};

	if (is_known && c->function_ids[number] != NOT_MADE)
		return (function_id){c->function_ids[number]};
	if (!is_known || !string_of(f, c->functions[FUNC_NAME].values.data[number], &name))
		f->bad_references++;
	string_id name_id = shown_name(f, name);
	uint32_t resource = firefox_column_at(&c->functions[FUNC_RESOURCE], number);
	function_id id = builder_function(f->builder, name_id, resource_object(f, resource, frame),
		function_file(f, number),
		line_or_none(firefox_column_at(&c->functions[FUNC_LINE], number)));
	spend_function(f, id);
	if (is_known)
		c->function_ids[number] = id.i;
	return id;
}

/* ---- Frames */

static frame_id processed_frame(struct firefox *f, uint32_t number)
{
	const struct firefox_column *columns = f->code->frames;
	uint32_t function = firefox_column_at(&columns[FRAME_FUNC], number);
	function_id id = processed_function(f, function, number);
	uint32_t depth = firefox_column_at(&columns[FRAME_INLINE], number);

	return builder_frame(f->builder, id, function_file(f, function),
		line_or_none(firefox_column_at(&columns[FRAME_LINE], number)),
		depth != NO_ID && depth > 0,
		line_or_none(firefox_column_at(&columns[FRAME_ADDRESS], number)));
}

/* The frame of an address.  Callers have return addresses, one byte after the call. */
static frame_id address_frame(struct firefox *f, const struct firefox_place *place, bool is_leaf)
{
	const struct firefox_lib *lib = lib_at(code_with_libs(f->code), place->address);
	string_id name = builder_string(f->builder, place->name), none = {0};
	object_id object = {NO_ID};
	uint64_t obj_addr = 0;

	if (lib) {
		object = lib_object(f, lib, OBJECT_KIND_COUNT);
		obj_addr = place->address - lib->start + lib->offset;
		if (!is_leaf && obj_addr > 0)
			obj_addr--;
	}
	function_id function = builder_function(f->builder, name, object, none, 0);
	spend_function(f, function);
	return builder_frame(f->builder, function, none, 0, false, obj_addr);
}

static frame_id gecko_frame(struct firefox *f, uint32_t number, bool is_leaf)
{
	const struct firefox_column *columns = f->code->frames;
	struct str text = {0};

	if (!string_of(f, columns[FRAME_LOCATION].values.data[number], &text))
		f->bad_references++;
	struct firefox_place place = firefox_location(text);
	if (place.is_address)
		return address_frame(f, &place, is_leaf);
	struct strbuf root = {0};
	if (place.name.size == 0 && place.file.size) {
		strbuf_add(&root, STR("(root scope) "));
		strbuf_add(&root, place.file);
		place.name = strbuf_str(&root);
	}
	object_id object = {NO_ID};
	if (place.module.size)
		object = builder_object(f->builder, place.module, STR(""),
			place.file.size			  ? OBJECT_JIT
			: looks_like_kernel(place.module) ? OBJECT_KERNEL
							  : OBJECT_USER);
	string_id file = builder_string(f->builder, place.file);
	function_id function =
		builder_function(f->builder, shown_name(f, place.name), object, file, place.line);
	spend_function(f, function);
	strbuf_deinit(&root);
	return builder_frame(f->builder, function, file,
		line_or_none(firefox_column_at(&columns[FRAME_LINE], number)), false, 0);
}

/* False: there is no frame with that number. */
static bool frame_of(struct firefox *f, uint32_t number, bool is_leaf, frame_id *frame)
{
	struct firefox_code *c = f->code;

	if (number >= frame_count(c)) {
		f->bad_references++;
		return false;
	}
	bool is_gecko = number < c->frames[FRAME_LOCATION].values.count;
	uint32_t *id = &c->frame_ids[is_gecko && is_leaf][number];
	if (*id == NOT_MADE)
		*id = is_gecko ? gecko_frame(f, number, is_leaf).i : processed_frame(f, number).i;
	*frame = (frame_id){*id};
	return true;
}

/* ---- Stacks */

/* The number of a stack's caller; NO_ID: none. */
static uint32_t prefix_of(struct firefox *f, uint32_t stack)
{
	const struct firefox_column *columns = f->code->stacks;

	if (!columns[STACK_OFFSET].is_there)
		return firefox_column_at(&columns[STACK_PREFIX], stack);
	uint32_t offset = firefox_column_at(&columns[STACK_OFFSET], stack);
	if (offset == 0)
		return NO_ID;
	if (offset <= stack)
		return stack - offset;
	f->bad_references++;
	return NO_ID;
}

static stack_id add_stack(struct firefox *f, stack_id parent, uint32_t stack, bool is_leaf)
{
	uint32_t frame = firefox_column_at(&f->code->stacks[STACK_FRAME], stack);
	frame_id id;

	if (f->stack_max == 0) {
		f->cut_stacks++;
		return parent;
	}
	if (!frame_of(f, frame, is_leaf, &id))
		return parent;
	stack_id added = builder_stack(f->builder, parent, id);
	if (added.i >= f->stack_count) {
		f->stack_count = added.i + 1;
		spend(f, 1);
	}
	return added;
}

/* Collects the stack and its callers, up to the first known one, which it returns. */
static stack_id follow(struct firefox *f, uint32_t stack)
{
	struct firefox_code *c = f->code;

	c->path.count = 0;
	for (; stack != NO_ID; stack = prefix_of(f, stack)) {
		if (stack >= c->stacks[STACK_FRAME].values.count) {
			f->bad_references++;
			break;
		}
		uint32_t id = c->stack_ids[stack];
		if (id == ON_PATH)
			f->cycles++;
		if (id != NOT_MADE)
			return (stack_id){id == ON_PATH ? 0 : id};
		c->stack_ids[stack] = ON_PATH;
		vec_push(&c->path, stack);
	}
	return (stack_id){0};
}

stack_id firefox_stack(struct firefox *f, uint32_t number, bool is_leaf)
{
	struct firefox_code *c = f->code;
	bool is_there = number < c->stacks[STACK_FRAME].values.count;
	bool is_split = is_leaf && c->frame_ids[1] && is_there;

	if (is_there && !is_split && c->stack_ids[number] < ON_PATH)
		return (stack_id){c->stack_ids[number]};
	stack_id stack = follow(f, is_split ? prefix_of(f, number) : number);

	while (c->path.count > 0) {
		uint32_t row = c->path.data[--c->path.count];
		stack = add_stack(f, stack, row, false);
		c->stack_ids[row] = stack.i;
	}
	return is_split ? add_stack(f, stack, number, true) : stack;
}

void firefox_stacks_expect(const struct firefox *f, const int64_t *numbers, size_t count)
{
	const struct firefox_code *c = f->code;
	const struct firefox_column *columns = c->stacks;
	const uint32_t *frame = columns[STACK_FRAME].values.data;
	size_t known = columns[STACK_FRAME].values.count, frames = frame_count(c);

	for (size_t i = 0; i < count; i++)
		if (numbers[i] >= 0 && (uint64_t)numbers[i] < known) {
			prefetch(&c->stack_ids[numbers[i]]);
			prefetch(&frame[numbers[i]]);
		}
	for (size_t i = 0; i < count; i++)
		if (numbers[i] >= 0 && (uint64_t)numbers[i] < known &&
			c->stack_ids[numbers[i]] == NOT_MADE && frame[numbers[i]] < frames)
			prefetch(&c->frame_ids[0][frame[numbers[i]]]);
}
