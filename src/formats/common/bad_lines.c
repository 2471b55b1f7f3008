/*
 * Lines that could not be read.  See bad_lines.h.
 */
#include "formats/common/bad_lines.h"

void bad_lines_add(struct bad_lines *b, uint64_t line_number)
{
	if (b->count < BAD_LINES_TOLD)
		b->told[b->count] = line_number;
	b->count++;
}

void bad_lines_note(const struct bad_lines *b, struct builder *builder)
{
	struct strbuf numbers = {0};

	if (b->count == 0)
		return;
	for (size_t i = 0; i < b->count && i < BAD_LINES_TOLD; i++)
		strbuf_printf(&numbers, "%s%llu", i ? ", " : "", (unsigned long long)b->told[i]);
	builder_note(builder, NOTE_BAD_RECORD, b->count,
		"%s malformed and passed over: line%s %s%s",
		b->count == 1 ? "a line is" : "lines are", b->count == 1 ? "" : "s", numbers.data,
		b->count > BAD_LINES_TOLD ? ", …" : "");
	strbuf_deinit(&numbers);
}
