/* Describes a region's last missing or extra Prof_End, as displays show it. */
#include "zonereport/last_end.h"

#include <stdio.h>

#include "zonereport/report.h"

enum { NAME_BYTES = 256 };

static void zone_name(const struct zone_region *region, uint32_t id, char name[NAME_BYTES])
{
	struct zonewire_zone zone;

	zone_region_zone(region, id, &zone); /* if there is none, all zeros, with the name "" */
	zone_region_string(region, zone.name, name, NAME_BYTES);
}

void zone_region_last_end(const struct zone_region *region, char *text, size_t bytes)
{
	struct zonewire_header h = zone_region_header(region);
	char open[NAME_BYTES], ended[NAME_BYTES], words[2 * NAME_BYTES + 64];

	text[0] = '\0';
	if (h.trouble[ZONEWIRE_MISSING_END] == 0 && h.trouble[ZONEWIRE_EXTRA_END] == 0)
		return;
	zone_name(region, h.trouble_open, open);
	zone_name(region, h.trouble_ended, ended);
	zone_last_end_words(h.trouble_open, open, ended, words, sizeof(words));
	if (words[0])
		snprintf(text, bytes, "the last Prof_End that was missing or too many: %s", words);
}
