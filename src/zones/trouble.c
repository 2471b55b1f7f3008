/*
 * What went wrong, counted where readers see it.  Several threads may count at once.
 */
#include <stdio.h>

#include "zones/runtime.h"

void zones_trouble(enum zonewire_trouble trouble, uint64_t times)
{
	struct zonewire_header *header = zones_header();

	__atomic_fetch_add(header ? &header->trouble[trouble] : &zones_rt.lost[trouble], times,
		__ATOMIC_RELAXED);
}

void zones_trouble_end(enum zonewire_trouble trouble, uint64_t times, uint32_t open, uint32_t ended)
{
	struct zonewire_header *header = zones_header();

	zones_trouble(trouble, times);
	if (header) {
		Prof_PUT_(header->trouble_open, open);
		Prof_PUT_(header->trouble_ended, ended);
	}
}

static const char *trouble_zone(uint32_t id)
{
	const Prof_Zone *zone = zones_object(id);

	return zone ? zone->name : "?";
}

size_t zones_trouble_text(char *text, size_t bytes)
{
	static const struct {
		enum zonewire_trouble trouble;
		const char *what;
	} kinds[] = {
		{ZONEWIRE_MISSING_END, "missing ends"},
		{ZONEWIRE_EXTRA_END, "extra ends"},
		{ZONEWIRE_TOO_DEEP, "entries too deep"},
		{ZONEWIRE_NO_NODES, "entries without room"},
		{ZONEWIRE_NO_ZONES, "zones without room"},
		{ZONEWIRE_NO_SLOTS, "threads without room"},
		{ZONEWIRE_NO_RING, "threads without events"},
		{ZONEWIRE_INTERRUPTED, "entries in signal handlers skipped"},
		{ZONEWIRE_TICK_TOO_BIG, "frames cut"},
		{ZONEWIRE_CLOCK_BACK, "steps back of the clock"},
		{ZONEWIRE_NO_STREAMS, "frames of streams without room"},
	};
	struct zonewire_header *header = zones_header();
	size_t used = 0, i;

	for (i = 0; header && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t times = Prof_GET_(header->trouble[kinds[i].trouble]);
		bool is_end = kinds[i].trouble <= ZONEWIRE_EXTRA_END;
		int size;

		if (!times || used >= bytes)
			continue;
		size = snprintf(text + used, bytes - used, "%s%llu %s", used ? ", " : "",
			(unsigned long long)times, kinds[i].what);
		used += size > 0 ? (size_t)size : 0;
		if (!is_end || used >= bytes)
			continue;
		size = snprintf(text + used, bytes - used, " (%s open, %s ended)",
			trouble_zone(Prof_GET_(header->trouble_open)),
			trouble_zone(Prof_GET_(header->trouble_ended)));
		used += size > 0 ? (size_t)size : 0;
	}
	return used < bytes ? used : bytes ? bytes - 1 : 0;
}
