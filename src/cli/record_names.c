/*
 * The names of a recording.  The recorder has addresses, the symbolizer has names; this brings them
 * together, one load object at a time.
 */
#include "cli/record_names.h"

#include "base/arena.h"
#include "base/sort.h"
#include "formats/sonde/capture_names.h"
#include "formats/sonde/layout/capture_rows.h"
#include "symbolize/tail_callers.h"

struct namer {
	struct symbolizer *symbolizer;
	const struct record_names_options *options;
	size_t left; /* objects, because of their size */
};

/* The object that is being named. */
struct named {
	struct recorder *recorder;
	uint32_t number;
	const struct recorder_object *object;
};

static bool generated_name(const void *names, uint64_t va, struct str *name)
{
	const struct named *named = names;

	return recorder_generated_name(named->recorder, named->number, va, name);
}

static void write_place(const struct named *named, uint64_t obj_addr,
	const struct symbol_place *place, struct arena *arena)
{
	struct capture_symbol_frame *frames =
		ARENA_ARRAY(arena, struct capture_symbol_frame, place->count);

	for (uint32_t i = 0; i < place->count; i++)
		frames[i] = capture_names_frame(&place->frames[i]);
	capture_writer_symbol(
		recorder_writer(named->recorder), named->number, obj_addr, frames, place->count);
}

static int addr_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* A jump's address, if it is a frame's as well, is named as such. */
static bool is_frame(void *context, uint64_t obj_addr)
{
	const struct recorder_object *object = ((struct named *)context)->object;

	return bsearch(&obj_addr, object->addresses, object->address_count, sizeof(obj_addr),
		addr_compare);
}

static void write_jump(void *context, const struct tail_pair *pair, uint64_t obj_addr)
{
	const struct named *named = context;

	capture_writer_tail(recorder_writer(named->recorder),
		&(struct capture_tail){named->number, pair->caller, pair->callee, obj_addr});
}

static void write_jump_place(void *context, uint64_t obj_addr, const struct symbol_place *place)
{
	struct arena *arena = arena_create();

	write_place(context, obj_addr, place, arena);
	arena_destroy(arena);
}

static void restore_callers(
	struct named *named, struct namer *namer, const struct symbolize_object *what)
{
	size_t count;
	const struct tail_pair *pairs = recorder_pairs(named->recorder, named->number, &count);
	const struct tail_callers_taker taker = {write_jump, is_frame, write_jump_place, named};

	tail_callers_restore(namer->symbolizer, what, pairs, count, &taker);
}

static void symbolize_object(struct recorder *recorder, uint32_t number,
	const struct recorder_object *object, struct namer *namer)
{
	struct named named = {recorder, number, object};
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
			write_place(&named, object->addresses[i], &places[i], arena);
	if (namer->options->tail_calls && what.kind == OBJECT_USER && status.has_lines)
		restore_callers(&named, namer, &what);
	namer->left += status.is_too_large;
	bool is_replaced = status.is_other_build && !status.has_names;

	if (is_replaced)
		capture_writer_replaced(recorder_writer(recorder), number, object->path,
			object->build_id, object->kind);
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
