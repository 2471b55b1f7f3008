/*
 * Notes on standard error.  See note_messages.h.
 */
#include "cli/note_messages.h"

#include <inttypes.h>

#include "cli/message.h"

void note_messages_profile(const struct profile *profile, bool with_info)
{
	for (size_t i = 0; i < profile->note_count; i++) {
		const struct note *note = &profile->notes[i];
		const char *text = profile_string(profile, note->text).data;

		if (note->kind == NOTE_INFO && !with_info)
			continue;
		if (note_shows_count(note))
			message_print("note: %" PRIu64 " %s", note->count, text);
		else
			message_print("note: %s", text);
	}
}

void note_messages_reports(const struct report *const *reports, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < reports[i]->note_count; k++)
			message_print("note: %s", reports[i]->notes[k]);
	note_messages_profile(reports[0]->profile, true);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < reports[i]->query.remark_count; k++)
			message_print("note: %s", reports[i]->query.remarks[k]);
}
