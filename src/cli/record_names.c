/*
 * The names of a recording.  The recorder has addresses, the symbolizer has names; this brings them
 * together, one load object at a time.
 */
#include "cli/record_names.h"

#include "base/arena.h"
#include "base/sort.h"
#include "formats/sonde/capture_names.h"
#include "formats/sonde/layout/capture_rows.h"
#include "obj/tail_calls.h"
#include "symbolize/symbolize.h"

struct namer {
	struct symbolizer *symbolizer;
	const struct record_names_options *options;
	size_t left; /* objects, because of their size */
};

/* The object that is being named. */
struct named {
	const struct recorder *recorder;
	uint32_t object;
};

static bool generated_name(const void *names, uint64_t va, struct str *name)
{
	const struct named *named = names;

	return recorder_generated_name(named->recorder, named->object, va, name);
}

static void write_place(struct capture_writer *writer, uint32_t object, uint64_t obj_addr,
	const struct symbol_place *place, struct arena *arena)
{
	struct capture_symbol_frame *frames =
		ARENA_ARRAY(arena, struct capture_symbol_frame, place->count);

	for (uint32_t i = 0; i < place->count; i++)
		frames[i] = capture_names_frame(&place->frames[i]);
	capture_writer_symbol(writer, object, obj_addr, frames, place->count);
}

static int addr_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Names jumps, in any order, that are not addresses of frames as well. */
static void name_jumps(struct recorder *recorder, uint32_t number, struct namer *namer,
	const struct symbolize_object *what, const struct recorder_object *object, uint64_t *jumps,
	size_t count)
{
	struct arena *arena = arena_create();
	struct symbol_place *places = ARENA_ARRAY(arena, struct symbol_place, count);
	struct symbolize_status status;
	size_t kept = 0;

	if (count)
		qsort(jumps, count, sizeof(*jumps), addr_compare);
	for (size_t i = 0; i < count; i++)
		if ((kept == 0 || jumps[i] != jumps[kept - 1]) &&
			!bsearch(&jumps[i], object->addresses, object->address_count,
				sizeof(*jumps), addr_compare))
			jumps[kept++] = jumps[i];
	if (kept)
		symbolize_addresses(namer->symbolizer, what, jumps, kept, arena, places, &status);
	for (size_t i = 0; i < kept; i++)
		if (places[i].count > 0)
			write_place(recorder_writer(recorder), number, jumps[i], &places[i], arena);
	arena_destroy(arena);
}

/* Restores callers that left no frame. */
static void restore_callers(struct recorder *recorder, uint32_t number, struct namer *namer,
	const struct symbolize_object *what, const struct recorder_object *object)
{
	size_t count;
	const struct tail_pair *pairs = recorder_pairs(recorder, number, &count);
	struct arena *arena = arena_create();
	struct tail_chain *chains = ARENA_ARRAY(arena, struct tail_chain, count);
	VEC(uint64_t) jumps = {0};

	symbolize_tail_calls(namer->symbolizer, what, pairs, count, arena, chains);
	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < chains[i].count; k++) {
			capture_writer_tail(recorder_writer(recorder),
				&(struct capture_tail){number, pairs[i].caller, pairs[i].callee,
					chains[i].jumps[k]});
			vec_push(&jumps, chains[i].jumps[k]);
		}
	}
	name_jumps(recorder, number, namer, what, object, jumps.data, jumps.count);
	vec_deinit(&jumps);
	arena_destroy(arena);
}

static void symbolize_object(struct recorder *recorder, uint32_t number,
	const struct recorder_object *object, struct namer *namer)
{
	const struct named named = {recorder, number};
	struct capture_writer *writer = recorder_writer(recorder);
	struct arena *arena = arena_create();
	struct symbol_place *places =
		ARENA_ARRAY(arena, struct symbol_place, object->address_count);
	struct symbolize_status status;
	struct symbolize_object what = {
		.path = object->path,
		.open_path = object->open_path,
		.build_id = object->build_id,
		.kind = capture_names_kind(object->kind),
		.pid = object->pid,
		.begin_ns = object->begin_ns,
		.generated_name = generated_name,
		.names = &named,
	};

	if (object->is_replaced)
		status = (struct symbolize_status){.is_other_build = true};
	else
		symbolize_addresses(namer->symbolizer, &what, object->addresses,
			object->address_count, arena, places, &status);
	for (size_t i = 0; i < object->address_count; i++)
		if (places[i].count > 0)
			write_place(writer, number, object->addresses[i], &places[i], arena);
	if (namer->options->tail_calls && what.kind == OBJECT_USER && status.has_lines)
		restore_callers(recorder, number, namer, &what, object);
	namer->left += status.is_too_large;
	bool is_replaced = status.is_other_build && !status.has_names;

	if (is_replaced)
		capture_writer_replaced(
			writer, number, object->path, object->build_id, object->kind);
	if (!status.has_names && !status.is_too_large && namer->options->nameless)
		namer->options->nameless(namer->options->context, object->path, is_replaced);
	arena_destroy(arena);
}

static bool has_code(const struct recorder_object *object)
{
	enum object_kind kind = capture_names_kind(object->kind);

	/* Zones were named by their programs. */
	return object->address_count > 0 && kind != OBJECT_UNKNOWN && kind != OBJECT_ZONE;
}

/*
 * Whether an object's names cannot be found later: those of the kernel and of generated code are
 * gone when it or the process is.
 */
static bool is_named_now_only(const struct recorder_object *object)
{
	return capture_names_kind(object->kind) != OBJECT_USER ||
	       str_equal(object->path, STR("[vdso]")) || object->build_id.size == 0;
}

size_t record_names(struct recorder *recorder, const struct record_names_options *options)
{
	const struct symbolize_options how = {.memory_max = options->memory_max};
	struct namer namer = {symbolizer_create(&how), options, 0};
	size_t count = recorder_object_count(recorder);

	for (uint32_t i = 0; i < count; i++) {
		struct recorder_object object;

		recorder_object(recorder, i, &object);
		if (has_code(&object) && (!options->later || is_named_now_only(&object)))
			symbolize_object(recorder, i, &object, &namer);
	}
	symbolizer_destroy(namer.symbolizer);
	return namer.left;
}
