/*
 * Summarizes a program with zones in one line, from tables and the tick ring, without reading
 * nodes.
 */
#include "live/summary.h"

#include <stdio.h>

/* Reads the ticks since the last call, or all of them if the memory is new. */
static void read_frames(const struct live *live, struct live_past *past)
{
	const struct zone_region *region = &live->memory.region;
	struct zone_reader *reader = zone_reader_create();
	uint64_t head = zone_region_header(region).ring_head, lost;
	struct zone_tick tick;

	if (past->device != live->device || past->inode != live->inode || past->position > head)
		*past = (struct live_past){.device = live->device, .inode = live->inode};
	while (reader && zone_reader_next_tick(reader, region, &past->position, &tick, &lost))
		if (tick.head.stream == 0)
			past->frame_ticks[past->count++ % LIVE_FRAMES] =
				tick.head.end_ticks - tick.head.start_ticks;
	zone_reader_destroy(reader);
}

/* The mean of the last frames in the ring. */
static double mean_frame_ms(const struct zone_region *region, const struct live_past *past)
{
	size_t count = past->count < LIVE_FRAMES ? (size_t)past->count : LIVE_FRAMES;
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += zone_region_duration_ns(region, past->frame_ticks[i]);
	return count ? (double)sum / 1e6 / (double)count : 0;
}

void live_summarize(const struct live *live, struct live_past *past, struct live_summary *summary)
{
	const struct zone_region *region = &live->memory.region;
	struct zonewire_header header = zone_region_header(region);
	uint32_t slots = zone_region_slot_count(region);
	int64_t uptime_ns = zone_region_ns(region, zone_region_now(region));
	struct zonewire_slot slot;

	read_frames(live, past);
	*summary = (struct live_summary){
		.zones = zone_region_program_zones(region),
		.frames = header.stream[0].ticks,
		.frame_ms = mean_frame_ms(region, past),
		.uptime_ns = uptime_ns > 0 ? (uint64_t)uptime_ns : 0,
	};
	snprintf(summary->program, sizeof(summary->program), "%s", header.program);
	for (uint32_t i = 0; i < slots; i++)
		if (zone_region_slot(region, i, &slot) && slot.state == ZONEWIRE_SLOT_THREAD)
			summary->threads++;
}
