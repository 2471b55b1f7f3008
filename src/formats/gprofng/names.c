/*
 * Names of addresses.  The experiment has copies of the objects in archives/, NAME_CODE, where CODE
 * is made from the object's path; so the copy is found by name if no other object has the same
 * name.  Objects without a copy are not searched elsewhere: the file at the path now may not be the
 * one that ran, and the experiment has nothing to check this.
 */
#include "formats/gprofng/names.h"

#include <stdlib.h>

#include "base/sort.h"
#include "obj/objfile.h"
#include "formats/common/importer.h"

enum {
	FRAMES_MAX = 64,
	CODE_SIZE = 11, /* 64 bits in digits of 6; one digit is an underscore */
};

struct address {
	uint64_t va, obj_addr;
	uint32_t segment; /* + 1; 0: none */
	uint32_t first, count;
};

struct gprofng_names {
	struct builder *builder;
	const struct gprofng_map *map;
	const struct folder *archive;
	struct symbolizer *symbolizer;
	struct arena *arena;
	struct map number_of; /* address → number */
	VEC(struct address) addresses;
	VEC(frame_id) frames;
	uint64_t missing;
	uint64_t most; /* maximum number of addresses; all others are one, unknown */
};

/* An object's addresses, relative to it. */
struct wanted {
	uint64_t obj_addr;
	uint32_t object, number;
};

struct gprofng_names *gprofng_names_create(struct builder *builder, const struct gprofng_map *map,
	const struct folder *archive, struct symbolizer *symbolizer, uint64_t most)
{
	struct gprofng_names *n = xalloc(sizeof(*n));

	n->builder = builder;
	n->map = map;
	n->archive = archive;
	n->symbolizer = symbolizer;
	n->most = most;
	n->arena = arena_create();
	return n;
}

void gprofng_names_destroy(struct gprofng_names *n)
{
	if (n == NULL)
		return;
	map_deinit(&n->number_of);
	vec_deinit(&n->addresses);
	vec_deinit(&n->frames);
	arena_destroy(n->arena);
	free(n);
}

uint32_t gprofng_names_add(struct gprofng_names *n, uint64_t va)
{
	uint32_t number = (uint32_t)n->addresses.count;
	const struct gprofng_segment *s;

	if (map_get(&n->number_of, va, 0, &number))
		return number;
	/* All addresses beyond the limit are one. */
	if (n->addresses.count >= n->most && map_get(&n->number_of, 0, 0, &number))
		return number;
	if (n->addresses.count >= n->most)
		va = 0;
	s = gprofng_map_find(n->map, va);
	struct address a = {.va = va};
	if (s) {
		a.segment = (uint32_t)(s - n->map->segments.data) + 1;
		a.obj_addr = va - s->start + s->file_off;
	}
	map_put(&n->number_of, va, 0, number);
	vec_push(&n->addresses, a);
	return number;
}

struct gprofng_frames gprofng_names_frames(const struct gprofng_names *n, uint32_t number)
{
	const struct address *a = &n->addresses.data[number];

	return (struct gprofng_frames){n->frames.data + a->first, a->count};
}

uint64_t gprofng_names_missing(const struct gprofng_names *n)
{
	return n->missing;
}

/* ---- frames ---- */

static void add_nameless(struct gprofng_names *n, const struct address *a, object_id object)
{
	string_id name;

	if (object.i == NO_ID) {
		name = builder_string(n->builder, STR("[unknown]"));
	} else {
		const struct gprofng_segment *s = &n->map->segments.data[a->segment - 1];
		name = nameless_code(n->builder, n->map->paths.strings[s->object], a->obj_addr);
	}
	vec_push(&n->frames, frame_of_name(n->builder, name, object, a->obj_addr));
}

static void add_symbol(
	struct gprofng_names *n, const struct symbol_frame *f, object_id object, uint64_t obj_addr)
{
	struct builder *b = n->builder;
	function_id function = builder_function(b, builder_string(b, f->function), object,
		builder_string(b, f->function_file), f->function_line);

	vec_push(&n->frames, builder_frame(b, function, builder_string(b, f->file), f->line,
				     f->is_inline, obj_addr));
}

/* Adds the frames of an address in an object; place NULL: unknown. */
static void add_frames(struct gprofng_names *n, uint32_t number, object_id object,
	const struct symbol_place *place)
{
	struct address *a = &n->addresses.data[number];
	uint32_t count = place ? place->count : 0;

	a->first = (uint32_t)n->frames.count;
	if (count > FRAMES_MAX)
		count = FRAMES_MAX;
	for (uint32_t i = count; i > 0; i--)
		add_symbol(n, &place->frames[place->count - count + i - 1], object, a->obj_addr);
	if (count == 0)
		add_nameless(n, a, object);
	a->count = (uint32_t)n->frames.count - a->first;
}

/* Names addresses outside all objects. */
static void name_others(struct gprofng_names *n, uint32_t number)
{
	struct address *a = &n->addresses.data[number];

	a->first = (uint32_t)n->frames.count;
	if (a->segment) {
		object_id object =
			builder_object(n->builder, STR("[functions]"), STR(""), OBJECT_JIT);
		string_id name =
			builder_string(n->builder, n->map->segments.data[a->segment - 1].function);
		vec_push(&n->frames, frame_of_name(n->builder, name, object, 0));
	} else {
		add_nameless(n, a, (object_id){NO_ID});
	}
	a->count = 1;
}

/* ---- objects ---- */

/* The copy of an object; NULL: there is none, or several objects have its name. */
static char *find_copy(const struct gprofng_names *n, struct str path)
{
	struct str base = str_base_name(path);
	const char *found = NULL;

	for (size_t i = 0; n->archive && i < folder_count(n->archive); i++) {
		struct str name = str_from(folder_name(n->archive, i));
		if (name.size != base.size + 1 + CODE_SIZE || !str_starts_with(name, base) ||
			name.data[base.size] != '_')
			continue;
		if (found)
			return NULL;
		found = name.data;
	}
	if (found == NULL || !folder_has_file(n->archive, found))
		return NULL;
	return xasprintf("%s/%s", folder_path(n->archive), found);
}

static int wanted_compare(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return COMPARE(x->object, y->object) ?: COMPARE(x->obj_addr, y->obj_addr) ?:
	       COMPARE(x->number, y->number);
}

/* Converts file offsets to the object's own addresses. */
static void place_in_object(
	struct gprofng_names *n, struct objfile *file, struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct address *a = &n->addresses.data[wanted[i].number];
		const struct gprofng_segment *s = &n->map->segments.data[a->segment - 1];
		uint64_t slide;
		if (objfile_slide(file, s->start, s->file_off, &slide))
			a->obj_addr = a->va - slide;
		wanted[i].obj_addr = a->obj_addr;
	}
	qsort(wanted, count, sizeof(*wanted), wanted_compare);
}

static void name_by_copy(struct gprofng_names *n, struct symbolize_object *object,
	const struct wanted *wanted, size_t count, object_id id)
{
	uint64_t *addrs = ARENA_ARRAY(n->arena, uint64_t, count);
	struct symbol_place *places = ARENA_ARRAY(n->arena, struct symbol_place, count);
	struct symbolize_status status;
	size_t distinct = 0;

	for (size_t i = 0; i < count; i++)
		if (distinct == 0 || addrs[distinct - 1] != wanted[i].obj_addr)
			addrs[distinct++] = wanted[i].obj_addr;
	symbolize_addresses(n->symbolizer, object, addrs, distinct, n->arena, places, &status);
	for (size_t i = 0, at = 0; i < count; i++) {
		while (addrs[at] != wanted[i].obj_addr)
			at++;
		add_frames(n, wanted[i].number, id, &places[at]);
	}
}

static void name_object(struct gprofng_names *n, struct wanted *wanted, size_t count)
{
	struct symbolize_object object = {
		.path = n->map->paths.strings[wanted[0].object], .kind = OBJECT_USER};
	char *copy = find_copy(n, object.path);
	struct objfile *file = NULL;

	if (copy)
		error_destroy(objfile_open(copy, &file));
	object_id id = builder_object(
		n->builder, object.path, file ? objfile_build_id(file) : STR(""), OBJECT_USER);
	if (file) {
		object.open_path = str_from(copy);
		object.build_id = objfile_build_id(file);
		place_in_object(n, file, wanted, count);
		name_by_copy(n, &object, wanted, count, id);
	} else {
		n->missing++;
		for (size_t i = 0; i < count; i++)
			add_frames(n, wanted[i].number, id, NULL);
	}
	objfile_close(file);
	free(copy);
}

void gprofng_names_resolve(struct gprofng_names *n)
{
	VEC(struct wanted) wanted = {0};

	for (uint32_t i = 0; i < n->addresses.count; i++) {
		const struct address *a = &n->addresses.data[i];
		uint32_t object = UINT32_MAX;
		if (a->segment)
			object = n->map->segments.data[a->segment - 1].object;
		if (object == UINT32_MAX)
			name_others(n, i);
		else
			vec_push(&wanted, (struct wanted){a->obj_addr, object, i});
	}
	if (wanted.count)
		qsort(wanted.data, wanted.count, sizeof(*wanted.data), wanted_compare);
	for (size_t first = 0, end; first < wanted.count; first = end) {
		end = first + 1;
		while (end < wanted.count && wanted.data[end].object == wanted.data[first].object)
			end++;
		name_object(n, wanted.data + first, end - first);
	}
	vec_deinit(&wanted);
}
