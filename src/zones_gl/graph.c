/*
 * The graph of self times on any device: a line for each zone, and a mark at the frame that is
 * shown.
 *
 * A zone's line begins and ends where it took more than a fifth of a millisecond, for most zones
 * take next to nothing and would all lie on the base.  The one frame before and after stay, so that
 * a single slow frame is a spike, and not a point without a line.
 */
#include <prof_gl.h>

#include "zones_gl/paint.h"

enum { FRAMES = 128, POINTS = 256 };

#define LEAST_S 0.0002f

struct graph {
	const Prof_Device *device;
	float x, y, x_per_frame, y_per_s;
	float highest_s; /* of what was drawn */
};

static const float mark_colour[4] = {1, 1, 1, .5f};

/* The line through values of frames x0 to x1 - 1, in pieces that join. */
static void draw_line(
	const struct graph *g, int x0, int x1, const float *values, const float rgba[4])
{
	float points[POINTS][2];
	int count = 0;

	for (int x = x0; x < x1; x++) {
		points[count][0] = g->x + (float)x * g->x_per_frame;
		points[count][1] = g->y + values[x - x0] * g->y_per_s;
		count++;
		if (count == POINTS || (x == x1 - 1 && count > 1)) {
			g->device->line_strip(g->device->data, points[0], count, rgba);
			points[0][0] = points[count - 1][0];
			points[0][1] = points[count - 1][1];
			count = 1;
		}
	}
}

/* Upright, from the base to that height. */
static void draw_upright(const struct graph *g, int x, float height_s, const float rgba[4])
{
	float at = g->x + (float)x * g->x_per_frame;
	float points[2][2] = {{at, g->y}, {at, g->y + height_s * g->y_per_s}};

	g->device->line_strip(g->device->data, points[0], 2, rgba);
}

static void draw_zone(struct graph *g, unsigned hash, int x0, int x1, const float *values)
{
	int from = x0, to = x1;
	float rgba[4];

	while (from < to && values[from - x0] < LEAST_S)
		from++;
	while (to > from && values[to - 1 - x0] < LEAST_S)
		to--;
	if (from == to)
		return;
	for (int x = from; x < to; x++)
		if (values[x - x0] > g->highest_s)
			g->highest_s = values[x - x0];
	from -= from > x0;
	to += to < x1;
	zone_colour(hash, rgba);
	if (to - from == 1)
		draw_upright(g, from, values[from - x0], rgba);
	else
		draw_line(g, from, to, values + (from - x0), rgba);
}

static void draw_part(int id, int x0, int x1, float *values, void *data)
{
	struct graph *g = data;

	if (id != 0)
		draw_zone(g, (unsigned)id, x0, x1, values);
	else /* comes last: a little higher than all lines */
		draw_upright(g, x0, g->highest_s > 0 ? g->highest_s * 1.1f : .001f, mark_colour);
}

void Prof_draw_graph_device(const Prof_Device *device, float sx, float sy, float x_per_frame,
	float y_per_ms, int num_frames)
{
	static Prof_Zone zone = Prof_ZONE_("prof_draw_graph", __FILE__, __LINE__);
	struct graph graph = {.device = device,
		.x = sx,
		.y = sy,
		.x_per_frame = x_per_frame,
		.y_per_s = y_per_ms * 1000};

	Prof_enter(&zone);
	Prof_graph(num_frames > 0 ? num_frames : FRAMES, draw_part, &graph);
	Prof_leave();
}
