/* Code shared by readers, between their own tables and the builder.  See importer.h. */
#include "formats/common/importer.h"

#include <inttypes.h>

/* ---- Notes */

void counted_note(
	struct builder *b, enum note_kind kind, uint64_t count, const char *one, const char *many)
{
	struct note note = {.kind = kind, .count = count};

	if (count == 0)
		return;
	if (one && count == 1)
		builder_note(b, kind, 1, "%s", one);
	else if (one == NULL || note_shows_count(&note))
		builder_note(b, kind, count, "%s", many);
	else
		builder_note(b, kind, count, "%" PRIu64 " %s", count, many);
}

static void fault_note(struct builder *b, const struct fault *fault, const struct fault_note *note)
{
	const char *text = fault->count == 1 && note->one ? note->one : note->many;

	if (fault->count == 0)
		return;
	if (note->place == FAULT_OFFSET)
		builder_note(b, note->kind, fault->count, "%s, the first at offset 0x%" PRIx64,
			text, fault->first);
	else if (note->place == FAULT_OFFSET_DEC)
		builder_note(b, note->kind, fault->count, "%s, the first at offset %" PRIu64, text,
			fault->first);
	else
		counted_note(b, note->kind, fault->count, note->one, note->many);
}

void fault_notes(
	struct builder *b, const struct fault *faults, const struct fault_note *notes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fault_note(b, &faults[i], &notes[i]);
}

void bad_lines_add(struct bad_lines *lines, uint64_t line_number)
{
	if (lines->count < BAD_LINES_TOLD)
		lines->told[lines->count] = line_number;
	lines->count++;
}

void bad_lines_append(struct bad_lines *lines, const struct bad_lines *next, uint64_t before)
{
	for (size_t i = 0; i < next->count && i < BAD_LINES_TOLD; i++)
		if (lines->count + i < BAD_LINES_TOLD)
			lines->told[lines->count + i] = before + next->told[i];
	lines->count += next->count;
}

struct error *bad_lines_refuse(
	const struct bad_lines *lines, uint64_t good, const char *name, const char *what)
{
	if (lines->count <= good)
		return NULL;
	return error_new(ERROR_INPUT,
		"%s: line %llu is malformed, as are %llu of its %llu lines: not %s", name,
		(unsigned long long)lines->told[0], (unsigned long long)lines->count,
		(unsigned long long)(lines->count + good), what);
}

void bad_lines_note(const struct bad_lines *lines, struct builder *b)
{
	struct strbuf numbers = {0};

	if (lines->count == 0)
		return;
	for (size_t i = 0; i < lines->count && i < BAD_LINES_TOLD; i++)
		strbuf_printf(&numbers, "%s%" PRIu64, i ? ", " : "", lines->told[i]);
	builder_note(b, NOTE_BAD_RECORD, lines->count, "%s malformed and skipped: line%s %s%s",
		lines->count == 1 ? "a line is" : "lines are", lines->count == 1 ? "" : "s",
		numbers.data, lines->count > BAD_LINES_TOLD ? ", …" : "");
	strbuf_deinit(&numbers);
}

void early_end_note(struct builder *b, uint64_t offset, const char *problem)
{
	builder_note(b, NOTE_INCOMPLETE, 1, "the file ends early, at offset 0x%" PRIx64 ": %s",
		offset, problem);
}

void cut_stacks_note(struct builder *b, uint64_t count)
{
	counted_note(b, NOTE_TRUNCATED, count,
		"a stack is truncated: the file has too many frames for its size",
		"stacks are truncated: the file has too many frames for its size");
}

void json_damage_note(const struct json_reader *r, struct builder *b)
{
	if (json_is_cut(r))
		builder_note(b, NOTE_INCOMPLETE, 1, "the file ends early, at byte %zu",
			(size_t)(r->bad - r->start));
	else if (!json_ok(r))
		builder_note(b, NOTE_INCOMPLETE, 1, "the file is broken from byte %zu on: %s",
			(size_t)(r->bad - r->start), r->problem);
}

/* ---- Processes and threads */

void task_ids_deinit(struct task_ids *t)
{
	map_deinit(&t->processes);
	map_deinit(&t->threads);
}

process_id task_process(
	struct task_ids *t, struct builder *b, int64_t pid, string_id apart, string_id name)
{
	bool is_new;
	uint32_t *at = map_at(&t->processes, (uint64_t)pid, apart.i, 0, &is_new);

	if (is_new)
		*at = builder_process(b, pid, 0, builder_string_bytes(b, name)).i;
	return (process_id){*at};
}

thread_id task_thread(struct task_ids *t, struct builder *b, process_id process, int64_t tid,
	string_id apart, string_id name)
{
	bool is_new;
	uint64_t key = (uint64_t)process.i << 32 | apart.i;
	uint32_t *at = map_at(&t->threads, key, (uint64_t)tid, 0, &is_new);

	if (is_new)
		*at = builder_thread(b, tid, process, 0, builder_string_bytes(b, name)).i;
	return (thread_id){*at};
}

/* ---- Frames */

frame_id frame_of_name(struct builder *b, string_id name, object_id object, uint64_t obj_addr)
{
	function_id function = builder_function(b, name, object, (string_id){0}, 0);

	return builder_frame(b, function, (string_id){0}, 0, false, obj_addr);
}

object_id object_of_module(struct builder *b, struct str module)
{
	if (module.size == 0)
		return (object_id){NO_ID};
	return builder_object(b, module, STR(""),
		str_starts_with(module, STR("[kernel")) ? OBJECT_KERNEL : OBJECT_USER);
}

frame_id frame_unknown(struct builder *b)
{
	return frame_of_name(b, builder_string(b, STR("[unknown]")), (object_id){NO_ID}, 0);
}

frame_id frame_of_symbol(
	struct builder *b, const struct symbol_frame *symbol, object_id object, uint64_t obj_addr)
{
	function_id function =
		builder_function_called(b, builder_string(b, symbol->function), symbol->aliases,
			object, builder_string(b, symbol->function_file), symbol->function_line);

	return builder_frame(b, function, builder_string(b, symbol->file), symbol->line,
		symbol->is_inline, obj_addr);
}

string_id nameless_code(struct builder *b, struct str path, uint64_t addr)
{
	struct strbuf name = {0};

	strbuf_add_char(&name, '[');
	strbuf_add(&name, str_base_name(path));
	strbuf_printf(&name, "%s0x%" PRIx64 "]", path.size ? "+" : "", addr);
	string_id id = builder_string(b, strbuf_str(&name));
	strbuf_deinit(&name);
	return id;
}
