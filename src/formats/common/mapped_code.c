/*
 * Turns addresses in mapped load objects into frames.  See mapped_code.h.
 *
 * Requested addresses are collected first, because the symbolizer takes the addresses of an object
 * in one ascending batch, and an object may be mapped in several pieces.  A file is opened, for the
 * slide of its mappings, when the first address in it is requested: a profile with all names never
 * opens a file.
 */
#include "formats/common/mapped_code.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "obj/object_open.h"
#include "obj/objfile.h"
#include "formats/common/importer.h"
#include "symbolize/build_source.h"
#include "symbolize/symbolize.h"

struct code_object {
	struct str path, build_id; /* in the arena */
	struct str open_path;	   /* where it was found, if elsewhere; else empty */
	enum object_kind kind;
	object_id id;
	struct objfile *file; /* NULL: missing or not needed */
	bool is_tried;
};

struct mapping {
	uint32_t object;
	uint64_t start, file_off;
	uint64_t slide; /* va - obj_addr */
	bool has_slide; /* the slide comes from the file's segments */
};

/* A wanted address; sorted and distinct once resolved. */
struct place {
	uint32_t object;
	uint32_t count; /* of its frames, from `first` on */
	uint64_t obj_addr;
	uint32_t first;
};

struct mapped_code {
	struct builder *builder;
	struct arena *arena;
	VEC(struct code_object) objects; /* 0: addresses in no mapping */
	struct map object_of_id;	 /* object_id → index in objects */
	VEC(struct mapping) mappings;
	VEC(struct place) places;
	VEC(frame_id) frames;
	struct build_source *source; /* NULL: none */
	bool opens_nothing;
	size_t named_max; /* limits the places: a name may take 30 times as much as its address
			     took in the input */
};

static bool is_absolute(struct str path)
{
	return path.size && path.data[0] == '/' && memchr(path.data, '\0', path.size) == NULL;
}

enum object_kind object_kind_of_path(struct str path)
{
	if (str_starts_with(path, STR("[kernel")) || str_starts_with(path, STR("[guest.kernel")) ||
		str_ends_with(path, STR(".ko")) || str_ends_with(path, STR(".ko.xz")) ||
		str_ends_with(path, STR(".ko.zst")))
		return OBJECT_KERNEL;
	if (str_equal(path, STR(ZONE_OBJECT)))
		return OBJECT_ZONE;
	if (str_equal(path, STR("[vdso]")))
		return OBJECT_USER;
	if (str_starts_with(path, STR("[jit")))
		return OBJECT_JIT;
	if (path.size == 0 || path.data[0] == '[' || str_starts_with(path, STR("//anon")))
		return OBJECT_UNKNOWN;
	return OBJECT_USER;
}

void build_id_normalize(struct str text, struct strbuf *out)
{
	size_t before = out->size;

	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];
		char lower = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;

		if (!((lower >= '0' && lower <= '9') || (lower >= 'a' && lower <= 'f'))) {
			out->size = before;
			return;
		}
		strbuf_add_char(out, lower);
	}
}

struct mapped_code *mapped_code_create(struct builder *b, size_t input_size)
{
	struct mapped_code *m = xalloc(sizeof(*m));

	m->builder = b;
	m->named_max = ((size_t)1 << 17) + input_size / 128;
	m->arena = arena_create();
	vec_push(&m->objects, (struct code_object){.kind = OBJECT_UNKNOWN,
				      .id = {NO_ID},
				      .path = STR(""),
				      .build_id = STR("")});
	return m;
}

void mapped_code_use_source(struct mapped_code *m, struct build_source *source)
{
	m->source = source;
}

void mapped_code_open_nothing(struct mapped_code *m)
{
	m->opens_nothing = true;
}

void mapped_code_destroy(struct mapped_code *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->objects.count; i++)
		objfile_close(m->objects.data[i].file);
	vec_deinit(&m->objects);
	map_deinit(&m->object_of_id);
	vec_deinit(&m->mappings);
	vec_deinit(&m->places);
	vec_deinit(&m->frames);
	arena_destroy(m->arena);
	free(m);
}

static uint32_t object_at(struct mapped_code *m, struct str path, struct str build_id)
{
	bool added;

	if (path.size == 0)
		return 0;
	object_id id = builder_object(m->builder, path, build_id, object_kind_of_path(path));
	uint32_t index = *map_at(&m->object_of_id, id.i, 0, (uint32_t)m->objects.count, &added);
	if (!added)
		return index;
	vec_push(&m->objects, (struct code_object){.path = arena_str(m->arena, path),
				      .build_id = arena_str(m->arena, build_id),
				      .kind = object_kind_of_path(path),
				      .id = id});
	return index;
}

/* Where, by convention, programs that are not position-independent begin on x86-64 and i386. */
static bool is_at_own_addresses(const struct code_mapping *mapping)
{
	uint64_t begin = mapping->start - mapping->file_off;

	return begin == 0x400000 || begin == 0x8048000;
}

uint32_t mapped_code_add(struct mapped_code *m, const struct code_mapping *mapping)
{
	struct mapping row = {.object = object_at(m, mapping->path, mapping->build_id),
		.start = mapping->start,
		.file_off = mapping->file_off};

	if (row.object && !is_at_own_addresses(mapping))
		row.slide = mapping->start - mapping->file_off;
	/*
	 * A mapping of the whole address space has the object's own addresses (pprof's
	 * elfexec.GetBase).
	 */
	row.has_slide = mapping->start == 0 && mapping->file_off == 0;
	vec_push(&m->mappings, row);
	return (uint32_t)m->mappings.count - 1;
}

object_id mapped_code_object(const struct mapped_code *m, uint32_t mapping)
{
	uint32_t object = mapping == MAPPING_NONE ? 0 : m->mappings.data[mapping].object;

	return m->objects.data[object].id;
}

uint64_t mapped_code_obj_addr(const struct mapped_code *m, uint32_t mapping, uint64_t va)
{
	return mapping == MAPPING_NONE ? va : va - m->mappings.data[mapping].slide;
}

static void open_at(struct code_object *o, struct str path)
{
	struct error *err = object_open(o->path, path, o->build_id, &o->file);

	if (err)
		o->file = NULL;
	error_destroy(err);
}

/* The program itself is needed: only that has the layout of its mappings. */
static void open_further(struct mapped_code *m, struct code_object *o)
{
	char *problem = NULL;
	char *path = build_source_find(m->source, o->build_id, BUILD_CODE, &problem);

	if (path) {
		o->open_path = arena_str(m->arena, str_from(path));
		open_at(o, o->open_path);
	}
	free(path);
	free(problem);
}

static void open_object(struct mapped_code *m, struct code_object *o)
{
	o->is_tried = true;
	if (m->opens_nothing || o->kind != OBJECT_USER || !is_absolute(o->path))
		return;
	open_at(o, o->path);
	if (o->file == NULL && m->source)
		open_further(m, o);
}

void mapped_code_want(struct mapped_code *m, uint32_t mapping, uint64_t va)
{
	uint32_t object = 0;

	if (mapping != MAPPING_NONE) {
		struct mapping *row = &m->mappings.data[mapping];
		struct code_object *o = &m->objects.data[row->object];

		object = row->object;
		if (!o->is_tried)
			open_object(m, o);
		if (!row->has_slide && o->file)
			(void)objfile_slide(o->file, row->start, row->file_off, &row->slide);
		row->has_slide = true;
	}
	vec_push(&m->places,
		(struct place){.object = object, .obj_addr = mapped_code_obj_addr(m, mapping, va)});
}

static int place_compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return COMPARE(x->object, y->object) ?: COMPARE(x->obj_addr, y->obj_addr);
}

static void sort_places(struct mapped_code *m)
{
	size_t distinct = 0;

	if (m->places.count)
		qsort(m->places.data, m->places.count, sizeof(*m->places.data), place_compare);
	for (size_t i = 0; i < m->places.count; i++)
		if (distinct == 0 ||
			place_compare(&m->places.data[distinct - 1], &m->places.data[i]))
			m->places.data[distinct++] = m->places.data[i];
	m->places.count = distinct;
}

static void add_nameless(struct mapped_code *m, const struct code_object *o, struct place *place)
{
	string_id name = nameless_code(m->builder, o->path, place->obj_addr);

	vec_push(&m->frames, frame_of_name(m->builder, name, o->id, place->obj_addr));
	place->count = 1;
}

/* Sets the frames of an object's places; returns how many have no name. */
static size_t add_frames(struct mapped_code *m, const struct code_object *o, struct place *places,
	size_t count, const struct symbol_place *symbols)
{
	size_t nameless = 0;

	for (size_t i = 0; i < count; i++) {
		places[i].first = (uint32_t)m->frames.count;
		places[i].count = 0;
		for (uint32_t k = 0; symbols && k < symbols[i].count; k++)
			vec_push(&m->frames, frame_of_symbol(m->builder, &symbols[i].frames[k],
						     o->id, places[i].obj_addr));
		places[i].count = (uint32_t)m->frames.count - places[i].first;
		if (places[i].count)
			continue;
		add_nameless(m, o, &places[i]);
		nameless++;
	}
	return nameless;
}

static void note_nameless(
	struct mapped_code *m, const struct code_object *o, size_t count, const char *problem)
{
	const char *plural = count == 1 ? "" : "es", *have = count == 1 ? "has" : "have";

	if (o->path.size == 0)
		builder_note(m->builder, NOTE_NO_SYMBOLS, 1,
			"%zu address%s in no mapping of a file %s no name", count, plural, have);
	else
		builder_note(m->builder, NOTE_NO_SYMBOLS, 1, "%zu address%s in %.*s %s no name%s%s",
			count, plural, STR_ARG(o->path), have, problem ? ": " : "",
			problem ? problem : "");
}

static void resolve_object(struct mapped_code *m, struct symbolizer *symbolizer,
	const struct code_object *o, struct place *places, size_t count)
{
	struct symbolize_object object = {.path = o->path,
		.open_path = o->open_path,
		.build_id = o->build_id,
		.kind = o->kind};
	struct symbolize_status status = {0};
	struct arena *arena = arena_create();
	struct symbol_place *symbols = NULL;

	if (o->file) {
		uint64_t *addrs = ARENA_ARRAY(arena, uint64_t, count);

		for (size_t i = 0; i < count; i++)
			addrs[i] = places[i].obj_addr;
		symbols = ARENA_ARRAY(arena, struct symbol_place, count);
		symbolize_addresses(symbolizer, &object, addrs, count, arena, symbols, &status);
	}
	size_t nameless = add_frames(m, o, places, count, symbols);
	if (nameless)
		note_nameless(m, o, nameless,
			o->file		   ? status.problem
			: m->opens_nothing ? "the profile was sent without it"
			: o->path.size	   ? "its file is not here, or another build"
					   : NULL);
	if (nameless < count && o->build_id.size == 0)
		builder_note(m->builder, NOTE_GUESSED, 1,
			"names in %.*s are from the file that is there now; the profile does "
			"not identify the build",
			STR_ARG(o->path));
	arena_destroy(arena);
}

/* Makes the places from named_max on one "[unknown]". */
static void forget_rest(struct mapped_code *m)
{
	size_t rest = m->places.count - m->named_max;

	vec_push(&m->frames, frame_unknown(m->builder));
	for (size_t i = m->named_max; i < m->places.count; i++) {
		m->places.data[i].first = (uint32_t)m->frames.count - 1;
		m->places.data[i].count = 1;
	}
	builder_note(m->builder, NOTE_NO_SYMBOLS, 1,
		"%zu addresses are not distinguished: there are too many in a file of this size",
		rest);
}

void mapped_code_resolve(struct mapped_code *m)
{
	if (m->places.count == 0)
		return;
	struct symbolize_options options = {.source = m->source};
	struct symbolizer *symbolizer = symbolizer_create(&options);

	sort_places(m);
	size_t named = m->places.count < m->named_max ? m->places.count : m->named_max;
	for (size_t first = 0, end; first < named; first = end) {
		uint32_t object = m->places.data[first].object;

		for (end = first; end < named; end++)
			if (m->places.data[end].object != object)
				break;
		resolve_object(m, symbolizer, &m->objects.data[object], &m->places.data[first],
			end - first);
	}
	symbolizer_destroy(symbolizer);
	if (named < m->places.count)
		forget_rest(m);
}

struct mapped_frames mapped_code_frames(const struct mapped_code *m, uint32_t mapping, uint64_t va)
{
	struct place key = {
		.object = mapping == MAPPING_NONE ? 0 : m->mappings.data[mapping].object,
		.obj_addr = mapped_code_obj_addr(m, mapping, va)};
	const struct place *found = bsearch(
		&key, m->places.data, m->places.count, sizeof(*m->places.data), place_compare);

	assert(found && found->count);
	return (struct mapped_frames){&m->frames.data[found->first], found->count};
}
