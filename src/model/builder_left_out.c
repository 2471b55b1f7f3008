/*
 * Rows beyond a profile's budget: one row of each kind, named "[left out]", replaces them, and
 * notes count them.  Also "[no stack]", which replaces stacks that a source does not know.
 */
#include "model/builder_state.h"

string_id builder_name_left_out(struct builder *b)
{
	return builder_string_of_ours(b, STR("[left out]"));
}

object_id builder_object_left_out(struct builder *b)
{
	struct object o = {.path = builder_name_left_out(b), .kind = OBJECT_UNKNOWN};

	return (object_id){row_table_intern(&b->objects, &object_rows, &o)};
}

static function_id function_of_ours(struct builder *b, string_id name)
{
	struct function f = {.name = name, .object = {NO_ID}};

	return (function_id){row_table_intern(&b->functions, &function_rows, &f)};
}

static frame_id frame_of_ours(struct builder *b, function_id function)
{
	struct frame f = {.function = function};

	builder_frames_enter(b);
	return (frame_id){row_table_intern(&b->frames, &frame_rows, &f)};
}

function_id builder_function_left_out(struct builder *b)
{
	return function_of_ours(b, builder_name_left_out(b));
}

frame_id builder_frame_left_out(struct builder *b)
{
	return frame_of_ours(b, builder_function_left_out(b));
}

stack_id builder_stack_left_out(struct builder *b)
{
	return stack_table_intern(&b->stacks, (stack_id){0}, builder_frame_left_out(b));
}

stack_id builder_stack_of_none(struct builder *b)
{
	string_id name = builder_string_of_ours(b, STR("[no stack]"));

	return stack_table_intern(
		&b->stacks, (stack_id){0}, frame_of_ours(b, function_of_ours(b, name)));
}

process_id builder_process_left_out(struct builder *b)
{
	struct process p = {.pid = -1, .name = builder_name_left_out(b)};

	if (b->process_left_out.i == NO_ID)
		b->process_left_out.i = row_table_push(&b->processes, &process_rows, &p);
	return b->process_left_out;
}

thread_id builder_thread_left_out(struct builder *b)
{
	struct thread t = {.tid = -1,
		.process = builder_process_left_out(b),
		.name = builder_name_left_out(b)};

	if (b->thread_left_out.i == NO_ID)
		b->thread_left_out.i = row_table_push(&b->threads, &thread_rows, &t);
	return b->thread_left_out;
}

/* Notes on rows that there was no room for. */
void builder_note_refused(struct builder *b)
{
	b->has_input = false;
	for (enum budget_row row = 0; row < BUDGET_ROW_COUNT; row++)
		if (b->budget.refused[row])
			builder_note(b, NOTE_TRUNCATED, b->budget.refused[row], "%s",
				budget_sentence(row));
}
