/*
 * Stacks in the text of `perf script`.  See script_stacks.h.
 *
 * Inlined functions stand before the function whose code they are part of, at its address and
 * without its load object; so paths are walked from their root, and frames made on the way.
 * Addresses of callers are return addresses: the call is before them.
 */
#include "formats/perf/script_stacks.h"

#include "formats/perf/dso.h"

enum { AS_LEAF, AS_CALLER };

/* What a distinct line, and a distinct stack, costs in all tables, about. */
#define LINE_COST  260
#define STACK_COST 70
/* What both may take up of a small input, and how many eighths of its size of a large one. */
#define COST_MIN     ((size_t)47 << 20)
#define COST_EIGHTHS 22

void perf_stacks_init(struct perf_stacks *s, struct builder *builder, size_t input_size)
{
	size_t stacks_max = (COST_MIN + COST_EIGHTHS * (input_size / 8)) / 2 / STACK_COST;

	*s = (struct perf_stacks){.builder = builder,
		.arena = arena_create(),
		.demangler = demangler_create(),
		.lines_max = (COST_MIN + COST_EIGHTHS * (input_size / 8)) / 2 / LINE_COST,
		.stacks_max = stacks_max < UINT32_MAX / 2 ? (uint32_t)stacks_max : UINT32_MAX / 2,
		.demangle_left = input_size + ((size_t)1 << 20)};
}

void perf_stacks_deinit(struct perf_stacks *s)
{
	demangler_destroy(s->demangler);
	arena_destroy(s->arena);
	row_table_deinit(&s->spans);
	row_table_deinit(&s->places);
	map_deinit(&s->placed);
	vec_deinit(&s->lines);
	vec_deinit(&s->path);
}

static string_id name_of(struct perf_stacks *s, struct str name)
{
	if (name.size == 0)
		name = STR("[unknown]");
	if (demangle_is_mangled(name) && s->demangle_left) {
		name = demangle(s->demangler, name);
		s->demangle_left -= name.size < s->demangle_left ? name.size : s->demangle_left;
	}
	return builder_string(s->builder, name);
}

static object_id object_of(struct perf_stacks *s, struct str name)
{
	if (name.size == 0)
		return (object_id){NO_ID};
	return builder_object(s->builder, name, STR(""), perf_dso_kind(name));
}

/*
 * Agents of Java write inlined functions into one symbol, "outer->inlined"; elsewhere the arrow is
 * part of a name (operator->).
 */
static bool is_nested(const struct perf_frame *frame)
{
	return frame->object.size && perf_dso_kind(frame->object) == OBJECT_JIT &&
	       memmem(frame->name.data, frame->name.size, "->", 2) != NULL;
}

void perf_stacks_push_new(struct perf_stacks *s, struct span line, const struct perf_frame *frame)
{
	uint32_t number = (uint32_t)s->lines.count;

	if (s->lines.count >= s->lines_max) {
		s->is_cut = true;
		return;
	}
	vec_push(&s->lines, (struct perf_line){.name = name_of(s, frame->name),
				    .file = builder_string(s->builder, frame->file),
				    .line = frame->line,
				    .object = object_of(s, frame->object),
				    .address = frame->address,
				    .is_inline = frame->is_inline,
				    .is_nested = is_nested(frame),
				    .frame = {{NO_ID}, {NO_ID}}});
	/* Copies lie close together; in the input each would be a page of its own. */
	line.data = arena_str(s->arena, (struct str){line.data, line.size}).data;
	span_intern(&s->spans, line)->id = number;
	vec_push(&s->path, number);
}

bool perf_stacks_place(struct perf_stacks *s, struct str line)
{
	struct perf_frame frame = {0};
	bool added;

	if (s->path.count == 0 || !perf_frame_scan_place(line, &frame))
		return false;
	if (s->lines.count >= s->lines_max)
		return true;
	uint32_t *last = &s->path.data[s->path.count - 1];
	struct span *place = span_intern(&s->places, span_of(line));
	if (place->id == NO_ID)
		place->id = (uint32_t)s->places.count;
	uint32_t *placed = map_at(&s->placed, *last, place->id, (uint32_t)s->lines.count, &added);
	if (added) {
		struct perf_line copy = s->lines.data[*last];
		copy.file = builder_string(s->builder, frame.file);
		copy.line = frame.line;
		copy.is_inline |= frame.is_inline;
		copy.frame[AS_LEAF] = copy.frame[AS_CALLER] = (frame_id){NO_ID};
		vec_push(&s->lines, copy);
	}
	*last = *placed;
	return true;
}

/* The number of lines at the path's start that are the leaf: what is inlined, and where. */
static size_t leaf_size(const struct perf_stacks *s)
{
	size_t i = 0;

	while (i < s->path.count && s->lines.data[s->path.data[i]].is_inline)
		i++;
	return i + 1;
}

static frame_id make_frame(struct perf_stacks *s, const struct perf_line *line, string_id name,
	object_id object, bool is_inline, int as)
{
	function_id function = builder_function(s->builder, name, object, (string_id){0}, 0);
	uint64_t address = line->address;

	if (as == AS_CALLER && address)
		address--;
	return builder_frame(s->builder, function, line->file, line->line, is_inline, address);
}

/*
 * The frame of a line whose code is in that load object.  One that is inlined into nothing, as the
 * stack was cut there, is no inlined one, and is not kept for other stacks.
 */
static frame_id frame_of(
	struct perf_stacks *s, struct perf_line *line, object_id object, bool is_inline, int as)
{
	if (is_inline != line->is_inline)
		return make_frame(s, line, line->name, object, is_inline, as);
	if (line->framed_in.i != object.i)
		line->frame[AS_LEAF] = line->frame[AS_CALLER] = (frame_id){NO_ID};
	line->framed_in = object;
	if (line->frame[as].i == NO_ID)
		line->frame[as] = make_frame(s, line, line->name, object, is_inline, as);
	return line->frame[as];
}

/* Pushes onto the stack each function that a nested name names. */
static stack_id push_nested(
	struct perf_stacks *s, stack_id stack, const struct perf_line *line, int as)
{
	struct str rest = builder_string_bytes(s->builder, line->name);
	bool is_inline = false;

	for (;;) {
		const char *arrow = memmem(rest.data, rest.size, "->", 2);
		size_t size = arrow ? (size_t)(arrow - rest.data) : rest.size;
		string_id name = builder_string(s->builder, (struct str){rest.data, size});
		if (size)
			stack = builder_stack(s->builder, stack,
				make_frame(s, line, name, line->object, is_inline, as));
		is_inline |= size > 0;
		if (arrow == NULL)
			return stack;
		rest = (struct str){arrow + 2, rest.size - size - 2};
	}
}

stack_id perf_stacks_take(struct perf_stacks *s)
{
	size_t leaf = leaf_size(s);
	object_id object = {NO_ID}; /* of the code that inlined functions are part of */
	stack_id stack = {0};

	for (size_t i = s->path.count; i-- > 0;) {
		if (unlikely(stack.i > s->stacks_max)) {
			s->is_cut = true;
			break;
		}
		struct perf_line *line = &s->lines.data[s->path.data[i]];
		int as = i < leaf ? AS_LEAF : AS_CALLER;
		bool is_inline = line->is_inline && stack.i;

		if (!line->is_inline || line->object.i != NO_ID)
			object = line->object;
		if (line->is_nested)
			stack = push_nested(s, stack, line, as);
		else
			stack = builder_stack(
				s->builder, stack, frame_of(s, line, object, is_inline, as));
	}
	s->path.count = 0;
	s->cut += s->is_cut;
	s->is_cut = false;
	return stack;
}
