/* Names of a capture file's frames.  See capture_names.h. */
#include "formats/sonde/capture_names.h"

#include <stdlib.h>

#include "base/search.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_symbols.h"
#include "formats/sonde/capture_local.h"

/* Makes a chain of one frame that is not known code. */
static struct capture_chain add_special(
	struct capture_names *n, struct str name, object_id object, uint64_t obj_addr)
{
	struct builder *b = n->builder;
	string_id none = builder_string(b, STR(""));
	function_id function = builder_function(b, builder_string(b, name), object, none, 0);
	struct capture_chain chain = {.first = (uint32_t)n->frame_ids.count, .count = 1};

	vec_push(&n->frame_ids, builder_frame(b, function, none, 0, false, obj_addr));
	return chain;
}

void capture_names_init(struct capture_names *n, struct builder *b, struct arena *arena)
{
	*n = (struct capture_names){.builder = b, .arena = arena};
}

void capture_names_deinit(struct capture_names *n)
{
	map_deinit(&n->object_of_id);
	map_deinit(&n->symbols);
	vec_deinit(&n->objects);
	vec_deinit(&n->addresses);
	vec_deinit(&n->chains);
	vec_deinit(&n->frame_ids);
}

enum object_kind capture_names_kind(uint32_t kind)
{
	switch (kind) {
	case CAPTURE_OBJECT_USER:
		return OBJECT_USER;
	case CAPTURE_OBJECT_KERNEL:
		return OBJECT_KERNEL;
	case CAPTURE_OBJECT_JIT:
		return OBJECT_JIT;
	case CAPTURE_OBJECT_ZONE:
		return OBJECT_ZONE;
	default:
		return OBJECT_UNKNOWN;
	}
}

void capture_names_add_object(struct capture_names *n, const struct capture_object *row)
{
	bool added;
	object_id id = {NO_ID};

	n->has_unsampled |= row->kind == CAPTURE_OBJECT_UNSAMPLED;
	uint32_t place =
		*map_at(&n->object_of_id, row->object, 0, (uint32_t)n->objects.count, &added);
	if (!added) {
		n->objects.data[place].is_replaced |= row->is_replaced;
		return;
	}
	/* Code outside mappings has no load object, and neither does a truncated stack. */
	if (row->kind != CAPTURE_OBJECT_TRUNCATED && row->kind != CAPTURE_OBJECT_NONE &&
		row->kind != CAPTURE_OBJECT_GUESSED && !str_equal(row->path, STR("[unknown]")))
		id = builder_object(
			n->builder, row->path, row->build_id, capture_names_kind(row->kind));
	vec_push(&n->objects, (struct capture_names_object){.id = id,
				      .kind = row->kind,
				      .is_replaced = row->is_replaced,
				      .path = arena_str(n->arena, row->path),
				      .build_id = arena_str(n->arena, row->build_id)});
}

struct error *capture_names_read_objects(struct capture_names *n, struct cursor *payload)
{
	struct capture_object row;

	while (capture_get_object(payload, &row))
		capture_names_add_object(n, &row);
	return cursor_error(payload);
}

struct capture_names_object *capture_names_object(struct capture_names *n, uint32_t object)
{
	uint32_t index;

	return map_get(&n->object_of_id, object, 0, &index) ? &n->objects.data[index] : NULL;
}

static int address_compare(const void *a, const void *b)
{
	const struct capture_names_address *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

struct error *capture_names_read_addresses(struct capture_names *n, struct cursor *payload)
{
	struct capture_address row;

	while (capture_get_address(payload, &row))
		vec_push(&n->addresses, (struct capture_names_address){.first = row.first,
						.count = row.count,
						.obj_addr = row.obj_addr,
						.object = row.object});
	n->addresses_sorted = false;
	return cursor_error(payload);
}

/* The real address for an address in the file. */
static uint64_t real_address(struct capture_names *n, uint32_t object, uint64_t obj_addr)
{
	const struct capture_names_address sought = {.object = object, .first = obj_addr};
	const struct capture_names_address *addresses = n->addresses.data;

	if (!n->addresses_sorted && n->addresses.count)
		qsort(n->addresses.data, n->addresses.count, sizeof(*n->addresses.data),
			address_compare);
	n->addresses_sorted = true;
	size_t next = partition_point(
		i, 0, n->addresses.count, address_compare(&addresses[i], &sought) <= 0);
	if (next == 0)
		return obj_addr;
	const struct capture_names_address *a = &addresses[next - 1];

	return a->object == object && obj_addr - a->first < a->count ? a->obj_addr : obj_addr;
}

static frame_id add_frame(struct capture_names *n, object_id object, uint64_t obj_addr,
	const struct capture_symbol_frame *f)
{
	struct builder *b = n->builder;
	struct str name = f->function.size || n->is_profile ? f->function : STR("[unknown]");
	function_id function = builder_function_called(b, builder_string(b, name), f->aliases,
		object, builder_string(b, f->function_file), f->function_line);

	return builder_frame(
		b, function, builder_string(b, f->file), f->line, f->is_inline, obj_addr);
}

void capture_names_add(struct capture_names *n, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count)
{
	bool added;
	const struct capture_names_object *o = capture_names_object(n, object);
	struct capture_chain chain = {.first = (uint32_t)n->frame_ids.count,
		.count = count,
		.is_known = true,
		.is_nameless = count && frames[count - 1].is_nameless,
		.has_guessed_start = count && frames[count - 1].is_guessed_start};

	if (o == NULL)
		return;
	map_at(&n->symbols, object, obj_addr, (uint32_t)n->chains.count, &added);
	if (!added)
		return;
	/* A zone's number is not a real address. */
	obj_addr = o->kind == CAPTURE_OBJECT_ZONE && !n->is_profile
			   ? 0
			   : real_address(n, object, obj_addr);
	for (uint32_t i = count; i-- > 0;)
		vec_push(&n->frame_ids, add_frame(n, o->id, obj_addr, &frames[i]));
	vec_push(&n->chains, chain);
}

static bool read_chain(
	struct capture_symbols_decoder *d, uint32_t count, struct capture_symbol_frame *frames)
{
	for (uint32_t i = 0; i < count; i++)
		if (!capture_symbols_frame(d, &frames[i]))
			return false;
	return true;
}

struct error *capture_names_read_symbols(struct capture_names *n, struct cursor *payload)
{
	struct capture_symbol_frame frames[CAPTURE_CHAIN_MAX];
	struct capture_symbols_decoder d;
	struct capture_symbol symbol;
	struct arena *arena = arena_create(); /* the chunk's tables */
	struct error *err = capture_symbols_begin(&d, payload, arena);

	if (err == NULL) {
		while (capture_symbols_next(&d, &symbol) && read_chain(&d, symbol.count, frames))
			capture_names_add(n, symbol.object, symbol.obj_addr, frames, symbol.count);
		err = capture_symbols_error(&d);
	}
	arena_destroy(arena);
	return err;
}

const struct capture_chain *capture_names_truncated(struct capture_names *n)
{
	if (n->truncated.count == 0) {
		n->truncated = add_special(n, STR("[truncated]"), (object_id){NO_ID}, 0);
		n->truncated.is_truncated = true;
	}
	return &n->truncated;
}

static const struct capture_chain *guessed(struct capture_names *n)
{
	if (n->guessed.count == 0) {
		n->guessed = add_special(n, STR("[guessed]"), (object_id){NO_ID}, 0);
		n->guessed.is_guessed = true;
	}
	return &n->guessed;
}

struct capture_chain capture_names_restored(
	struct capture_names *n, const struct capture_chain *chain)
{
	struct capture_chain restored = *chain;

	if (!chain->is_known)
		return (struct capture_chain){0};
	restored.first = (uint32_t)n->frame_ids.count;
	for (uint32_t i = 0; i < chain->count; i++) {
		frame_id frame = n->frame_ids.data[chain->first + i];

		vec_push(&n->frame_ids,
			i ? frame : builder_frame_marked(n->builder, frame, STR(" [tail call]")));
	}
	return restored;
}

const struct capture_chain *capture_names_unknown(struct capture_names *n)
{
	if (n->unknown.count == 0)
		n->unknown = add_special(n, STR("[unknown]"), (object_id){NO_ID}, 0);
	return &n->unknown;
}

/* Time without samples has a row with this name. */
static struct capture_chain unsampled(struct capture_names *n, const struct capture_names_object *o)
{
	struct capture_chain chain = add_special(n, o->path, o->id, 0);

	chain.is_known = true;
	return chain;
}

/* All addresses of a load object outside known functions are its function "[unknown]". */
static struct capture_chain resolve(struct capture_names *n, const struct capture_frame *frame)
{
	uint32_t index;
	struct capture_names_object *o = capture_names_object(n, frame->object);

	if (o == NULL)
		return *capture_names_unknown(n);
	if (o->kind == CAPTURE_OBJECT_TRUNCATED)
		return *capture_names_truncated(n);
	if (o->kind == CAPTURE_OBJECT_GUESSED)
		return *guessed(n);
	if (o->kind == CAPTURE_OBJECT_UNSAMPLED)
		return unsampled(n, o);
	if (map_get(&n->symbols, frame->object, frame->obj_addr, &index)) {
		struct capture_chain chain = n->chains.data[index];
		*(chain.is_nameless ? &o->nameless : &o->named) += 1;
		o->guessed_starts += chain.has_guessed_start;
		return chain;
	}
	o->unknown++;
	return add_special(
		n, STR("[unknown]"), o->id, o->kind == CAPTURE_OBJECT_ZONE ? 0 : frame->obj_addr);
}

void capture_names_resolve(struct capture_names *n, const struct capture_frame *frames,
	size_t count, bool ask_local, struct capture_chain *chains)
{
	if (!n->is_profile) {
		(void)capture_names_truncated(n);
		(void)capture_names_unknown(n);
	}
	if (ask_local)
		capture_local_names(n, frames, count);
	for (size_t i = 0; i < count; i++)
		chains[i] = resolve(n, &frames[i]);
}

/* ---- missing names ---- */

/* The maximum number of objects named in a note; an ellipsis stands for the rest. */
#define NAMES_SHOWN 8

/* Whether an object's code has names. */
enum naming { NAMED_NOWHERE, NAMED_IN_PART, NAMED };

static enum naming naming_of(const struct capture_names_object *o)
{
	if (o->kind != CAPTURE_OBJECT_USER && o->kind != CAPTURE_OBJECT_KERNEL)
		return NAMED;
	uint64_t nameless = o->nameless + o->unknown;
	if (nameless && o->named == 0)
		return NAMED_NOWHERE;
	/* Every object has a few addresses without a name: padding, stubs. */
	return nameless > o->named / 10 ? NAMED_IN_PART : NAMED;
}

/* What views show in place of missing names. */
static const char *stand_in(uint64_t nameless, uint64_t unknown)
{
	if (unknown == 0)
		return "functions without a name are shown by their start";
	if (nameless == 0)
		return "frames without a name are shown as [unknown]";
	return "functions without a name are shown by their start, or as [unknown]";
}

/* Whether a name is in the list: several builds of a library have the same name. */
static bool is_among(const struct str *shown, uint64_t count, struct str name)
{
	for (uint64_t i = 0; i < count && i < NAMES_SHOWN; i++)
		if (str_equal(shown[i], name))
			return true;
	return false;
}

/*
 * Notes the objects with such naming.  A file that is another build by now names nothing of the one
 * that ran.
 */
static void note_naming(
	const struct capture_names *n, enum naming naming, bool is_replaced, const char *what)
{
	struct strbuf list = {0};
	struct str shown[NAMES_SHOWN];
	uint64_t count = 0, nameless = 0, unknown = 0;

	for (size_t i = 0; i < n->objects.count; i++) {
		const struct capture_names_object *o = &n->objects.data[i];
		struct str name = str_base_name(o->path);
		if (naming_of(o) != naming || o->is_replaced != is_replaced)
			continue;
		nameless += o->nameless;
		unknown += o->unknown;
		if (is_among(shown, count, name))
			continue;
		if (count < NAMES_SHOWN) {
			strbuf_printf(&list, "%s%.*s", count ? ", " : "", STR_ARG(name));
			shown[count] = name;
		}
		count++;
	}
	if (count)
		builder_note(n->builder, NOTE_NO_SYMBOLS, count, "%s %s%s%s: %s", what, list.data,
			count > NAMES_SHOWN ? ", …" : "",
			!is_replaced ? ""
			: count == 1 ? ", whose file is another build now than the one that ran"
				     : ", whose files are other builds now than those that ran",
			stand_in(nameless, unknown));
	strbuf_deinit(&list);
}

static void note_guessed_starts(const struct capture_names *n)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n->objects.count; i++)
		count += n->objects.data[i].guessed_starts;
	if (count)
		builder_note(n->builder, NOTE_GUESSED, count,
			count == 1 ? "a place in the code has no unwind rules: where its function "
				     "begins was found in the code, and may be wrong"
				   : "places in the code have no unwind rules: where their "
				     "functions begin was found in the code, and may be wrong");
}

void capture_names_note(const struct capture_names *n)
{
	for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
		note_naming(n, NAMED_NOWHERE, is_replaced, "no symbols for");
		note_naming(n, NAMED_IN_PART, is_replaced, "only some symbols for");
	}
	note_guessed_starts(n);
}
