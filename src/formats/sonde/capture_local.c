/*
 * Names from this machine's files.  See capture_local.h.
 */
#include "formats/sonde/capture_local.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/sort.h"
#include "symbolize/symbolize.h"

static int frame_compare(const void *a, const void *b)
{
	const struct capture_frame *x = a, *y = b;

	return COMPARE(x->object, y->object) ?: COMPARE(x->obj_addr, y->obj_addr);
}

/* Whether the recording was made on the running kernel, so that its symbols are valid. */
static bool is_this_kernel(const struct capture_names *n)
{
	struct utsname name;

	return n->is_this_kernel ||
	       (uname(&name) == 0 && str_equal(n->host, str_from(name.nodename)) &&
		       str_equal(n->kernel, str_from(name.release)));
}

static bool is_wanted(struct capture_names *n, const struct capture_frame *frame, bool ask_kernel)
{
	uint32_t index;
	const struct capture_names_object *o = capture_names_object(n, frame->object);

	/* Without a build ID, the file's names cannot be refused. */
	if (o == NULL || o->is_missing || (o->is_replaced && o->build_id.size == 0) ||
		(o->kind != CAPTURE_OBJECT_USER &&
			!(o->kind == CAPTURE_OBJECT_KERNEL && ask_kernel)))
		return false;
	return !map_get(&n->symbols, frame->object, frame->obj_addr, &index);
}

struct capture_symbol_frame capture_names_frame(const struct symbol_frame *frame)
{
	return (struct capture_symbol_frame){
		.function = frame->function,
		.file = frame->file,
		.function_file = frame->function_file,
		.line = frame->line,
		.function_line = frame->function_line,
		.is_inline = frame->is_inline,
		.is_nameless = frame->is_nameless,
		.is_guessed_start = frame->is_guessed_start,
		.aliases = frame->aliases,
	};
}

static void add_place(struct capture_names *n, const struct capture_frame *frame,
	const struct symbol_place *place)
{
	struct capture_symbol_frame frames[64];
	uint32_t count = 0;

	for (; count < place->count && count < ARRAY_SIZE(frames); count++)
		frames[count] = capture_names_frame(&place->frames[count]);
	if (count)
		capture_names_add(n, frame->object, frame->obj_addr, frames, count);
}

/* The further source's problem with the kernel's file; those of programs are too many. */
static void note_problem(struct capture_names *n, const struct capture_names_object *o,
	const struct symbolize_status *status)
{
	if (n->source && o->kind == CAPTURE_OBJECT_KERNEL && status->problem)
		builder_note(n->builder, NOTE_NO_SYMBOLS, 1, "%.*s: %s", STR_ARG(o->path),
			status->problem);
}

/* Names the frames of one object, ascending by address. */
static void name_object(struct capture_names *n, struct symbolizer *symbolizer, bool ask_kernel,
	const struct capture_frame *frames, size_t count)
{
	struct capture_names_object *o = capture_names_object(n, frames[0].object);
	struct symbolize_object object = {.path = o->path,
		.open_path = o->open_path,
		.build_id = o->build_id,
		.kind = o->kind == CAPTURE_OBJECT_KERNEL ? OBJECT_KERNEL : OBJECT_USER,
		.marks = o->marks,
		.mark_count = o->mark_count,
		.is_other_kernel = !ask_kernel};
	struct arena *arena = arena_create();
	uint64_t *obj_addrs = ARENA_ARRAY(arena, uint64_t, count);
	struct symbol_place *places = ARENA_ARRAY(arena, struct symbol_place, count);
	struct symbolize_status status = {0};

	for (size_t i = 0; i < count; i++)
		obj_addrs[i] = frames[i].obj_addr;
	symbolize_addresses(symbolizer, &object, obj_addrs, count, arena, places, &status);
	for (size_t i = 0; i < count; i++)
		add_place(n, &frames[i], &places[i]);
	o->is_replaced |= status.is_other_build;
	note_problem(n, o, &status);
	arena_destroy(arena);
}

void capture_local_names(struct capture_names *n, const struct capture_frame *frames, size_t count)
{
	VEC(struct capture_frame) wanted = {0};
	struct symbolize_options options = {.source = n->source};
	bool ask_kernel = is_this_kernel(n);

	for (size_t i = 0; i < count; i++)
		if (is_wanted(n, &frames[i], ask_kernel || n->source))
			vec_push(&wanted, frames[i]);
	if (wanted.count == 0)
		return;
	qsort(wanted.data, wanted.count, sizeof(*wanted.data), frame_compare);
	/* Damaged files may define a frame twice. */
	size_t distinct = 1;
	for (size_t i = 1; i < wanted.count; i++)
		if (frame_compare(&wanted.data[i], &wanted.data[distinct - 1]) != 0)
			wanted.data[distinct++] = wanted.data[i];
	struct symbolizer *symbolizer = symbolizer_create(&options);
	for (size_t i = 0, end; i < distinct; i = end) {
		for (end = i; end < distinct; end++)
			if (wanted.data[end].object != wanted.data[i].object)
				break;
		name_object(n, symbolizer, ask_kernel, &wanted.data[i], end - i);
	}
	symbolizer_destroy(symbolizer);
	vec_deinit(&wanted);
}
