/* Counts problems where readers can see them.  Several threads may count at once. */
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
