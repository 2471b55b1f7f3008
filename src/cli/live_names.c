/*
 * Address in a process → its mapping → the file, and the address in it → the symbolizer.
 *
 * Files are opened as in recordings (record/processes/object_table.h): as the process sees them,
 * possibly in another mount namespace, also deleted ones; and only those that contain a requested
 * function.
 * Answers are cached by address, because a library can be closed while its zones are still shown.
 */
#include "cli/live_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"
#include "obj/objfile.h"
#include "record/processes/object_table.h"
#include "record/processes/proc.h"
#include "symbolize/symbolize.h"

struct live_names {
	pid_t pid;
	struct arena *arena;
	struct object_table *objects;
	struct symbolizer *symbolizer; /* NULL: nothing was requested yet */
	VEC(struct zone_function) known;
	struct map by_code; /* index in known */
};

struct live_names *live_names_create(pid_t pid)
{
	struct live_names *names = xalloc(sizeof(*names));

	names->pid = pid;
	names->arena = arena_create();
	names->objects = object_table_create(NULL);
	return names;
}

void live_names_destroy(struct live_names *names)
{
	if (names == NULL)
		return;
	symbolizer_destroy(names->symbolizer);
	object_table_destroy(names->objects);
	map_deinit(&names->by_code);
	vec_deinit(&names->known);
	arena_destroy(names->arena);
	free(names);
}

/* ---- locating functions ---- */

struct wanted {
	struct zone_function *function;
	uint32_t object; /* UINT32_MAX: in no known object */
	uint64_t obj_addr;
};

struct looking {
	struct live_names *names;
	struct wanted *wanted; /* [count], by code */
	size_t count;
};

static int by_code(const void *a, const void *b)
{
	uint64_t x = ((const struct wanted *)a)->function->code;
	uint64_t y = ((const struct wanted *)b)->function->code;

	return COMPARE(x, y);
}

static int by_place(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return COMPARE(x->object, y->object) ?: COMPARE(x->obj_addr, y->obj_addr);
}

/* The first one at or above the address. */
static size_t first_from(const struct looking *l, uint64_t va)
{
	return partition_point(i, 0, l->count, l->wanted[i].function->code < va);
}

/* The slide of a mapping of that object; false: it is not a file with code. */
static bool find_slide(const struct live_names *names, uint32_t object,
	const struct maps_line *line, uint64_t *slide)
{
	struct object_info info = object_table_info(names->objects, object);
	struct objfile *file = NULL;
	char path[64];

	if (info.kind != CAPTURE_OBJECT_USER || info.open_path.size == 0)
		return false;
	snprintf(path, sizeof(path), "%.*s", STR_ARG(info.open_path));
	struct error *err = objfile_open(path, &file);
	bool is = err == NULL && objfile_slide(file, line->low_va, line->file_off, slide);
	error_destroy(err);
	objfile_close(file);
	return is;
}

static void look_in_mapping(void *context, const struct maps_line *line)
{
	struct looking *l = context;
	size_t first = first_from(l, line->low_va), last = first;
	struct object_origin origin = {.pid = l->names->pid,
		.path = line->path,
		.low_va = line->low_va,
		.high_va = line->high_va,
		.device = line->device,
		.inode = line->inode};
	uint64_t slide;

	while (last < l->count && l->wanted[last].function->code < line->high_va)
		last++;
	if (first == last || !line->executable)
		return;
	uint32_t object = object_table_mapped(l->names->objects, &origin);
	if (!find_slide(l->names, object, line, &slide))
		return;
	for (size_t i = first; i < last; i++) {
		l->wanted[i].object = object;
		l->wanted[i].obj_addr = l->wanted[i].function->code - slide;
	}
}

/* ---- naming functions ---- */

static const char *keep(struct live_names *names, struct str text)
{
	return text.size ? arena_str(names->arena, text).data : NULL;
}

/* If functions are inlined at its first instruction, the outermost frame is the function itself. */
static void take_name(struct live_names *names, struct zone_function *function,
	const struct symbol_place *place, const char *module)
{
	const struct symbol_frame *frame;

	function->module = module;
	if (place->count == 0)
		return;
	frame = &place->frames[place->count - 1];
	function->name = keep(names, frame->function);
	function->file = keep(names, frame->function_file);
	function->line = frame->function_line;
}

/*
 * Names functions of one object, ordered by address in it; a library may be mapped twice (dlmopen).
 */
static void name_object(struct live_names *names, struct wanted *wanted, size_t count)
{
	struct object_info info = object_table_info(names->objects, wanted->object);
	struct arena *arena = arena_create();
	struct symbol_place *places = ARENA_ARRAY(arena, struct symbol_place, count);
	uint64_t *obj_addrs = ARENA_ARRAY(arena, uint64_t, count);
	struct symbolize_object object = {.path = info.path,
		.open_path = info.open_path,
		.build_id = info.build_id,
		.kind = OBJECT_USER};
	struct symbolize_status status;
	const char *module = keep(names, info.path);
	size_t distinct = 0;

	for (size_t i = 0; i < count; i++)
		if (distinct == 0 || obj_addrs[distinct - 1] != wanted[i].obj_addr)
			obj_addrs[distinct++] = wanted[i].obj_addr;
	symbolize_addresses(
		names->symbolizer, &object, obj_addrs, distinct, arena, places, &status);
	for (size_t i = 0, at = 0; i < count; i++) {
		at += obj_addrs[at] != wanted[i].obj_addr;
		take_name(names, wanted[i].function, &places[at], module);
	}
	arena_destroy(arena);
}

static void name_all(struct live_names *names, struct wanted *wanted, size_t count)
{
	struct looking l = {names, wanted, count};
	size_t end;

	if (names->symbolizer == NULL)
		names->symbolizer = symbolizer_create(&(struct symbolize_options){0});
	qsort(wanted, count, sizeof(*wanted), by_code);
	maps_read(names->pid, look_in_mapping, &l);
	qsort(wanted, count, sizeof(*wanted), by_place);
	for (size_t i = 0; i < count && wanted[i].object != UINT32_MAX; i = end) {
		for (end = i; end < count && wanted[end].object == wanted[i].object;)
			end++;
		name_object(names, &wanted[i], end - i);
	}
}

static void name_functions(void *context, struct zone_function *function, size_t count)
{
	struct live_names *names = context;
	VEC(struct wanted) wanted = {0};
	bool added;

	for (size_t i = 0; i < count; i++) {
		uint32_t index = (uint32_t)names->known.count;
		(void)*map_at(&names->by_code, function[i].code, 0, index, &added);
		if (added)
			vec_push(&names->known, (struct zone_function){.code = function[i].code});
	}
	for (size_t i = 0; i < names->known.count; i++)
		if (names->known.data[i].module == NULL)
			vec_push(&wanted, (struct wanted){&names->known.data[i], UINT32_MAX, 0});
	if (wanted.count)
		name_all(names, wanted.data, wanted.count);
	vec_deinit(&wanted);
	for (size_t i = 0; i < count; i++)
		function[i] =
			names->known.data[*map_at(&names->by_code, function[i].code, 0, 0, &added)];
}

struct zone_namer live_names_namer(struct live_names *names)
{
	return (struct zone_namer){names ? name_functions : NULL, names};
}
