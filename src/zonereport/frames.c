/* Lengths of frames, sorted, so that quantiles are actual frames (nearest rank). */
#include "zonereport/frames.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t bounded(const struct zone_history *history, size_t frames)
{
	size_t kept = zone_history_frame_count(history);

	return frames < kept ? frames : kept;
}

static size_t collect(const struct zone_history *history, size_t frames, double *ms)
{
	struct zone_frame frame;
	size_t count = 0;

	for (size_t ago = 0; ago < frames; ago++)
		if (zone_history_frame(history, ago, &frame) &&
			!(frame.flags & ZONEWIRE_TICK_AFTER_GAP))
			ms[count++] = frame.ms;
	return count;
}

bool zone_frames_stats(const struct zone_history *history, size_t frames, struct zone_stats *stats)
{
	frames = bounded(history, frames);
	double *ms = frames ? calloc(frames, sizeof(*ms)) : NULL;

	if (!ms)
		return false;
	size_t count = collect(history, frames, ms);
	double sum = 0;

	qsort(ms, count, sizeof(*ms), compare_doubles);
	for (size_t i = 0; i < count; i++)
		sum += ms[i];
	if (count)
		*stats = (struct zone_stats){.frames = count,
			.min = ms[0],
			.max = ms[count - 1],
			.mean = sum / (double)count,
			.median = ms[(count - 1) / 2],
			.p95 = ms[(count * 95 + 99) / 100 - 1]};
	free(ms);
	return count > 0;
}

bool zone_frames_slowest(const struct zone_history *history, size_t frames, size_t *ago)
{
	struct zone_frame frame;
	double slowest = -1;

	frames = bounded(history, frames);
	for (size_t i = 0; i < frames; i++)
		if (zone_history_frame(history, i, &frame) && frame.ms > slowest &&
			!(frame.flags & ZONEWIRE_TICK_AFTER_GAP)) {
			slowest = frame.ms;
			*ago = i;
		}
	return slowest >= 0;
}
