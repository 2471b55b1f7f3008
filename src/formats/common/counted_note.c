/*
 * Notes of how many there were of something: in the words where views do not say it.
 */
#include "formats/common/counted_note.h"

#include <inttypes.h>

void counted_note(struct builder *builder, enum note_kind kind, uint64_t count, const char *one,
	const char *many)
{
	struct note note = {.kind = kind, .count = count};

	if (count == 0)
		return;
	if (count == 1)
		builder_note(builder, kind, 1, "%s", one);
	else if (note_shows_count(&note))
		builder_note(builder, kind, count, "%s", many);
	else
		builder_note(builder, kind, count, "%" PRIu64 " %s", count, many);
}
