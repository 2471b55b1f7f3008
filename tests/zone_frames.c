/* A history fed from a memory of zones made by hand. */
#include "zone_frames.h"

#include <stdlib.h>

static void must(bool condition)
{
	if (!condition)
		abort();
}

void zone_frames_init(struct zone_frames *f, const struct zone_maker *m, size_t bytes)
{
	f->reader = zone_reader_create();
	f->difference = zone_difference_create();
	f->history = zone_history_create(0, bytes);
	f->ends_frames = ZONEWIRE_SLOT_NOBODY;
	must(f->reader && f->difference && f->history);
	zone_difference_start(f->difference, m->header->start_ticks);
}

void zone_frames_deinit(struct zone_frames *f)
{
	zone_reader_destroy(f->reader);
	zone_difference_destroy(f->difference);
	zone_history_destroy(f->history);
}

void zone_frames_end(struct zone_frames *f, const struct zone_maker *m)
{
	struct zone_reading reading;
	struct zone_tick tick;

	must(zone_reader_read(f->reader, &m->region, &reading));
	must(zone_history_learn(f->history, &m->region));
	must(zone_difference_take(f->difference, &reading, &tick));
	tick.head.slot = f->ends_frames;
	must(zone_history_add(f->history, &reading, &tick));
}

void zone_frames_skip(struct zone_frames *f, const struct zone_maker *m)
{
	struct zone_reading reading;

	must(zone_reader_read(f->reader, &m->region, &reading));
	must(zone_difference_skip(f->difference, &reading));
}
