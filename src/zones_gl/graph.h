#ifndef SONDE_ZONES_GL_GRAPH_H
#define SONDE_ZONES_GL_GRAPH_H

#include <prof_gl.h>

/*
 * The position of the graph's base line, and of the picture's edge towards which its lines grow, in
 * the y used for drawing.  Higher values are drawn along the edge, just inside it.
 */
struct graph_place {
	float x, y, edge; /* edge = y: unknown, so lines have their full height */
};

/* Like Prof_draw_graph_device. */
void graph_draw(const Prof_Device *device, const struct graph_place *place, float x_per_frame,
	float y_per_ms, int num_frames);

#endif
