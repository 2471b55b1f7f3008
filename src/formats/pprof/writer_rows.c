/*
 * The tables of a written pprof profile.  See writer.h.
 *
 * Load objects are mapped from 0 to the end of all addresses, which means that addresses are
 * relative to the object (pprof's elfexec.GetBase interprets it this way).  The flags of mappings
 * are true if names, files, lines and inlined calls are known, so that pprof does not look them up
 * again.
 */
#include "formats/pprof/writer.h"

#include <stdlib.h>

#include "base/escape.h"

/* ---- strings ---- */

uint64_t pprof_writer_text(struct pprof_writer *w, struct str text)
{
	struct strbuf escaped = {0};

	escape_text(&escaped, text);
	uint32_t number = str_table_intern(&w->strings, strbuf_str(&escaped));
	strbuf_deinit(&escaped);
	return number;
}

uint64_t pprof_writer_string(struct pprof_writer *w, string_id id)
{
	uint32_t *number = &w->string_number[id.i];

	if (*number == 0)
		*number = (uint32_t)pprof_writer_text(w, profile_string(w->profile, id)) + 1;
	return *number - 1;
}

static void put_strings(struct pprof_writer *w)
{
	for (size_t i = 0; i < w->strings.count; i++) {
		proto_put_bytes(&w->sink->text, PROFILE_STRING, w->strings.strings[i]);
		if (!sink_settle(w->sink))
			return;
	}
}

/* ---- mappings ---- */

/* Names like "libc.so.6" and "libx.so", which no main program has. */
static bool is_library(struct str name)
{
	const char *so = memmem(name.data, name.size, ".so", 3);

	return so && (so + 3 == name.data + name.size || so[3] == '.' || so[3] == '_');
}

/* pprof assumes that the first mapping is the program's. */
static size_t main_object(const struct profile *p)
{
	for (size_t i = 0; i < p->object_count; i++) {
		struct str name = profile_module(p, (object_id){(uint32_t)i});

		if (p->objects[i].kind == OBJECT_USER && name.size && name.data[0] != '[' &&
			!is_library(name))
			return i;
	}
	return 0;
}

static bool has_mapping(const struct profile *p, object_id object)
{
	return object.i != NO_ID && profile_string(p, p->objects[object.i].path).size;
}

static void number_mappings(struct pprof_writer *w)
{
	const struct profile *p = w->profile;
	size_t first = main_object(p);
	uint32_t id = 2;

	w->mapping_of = xcalloc(p->object_count + 1, sizeof(*w->mapping_of));
	for (size_t i = 0; i < p->object_count; i++)
		if (has_mapping(p, (object_id){(uint32_t)i}))
			w->mapping_of[i] = i == first ? 1 : id++;
}

struct known {
	bool functions, files, lines, inlines;
};

/* [object]: what is known about its frames; the caller frees it. */
static struct known *look_at_frames(const struct profile *p)
{
	struct known *known = xcalloc(p->object_count + 1, sizeof(*known));

	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *frame = &p->frames[i];
		const struct function *f = &p->functions[frame->function.i];
		struct str name = profile_string(p, f->name);

		if (f->object.i == NO_ID)
			continue;
		struct known *k = &known[f->object.i];
		k->functions |= name.size && name.data[0] != '[';
		k->files |= frame->file.i || f->file.i;
		k->lines |= frame->line != 0;
		k->inlines |= frame->is_inline;
	}
	return known;
}

static void put_mapping(struct pprof_writer *w, size_t object, const struct known *known)
{
	const struct object *o = &w->profile->objects[object];
	struct strbuf *out = &w->sink->text;
	uint64_t file = pprof_writer_string(w, o->path),
		 build_id = pprof_writer_string(w, o->build_id);
	size_t begun = proto_begin(out, PROFILE_MAPPING);

	proto_put_varint(out, ROW_ID, w->mapping_of[object]);
	proto_put_varint(out, MAPPING_LIMIT, UINT64_MAX);
	proto_put_varint(out, MAPPING_FILE, file);
	if (build_id)
		proto_put_varint(out, MAPPING_BUILD_ID, build_id);
	if (known->functions)
		proto_put_varint(out, MAPPING_HAS_FUNCTIONS, 1);
	if (known->files)
		proto_put_varint(out, MAPPING_HAS_FILES, 1);
	if (known->lines)
		proto_put_varint(out, MAPPING_HAS_LINES, 1);
	if (known->inlines)
		proto_put_varint(out, MAPPING_HAS_INLINE, 1);
	proto_end(out, begun);
}

/* Ordered by id: the program first. */
static void put_mappings(struct pprof_writer *w)
{
	const struct profile *p = w->profile;
	struct known *known = look_at_frames(p);
	size_t first = main_object(p);

	if (first < p->object_count && w->mapping_of[first])
		put_mapping(w, first, &known[first]);
	for (size_t i = 0; i < p->object_count; i++) {
		if (i != first && w->mapping_of[i])
			put_mapping(w, i, &known[i]);
		if (!sink_settle(w->sink))
			break;
	}
	free(known);
}

/* ---- functions ---- */

/*
 * A function's file is that of its places; included code of another file becomes a separate
 * function.
 */
static uint32_t function_of(struct pprof_writer *w, const struct frame *frame)
{
	const struct function *f = &w->profile->functions[frame->function.i];
	string_id file = frame->file.i ? frame->file : f->file;
	bool added;
	uint32_t index = *map_at(
		&w->function_of, frame->function.i, file.i, (uint32_t)w->functions.count, &added);

	if (added)
		vec_push(&w->functions, (struct pprof_function){frame->function.i, file});
	return index + 1;
}

static void put_functions(struct pprof_writer *w)
{
	struct strbuf *out = &w->sink->text;

	for (size_t i = 0; i < w->functions.count; i++) {
		const struct pprof_function *row = &w->functions.data[i];
		const struct function *f = &w->profile->functions[row->function];
		uint64_t name = f->name.i ? pprof_writer_string(w, f->name)
					  : pprof_writer_text(w, STR("[unknown]"));
		size_t begun = proto_begin(out, PROFILE_FUNCTION);

		proto_put_varint(out, ROW_ID, i + 1);
		proto_put_varint(out, FUNCTION_NAME, name);
		if (row->file.i)
			proto_put_varint(out, FUNCTION_FILE, pprof_writer_string(w, row->file));
		if (f->line)
			proto_put_varint(out, FUNCTION_START_LINE, f->line);
		proto_end(out, begun);
		if (!sink_settle(w->sink))
			return;
	}
}

/* ---- locations ---- */

static uint32_t location_of(struct pprof_writer *w, uint32_t place)
{
	uint32_t *id = &w->location_of.data[place];

	if (*id == 0) {
		vec_push(&w->locations, place);
		*id = (uint32_t)w->locations.count;
	}
	return *id;
}

void pprof_put_locations(struct pprof_writer *w, stack_id stack)
{
	for (; stack.i; stack = code_places_caller(&w->places, w->profile, stack))
		proto_put_packed(&w->sink->text, location_of(w, w->places.of_stack[stack.i]));
}

static void put_line(struct pprof_writer *w, const struct frame *frame)
{
	struct strbuf *out = &w->sink->text;
	uint32_t function = function_of(w, frame);
	size_t begun = proto_begin(out, LOCATION_LINE);

	proto_put_varint(out, LINE_FUNCTION, function);
	if (frame->line)
		proto_put_varint(out, LINE_LINE, frame->line);
	proto_end(out, begun);
}

static void put_location(struct pprof_writer *w, uint32_t id)
{
	const struct profile *p = w->profile;
	struct strbuf *out = &w->sink->text;
	uint32_t leaf = w->locations.data[id - 1];
	const struct frame *frame = code_places_outermost(&w->places, p, leaf);
	object_id object = p->functions[frame->function.i].object;
	uint64_t obj_addr = code_places_frame(&w->places, p, leaf)->obj_addr;
	size_t begun = proto_begin(out, PROFILE_LOCATION);

	proto_put_varint(out, ROW_ID, id);
	if (has_mapping(p, object))
		proto_put_varint(out, LOCATION_MAPPING, w->mapping_of[object.i]);
	if (obj_addr)
		proto_put_varint(out, LOCATION_ADDRESS, obj_addr);
	for (uint32_t place = leaf; place; place = code_places_outer(&w->places, place))
		put_line(w, code_places_frame(&w->places, p, place));
	proto_end(out, begun);
}

void pprof_put_rows(struct pprof_writer *w)
{
	for (uint32_t id = 1; id <= w->locations.count; id++) {
		put_location(w, id);
		if (!sink_settle(w->sink))
			return;
	}
	put_functions(w);
	put_mappings(w);
	put_strings(w);
}

void pprof_writer_init(struct pprof_writer *w, const struct profile *profile, struct sink *sink)
{
	*w = (struct pprof_writer){.profile = profile, .sink = sink, .arena = arena_create()};
	str_table_init(&w->strings, w->arena);
	(void)str_table_intern(&w->strings, STR(""));
	w->string_number = xcalloc(profile->string_count, sizeof(*w->string_number));
	number_mappings(w);
	code_places_init(&w->places, profile);
	uint32_t places = code_places_count(&w->places);
	vec_reserve(&w->location_of, places);
	memset(w->location_of.data, 0, places * sizeof(*w->location_of.data));
	w->location_of.count = places;
}

void pprof_writer_deinit(struct pprof_writer *w)
{
	str_table_deinit(&w->strings);
	free(w->string_number);
	code_places_deinit(&w->places);
	vec_deinit(&w->location_of);
	vec_deinit(&w->locations);
	map_deinit(&w->function_of);
	vec_deinit(&w->functions);
	free(w->mapping_of);
	arena_destroy(w->arena);
}
