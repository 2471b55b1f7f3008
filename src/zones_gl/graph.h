#ifndef SONDE_ZONES_GL_GRAPH_H
#define SONDE_ZONES_GL_GRAPH_H

#include <prof_gl.h>

/*
 * Where the graph's base line is, and the edge of the picture that its lines grow towards: y as
 * drawn with.  What is higher is drawn along the edge, just inside of it.
 */
struct graph_place {
	float x, y, edge; /* edge = y: no edge is known, so lines are as high as they are */
};

/* As Prof_draw_graph_device. */
void graph_draw(const Prof_Device *device, const struct graph_place *place, float x_per_frame,
	float y_per_ms, int num_frames);

#endif
