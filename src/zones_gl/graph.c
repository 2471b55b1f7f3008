/*
 * The graph of self times on any device: a line for each zone, and a mark at the current frame.
 *
 * A zone's line covers the frames in which it took more than a fifth of a millisecond, as most
 * zones take almost nothing, and their lines would all lie on the base.  One frame before and after
 * is also drawn, so that a single slow frame is a spike, not a point without a line.
 *
 * The program sets the scale.  If the picture's edge is known, a frame higher than that is drawn
 * along the edge; outside the picture, it would be invisible.
 */
#include "zones_gl/graph.h"

#include "zones_gl/paint.h"

enum { FRAMES = 128, POINTS = 256 };

#define LEAST_S 0.0002f
/* How close a line may get to the edge, as a part of the graph's height. */
#define MARGIN 0.01f

struct graph {
	const Prof_Device *device;
	float x, y, x_per_frame, y_per_s;
	float room_s;	 /* maximum height; 0: unlimited */
	float highest_s; /* of everything drawn */
};

static const float mark_colour[4] = {1, 1, 1, .5f};

/* The height above the base. */
static float height_of(const struct graph *g, float seconds)
{
	if (g->room_s > 0 && seconds > g->room_s)
		seconds = g->room_s;
	return seconds * g->y_per_s;
}

/* Draws the line through the values of frames x0 to x1 - 1, in connected pieces. */
static void draw_line(
	const struct graph *g, int x0, int x1, const float *values, const float rgba[4])
{
	float points[POINTS][2];
	int count = 0;

	for (int x = x0; x < x1; x++) {
		points[count][0] = g->x + (float)x * g->x_per_frame;
		points[count][1] = g->y + height_of(g, values[x - x0]);
		count++;
		if (count == POINTS || (x == x1 - 1 && count > 1)) {
			g->device->line_strip(g->device->data, points[0], count, rgba);
			points[0][0] = points[count - 1][0];
			points[0][1] = points[count - 1][1];
			count = 1;
		}
	}
}

/* Draws a vertical line from the base to that height. */
static void draw_upright(const struct graph *g, int x, float height_s, const float rgba[4])
{
	float at = g->x + (float)x * g->x_per_frame;
	float points[2][2] = {{at, g->y}, {at, g->y + height_of(g, height_s)}};

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

/* 0: there is no edge in the lines' direction. */
static float room_of(const struct graph_place *place, float y_per_s)
{
	float room_s = y_per_s != 0 ? (place->edge - place->y) / y_per_s : 0;

	return room_s > 0 ? room_s * (1 - MARGIN) : 0;
}

void graph_draw(const Prof_Device *device, const struct graph_place *place, float x_per_frame,
	float y_per_ms, int num_frames)
{
	static Prof_Zone zone = Prof_ZONE_("prof_draw_graph", __FILE__, __LINE__);
	struct graph graph = {.device = device,
		.x = place->x,
		.y = place->y,
		.x_per_frame = x_per_frame,
		.y_per_s = y_per_ms * 1000,
		.room_s = room_of(place, y_per_ms * 1000)};

	Prof_enter(&zone);
	Prof_graph(num_frames > 0 ? num_frames : FRAMES, draw_part, &graph);
	Prof_leave();
}

void Prof_draw_graph_device(const Prof_Device *device, float sx, float sy, float x_per_frame,
	float y_per_ms, int num_frames)
{
	struct graph_place place = {sx, sy, sy};

	graph_draw(device, &place, x_per_frame, y_per_ms, num_frames);
}
