/* Sums the notes of nodes for a zone. */
#include "zonereport/said.h"

#include <stdio.h>
#include <string.h>

#include "zonereport/history.h"

static void add_note(struct zone_said *said, const struct zonewire_note *note)
{
	if (note->text[0])
		memcpy(said->text, note->text, sizeof(said->text));
	if (note->count == 0)
		return;
	if (said->count == 0 || note->min < said->min)
		said->min = note->min;
	if (said->count == 0 || note->max > said->max)
		said->max = note->max;
	said->count += note->count;
	said->sum += note->sum;
	said->last = note->last;
}

bool zone_said(const struct zone_region *region, const struct zone_reading *reading, uint32_t zone,
	uint32_t slot, struct zone_said *said)
{
	uint32_t count = zone_region_header(region).notes.count;
	struct zonewire_note note;

	*said = (struct zone_said){.count = 0};
	for (uint32_t i = 1; i < count && i < region->header.notes.capacity; i++) {
		const struct zone_place *place;

		if (!zone_region_note(region, i, &note) || note.node >= reading->node_count)
			continue;
		place = &reading->place[note.node];
		if (place->zone == zone && (slot == ZONE_SLOT_ALL || slot == place->slot))
			add_note(said, &note);
	}
	return said->text[0] || said->count;
}

int zone_said_write(const struct zone_said *said, char *text, size_t bytes)
{
	const char *between = said->text[0] && said->count ? ", " : "";

	if (said->count == 0)
		return snprintf(text, bytes, "%s", said->text);
	return snprintf(text, bytes, "%s%snumber %g (%llu times: mean %g, %g to %g)", said->text,
		between, said->last, (unsigned long long)said->count,
		said->sum / (double)said->count, said->min, said->max);
}
