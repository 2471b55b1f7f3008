/*
 * A program with zones in one line, out of tables and the ring of ticks; no node is read.
 */
#include "live/summary.h"

#include <stdio.h>

enum { FRAMES = 128 };

/* The mean of the last frames in the ring. */
static double mean_frame_ms(const struct zone_region *region)
{
	struct zone_reader *reader = zone_reader_create();
	uint64_t position = 0, lost, last[FRAMES] = {0}, sum = 0;
	struct zone_tick tick;
	size_t count = 0;

	while (reader && zone_reader_next_tick(reader, region, &position, &tick, &lost))
		if (tick.head.stream == 0)
			last[count++ % FRAMES] = tick.head.end_ticks - tick.head.start_ticks;
	zone_reader_destroy(reader);
	if (count > FRAMES)
		count = FRAMES;
	for (size_t i = 0; i < count; i++)
		sum += zone_region_duration_ns(region, last[i]);
	return count ? (double)sum / 1e6 / (double)count : 0;
}

void live_summarize(const struct live *live, struct live_summary *summary)
{
	const struct zone_region *region = &live->memory.region;
	struct zonewire_header header = zone_region_header(region);
	uint32_t slots = zone_region_slot_count(region);
	int64_t uptime_ns = zone_region_ns(region, zone_region_now(region));
	struct zonewire_slot slot;

	*summary = (struct live_summary){
		.zones = zone_region_program_zones(region),
		.frames = header.stream[0].ticks,
		.frame_ms = mean_frame_ms(region),
		.uptime_ns = uptime_ns > 0 ? (uint64_t)uptime_ns : 0,
	};
	snprintf(summary->program, sizeof(summary->program), "%s", header.program);
	for (uint32_t i = 0; i < slots; i++)
		if (zone_region_slot(region, i, &slot) && slot.state == ZONEWIRE_SLOT_THREAD)
			summary->threads++;
}
