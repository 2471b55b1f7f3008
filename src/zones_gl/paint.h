#ifndef SONDE_ZONES_GL_PAINT_H
#define SONDE_ZONES_GL_PAINT_H

#include <prof_gl.h>

/* A device, and the size of the font if it has no text function. */
struct paint {
	const Prof_Device *device;
	float dot; /* of the font; its sign is the direction of the next line */
};

/* line_spacing determines the size of the font. */
struct paint paint_on(const Prof_Device *device, float line_spacing);
float paint_width(const struct paint *p, const char *text);
void paint_text(const struct paint *p, float x, float y, const char *text, const float rgba[4]);
void paint_rectangle(
	const struct paint *p, float x0, float y0, float x1, float y1, const float rgba[4]);

/* The colour of the zone whose name has that hash, both in report and graph. */
void zone_colour(unsigned hash, float rgba[4]);
/* The hash in Prof_graph. */
unsigned zone_hash(const char *name);

#endif
